// SPDX-License-Identifier: Apache-2.0
//
// What came of a failure plan: which runs stand beside each other, what is drawn of them, and what
// happened in which order. Moments are milliseconds since the end of the warm-up.
import { duration } from './format';
import type { Tone } from './outcome';
import { table } from './table';
import type { PlanMeasure, PlanResult, PlanRun, PlanSpell } from './types';

/* ---- verdicts ---- */

export interface PlanWords {
    readonly text: string;
    readonly kind: Tone;
    readonly icon: 'ok' | 'bad' | 'warn' | 'question';
}

const verdicts = table<PlanWords>({
    holds: { text: 'All that is expected holds', kind: 'ok', icon: 'ok' },
    violated: { text: 'With the faults, not all that is expected holds', kind: 'bad', icon: 'bad' },
    unsure: { text: 'Not sure: the plan was not carried out as written', kind: 'odd', icon: 'question' },
    sick: { text: 'Without any fault already, not all that is expected holds', kind: 'bad', icon: 'warn' },
});

const answers = table<PlanWords>({
    holds: { text: 'holds', kind: 'ok', icon: 'ok' },
    violated: { text: 'violated', kind: 'bad', icon: 'bad' },
    unsure: { text: 'not sure', kind: 'odd', icon: 'question' },
});

const unknown = (text: string): PlanWords => ({ text, kind: 'none', icon: 'question' });

export function planVerdict(result: PlanResult): PlanWords {
    if (result.signal !== null) return { text: 'Interrupted', kind: 'odd', icon: 'warn' };
    return verdicts.get(result.verdict) ?? unknown(result.verdict);
}

export function answerWords(verdict: string): PlanWords {
    return answers.get(verdict) ?? unknown(verdict);
}

export function runWords(run: PlanRun): PlanWords {
    if (run.broken !== undefined) return { text: 'not carried out', kind: 'odd', icon: 'question' };
    return run.holds ? { text: 'all holds', kind: 'ok', icon: 'ok' } : { text: 'not as expected', kind: 'bad', icon: 'bad' };
}

/* ---- which runs ---- */

/** The run that is asked for; else the first with faults that is not as expected; else the first with faults. */
export function chosenRun(runs: readonly PlanRun[], name: string | undefined): PlanRun | undefined {
    const faulty = runs.filter((run) => run.kind !== 'reference');
    return runs.find((run) => run.name === name) ?? faulty.find((run) => !run.holds) ?? faulty[0] ?? runs[0];
}

/** The run without faults to stand beside another one. */
export function referenceOf(runs: readonly PlanRun[], run: PlanRun): PlanRun | undefined {
    if (run.kind === 'reference') return undefined;
    return runs.find((other) => other.kind === 'reference' && other.broken === undefined);
}

/* ---- moments ---- */

/** "1.2 s"; below zero it is before the run. */
export function moment(ms: number): string {
    if (ms === 0) return '0 s';
    return ms < 0 ? `\u2212${duration(-ms * 1e6)}` : duration(ms * 1e6);
}

/* ---- what is drawn ---- */

export interface Point {
    readonly at: number;
    /** null: there is none here, and the line has a gap. */
    readonly value: number | null;
}

/** Columns of a run as figures for each second. */
export function perSecond(run: PlanRun, of: 'ok' | 'failed'): Point[] {
    const seconds = (run.to_ms - run.from_ms) / 1000 / Math.max(1, run.series.length);
    return run.series.map((column) => ({ at: column.at_ms + 500 * seconds, value: seconds > 0 ? column[of] / seconds : 0 }));
}

/** A moving mean over `width` points: few operations in a column make a comb of a rate. */
export function smooth(points: readonly Point[], width: number): Point[] {
    const half = Math.floor(width / 2);
    return points.map(({ at }, i) => {
        const near = points.slice(Math.max(0, i - half), i + half + 1).map((p) => p.value).filter((v) => v !== null);
        return { at, value: near.length > 0 ? near.reduce((sum, v) => sum + v, 0) / near.length : null };
    });
}

/** How wide a mean must be so that a column has about four operations; odd. */
export function smoothing(run: PlanRun): number {
    const columns = Math.max(1, run.series.length);
    const wanted = Math.ceil(4 * columns / Math.max(1, run.operations));
    return Math.min(25, 2 * Math.floor(wanted / 2) + 1);
}

export function latencyOf(run: PlanRun, of: 'p50_ms' | 'p95_ms' | 'p99_ms'): Point[] {
    const width = (run.to_ms - run.from_ms) / Math.max(1, run.series.length);
    return run.series.map((column) => ({ at: column.at_ms + width / 2, value: column[of] }));
}

