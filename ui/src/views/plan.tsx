// SPDX-License-Identifier: Apache-2.0
//
// What came of a failure plan: the verdict and what to do, then one of its runs over time beside the run
// without faults, what was expected, what happened, and all that helps to understand it.
import { useEffect, useMemo, useState } from 'preact/hooks';

import { count, percent, plural } from '../model/format';
import { answerWords, bandsOf, chosenRun, happenings, type Happening, moment, planVerdict, type PlanWords, referenceOf, runWords } from '../model/plan';
import { routeTo } from '../model/route';
import { plain } from '../model/text';
import type { PlanAnswer, PlanResult, PlanRun, PlanSpell } from '../model/types';
import { Command, Copy } from '../parts/copy';
import { Details } from '../parts/details';
import { Guard } from '../parts/guard';
import { useRoute } from '../parts/hooks';
import { Icon, Mark } from '../parts/icons';
import { Card, Clients, Distribution, each, Measures, ms, OverTime } from '../parts/planplots';
import type { Stage } from '../parts/plot';
import { WithDocument } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { Text } from '../parts/text';
import { ThemeToggle } from './layout';

function Sign({ words }: { words: PlanWords }) {
    return <span class={`verdict tone-${words.kind}`}><Icon name={words.icon} />{words.text}</span>;
}

/* ---- the verdict ---- */

function Tile({ figure, label, bad = false }: { figure: string; label: string; bad?: boolean }) {
    return <li class={`tile${bad ? ' tone-bad' : ''}`}><div><span class="tile-figure">{figure}</span><span class="tile-label">{label}</span></div></li>;
}

function Verdict({ result, run }: { result: PlanResult; run: PlanRun | undefined }) {
    const words = planVerdict(result);
    const violated = (run?.expectations ?? []).filter((a) => a.verdict === 'violated');
    return (
        <section class={`card hero tone-${words.kind}`} aria-labelledby="verdict">
            <div class="hero-head">
                <span class="hero-sign"><Icon name={words.icon} /></span>
                <div class="stack">
                    <h2 id="verdict">{words.text}</h2>
                    {result.about !== '' && <p><Text>{result.about}</Text></p>}
                    {violated.slice(0, 5).map((a, i) => <p key={i}><strong><Text>{a.name}</Text></strong>: <Text>{a.seen}</Text></p>)}
                    <p class="muted small">{plural(result.runs.length, 'run')}, seed {result.seed}, begun {result.began.replace('T', ' ').replace('Z', ' UTC')}; took {ms(result.took_ms)}</p>
                </div>
            </div>
            <Command command={result.command} label="Command that carries it out again" />
        </section>
    );
}

function Figures({ run, reference }: { run: PlanRun; reference: PlanRun | undefined }) {
    const seconds = (run.to_ms - run.from_ms) / 1000;
    const was = reference?.latency;
    return (
        <ul class="tiles">
            <Tile figure={count(run.operations)} label={`operations, ${each(seconds > 0 ? run.operations / seconds : 0)} each second`} />
            <Tile figure={percent(run.failures, run.operations)} label={`failed, ${count(run.failures)} of them`} bad={run.failures > 0} />
            <Tile figure={run.latency ? ms(run.latency.p50_ms) : 'none'} label={`p50 of those that succeeded${was ? `; ${ms(was.p50_ms)} without faults` : ''}`} />
            <Tile figure={run.latency ? ms(run.latency.p99_ms) : 'none'} label={`p99 of those that succeeded${was ? `; ${ms(was.p99_ms)} without faults` : ''}`} />
        </ul>
    );
}

/* ---- what was expected, what happened ---- */

