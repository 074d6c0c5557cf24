// SPDX-License-Identifier: Apache-2.0
// Has an order paid and shipped. The parcel goes with our own shipping, or else with a courier.
//
// THE BUG: the card is charged first. When neither can take the parcel the order fails, the gateway
// tries again, and the second try charges the card again, because nobody asks whether this order
// was charged before.
'use strict';
const { serveHttp, grpcClient, httpCall } = require('./common');

const { PAYMENTS, SHIPPING, COURIER } = process.env;
const payments = grpcClient('Payments', PAYMENTS);
const shipping = grpcClient('Shipping', SHIPPING);

async function ship(order) {
    try {
        return await shipping('Book', { order: order.id, item: order.item });
    } catch (error) {
        return httpCall('POST', `${COURIER}/pickups`, { order: order.id });
    }
}

serveHttp({
    'POST /orders': async (_, order) => {
        try {
            await payments('Charge', { order: order.id, amount: order.price });
            const { carrier } = await ship(order);
            return [200, { carrier }];
        } catch (error) {
            return [503, { error: error.message }];
        }
    },
});
