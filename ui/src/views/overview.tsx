// SPDX-License-Identifier: Apache-2.0
//
// What came of it, at a glance: the verdict, what is wrong, what was not tried.
import type { ComponentChildren } from 'preact';

import { rate } from '../model/campaign';
import { compact, count, duration, plural } from '../model/format';
import { routeTo } from '../model/route';
import { headline, neverBegan, runsSentence, spaceSentence, splitCommand } from '../model/story';
import type { Report, Scenario } from '../model/types';
import { verdictWords } from '../model/verdict';
import { allWrong, countWrong } from '../model/wrong';
import { CallTree } from '../parts/calltree';
import { Command } from '../parts/copy';
import { Details } from '../parts/details';
import { Icon } from '../parts/icons';
import { LogEnd } from '../parts/log';
import { Outcome, Verdict } from '../parts/outcome';
import { type Column, Table } from '../parts/table';
import { CallName, Text } from '../parts/text';
import { WrongCard } from '../parts/wrong';
import type { ViewProps } from './view';

/** failed: the system could not even be started, so there is nothing to go on with. */
function Hero({ scenario, failed }: { scenario: Scenario; failed: boolean }) {
    const { kind, icon } = verdictWords(scenario.verdict);
    const space = spaceSentence(scenario), runs = runsSentence(scenario);
    const assumptions = runs !== '' ? scenario.assumptions : [];
    return (
        <section class={`card hero tone-${kind}`} aria-labelledby="verdict">
            <div class="hero-head">
                <span class="hero-sign"><Icon name={icon} /></span>
                <div class="stack">
                    <h2 id="verdict">{headline(scenario)}</h2>
                    {space !== '' && <p>{space}</p>}
                    {runs !== '' && <p>{runs}</p>}
                    {scenario.broken !== null && <p>Nothing can be learned about failures from a scenario that fails on its own.</p>}
                    {assumptions.length > 0 && (
                        <ul class="plain-list">{assumptions.map((text) => <li key={text}><Text>{text}</Text></li>)}</ul>
                    )}
                    {scenario.inconclusive !== null && scenario.stopped_by === null && <p><strong>Inconclusive:</strong> <Text>{scenario.inconclusive}</Text></p>}
                </div>
            </div>
            {scenario.resume !== null && scenario.stopped_by !== null && !failed && (
                <div class="stack"><p class="small muted">To go on where it ended:</p><Command command={scenario.resume} label="Command to go on" /></div>
            )}
        </section>
    );
}

function Tile({ figure, label, href, tone = '' }: { figure: ComponentChildren; label: string; href?: string | undefined; tone?: string }) {
    const inner = <><span class="tile-figure">{figure}</span><span class="tile-label">{label}</span></>;
    return <li class={`tile ${tone}`}>{href === undefined ? <div>{inner}</div> : <a href={href}>{inner}</a>}</li>;
}

function Tiles({ scenario, index, hard }: { scenario: Scenario; index: number; hard: number | null }) {
    const { findings, warnings } = countWrong(scenario);
    const space = compact(scenario.space);
    return (
        <ul class="tiles" aria-label="Figures">
            <Tile figure={count(findings)} label={findings === 1 ? 'finding' : 'findings'} tone={findings > 0 ? 'tone-bad' : ''} />
            <Tile figure={count(warnings)} label={warnings === 1 ? 'warning' : 'warnings'} tone={warnings > 0 ? 'tone-odd' : ''} />
            {hard !== null && <Tile figure={count(hard)} label={hard === 1 ? 'single point of failure' : 'single points of failure'} href={routeTo('matrix', index)} />}
            <Tile figure={count(scenario.runs)} label={scenario.runs === 1 ? 'run' : 'runs'} href={routeTo('runs', index)} />
            <Tile figure={space.figure} label={`${space.unit}${scenario.space === 1 ? 'combination of faults' : 'combinations of faults'}`} href={routeTo('search', index)} />
            {scenario.took_ns > 0 && <Tile figure={duration(scenario.took_ns)} label={rate(scenario.runs_per_second)} />}
        </ul>
    );
}

// What follows is folded: a long list would hide what comes behind it.
const WARNINGS_SHOWN = 5;
const FINDINGS_SHOWN = 20;

