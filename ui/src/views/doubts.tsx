// SPDX-License-Identifier: Apache-2.0
//
// What could not be relied on, grouped by cause, each with what helps; which services lose the trace
// context; what was not compared, and other notes.
import { byKind, causeWords, isSure, levelWords, lostContext, stopWords } from '../model/doubts';
import { count, plural } from '../model/format';
import type { Level, Reason, Remedy, Scenario, Suspect } from '../model/types';
import { Command, Copy } from '../parts/copy';
import { Details } from '../parts/details';
import { Faultload } from '../parts/faultload';
import { Icon } from '../parts/icons';
import { Empty } from '../parts/state';
import { CallName, Text } from '../parts/text';
import type { ViewProps } from './view';

function RemedyItem({ remedy }: { remedy: Remedy }) {
    return (
        <li class="stack remedy">
            <div class="command">
                <code tabIndex={0}><Text>{remedy.line}</Text></code>
                <Copy text={remedy.line} what="this line" />
            </div>
            <p class="small muted"><Text>{remedy.where}</Text></p>
        </li>
    );
}

function Remedies({ remedies }: { remedies: readonly Remedy[] }) {
    if (remedies.length === 0) return null;
    return (
        <div class="stack">
            <h4>{remedies.length === 1 ? 'What helps: add to outfox.yaml' : 'What helps: add to outfox.yaml, and try in this order'}</h4>
            <ol class="remedies">{remedies.map((remedy, i) => <RemedyItem key={i} remedy={remedy} />)}</ol>
        </div>
    );
}

function ReasonCard({ reason }: { reason: Reason }) {
    return (
        <li class="card">
            <div class="row">
                <h3>{causeWords(reason.cause)}</h3>
                <span class="tag tone-odd">seen {reason.times === 1 ? 'once' : `${count(reason.times)} times`}</span>
            </div>
            <p><Text>{reason.text}</Text></p>
            {reason.calls.length > 0 && (
                <div class="stack">
                    <h4>{reason.calls.length === 1 ? 'The call' : 'The calls'}</h4>
                    <ul class="plain-list">{reason.calls.map((uid, i) => <li key={i}><CallName uid={uid} /></li>)}</ul>
                </div>
            )}
            <Remedies remedies={reason.remedies} />
            {reason.faultload !== 'none' && (
                <Details title="An example: what was run when it was noticed"><Faultload text={reason.faultload} /></Details>
            )}
        </li>
    );
}

function SuspectItem({ suspect }: { suspect: Suspect }) {
    return (
        <li class="stack">
            <p><Text>{suspect.text}</Text></p>
            <Faultload text={suspect.faultload} />
        </li>
    );
}

function Suspects({ scenario }: { scenario: Scenario }) {
    if (scenario.suspect_total === 0) return null;
    const more = scenario.suspect_total - scenario.suspect.length;
    return (
        <Details title={`Everything that was not as it should be (${count(scenario.suspect_total)})`}>
            {() => (
                <div class="stack">
                    {byKind(scenario.suspect).map((group) => (
                        <section key={group.kind} class="stack">
                            <h3>{group.words} <span class="muted">({count(group.suspects.length)})</span></h3>
                            <ul class="suspects">{group.suspects.map((suspect, i) => <SuspectItem key={i} suspect={suspect} />)}</ul>
                        </section>
                    ))}
                    {more > 0 && <p class="muted">{plural(more, 'further one is', 'further ones are')} not listed.</p>}
                </div>
            )}
        </Details>
    );
}

function summaryTitle(scenario: Scenario): string {
    if (scenario.broken !== null) return 'The scenario fails without any fault';
    if (scenario.stopped_by === 'running') return 'The campaign is still under way';
    return scenario.findings.length > 0 ? 'There may be more than was found' : 'Inconclusive: that nothing was found proves little';
}

