// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact-render-to-string';

import { callGraph } from '../src/model/graph';
import { outline } from '../src/model/outline';
import type { Handlers } from '../src/model/types';
import { HandlerTree } from '../src/parts/outline';
import { CallsOf } from '../src/views/calls';
import { HandlerList, HandlerPage } from '../src/views/handlers';
import { MatrixOf } from '../src/views/matrix';
import { dependency, handler, handlerNode, shop, shopCalls, shopCheckout } from './samples';

Object.assign(globalThis, { matchMedia: () => ({ matches: false }) });

/** What is read of a page: its text, with blanks for elements. */
const words = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const times = (html: string, what: RegExp) => html.match(what)?.length ?? 0;

const hostile = '<img src=x onerror=alert(1)>\u202e</script>';

test('the graph has a button for each call, and a list that says the same', () => {
    const html = render(<CallsOf graph={callGraph(shop, shopCalls)} dependencies={shop} index={0} chosen={null} />);
    assert.equal(times(html, /class="graph-row /g), 7);
    assert.equal(times(html, /<tr/g), 8);
    assert.equal(times(html, /class="graph-line /g), 7);
    assert.match(html, /aria-label="checkout calls payment POST \/payments: hard, the request fails; 475 µs without faults"/);
    assert.equal(times(html, /tabindex="0"/g), 1); // one stop; arrows go on from there
    assert.equal(times(html, /call-panel/g), 0);
    assert.match(html, /graph-line kind-conditional dashed/);
    assert.match(html, /graph-line kind-hard solid/);
});

test('the panel of a call says what happens when it fails, in which runs, and what must not fail with it', () => {
    const chosen = 'checkout POST /checkout/alice > cart GET /carts/alice #1';
    const html = render(<CallsOf graph={callGraph(shop, shopCalls)} dependencies={shop} index={3} chosen={chosen} />);
    const panel = words(html.slice(html.indexOf('call-panel'), html.indexOf('All calls')));
    assert.match(panel, /The request fails: the client gets 503\. Runs 12/);
    assert.match(panel, /Survived alone, but not together If cart DELETE \/carts\/alice fails, too: the client gets 503\./);
    assert.match(html, /href="#\/run\/3\/12"/);
    assert.match(html, /href="#\/runs\/3\?call=checkout\+POST/);
    assert.match(html, /aria-pressed="true"/);
});

test('a scenario without calls says so', () => {
    assert.match(render(<CallsOf graph={callGraph(undefined, [])} dependencies={undefined} index={0} chosen={null} />), /No calls have been seen yet/);
});

test('the matrix has a row for each call, hard ones first, and a word for each cell', () => {
    const html = render(<MatrixOf scenario={shop} index={0} query={{}} />);
    assert.equal(times(html, /<th scope="row"/g), 5);
    assert.equal(times(html, /<button type="button" class="cell-in"/g), 8);
    assert.equal(times(html, /aria-label="500: the request fails; the client gets 503"/g), 3);
    assert.match(words(html), /5 calls: 3 hard, 1 soft, 1 conditional/);
    assert.match(words(html), /Survived one at a time, but not together checkout > cart GET \/carts\/alice and checkout > cart DELETE/);
    assert.match(words(html), /: 2 times, by one handler/);
});

test('the matrix begins with the filter of the address', () => {
    const html = render(<MatrixOf scenario={shop} index={0} query={{ kind: 'soft' }} />);
    assert.equal(times(html, /<th scope="row"/g), 1);
    assert.match(words(html), /1 of 5 calls/);
    assert.match(render(<MatrixOf scenario={shop} index={0} query={{ text: 'nothing like it' }} />), /No call is like that/);
});

test('a scenario that is broken has no matrix', () => {
    assert.match(render(<MatrixOf scenario={{ ...shop, broken: 'it fails' }} index={0} query={{}} />), /fails without any fault.*it fails/);
    assert.match(render(<MatrixOf scenario={{ ...shop, dependencies: [] }} index={0} query={{}} />), /No call was made to fail yet/);
});

const document: Handlers = { schema_version: 1, scenario: 'checkout', left_out: 0, handlers: [shopCheckout, handler([handlerNode([['200', 1]])], 'cart GET /carts/alice')] };

test('the tree of a handler is one for keys and screen readers', () => {
    const html = render(<HandlerTree outline={outline(shopCheckout)} index={0} label="x" />);
    assert.equal(times(html, /role="treeitem"/g), outline(shopCheckout).rows);
    assert.equal(times(html, /role="tree"/g), 1);
    assert.equal(times(html, /<li [^>]*tabindex="0"/g), 1);
    assert.match(html, /aria-level="4" aria-posinset="1" aria-setsize="1"/);
    assert.equal(times(html, /aria-expanded="true"/g), 7);
    assert.match(words(html), /3 calls payment POST \/payments and goes on if it sees 200/);
    assert.match(words(html), /3a\.1a if it sees 500 503 → calls alerting POST \/alerts\/payment , then answers 503/);
    assert.match(words(html), /goes on with step 4/);
    assert.match(html, /href="#\/run\/0\/4"/);
});

test('a large tree is not opened at once', () => {
    const nodes = Array.from({ length: 300 }, (_, i) => handlerNode([[`b GET /${i}`, ['200'], i + 1, 1], [`b GET /${i}`, ['500'], 301, 2]]));
    const html = render(<HandlerTree outline={outline(handler([...nodes, handlerNode([['200', 1]]), handlerNode([['c GET /', ['200'], 300], ['c GET /', ['500'], 302]]), handlerNode([['503']])]))} index={0} label="x" />);
    assert.ok(times(html, /role="treeitem"/g) < 700);
    assert.match(html, /aria-expanded="false"/);
});

test('handlers at a glance, those that call others first', () => {
    const html = words(render(<HandlerList document={document} index={0} />));
    assert.match(html, /When a call fails it tries cart GET \/carts\/alice and payment POST \/payments again ; goes on without cart DELETE/);
    assert.match(html, /Handlers that call nobody cart GET \/carts\/alice 200/);
    assert.match(words(render(<HandlerPage document={document} at={1} index={0} />)), /1 answers 200/);
    assert.match(render(<HandlerPage document={document} at={9} index={0} />), /no such handler/);
    assert.match(render(<HandlerList document={{ ...document, handlers: [] }} index={0} />), /No handler has been seen yet/);
});

test('names of others stay text', () => {
    const evil = dependency(`web GET / > ${hostile} GET /${hostile}`, { text: hostile });
    const scenario = { ...shop, dependencies: [evil], pairs: [], redundant: [] };
    const pages = [
        render(<CallsOf graph={callGraph(scenario, [])} dependencies={scenario} index={0} chosen={evil.call} />),
        render(<MatrixOf scenario={scenario} index={0} query={{ text: hostile }} />),
        render(<HandlerPage document={{ ...document, handlers: [handler([handlerNode([[`${hostile} GET /`, [hostile], 1, 1]]), handlerNode([[hostile]])], hostile)] }} at={0} index={0} />),
    ];
    for (const html of pages) {
        assert.doesNotMatch(html, /<img|<\/script/);
        assert.doesNotMatch(html.replace(/(href|value|data-\w+)="[^"]*"/g, ''), /\u202e/);
    }
});

test('a matrix of many rows begins with some of them', () => {
    const many = Array.from({ length: 500 }, (_, i) => dependency(`a GET / > s${i % 20} GET /${i}`));
    const html = render(<MatrixOf scenario={{ ...shop, dependencies: many }} index={0} query={{}} />);
    assert.equal(times(html, /<th scope="row"/g), 100);
    assert.match(words(html), /All 500 calls/);
});