function Expectations({ run, reference }: { run: PlanRun; reference: PlanRun | undefined }) {
    const was = new Map((reference?.expectations ?? []).map((a) => [a.name, a.seen]));
    const columns: Column<PlanAnswer>[] = [
        { title: 'Expected', cell: (a) => <strong class="keep"><Text>{a.name}</Text></strong>, value: (a) => a.name },
        { title: 'Verdict', cell: (a) => <Sign words={answerWords(a.verdict)} />, value: (a) => a.verdict },
        { title: 'Seen', cell: (a) => <Text>{a.seen}</Text> },
        ...reference ? [{ title: 'Without faults', cell: (a: PlanAnswer) => <Text>{was.get(a.name) ?? ''}</Text> }] : [],
    ];
    return (
        <Card id="expected" title="What was expected">
            {run.broken !== undefined && <div class="problem"><p><Icon name="warn" /><strong>This run was not carried out.</strong></p><p><Text>{run.broken}</Text></p></div>}
            {run.expectations.length > 0 && <Table caption="What was expected" columns={columns} rows={run.expectations} />}
            {run.first_failure !== undefined && <p class="small">First failure at {moment(run.first_failure.at_ms)}, <Text>{run.first_failure.client}</Text>: <Text>{run.first_failure.said || 'it said nothing'}</Text></p>}
            {run.truncated && <p class="small muted">More operations or lines came than are kept; the rest was left out.</p>}
        </Card>
    );
}

function Faults({ result, run }: { result: PlanResult; run: PlanRun }) {
    const planned = new Map(result.events.map((e) => [e.name, e.when]));
    const columns: Column<PlanSpell>[] = [
        { title: 'Fault', cell: (f) => <strong><Text>{f.event}</Text></strong>, value: (f) => f.event },
        { title: 'What', cell: (f) => <Text>{f.what}</Text> },
        { title: 'When', cell: (f) => <Text>{planned.get(f.event) ?? ''}</Text> },
        { title: 'To', cell: (f) => <Text>{f.nodes.join(', ')}</Text> },
        { title: 'From', cell: (f) => f.failed === undefined ? moment(f.begin_ms) : '', value: (f) => f.begin_ms, number: true },
        { title: 'Until', cell: (f) => f.failed === undefined ? moment(f.end_ms) : '', value: (f) => f.end_ms, number: true },
        { title: 'Failed meanwhile', cell: (f) => f.failed === undefined ? `${count(f.failures)} of ${count(f.operations)}` : <span class="tag tone-odd"><Text>{f.failed}</Text></span>, value: (f) => f.failures },
    ];
    if (run.faults.length === 0) return null;
    return <Card id="faults" title="Faults"><Table caption="Faults" columns={columns} rows={run.faults} /></Card>;
}

const happeningWords: Record<Happening['kind'], { icon: 'bolt' | 'ok' | 'bad' | 'list' | 'question'; text: string }> = {
    begin: { icon: 'bolt', text: 'fault' }, end: { icon: 'ok', text: 'fault' }, death: { icon: 'bad', text: 'death' },
    line: { icon: 'list', text: 'new line' }, not: { icon: 'question', text: 'not sure' },
};

function Events({ run }: { run: PlanRun }) {
    const list = happenings(run);
    if (list.length === 0) return null;
    return (
        <Card id="events" title="What happened">
            <ol class="plan-events">
                {list.slice(0, 300).map((h, i) => (
                    <li key={i} class={`plan-event plan-${h.kind}`}>
                        <span class="number">{moment(h.at)}</span>
                        <span class="tag"><Icon name={happeningWords[h.kind].icon} /> {happeningWords[h.kind].text}</span>
                        <span><strong><Text>{h.who}</Text></strong> <Text>{h.text}</Text></span>
                    </li>
                ))}
            </ol>
            {list.length > 300 && <p class="small muted">The first 300 of {count(list.length)}.</p>}
        </Card>
    );
}

function Logs({ run }: { run: PlanRun }) {
    return (
        <Card id="logs" title="Logs">
            <p class="small muted">All of them, and each operation (history.jsonl), are in <code><Text>{run.dir}</Text></code></p>
            {run.logs.filter((log) => log.lines.length > 0).map((log) => (
                <Details key={log.name} title={<>The end of <Text>{log.name}</Text></>}>
                    {() => (
                        <>
                            <div class="row"><Copy text={log.lines.join('\n')} what={`log of ${plain(log.name)}`} /></div>
                            <pre class="log" tabIndex={0} role="group" aria-label={`Log of ${plain(log.name)}`}>{log.lines.map((line, i) => <div key={i}><Text>{line || ' '}</Text></div>)}</pre>
                        </>
                    )}
                </Details>
            ))}
        </Card>
    );
}

