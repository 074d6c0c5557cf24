// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client, Refused, sentenceOf, Unreachable } from '../src/live/client';
import { addRuns, nameOfRest } from '../src/live/more_runs';
import { ServerSource } from '../src/live/source';
import { knownToken, splitFragment, takeToken } from '../src/live/token';
import { runAt } from '../src/model/runs';
import type { Runs } from '../src/model/types';

test('the token leaves the address and the route stays', () => {
    assert.deepEqual(splitFragment('#/runs/0'), { token: null, route: '#/runs/0' });
    assert.deepEqual(splitFragment('#token=abc'), { token: 'abc', route: '' });
    assert.deepEqual(splitFragment('#token=a%2Bb&/runs/0?x=1&y=2'), { token: 'a+b', route: '#/runs/0?x=1&y=2' });
    assert.deepEqual(splitFragment('#token=100%'), { token: '100%', route: '' });
    assert.deepEqual(splitFragment('#token='), { token: null, route: '' });
    assert.equal(knownToken(), null);
    const replaced: unknown[] = [];
    takeToken({ hash: '#token=abc&/live', pathname: '/', search: '?q' }, { replaceState: (...args) => { replaced.push(args[2]); } });
    assert.deepEqual(replaced, ['/?q#/live']);
    assert.equal(knownToken(), 'abc');
});

interface Request { url: string; method: string; headers: Headers; body: unknown }

function server(answers: (request: Request) => Response) {
    const asked: Request[] = [];
    const ask: typeof fetch = (input, init) => {
        const request = { url: input as string, method: init?.method ?? 'GET', headers: new Headers(init?.headers), body: init?.body };
        asked.push(request);
        return Promise.resolve(answers(request));
    };
    return { asked, client: new Client(() => 'secret', { fetch: ask }) };
}

test('a document that is the same stays the same object', async () => {
    let version = 1;
    const { asked, client } = server((request) => {
        const etag = `"${version}"`;
        if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304 });
        return new Response(JSON.stringify({ version }), { headers: { etag } });
    });
    const source = new ServerSource(client);
    const first = await source.get('report');
    assert.deepEqual(first, { version: 1 });
    assert.equal(await source.get('report'), first);
    version = 2;
    assert.deepEqual(await source.get('report'), { version: 2 });
    source.forget();
    await source.get('report');
    assert.deepEqual(asked.map((r) => r.headers.get('if-none-match')), [null, '"1"', '"1"', null]);
    assert.ok(asked.every((r) => r.headers.get('authorization') === 'Bearer secret' && r.url === '/api/v1/report'));
});

test('commands are posted as JSON, and what is refused says why', async () => {
    const { asked, client } = server((request) => request.url.endsWith('/replays')
        ? new Response('{"id": 4}', { status: 202 })
        : new Response('{"error": {"status": 409, "message": "it is not paused"}}', { status: 409 }));
    assert.equal(await client.replay({ scenario: 0, finding: '1' }), '4');
    await assert.rejects(client.resume(), (e: unknown) => e instanceof Refused && e.status === 409 && e.message === 'it is not paused');
    await assert.rejects(client.oracle('../stop', 'off'));
    assert.deepEqual(asked.map((r) => [r.method, r.url, r.body]), [
        ['POST', '/api/v1/replays', '{"scenario":0,"finding":"1"}'],
        ['POST', '/api/v1/resume', '{}'],
        ['POST', '/api/v1/oracles/..%2Fstop', '{"severity":"off"}'],
    ]);
    assert.ok(asked.every((r) => r.headers.get('content-type') === 'application/json'));
});

test('a server that is away, and one that talks nonsense', async () => {
    const away = new Client(() => null, { fetch: () => Promise.reject(new TypeError('refused')) });
    await assert.rejects(away.get('report'), Unreachable);
    assert.deepEqual(away.headers(), {});
    assert.equal(sentenceOf(500, 'null'), 'the server answers 500');
    assert.equal(sentenceOf(500, '<html>'), 'the server answers 500');
    assert.equal(sentenceOf(500, '{"error": {"message": 7}}'), 'the server answers 500');
    assert.equal(sentenceOf(401, ''), 'the server wants another token');
    const none = server(() => new Response('{}', { status: 404 }));
    assert.equal(await new ServerSource(none.client).get('comparison'), null);
});

function index(numbers: number[], part: Partial<Runs>, status: number[]): Runs {
    const all = (value: number) => numbers.map(() => value);
    return {
        schema_version: 1, scenario: 's', total: numbers.at(-1) ?? 0, page_size: 200, calls: [], modes: [], statuses: [], sentences: ['late', 'wrong'],
        purposes: ['search'], ...part,
        runs: {
            number: numbers, purpose: all(0), faults: numbers.map(() => [0, 0]), pass: numbers.map(() => 0 as const), status,
            why: numbers.map((n) => n === 4 ? -1 : 1), took_us: all(5), calls: all(2), flags: all(0),
        },
    };
}

test('of the index of runs only what is new is fetched, and names keep their meaning', async () => {
    const first = index([1, 2], { calls: ['a'], modes: ['503'], statuses: ['200', '503'] }, [0, 1]);
    const more = index([3, 4], { calls: ['b'], modes: ['503'], statuses: ['reset', '200'], sentences: ['new', 'late', 'wrong'] }, [0, 1]);
    assert.equal(nameOfRest('runs/0', first), 'runs/0?from=3');
    assert.equal(nameOfRest('runs/0', undefined), 'runs/0');
    assert.equal(nameOfRest('runs/0', index([], {}, [])), 'runs/0');
    assert.equal(nameOfRest('runs/0/1', first), 'runs/0/1');
    const both = addRuns(first, more);
    assert.deepEqual([0, 1, 2, 3].map((i) => runAt(both, i)).map((r) => [r?.number, r?.faults[0]?.call, r?.status, r?.why]),
        [[1, 'a', '200', 'wrong'], [2, 'a', '503', 'wrong'], [3, 'b', 'reset', 'late'], [4, 'b', '200', null]]);
    assert.equal(first.runs.number.length, 2, 'what views have stays as it is');
    const { asked, client } = server((request) => Response.json(request.url.includes('from=3') ? more : first, { headers: { etag: '"1"' } }));
    const source = new ServerSource(client);
    await source.get('runs/0');
    assert.deepEqual(await source.get('runs/0'), both);
    assert.deepEqual(asked.map((r) => r.url), ['/api/v1/runs/0', '/api/v1/runs/0?from=3']);
});
