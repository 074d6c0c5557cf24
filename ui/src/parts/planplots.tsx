// SPDX-License-Identifier: Apache-2.0
//
// A run of a failure plan in pictures, beside the run without faults: over time, by client, by latency, and what
// collectors have measured.
import type { ComponentChildren } from 'preact';

import { count, duration, plural } from '../model/format';
import {
    bridged, distribution, latencyOf, linear, logarithmic, measured, type MeasureGroup, measurePoints, measureScale, measuresOf, moment, onAt, perSecond, type Point, type Scale, scaleFor,
    smooth, smoothing,
} from '../model/plan';
import { plain } from '../model/text';
import type { PlanRun } from '../model/types';
import { Details } from './details';
import { Bands, type Line, Plot, type Stage, TimeAxis } from './plot';
import { type Column, Table } from './table';
import { Text } from './text';

export const ms = (value: number) => duration(value * 1e6);
export const each = (value: number) => value < 10 && value !== Math.round(value) ? value.toFixed(1) : count(value);

export function Card({ id, title, children }: { id: string; title: ComponentChildren; children: ComponentChildren }) {
    return <section class="card" aria-labelledby={id}><h2 id={id}>{title}</h2>{children}</section>;
}

/* ---- over time ---- */

const values = (points: readonly Point[]) => points.map((p) => p.value).filter((v) => v !== null);
const most = (...all: readonly (readonly Point[])[]) => all.flatMap(values).reduce((a, b) => Math.max(a, b), 0);

function extent(points: readonly Point[], unit: (value: number) => string): string {
    const list = values(points);
    if (list.length === 0) return 'nothing';
    return `${unit(Math.min(...list))} to ${unit(Math.max(...list))}`;
}

export interface Pair {
    readonly run: PlanRun;
    readonly reference: PlanRun | undefined;
    readonly stage: Stage;
}

function Throughput({ run, reference, stage }: Pair) {
    const width = smoothing(run);
    const now = smooth(perSecond(run, 'ok'), width), was = reference ? smooth(perSecond(reference, 'ok'), width) : [];
    const lines: Line[] = [
        ...reference ? [{ name: reference.name, look: 'was', points: was }] : [],
        { name: run.name, look: 'ok', points: now },
    ];
    return <Plot title="Succeeded, each second" lines={lines} stage={stage} scale={linear(most(now, was))} unit={each}
        label={`Successes each second: ${run.name} ${extent(now, each)}${reference ? `, ${reference.name} ${extent(was, each)}` : ''}`} />;
}

function Failed({ run, stage }: Pair) {
    const now = perSecond(run, 'failed');
    return <Plot title="Failed, each second" note={run.failures === 0 ? 'none' : undefined} lines={[{ name: run.name, look: 'bad', points: now, bars: true }]} stage={stage}
        scale={linear(most(now))} unit={each} label={`Failures each second: ${run.failures === 0 ? 'none' : extent(now, each)}`} />;
}

function Latency({ run, reference, stage }: Pair) {
    const gap = smoothing(run) * 2;
    const p50 = bridged(latencyOf(run, 'p50_ms'), gap), p99 = bridged(latencyOf(run, 'p99_ms'), gap);
    const was = reference ? bridged(latencyOf(reference, 'p99_ms'), gap) : [];
    const lines: Line[] = [
        ...reference ? [{ name: `${reference.name} p99`, look: 'was', points: was }] : [],
        { name: `${run.name} p50`, look: 'quiet', points: p50 },
        { name: `${run.name} p99`, look: 'slow', points: p99 },
    ];
    return <Plot title="Latency of what succeeded" lines={lines} stage={stage} scale={scaleFor([p50, p99, was])} unit={ms}
        label={`Latency, p99: ${run.name} ${extent(p99, ms)}${reference ? `, ${reference.name} ${extent(was, ms)}` : ''}`} />;
}

/** What is there at a moment, in words: for those who point, and those who use keys. */
function Reading({ run, stage }: Pair) {
    const n = run.series.length, length = stage.to - stage.from;
    if (n === 0 || length <= 0) return null;
    const at = stage.cursor ?? stage.from;
    const column = run.series[Math.max(0, Math.min(n - 1, Math.floor(n * (at - stage.from) / length)))];
    const on = onAt(run, at);
    const latency = column && column.p50_ms !== null && column.p99_ms !== null ? `; p50 ${ms(column.p50_ms)}, p99 ${ms(column.p99_ms)}` : '';
    const said = `${count(column?.ok ?? 0)} succeeded, ${count(column?.failed ?? 0)} failed in ${ms(length / n)}${latency}${on.length > 0 ? `; ${on.join(', ')} on` : ''}`;
    return (
        <div class="plot-reading">
            <label class="small">
                <span>Moment</span>
                <input type="range" min={0} max={n - 1} step={1} value={Math.floor(n * (at - stage.from) / length)} aria-valuetext={plain(`${moment(at)}: ${said}`)}
                    onInput={(event) => { stage.look(stage.from + length * (Number(event.currentTarget.value) + 0.5) / n); }} />
            </label>
            <p class="small"><strong>{moment(at)}</strong> <Text>{said}</Text></p>
        </div>
    );
}

