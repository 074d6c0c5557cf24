// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type FunctionComponent } from 'preact';
import { render } from 'preact-render-to-string';

import { Documents } from '../src/documents';
import { codePieces, parsePage } from '../src/model/page';
import { parseRoute } from '../src/model/route';
import type { Call, Finding as FindingDocument, Remark, Report, Scenario } from '../src/model/types';
import { CallTree } from '../src/parts/calltree';
import { DocumentsContext } from '../src/parts/hooks';
import { Text } from '../src/parts/text';
import { Waterfall } from '../src/parts/waterfall';
import { Finding } from '../src/views/finding';
import { Overview } from '../src/views/overview';
import { Run } from '../src/views/run';
import { Search } from '../src/views/search';
import type { ViewProps } from '../src/views/view';
import { explored } from './made';

const HOSTILE = '</script><img src=x onerror=alert(1)>"\'&\u202e';
let wide = true;
Object.assign(globalThis, { matchMedia: () => ({ matches: wide, addEventListener: () => undefined }) });

const call = (name: string, seen: string, calls: Call[] = [], injected?: string): Call =>
    ({ call: name, seen, start_ns: 1e6, end_ns: 5e6, calls, ...injected === undefined ? {} : { injected } });
const plainRun = call('web GET /', '200', [call('cart GET /', '200'), call('pay POST /', '200')]);
const failed = call('web GET /', '503', [call('cart GET /', '500', [], '500'), call('log POST /', '200')]);

const finding: FindingDocument = {
    id: '1', kind: 'expectation', oracle: null, state: 'flaky', why: `charged twice ${HOSTILE}`, when: 'cart answers 500', during: [], detail: null,
    faultload: 'web GET / > cart GET / : 500', size: 1, alike: ['web GET / > cart GET / : 503'], alike_total: 9, statuses: ['503'], runs: 4, run: 2,
    shrunk: true, replay: 'outfox replay 1', log: { service: 'cart', lines: ['boom', HOSTILE] }, trace: failed,
};
const remark: Remark = {
    oracle: 'retry-storm', severity: 'warning', why: 'it retries', when: 'x fails', during: [], faultload: 'a : 500', run: 3, runs: 1, replay: 'outfox replay x',
    about: 'outfox oracles retry-storm', evidence: [{ call: 'web GET / > cart GET /', role: 'the retry', seen: '503', injected: null, start_ns: 0, end_ns: 0 }],
};
const wrong = (part: Partial<Scenario> = {}) => explored({
    verdict: 'findings', findings: [finding], remarks: [remark], remarks_total: 1, without_faults: plainRun,
    outcomes: [{ status: '200', expected: true, runs: 5 }, { status: '503', expected: false, runs: 4 }],
    not_tried: 'lost replies: outfox run x.yaml --modes standard', skipped: { downstream: 4 }, ...part,
});

const documents: Record<string, unknown> = {
    'runs/0': {
        schema_version: 1, scenario: 'checkout', total: 2, page_size: 200, calls: ['web GET / > cart GET /'], modes: ['500'], statuses: ['200', '503'],
        sentences: ['charged twice'], purposes: ['baseline', 'search'], runs: {
            number: [1, 2], purpose: [0, 1], faults: [[], [0, 0]], pass: [1, 0], status: [0, 1], why: [-1, 0], took_us: [5000, 4000], calls: [3, 3], flags: [0, 1],
        },
    },
    'runs/0/0': {
        schema_version: 1, scenario: 'checkout', page: 0, points: ['web GET /', 'web GET / > cart GET /'], outcomes: ['503', '500'], modes: ['500'],
        runs: [{ number: 2, calls: [0, -1, 0, 0, -1, 0, 4000, 1, 0, 1, -1, 0, 100, 2000] }],
    },
    'explanations/0': {
        schema_version: 1, scenario: 'checkout', explanations: [
            { faultload: 'a : 500 & a > b : 503', answer: 'impossible', policy: 'downstream dependency', reduction: null, run: 1, text: 'b is not called' }],
    },
};

async function show(View: FunctionComponent<ViewProps>, scenarios: Scenario[], hash: string, error: string | null = null): Promise<string> {
    const report: Report = { schema_version: 1, version: '1', system: `shop${HOSTILE}`, file: 'x.yaml', verdict: 'findings', error, scenarios, suite: null, comparison: null };
    const source = new Documents({ live: false, get: (name) => Promise.resolve(documents[name] ?? null) });
    for (const name of [...Object.keys(documents), 'dependencies', 'oracles']) await source.refresh(name);
    const route = parseRoute(hash), scenario = scenarios[route.scenario];
    assert.ok(scenario);
    return render(
        <DocumentsContext.Provider value={source}>
            <View report={report} scenario={scenario} index={route.scenario} route={route} />
        </DocumentsContext.Provider>);
}

