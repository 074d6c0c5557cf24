// SPDX-License-Identifier: Apache-2.0
// Orders that reserve, pay and ship: `node warehouse.js NAME PORT` starts one of the services.
//
//     web --+-- stock      POST /reservations, taken back by DELETE when paying fails
//           +-- payments   POST /charges with an idempotency key, tried twice
//           `-- parcels    POST /labels
//
// Correct: the reservation is taken back when the charge fails; the charge may be repeated.
// FLAW: when no label can be made the order fails, and neither charge nor reservation is undone.
// FLAW: nobody waits less than forever for parcels.
'use strict';
const http = require('node:http');
const { randomUUID } = require('node:crypto');
const [, , name, port] = process.argv;
const { STOCK, PAYMENTS, PARCELS } = process.env;

async function call(method, url, body, headers = {}, ms = 1000) {
    const answer = await fetch(url, {
        method, body: body && JSON.stringify(body), signal: ms ? AbortSignal.timeout(ms) : undefined,
        headers: { 'content-type': 'application/json', ...headers },
    });
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    return answer.json();
}

async function charge(amount) {
    const key = { 'idempotency-key': randomUUID() };
    try {
        return await call('POST', `${PAYMENTS}/charges`, { amount }, key);
    } catch {
        await new Promise((done) => setTimeout(done, 100));
        return call('POST', `${PAYMENTS}/charges`, { amount }, key);
    }
}

async function order({ item }) {
    let reservation;
    try {
        reservation = await call('POST', `${STOCK}/reservations`, { item });
    } catch {
        return [503, { error: 'not in stock, or not known' }];
    }
    try {
        await charge(30);
    } catch {
        await call('DELETE', `${STOCK}/reservations/${reservation.id}`).catch(() => {});
        return [503, { error: 'the card could not be charged' }];
    }
    const label = await call('POST', `${PARCELS}/labels`, { item }, {}, 0);
    return [201, { order: reservation.id, label: label.id }];
}

const seen = new Set(); // keys of charges
let next = 1;
const routes = {
    web: (method, path, body) => order(body),
    stock: async (method) => [200, method === 'POST' ? { id: next++ } : {}],
    payments: async (method, path, body, headers) => {
        const again = seen.has(headers['idempotency-key']);
        seen.add(headers['idempotency-key']);
        return [200, { state: 'charged', again }];
    },
    parcels: async () => [200, { id: `L${next++}` }],
};

http.createServer(async (request, response) => {
    let text = '', answer = [200, {}];
    for await (const piece of request) text += piece;
    try {
        if (request.url !== '/health')
            answer = await routes[name](request.method, request.url, text ? JSON.parse(text) : {}, request.headers);
    } catch (error) {
        answer = [500, { error: String(error) }];
    }
    response.writeHead(answer[0], { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer[1]));
}).listen(Number(port), '127.0.0.1');
