// SPDX-License-Identifier: Apache-2.0
// Takes money from a user's bank account, by gRPC.
//
// FALLBACK 3: if the bank does not work, the money comes from the user's wallet.
//
// BUG 2: that the bank did not answer does not mean that it did nothing. If its answer is lost, the
// ticket is paid twice, by the bank and from the wallet.
'use strict';
const { serveGrpc, call } = require('./common');

const { BANK, WALLET } = process.env;

async function transfer(sum) {
    try {
        await call('POST', `${BANK}/transfers`, sum);
        return { from: 'bank' };
    } catch {
        await call('POST', `${WALLET}/transfers`, sum);
        return { from: 'wallet' };
    }
}

async function giveBack({ user, order }) {
    await call('DELETE', `${BANK}/transfers/${user}/${order}`);
    await call('DELETE', `${WALLET}/transfers/${user}/${order}`);
    return { from: 'both' };
}

serveGrpc('Payments', { Charge: transfer, Refund: giveBack });
