// SPDX-License-Identifier: Apache-2.0
'use strict';
const { serveHttp } = require('./common');

serveHttp({ 'POST /pickups': async () => [200, { carrier: 'courier' }] });
