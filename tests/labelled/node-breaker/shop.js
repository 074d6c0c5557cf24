// SPDX-License-Identifier: Apache-2.0
// A product page: `node shop.js NAME PORT` starts one of its services.
//
//     shop --+-- catalog   tried twice, with a pause: no page without it
//            +-- prices    behind a circuit breaker; while it is open, the list price
//            `-- reviews   cached for a minute; an empty list when there are none
//
// Correct: timeouts everywhere, the breaker, a page that says what it lacks ("priceIsCurrent").
// FLAW: a page without reviews looks like a product that nobody reviewed, and that is cached.
'use strict';
const http = require('node:http');
const [, , name, port] = process.argv;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function get(url) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1000) });
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    return answer.json();
}

class Breaker {
    constructor(call, { failures, pause }) { Object.assign(this, { call, failures, pause }); this.reset(); }
    reset() { this.failed = 0; this.openUntil = 0; }
    async fire(...args) {
        if (Date.now() < this.openUntil) throw new Error('circuit open');
        try {
            const value = await this.call(...args);
            this.failed = 0;
            return value;
        } catch (error) {
            if (++this.failed >= this.failures) this.openUntil = Date.now() + this.pause;
            throw error;
        }
    }
}

const cache = new Map(); // path -> { value, until }
async function cached(path, ttl, load) {
    const hit = cache.get(path);
    if (hit && hit.until > Date.now()) return hit.value;
    const value = await load();
    cache.set(path, { value, until: Date.now() + ttl });
    return value;
}

const price = new Breaker((id) => get(`${process.env.PRICES}/prices/${id}`), { failures: 3, pause: 30000 });

async function product(id) {
    try {
        return await get(`${process.env.CATALOG}/products/${id}`);
    } catch {
        await sleep(100);
        return get(`${process.env.CATALOG}/products/${id}`);
    }
}

const routes = {
    shop: async (method, path) => {
        if (path === '/test/reset') { price.reset(); cache.clear(); return [204]; }
        const id = path.split('/').pop();
        let item;
        try {
            item = await product(id);
        } catch {
            return [503, { error: 'the catalog is not available' }];
        }
        const now = await price.fire(id).catch(() => null);
        const reviews = await cached(`/reviews/${id}`, 60000,
            () => get(`${process.env.REVIEWS}/reviews/${id}`).catch(() => []));
        return [200, { ...item, price: now ? now.price : item.listPrice, priceIsCurrent: !!now, reviews }];
    },
    catalog: async () => [200, { name: 'Lamp', listPrice: 40 }],
    prices: async () => [200, { price: 35 }],
    reviews: async () => [200, [{ stars: 5, text: 'bright' }]],
};

http.createServer(async (request, response) => {
    const [status, body] = request.url === '/health' ? [200, {}] : await routes[name](request.method, request.url);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body && JSON.stringify(body));
}).listen(Number(port), '127.0.0.1');
