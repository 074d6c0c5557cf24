// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Campaign, CampaignScenario } from '../src/live/types';
import * as model from '../src/model/campaign';
import { DOWN, faultloadWords, modeWords, parseFaultload, printFaultload } from '../src/model/faultload';
import { campaign, scenario } from './made';

test('the estimate says no more than is known', () => {
    const left = (s: Partial<CampaignScenario>, c: Partial<Campaign> = {}) =>
        model.leftWords(campaign({ ...c, scenarios: [scenario(s)] }));
    assert.equal(left({}), 'about 20 s left');
    assert.equal(left({ left_ns: 3 * 60e9, left_at_least: true }), 'at least 3 min: the queue still grows');
    assert.equal(left({ left_ns: null }), 'too early to say how long it takes');
    assert.equal(left({ left_ns: null }, { state: 'learning' }), '');
    for (const state of ['paused', 'stopping', 'finished', 'failed', 'starting']) assert.equal(left({}, { state }), '');
    assert.equal(model.leftWords(campaign({ scenarios: [scenario(), scenario({ state: 'waiting' })] })),
        'about 20 s left for this scenario');
});

test('guessed times are rounded', () => {
    const rows: [number, string][] = [[0, 'a few seconds'], [4.9, 'a few seconds'], [5, '5 s'], [18, '20 s'], [57, '55 s'], [58, '1 min'],
        [179, '3 min'], [5900, '98 min'], [6000, '1.5 h'], [36000, '10 h'], [300000, '3 days']];
    for (const [s, words] of rows) assert.equal(model.roughly(s * 1e9), words);
});

test('a bar of progress only where an end is in sight', () => {
    const share = (s: Partial<CampaignScenario>, c: Partial<Campaign> = {}) => model.share(campaign({ ...c, scenarios: [scenario(s)] }));
    assert.equal(share({}), 0.6);
    assert.equal(share({ left_at_least: true }), null);
    assert.equal(share({ left_ns: null }), null);
    assert.equal(share({ left_at_least: true, max_runs: 80 }), 0.75);
    assert.equal(share({ max_runs: 30 }), 1);
    assert.equal(share({ left_at_least: true, max_runs: 50_000 }), null, 'a bound that is far away says nothing');
    assert.equal(share({ max_runs: 50_000 }), 0.6);
    assert.equal(share({}, { state: 'learning' }), null);
    assert.equal(share({ state: 'done' }), null);
});

test('the scenario of the figures, and sums over all', () => {
    const done = scenario({ scenario: 'a', state: 'done', runs: 7 });
    const waiting = scenario({ scenario: 'c', state: 'waiting', runs: 0, findings: 0, warnings: 0, failed_runs: 0 });
    const all = campaign({ scenario: null, scenarios: [done, scenario({ scenario: 'b', state: 'done' }), waiting] });
    assert.equal(model.scenarioNow(all)?.scenario, 'b');
    assert.equal(model.scenarioNow(campaign({ scenario: null, scenarios: [] })), null);
    assert.deepEqual(model.sums(all), { runs: 67, findings: 2, warnings: 4, failed: 6 });
});

test('a state in words', () => {
    assert.equal(model.stateWords(campaign()), 'Exploring');
    assert.equal(model.stateWords(campaign({ state: 'later-state' })), 'later-state');
    assert.equal(model.stateWords(campaign({ state: 'finished', scenarios: [scenario({ verdict: 'ok' }), scenario({ verdict: 'inconclusive' })] })), 'Finished: inconclusive');
    assert.equal(model.stateWords(campaign({ state: 'finished', scenarios: [scenario({ verdict: 'ok' })] })), 'Finished: no findings');
    assert.equal(model.stateWords(campaign({ state: 'finished', scenarios: [] })), 'Finished');
});

