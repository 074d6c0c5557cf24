// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answers, callsOf, nthTime, openable, pathTo, places, sayings, traits, visibleRows } from '../src/model/handlers';
import { inline, outline, type Step, type Way } from '../src/model/outline';
import { handler, handlerNode as node, shopCheckout } from './samples';

/** An outline as text, one line for each row. */
function text(steps: readonly Step[], indent = ''): string[] {
    const action = (step: Step) => step.kind === 'call' ? `calls ${step.text}${step.again ? ` again(${step.again})` : ''}`
        : step.kind === 'reply' ? `answers ${step.text}` : `goes on with ${step.text}${step.partly ? ' as far as tried' : ''}`;
    const wayText = (way: Way) => `${indent}  ${way.outcomes.join(',')}${way.partly ? '~' : ''}${way.instead === null ? '' : ` instead ${way.instead}`}:`;
    return steps.flatMap((step) => [
        `${indent}${[step.label, action(step), step.goesOn.join(',')].filter((part) => part !== '').join(' ')}${step.kind === 'call' && step.partly ? '~' : ''}`,
        ...step.ways.flatMap((way) => inline(way)
            ? [`${wayText(way)} ${way.steps.map(action).join(', ')}`]
            : [wayText(way), ...text(way.steps, `${indent}    `)]),
    ]);
}

test('an outline reads like the code of the handler', () => {
    assert.deepEqual(text(outline(shopCheckout).steps), [
        '1 calls cart GET /carts/alice 200',
        '  500,503:',
        '    1a.1 calls cart GET /carts/alice again(1) 200',
        '      500,503: answers 503',
        '    goes on with 2',
        '2 calls quote POST /quotes 200',
        '  500,503: calls alerting POST /alerts/quote, answers 503',
        '3 calls payment POST /payments 200',
        '  500,503:',
        '    3a.1 calls payment POST /payments again(1) 200',
        '      500,503: calls alerting POST /alerts/payment, answers 503',
        '    goes on with 4',
        '4 calls cart DELETE /carts/alice 200,500,503',
        '5 answers 200',
    ]);
});

test('what was tried less is said to go on like what was tried more', () => {
    // after b failed, c was only seen to succeed: nothing speaks against step 2
    const h = handler([
        node([['b GET /', ['200'], 1, 1], ['b GET /', ['503'], 2, 2]]),
        node([['c GET /', ['200'], 3], ['c GET /', ['503'], 4]]),
        node([['d GET /', ['200'], 5, 3], ['d GET /', ['503'], 6, 4]]),
        node([['200']]), node([['502']]),
        node([['c GET /', ['200'], 3]]),
        node([['504']]),
    ]);
    assert.deepEqual(text(outline(h).steps), [
        '1 calls b GET / 200',
        '  503:',
        '    1a.1 calls d GET / 200',
        '      503: answers 504',
        '    goes on with 2 as far as tried',
        '2 calls c GET / 200',
        '  503: answers 502',
        '3 answers 200',
    ]);
});

test('outcomes that lead to the same, as far as tried, are one way', () => {
    const h = handler([
        node([['b GET /', ['200'], 1, 1], ['b GET /', ['500'], 2, 2], ['b GET /', ['503'], 3, 3]]),
        node([['200']]),
        node([['c GET /', ['200'], 1], ['c GET /', ['500'], 4]]),
        node([['c GET /', ['200'], 1]]),
        node([['502']]),
    ]);
    const [step] = outline(h).steps;
    assert.deepEqual(step?.ways.map((way) => [way.outcomes, way.partly, way.runs, way.shown]), [[['500', '503'], true, 2, [2, 3]]]);
});

test('what contradicts is not one way', () => {
    const h = handler([
        node([['b GET /', ['200'], 1, 1], ['b GET /', ['500'], 2], ['b GET /', ['503'], 3]]),
        node([['200']]), node([['502']]), node([['504']]),
    ]);
    assert.equal(outline(h).steps[0]?.ways.length, 2);
});

test('the run without faults is the usual way, even where it sees an error', () => {
    const h = handler([
        node([['b GET /', ['200'], 1, 7], ['b GET /', ['404'], 2, 1]]),
        node([['200']]), node([['201']]),
    ]);
    assert.deepEqual(text(outline(h).steps), ['1 calls b GET / 404', '  200: answers 200', '2 answers 201']);
});

