// SPDX-License-Identifier: Apache-2.0
//
// The call graph of a scenario, the same as a list, and what is known of the call that was chosen.
import { useMemo } from 'preact/hooks';

import { duration } from '../model/format';
import { callGraph, type Graph, type GraphCall, kinds } from '../model/graph';
import { withoutNumbers } from '../model/names';
import { routeTo } from '../model/route';
import type { DependencyScenario, Scenario } from '../model/types';
import { CallPanel } from '../parts/callpanel';
import { KindTag } from '../parts/failures';
import { CallGraph } from '../parts/graph';
import { Empty, WithDocument } from '../parts/state';
import { Text } from '../parts/text';
import type { ViewProps } from './view';

function Legend() {
    return (
        <ul class="key-list" aria-label="Legend">
            {kinds.map((kind) => (
                <li key={kind.name}>
                    <svg class={`legend-line kind-${kind.name}`} width="26" height="8" aria-hidden="true"><path d="M1 4h24" /></svg>
                    <KindTag kind={kind.name} /> <span class="muted">{kind.words}</span>
                </li>
            ))}
            <li><span class="graph-mark" aria-hidden="true">↻</span> <span class="muted">a retry absorbs a failure that passes</span></li>
        </ul>
    );
}

function CallList({ calls, selected, index }: { calls: readonly GraphCall[]; selected: string | null; index: number }) {
    return (
        <section class="card">
            <h2>All calls</h2>
            <div class="scroll">
                <table class="call-table stacked">
                    <thead><tr><th>Kind</th><th>Caller</th><th>Call</th><th>When it fails</th><th class="number">Takes</th></tr></thead>
                    <tbody>
                        {calls.map((call) => (
                            <tr key={call.uid} class={call.uid === selected ? 'selected' : ''}>
                                <td>{call.kind === 'request' ? <span class="muted">request</span> : <KindTag kind={call.kind} />}</td>
                                <td>{call.caller === null ? 'client' : <Text>{call.caller}</Text>}</td>
                                <td><a class="mono small" href={routeTo('calls', index, [], { call: call.uid })}><Text>{`${call.service} ${call.what}`}</Text></a></td>
                                <td class="muted">{call.dependency ? <Text>{call.dependency.text}</Text> : '\u2013'}</td>
                                <td class="number">{call.took === null ? '\u2013' : duration(call.took)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </section>
    );
}

export function CallsOf({ graph, dependencies, index, chosen }: {
    graph: Graph;
    dependencies: DependencyScenario | undefined;
    index: number;
    chosen: string | null;
}) {
    const call = chosen === null ? undefined : graph.byUid.get(withoutNumbers(chosen));
    const select = (uid: string | null) => { location.hash = routeTo('calls', index, [], { call: uid ?? '' }); };
    const close = () => {
        select(null);
        if (call) document.querySelector<HTMLElement>(`.graph [data-uid="${CSS.escape(call.uid)}"]`)?.focus();
    };
    if (graph.calls.length === 0) return <Empty title="No calls have been seen yet." />;
    return (
        <>
            <div class={call ? 'graph-and-panel' : ''}>
                <section class="card graph-card">
                    <CallGraph graph={graph} selected={call?.uid ?? null} onSelect={(uid) => { select(uid === call?.uid ? null : uid); }} />
                    <Legend />
                </section>
                {call && <CallPanel graph={graph} call={call} pairs={dependencies?.pairs ?? []} index={index} onClose={close} />}
            </div>
            <CallList calls={graph.calls} selected={call?.uid ?? null} index={index} />
        </>
    );
}

function Calls({ scenario, dependencies, index, chosen }: {
    scenario: Scenario;
    dependencies: DependencyScenario | undefined;
    index: number;
    chosen: string | null;
}) {
    const graph = useMemo(() => callGraph(dependencies, scenario.calls, scenario.without_faults), [dependencies, scenario]);
    return <CallsOf graph={graph} dependencies={dependencies} index={index} chosen={chosen} />;
}

export function CallsView({ scenario, index, route }: ViewProps) {
    return (
        <>
            <h1>Calls of <Text>{scenario.scenario}</Text></h1>
            <WithDocument name="dependencies" what="the dependencies">
                {(all) => (
                    <Calls scenario={scenario} index={index} chosen={route.query.call ?? null}
                        dependencies={all.scenarios.find((s) => s.scenario === scenario.scenario)} />
                )}
            </WithDocument>
        </>
    );
}