test('colours of states', () => {
    const over = (...verdicts: (string | null)[]) =>
        model.toneOf(campaign({ state: 'finished', scenarios: verdicts.map((verdict) => scenario({ verdict })) }));
    assert.equal(over('ok', 'ok'), 'ok');
    assert.equal(over('ok', 'findings'), 'bad');
    assert.equal(over('ok', null), 'odd');
    assert.equal(model.toneOf(campaign()), 'busy');
    assert.equal(model.toneOf(campaign({ state: 'paused' })), 'none');
});

test('runs under way, in words', () => {
    const flight = (purpose: string, faultload: string) => model.flightWords({ scenario: 's', purpose, faultload, since_ns: 1 });
    assert.equal(flight('search', 'a GET / > b GET /x : 503 & a GET / > c GET /y : hold & d down'), 'b GET /x answers 503, c GET /y never answers and 1 more');
    assert.equal(flight('search', 'none'), 'a run without faults');
    assert.equal(flight('confirm', 'a GET / > b GET /x : lost-reply:503'), 'confirming a finding: b GET /x answers 503 after the work is done');
    assert.equal(flight('check', 'none'), 'checking that the system still works');
});

test('a budget is read as it is typed', () => {
    assert.deepEqual(model.readBudget('2,000', ''), { max_runs: 2000 });
    assert.deepEqual(model.readBudget('', '1.5'), { max_time: '90s' });
    assert.deepEqual(model.readBudget('0', '0'), { max_runs: null, max_time: null });
    for (const [runs, minutes] of [['', ''], ['-1', ''], ['1e9', ''], ['', 'soon'], ['', '-3']] as const)
        assert.ok('error' in model.readBudget(runs, minutes), `${runs}|${minutes}`);
    assert.equal(model.budgetWords(scenario({ max_runs: 2000, max_time_ns: 300e9 })), '2,000 runs or 5 min');
    assert.equal(model.budgetWords(scenario()), 'no bound');
});

test('what is told of the connection', () => {
    assert.equal(model.linkWords('open', null), null);
    assert.equal(model.linkWords('connecting', campaign()), null);
    assert.match(model.linkWords('lost', campaign())?.text ?? '', /tries again by itself/);
    assert.match(model.linkWords('lost', campaign({ state: 'stopping' }))?.text ?? '', /its server has ended/);
    assert.match(model.linkWords('lost', campaign({ state: 'finished' }))?.text ?? '', /its server has ended/);
    assert.match(model.linkWords('denied', null)?.text ?? '', /wants a token/);
    assert.match(model.linkWords('denied', null, true)?.text ?? '', /does not accept/);
    assert.deepEqual([0, 5e8, 61.9e9].map(model.seconds), ['0 s', '0 s', '1 min 1 s']);
});

test('faultloads there and back', () => {
    const faults = [{ call: 'a GET / > b GET /x #1', mode: 'lost-reply:503' }, { call: 'c', mode: DOWN },
        { call: 'd', mode: 'overloaded:12' }, { call: 'e', mode: 'gone' }];
    assert.equal(printFaultload(faults),
        'a GET / > b GET /x #1 : lost-reply:503 & c down & d overloaded:12 & e gone');
    assert.deepEqual(parseFaultload(printFaultload(faults)), faults);
    assert.equal(printFaultload([]), 'none');
    assert.deepEqual(parseFaultload('none'), []);
    assert.equal(faultloadWords('none'), 'no faults');
});

test('modes in words', () => {
    const rows: [string, string][] = [['503', 'answers 503'], ['grpc:14', 'answers grpc:14'], ['reset', 'resets the connection'],
        ['reset:10', 'resets the connection after 10 bytes'], ['delay:2s', 'answers later by 2s'], ['lost-reply:reset', 'resets the connection after the work is done'],
        ['new-one', 'fails with new-one'], ['__proto__', 'fails with __proto__'], ['constructor', 'fails with constructor']];
    for (const [mode, words] of rows) assert.equal(modeWords(mode), words);
});
