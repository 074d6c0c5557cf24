// SPDX-License-Identifier: Apache-2.0
// A test with Node's own runner. It says in its requests on whose behalf they are made, so that
// several runs can be under way at a time; without Outfox these variables are not set.
'use strict';
const test = require('node:test');
const assert = require('node:assert');

const { SHOP, TRACEPARENT, TRACESTATE, BAGGAGE } = process.env;
const context = Object.fromEntries(Object.entries({
    traceparent: TRACEPARENT, tracestate: TRACESTATE, baggage: BAGGAGE,
}).filter(([, value]) => value));

test('a desk can be ordered, or we are told that it cannot', async () => {
    const answer = await fetch(`${SHOP}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...context },
        body: JSON.stringify({ item: 'desk' }),
    });
    const order = await answer.json();
    assert.ok([200, 503].includes(answer.status), order.error);
    assert.strictEqual(order.overcharged, false, `${order.charged} were charged`);
});
