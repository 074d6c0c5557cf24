// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { render } from 'preact-render-to-string';

import { measured, measurePoints, measureScale, measuresOf } from '../src/model/plan';
import type { PlanMeasure, PlanRun } from '../src/model/types';
import { Measures } from '../src/parts/planplots';

const measure = (name: string, of: string, more: Partial<PlanMeasure> = {}): PlanMeasure =>
    ({ name, of, unit: '', named: false, samples: 2, left_out: 0, at_ms: [0, 250], values: [1, 2], ...more });
const run = (...measures: PlanMeasure[]) => ({ measures } as unknown as PlanRun);

test('figures that the plan names come first, then cpu and memory; all others wait', () => {
    const groups = measuresOf(run(measure('cpu', 'a'), measure('threads', 'a'), measure('queue', 'q', { named: true }), measure('cpu', 'b')), undefined);
    assert.deepEqual(groups.map((g) => [g.name, g.first]), [['queue', true], ['cpu', true], ['threads', false]]);
    assert.deepEqual(groups[1]?.lines.map((l) => l.of), ['a', 'b']);
});

test('a figure of the run without faults stands beside that of the run, also where one of them has none', () => {
    const now = measure('x', 'a'), was = measure('x', 'a', { values: [7, 8] });
    const groups = measuresOf(run(now), run(was, measure('x', 'b')));
    assert.equal(groups.length, 1);
    assert.deepEqual(groups[0]?.lines.map((l) => [l.of, l.now?.values[0], l.was?.values[0]]), [['a', 1, 7], ['b', undefined, 1]]);
});

test('a line has a gap where samples stayed away', () => {
    const at = [0, 250, 500, 750, 3000, 3250];
    const points = measurePoints(measure('memory', 'a', { at_ms: at, values: at }));
    assert.deepEqual(points.map((p) => p.value), [0, 250, 500, 750, null, 3000, 3250]);
    assert.deepEqual(measurePoints(undefined), []);
    assert.deepEqual(measurePoints(measure('x', 'a', { at_ms: [5], values: [] })), [{ at: 5, value: null }]);
});

test('values have their unit', () => {
    assert.equal(measured(512, 'bytes'), '512');
    assert.equal(measured(12.5 * 1024 * 1024, 'bytes'), '12.5 MiB');
    assert.equal(measured(3 * 1024 ** 5, 'bytes'), '3.07K TiB');
    assert.equal(measured(1500, 'ms'), '1.5 s');
    assert.equal(measured(0.1234, 'cores'), '0.123');
});

test('scales end at round numbers of their unit, and reach below 0 where values do', () => {
    const points = (...values: number[]) => [values.map((value, at) => ({ at, value }))];
    assert.deepEqual(measureScale(points(1, 70 * 1024 * 1024), 'bytes').ticks.map((tick) => tick / 1024 / 1024), [0, 50, 100]);
    assert.deepEqual(measureScale(points(1, 7), '').ticks, [0, 5, 10]);
    const both = measureScale(points(-7, 3), '');
    assert.deepEqual(both.ticks, [-10, 0, 10]);
    assert.deepEqual([both.place(-10), both.place(0), both.place(10)], [0, 0.5, 1]);
    assert.ok(Number.isFinite(measureScale(points(0, 0), 'bytes').place(0)));
    assert.ok(Number.isFinite(measureScale([], '').place(1)));
});

test('the page draws them beside the run without faults, and says which collectors failed', () => {
    const stage = { from: 0, to: 1000, bands: [], cursor: null, look: () => undefined };
    const hostile = '</script><img src=x onerror=alert(1)>';
    const one = { ...run(measure('cpu', 'a'), measure(hostile, hostile, { named: true, left_out: 3 }), measure('threads', 'a')),
        collectors: [{ name: 'redis', samples: 1, tries: 3, failed: 2, why: hostile }, { name: 'good', samples: 9, tries: 9, failed: 0 }] } as PlanRun;
    const html = render(<Measures run={one} reference={run(measure('cpu', 'a'))} stage={stage} />);
    assert.ok(html.includes('a, without faults') && html.includes('1 more figure'));
    assert.ok(html.includes('redis') && html.includes('2 of 3 times without a sample') && !html.includes('good'));
    assert.ok(html.includes('3 samples came for which there was no room'));
    assert.ok(!html.includes('<img') && !html.includes('</script>'));
    assert.equal(render(<Measures run={run()} reference={undefined} stage={stage} />), '');
});
