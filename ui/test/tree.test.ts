// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ticks } from '../src/model/scale';
import { callsOfRun, compare, countMarks, span } from '../src/model/tree';
import type { Call } from '../src/model/types';

const call = (name: string, seen: string, calls: Call[] = [], injected?: string): Call =>
    ({ call: name, seen, start_ns: 0, end_ns: 10, calls, ...injected === undefined ? {} : { injected } });

const told = (now: Call | null, was: Call | null) => compare(now, was).map((row) => `${'.'.repeat(row.depth)}${row.name} ${row.mark}`);

test('a run beside the one without faults', () => {
    const was = call('a', '200', [call('b', '200', [call('c', '200'), call('d', '200')]), call('e', '200'), call('f', '200')]);
    const now = call('a', '200', [call('b', '502', [call('c', '500', [], '500')]), call('b #1', '200', [call('c', '200')]), call('f', '200')]);
    assert.deepEqual(told(now, was), ['a same', '.b changed', '..c injected', '..d gone', '.b #1 new', '..c new', '.e gone', '.f same']);
    assert.deepEqual(countMarks(compare(now, was)), { same: 2, injected: 1, new: 2, gone: 2, changed: 1 });
    assert.deepEqual(compare(now, was).map((row) => row.differs), [true, true, true, true, true, true, true, false]);
});

test('full names and lines', () => {
    const rows = compare(call('a', '200', [call('b', '200', [call('c', '200')]), call('d', '200')]), null);
    assert.deepEqual(rows.map((row) => row.uid), ['a', 'a > b', 'a > b > c', 'a > d']);
    assert.deepEqual(rows.map((row) => row.last), [[], [false], [false, true], [true]]);
    assert.deepEqual(compare(call('a', '503'), call('a', '200', [call('b', '200', [call('c', '200')])])).map((row) => row.shared), [0, 0, 0]);
    assert.deepEqual(rows.map((row) => row.mark), ['same', 'same', 'same', 'same']);
});

test('calls in another order are the same calls', () => {
    const was = call('a', '200', [call('b', '200'), call('c', '200'), call('d', '200')]);
    const now = call('a', '200', [call('d', '200'), call('b', '200')]);
    assert.deepEqual(told(now, was), ['a same', '.c gone', '.d same', '.b same']);
});

test('a call that is gone takes those below with it', () => {
    assert.deepEqual(told(call('a', '503'), call('a', '200', [call('b', '200', [call('c', '200')])])),
        ['a changed', '.b gone', '..c gone']);
    assert.deepEqual(told(null, call('a', '200')), ['a gone']);
    assert.deepEqual(compare(null, null), []);
});

test('a very long chain of calls', () => {
    let chain = call('end', '200');
    for (let i = 0; i < 20_000; i++) chain = call('next', '200', [chain]);
    const rows = compare(chain, chain);
    assert.equal(rows.length, 20_001);
    assert.equal(rows[20_000]?.depth, 20_000);
    assert.equal(rows[20_000].last.length, 16);
});

test('the calls of a run, from numbers', () => {
    const page = {
        schema_version: 1 as const, scenario: 's', page: 0,
        points: ['a GET /', 'a GET / > b GET / > x', 'a GET / > b GET / > x > c POST /'], outcomes: ['200', '503'], modes: ['503'],
        runs: [{ number: 7, calls: [0, -1, 0, 0, -1, 0, 9, 1, 0, 1, -1, -1, 1, 5, 2, 1, 1, -1, 0, 2, 3] }],
    };
    const tree = callsOfRun(page, 7);
    assert.deepEqual(tree, {
        call: 'a GET /', seen: '200', reply: '200', start_ns: 0, end_ns: 9000, calls: [{
            call: 'b GET / > x', seen: '503', start_ns: 1000, end_ns: 5000, calls: [
                { call: 'c POST /', seen: '503', injected: '503', start_ns: 2000, end_ns: 3000, calls: [] },
            ],
        }],
    });
    assert.equal(callsOfRun(page, 8), null);
    assert.equal(span(tree), 9000);
});

test('an axis has a few round places', () => {
    assert.deepEqual(ticks(10), [0, 2, 4, 6, 8]);
    assert.deepEqual(ticks(4_266_380), [0, 1e6, 2e6, 3e6]);
    assert.deepEqual(ticks(0), [0]);
    for (const end of [1, 7, 99, 1234, 5e9, 1e15]) {
        const places = ticks(end);
        assert.ok(places.length >= 3 && places.length <= 6, `${end}: ${places.join(' ')}`);
    }
});