/** What is to be read, without elements. */
const words = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

test('text of others stays text', async () => {
    const html = render(<Text>{HOSTILE}</Text>);
    assert.ok(!html.includes('<img') && !html.includes('</script'));
    assert.match(html, /^<bdi/);
    assert.match(html, /title="U\+202E"/);
    for (const page of [await show(Overview, [wrong()], '#/'), await show(Finding, [wrong()], '#/finding/0/1')]) {
        assert.ok(page.includes('charged twice'));
        assert.ok(!page.includes('<img') && !page.includes('</script') && !page.includes('\u202e'));
    }
});

test('the overview of one scenario', async () => {
    const html = await show(Overview, [wrong()], '#/'), text = words(html);
    assert.match(text, /1 finding, 1 warning/);
    assert.match(text, /2 calls can fail, each in 2 ways: 9 combinations\./);
    assert.match(text, /Lost replies\./);
    assert.match(text, /outfox run x\.yaml --modes standard/);
    assert.match(text, /4 runs not as expected/);
    assert.match(html, /href="#\/finding\/0\/1"/);
    assert.match(html, /href="#\/finding\/0\/w1"/);
    assert.match(html, /href="#\/runs\/0\?status=503&(amp;)?pass=0"/);
});

test('a command is told request by request', async () => {
    const during = [{ number: 2, call: 'client scenario/buy > web POST /orders', seen: '503', usual: '200' }];
    const trace = call('client scenario/buy', 'exit:1', [{ ...call('web POST /orders', '503'), request: 2 }]);
    const requests = ['POST /login', 'POST /orders'].map((asked, i) => ({
        number: i + 1, call: `client scenario/buy > web ${asked}`, seen: '200', calls: 3, findings: i > 0 ? ['buy/1'] : [],
    }));
    const scenario = wrong({ requests, findings: [{ ...finding, during, trace }] });
    const html = await show(Overview, [scenario], '#/'), page = words(await show(Finding, [scenario], '#/finding/0/1'));
    assert.match(words(html), /Requests of the command .* 2\. web POST \/orders 200 3 1 /);
    assert.match(html, /<td[^>]*><span class="row"><a href="#\/finding\/0\/1">1<\/a>/);
    assert.match(page, /During 2\. web POST \/orders 503 was 200/);
    assert.match(page, /level 2 2\. web POST \/orders/);
    assert.doesNotMatch(words(await show(Overview, [wrong()], '#/')), /Requests of the command|During/);
});

test('how many ways there are is said of all calls, or as a bound', async () => {
    const modes = ['503', '504', 'grpc:14'];
    const said = async (space: number) => words(await show(Overview, [explored({ points: 2, modes, space })], '#/'));
    assert.match(await said(16), /each in 3 ways: 16 /);
    assert.match(await said(9), /each in 2 ways: 9 /, 'none is gRPC');
    assert.match(await said(6), /each in up to 3 ways: 6 /, 'one is gRPC');
});

test('the overview of several scenarios leads to each', async () => {
    const html = await show(Overview, [wrong(), explored({ scenario: 'other' })], '#/');
    assert.match(words(html), /2 scenarios/);
    assert.match(html, /href="#\/scenario\/1"/);
    assert.match(html, /href="#\/finding\/0\/1"/);
});

test('a scenario that fails on its own is told so', async () => {
    const log = { service: 'stock', lines: ['no <i>table</i> items'] };
    const html = await show(Overview, [explored({ verdict: 'broken', broken: 'no answer', broken_log: log, without_faults: failed })], '#/');
    const text = words(html);
    assert.match(text, /The log of stock .* the run that failed/);
    assert.match(html, /no &lt;i>table&lt;\/i> items/);
    assert.match(text, /Fails without any fault/);
    assert.match(text, /no answer/);
    assert.match(text, /outfox replay none/);
    assert.ok(!text.includes('combinations'));
});

test('one that never began has nothing to tell, nor to go on with if the system does not start', async () => {
    const none = explored({ verdict: 'inconclusive', stopped_by: 'not-run', runs: 0, runs_by_size: [], points: 0, space: 1,
        assumptions: ['max-faults 2'], resume: 'outfox run --resume', inconclusive: 'it was not explored' });
    const later = words(await show(Overview, [none], '#/')), never = words(await show(Overview, [none], '#/', 'stock ended before it was ready'));
    for (const text of [later, never]) {
        assert.match(text, /Nothing was run yet/);
        assert.ok(!/combination|max-faults|No findings/.test(text), text);
    }
    assert.match(later, /outfox run --resume/);
    assert.match(never, /stock ended before it was ready/);
    assert.ok(!never.includes('--resume'));
});

