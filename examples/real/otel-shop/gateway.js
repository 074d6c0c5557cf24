// SPDX-License-Identifier: Apache-2.0
// What customers talk to: POST /orders { item }. Orders that fail are tried once more.
'use strict';
const { randomUUID } = require('node:crypto');
const { serveHttp, grpcClient, httpCall } = require('./common');

const { CATALOG, ORDERS, PAYMENTS } = process.env;
const payments = grpcClient('Payments', PAYMENTS);

async function placeOrder(order) {
    try {
        return await httpCall('POST', `${ORDERS}/orders`, order);
    } catch (error) {
        return httpCall('POST', `${ORDERS}/orders`, order);
    }
}

serveHttp({
    'POST /orders': async (_, { item }) => {
        let order, placed;
        try {
            const { price } = await httpCall('GET', `${CATALOG}/items/${item}`);
            order = { id: randomUUID(), item, price };
            placed = await placeOrder(order);
        } catch (error) {
            return [503, { error: 'we cannot take your order now' }];
        }
        // The receipt is a courtesy, but one that shows other sums than the price is none.
        const ledger = await payments('Ledger', { order: order.id }).catch(() => null);
        if (ledger && ledger.total !== order.price)
            return [500, { error: `charged ${ledger.charges} times, ${ledger.total} in all` }];
        return [200, { item, total: order.price, carrier: placed.carrier, receipt: ledger !== null }];
    },
});