function Plan({ result }: { result: PlanResult }) {
    return (
        <Card id="plan" title="The plan">
            <p class="small muted"><Text>{result.file}</Text>: {plural(result.nodes.length, 'node')}, {plural(result.clients.length, 'client')}, {plural(result.events.length, 'event')}, {ms(result.duration_ms)} each run</p>
            {result.text !== '' && (
                <Details title="As written">
                    {() => (
                        <>
                            <div class="row"><Copy text={result.text} what="plan" /></div>
                            <pre class="log" tabIndex={0} role="group" aria-label="The plan">{result.text.split('\n').map((line, i) => <div key={i}><Text>{line || ' '}</Text></div>)}</pre>
                        </>
                    )}
                </Details>
            )}
        </Card>
    );
}

/* ---- the page ---- */

function Runs({ result, run }: { result: PlanResult; run: PlanRun | undefined }) {
    return (
        <nav aria-label="Runs">
            <ul>
                {result.runs.map((one) => {
                    const words = runWords(one);
                    return (
                        <li key={one.name}>
                            <a href={routeTo('', undefined, [], { run: one.name })} aria-current={one === run ? 'page' : undefined}>
                                <span class={`tone-${words.kind} plan-run-sign`}><Icon name={words.icon} /></span><Text>{one.name}</Text><span class="visually-hidden">, {words.text}</span>
                            </a>
                        </li>
                    );
                })}
            </ul>
        </nav>
    );
}

function OneRun({ result, run }: { result: PlanResult; run: PlanRun }) {
    const reference = referenceOf(result.runs, run);
    const [cursor, look] = useState<number | null>(null);
    const bands = useMemo(() => bandsOf(run), [run]);
    const stage: Stage = { from: run.from_ms, to: run.to_ms, bands, cursor, look };
    const pair = { run, reference, stage };
    return (
        <>
            <div class="row"><h2><Text>{run.name}</Text></h2><Sign words={runWords(run)} /></div>
            {run.series.length > 0 && <Figures run={run} reference={reference} />}
            <Expectations run={run} reference={reference} />
            {run.series.length > 0 && <OverTime {...pair} />}
            <Faults result={result} run={run} />
            <Events run={run} />
            {run.series.length > 0 && <Clients {...pair} />}
            <Distribution run={run} reference={reference} />
            <Measures {...pair} />
            <Logs run={run} />
        </>
    );
}

export function PlanPage({ result, name }: { result: PlanResult; name?: string | undefined }) {
    const run = chosenRun(result.runs, name);
    return (
        <div class="frame">
            <a class="skip" href="#main" onClick={(event) => {
                event.preventDefault(); // the hash is the address of runs
                document.getElementById('main')?.focus();
            }}>Skip to content</a>
            <header class="side">
                <div class="brand">
                    <a href={routeTo('')} class="brand-link"><Mark /><span>Outfox</span></a>
                    <span class="brand-system"><Text>{result.plan}</Text></span>
                    <ThemeToggle />
                </div>
                <Runs result={result} run={run} />
            </header>
            <div class="body">
                <main id="main" tabIndex={-1}>
                    <h1><span class="title-part">Failure plan</span> <Text>{result.plan}</Text></h1>
                    <Verdict result={result} run={run} />
                    {run && <Guard key={run.name}><OneRun result={result} run={run} /></Guard>}
                    <Plan result={result} />
                </main>
                <footer>
                    <p>Outfox <Text>{result.outfox}</Text> · <Text>{result.file}</Text></p>
                    <Details title="Licences of what this page is made with">
                        {() => <pre class="licences" tabIndex={0}>{document.getElementById('licences')?.textContent}</pre>}
                    </Details>
                </footer>
            </div>
        </div>
    );
}

function Titled({ result }: { result: PlanResult }) {
    const route = useRoute();
    useEffect(() => { document.title = `${plain(result.plan)} · Outfox`; }, [result.plan]);
    return <PlanPage result={result} name={route.query.run} />;
}

/** The page of a file that holds the result of a plan. */
export function PlanApp() {
    return <WithDocument name="plan-result" what="the result of the plan">{(value) => <Titled result={value} />}</WithDocument>;
}
