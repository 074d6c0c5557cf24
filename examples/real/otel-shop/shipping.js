// SPDX-License-Identifier: Apache-2.0
'use strict';
const { serveGrpc } = require('./common');

serveGrpc('Shipping', { Book: () => ({ carrier: 'our van' }) });
