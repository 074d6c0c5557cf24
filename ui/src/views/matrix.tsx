// SPDX-License-Identifier: Apache-2.0
//
// The matrix of dependencies: what becomes of the request when a call fails in this way or that.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { count, plural } from '../model/format';
import { kindOf, kinds } from '../model/graph';
import {
    type Cell, type CellKind, cellWords, type Column, columns, countKinds, type Filter, filterRows, matrix, type Row, statusWords,
} from '../model/matrix';
import { lastElement, shortName, withoutNumbers } from '../model/names';
import { routeTo } from '../model/route';
import { plain } from '../model/text';
import type { DependencyScenario, Pair, Redundant } from '../model/types';
import { Command } from '../parts/copy';
import { Failures, KindTag, RunLinks } from '../parts/failures';
import { useMedia } from '../parts/hooks';
import { Empty, WithDocument } from '../parts/state';
import { Text } from '../parts/text';
import type { ViewProps } from './view';

/** More columns than this are drawn together where no call tells them apart. */
const MANY_COLUMNS = 5;
/** As many rows are drawn at once; more when one scrolls to them. */
const MANY_ROWS = 100;

interface Chosen {
    readonly call: string;
    readonly labels: readonly string[];
}

function CellButton({ row, column, open, onOpen }: { row: Row; column: Column; open: boolean; onOpen: () => void }) {
    const cell: Cell = row.cells.get(column.labels[0] ?? '') ?? { kind: 'untried', failure: null };
    const { sign, words } = cellWords[cell.kind];
    const status = cell.failure?.status;
    const label = `${plain(column.labels.join(', '))}: ${words}${status === undefined ? '' : `; ${plain(statusWords(status))}`}`;
    const inside = (
        <>
            <span class="cell-sign" aria-hidden="true">{sign}</span>
            {status !== undefined && <span class="cell-status" aria-hidden="true">{plain(status)}</span>}
        </>
    );
    if (!cell.failure) return <td class={`cell cell-${cell.kind}`}><span class="cell-in" role="img" title={label} aria-label={label}>{inside}</span></td>;
    return (
        <td class={`cell cell-${cell.kind}`}>
            <button type="button" class="cell-in" title={label} aria-label={label} aria-expanded={open} onClick={onOpen}>{inside}</button>
        </td>
    );
}

function MatrixRow({ row, all, chosen, index, onChoose }: {
    row: Row;
    all: readonly Column[];
    chosen: Chosen | null;
    index: number;
    onChoose: (to: Chosen | null) => void;
}) {
    const { dependency: d } = row;
    return (
        <>
            <tr>
                <th scope="row">
                    <div class="matrix-call"><KindTag kind={d.kind} />
                    <a class="call-name" href={routeTo('calls', index, [], { call: withoutNumbers(d.call) })}>
                        <span class="call-path"><Text>{d.caller}</Text> &gt; </span><span class="call-own"><Text>{lastElement(d.call)}</Text></span>
                    </a></div>
                </th>
                {all.map((column) => {
                    const open = chosen?.labels.join() === column.labels.join();
                    return (
                        <CellButton key={column.labels.join()} row={row} column={column} open={open}
                            onOpen={() => { onChoose(open ? null : { call: d.call, labels: column.labels }); }} />
                    );
                })}
                <td class="matrix-text muted"><Text>{d.text}</Text></td>
            </tr>
            {chosen && (
                <tr class="matrix-detail">
                    <td colSpan={all.length + 2}>
                        <div class="matrix-detail-in">
                            <Failures dependency={d} index={index} only={chosen.labels} />
                        </div>
                    </td>
                </tr>
            )}
        </>
    );
}

function CellLegend({ rows }: { rows: readonly Row[] }) {
    const used = new Set<CellKind>(rows.flatMap((row) => [...row.cells.values()].map((cell) => cell.kind)));
    const list = (Object.keys(cellWords) as CellKind[]).filter((kind) => used.has(kind));
    return (
        <ul class="key-list" aria-label="Legend">
            {list.map((kind) => (
                <li key={kind}><span class={`cell-key cell-${kind}`} aria-hidden="true">{cellWords[kind].sign}</span> <span class="muted">{cellWords[kind].words}</span></li>
            ))}
            <li class="muted">The number is what the client gets.</li>
        </ul>
    );
}

function Filters({ filter, services, onFilter }: { filter: Filter; services: readonly string[]; onFilter: (to: Filter) => void }) {
    return (
        <form class="matrix-filters" role="search" onSubmit={(event) => { event.preventDefault(); }}>
            <input type="search" aria-label="Filter by text" placeholder="Filter calls" value={filter.text}
                onInput={(event) => { onFilter({ ...filter, text: event.currentTarget.value }); }} />
            <select aria-label="Service" value={filter.service} onChange={(event) => { onFilter({ ...filter, service: event.currentTarget.value }); }}>
                <option value="">All services</option>
                {services.map((service) => <option key={service} value={service}>{plain(service)}</option>)}
            </select>
            <select aria-label="Kind" value={filter.kind} onChange={(event) => { onFilter({ ...filter, kind: event.currentTarget.value }); }}>
                <option value="">All kinds</option>
                {kinds.map(({ name }) => <option key={name} value={name}>{name}</option>)}
            </select>
            <label class="matrix-check">
                <input type="checkbox" checked={filter.failing} onChange={(event) => { onFilter({ ...filter, failing: event.currentTarget.checked }); }} />
                Only where the request can fail
            </label>
        </form>
    );
}

