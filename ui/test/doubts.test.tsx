// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact-render-to-string';

import { byKind, causeWords, countDoubts, isSure, levelWords, lostContext, stopWords } from '../src/model/doubts';
import { parseRoute } from '../src/model/route';
import type { Report, Scenario } from '../src/model/types';
import { Doubts } from '../src/views/doubts';
import { explored } from './made';

const show = (scenario: Scenario) =>
    render(<Doubts report={{} as Report} scenario={scenario} index={0} route={parseRoute('#/doubts/0')} />);

const breaker: Partial<Scenario> = {
    inconclusive: 'not everything was stable', suspect_total: 300,
    unsure: [{
        cause: 'circuit-breaker', text: 'front stops calling prices', calls: ['front GET / > prices GET /p'], times: 4,
        faultload: 'front GET / > prices GET /p : 503',
        remedies: [{ line: 'restart: each-run', where: 'to the service front' }, { line: 'before: COMMAND', where: 'to the scenario' }],
    }],
    suspect: [
        { kind: 'fault-not-fired', call: 'front GET / > prices GET /p', faultload: 'front GET / > prices GET /p : 503', text: 'it did not fire' },
        { kind: 'later-kind', call: null, faultload: 'none', text: 'something' },
        { kind: 'fault-not-fired', call: null, faultload: 'none', text: 'again' },
    ],
};

test('words for causes, levels and stops; later ones as they are', () => {
    assert.equal(causeWords('data-left'), 'Data of earlier runs');
    assert.equal(causeWords('constructor'), 'constructor');
    assert.equal(levelWords('none'), 'by the address at which they arrive, one run at a time');
    assert.equal(stopWords('time'), 'the time budget was used up');
    assert.equal(stopWords('whim'), 'whim');
});

test('suspects by kind, services that lose the context', () => {
    assert.deepEqual(byKind(breaker.suspect ?? []).map((g) => [g.words, g.suspects.length]), [['A fault did not fire', 2], ['later-kind', 1]]);
    const levels = [
        { service: 'a', calls: 1, level: 'state', note: null },
        { service: 'b', calls: 1, level: 'none', note: 'b loses it' },
        { service: 'c', calls: 1, level: 'state', note: 'sometimes' },
    ];
    assert.deepEqual(lostContext(levels).map((l) => l.service), ['b', 'c']);
});

test('no doubts', () => {
    assert.ok(isSure(explored()));
    assert.equal(countDoubts(explored()), 0);
    assert.match(show(explored()), /There are no doubts/);
});

test('a cause with what helps, in order', () => {
    const html = show(explored(breaker));
    assert.equal(countDoubts(explored(breaker)), 1);
    assert.match(html, /Circuit breaker/);
    assert.match(html, /seen 4 times/);
    assert.match(html, /try in this order.*restart: each-run.*to the service front.*before: COMMAND/s);
    assert.match(html, /Not everything was stable\./);
    assert.match(html, /Everything that was not as it should be \(300\)/);
    assert.doesNotMatch(html, /it did not fire/, 'folded away');
    assert.doesNotMatch(html, /There are no doubts/);
});

test('a broken scenario, one that ended early, and hostile text', () => {
    const broken = show(explored({ broken: 'it answers <script>', broken_detail: 'line one\nline \u202etwo', verdict: 'broken' }));
    assert.match(broken, /fails without any fault/);
    assert.match(broken, /&lt;script>/);
    assert.doesNotMatch(broken, /\u202e/);
    const early = show(explored({ stopped_by: 'time', inconclusive: 'the time budget was used up', queued: 7, resume: 'outfox run --resume' }));
    assert.match(early, /The time budget was used up\./);
    assert.doesNotMatch(early, /It ended early/, 'said once');
    assert.match(early, /7 faultloads were/);
    assert.match(early, /outfox run --resume/);
    const lasts = show(explored({ stopped_by: 'running', inconclusive: 'it is still under way', queued: 7 }));
    assert.match(lasts, /still under way/);
    assert.match(lasts, /7 faultloads are/);
    assert.doesNotMatch(lasts, /ended early|Inconclusive/);
    assert.equal(countDoubts(explored({ stopped_by: 'running' })), 0);
});

test('notes and what is not compared', () => {
    const html = show(explored({ notes: ['a note'], volatile: ['/id'], levels: [{ service: 'front', calls: 3, level: 'trace', note: null }] }));
    assert.match(html, /a note/);
    assert.match(html, /Not compared in answers/);
    assert.match(html, /front.*trace/s);
    assert.ok(!isSure(explored({ volatile: ['/id'] })));
});
