// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callGraph, callsBelow, kindOf, sentence } from '../src/model/graph';
import { type Box, CLIENT, type GraphLayout, layoutGraph, MOST_ROWS } from '../src/model/graphlayout';
import { lastElement, parentOf, parseElement, shortName, withoutNumbers } from '../src/model/names';
import { begin, fit, LARGEST, SMALLEST, zoomBy } from '../src/model/zoom';
import type { Call } from '../src/model/types';
import { dependency, shop, shopCalls } from './samples';

test('names of calls', () => {
    const uid = 'web GET / > users GET /users/[id] {0a1b2c3d} #1 > bookings GET /b #12';
    assert.equal(lastElement(uid), 'bookings GET /b #12');
    assert.equal(parentOf(uid), 'web GET / > users GET /users/[id] {0a1b2c3d} #1');
    assert.equal(parentOf('web GET /'), null);
    assert.equal(lastElement('web GET /'), 'web GET /');
    assert.deepEqual(parseElement('users GET /users/[id] {0a1b2c3d} #1'), { service: 'users', what: 'GET /users/[id] {0a1b2c3d}', number: 1 });
    assert.deepEqual(parseElement('mail post.Office/Send'), { service: 'mail', what: 'post.Office/Send', number: 0 });
    assert.equal(withoutNumbers(uid), 'web GET / > users GET /users/[id] {0a1b2c3d} > bookings GET /b');
    assert.equal(shortName(uid), 'users > bookings GET /b #12');
});

test('the graph has each call once, with what is known of it', () => {
    const graph = callGraph(shop, shopCalls);
    assert.deepEqual([...graph.services.keys()], ['checkout', 'cart', 'payment', 'shipping', 'log', 'alerting']);
    assert.deepEqual(graph.calls.map((call) => [call.service, call.kind, call.onlyAfter, call.took]), [
        ['checkout', 'request', false, 3_000_000], ['cart', 'hard', false, 131_000], ['payment', 'hard', false, 475_000],
        ['shipping', 'hard', false, 124_000], ['cart', 'soft', false, 167_000], ['log', 'unknown', true, null], ['alerting', 'conditional', true, null],
    ]);
    const payment = graph.calls[2];
    assert.ok(payment);
    assert.deepEqual(callsBelow(graph, payment.uid).map((call) => call.service), ['shipping']);
    assert.equal(sentence(payment), 'checkout calls payment POST /payments: hard, the request fails; 475 µs without faults');
    assert.equal(kindOf('new-kind').name, 'new-kind');
});

test('calls of the run without faults come first, in its order', () => {
    const call = (name: string, calls: Call[] = []): Call => ({ call: name, seen: '200', start_ns: 0, end_ns: 1, calls });
    const run = call('checkout POST /checkout/alice', [call('payment POST /payments', [call('shipping POST /shipments')]), call('cart GET /carts/alice'), call('cart GET /carts/alice #1')]);
    assert.deepEqual(callGraph(shop, shopCalls, run).calls.map((c) => c.service), ['checkout', 'payment', 'shipping', 'cart', 'cart', 'log', 'alerting']);
});

test('callers that are not known are drawn, too', () => {
    const graph = callGraph({ ...shop, dependencies: [dependency('a GET / > b GET / > c GET /')] }, []);
    assert.deepEqual(graph.calls.map((call) => [call.service, call.caller]), [['a', null], ['b', 'a'], ['c', 'b']]);
    assert.deepEqual(callGraph(undefined, []).calls, []);
});

function box(layout: GraphLayout, service: string): Box {
    const found = layout.boxes.find((b) => b.service === service);
    assert.ok(found, service);
    return found;
}

/** Does no box lie on another, or outside? */
function apart(layout: GraphLayout): boolean {
    return layout.boxes.every((a) => a.x >= 0 && a.y >= 0 && a.x + a.width <= layout.width && a.y + a.height <= layout.height &&
        layout.boxes.every((b) => a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y));
}

test('boxes do not overlap, and what is called is to the right', () => {
    const layout = layoutGraph(callGraph(shop, shopCalls), new Set());
    assert.ok(apart(layout));
    for (const [from, to] of [[CLIENT, 'checkout'], ['checkout', 'cart'], ['checkout', 'payment'], ['payment', 'shipping']] as const)
        assert.ok(box(layout, from).x + box(layout, from).width < box(layout, to).x, to);
    assert.equal(layout.lines.length, 7);
    assert.ok(box(layout, 'cart').y < box(layout, 'alerting').y); // called earlier
    assert.equal(new Set(['cart', 'payment', 'alerting'].map((s) => box(layout, s).x)).size, 1); // one edge
});

test('many services are drawn, too, in columns', () => {
    const many = Array.from({ length: 200 }, (_, i) => dependency(`a GET / > s${i % 60} GET /${i} > t${i % 30} GET /`));
    const layout = layoutGraph(callGraph({ ...shop, dependencies: many }, []), new Set());
    assert.equal(layout.boxes.length, 92);
    assert.ok(apart(layout));
    assert.ok(box(layout, 'a').x < box(layout, 's7').x && box(layout, 's7').x < box(layout, 't7').x);
    assert.equal(box(layout, 's7').x, box(layout, 's8').x);
});

test('a service that calls itself, and services that call each other, are drawn', () => {
    const graph = callGraph({ ...shop, dependencies: ['a GET / > a GET /x', 'a GET / > b GET / > a GET /y', 'a GET / > b GET / > c GET / > b GET /z'].map((uid) => dependency(uid)) }, []);
    const layout = layoutGraph(graph, new Set());
    assert.equal(layout.lines.length, graph.calls.length);
    for (const { path } of layout.lines) assert.match(path, /^M[\d. -]+(C[\d. -]+)+$/);
});

test('rows beyond the most are drawn when asked for', () => {
    const many = Array.from({ length: 40 }, (_, i) => dependency(`a GET / > b GET /${i}`));
    const graph = callGraph({ ...shop, dependencies: many }, []);
    const closed = box(layoutGraph(graph, new Set()), 'b');
    assert.deepEqual([closed.calls.length, closed.hidden], [MOST_ROWS - 1, 41 - MOST_ROWS]);
    const open = box(layoutGraph(graph, new Set(['b'])), 'b');
    assert.deepEqual([open.calls.length, open.hidden], [40, 0]);
});

test('zooming keeps what is under the pointer there', () => {
    const at = { x: 100, y: 50 };
    const zoomed = zoomBy({ scale: 1, left: 300, top: 200 }, 2, at);
    assert.deepEqual(zoomed, { scale: 2, left: 700, top: 450 });
    assert.equal((zoomed.left + at.x) / zoomed.scale, 400);
    assert.equal(zoomBy(zoomed, 99, at).scale, LARGEST);
    assert.equal(zoomBy(zoomed, 0.001, at).scale, SMALLEST);
    assert.equal(zoomBy({ scale: 1, left: 0, top: 0 }, 0.5, at).left, 0);
});

test('what fits is not made larger, and stays readable at first', () => {
    assert.equal(fit(2000, 500, { width: 1000, height: 1000 }), 0.5);
    assert.equal(fit(200, 100, { width: 1000, height: 1000 }), 1);
    assert.equal(fit(0, 0, { width: 1000, height: 1000 }), 1);
    assert.equal(begin(2000, 300), 0.75);
    assert.equal(begin(1000, 900), 0.9);
    assert.equal(begin(100, 900), 1);
});
