// SPDX-License-Identifier: Apache-2.0
//
// This campaign beside an earlier one: findings that are new, fixed or changed; calls, dependencies and latencies
// that differ; and what could not be compared.
import type { ComponentChildren } from 'preact';

import type {
    ChangedCall, ChangedDependency, ChangedFinding, ChangedLatency, ChangedPair, ComparedScenario, Comparison, Difference, Side,
} from '../gen/documents';
import { byChange, changeWords, differenceWords, differs, headline, inOrder, latencyWords, type Subject } from '../model/comparison';
import { count, duration } from '../model/format';
import { routeTo } from '../model/route';
import type { Report } from '../model/types';
import { Command } from '../parts/copy';
import { Icon } from '../parts/icons';
import { Verdict } from '../parts/outcome';
import { Empty } from '../parts/state';
import { CallName, Text } from '../parts/text';
import type { ViewProps } from './view';

function Change({ change, subject }: { change: string; subject: Subject }) {
    const { text, tone, icon } = changeWords(change, subject);
    return <span class={`tag tone-${tone}`}><Icon name={icon} />{text}</span>;
}

function Differences({ differences }: { differences: readonly Difference[] }) {
    if (differences.length === 0) return null;
    return (
        <dl class="differences">
            {differences.map((difference, i) => {
                const { field, before, after } = differenceWords(difference);
                return (
                    <div key={i}>
                        <dt>{field}</dt>
                        <dd><del><Text>{before}</Text></del> <Icon name="right" /><span class="visually-hidden">now</span> <ins><Text>{after}</Text></ins></dd>
                    </div>
                );
            })}
        </dl>
    );
}

function Section<T extends { readonly change: string }>({ title, about, items, item }: {
    title: string;
    about?: string;
    items: readonly T[];
    item: (one: T) => ComponentChildren;
}) {
    if (items.length === 0) return null;
    return (
        <section class="card">
            <h3>{title} <span class="muted">({count(items.length)})</span></h3>
            {about !== undefined && <p class="muted small">{about}</p>}
            <ul class="changes">{inOrder(items).map((one, i) => <li key={i}>{item(one)}</li>)}</ul>
        </section>
    );
}

function FindingItem({ finding, subject, index }: { finding: ChangedFinding; subject: Subject; index: number }) {
    const why = finding.why ?? 'A finding without words';
    return (
        <div class="stack">
            <p class="row">
                <Change change={finding.change} subject={subject} />
                {finding.oracle !== null && <span class="tag"><Text>{finding.oracle}</Text></span>}
                <strong>{finding.id_after !== null && index >= 0
                    ? <a href={routeTo('finding', index, [finding.id_after.slice(finding.id_after.lastIndexOf('/') + 1)])}><Text>{why}</Text></a>
                    : <Text>{why}</Text>}</strong>
            </p>
            {finding.when !== null && <p class="muted">when <Text>{finding.when}</Text></p>}
            {finding.change === 'not-seen' && <p class="small">This campaign did not show it, but it would not have had to: it tried less, or ended early.</p>}
            <Differences differences={finding.differences} />
            {finding.change === 'new' && finding.replay !== null && <Command command={finding.replay} label="Replay" />}
        </div>
    );
}

function CallItem({ call }: { call: ChangedCall }) {
    return (
        <div class="stack">
            <p class="row"><Change change={call.change} subject="calls" /><CallName uid={call.call} /></p>
            <Differences differences={call.differences} />
        </div>
    );
}

function DependencyItem({ dependency }: { dependency: ChangedDependency }) {
    return (
        <div class="stack">
            <p class="row">
                <Change change={dependency.change} subject="dependencies" /><CallName uid={dependency.call} />
                {dependency.kind !== null && <span class="tag"><Text>{dependency.kind}</Text></span>}
            </p>
            <Differences differences={dependency.differences} />
        </div>
    );
}

function PairItem({ pair }: { pair: ChangedPair }) {
    return (
        <div class="stack">
            <p class="row"><Change change={pair.change} subject="pairs" /><span>fails only if both fail:</span></p>
            <ul class="plain-list">{pair.calls.map((uid, i) => <li key={i}><CallName uid={uid} /></li>)}</ul>
        </div>
    );
}