function WrongList({ report, indexes }: { report: Report; indexes: readonly number[] }) {
    const several = indexes.length > 1;
    const listed = indexes.flatMap((index) => {
        const scenario = report.scenarios[index];
        return scenario ? allWrong(scenario).map((wrong) => ({ wrong, index, name: several ? scenario.scenario : undefined })) : [];
    });
    const findings = listed.filter(({ wrong }) => !wrong.warning), warnings = listed.filter(({ wrong }) => wrong.warning);
    const more = indexes.reduce((sum, index) => sum + (report.scenarios[index]?.more_findings ?? 0), 0);
    const cards = (list: typeof listed) => list.map(({ wrong, index, name }) => (
        <WrongCard key={`${index}/${wrong.id}`} wrong={wrong} index={index} scenario={name} />
    ));
    return (
        <>
            {findings.length > 0 && (
                <section class="stack" aria-labelledby="findings">
                    <h2 id="findings">Findings</h2>
                    <ul class="wrongs">{cards(findings.slice(0, FINDINGS_SHOWN))}</ul>
                    {findings.length > FINDINGS_SHOWN && (
                        <Details title={plural(findings.length - FINDINGS_SHOWN, 'more finding')}>
                            {() => <ul class="wrongs">{cards(findings.slice(FINDINGS_SHOWN))}</ul>}
                        </Details>
                    )}
                    {more > 0 && <p class="muted">{plural(more, 'further finding')} counted, but not listed.</p>}
                </section>
            )}
            {warnings.length > 0 && (
                <section class="stack" aria-labelledby="warnings">
                    <h2 id="warnings">Warnings</h2>
                    <p class="muted small">What oracles noticed. A warning does not fail the campaign.</p>
                    <ul class="wrongs">{cards(warnings.slice(0, WARNINGS_SHOWN))}</ul>
                    {warnings.length > WARNINGS_SHOWN && (
                        <Details title={plural(warnings.length - WARNINGS_SHOWN, 'more warning')}>
                            {() => <ul class="wrongs">{cards(warnings.slice(WARNINGS_SHOWN))}</ul>}
                        </Details>
                    )}
                </section>
            )}
        </>
    );
}

function Broken({ report, scenario, index }: { report: Report; scenario: Scenario; index: number }) {
    if (scenario.broken === null) return null;
    return (
        <>
            <section class="card" aria-labelledby="broken">
                <h2 id="broken">What happened</h2>
                <dl class="facts roomy">
                    <div><dt>Fails</dt><dd><Text>{scenario.broken}</Text></dd></div>
                    {scenario.broken_detail !== null && <div><dt>Saw</dt><dd><Text>{scenario.broken_detail}</Text></dd></div>}
                </dl>
                <p>
                    No fault was injected: Outfox breaks only what works. Make the scenario pass first, or correct what{' '}
                    <code><Text>{report.file}</Text></code> expects of it. The calls of the run that failed:
                </p>
                {scenario.without_faults ? <CallTree now={scenario.without_faults} was={null} title="The run without faults" /> : <p class="muted">No call was seen.</p>}
                <div class="again"><h2>See it again</h2><Command command={scenario.replay} label="Replay command" /></div>
                <p><a href={routeTo('runs', index)}>All runs</a></p>
            </section>
            <LogEnd log={scenario.broken_log} why="Its last lines in the run that failed: this service went wrong first." />
        </>
    );
}

function Client({ scenario, index }: { scenario: Scenario; index: number }) {
    const most = Math.max(1, ...scenario.outcomes.map((outcome) => outcome.runs));
    if (scenario.outcomes.length === 0) return null;
    return (
        <section class="card" aria-labelledby="client">
            <h2 id="client">What the client saw</h2>
            <ul class="bars">
                {scenario.outcomes.map(({ status, expected, runs }, i) => (
                    <li key={i}>
                        <a class="bar-line" href={routeTo('runs', index, [], { status, pass: expected ? '1' : '0' })}>
                            <span class="bar-name"><Outcome outcome={status} /></span>
                            <span class="bar-track"><span class={expected ? 'bar-fill' : 'bar-fill bar-bad'} style={{ width: `${100 * runs / most}%` }} /></span>
                            <span class="bar-figure">{plural(runs, 'run')}</span>
                            <span class={expected ? 'bar-note muted' : 'bar-note wrong-word'}>{expected ? 'as expected' : 'not as expected'}</span>
                        </a>
                    </li>
                ))}
            </ul>
        </section>
    );
}

/** What a command asks for, and what is wrong below that. */
function Requests({ scenario, index }: { scenario: Scenario; index: number }) {
    const { requests } = scenario;
    if (requests.length < 2) return null;
    const columns: Column<typeof requests[number]>[] = [
        { title: 'Request', cell: ({ number, call }) => <>{number}. <CallName uid={call} short /></> },
        { title: 'Got', cell: ({ seen }) => <Outcome outcome={seen} /> },
        { title: 'Calls below', number: true, cell: ({ calls }) => count(calls) },
        { title: 'Findings', cell: ({ findings }) => (
            <span class="row">
                {findings.map((id) => id.slice(id.lastIndexOf('/') + 1)).map((id) => <a key={id} href={routeTo('finding', index, [id])}>{id}</a>)}
            </span>
        ) },
    ];
    return (
        <section class="card" aria-labelledby="requests">
            <h2 id="requests">Requests of the command</h2>
            <p class="muted small">What it asks for without faults, and what is wrong when calls below that fail.</p>
            <Table caption="Requests of the command" columns={columns} rows={requests} />
        </section>
    );
}

function NotTried({ scenario }: { scenario: Scenario }) {
    if (scenario.not_tried === null) return null;
    const { text, command } = splitCommand(scenario.not_tried);
    return (
        <section class="card" aria-labelledby="not-tried">
            <h2 id="not-tried">Not tried yet</h2>
            <p><Text>{`${text.charAt(0).toUpperCase()}${text.slice(1)}.`}</Text></p>
            {command !== null && <Command command={command} label="Command to try it" />}
        </section>
    );
}