/** Columns without an operation are passed over by a line, unless there are many of them in a row. */
export function bridged(points: readonly Point[], most: number): Point[] {
    const kept: Point[] = [];
    let empty = 0;
    for (const point of points) {
        if (point.value === null) {
            empty++;
            if (empty === most + 1) kept.push(point);
        } else {
            empty = 0;
            kept.push(point);
        }
    }
    return kept;
}

/** The share of operations that took at most so long, in percent. */
export function distribution(run: PlanRun): { below: number; share: number }[] {
    const all = run.histogram.reduce((sum, bar) => sum + bar.n, 0);
    let n = 0;
    return run.histogram.map((bar) => {
        n += bar.n;
        return { below: bar.below_ms, share: 100 * n / all };
    });
}

export interface MeasureGroup {
    readonly name: string;
    readonly unit: string;
    /** It is told without being asked for. */
    readonly first: boolean;
    readonly lines: readonly { readonly of: string; readonly now: PlanMeasure | undefined; readonly was: PlanMeasure | undefined }[];
}

/** What is of use in most runs, besides what an expectation or a trigger names. */
const usual = ['cpu', 'memory'];

/** Figures by name; of each node or collector that of this run and that of the reference. Those that the plan names come first. */
export function measuresOf(run: PlanRun, reference: PlanRun | undefined): MeasureGroup[] {
    const names = new Map<string, Set<string>>();
    const all = [...run.measures, ...reference?.measures ?? []];
    for (const m of all)
        names.set(m.name, (names.get(m.name) ?? new Set()).add(m.of));
    const find = (list: readonly PlanMeasure[] | undefined, name: string, of: string) =>
        list?.find((m) => m.name === name && m.of === of);
    const rank = (name: string) => all.some((m) => m.name === name && m.named) ? 0 : usual.includes(name) ? 1 : 2;
    return [...names].map(([name, owners]) => ({
        name,
        unit: all.find((m) => m.name === name)?.unit ?? '',
        first: rank(name) < 2,
        lines: [...owners].map((of) => ({ of, now: find(run.measures, name, of), was: find(reference?.measures, name, of) })),
    })).sort((a, b) => rank(a.name) - rank(b.name));
}

/** A line has a gap where samples stayed away for much longer than usual: a node was not there. */
export function measurePoints(measure: PlanMeasure | undefined): Point[] {
    const at = measure?.at_ms ?? [], values = measure?.values ?? [];
    const steps = at.slice(1).map((moment, i) => moment - (at[i] ?? 0)).sort((a, b) => a - b);
    const wide = 5 * Math.max(100, steps[Math.floor(steps.length / 2)] ?? 0);
    return at.flatMap((moment, i) => {
        const before = at[i - 1], point = { at: moment, value: values[i] ?? null };
        return before !== undefined && moment - before > wide ? [{ at: (moment + before) / 2, value: null }, point] : [point];
    });
}

/** A value with its unit: bytes in powers of 1024, as memory is told. */
export function measured(value: number, unit: string): string {
    const sizes = ['', ' KiB', ' MiB', ' GiB', ' TiB'];
    let power = 0;
    for (; unit === 'bytes' && Math.abs(value) >= 1024 && power < sizes.length - 1; power++) value /= 1024;
    if (unit === 'ms') return duration(value * 1e6);
    return new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 }).format(value) + (sizes[power] ?? '');
}

/** From 0 to a round number of its unit, or below 0 where there is something. */
export function measureScale(points: readonly (readonly Point[])[], unit: string): Scale {
    const values = points.flat().map((p) => p.value).filter((v) => v !== null);
    const most = values.reduce((a, b) => Math.max(a, b), 0), least = values.reduce((a, b) => Math.min(a, b), 0);
    if (least < 0) {
        const size = linear(Math.max(most, -least)), end = size.ticks[size.ticks.length - 1] ?? 1;
        return { place: (value) => Math.max(0, Math.min(1, (value + end) / (2 * end))), ticks: [-end, 0, end] };
    }
    if (unit !== 'bytes') return linear(most);
    const one = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(1, most)) / Math.log(1024)));
    const scale = linear(most / one);
    return { place: (value) => scale.place(value / one), ticks: scale.ticks.map((tick) => tick * one) };
}

/* ---- faults as bands ---- */

export interface Band {
    readonly fault: PlanSpell;
    readonly begin: number;
    readonly end: number;
    /** Its row, from 0: those that are on together are in different ones. */
    readonly row: number;
}

/** The faults that were on, within the run. */
export function bandsOf(run: PlanRun): Band[] {
    const ends: number[] = [];
    const bands: Band[] = [];
    const least = (run.to_ms - run.from_ms) / 400;
    for (const fault of run.faults.filter((f) => f.failed === undefined)) {
        const begin = Math.max(run.from_ms, Math.min(run.to_ms, fault.begin_ms));
        const end = Math.min(run.to_ms, Math.max(fault.end_ms, begin + least));
        let row = ends.findIndex((free) => free <= begin);
        if (row < 0) row = ends.length;
        ends[row] = end;
        bands.push({ fault, begin, end, row });
    }
    return bands;
}