export function OverTime(pair: Pair) {
    return (
        <Card id="time" title={<>Over time: <Text>{pair.run.name}</Text>{pair.reference && <span class="title-part"> beside <Text>{pair.reference.name}</Text></span>}</>}>
            <Bands stage={pair.stage} />
            <Throughput {...pair} />
            <Failed {...pair} />
            <Latency {...pair} />
            <Reading {...pair} />
            <Details title="As a table">{() => <ColumnsTable run={pair.run} />}</Details>
        </Card>
    );
}

interface Rows { at: number; ok: number; failed: number; p99: number | null; on: string }

/** A table of at most 60 rows: columns together. */
function ColumnsTable({ run }: { run: PlanRun }) {
    const step = Math.max(1, Math.ceil(run.series.length / 60));
    const rows: Rows[] = [];
    for (let i = 0; i < run.series.length; i += step) {
        const part = run.series.slice(i, i + step);
        const slow = part.map((c) => c.p99_ms).filter((v) => v !== null);
        rows.push({
            at: part[0]?.at_ms ?? 0, ok: part.reduce((n, c) => n + c.ok, 0), failed: part.reduce((n, c) => n + c.failed, 0),
            p99: slow.length > 0 ? Math.max(...slow) : null, on: onAt(run, part[0]?.at_ms ?? 0).join(', '),
        });
    }
    const columns: Column<Rows>[] = [
        { title: 'From', cell: (r) => moment(r.at), number: true },
        { title: 'Succeeded', cell: (r) => count(r.ok), value: (r) => r.ok, number: true },
        { title: 'Failed', cell: (r) => count(r.failed), value: (r) => r.failed, number: true },
        { title: 'Slowest p99', cell: (r) => r.p99 === null ? '' : ms(r.p99), value: (r) => r.p99 ?? -1, number: true },
        { title: 'Faults that are on', cell: (r) => <Text>{r.on}</Text> },
    ];
    return <Table caption="Operations over time" columns={columns} rows={rows} />;
}

/* ---- by client, by latency, by measure ---- */

export function Clients({ run, stage }: Pair) {
    const shown = run.clients.filter((c) => c.ok_columns !== undefined);
    if (run.clients.length < 2) return null;
    const width = (run.to_ms - run.from_ms) / Math.max(1, run.series.length);
    const points = (counts: readonly number[] | undefined): Point[] => (counts ?? []).map((value, i) => ({ at: run.from_ms + width * (i + 0.5), value }));
    return (
        <Card id="clients" title="Each client">
            {shown.map((c) => {
                const ok = points(c.ok_columns), failed = points(c.failed_columns);
                return (
                    <Plot key={c.name} small title={<Text>{c.name}</Text>} note={`${count(c.operations)} operations, ${count(c.failures)} failed`} stage={stage} scale={barely(most(ok, failed))} unit={each}
                        lines={[{ name: 'succeeded', look: 'ok', points: ok, bars: true }, { name: 'failed', look: 'bad', points: failed, bars: true }]}
                        label={`${c.name}: ${count(c.operations)} operations, ${count(c.failures)} failed`} />
                );
            })}
            <TimeAxis stage={stage} />
            {run.clients.length > shown.length && (
                <Table caption="Clients without a picture" rows={run.clients.slice(shown.length)} columns={[
                    { title: 'Client', cell: (c) => <Text>{c.name}</Text>, value: (c) => c.name },
                    { title: 'Operations', cell: (c) => count(c.operations), value: (c) => c.operations, number: true },
                    { title: 'Failed', cell: (c) => count(c.failures), value: (c) => c.failures, number: true },
                ]} />
            )}
        </Card>
    );
}

/** For small pictures: no more than the top is told. */
function barely(top: number): Scale {
    const scale = linear(top);
    return { place: scale.place, ticks: scale.ticks.slice(-1) };
}

