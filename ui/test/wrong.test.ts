// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseFaultload } from '../src/model/faultload';
import { filterOf, filterRuns, NO_FILTER, placeOf, runAt, sizesOf, sortRuns } from '../src/model/runs';
import type { Finding, Remark, Runs, Scenario } from '../src/model/types';
import { allWrong, countWrong, whatClientGets, whatItIs } from '../src/model/wrong';

const finding = (id: string): Finding => ({
    id, kind: 'expectation', oracle: null, state: 'confirmed', why: 'charged twice', when: 'x fails', during: [], detail: null,
    faultload: 'a : 500', size: 1, alike: [], alike_total: 0, statuses: ['200'], runs: 1, run: 2, shrunk: false,
    replay: 'outfox replay 1', log: null, trace: null,
});

const remark = (severity: string, oracle: string): Remark => ({
    oracle, severity, why: 'it retries', when: 'x fails', during: [], faultload: 'a : 500', run: 3, runs: 1, evidence: [],
    replay: 'outfox replay', about: 'outfox oracles',
});

test('numbers are those of the other reports', () => {
    const scenario = {
        findings: [finding('pay/1'), finding('pay/2')], more_findings: 3, remarks_total: 5,
        remarks: [remark('finding', 'f1'), remark('warning', 'w1'), remark('finding', 'f2'), remark('warning', 'w2')],
    } as unknown as Scenario;
    assert.deepEqual(allWrong(scenario).map((w) => `${w.id} ${w.oracle ?? '-'}`), ['1 -', '2 -', '6 f1', '7 f2', 'w1 w1', 'w2 w2']);
    assert.deepEqual(countWrong(scenario), { findings: 7, warnings: 3 });
    assert.equal(whatItIs(allWrong(scenario)[0] ?? assert.fail()), 'The expectation does not hold, confirmed by a second run');
    assert.equal(whatItIs(allWrong(scenario)[4] ?? assert.fail()), 'A warning of the oracle w1');
});

test('what the client gets', () => {
    assert.equal(whatClientGets([]), '');
    assert.equal(whatClientGets(['200', '503']), 'the client gets 200 or 503');
    assert.equal(whatClientGets(['closed']), 'the client gets a closed connection');
    assert.equal(whatClientGets(['exit:1', 'exit:2']), 'the command ends with exit code 1 or 2');
});

test('faultloads', () => {
    assert.deepEqual(parseFaultload('none'), []);
    assert.deepEqual(parseFaultload('a GET / > b GET /x & y : 503 & cart down'),
        [{ call: 'a GET / > b GET /x & y', mode: '503' }, { call: 'cart', mode: 'down' }]);
    assert.deepEqual(parseFaultload('a GET / : x : lost-reply:503'), [{ call: 'a GET / : x', mode: 'lost-reply:503' }]);
    assert.deepEqual(parseFaultload('what is this'), [{ call: 'what is this', mode: '' }]);
});

const runs: Runs = {
    schema_version: 1, scenario: 's', total: 5, page_size: 200, calls: ['cart GET /', 'pay POST /'], modes: ['500', 'reset'],
    statuses: ['200', '503'], sentences: ['charged twice'], purposes: ['baseline', 'search'],
    runs: {
        number: [1, 2, 3, 5, 9], purpose: [0, 1, 1, 1, 1], faults: [[], [0, 0], [0, 1], [1, 0], [0, 0, 1, 1]], pass: [1, 1, 1, 0, 0],
        status: [0, 0, 1, 0, 1], why: [-1, -1, -1, 0, 0], took_us: [9, 5, 7, 5, 1], calls: [3, 2, 2, 4, 1], flags: [0, 0, 0, 1, 4],
    },
};
const numbers = (places: number[]) => places.map((place) => runs.runs.number[place]);

test('runs are filtered by each of their parts', () => {
    const by = (filter: Partial<typeof NO_FILTER>) => numbers(filterRuns(runs, { ...NO_FILTER, ...filter }));
    assert.deepEqual(by({}), [1, 2, 3, 5, 9]);
    assert.deepEqual(by({ status: '503' }), [3, 9]);
    assert.deepEqual(by({ pass: '0' }), [5, 9]);
    assert.deepEqual(by({ call: 'cart GET /' }), [2, 3, 9]);
    assert.deepEqual(by({ mode: 'reset' }), [3, 9]);
    assert.deepEqual(by({ call: 'cart GET /', mode: 'reset' }), [3]);
    assert.deepEqual(by({ size: '2' }), [9]);
    assert.deepEqual(by({ size: '0' }), [1]);
    assert.deepEqual(by({ purpose: 'baseline' }), [1]);
    assert.deepEqual(by({ flag: '4' }), [9]);
    assert.deepEqual(by({ status: '404' }), []);
    assert.deepEqual(by({ text: 'TWICE' }), [5, 9]);
    assert.deepEqual(by({ text: 'cart 500' }), [2, 9]);
    assert.deepEqual(by({ text: '#5' }), [5]);
    assert.deepEqual(by({ text: 'nowhere' }), []);
});

test('runs are sorted, equal ones by number', () => {
    assert.deepEqual(numbers(sortRuns(runs, [0, 1, 2, 3, 4], 'took', false)), [9, 2, 5, 3, 1]);
    assert.deepEqual(numbers(sortRuns(runs, [0, 1, 2, 3, 4], 'took', true)), [1, 3, 2, 5, 9]);
    assert.deepEqual(numbers(sortRuns(runs, [0, 1, 2, 3, 4], 'size', true)), [9, 2, 3, 5, 1]);
});

test('one run is told', () => {
    assert.deepEqual(runAt(runs, 4), {
        place: 4, number: 9, purpose: 'search', faults: [{ call: 'cart GET /', mode: '500' }, { call: 'pay POST /', mode: 'reset' }],
        pass: false, status: '503', why: 'charged twice', took_ns: 1000, calls: 1, flags: ['a fault did not fire'],
    });
    assert.equal(runAt(runs, 5), null);
    assert.deepEqual([1, 2, 3, 4, 5, 9, 10].map((n) => placeOf(runs, n)), [0, 1, 2, -1, 3, 4, -1]);
    assert.deepEqual(sizesOf(runs), [0, 1, 2]);
    assert.deepEqual(filterOf({ text: 'a', other: 'b' }), { ...NO_FILTER, text: 'a' });
});

test('a hundred thousand runs are filtered in no time', () => {
    const many = structuredClone(runs);
    const n = 100_000;
    for (const key of Object.keys(many.runs) as (keyof Runs['runs'])[])
        (many.runs[key] as unknown[]) = Array.from({ length: n }, (_, i) => (runs.runs[key] as unknown[])[i % 5]);
    const begin = performance.now();
    assert.equal(filterRuns(many, { ...NO_FILTER, text: 'cart reset' }).length, 2 * n / 5);
    assert.ok(performance.now() - begin < 5000);
});