test('another call, and another answer, at the same place are told', () => {
    const h = handler([
        node([['b GET /', ['200'], 1, 1], ['c GET /', ['200'], 1, 9]]),
        node([['200'], ['503']]),
    ]);
    const { steps } = outline(h);
    assert.equal(steps[0]?.ways[0]?.instead, 'c GET /');
    assert.equal(steps[1]?.text, '200');
    assert.equal(steps[1].ways[0]?.steps[0]?.text, '503');
});

test('an end that is drawn twice is counted once', () => {
    const { steps } = outline(shopCheckout);
    const again = steps[0]?.ways[0]?.steps[1];
    assert.deepEqual([again?.kind, again?.runs, again?.shown], ['link', 0, []]);
});

test('a long chain of calls needs no deep stack', () => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => node([[`b GET /${i}`, ['200'], i + 1, 1], [`b GET /${i}`, ['500'], i + 2, 2]]));
    nodes.push(node([['200']]), node([['201']]));
    const { steps } = outline(handler(nodes));
    assert.equal(steps.length, 20_001);
});

test('rows: closed parts are left out, links lead to where something is drawn', () => {
    const outlined = outline(shopCheckout);
    assert.deepEqual(visibleRows(outlined, new Set()).map((row) => row.id), ['1', '2', '3', '4', '5']);
    assert.deepEqual(visibleRows(outlined, new Set(['1'])).map((row) => row.id), ['1', '1a', '2', '3', '4', '5']);
    const all = visibleRows(outlined, openable(outlined));
    assert.equal(all.length, outlined.rows);
    assert.deepEqual(all.slice(0, 5).map((row) => [row.id, row.level, row.place, row.of, row.parent, row.open]), [
        ['1', 1, 1, 5, null, true], ['1a', 2, 1, 1, '1', true], ['1a.1', 3, 1, 2, '1a', true], ['1a.1a', 4, 1, 1, '1a.1', null], ['1a>', 3, 2, 2, '1a', null],
    ]);
    assert.equal(Math.max(...all.map((row) => row.level)), outlined.depth);
    assert.equal(new Set(all.map((row) => row.id)).size, all.length);
    assert.deepEqual([...openable(outlined, 2)], ['1', '2', '3']);
    assert.deepEqual(pathTo(outlined, '3a.1'), ['3', '3a', '3a.1']);
    assert.deepEqual(pathTo(outlined, '2a.1'), ['2', '2a']); // inside a row
    assert.equal(pathTo(outlined, '9'), null);
});

test('a handler at a glance', () => {
    const t = traits(outline(shopCheckout));
    assert.deepEqual(t, {
        retries: ['cart GET /carts/alice', 'payment POST /payments'], ignores: ['cart DELETE /carts/alice'],
        replaces: [], givesUp: ['quote POST /quotes'],
    });
    assert.deepEqual(sayings(t).map((s) => `${s.before}${s.calls.length}${s.after}`), ['tries 2 again', 'goes on without 1', 'gives up without 1']);
    assert.deepEqual(answers(shopCheckout).map(([reply]) => reply), ['200', '503']);
    assert.equal(callsOf(shopCheckout).length, 6);
    assert.deepEqual([1, 2, 3, 10, 11, 21, 101].map(nthTime), ['2nd time', '3rd time', '4th time', '11th time', '12th time', '22nd time', '102nd time']);
});

test('handlers of equal calls stand together, those near the client first', () => {
    const at = (call: string) => ({ ...handler([node([['200']])]), call });
    const all = places([at('a > b > c'), at('a > b #1 > c'), at('a > b'), at('a > b #1'), at('a')]);
    assert.deepEqual(all.map((group) => group.map((place) => place.at)), [[4], [2, 3], [0, 1]]);
});

test('failures that were tried with different failures after them are one, if nothing speaks against it', () => {
    const h = handler([
        node([['b GET /', ['200'], 1, 1], ['b GET /', ['500'], 2, 2], ['b GET /', ['503'], 3, 3], ['b GET /', ['reset'], 6, 4]]),
        node([['200']]),
        node([['b GET / #1', ['200'], 1], ['b GET / #1', ['500'], 4]]),
        node([['b GET / #1', ['200'], 1], ['b GET / #1', ['503'], 4]]),
        node([['c GET /', ['200'], 5]]),
        node([['502']]),
        node([['b GET / #1', ['200'], 5]]), // contradicts: 200 leads elsewhere
    ]);
    assert.deepEqual(text(outline(h).steps), [
        '1 calls b GET / 200',
        '  500,503~:',
        '    1a.1 calls b GET / again(1) 200',
        '      500,503: calls c GET /, answers 502',
        '    1a.2 answers 200',
        '  reset: calls b GET / again(1), answers 502',
        '2 answers 200',
    ]);
});