test('one that ended early says how to go on', async () => {
    const text = words(await show(Overview, [explored({ verdict: 'inconclusive', stopped_by: 'runs', queued: 7, resume: 'outfox run --resume', inconclusive: 'x' })], '#/'));
    assert.match(text, /No findings, but inconclusive/);
    assert.match(text, /9 runs before the run budget was used up; 7 more were waiting\./);
    assert.match(text, /outfox run --resume/);
});

test('one that lasts says how far it is', async () => {
    const text = words(await show(Overview, [explored({ verdict: 'inconclusive', stopped_by: 'running', queued: 7, inconclusive: 'it is still under way' })], '#/'));
    assert.match(text, /No findings so far/);
    assert.match(text, /9 runs so far; 7 more are waiting\./);
    assert.doesNotMatch(text, /inconclusive|running/i);
});

test('a finding: what, when, calls, log, alike', async () => {
    const html = await show(Finding, [wrong()], '#/finding/0/1'), text = words(html);
    assert.match(text, /flaky: not reproduced by a second run; faults that it does not need were removed/);
    assert.match(text, /the client gets 503/);
    assert.match(text, /The log of cart/);
    assert.match(text, /9 other combinations/);
    assert.match(text, /8 more not listed/);
    assert.match(text, /injected 500/);
    assert.match(html, /href="#\/run\/0\/2"/);
});

test('what an oracle says is shown like a finding', async () => {
    const text = words(await show(Finding, [wrong()], '#/finding/0/w1'));
    assert.match(text, /A warning of the oracle retry-storm/);
    assert.match(text, /the retry/);
    assert.match(text, /outfox oracles retry-storm/);
    assert.match(text, /does not have the calls of run 3/);
    assert.match(words(await show(Finding, [wrong()], '#/finding/0/99')), /There is no such finding/);
});

test('calls beside those without faults, line by line or as one', () => {
    wide = true;
    const beside = words(render(<CallTree now={failed} was={plainRun} />));
    assert.match(beside, /Without faults In this run/);
    assert.match(beside, /1 fault injected .* 1 call only with faults .* 1 call only without faults .* 1 call with another outcome/);
    wide = false;
    const single = words(render(<CallTree now={failed} was={plainRun} />));
    assert.match(single, /was 200/);
    assert.match(single, /pay POST \/ only without faults/);
    wide = true;
    assert.match(words(render(<CallTree now={plainRun} was={plainRun} />)), /The same calls with the same outcomes/);
});

test('a waterfall has both runs on one scale', () => {
    const html = render(<Waterfall now={failed} was={plainRun} />);
    assert.equal(html.match(/fall-block/g)?.length, 6);
    assert.equal(html.match(/not made/g)?.length, 2);
    assert.match(html, /inset-inline-start: ?20%;.*width: ?max\(2px, ?80%\)/);
});

test('a run with its faults, result and command', async () => {
    const text = words(await show(Run, [wrong()], '#/run/0/2'));
    assert.match(text, /charged twice/);
    assert.match(text, /hung/);
    assert.match(text, /outfox replay &#39;web GET \/ &gt; cart GET \/ : 500&#39;|outfox replay '/);
    assert.match(text, /Finding 1/);
    assert.match(text, /Times/);
    assert.match(words(await show(Run, [wrong()], '#/run/0/77')), /does not have this run/);
    assert.match(words(await show(Run, [wrong()], '#/run/0/1')), /does not have the calls of this run/);
});

test('the search tells what was not run', async () => {
    const text = words(await show(Search, [wrong()], '#/search/0'));
    assert.match(text, /A fault below a call that itself fails cannot happen\./);
    assert.match(text, /44\.4 %/);
    assert.match(text, /cannot happen/);
    assert.match(words(await show(Search, [explored({ skipped_known: false })], '#/search/0')), /Not known/);
});

test('the page of an oracle in parts', () => {
    const page = 'It is wrong,\nand so on.\n\nWhat it sees\n  One `call`\n  fails.\n\n  Then:\n\nWhat to do\n  - first\n    thing\n  - second\n';
    assert.deepEqual(parsePage(page), [
        { title: '', blocks: [{ kind: 'text', text: 'It is wrong, and so on.' }] },
        { title: 'What it sees', blocks: [{ kind: 'text', text: 'One `call` fails.' }, { kind: 'text', text: 'Then:' }] },
        { title: 'What to do', blocks: [{ kind: 'list', items: ['first thing', 'second'] }] },
    ]);
    assert.deepEqual(parsePage(''), []);
    assert.deepEqual(codePieces('a `b` c'), ['a ', 'b', ' c']);
});
