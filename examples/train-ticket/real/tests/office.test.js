// SPDX-License-Identifier: Apache-2.0
// Stories of customers of the ticket office.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert');
const { customer, logIn, noFaults, seatsLeft, transfers } = require('./office');

test('the first train is shown with its time and price', async () => {
    const [status, answer] = await customer()('GET', '/trips?from=shanghai&to=suzhou');
    if (status === 503) return;
    assert.strictEqual(answer.trips[0].leaves, '09:00');
    assert.ok(answer.trips[0].euros >= 50);
});

test('a night train is shown even if it is sold out', async () => {
    const [status, answer] = await customer()('GET', '/trips?from=nanjing&to=shanghai');
    if (status === 503) return;
    assert.strictEqual(answer.trips.length, 1);
    assert.ok([0, null].includes(answer.trips[0].left), 'no seat, or not known');
});

test('a train without a kitchen has no menu', async () => {
    const [status, answer] = await customer()('GET', '/menu?train=Z999&from=nanjing');
    assert.strictEqual(status, 200);
    assert.ok(Array.isArray(answer.dishes));
});

test('whoever logs in is known', async () => {
    const [status, answer] = await customer()('POST', '/login', { user: 'bob', password: 'secret-of-bob' });
    if (status === 503) return;
    const [known, { orders }] = await customer(answer.token)('GET', '/orders');
    assert.ok(known === 503 || orders.length === 0);
});

test('whoever has not logged in cannot book', async () => {
    const [status] = await customer('bob.guessed')('POST', '/orders', { train: 'G1234' });
    assert.ok([401, 503].includes(status), `${status}`);
    assert.strictEqual(await seatsLeft('G1234'), 5);
});

test('a ticket is paid once', async () => {
    const bob = await logIn('bob');
    const [status] = await bob('POST', '/orders', { train: 'G1234' });
    const paid = await transfers('bob');
    assert.strictEqual(paid.length, status === 200 ? 1 : 0, JSON.stringify(paid));
});

test('two tickets are two seats', async () => {
    const bob = await logIn('bob');
    await noFaults(() => bob('POST', '/orders', { train: 'D1345' }));
    const [status] = await bob('POST', '/orders', { train: 'D1345' });
    assert.strictEqual(await seatsLeft('D1345'), status === 200 ? 3 : 4);
});

test('a cancelled ticket gives its seat to others', async () => {
    const bob = await logIn('bob');
    const [, { id }] = await noFaults(() => bob('POST', '/orders', { train: 'G1234' }));
    await bob('DELETE', `/orders/${id}`);
    const [, { orders }] = await noFaults(() => bob('GET', '/orders'));
    assert.strictEqual(await seatsLeft('G1234'), orders[0].state === 'cancelled' ? 5 : 4);
});
