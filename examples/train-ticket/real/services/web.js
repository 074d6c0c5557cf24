// SPDX-License-Identifier: Apache-2.0
// What users talk to: the page, and the API that it uses. Whoever has logged in sends the token as
// `authorization`.
//
// FALLBACK 4: without `food` the user is told what the shops of the station have.
//
// BUG 7: without `auth` the name in the token is believed, so any token is good.
// BUG 8: without `food` and without `station` there is an error instead of an empty menu.
// BUG 9: if only the answer to an order was lost, the user hears that nothing was bought.
'use strict';
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { serveHttp, call, PATIENCE_MS } = require('./common');

const { AUTH, TRAVEL, ORDER, FOOD, STATION } = process.env;
const LONG = 10 * PATIENCE_MS; // they ask others in turn

// What a service says is passed on if the user is to blame; everything else is a 503.
async function passOn(method, url, body) {
    try {
        return [200, await call(method, url, body, LONG)];
    } catch (error) {
        const theirs = [401, 404, 409].includes(error.status);
        return [theirs ? error.status : 503, { error: theirs ? 'that is not possible' : 'please come back later' }];
    }
}

async function userOf({ authorization = '' }) {
    try {
        return (await call('POST', `${AUTH}/token/validate`, { token: authorization })).user;
    } catch (error) {
        return error.status === 401 ? undefined : authorization.split('.')[0];
    }
}

// A handler for users who have logged in.
function forUser(handle) {
    return async (asked) => {
        const user = await userOf(asked.headers);
        return user ? handle(user, asked) : [401, { error: 'please log in' }];
    };
}

async function menu({ query: { train, from } }) {
    try {
        return [200, await call('GET', `${FOOD}/menus/${train}`)];
    } catch {
        return [200, await call('GET', `${STATION}/stations/${from}/shops`)];
    }
}

function file(name, type) {
    return async () => [200, readFileSync(path.join(__dirname, '../page', name)), `${type}; charset=utf-8`];
}

serveHttp({
    'GET /': file('index.html', 'text/html'),
    'GET /page.js': file('page.js', 'text/javascript'),
    'GET /page.css': file('page.css', 'text/css'),
    'POST /api/login': ({ body }) => passOn('POST', `${AUTH}/token`, body),
    'GET /api/trips': ({ query }) => passOn('GET', `${TRAVEL}/trips?${new URLSearchParams(query)}`),
    'GET /api/menu': menu,
    'GET /api/orders': forUser((user) => passOn('GET', `${ORDER}/orders?user=${user}`)),
    'POST /api/orders': forUser((user, { body: { train } }) => passOn('POST', `${ORDER}/orders`, { user, train })),
    'DELETE /api/orders/:id': forUser((user, { path: { id } }) => passOn('DELETE', `${ORDER}/orders/${id}?user=${user}`)),
    'PUT /api/orders/:id': forUser((user, { path: { id }, body }) => passOn('PUT', `${ORDER}/orders/${id}?user=${user}`, body)),
});
