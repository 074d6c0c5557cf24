// SPDX-License-Identifier: Apache-2.0
//
// All runs of a scenario: filtered and sorted, and as many as there are.
import { useMemo } from 'preact/hooks';

import { count, duration, plural } from '../model/format';
import { lastElement } from '../model/names';
import { type Route, routeTo } from '../model/route';
import { filterOf, filterRuns, flags, NO_FILTER, runAt, type RunFilter, type RunLine, sizesOf, type SortKey, sortRuns } from '../model/runs';
import { table } from '../model/table';
import { plain } from '../model/text';
import type { Runs as RunsDocument } from '../model/types';
import { Mode } from '../parts/faultload';
import { useMedia } from '../parts/hooks';
import { Outcome } from '../parts/outcome';
import { Empty, WithDocument } from '../parts/state';
import { SortButton, VirtualList } from '../parts/table';
import { Text } from '../parts/text';
import type { ViewProps } from './view';

const purposes = table({
    baseline: 'to learn what is stable', search: 'to explore', audit: 'to check an assumption', check: 'does the system still work?',
    shrink: 'is a smaller faultload enough?', confirm: 'does it fail again?', replay: 'somebody asked for it',
});

const keys: readonly SortKey[] = ['number', 'size', 'status', 'took', 'calls', 'purpose'];

interface Sorting {
    readonly key: SortKey;
    readonly down: boolean;
}

function sortingOf(query: Route['query']): Sorting {
    const asked = query.sort ?? '';
    const key = keys.find((k) => k === asked.replace(/^-/, ''));
    return { key: key ?? 'number', down: asked.startsWith('-') };
}

/** The address says what is shown, so that it can be shared and one can go back. */
function show(index: number, filter: RunFilter, sorting: Sorting): void {
    const sort = sorting.key === 'number' && !sorting.down ? '' : `${sorting.down ? '-' : ''}${sorting.key}`;
    const url = routeTo('runs', index, [], { ...filter, sort });
    history.replaceState(null, '', url);
    dispatchEvent(new HashChangeEvent('hashchange'));
}

function Choice({ label, value, options, choose }: {
    label: string;
    value: string;
    options: readonly (readonly [value: string, text: string])[];
    choose: (value: string) => void;
}) {
    return (
        <label class="field">
            <span>{label}</span>
            <select value={value} onChange={(event) => { choose(event.currentTarget.value); }}>
                <option value="">All</option>
                {options.map(([v, text]) => <option key={v} value={v}>{text}</option>)}
            </select>
        </label>
    );
}

function Filters({ runs, filter, set }: { runs: RunsDocument; filter: RunFilter; set: (change: Partial<RunFilter>) => void }) {
    const same = (list: readonly string[]) => list.map((text) => [text, plain(text)] as const);
    const sizes = useMemo(() => sizesOf(runs), [runs]);
    const used = useMemo(() => new Set(runs.runs.purpose), [runs]);
    const seen = useMemo(() => runs.runs.flags.reduce((all, bits) => all | bits, 0), [runs]);
    const choice = (key: keyof RunFilter, label: string, options: readonly (readonly [string, string])[]) => options.length > 0 && (
        <Choice label={label} value={filter[key]} options={options} choose={(value) => { set({ [key]: value }); }} />
    );
    return (
        <search class="filters" aria-label="Filter runs">
            <label class="field wide">
                <span>Search</span>
                <input type="search" value={filter.text} placeholder="call, mode, status, sentence, #number"
                    onInput={(event) => { set({ text: event.currentTarget.value }); }} />
            </label>
            {choice('pass', 'Result', [['1', 'as expected'], ['0', 'not as expected']])}
            {choice('status', 'Client saw', same(runs.statuses))}
            {choice('size', 'Faults', sizes.map((n) => [String(n), plural(n, 'fault')]))}
            {choice('call', 'Fault at', same(runs.calls))}
            {choice('mode', 'Mode', same(runs.modes))}
            {choice('purpose', 'Made', runs.purposes.filter((_, i) => used.has(i)).map((p) => [p, purposes.get(p) ?? p]))}
            {choice('flag', 'Event', flags.filter(([bit]) => (seen & bit) !== 0).map(([bit, words]) => [String(bit), words]))}
        </search>
    );
}

