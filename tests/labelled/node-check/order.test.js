// SPDX-License-Identifier: Apache-2.0
'use strict';
const test = require('node:test');
const assert = require('node:assert');

test('an order is taken, or refused with an error', async () => {
    const answer = await fetch(`${process.env.WEB}/orders`, { method: 'POST', body: '{"item":"desk"}' });
    const body = await answer.json();
    assert.ok(answer.status === 201 ? body.order && body.label : answer.status === 503 && body.error);
});