/** Names of the faults that are on at a moment. */
export function onAt(run: PlanRun, ms: number): string[] {
    return run.faults.filter((f) => f.failed === undefined && f.begin_ms <= ms && ms <= f.end_ms)
        .map((f) => f.nodes.length > 0 ? `${f.event} (${f.nodes.join(', ')})` : f.event);
}

/* ---- what happened ---- */

export interface Happening {
    readonly at: number;
    readonly kind: 'begin' | 'end' | 'death' | 'line' | 'not';
    readonly who: string;
    readonly text: string;
}

/** In the order of time. */
export function happenings(run: PlanRun): Happening[] {
    const list: Happening[] = [];
    for (const f of run.faults) {
        if (f.failed !== undefined) {
            list.push({ at: f.begin_ms, kind: 'not', who: f.event, text: `did not happen as planned: ${f.failed}` });
            continue;
        }
        list.push({ at: f.begin_ms, kind: 'begin', who: f.event, text: `${f.what}${f.nodes.length > 0 ? `, on ${f.nodes.join(', ')}` : ''}` });
        list.push({ at: f.end_ms, kind: 'end', who: f.event, text: 'is over' });
    }
    for (const d of run.deaths) list.push({ at: d.at_ms, kind: 'death', who: d.node, text: `ended by itself, ${d.how}` });
    for (const l of run.new_lines) list.push({ at: l.at_ms, kind: 'line', who: l.by, text: l.text });
    return list.sort((a, b) => a.at - b.at);
}

/* ---- scales ---- */

export interface Scale {
    /** Where a value is, from 0 (below) to 1. */
    readonly place: (value: number) => number;
    readonly ticks: readonly number[];
}

/** From 0 to what is a round number at or above `most`. */
export function linear(most: number): Scale {
    const top = most > 0 && Number.isFinite(most) ? most : 1;
    const rough = top / 3, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5, 10].find((digit) => digit * power >= rough) ?? 10);
    const end = step * Math.ceil(top / step - 1e-9);
    const ticks: number[] = [];
    for (let i = 0; i * step <= end * 1.000001; i++) ticks.push(i * step);
    return { place: (value) => Math.max(0, Math.min(1, value / end)), ticks };
}

/** Powers of ten around the values. */
export function logarithmic(least: number, most: number): Scale {
    const low = Math.floor(Math.log10(Math.max(least, 1e-6))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(most, 1e-6))));
    const every = Math.ceil((high - low) / 4);
    const ticks: number[] = [];
    for (let i = low; i <= high; i += every) ticks.push(10 ** i);
    return { place: (value) => Math.max(0, Math.min(1, (Math.log10(Math.max(value, 1e-6)) - low) / (high - low))), ticks };
}

/** Values that differ by more than this are told on a scale of powers. */
const WIDE = 50;

export function scaleFor(points: readonly (readonly Point[])[]): Scale {
    const values = points.flat().map((p) => p.value).filter((v) => v !== null && v > 0) as number[];
    const most = values.reduce((a, b) => Math.max(a, b), 0), least = values.reduce((a, b) => Math.min(a, b), Infinity);
    return values.length > 0 && most / least > WIDE ? logarithmic(least, most) : linear(most);
}

/** The path of a line in a box of 1000 by 100, with gaps where nothing is. */
export function linePath(points: readonly Point[], from: number, to: number, scale: Scale): string {
    const span = Math.max(1e-9, to - from);
    let drawn = '', down = false;
    for (const { at, value } of points) {
        if (value === null) {
            down = false;
            continue;
        }
        const x = (1000 * (at - from) / span).toFixed(1), y = (100 - 100 * scale.place(value)).toFixed(1);
        drawn += `${down ? 'L' : 'M'}${x} ${y}`;
        if (!down) drawn += 'h0.1'; // one alone is a dot
        down = true;
    }
    return drawn;
}

/** The same as bars from the ground, one for each column. */
export function barPath(points: readonly Point[], from: number, to: number, scale: Scale): string {
    const span = Math.max(1e-9, to - from), width = Math.max(2, 1000 / Math.max(1, points.length));
    return points.filter((p) => p.value !== null && p.value > 0).map(({ at, value }) => {
        const x = (1000 * (at - from) / span - width / 2).toFixed(1), y = (100 - 100 * scale.place(value ?? 0)).toFixed(1);
        return `M${x} 100V${y}h${width.toFixed(1)}V100z`;
    }).join('');
}
