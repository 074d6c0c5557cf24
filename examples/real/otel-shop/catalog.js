// SPDX-License-Identifier: Apache-2.0
'use strict';
const { serveHttp } = require('./common');

const prices = { desk: 120, lamp: 30 };

serveHttp({
    'GET /items/': async (item) => prices[item] ? [200, { item, price: prices[item] }] : [404, {}],
});
