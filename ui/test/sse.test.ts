// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SseParser, type SseMessage } from '../src/live/sse';
import { backoffMs, EventStream, type Link } from '../src/live/stream';

const STREAM = '\uFEFF: hello\r\n\r\nid: 7\nevent: state\ndata: {"a":\rdata:1}\r\n\r\n' +
    'data\n\nid: 8\n\nevent: lost\n\nretry: 2500\nretry: soon\nwhat: ever\ndata:  two\n\ndata: no end';
const MESSAGES: SseMessage[] = [
    { type: 'state', data: '{"a":\n1}', id: '7' },
    { type: 'message', data: '', id: '7' },
    { type: 'message', data: ' two', id: '8' },
];

test('messages are the same wherever the stream is cut', () => {
    const whole = new SseParser();
    assert.deepEqual(whole.push(STREAM), MESSAGES);
    assert.equal(whole.retryMs, 2500);
    for (let at = 1; at < STREAM.length; at++) {
        const cut = new SseParser();
        assert.deepEqual([...cut.push(STREAM.slice(0, at)), ...cut.push(STREAM.slice(at))], MESSAGES, `cut at ${at}`);
    }
    const bytes = new SseParser();
    assert.deepEqual(Array.from(STREAM).flatMap((char) => bytes.push(char)), MESSAGES);
});

test('an id with a zero byte is ignored, an empty one forgets', () => {
    const parser = new SseParser('5');
    assert.deepEqual(parser.push('id: 6\0\ndata: a\n\nid\ndata: b\n\n').map((m) => m.id), ['5', '']);
});

test('waits grow, up to a bound, and are not all the same', () => {
    assert.deepEqual([0, 1, 2, 5, 6, 99].map((n) => backoffMs(n, 1)), [500, 1000, 2000, 15000, 15000, 15000]);
    assert.equal(backoffMs(0, 0), 375);
    assert.equal(backoffMs(0, 1, 100), 100);
});

/** A server whose n-th connection answers as the n-th row says; ends the stream after the last. */
async function connect(rows: readonly { status: number; body: string }[], type = 'text/event-stream') {
    const asked: (string | null)[] = [];
    const links: Link[] = [];
    const got: SseMessage[] = [];
    await new Promise<void>((done) => {
        const stream = new EventStream({
            url: '/api/v1/events',
            headers: () => ({ authorization: 'Bearer t' }),
            random: () => 0,
            onMessage: (message) => { got.push(message); },
            onLink: (link) => {
                links.push(link);
                if (link === 'denied') done();
            },
            fetch: (_, init) => {
                const headers = new Headers(init?.headers);
                assert.equal(headers.get('authorization'), 'Bearer t');
                const row = rows[asked.length];
                asked.push(headers.get('last-event-id'));
                if (!row) {
                    stream.stop();
                    done();
                    return Promise.reject(new TypeError('over'));
                }
                return Promise.resolve(new Response(row.body, { status: row.status, headers: { 'content-type': type } }));
            },
        });
        stream.start();
    });
    return { asked, links, got };
}

test('a lost stream is taken up after the last event that came', async () => {
    const { asked, links, got } = await connect([
        { status: 200, body: 'retry: 100\nid: 3\ndata: a\n\n' },
        { status: 503, body: '' },
        { status: 200, body: 'id: 4\ndata: b\n\nid: 5\ndata: cut' },
    ]);
    assert.deepEqual(asked, [null, '3', '3', '4']);
    assert.deepEqual(got.map((m) => m.data), ['a', 'b']);
    assert.deepEqual(links, ['connecting', 'open', 'lost', 'connecting', 'lost', 'connecting', 'open', 'lost', 'connecting']);
});

test('a server that wants another token is not asked again', async () => {
    const { asked, links } = await connect([{ status: 401, body: '' }, { status: 200, body: '' }]);
    assert.equal(asked.length, 1);
    assert.deepEqual(links, ['connecting', 'denied']);
});

test('a stream that falls silent is given up', async () => {
    let tries = 0;
    await new Promise<void>((done) => {
        const stream = new EventStream({
            url: '/', headers: () => ({}), random: () => 0, silenceMs: 20, onMessage: () => undefined, onLink: () => undefined,
            fetch: (_, init) => {
                if (++tries === 2) {
                    stream.stop();
                    done();
                }
                const body = new ReadableStream<Uint8Array>({
                    start(to) { init?.signal?.addEventListener('abort', () => { to.error(new Error('ended')); }); },
                });
                return Promise.resolve(new Response(body));
            },
        });
        stream.start();
    });
    assert.equal(tries, 2);
});

test('a stream at rest holds no connection, and is taken up where it was', async () => {
    const asked: (string | null)[] = [];
    const links: Link[] = [];
    let held = 0;
    const stream = new EventStream({
        url: '/', headers: () => ({}), random: () => 0, onMessage: () => { stream.rest(); }, onLink: (link) => { links.push(link); },
        fetch: (_, init) => {
            asked.push(new Headers(init?.headers).get('last-event-id'));
            held++;
            const body = new ReadableStream<Uint8Array>({
                start(to) {
                    if (asked.length === 1) to.enqueue(new TextEncoder().encode('id: 3\ndata: a\n\n'));
                    init?.signal?.addEventListener('abort', () => { held--; to.error(new Error('ended')); });
                },
            });
            return Promise.resolve(new Response(body));
        },
    });
    const while_ = (ms: number) => new Promise((done) => { setTimeout(done, ms); });
    stream.start();
    await while_(700); // longer than it waits after a loss
    assert.equal(held, 0);
    assert.deepEqual(links, ['connecting', 'open'], 'nothing is lost');
    stream.nudge();
    await while_(20);
    assert.deepEqual(asked, [null, '3']);
    assert.equal(held, 1);
    stream.stop();
});