function Pairs({ pairs, index }: { pairs: readonly Pair[]; index: number }) {
    const [all, setAll] = useState(false);
    const shown = all ? pairs : pairs.slice(0, 20);
    if (pairs.length === 0) return null;
    return (
        <section class="card">
            <h2>Survived one at a time, but not together</h2>
            <ul class="failures">
                {shown.map((pair) => (
                    <li class="failure" key={pair.faultload}>
                        <p>
                            {pair.calls.map((uid, i) => (
                                <span key={uid}>{i > 0 && ' and '}<a class="mono small" href={routeTo('calls', index, [], { call: withoutNumbers(uid) })}><Text>{shortName(uid)}</Text></a></span>
                            ))}: <Text>{statusWords(pair.status)}</Text>. <RunLinks runs={[pair.run]} index={index} />
                        </p>
                        <Command command={pair.replay} label="Command that shows it again" />
                    </li>
                ))}
            </ul>
            {shown.length < pairs.length && <button type="button" class="button" onClick={() => { setAll(true); }}>Show all {count(pairs.length)} pairs</button>}
        </section>
    );
}

function RedundantCalls({ calls, index }: { calls: readonly Redundant[]; index: number }) {
    if (calls.length === 0) return null;
    return (
        <section class="card">
            <h2>Made more than once with the same request, without any fault</h2>
            <ul class="name-list">
                {calls.map(({ call, times, one_handler }) => (
                    <li key={call}>
                        <a class="mono small" href={routeTo('calls', index, [], { call: withoutNumbers(call) })}><Text>{shortName(call)}</Text></a>
                        : {count(times)} times{one_handler && ', by one handler'}
                    </li>
                ))}
            </ul>
        </section>
    );
}

function Table({ rows, all, index }: { rows: readonly Row[]; all: readonly Column[]; index: number }) {
    const [chosen, setChosen] = useState<Chosen | null>(null);
    const [most, setMost] = useState(MANY_ROWS);
    const scrolled = ({ currentTarget: view }: { currentTarget: HTMLElement }) => {
        if (most < rows.length && view.scrollHeight - view.scrollTop < 3 * view.clientHeight) setMost(most + MANY_ROWS);
    };
    return (
        <div class="matrix-view" role="region" aria-label="Matrix of dependencies" tabIndex={0} onScroll={scrolled}>
            <table class="matrix">
                <thead>
                    <tr>
                        <th scope="col">When this call fails</th>
                        {all.map(({ labels }) => <th key={labels.join()} scope="col"><span class="matrix-labels">{labels.map((label) => <span key={label}><Text>{label}</Text></span>)}</span></th>)}
                        <th scope="col">In words</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, most).map((row) => (
                        <MatrixRow key={row.dependency.call} row={row} all={all} index={index} onChoose={setChosen}
                            chosen={chosen?.call === row.dependency.call ? chosen : null} />
                    ))}
                </tbody>
            </table>
        </div>
    );
}

export function MatrixOf({ scenario, index, query }: { scenario: DependencyScenario; index: number; query: Readonly<Record<string, string>> }) {
    const m = useMemo(() => matrix(scenario), [scenario]);
    const narrow = useMedia('(max-width: 699px)');
    const [filter, setFilter] = useState<Filter>({
        text: query.text ?? '', service: query.service ?? '', kind: query.kind ?? '', failing: query.failing === 'yes',
    });
    const [wanted, setWanted] = useState<boolean | null>(null);
    const together = wanted ?? (narrow || m.labels.length > MANY_COLUMNS);
    const all = useMemo(() => columns(m, together), [m, together]);
    const rows = useMemo(() => filterRows(m.rows, filter), [m, filter]);
    useEffect(() => { // the address always leads here again, but does not fill the history
        const to = routeTo('matrix', index, [], { ...filter, failing: filter.failing ? 'yes' : '' });
        if (location.hash !== to) history.replaceState(history.state, '', to);
    }, [filter, index]);
    if (scenario.broken !== null)
        return <Empty title="The scenario fails without any fault, so nothing is known of its dependencies."><p><Text>{scenario.broken}</Text></p></Empty>;
    if (m.rows.length === 0) return <Empty title="No call was made to fail yet." />;
    const kindsThere = [...countKinds(m.rows)].map(([kind, n]) => `${n} ${kindOf(kind).name}`);
    return (
        <>
            <section class="card">
                <p>{plural(m.rows.length, 'call')}: {plain(kindsThere.join(', '))}. {m.rows.some((row) => row.dependency.kind === 'hard') && 'Hard ones, at the top, are single points of failure.'}</p>
                <Filters filter={filter} services={m.services} onFilter={setFilter} />
                <div class="row between">
                    <p class="muted small" role="status">{rows.length === m.rows.length ? `All ${plural(rows.length, 'call')}` : `${count(rows.length)} of ${plural(m.rows.length, 'call')}`}</p>
                    {columns(m, true).length < m.labels.length && (
                        <label class="matrix-check"><input type="checkbox" checked={together} onChange={(event) => { setWanted(event.currentTarget.checked); }} />One column for failures that no call tells apart</label>
                    )}
                </div>
                {rows.length > 0 ? <Table rows={rows} all={all} index={index} /> : <Empty title="No call is like that." />}
                <CellLegend rows={m.rows} />
            </section>
            <Pairs pairs={scenario.pairs} index={index} />
            <RedundantCalls calls={scenario.redundant} index={index} />
        </>
    );
}

export function MatrixView({ scenario, index, route }: ViewProps) {
    return (
        <>
            <h1>Dependencies of <Text>{scenario.scenario}</Text></h1>
            <WithDocument name="dependencies" what="the dependencies">
                {(all) => {
                    const own = all.scenarios.find((s) => s.scenario === scenario.scenario);
                    return own ? <MatrixOf key={index} scenario={own} index={index} query={route.query} /> : <Empty title="Nothing is known of this scenario yet." />;
                }}
            </WithDocument>
        </>
    );
}