function LatencyTable({ items }: { items: readonly ChangedLatency[] }) {
    if (items.length === 0) return null;
    return (
        <section class="card">
            <h3>Latency <span class="muted">({count(items.length)})</span></h3>
            <p class="muted small">Medians of runs without faults. Small differences are left out.</p>
            <div class="scroll" role="region" aria-label="Latency" tabIndex={0}>
                <table class="table compare-latency">
                    <thead><tr>
                        <th scope="col">Call</th><th scope="col" class="number">Before</th><th scope="col" class="number">Now</th><th scope="col">Change</th>
                    </tr></thead>
                    <tbody>
                        {byChange(items).map((item, i) => {
                            const slower = item.after_ns >= item.before_ns;
                            return (
                                <tr key={i}>
                                    <th scope="row"><CallName uid={item.call} /></th>
                                    <td class="number">{duration(item.before_ns)}</td>
                                    <td class="number">{duration(item.after_ns)}</td>
                                    <td><span class={`tag tone-${slower ? 'bad' : 'ok'}`}>{latencyWords(item.before_ns, item.after_ns)}</span></td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
        </section>
    );
}

function VerdictChange({ scenario }: { scenario: ComparedScenario }) {
    const { verdict_before: before, verdict_after: after } = scenario;
    return (
        <span class="row">
            {before !== null && before !== after && <Verdict verdict={before} />}
            {before !== null && after !== null && before !== after && <><Icon name="right" /><span class="visually-hidden">now</span></>}
            {after !== null && <Verdict verdict={after} />}
        </span>
    );
}

function NoteList({ notes }: { notes: readonly string[] }) {
    if (notes.length === 0) return null;
    return (
        <section class="card compare-notes">
            <h3><Icon name="info" /><span>What could not be compared, or proves little</span></h3>
            <ul class="bullets">{notes.map((note, i) => <li key={i}><Text>{note}</Text></li>)}</ul>
        </section>
    );
}

function ScenarioPart({ scenario, index, alone }: { scenario: ComparedScenario; index: number; alone: boolean }) {
    const finding = (subject: Subject) => (one: ChangedFinding) => <FindingItem finding={one} subject={subject} index={index} />;
    return (
        <section class="stack compare-scenario">
            <div class="row"><h2><Text>{scenario.scenario}</Text></h2><VerdictChange scenario={scenario} /></div>
            {scenario.change === 'new' && <p>Only this campaign has this scenario.</p>}
            {scenario.change === 'gone' && <p>Only the earlier campaign has this scenario.</p>}
            {scenario.change === null && !alone && <p class="muted">{sentence(headline([scenario]))}</p>}
            <NoteList notes={scenario.notes} />
            <Section title="Findings" items={scenario.findings} item={finding('findings')} />
            <Section title="Warnings" items={scenario.warnings} item={finding('warnings')} />
            <Section title="Calls" items={scenario.calls} item={(call) => <CallItem call={call} />} />
            <Section title="Dependencies" items={scenario.dependencies} item={(dependency) => <DependencyItem dependency={dependency} />} />
            <Section title="Pairs" about="Dependencies that are absorbed one at a time, but not together." items={scenario.pairs}
                item={(pair) => <PairItem pair={pair} />} />
            <LatencyTable items={scenario.latency} />
        </section>
    );
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function SideItem({ title, side }: { title: string; side: Side }) {
    return (
        <div class="compare-side">
            <dt>{title}</dt>
            <dd class="row">
                {side.verdict !== null && <Verdict verdict={side.verdict} />}
                <span>{side.file === null ? 'this campaign' : <Text>{side.file}</Text>}{side.version !== null && <span class="muted"> · Outfox <Text>{side.version}</Text></span>}</span>
            </dd>
        </div>
    );
}

function Compared({ comparison, report }: { comparison: Comparison; report: Report }) {
    const index = (name: string) => report.scenarios.findIndex((s) => s.scenario === name);
    const scenarios = [...comparison.scenarios].sort((a, b) => Number(differs(b)) - Number(differs(a)));
    return (
        <>
            <section class="card">
                <dl class="compare-sides"><SideItem title="Before" side={comparison.before} /><SideItem title="Now" side={comparison.after} /></dl>
                <p><strong>{sentence(headline(comparison.scenarios))}</strong></p>
            </section>
            <NoteList notes={comparison.notes} />
            {scenarios.map((scenario) => (
                <ScenarioPart key={scenario.scenario} scenario={scenario} index={index(scenario.scenario)} alone={scenarios.length === 1} />
            ))}
        </>
    );
}

export function Compare({ report }: ViewProps) {
    return (
        <>
            <header class="stack"><h1>Compared with an earlier campaign</h1></header>
            {report.comparison ? <Compared comparison={report.comparison} report={report} /> : (
                <Empty title="This campaign was not compared with another.">
                    <p>Keep the report of a campaign, and name it when you make the next one:</p>
                    <Command command="outfox report --html report.html --compare old.html" />
                </Empty>
            )}
        </>
    );
}