function Notes({ scenario, index }: { scenario: Scenario; index: number }) {
    const doubts = scenario.unsure.length;
    if (scenario.notes.length === 0 && doubts === 0) return null;
    return (
        <section class="card" aria-labelledby="notes">
            <h2 id="notes">Worth knowing</h2>
            {doubts > 0 && (
                <p>
                    <Icon name="question" /> Some runs did not go as planned, for {plural(doubts, 'reason')}, so not everything was tested.{' '}
                    <a href={routeTo('doubts', index)}>See what helps</a>
                </p>
            )}
            {scenario.notes.length > 0 && <ul class="bullets">{scenario.notes.map((note, i) => <li key={i}><Text>{note}</Text></li>)}</ul>}
        </section>
    );
}

function Hard({ calls, index }: { calls: readonly { call: string }[]; index: number }) {
    if (calls.length === 0) return null;
    return (
        <section class="card" aria-labelledby="hard">
            <h2 id="hard">Single points of failure</h2>
            <p class="muted small">If one of these fails, the request fails.</p>
            <ul class="bullets">
                {calls.slice(0, 8).map(({ call }) => <li key={call}><CallName uid={call} /></li>)}
            </ul>
            <p><a href={routeTo('matrix', index)}>All dependencies{calls.length > 8 ? ` (${count(calls.length - 8)} more)` : ''}</a></p>
        </section>
    );
}

function One({ report, scenario, index }: { report: Report; scenario: Scenario; index: number }) {
    const hard = scenario.dependencies?.filter(({ kind }) => kind === 'hard') ?? null;
    return (
        <>
            <Hero scenario={scenario} failed={report.error !== null && neverBegan(scenario)} />
            {scenario.broken === null && !neverBegan(scenario) && <Tiles scenario={scenario} index={index} hard={hard ? hard.length : null} />}
            <Broken report={report} scenario={scenario} index={index} />
            <Requests scenario={scenario} index={index} />
            <WrongList report={report} indexes={[index]} />
            <div class="columns">
                <div class="column"><Client scenario={scenario} index={index} /><NotTried scenario={scenario} /></div>
                <div class="column"><Hard calls={hard ?? []} index={index} /><Notes scenario={scenario} index={index} /></div>
            </div>
        </>
    );
}

function Many({ report }: { report: Report }) {
    const rows = report.scenarios.map((scenario, index) => ({ scenario, index, ...countWrong(scenario) }));
    const columns: Column<typeof rows[number]>[] = [
        { title: 'Scenario', value: (row) => row.scenario.scenario, cell: ({ scenario, index }) => <a href={routeTo('scenario', index)}><Text>{scenario.scenario}</Text></a> },
        { title: 'Verdict', value: (row) => row.scenario.verdict, cell: ({ scenario }) => <Verdict verdict={scenario.verdict} /> },
        { title: 'Findings', number: true, value: (row) => row.findings, cell: (row) => count(row.findings) },
        { title: 'Warnings', number: true, value: (row) => row.warnings, cell: (row) => count(row.warnings) },
        { title: 'Runs', number: true, value: (row) => row.scenario.runs, cell: ({ scenario, index }) => <a href={routeTo('runs', index)}>{count(scenario.runs)}</a> },
        { title: 'Combinations', number: true, value: (row) => row.scenario.space, cell: ({ scenario }) => count(scenario.space) },
        { title: 'Took', number: true, value: (row) => row.scenario.took_ns, cell: ({ scenario }) => scenario.took_ns > 0 ? duration(scenario.took_ns) : '–' },
    ];
    return (
        <>
            <section class="card" aria-labelledby="scenarios">
                <h2 id="scenarios">{plural(rows.length, 'scenario')} <Verdict verdict={report.verdict} /></h2>
                <Table caption="Scenarios" columns={columns} rows={rows} />
            </section>
            <WrongList report={report} indexes={[...report.scenarios.keys()]} />
        </>
    );
}

function Failed({ error }: { error: string | null }) {
    if (error === null) return null;
    return <div class="problem"><p><Icon name="warn" /><strong>The campaign could not go on.</strong></p><p><Text>{error}</Text></p></div>;
}

export function Overview({ report }: ViewProps) {
    const [first] = report.scenarios;
    return (
        <>
            <h1><Text>{report.system}</Text>{report.scenarios.length === 1 && first && <span class="title-part"> / <Text>{first.scenario}</Text></span>}</h1>
            <Failed error={report.error} />
            {report.scenarios.length === 1 && first ? <One report={report} scenario={first} index={0} /> : <Many report={report} />}
        </>
    );
}

/** One of several scenarios. */
export function ScenarioOverview({ report, scenario, index }: ViewProps) {
    return (
        <>
            <h1><Text>{report.system}</Text><span class="title-part"> / <Text>{scenario.scenario}</Text></span></h1>
            <One report={report} scenario={scenario} index={index} />
        </>
    );
}
