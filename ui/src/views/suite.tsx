// SPDX-License-Identifier: Apache-2.0
//
// What the scenarios cover: each and all together, which add nothing to the others, and what none of them reaches.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import type { Suite, SuiteCall, SuiteHandler, SuiteScenario } from '../gen/documents';
import { count, plural } from '../model/format';
import { routeTo } from '../model/route';
import { callText, doubts, idle, neverFailed, totals } from '../model/suite';
import type { Report } from '../model/types';
import { Empty } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { Text } from '../parts/text';
import type { ViewProps } from './view';

/** As many rows or items are drawn at first. */
const MANY = 50;
/** Of the scenarios of a call or handler, as many are named. */
const NAMED = 4;

function ScenarioLinks({ report, places, more = false }: { report: Report; places: readonly number[]; more?: boolean }) {
    const named = places.length > NAMED + 1 ? places.slice(0, NAMED) : places;
    const left = places.length - named.length;
    return (
        <>
            {named.map((place, i) => (
                <span key={place}>{i > 0 && ', '}<a href={routeTo('scenario', place)}><Text>{report.scenarios[place]?.scenario ?? String(place)}</Text></a></span>
            ))}
            {left > 0 ? ` and ${count(left)} more` : more && ' and others'}
        </>
    );
}

/** A list of which the beginning is drawn, and the rest on request. */
function Part<T>({ id, title, about, items, children }: {
    id: string;
    title: string;
    about: string;
    items: readonly T[];
    children: (shown: readonly T[]) => ComponentChildren;
}) {
    const [all, setAll] = useState(false);
    const shown = all ? items : items.slice(0, MANY);
    if (items.length === 0) return null;
    return (
        <section class="card" aria-labelledby={id}>
            <h2 id={id}>{title} <span class="muted">({count(items.length)})</span></h2>
            <p class="muted small">{about}</p>
            {children(shown)}
            {shown.length < items.length && (
                <div><button type="button" class="button" onClick={() => { setAll(true); }}>Show {plural(items.length - shown.length, 'more')}</button></div>
            )}
        </section>
    );
}

function Scenarios({ suite }: { suite: Suite }) {
    const rows = suite.scenarios.map((row, index) => ({ row, index }));
    const figure = (title: string, of: (row: SuiteScenario) => number): Column<typeof rows[number]> =>
        ({ title, number: true, value: ({ row }) => of(row), cell: ({ row }) => count(of(row)) });
    const columns: Column<typeof rows[number]>[] = [
        {
            title: 'Scenario', value: ({ row }) => row.scenario,
            cell: ({ row, index }) => <a href={routeTo('scenario', index)}><Text>{row.scenario}</Text></a>,
        },
        figure('Runs', (row) => row.runs),
        figure('Calls', (row) => row.calls),
        figure('Made to fail', (row) => row.failed_calls),
        figure('Handlers', (row) => row.handlers),
        figure('Edges', (row) => row.edges),
        figure('Only here', (row) => row.only_edges),
        { title: 'Adds', value: ({ row }) => Number(row.adds_nothing), cell: ({ row }) => row.adds_nothing ? <span class="tag tone-odd">nothing</span> : '' },
    ];
    return <Table caption="What each scenario covers" columns={columns} rows={rows} />;
}

function Idle({ report, suite }: { report: Report; suite: Suite }) {
    return (
        <Part id="idle" title="Adds nothing to the others" items={idle(report, suite)}
            about="Other scenarios show every step of it. All of these could go without losing one, unless they check something that the others do not.">
            {(shown) => (
                <ul class="bullets">
                    {shown.map((one) => (
                        <li key={one.index}>
                            <a href={routeTo('scenario', one.index)}><Text>{one.name}</Text></a>: shown by{' '}
                            <ScenarioLinks report={report} places={one.by} more={one.more} />
                            {one.findings > 0 && `. But it has ${plural(one.findings, 'finding')}`}
                        </li>
                    ))}
                </ul>
            )}
        </Part>
    );
}

function Unreached({ suite }: { suite: Suite }) {
    return (
        <>
            <Part id="services" title="Services that no scenario reaches" items={suite.unreached_services} about="The file has them, and no run got there.">
                {(shown) => <ul class="bullets">{shown.map((name) => <li key={name}><Text>{name}</Text></li>)}</ul>}
            </Part>
            <Part id="not-made" title="Calls that no scenario makes" items={suite.unreached_calls}
                about="The file names them: a service that was reached has the address, or is said to call.">
                {(shown) => <ul class="bullets mono small">{shown.map((call, i) => <li key={i}><Text>{callText(call)}</Text></li>)}</ul>}
            </Part>
        </>
    );
}

function NeverFailed({ report, suite }: { report: Report; suite: Suite }) {
    return (
        <Part id="never-failed" title="Calls that were never made to fail" items={neverFailed(suite)} about="They were seen, but no fault fired at them.">
            {(shown) => (
                <ul class="bullets">
                    {shown.map((call, i) => (
                        <li key={i}>
                            <span class="mono small"><Text>{callText(call)}</Text></span>{call.conditional && ', only after a fault'}: in{' '}
                            <ScenarioLinks report={report} places={call.scenarios} />
                        </li>
                    ))}
                </ul>
            )}
        </Part>
    );
}

function Lists({ report, suite }: { report: Report; suite: Suite }) {
    const where = (row: SuiteCall | SuiteHandler) => <ScenarioLinks report={report} places={row.scenarios} />;
    const calls: Column<SuiteCall>[] = [
        { title: 'Call', value: callText, cell: (call) => <span class="mono small"><Text>{callText(call)}</Text></span> },
        { title: 'Runs that fail it', number: true, value: (call) => call.failed, cell: (call) => count(call.failed) },
        { title: 'Made', value: (call) => Number(call.conditional), cell: (call) => call.conditional ? 'only after a fault' : 'without faults, too' },
        { title: 'Scenarios', value: (call) => call.scenarios.length, cell: where },
    ];
    const handlers: Column<SuiteHandler>[] = [
        { title: 'Handler', value: (handler) => handler.handler, cell: (handler) => <span class="mono small"><Text>{handler.handler}</Text></span> },
        { title: 'Edges', number: true, value: (handler) => handler.edges, cell: (handler) => count(handler.edges) },
        { title: 'Scenarios', value: (handler) => handler.scenarios.length, cell: where },
    ];
    return (
        <>
            <Part id="calls" title="Calls between services" items={suite.calls} about="By caller, service and interface, wherever they are made.">
                {(shown) => <Table caption="Calls between services, and the scenarios that make them" columns={calls} rows={shown} />}
            </Part>
            <Part id="handlers" title="Handlers" items={suite.handlers} about="What a service does to answer one kind of call. An edge is one step of that.">
                {(shown) => <Table caption="Handlers, and the scenarios that reach them" columns={handlers} rows={shown} />}
            </Part>
        </>
    );
}

export function SuiteView({ report }: ViewProps) {
    const { suite } = report;
    if (suite === null) return <><h1>Suite</h1><Empty title="There is one scenario, so there is nothing to compare." /></>;
    const unsure = doubts(report, suite);
    return (
        <>
            <h1>Suite</h1>
            <section class="card" aria-labelledby="covers">
                <h2 id="covers">What the scenarios cover</h2>
                <p>{totals(suite)}</p>
                <Scenarios suite={suite} />
                {unsure.map((text) => <p key={text} class="muted small">{text}</p>)}
            </section>
            <Idle report={report} suite={suite} />
            <Unreached suite={suite} />
            <NeverFailed report={report} suite={suite} />
            <Lists report={report} suite={suite} />
        </>
    );
}
