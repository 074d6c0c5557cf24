// SPDX-License-Identifier: Apache-2.0
//
// One thing that is wrong: what, when, what the calls were like, and how to see it again. Findings and
// what oracles say are told in the same way.
import type { ComponentChildren } from 'preact';

import { ReplayButton, ReplayShown } from '../live/replay';
import { count, duration, plural } from '../model/format';
import { parsePage } from '../model/page';
import { routeTo } from '../model/route';
import type { Evidence, Scenario } from '../model/types';
import { allWrong, type Wrong, whatClientGets, whatItIs } from '../model/wrong';
import { CallTree } from '../parts/calltree';
import { Command } from '../parts/copy';
import { Details } from '../parts/details';
import { Faultload } from '../parts/faultload';
import { useDocument } from '../parts/hooks';
import { Icon } from '../parts/icons';
import { LogEnd } from '../parts/log';
import { Injected, Outcome } from '../parts/outcome';
import { PageSection } from '../parts/page';
import { useRunCalls } from '../parts/runcalls';
import { Empty, Loading } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { CallName, Text } from '../parts/text';
import { During, WrongTag } from '../parts/wrong';
import type { ViewProps } from './view';

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
    return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function Facts({ wrong, index }: { wrong: Wrong; index: number }) {
    const { finding } = wrong;
    const then = finding ? whatClientGets(finding.statuses) : '';
    return (
        <section class="card" aria-label="In words">
            <dl class="facts roomy">
                <Fact name="What">{whatItIs(wrong)}{finding?.shrunk && '; faults that it does not need were removed'}</Fact>
                <Fact name="When"><Text>{wrong.when}</Text></Fact>
                {wrong.during.length > 0 && <Fact name="During"><During wrong={wrong} /></Fact>}
                {then !== '' && <Fact name="Then">{then}</Fact>}
                {finding !== null && finding.detail !== null && <Fact name={then === '' ? 'Then' : ''}><Text>{finding.detail}</Text></Fact>}
                <Fact name="Seen">in {plural(wrong.runs, 'run')}</Fact>
                <Fact name="Faults"><Faultload text={wrong.faultload} /></Fact>
            </dl>
            <div class="again">
                <h2>See it again</h2>
                <Command command={wrong.replay} label="Replay command" />
                <div class="row">
                    <ReplayButton wish={finding ? { scenario: index, finding: finding.id } : { scenario: index, faultload: wrong.faultload }} label="Replay now" />
                    <a href={routeTo('try', index, [], { f: wrong.faultload })}>Try it with other faults</a>
                </div>
                <ReplayShown />
            </div>
        </section>
    );
}

// Of the page of an oracle: what one wants to know first.
const FIRST = ['Why it matters', 'What to do'];

function Oracle({ wrong }: { wrong: Wrong }) {
    const oracles = useDocument(wrong.oracle === null ? null : 'oracles');
    if (wrong.oracle === null) return null;
    const known = oracles.state === 'ready' ? oracles.value.oracles.find(({ name }) => name === wrong.oracle) : undefined;
    const sections = parsePage(known?.page ?? '').filter(({ title }) => title !== '');
    const rest = sections.filter(({ title }) => !FIRST.includes(title));
    return (
        <section class="card" aria-labelledby="oracle">
            <h2 id="oracle">The oracle <code><Text>{wrong.oracle}</Text></code></h2>
            {known && <p>It says so when <Text>{known.doc}</Text>.</p>}
            <div class="columns">
                {sections.filter(({ title }) => FIRST.includes(title)).map((section) => <PageSection key={section.title} section={section} />)}
            </div>
            {rest.length > 0 && (
                <Details title={rest.map(({ title }) => title).join('; ')}>
                    {() => <div class="columns">{rest.map((section) => <PageSection key={section.title} section={section} />)}</div>}
                </Details>
            )}
            <p class="muted small">The same in a terminal:</p>
            <Command command={wrong.remark?.about ?? `outfox oracles ${wrong.oracle}`} label="Command that explains the oracle" />
        </section>
    );
}

