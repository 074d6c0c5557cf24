// SPDX-License-Identifier: Apache-2.0
// What a seat in each train costs today, by gRPC.
'use strict';
const { serveGrpc } = require('./common');

const euros = { G1234: 50, D1345: 30, Z999: 20 };

serveGrpc('Prices', { GetQuote: async ({ train }) => ({ euros: euros[train] }) });
