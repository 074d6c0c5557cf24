// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact-render-to-string';

import { Documents } from '../src/documents';
import { LiveBar } from '../src/live/bar';
import { Client } from '../src/live/client';
import { LiveContext } from '../src/live/context';
import { markOf, Refresher, scenarioOf } from '../src/live/refresh';
import { ServerSource } from '../src/live/source';
import { announcement, isAnother, Live } from '../src/live/store';
import type { Campaign, FindingEvent } from '../src/live/types';
import type { Report } from '../src/model/types';
import { campaign, explored, scenario } from './made';

const turn = (ms = 0) => new Promise((resolve) => { setTimeout(resolve, ms); });

test('which scenario a document is of', () => {
    assert.equal(scenarioOf('report'), 'all');
    assert.equal(scenarioOf('handlers/2'), 2);
    assert.equal(scenarioOf('runs/10/3'), 10);
    assert.equal(scenarioOf('modes'), null);
    const one = campaign({ scenarios: [scenario(), scenario({ scenario: 'b' })] });
    const two = campaign({ scenarios: [scenario({ runs: 61 }), scenario({ scenario: 'b' })], took_ns: 31e9 });
    assert.notEqual(markOf(one, 0), markOf(two, 0));
    assert.equal(markOf(one, 1), markOf(two, 1));
    assert.notEqual(markOf(one, null), markOf(two, null));
});

class Shelf {
    fetched: string[] = [];
    expired: string[] = [];
    shown = ['report'];
    names() { return ['report', 'handlers/0', 'modes']; }
    watched() { return this.shown; }
    refresh(name: string) {
        this.fetched.push(name);
        return Promise.resolve();
    }
    expire(name: string) { this.expired.push(name); }
}

test('documents are fetched again when there is something new, at most every few seconds, and only those that are shown', async () => {
    const shelf = new Shelf();
    let hidden = false;
    const refresher = new Refresher(shelf, () => hidden, undefined, 60);
    const runs = (n: number) => campaign({ scenarios: [scenario({ runs: n })] });
    refresher.tell(runs(1));
    await turn(10);
    assert.deepEqual(shelf.fetched, ['report']);
    assert.deepEqual(shelf.expired, ['handlers/0']);
    for (let n = 2; n < 6; n++) refresher.tell(runs(n));
    await turn(10);
    assert.equal(shelf.fetched.length, 1, 'not yet');
    await turn(70);
    assert.equal(shelf.fetched.length, 2, 'once for all of them');
    refresher.tell(runs(5));
    await turn(80);
    assert.equal(shelf.fetched.length, 2, 'nothing is new');
    hidden = true;
    refresher.tell(runs(6));
    await turn(80);
    assert.equal(shelf.fetched.length, 2, 'nobody looks');
    hidden = false;
    refresher.look();
    await turn(10);
    assert.equal(shelf.fetched.length, 3);
    refresher.tell(campaign({ state: 'finished', scenarios: [scenario({ runs: 6, state: 'done' })] }));
    await turn(10);
    assert.equal(shelf.fetched.length, 4, 'the end at once');
    refresher.reset();
    await turn(10);
    assert.equal(shelf.fetched.length, 5);
    refresher.stop();
});

test('another campaign is told from the same one that went on', () => {
    assert.equal(isAnother(null, campaign()), false);
    assert.equal(isAnother(campaign(), campaign({ took_ns: 31e9, state: 'paused' })), false);
    assert.equal(isAnother(campaign(), campaign({ took_ns: 1e9 })), true);
    assert.equal(isAnother(campaign({ state: 'finished' }), campaign({ took_ns: 31e9 })), true);
    assert.equal(isAnother(campaign(), campaign({ system: 'other' })), true);
});

test('findings are announced in one sentence', () => {
    const found = (why: string) => ({ why, stage: 'told' } as FindingEvent);
    assert.equal(announcement([found('it hangs')], 1), 'New finding: it hangs. 1 finding so far.');
    assert.equal(announcement([found('a'), found('b')], 7), '2 new findings. 7 so far.');
    assert.equal(announcement([], 3), '');
});

