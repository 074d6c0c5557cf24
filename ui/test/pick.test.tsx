// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact-render-to-string';

import { ReplayProgress } from '../src/live/replay';
import { DOWN, faultWords } from '../src/model/faultload';
import * as pick from '../src/model/pick';
import { parseRoute, routeTo } from '../src/model/route';
import type { KnownCall, Report } from '../src/model/types';
import { Try } from '../src/views/try';
import { explored } from './made';

function known(call: string, caller: string | null, conditional = false): KnownCall {
    const own = call.slice(call.lastIndexOf(' > ') < 0 ? 0 : call.lastIndexOf(' > ') + 3);
    return { call, caller, service: own.split(' ')[0] ?? '', conditional, took_ns: null, runs: 1 };
}

const calls = [
    known('shop POST /buy', null), known('shop POST /buy > cart GET /c', 'shop'), known('shop POST /buy > pay POST /p', 'shop'),
    known('shop POST /buy > pay POST /p > mail post.Office/Send', 'pay', true), known('shop POST /buy > cart GET /c > db GET /x', 'cart'),
    known('lost POST /a > gone GET /b > stock GET /s', 'gone'),
];

Object.assign(globalThis, {
    location: { hash: '' }, matchMedia: () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }),
});

test('calls are listed below those that make them', () => {
    assert.deepEqual(pick.choices(calls).map((c) => [c.depth, c.name, c.conditional, c.own]), [
        [0, 'shop POST /buy', false, true], [1, 'cart GET /c', false, false], [2, 'db GET /x', false, false],
        [1, 'pay POST /p', false, false], [2, 'mail post.Office/Send', true, false],
        [0, 'lost POST /a > gone GET /b > stock GET /s', false, false],
    ]);
    assert.deepEqual(pick.services(calls), ['cart', 'db', 'mail', 'pay', 'stock']);
    assert.deepEqual(pick.choices([]), []);
});

test('a call gets the modes that fit it, each once', () => {
    const modes = ['503', 'grpc:14', 'hold', 'lost-reply:503', 'lost-reply:grpc:14', '503'];
    assert.deepEqual(pick.modesFor('a GET / > b GET /x', modes, ['hold', 'reset', '404']), { tried: ['503', 'hold', 'lost-reply:503'], others: ['reset', '404'] });
    assert.deepEqual(pick.modesFor('a GET / > mail post.Office/Send', modes, []).tried, ['grpc:14', 'hold', 'lost-reply:grpc:14']);
    assert.equal(pick.isGrpc('mail post.Office/Send ^32f7434c'), true);
    assert.equal(pick.isGrpc('stock GET /a/b'), false);
    assert.equal(pick.isGrpc('strange'), false);
});

test('choosing, changing and leaving out', () => {
    const one = pick.choose([], 'a', '503');
    const two = pick.choose(pick.choose(one, 'b', 'hold'), 'a', DOWN);
    assert.deepEqual(two, [{ call: 'a', mode: '503' }, { call: 'b', mode: 'hold' }, { call: 'a', mode: DOWN }]);
    assert.deepEqual(pick.choose(two, 'a', 'reset')[0], { call: 'a', mode: 'reset' });
    assert.equal(pick.modeOf(two, 'a'), '503');
    assert.equal(pick.modeOf(two, 'c'), '');
    assert.ok(pick.isDown(two, 'a') && !pick.isDown(two, 'b'));
    assert.deepEqual(pick.choose(two, 'a', ''), [{ call: 'b', mode: 'hold' }, { call: 'a', mode: DOWN }]);
    assert.deepEqual(pick.raise(two, 'a').length, 2);
    assert.equal(pick.choose(two, 'a', DOWN).length, 3);
    assert.deepEqual(pick.choose([{ call: 'a', mode: 'slow' }], 'a', DOWN), [{ call: 'a', mode: DOWN }]);
});

test('a fault in words', () => {
    assert.equal(faultWords({ call: 'a GET / > b GET /x #*', mode: '503' }), 'b GET /x answers 503 at every try');
    assert.equal(faultWords({ call: 'stock', mode: DOWN }), 'stock is down');
    assert.equal(faultWords({ call: 'stock', mode: 'overloaded:7' }), 'stock is overloaded');
});

function show(f: string): string {
    const report = { file: 'outfox.yaml', scenarios: [explored()] } as unknown as Report;
    const route = parseRoute(routeTo('try', 0, [], { f }));
    return render(<Try report={report} scenario={explored({ calls, replay: 'outfox replay none --store s.db' })} index={0} route={route} />);
}

test('the view shows what is chosen, and the command where no server can run it', () => {
    assert.match(show(''), /Nothing fails yet/);
    const html = show('shop POST /buy > cart GET /c : hold & pay down');
    assert.match(html, /2 faults/);
    assert.match(html, /<option selected value="hold">never answers/);
    assert.match(html, /outfox replay 'shop POST \/buy > cart GET \/c : hold &amp; pay down'/);
    assert.doesNotMatch(html, /Run these faults/);
    assert.match(show('x <b> : 503'), /&lt;b>/);
});

test('a replay, from waiting to its result', () => {
    assert.match(render(<ReplayProgress state={{ state: 'waiting' }} />), /waits for its turn/);
    assert.match(render(<ReplayProgress state={{ state: 'failed', error: 'no such call' }} />), /no such call/);
    const trace = { call: 'shop POST /buy', seen: '503', start_ns: 0, end_ns: 5, calls: [] };
    const result = {
        schema_version: 1 as const, system: 's', scenario: 'b', finding: '1', shows: true, remarks: [], verdict: 'findings', why: 'it is <wrong>',
        detail: null, status: '503', event: null, body: '', took_ns: 5e6, trace,
        without_faults: { verdict: 'ok', why: '', detail: null, status: '200', event: null, body: '', took_ns: 4e6, trace: { ...trace, seen: '200' } },
    };
    const html = render(<ReplayProgress state={{ state: 'done', result }} />);
    assert.match(html, /Not as expected/);
    assert.match(html, /it is &lt;wrong>/);
    assert.match(html, /shows again/);
    assert.match(html, /1 call with another outcome/);
});