function FaultsCell({ line }: { line: RunLine }) {
    if (line.faults.length === 0) return <span class="muted">no faults</span>;
    return (
        <span class="run-faults">
            {line.faults.map((fault, i) => (
                <span key={i} class="run-fault" title={plain(fault.call)}><span class="mono"><Text>{lastElement(fault.call)}</Text></span> <Mode mode={fault.mode} /></span>
            ))}
        </span>
    );
}

function Result({ line }: { line: RunLine }) {
    return (
        <span class="run-result">
            <Outcome outcome={line.status} />
            {line.pass
                ? <span class="muted">as expected</span>
                : <span class="wrong-word" title={line.why === null ? undefined : plain(line.why)}>{line.why === null ? 'not as expected' : <Text>{line.why}</Text>}</span>}
            {line.flags.map((flag) => <span key={flag} class="tag tone-odd">{flag}</span>)}
        </span>
    );
}

function WideRow({ line, index }: { line: RunLine; index: number }) {
    return (
        <div class="run-row" role="presentation">
            <span role="rowheader" class="number"><a href={routeTo('run', index, [line.number])}>{count(line.number)}</a></span>
            <span role="cell" class="clip"><Result line={line} /></span>
            <span role="cell" class="clip"><FaultsCell line={line} /></span>
            <span role="cell" class="number">{count(line.calls)}</span>
            <span role="cell" class="number">{duration(line.took_ns)}</span>
            <span role="cell" class="clip muted">{line.purpose}</span>
        </div>
    );
}

function NarrowRow({ line, index }: { line: RunLine; index: number }) {
    return (
        <div class="run-card" role="presentation">
            <span role="rowheader" class="row"><a href={routeTo('run', index, [line.number])}>Run {count(line.number)}</a><Result line={line} /></span>
            <span role="cell" class="clip"><FaultsCell line={line} /></span>
            <span role="cell" class="muted small">{plural(line.calls, 'call')}, {duration(line.took_ns)}</span>
        </div>
    );
}

function List({ runs, index, route }: { runs: RunsDocument; index: number; route: Route }) {
    const wide = useMedia('(min-width: 900px)');
    const filter = filterOf(route.query), sorting = sortingOf(route.query);
    const asked = JSON.stringify([filter, sorting]);
    const places = useMemo(() => sortRuns(runs, filterRuns(runs, filter), sorting.key, sorting.down), [runs, asked]);
    const filtered = JSON.stringify(filter) !== JSON.stringify(NO_FILTER);
    const by = (key: SortKey) => { show(index, filter, { key, down: sorting.key === key ? !sorting.down : key === 'took' || key === 'size' }); };
    const head = (title: string, key: SortKey, number = false) => (
        <span role="columnheader" class={number ? 'number' : undefined}
            aria-sort={key === sorting.key ? (sorting.down ? 'descending' : 'ascending') : undefined}>
            <SortButton title={title} state={key === sorting.key ? (sorting.down ? 'down' : 'up') : 'none'} sort={() => { by(key); }} />
        </span>
    );
    return (
        <>
            <Filters runs={runs} filter={filter} set={(change) => { show(index, { ...filter, ...change }, sorting); }} />
            <div class="row spread">
                <p role="status">{filtered ? `${count(places.length)} of ${plural(runs.runs.number.length, 'run')}` : plural(places.length, 'run')}</p>
                {filtered && <button type="button" class="button" onClick={() => { show(index, NO_FILTER, sorting); }}>Show all</button>}
            </div>
            {places.length === 0
                ? <Empty title="No run is like this."><p>Take a part of the filter away.</p></Empty>
                : <VirtualList count={places.length} height={wide ? 38 : 92} label="Runs"
                    header={wide && (
                        <div class="run-row run-head" role="presentation">
                            {head('Run', 'number', true)}{head('Client saw', 'status')}{head('Faults', 'size')}
                            {head('Calls', 'calls', true)}{head('Took', 'took', true)}{head('Made', 'purpose')}
                        </div>
                    )}
                    row={(i) => {
                        const line = runAt(runs, places[i] ?? -1);
                        return line && (wide ? <WideRow line={line} index={index} /> : <NarrowRow line={line} index={index} />);
                    }} />}
        </>
    );
}

export function Runs({ scenario, index, route }: ViewProps) {
    return (
        <>
            <h1>Runs <span class="title-part">of <Text>{scenario.scenario}</Text></span></h1>
            <WithDocument name={`runs/${index}`} what="the runs" missing={<Empty title="This page does not have the runs." />}>
                {(runs) => <List runs={runs} index={index} route={route} />}
            </WithDocument>
        </>
    );
}
