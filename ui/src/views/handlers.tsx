// SPDX-License-Identifier: Apache-2.0
//
// What each handler was seen to do: all of them at a glance, and the decision tree of one.
import { useMemo } from 'preact/hooks';

import { count, plural } from '../model/format';
import { answers, callsOf, type Place, places, sayings, traits } from '../model/handlers';
import { elements, parentOf, parseElement, shortName, withoutNumbers } from '../model/names';
import { outline } from '../model/outline';
import { routeTo } from '../model/route';
import { plain } from '../model/text';
import type { Handler, Handlers } from '../model/types';
import { Outcome } from '../parts/outcome';
import { Empty, WithDocument } from '../parts/state';
import { Text } from '../parts/text';
import { HandlerTree } from '../parts/outline';
import type { ViewProps } from './view';

function Answers({ handler }: { handler: Handler }) {
    return <span class="outcomes">{answers(handler).map(([reply]) => <Outcome key={reply} outcome={reply} />)}</span>;
}

/** What it does about failures, in a sentence. */
function InWords({ handler }: { handler: Handler }) {
    const all = useMemo(() => sayings(traits(outline(handler))), [handler]);
    if (all.length === 0) return <p>No failure of its calls was seen.</p>;
    return (
        <p>
            {'When a call fails it '}
            {all.map(({ before, calls, join, after }, k) => (
                <span key={before}>
                    {k > 0 && '; '}{before}
                    {calls.map((call, i) => <span key={call}>{i === 0 ? '' : i + 1 < calls.length ? ', ' : ` ${join} `}<span class="call-name"><Text>{call}</Text></span></span>)}
                    {after}
                </span>
            ))}.
        </p>
    );
}

/** Who calls it: the same handler may be called from several places. */
function CalledBy({ handler }: { handler: Handler }) {
    const by = parentOf(handler.call);
    return <span class="muted small">called by {by === null ? 'the client' : <span class="call-name"><Text>{shortName(by)}</Text></span>}</span>;
}

/** The same handler, called once more: where equal calls were made before. */
function Others({ others, index }: { others: readonly Place[]; index: number }) {
    if (others.length === 0) return null;
    return (
        <span>
            {'Called again: '}
            {others.map(({ handler, at }, i) => (
                <span key={at}>{i > 0 && ', '}<a class="mono" href={routeTo('handlers', index, [at])}><Text>{numbersOf(handler.call)}</Text></a></span>
            ))}
        </span>
    );
}

/** "payment #1": the parts of a name that have a number. */
function numbersOf(uid: string): string {
    return elements(uid).map(parseElement).flatMap(({ service, number }) => number > 0 ? [`${service} #${number}`] : []).join(' > ');
}

function Card({ group, index }: { group: readonly Place[]; index: number }) {
    const [first, ...others] = group;
    if (!first) return null;
    const { handler, at } = first;
    return (
        <li class="card handler-card">
            <h2><a class="mono" href={routeTo('handlers', index, [at])}><Text>{handler.handler}</Text></a></h2>
            <CalledBy handler={handler} />
            <InWords handler={handler} />
            <p class="row small muted">
                <span>Answers <Answers handler={handler} /></span>
                <span>{plural(callsOf(handler).length, 'call')}</span>
                <span>{plural(handler.transcripts, 'behaviour')}, reached {plural(handler.runs, 'time')}</span>
                <Others others={others} index={index} />
            </p>
        </li>
    );
}

function QuietLine({ group, index }: { group: readonly Place[]; index: number }) {
    const [first, ...others] = group;
    if (!first) return null;
    const { handler, at } = first;
    return (
        <li class="row">
            <a class="mono small" href={routeTo('handlers', index, [at])}><Text>{handler.handler}</Text></a>
            <Answers handler={handler} />
            <span class="row small muted">
                <CalledBy handler={handler} />
                <span>reached {plural(group.reduce((sum, place) => sum + place.handler.runs, 0), 'time')}</span>
                <Others others={others} index={index} />
            </span>
        </li>
    );
}

/** All handlers: those that call others are of interest. */
export function HandlerList({ document, index }: { document: Handlers; index: number }) {
    const all = useMemo(() => places(document.handlers), [document]);
    const quiet = (group: readonly Place[]) => group.every(({ handler }) => callsOf(handler).length === 0);
    const silent = all.filter(quiet);
    if (all.length === 0) return <Empty title="No handler has been seen yet." />;
    return (
        <>
            <p class="lead">What Outfox has seen each handler do: which calls it makes, and what it does next, depending on what it sees of them.</p>
            {document.left_out > 0 && <p class="muted">There was no room for what {plural(document.left_out, 'run')} showed.</p>}
            <ul class="handler-cards">{all.filter((group) => !quiet(group)).map((group) => <Card key={group[0]?.at} group={group} index={index} />)}</ul>
            {silent.length > 0 && (
                <section class="card">
                    <h2>Handlers that call nobody</h2>
                    <ul class="name-list">{silent.map((group) => <QuietLine key={group[0]?.at} group={group} index={index} />)}</ul>
                </section>
            )}
        </>
    );
}

export function HandlerPage({ document, at, index }: { document: Handlers; at: number; index: number }) {
    const handler = document.handlers[at];
    const outlined = useMemo(() => handler ? outline(handler) : null, [handler]);
    if (!handler || !outlined) return <Empty title="There is no such handler."><p><a href={routeTo('handlers', index)}>All handlers</a></p></Empty>;
    return (
        <>
            <nav class="row between" aria-label="Handlers">
                <a href={routeTo('handlers', index)}>← All handlers</a>
                <label class="row small"><span class="muted">Handler</span>
                    <select value={String(at)} onChange={(event) => { location.hash = routeTo('handlers', index, [event.currentTarget.value]); }}>
                        {document.handlers.map((h, i) => <option key={i} value={String(i)}>{plain(shortName(h.call))}</option>)}
                    </select>
                </label>
            </nav>
            <section class="card">
                <h2 class="mono"><Text>{handler.handler}</Text></h2>
                <CalledBy handler={handler} />
                {callsOf(handler).length > 0 && <InWords handler={handler} />}
                <ul class="row small muted name-list">
                    <li>reached {plural(handler.runs, 'time')}</li>
                    <li>{plural(handler.transcripts, 'behaviour')}</li>
                    {answers(handler).map(([reply, runs]) => <li key={reply}>answers <Outcome outcome={reply} /> {count(runs)} times</li>)}
                </ul>
                <HandlerTree key={`${index} ${at}`} outline={outlined} index={index} label={`What ${plain(handler.handler)} does`} />
            </section>
        </>
    );
}

export function HandlersView({ scenario, index, route }: ViewProps) {
    const [which] = route.rest;
    const { of } = route.query;
    return (
        <>
            <h1>Handlers of <Text>{scenario.scenario}</Text></h1>
            <WithDocument name={`handlers/${index}`} what="what handlers do">
                {(document) => {
                    const named = of === undefined ? -1 : document.handlers.findIndex((h) => withoutNumbers(h.call) === withoutNumbers(of));
                    const at = which === undefined ? named : /^\d{1,6}$/.test(which) ? Number(which) : document.handlers.length;
                    return at < 0 ? <HandlerList document={document} index={index} /> : <HandlerPage document={document} at={at} index={index} />;
                }}
            </WithDocument>
        </>
    );
}
