// SPDX-License-Identifier: Apache-2.0
// A customer of the ticket office, for the tests in Node. The addresses come from the environment;
// under Outfox, where something may be made to fail, being told to come back later is fine.
'use strict';
const assert = require('node:assert');

const { WEB, SEAT, BANK, WALLET, OUTFOX_CONTROL, OUTFOX_RUN } = process.env;
const run = OUTFOX_RUN && `${OUTFOX_CONTROL}/runs/${OUTFOX_RUN}`;

// [status, answer] of a request.
async function ask(method, url, body, headers = {}) {
    const answer = await fetch(url, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(90_000),
    });
    return [answer.status, await answer.json()];
}

// What a test prepares must work: Outfox injects nothing meanwhile.
async function noFaults(work) {
    if (run) await ask('POST', `${run}/no-faults`);
    const result = await work();
    if (run) await ask('DELETE', `${run}/no-faults`);
    return result;
}

// A customer: await customer('GET', '/orders') is [status, answer].
function customer(token = '') {
    return async (method, path, body) => {
        const [status, answer] = await ask(method, `${WEB}/api${path}`, body, { authorization: token });
        if (status === 503) {
            const injected = run && (await ask('GET', `${run}/injected`))[1].injected;
            assert.ok(injected, 'sorry, although nothing has failed');
            assert.ok(answer.error, 'it is said that something went wrong');
        }
        return [status, answer];
    };
}

async function logIn(user) {
    const credentials = { user, password: `secret-of-${user}` };
    const [status, answer] = await noFaults(() => customer()('POST', '/login', credentials));
    assert.strictEqual(status, 200);
    return customer(answer.token);
}

async function seatsLeft(train) {
    return (await ask('GET', `${SEAT}/trains/${train}/seats`))[1].left;
}

// The transfers of a user, from the bank account and from the wallet.
async function transfers(user) {
    const books = [];
    for (const where of [BANK, WALLET]) books.push(...(await ask('GET', `${where}/accounts/${user}`))[1].transfers);
    return books;
}

module.exports = { customer, logIn, noFaults, seatsLeft, transfers };
