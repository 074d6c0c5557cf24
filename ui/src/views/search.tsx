// SPDX-License-Identifier: Apache-2.0
//
// How the scenario was explored: runs by size, what was not run and why.
import { useState } from 'preact/hooks';

import { count, percent, plural } from '../model/format';
import { routeTo } from '../model/route';
import { runsSentence, skipWords, spaceSentence } from '../model/story';
import { table } from '../model/table';
import type { Explanation, Scenario } from '../model/types';
import { Details } from '../parts/details';
import { Faultload } from '../parts/faultload';
import { Empty, WithDocument } from '../parts/state';
import { Text } from '../parts/text';
import type { ViewProps } from './view';

function Sizes({ scenario, index }: { scenario: Scenario; index: number }) {
    const most = Math.max(1, ...scenario.runs_by_size);
    return (
        <section class="card" aria-labelledby="sizes">
            <h2 id="sizes">Runs by number of faults</h2>
            <ul class="bars">
                {scenario.runs_by_size.map((runs, size) => (
                    <li key={size}>
                        <a class="bar-line bar-three" href={routeTo('runs', index, [], { size: String(size) })}>
                            <span class="bar-name">{plural(size, 'fault')}</span>
                            <span class="bar-track"><span class="bar-fill bar-plain" style={{ width: `${100 * runs / most}%` }} /></span>
                            <span class="bar-figure">{plural(runs, 'run')}</span>
                        </a>
                    </li>
                ))}
            </ul>
        </section>
    );
}

function Figures({ scenario }: { scenario: Scenario }) {
    const rows: [string, string][] = [
        ['Ways to fail', scenario.modes.join(', ')],
        ['Service decisions seen', count(scenario.transcripts)],
        ['Runs repeated, to learn what is stable', count(scenario.repeats)],
        ['Skipped runs made as an audit', count(scenario.audited)],
        ['Order', scenario.order],
        ['Seed', String(scenario.seed)],
    ];
    return (
        <section class="card" aria-labelledby="figures">
            <h2 id="figures">The search</h2>
            <p>{spaceSentence(scenario)} {runsSentence(scenario)}</p>
            {scenario.assumptions.length > 0 && <ul class="bullets">{scenario.assumptions.map((text) => <li key={text}><Text>{text}</Text></li>)}</ul>}
            <dl class="facts wide-names">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd><Text>{value}</Text></dd></div>)}</dl>
        </section>
    );
}

const policies = table({
    'downstream dependency': 'downstream', 'point exclusion': 'exclusion', 'point inclusion': 'inclusion',
    'upstream propagation': 'encapsulation', 'service encapsulation': 'encapsulation',
});

/** Which of the reasons an explanation belongs to. */
function reasonOf(explanation: Explanation): string {
    if (explanation.reduction !== null) return explanation.reduction;
    return policies.get(explanation.policy) ?? explanation.policy;
}

function Skipped({ scenario, chosen, choose }: { scenario: Scenario; chosen: string; choose: (name: string) => void }) {
    const entries = Object.entries(scenario.skipped);
    return (
        <section class="card" aria-labelledby="skipped">
            <h2 id="skipped">Not run, and why</h2>
            {entries.length === 0 && <p>{scenario.skipped_known ? 'Nothing: every combination was run.' : 'Not known: only an exact, complete and stable search without delays can tell.'}</p>}
            {scenario.skipped_estimated && <p class="muted small">How exclusion, inclusion and unreachability share their sum was estimated from a sample.</p>}
            <ul class="reasons">
                {entries.map(([name, n]) => {
                    const { title, why } = skipWords(scenario, name);
                    return (
                        <li key={name}>
                            <button type="button" class="reason" aria-pressed={chosen === name} onClick={() => { choose(chosen === name ? '' : name); }}>
                                <span class="reason-name">{title}</span>
                                <span class="reason-figure">{count(n)} <span class="muted">{scenario.skipped_known ? percent(n, scenario.space) : ''}</span></span>
                                <span class="reason-why muted">{why}</span>
                            </button>
                        </li>
                    );
                })}
            </ul>
        </section>
    );
}

const answers = table({
    impossible: 'cannot happen', redundant: 'shows nothing new', reduced: 'assumed', open: 'not tried', unseen: 'not seen', timing: 'depends on timing', run: 'was run',
});

// What follows comes when somebody asks for it.
const SHOWN = 8;

function Example({ explanation, index }: { explanation: Explanation; index: number }) {
    const { faultload, answer, text, run } = explanation;
    return (
        <li>
            <Details title={<span class="example"><Faultload text={faultload} short /><span class="tag">{answers.get(answer) ?? <Text>{answer}</Text>}</span></span>}>
                {() => (
                    <>
                        <p><Text>{`${text.charAt(0).toUpperCase()}${text.slice(1)}.`}</Text></p>
                        <Faultload text={faultload} />
                        {run !== null && <p><a href={routeTo('run', index, [run])}>Run {count(run)}</a> shows it.</p>}
                    </>
                )}
            </Details>
        </li>
    );
}

function Sample({ list, index, chosen }: { list: readonly Explanation[]; index: number; chosen: string }) {
    const [all, setAll] = useState(false);
    const found = list.filter((e) => chosen === '' || reasonOf(e) === chosen);
    const shown = all ? found : found.slice(0, SHOWN);
    if (found.length === 0) return <Empty title={list.length === 0 ? 'Nothing was left out.' : 'No example of this is in the sample.'} />;
    return (
        <>
            <ul class="examples">{shown.map((e) => <Example key={e.faultload} explanation={e} index={index} />)}</ul>
            {shown.length < found.length && (
                <div><button type="button" class="button" onClick={() => { setAll(true); }}>Show {plural(found.length - shown.length, 'more example')}</button></div>
            )}
        </>
    );
}

export function Search({ scenario, index }: ViewProps) {
    const [chosen, setChosen] = useState('');
    return (
        <>
            <h1>Search <span class="title-part">of <Text>{scenario.scenario}</Text></span></h1>
            <div class="columns">
                <Figures scenario={scenario} />
                <Sizes scenario={scenario} index={index} />
            </div>
            <Skipped scenario={scenario} chosen={chosen} choose={setChosen} />
            <section class="card" aria-labelledby="sample">
                <h2 id="sample">Examples of what was not run</h2>
                <p class="muted small">
                    {chosen === '' ? 'A sample of all reasons. Choose a reason above to see examples of it; open one to read why.'
                        : `${skipWords(scenario, chosen).title}. Open one to read why.`}
                </p>
                <WithDocument name={`explanations/${index}`} what="explanations" missing={<p class="muted">This page has no examples. <code>outfox explain</code> tells why a faultload was run or not.</p>}>
                    {(document) => <Sample list={document.explanations} index={index} chosen={chosen} />}
                </WithDocument>
            </section>
        </>
    );
}