function EvidenceTable({ evidence }: { evidence: readonly Evidence[] }) {
    if (evidence.length === 0) return null;
    const timed = evidence.some((e) => e.end_ns > e.start_ns);
    const columns: Column<Evidence>[] = [
        { title: 'Part', cell: (e) => <Text>{e.role}</Text> },
        { title: 'Call', cell: (e) => <CallName uid={e.call} /> },
        { title: 'Seen', cell: (e) => <span class="row">{e.seen !== null && <Outcome outcome={e.seen} />}{e.injected !== null && <Injected mode={e.injected} />}</span> },
        ...timed ? [{ title: 'From', number: true, cell: (e: Evidence) => e.end_ns > e.start_ns ? duration(e.start_ns) : '' },
            { title: 'Took', number: true, cell: (e: Evidence) => e.end_ns > e.start_ns ? duration(e.end_ns - e.start_ns) : '' }] : [],
    ];
    return (
        <section class="card" aria-labelledby="evidence">
            <h2 id="evidence">What shows it</h2>
            <Table caption="Calls that show it" columns={columns} rows={evidence} />
        </section>
    );
}

function Calls({ wrong, scenario, index }: { wrong: Wrong; scenario: Scenario; index: number }) {
    const own = wrong.finding?.trace ?? null;
    const found = useRunCalls(index, own ? null : wrong.run);
    const calls = own ?? (found.state === 'ready' ? found.calls : null);
    return (
        <section class="card" aria-labelledby="calls">
            <div class="row spread">
                <h2 id="calls">Calls</h2>
                {wrong.run > 0 && <a href={routeTo('run', index, [wrong.run])}>Run {count(wrong.run)} with its times</a>}
            </div>
            {calls && <CallTree now={calls} was={scenario.without_faults} title="With the faults" />}
            {!calls && found.state === 'loading' && <Loading what="the calls" />}
            {!calls && found.state !== 'loading' && <p class="muted">This page does not have the calls of run {count(wrong.run)}. The command above shows them.</p>}
        </section>
    );
}

function Alike({ wrong }: { wrong: Wrong }) {
    const { finding } = wrong;
    if (!finding || finding.alike_total === 0) return null;
    const hidden = finding.alike_total - finding.alike.length;
    return (
        <section class="card">
            <h2>The same with other faults</h2>
            <p class="muted small">{plural(finding.alike_total, 'other combination')} of faults led to the same finding, in other modes or at other tries.</p>
            <Details title={`Show ${plural(finding.alike.length, 'combination')}`} open={finding.alike.length <= 6}>
                {() => (
                    <>
                        <ol class="alike">{finding.alike.map((text) => <li key={text}><Faultload text={text} /></li>)}</ol>
                        {hidden > 0 && <p class="muted">{count(hidden)} more not listed.</p>}
                    </>
                )}
            </Details>
        </section>
    );
}

function Neighbours({ all, at, index }: { all: readonly Wrong[]; at: number; index: number }) {
    const link = (wrong: Wrong | undefined, text: string, rel: string) => wrong
        && <a rel={rel} href={routeTo('finding', index, [wrong.id])}>{text}: {wrong.warning ? 'warning' : 'finding'} {wrong.number}</a>;
    return <nav class="row spread small" aria-label="Other findings">{link(all[at - 1], 'Previous', 'prev') ?? <span />}{link(all[at + 1], 'Next', 'next')}</nav>;
}

export function Finding({ report, scenario, index, route }: ViewProps) {
    const all = allWrong(scenario);
    const at = all.findIndex((w) => w.id === route.rest[0]);
    const wrong = all[at];
    const back = report.scenarios.length > 1 ? routeTo('scenario', index) : routeTo('');
    if (!wrong) return <Empty title="There is no such finding."><p><a href={back}>Go to the overview</a></p></Empty>;
    return (
        <>
            <div class="stack">
                <p class="crumb small"><a href={back}><Text>{scenario.scenario}</Text></a> <Icon name="right" /> <WrongTag wrong={wrong} /></p>
                <h1><Text>{wrong.title}</Text></h1>
            </div>
            <Facts wrong={wrong} index={index} />
            <EvidenceTable evidence={wrong.remark?.evidence ?? []} />
            <Calls wrong={wrong} scenario={scenario} index={index} />
            <LogEnd log={wrong.finding?.log ?? null} why="Its last lines when the finding was confirmed: this service went wrong first." />
            <Oracle wrong={wrong} />
            <Alike wrong={wrong} />
            <Neighbours all={all} at={at} index={index} />
        </>
    );
}
