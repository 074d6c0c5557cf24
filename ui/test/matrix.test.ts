// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { columns, countKinds, type Filter, failureWords, filterRows, groupFailures, matrix, statusWords } from '../src/model/matrix';
import { dependency, failure, shop } from './samples';

const all: Filter = { text: '', service: '', kind: '', failing: false };

test('cells say what becomes of the request', () => {
    const m = matrix({
        ...shop,
        tried: ['500', 'hold'],
        dependencies: [
            dependency('a GET / > b GET /', {
                failures: [
                    failure('500'), failure('503', { fails: false, absorbed_by: 'value' }), failure('timeout', { fails: false, absorbed_by: 'other' }),
                    failure('reset', { fails: false, absorbed_by: 'retry' }), failure('delay:1s', { fails: false }),
                ],
            }),
            dependency('a GET / > c GET /', { kind: 'conditional', only_after: 'a GET / > b GET / : 500', failures: [] }),
            dependency('a GET / > d GET /', { kind: 'unknown', failures: [] }),
        ],
    });
    assert.deepEqual(m.labels, ['500', 'hold', '503', 'timeout', 'reset', 'delay:1s']);
    assert.deepEqual(m.rows.map((row) => m.labels.map((label) => row.cells.get(label)?.kind)), [
        ['fails', 'untried', 'value', 'other', 'retry', 'same'],
        ['late', 'late', 'late', 'late', 'late', 'late'],
        ['untried', 'untried', 'untried', 'untried', 'untried', 'untried'],
    ]);
    assert.deepEqual(m.services, ['a', 'b', 'c', 'd']);
});

test('columns that no call tells apart are one', () => {
    const m = matrix(shop);
    assert.deepEqual(columns(m, true).map((c) => c.labels), [['500', '503']]);
    assert.deepEqual(columns(m, false).map((c) => c.labels), [['500'], ['503']]);
    const other = matrix({ ...shop, dependencies: [dependency('a GET / > b GET /', { failures: [failure('500'), failure('503', { status: '502' })] })] });
    assert.equal(columns(other, true).length, 2);
});

test('rows are filtered by text, service, kind and what fails', () => {
    const { rows } = matrix(shop);
    const calls = (filter: Partial<Filter>) => filterRows(rows, { ...all, ...filter }).map((row) => row.dependency.service);
    assert.equal(calls({}).length, 5);
    assert.deepEqual(calls({ text: 'CARTS  delete' }), ['cart']);
    assert.deepEqual(calls({ text: 'continues' }), ['cart']);
    assert.deepEqual(calls({ service: 'payment' }), ['payment', 'shipping']);
    assert.deepEqual(calls({ kind: 'conditional' }), ['alerting']);
    assert.deepEqual(calls({ failing: true }), ['cart', 'payment', 'shipping']);
    assert.deepEqual(calls({ failing: true, kind: 'soft' }), []);
    assert.deepEqual([...countKinds(rows)], [['hard', 3], ['soft', 1], ['conditional', 1]]);
});

test('failures in words', () => {
    const d = dependency('a GET / > b GET /');
    const words = (more: Parameters<typeof failure>[1]) => failureWords(d, failure('500', more));
    assert.equal(words({}), 'The request fails: the client gets 503.');
    assert.equal(words({ fails: false, status: '200', absorbed_by: 'value', absorbed_in: 'web' }), 'web goes on without it; the client gets 200.');
    assert.equal(words({ fails: false, status: '200', absorbed_by: 'other', absorbed_in: 'a', instead: 'a GET / > c GET /x' }), 'a calls c GET /x instead; the client gets 200.');
    assert.match(words({ fails: false, absorbed_by: 'retry', absorbed_in: 'a' }), /^a tries again;.*lasts was not tried/);
    assert.match(words({ fails: false }), /sees no failure/);
    assert.equal(statusWords('exit:1'), 'the command ends with exit:1');
});

test('failures that come to the same are told once, bad ones first', () => {
    const d = dependency('a GET / > b GET /');
    const groups = groupFailures(d, [failure('400', { fails: false, status: '200' }), failure('500'), failure('503')]);
    assert.deepEqual(groups.map((g) => [g.fails, g.failures.map((f) => f.failure)]), [[true, ['500', '503']], [false, ['400']]]);
});