function Summary({ scenario }: { scenario: Scenario }) {
    if (scenario.broken === null && scenario.inconclusive === null && scenario.stopped_by === null) return null;
    const lasts = scenario.stopped_by === 'running';
    return (
        <section class="card doubt-summary">
            <h2><Icon name="question" /><span>{summaryTitle(scenario)}</span></h2>
            {scenario.broken !== null && (
                <>
                    <p><Text>{scenario.broken}</Text></p>
                    {scenario.broken_detail !== null && <pre class="block" tabIndex={0}><Text lines>{scenario.broken_detail}</Text></pre>}
                    <p class="muted">Nothing can be said about faults while it fails without them. Repair that first: run the scenario by hand, and
                        look at the logs of the services beside the stored campaign.</p>
                </>
            )}
            {scenario.inconclusive !== null && !lasts && <p><Text>{sentence(scenario.inconclusive)}</Text></p>}
            {scenario.stopped_by !== null && !lasts && sentence(stopWords(scenario.stopped_by)) !== sentence(scenario.inconclusive ?? '') && (
                <p>It ended early: <Text>{stopWords(scenario.stopped_by)}</Text>.</p>
            )}
            {scenario.queued > 0 && <p class="muted">{lasts ? plural(scenario.queued, 'faultload is', 'faultloads are') : plural(scenario.queued, 'faultload was', 'faultloads were')} still waiting.</p>}
            {scenario.resume !== null && <div class="stack"><h3>Continue where it ended</h3><Command command={scenario.resume} /></div>}
        </section>
    );
}

/** "Not everything was stable." */
function sentence(text: string): string {
    if (text === '') return '';
    return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

function LevelItem({ level }: { level: Level }) {
    return (
        <li class="stack">
            <p class="row"><strong><Text>{level.service}</Text></strong><span class="tag">{level.level}</span>
                <span class="muted small">{plural(level.calls, 'call')}, told apart {levelWords(level.level)}</span></p>
            {level.note !== null && <p><Text>{level.note}</Text></p>}
        </li>
    );
}

function Context({ levels }: { levels: readonly Level[] }) {
    const lost = lostContext(levels);
    const well = levels.filter((level) => !lost.includes(level));
    if (levels.length === 0) return null;
    return (
        <section class="card">
            <h2>Trace context</h2>
            {lost.length === 0
                ? <p><Icon name="ok" /> Every service that makes calls passes the context on: who calls for whom is known exactly.</p>
                : <ul class="suspects">{lost.map((level) => <LevelItem key={level.service} level={level} />)}</ul>}
            {lost.length > 0 && well.length > 0 && (
                <p class="muted">All is well with <Text>{well.map((level) => level.service).join(', ')}</Text>.</p>
            )}
        </section>
    );
}

function Notes({ title, about, notes }: { title: string; about?: string; notes: readonly string[] }) {
    if (notes.length === 0) return null;
    return (
        <section class="card">
            <h2>{title}</h2>
            {about !== undefined && <p class="muted">{about}</p>}
            <ul class="bullets">{notes.map((note, i) => <li key={i}><Text>{note}</Text></li>)}</ul>
        </section>
    );
}

export function Doubts({ scenario }: ViewProps) {
    return (
        <>
            <header class="stack">
                <h1>Doubts</h1>
                <p class="muted">What could not be relied on, and what to do about it. Nothing is concluded from runs that did not go as planned.</p>
            </header>
            {isSure(scenario) && <Empty title="There are no doubts."><p>Every run went as planned, and every call was told apart.</p></Empty>}
            <Summary scenario={scenario} />
            {(scenario.unsure.length > 0 || scenario.suspect_total > 0) && (
                <section class="stack">
                    <h2>Runs that did not go as planned</h2>
                    {scenario.unsure.length === 0 && <p>No known cause explains them.</p>}
                    <ol class="reasons">{scenario.unsure.map((reason, i) => <ReasonCard key={i} reason={reason} />)}</ol>
                    <Suspects scenario={scenario} />
                </section>
            )}
            <Context levels={scenario.levels} />
            <Notes title="Not compared in answers" notes={scenario.volatile}
                about="These differ between runs without faults, so a difference means nothing." />
            <Notes title="Notes" notes={scenario.notes} />
        </>
    );
}
