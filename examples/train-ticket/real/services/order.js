// SPDX-License-Identifier: Apache-2.0
// Tickets: ordered, listed, cancelled, changed to another train.
//
// BUG 3: whoever books is sent a message. If that fails, the user is told that the booking failed,
//        and yet it is made and paid.
// BUG 4: if the payment fails, the seat is released. If that fails as well, nobody tries again, and
//        nobody will ever sit there.
// BUG 5: a ticket is cancelled even if the money cannot be given back, or the seat not be released.
// BUG 6: changing to another train releases the old seat first. If there is no new one, the user is
//        left without any.
// BUG 9: if only the answer to the payment was lost, nobody gives the money back.
'use strict';
const { serveHttp, grpcClient, call, PATIENCE_MS } = require('./common');

const { TRAVEL, SEAT, PAYMENT, NOTIFY } = process.env;
const payments = grpcClient('Payments', PAYMENT);
const sorry = [503, { error: 'we cannot do that now, please try again later' }];
const orders = new Map(); // id: { id, user, train, seat, euros, state }
let next = 1;

const tripOf = (train) => call('GET', `${TRAVEL}/trips/${train}`, undefined, 4 * PATIENCE_MS);
const takeSeat = (train, order) => call('POST', `${SEAT}/trains/${train}/seats`, { order });
const releaseSeat = (train, order) => call('DELETE', `${SEAT}/trains/${train}/seats/${order}`);

async function book({ body: { user, train } }) {
    const id = String(next++);
    let euros, seat;
    try {
        ({ euros } = await tripOf(train));
        ({ seat } = await takeSeat(train, id));
        await payments('Charge', { user, order: id, euros });
    } catch (error) {
        if ([404, 409].includes(error.status)) return [error.status, { error: 'there is no such seat' }];
        await releaseSeat(train, id).catch(() => {}); // if there is none, no harm is done
        return sorry;
    }
    const order = { id, user, train, seat, euros, state: 'paid' };
    orders.set(id, order);
    await call('POST', `${NOTIFY}/messages`, { user, text: `your seat in ${train}: ${seat}` });
    return [201, order];
}

async function list({ query: { user } }) {
    return [200, { orders: [...orders.values()].filter((order) => order.user === user) }];
}

async function cancel({ path: { id }, query: { user } }) {
    const order = orders.get(id);
    if (!order || order.user !== user) return [404, { error: 'you have no such ticket' }];
    order.state = 'cancelled';
    await Promise.allSettled([payments('Refund', { user, order: id, euros: order.euros }),
                              releaseSeat(order.train, id)]);
    return [200, order];
}

async function change({ path: { id }, query: { user }, body: { train } }) {
    const order = orders.get(id);
    if (!order || order.user !== user) return [404, { error: 'you have no such ticket' }];
    try {
        await releaseSeat(order.train, id);
        const { seat } = await takeSeat(train, id);
        Object.assign(order, { train, seat });
    } catch {
        return sorry;
    }
    return [200, order];
}

async function reset() {
    orders.clear();
    next = 1;
    return [200, {}];
}

serveHttp({
    'POST /orders': book,
    'GET /orders': list,
    'DELETE /orders/:id': cancel,
    'PUT /orders/:id': change,
    'POST /reset': reset,
});
