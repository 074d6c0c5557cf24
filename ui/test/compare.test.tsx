// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact-render-to-string';

import type { ChangedFinding, ComparedScenario, Comparison } from '../src/gen/documents';
import * as model from '../src/model/comparison';
import { parseRoute } from '../src/model/route';
import type { Report } from '../src/model/types';
import { Compare } from '../src/views/compare';
import { explored } from './made';

function compared(part: Partial<ComparedScenario> = {}): ComparedScenario {
    return {
        scenario: 'checkout', change: null, verdict_before: 'ok', verdict_after: 'ok', findings: [], warnings: [], calls: [], dependencies: [],
        pairs: [], latency: [], notes: [], ...part,
    };
}

function finding(change: string, why = change): ChangedFinding {
    return { change, oracle: null, why, when: null, faultload: null, id_before: null, id_after: null, replay: null, differences: [] };
}

const latency = (call: string, before: number, after: number) =>
    ({ change: 'changed', call, caller: null, service: null, before_ns: before, after_ns: after, differences: [] });

test('what a change means depends on what changed', () => {
    assert.equal(model.changeWords('new', 'findings').tone, 'bad');
    assert.equal(model.changeWords('fixed', 'findings').tone, 'ok');
    assert.equal(model.changeWords('new', 'calls').tone, 'odd');
    assert.equal(model.changeWords('gone', 'pairs').text, 'Gone');
    assert.deepEqual(model.changeWords('later', 'calls'), { text: 'later', tone: 'none', icon: 'question' });
});

test('what is new comes first', () => {
    const list = ['fixed', 'later', 'changed', 'new', 'not-seen', 'new'].map((change, i) => finding(change, String(i)));
    assert.deepEqual(model.inOrder(list).map((f) => f.why), ['3', '5', '2', '4', '0', '1']);
});

test('latencies: the slower first, the most changed first', () => {
    const list = [latency('a', 10, 5), latency('b', 10, 20), latency('c', 10, 90), latency('d', 100, 5)];
    assert.deepEqual(model.byChange(list).map((l) => l.call), ['c', 'b', 'd', 'a']);
    assert.equal(model.latencyWords(10, 25), '2.5 times as long');
    assert.equal(model.latencyWords(400, 10), '40 times as fast');
    assert.equal(model.latencyWords(0, 10), 'longer');
});

test('all of it in a sentence', () => {
    assert.equal(model.headline([compared()]), 'nothing differs that was compared');
    assert.equal(model.headline([
        compared({ findings: [finding('new'), finding('fixed')] }),
        compared({ findings: [finding('fixed')], latency: [latency('a', 1, 2)], calls: [{ change: 'gone', call: 'x', caller: null, service: null, differences: [] }] }),
    ]), '1 new finding, 2 fixed, 1 call changed or gone and 1 latency differs');
    assert.ok(!model.differs(compared({ notes: ['a note'] })));
    assert.ok(model.differs(compared({ verdict_after: 'findings' })));
    assert.ok(model.differs(compared({ change: 'gone' })));
});

test('fields in words', () => {
    assert.deepEqual(model.differenceWords({ field: 'conditional', before: 'false', after: 'true' }), { field: 'only after a fault', before: 'no', after: 'yes' });
    assert.deepEqual(model.differenceWords({ field: 'instead', before: null, after: 'x' }), { field: 'instead', before: 'nothing', after: 'x' });
});

function show(comparison: Comparison | null): string {
    const report = { scenarios: [explored()], comparison } as unknown as Report;
    return render(<Compare report={report} scenario={explored()} index={0} route={parseRoute('#/compare')} />);
}

test('the view: nothing to compare with, nothing that differs, and all kinds of changes', () => {
    assert.match(show(null), /was not compared.*outfox report --html report.html --compare old.html/s);
    const side = { file: 'old.html', version: '0.8', system: 'shop', verdict: 'findings' };
    const before = { schema_version: 1 as const, same: true, before: side, after: { ...side, file: null }, notes: [], scenarios: [compared()] };
    assert.match(show(before), /Nothing differs that was compared\./);
    const html = show({ ...before, same: false, notes: ['old.html is of the system "other"'], scenarios: [compared({
        verdict_before: 'findings', verdict_after: 'ok',
        findings: [
            { ...finding('new', 'it hangs <now>'), id_after: '2', replay: 'outfox replay 2' },
            { ...finding('changed'), differences: [{ field: 'statuses', before: '200', after: '503' }] }, finding('not-seen'),
        ],
        dependencies: [{ change: 'changed', call: 'a GET / > b GET /', caller: 'a', service: 'b', kind: 'hard', differences: [{ field: 'kind', before: 'soft', after: 'hard' }] }],
        pairs: [{ change: 'new', calls: ['a GET / > b GET /', 'a GET / > c GET /'], differences: [] }],
        latency: [latency('a GET /', 2e6, 9e6)], notes: ['calls were not compared'],
    }), compared({ scenario: 'refund', change: 'gone', verdict_after: null })] });
    assert.match(html, /href="#\/finding\/0\/2"/);
    assert.match(html, /it hangs &lt;now>/);
    assert.match(html, /what the client gets.*200.*503/s);
    assert.match(html, /it tried less, or ended early/);
    assert.match(html, /soft.*hard/s);
    assert.match(html, /4\.5 times as long/);
    assert.match(html, /calls were not compared/);
    assert.match(html, /of the system &quot;other&quot;/);
    assert.match(html, /Only the earlier campaign has this scenario/);
});