export function Distribution({ run, reference }: { run: PlanRun; reference: PlanRun | undefined }) {
    const now = distribution(run), was = reference ? distribution(reference) : [];
    const all = [...now, ...was].map((p) => p.below);
    if (all.length === 0) return null;
    const x = logarithmic(Math.min(...all) / 1.26, Math.max(...all));
    const points = (list: readonly { below: number; share: number }[]): Point[] => list.map((p) => ({ at: 1000 * x.place(p.below), value: p.share }));
    const stage: Stage = { from: 0, to: 1000, bands: [], cursor: null, look: () => undefined };
    return (
        <Card id="latency" title="How long operations took">
            <Plot title="Share of successful operations that took at most so long" stage={stage} scale={{ place: linear(100).place, ticks: [0, 50, 100] }} unit={(v) => `${v} %`}
                lines={[...reference ? [{ name: reference.name, look: 'was', points: points(was) }] : [], { name: run.name, look: 'slow', points: points(now) }]}
                label={run.latency ? `Latency of ${run.name}: p50 ${ms(run.latency.p50_ms)}, p95 ${ms(run.latency.p95_ms)}, p99 ${ms(run.latency.p99_ms)}, at most ${ms(run.latency.max_ms)}` : 'No operation succeeded'}
                axis={<div class="plot-axis" aria-hidden="true">{x.ticks.map((v) => <span key={v} style={{ insetInlineStart: `${100 * x.place(v)}%` }}>{ms(v)}</span>)}</div>} />
            <Table caption="Percentiles" rows={[run, ...reference ? [reference] : []].filter((r) => r.latency !== null)} columns={[
                { title: 'Run', cell: (r) => <Text>{r.name}</Text> },
                { title: 'p50', cell: (r) => ms(r.latency?.p50_ms ?? 0), number: true },
                { title: 'p95', cell: (r) => ms(r.latency?.p95_ms ?? 0), number: true },
                { title: 'p99', cell: (r) => ms(r.latency?.p99_ms ?? 0), number: true },
                { title: 'most', cell: (r) => ms(r.latency?.max_ms ?? 0), number: true },
            ]} />
        </Card>
    );
}

const looks = ['ok', 'slow', 'bad', 'quiet', 'odd'];

/** Of more than this many nodes a picture has no lines of the run without faults: nobody could tell them apart. */
const LINES_BESIDE = 3;

function MeasurePlot({ group, stage }: { group: MeasureGroup; stage: Stage }) {
    const unit = (value: number) => measured(value, group.unit);
    const shown = group.lines.slice(0, 10);
    const lines: Line[] = [
        ...shown.length <= LINES_BESIDE ? shown.flatMap((l) => l.was ? [{ name: `${l.of}, without faults`, look: 'was', points: measurePoints(l.was) }] : []) : [],
        ...shown.flatMap((l, i) => l.now ? [{ name: l.of, look: looks[i % looks.length] ?? 'ok', points: measurePoints(l.now) }] : []),
    ];
    const note = group.lines.length > shown.length ? `the first ${shown.length} of ${group.lines.length}` : undefined;
    return <Plot title={<><Text>{group.name}</Text>{group.unit !== '' && group.unit !== 'bytes' && <span class="muted small"> in {group.unit}</span>}</>} note={note} lines={lines} stage={stage}
        scale={measureScale(lines.map((l) => l.points), group.unit)} unit={unit} label={`${group.name}: ${lines.map((l) => `${l.name} ${extent(l.points, unit)}`).join('; ')}`} />;
}

export function Measures({ run, reference, stage }: Pair) {
    const groups = measuresOf(run, reference);
    const first = groups.filter((group) => group.first), rest = groups.filter((group) => !group.first);
    const failed = (run.collectors ?? []).filter((c) => c.failed > 0 || c.samples === 0);
    const lost = (run.measures_left_out ?? 0) + run.measures.reduce((n, m) => n + m.left_out, 0);
    if (groups.length === 0 && failed.length === 0) return null;
    return (
        <Card id="measures" title="Measured meanwhile">
            {first.map((group) => <MeasurePlot key={group.name} group={group} stage={stage} />)}
            {rest.length > 0 && <Details title={plural(rest.length, 'more figure')}>{() => rest.map((group) => <MeasurePlot key={group.name} group={group} stage={stage} />)}</Details>}
            {failed.map((c) => (
                <p key={c.name} class="small muted">Collector <Text>{c.name}</Text>: {c.failed > 0 ? <>{count(c.failed)} of {count(c.tries)} times without a sample, the first time: <Text>{c.why ?? ''}</Text></> : 'no sample'}</p>
            ))}
            {lost > 0 && <p class="small muted">{plural(lost, 'sample')} came for which there was no room.</p>}
        </Card>
    );
}
