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
        const order = { id: randomUUID(), item };
        let answer;
        try {
            order.price = (await httpCall('GET', `${CATALOG}/items/${item}`)).price;
            const { carrier } = await placeOrder(order);
            answer = [200, { item, total: order.price, carrier }];
        } catch (error) {
            answer = [503, { error: 'we cannot take your order now' }];
        }
        // What the books say is of interest, but not needed.
        const books = await payments('Ledger', { order: order.id }).catch(() => null);
        answer[1].charged = books ? books.total : 'not known';
        answer[1].overcharged = books !== null && books.charges > 1;
        return answer;
    },
});