/** A server with a campaign, whose stream of events tests write to. */
function server(state: { campaign: Campaign }) {
    const asked: string[] = [];
    let streams: ReadableStreamDefaultController<Uint8Array>[] = [];
    const replay = { state: 'running' as string, error: null as string | null, result: null as unknown };
    const answer = (name: string, init?: RequestInit): Response => {
        if (name.startsWith('events')) {
            return new Response(new ReadableStream<Uint8Array>({
                start(to) {
                    streams.push(to);
                    init?.signal?.addEventListener('abort', () => { try { to.close(); } catch { /* it was */ } });
                },
            }));
        }
        if (name === 'campaign') return Response.json(state.campaign);
        if (name === 'pause') return Response.json(state.campaign = { ...state.campaign, state: 'paused' });
        if (name === 'resume') return Response.json({ error: { status: 409, message: 'it is not paused' } }, { status: 409 });
        if (name === 'replays') return Response.json({ id: 4 }, { status: 202 });
        if (name === 'replays/4') return Response.json(replay);
        return Response.json({ name, runs: state.campaign.scenarios[0]?.runs }, { headers: { etag: '"1"' } });
    };
    const ask: typeof fetch = (input, init) => {
        const name = (input as string).replace('/api/v1/', '');
        asked.push(name);
        return Promise.resolve(answer(name, init));
    };
    const client = new Client(() => null, { fetch: ask });
    const source = new ServerSource(client);
    const documents = new Documents(source);
    const real = globalThis.fetch;
    globalThis.fetch = ask; // the stream of events asks by itself
    Object.assign(globalThis, {
        document: { hidden: false, addEventListener: () => undefined }, addEventListener: () => undefined,
    });
    const live = new Live(client, source, documents);
    live.begin();
    return {
        asked, live, documents, replay,
        send(type: string, data: unknown) {
            const bytes = new TextEncoder().encode(`id: 1\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
            for (const stream of streams) stream.enqueue(bytes);
        },
        cut() {
            for (const stream of streams) stream.close();
            streams = [];
        },
        end() {
            live.end();
            globalThis.fetch = real;
        },
    };
}

test('the state is asked for at the beginning and then told', async () => {
    const it = server({ campaign: campaign() });
    await turn(5);
    assert.equal(it.live.now.link, 'open');
    const runs = () => it.live.now.campaign?.scenarios[0]?.runs;
    assert.equal(runs(), 60);
    it.send('state', campaign({ took_ns: 31e9, scenarios: [scenario({ runs: 70 })] }));
    await turn(5);
    assert.equal(runs(), 70);
    it.send('state', campaign({ took_ns: 32e9, state: 'finished', scenarios: [scenario({ state: 'done', verdict: 'findings' })] }));
    await turn(5);
    assert.equal(it.live.now.said.text, 'The campaign has finished.');
    for (const name of ['report', 'dependencies', 'handlers/0', 'runs/0', 'explanations/0'])
        assert.ok(it.asked.includes(name), `${name} is fetched while the server is there`);
    it.end();
});

test('what an oracle calls a finding is announced like any other', async () => {
    const it = server({ campaign: campaign({ scenarios: [scenario({ findings: 3 })] }) });
    await turn(5);
    assert.ok(it.asked.some((name) => /^events\?types=.*\bremark\b/.test(name)), 'remarks are asked for');
    it.send('remark', { type: 'remark', severity: 'warning', why: 'it may be slow', stage: 'told' });
    it.send('remark', { type: 'remark', severity: 'finding', why: 'it is charged twice', stage: 'final' });
    it.send('remark', { type: 'remark', severity: 'finding', why: 'it has no timeout', stage: 'told' });
    await turn(1600);
    assert.equal(it.live.now.said.text, 'New finding: it has no timeout. 3 findings so far.');
    it.end();
});

test('after a loss everything is asked for anew, without tags', async () => {
    const it = server({ campaign: campaign() });
    it.documents.listen('report', () => undefined);
    it.documents.read('report');
    await turn(5);
    const before = it.asked.filter((name) => name === 'report').length;
    it.cut();
    await turn(5);
    assert.equal(it.live.now.link, 'lost');
    assert.ok(it.live.now.lostAt !== null);
    it.live.look();
    await turn(20);
    assert.equal(it.live.now.link, 'open');
    assert.equal(it.live.now.lostAt, null);
    assert.ok(it.asked.filter((name) => name === 'report').length > before);
    assert.equal(it.asked.filter((name) => name === 'campaign').length, 2);
    it.end();
});

test('commands answer with the new state, or with why not', async () => {
    const it = server({ campaign: campaign() });
    await turn(5);
    assert.equal(await it.live.pause(), true);
    assert.equal(it.live.now.campaign?.state, 'paused');
    assert.equal(await it.live.resume(), false);
    assert.equal(it.live.now.refused, 'it is not paused');
    it.live.dismiss();
    assert.equal(it.live.now.refused, null);
    it.end();
});

test('a replay is followed to its end', async () => {
    const it = server({ campaign: campaign() });
    await turn(5);
    assert.equal(await it.live.replay({ scenario: 0, finding: '1' }), '4');
    await turn(5);
    assert.deepEqual(it.live.now.replays.get('4'), { state: 'running' });
    it.replay.state = 'done';
    it.replay.result = { verdict: 'findings', why: 'it hangs' };
    it.send('replay', { id: 4 });
    await turn(5);
    assert.equal(it.live.now.replays.get('4')?.state, 'done');
    assert.equal(it.live.now.said.text, 'The replay is done: it hangs.');
    it.end();
});

test('the bar shows what may be asked, and text of others as text', async () => {
    const it = server({ campaign: campaign({
        commands: ['resume', 'stop'], state: 'paused',
        in_flight: [{ scenario: 'checkout', faultload: 'a GET / > <b>x</b> GET /\u202e : hold', purpose: 'search', since_ns: 5e9 }],
    }) });
    await turn(5);
    const html = render(<LiveContext.Provider value={it.live}><LiveBar /></LiveContext.Provider>);
    assert.match(html, /Paused/);
    assert.match(html, />Resume</);
    assert.match(html, />Stop</);
    assert.doesNotMatch(html, />Pause</);
    assert.match(html, /&lt;b>x/);
    assert.doesNotMatch(html, /\u202e/);
    assert.match(html, /never answers/);
    const report = { scenarios: [explored({ more_findings: 2, remarks_total: 6 })] } as unknown as Report;
    const told = render(<LiveContext.Provider value={it.live}><LiveBar report={report} /></LiveContext.Provider>);
    assert.match(told, /Findings<\/dt><dd>2</, 'as many as the report below has');
    assert.match(told, /Warnings<\/dt><dd>6</);
    it.end();
    assert.equal(render(<LiveContext.Provider value={null}><LiveBar /></LiveContext.Provider>), '');
});
