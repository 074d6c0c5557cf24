// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { quoted, replayCommand } from '../src/model/command';
import { compact, count, duration, either, percent, plural } from '../src/model/format';
import { outcomeWords, tone } from '../src/model/outcome';
import { parseRoute, routeTo } from '../src/model/route';
import { pieces, plain } from '../src/model/text';
import { explored } from './made';

test('counts and plurals', () => {
    assert.equal(count(0), '0');
    assert.equal(count(244140625), '244,140,625');
    assert.equal(count(2.4e18), '2.4 \u00d7 10\u00b9\u2078');
    assert.equal(count(Infinity), 'unknown');
    assert.deepEqual([1953125, 244140625, 1.25e9, 3e14, 2.4e18].map(compact).map(({ figure, unit }) => [figure, unit.trim()]),
        [['1,953,125', ''], ['244', 'million'], ['1.25', 'billion'], ['300', 'trillion'], [count(2.4e18), '']]);
    assert.equal(plural(1, 'run'), '1 run');
    assert.equal(plural(1200, 'run'), '1,200 runs');
    assert.equal(plural(2, 'reply', 'replies'), '2 replies');
});

test('durations have three digits that matter', () => {
    const cases: [number, string][] = [
        [0, '0 ns'], [999, '999 ns'], [1000, '1 \u00b5s'], [12_340, '12.3 \u00b5s'], [999_499, '999 \u00b5s'], [999_500, '1 ms'],
        [1_500_000, '1.5 ms'], [100_000_000, '100 ms'], [1_829_714_413, '1.83 s'], [59_940_000_000, '59.9 s'],
        [60e9, '1 min'], [125e9, '2 min 5 s'], [3600e9, '1 h'], [5400e9, '1 h 30 min'], [90000e9, '1 d 1 h'], [-1, 'unknown'],
    ];
    for (const [ns, text] of cases) assert.equal(duration(ns), text);
});

test('a share is never rounded to nothing or to all', () => {
    assert.equal(percent(0, 10), '0 %');
    assert.equal(percent(10, 10), '100 %');
    assert.equal(percent(1, 1e6), '< 0.1 %');
    assert.equal(percent(999_999, 1e6), '> 99.9 %');
    assert.equal(percent(1, 8), '12.5 %');
    assert.equal(percent(1, 0), '0 %');
});

test('alternatives', () => {
    assert.equal(either([]), '');
    assert.equal(either(['200']), '200');
    assert.equal(either(['200', '503']), '200 or 503');
    assert.equal(either(['a', 'b', 'c'], 'and'), 'a, b and c');
});

test('an address is read as it was written', () => {
    const hash = routeTo('runs', 2, ['a/b%', 7], { text: 'x & y', status: '', mode: '503' });
    assert.equal(hash, '#/runs/2/a%2Fb%25/7?text=x+%26+y&mode=503');
    assert.deepEqual(parseRoute(hash), { view: 'runs', scenario: 2, rest: ['a/b%', '7'], query: { text: 'x & y', mode: '503' } });
    assert.equal(routeTo(''), '#/');
    assert.equal(routeTo('compare'), '#/compare');
    assert.deepEqual(parseRoute(''), { view: '', scenario: 0, rest: [], query: {} });
});

test('an address of somebody else breaks nothing', () => {
    assert.deepEqual(parseRoute('#/run/%zz/1'), { view: 'run', scenario: 0, rest: ['1'], query: {} });
    assert.equal(parseRoute('#/run/-1').scenario, 0);
    assert.equal(parseRoute('#/run/99999999999').scenario, 0);
    assert.equal(parseRoute('#token=abc').view, 'token=abc');
});

test('what hides in text is shown', () => {
    assert.deepEqual(pieces('abc'), [{ text: 'abc' }]);
    assert.deepEqual(pieces('a\u202eb\u0000'), [
        { text: 'a' }, { text: 'U+202E', code: 'U+202E' }, { text: 'b' }, { text: '\u2400', code: 'U+0000' }]);
    assert.deepEqual(pieces('\ud800x'), [{ text: 'U+D800', code: 'U+D800' }, { text: 'x' }]);
    assert.deepEqual(pieces('\u{e0041}'), [{ text: 'U+E0041', code: 'U+E0041' }]);
    assert.equal(plain('a\nb\u200b'), 'a\u240abU+200B');
    assert.deepEqual(pieces('a\n\tb', true), [{ text: 'a\n\tb' }]);
    assert.deepEqual(pieces('naïve \u{1f98a} <b>'), [{ text: 'naïve \u{1f98a} <b>' }]);
});

test('outcomes have a tone and words', () => {
    for (const good of ['200', '304', 'grpc:0', 'exit:0']) assert.equal(tone(good), 'ok', good);
    for (const bad of ['503', 'reset', 'timeout', 'grpc:14', 'exit:1']) assert.equal(tone(bad), 'bad', bad);
    assert.equal(tone('404'), 'odd');
    assert.equal(tone('unknown'), 'none');
    assert.equal(outcomeWords('grpc:14'), 'UNAVAILABLE');
    assert.equal(outcomeWords('503'), 'Service Unavailable');
    assert.equal(outcomeWords('299'), '');
});

test('commands are safe to paste', () => {
    const scenario = explored({ replay: 'outfox replay none x.yaml --scenario buy' });
    assert.equal(replayCommand(scenario, "a GET /it's > b GET /$(x) : 503"),
        String.raw`outfox replay 'a GET /it'\''s > b GET /$(x) : 503' x.yaml --scenario buy`);
    assert.equal(replayCommand(scenario, 'none'), scenario.replay);
    assert.equal(replayCommand(scenario, "$& $' : 500"), String.raw`outfox replay '$& $'\'' : 500' x.yaml --scenario buy`);
    assert.equal(quoted(''), "''");
});
