// SPDX-License-Identifier: Apache-2.0
// Charges cards, and keeps a ledger of the last thousand orders.
'use strict';
const { serveGrpc } = require('./common');

const charged = new Map(); // order -> amounts

serveGrpc('Payments', {
    Charge: ({ order, amount }) => {
        charged.set(order, [...(charged.get(order) || []), amount]);
        if (charged.size > 1000) charged.delete(charged.keys().next().value);
        return { id: `${order}/${charged.get(order).length}` };
    },
    Ledger: ({ order }) => {
        const amounts = charged.get(order) || [];
        return { charges: amounts.length, total: amounts.reduce((sum, one) => sum + one, 0) };
    },
});
