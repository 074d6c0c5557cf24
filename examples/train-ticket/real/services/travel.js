// SPDX-License-Identifier: Apache-2.0
// Which trains go where, and what is known of each.
//
// FALLBACK 1: without `station` the short name of a station is shown.
// FALLBACK 2: without `price` the list price, printed once a year, is shown.
//
// BUG 1: D1345 is newer than the list of prices. Without `price` it has none.
'use strict';
const { serveHttp, grpcClient, call } = require('./common');

const { STATION, PRICE, SEAT } = process.env;
const prices = grpcClient('Prices', PRICE);

const TRAINS = {
    G1234: { from: 'shanghai', to: 'suzhou', leaves: '09:00' },
    D1345: { from: 'shanghai', to: 'suzhou', leaves: '09:30' },
    Z999: { from: 'nanjing', to: 'shanghai', leaves: '22:10' },
};
const LIST_PRICES = { G1234: 55, Z999: 25 };

async function stationName(id) {
    try {
        return (await call('GET', `${STATION}/stations/${id}`)).name;
    } catch (error) {
        if (error.status === 404) throw error;
        return id;
    }
}

async function priceOf(train) {
    try {
        return (await prices('GetQuote', { train })).euros;
    } catch {
        return LIST_PRICES[train];
    }
}

async function seatsLeft(train) {
    try {
        return (await call('GET', `${SEAT}/trains/${train}/seats`)).left;
    } catch {
        return null; // not known
    }
}

async function search({ query }) {
    let from, to;
    try {
        [from, to] = [await stationName(query.from), await stationName(query.to)];
    } catch {
        return [404, { error: 'there is no such station' }];
    }
    const trips = [];
    for (const [train, { leaves, ...ends }] of Object.entries(TRAINS))
        if (ends.from === query.from && ends.to === query.to)
            trips.push({ train, leaves, euros: await priceOf(train), left: await seatsLeft(train) });
    return [200, { from, to, trips }];
}

async function trip({ path: { train } }) {
    if (!TRAINS[train]) return [404, { error: 'there is no such train' }];
    return [200, { train, ...TRAINS[train], euros: await priceOf(train) }];
}

serveHttp({ 'GET /trips': search, 'GET /trips/:train': trip });
