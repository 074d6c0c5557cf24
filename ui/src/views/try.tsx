// SPDX-License-Identifier: Apache-2.0
//
// A faultload of one's own: choose calls and how each fails, see it as text, run it. What is chosen is in the
// address, so that other views can lead here with a call, and the page can be sent to somebody.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { useLive } from '../live/context';
import { ReplayButton, ReplayShown } from '../live/replay';
import { replayCommand } from '../model/command';
import { DOWN, type Fault, modeWords, parseFaultload, printFaultload, wholeWords } from '../model/faultload';
import { plural } from '../model/format';
import { callGraph } from '../model/graph';
import { lastElement } from '../model/names';
import { choices, choose, type Choice, isDown, modeOf, modesFor, raise, services } from '../model/pick';
import { routeTo } from '../model/route';
import { plain } from '../model/text';
import type { Explanation, Scenario } from '../model/types';
import { Command } from '../parts/copy';
import { CallGraph } from '../parts/graph';
import { useDocument } from '../parts/hooks';
import { Icon } from '../parts/icons';
import { Empty } from '../parts/state';
import { Text } from '../parts/text';
import type { ViewProps } from './view';

const ASK_MS = 400;

function CallChoice({ choice, mode, modes, all, set }: {
    choice: Choice;
    mode: string;
    modes: readonly string[];
    all: readonly string[];
    set: (mode: string) => void;
}) {
    const { tried, others } = modesFor(choice.uid, modes, all);
    const option = (value: string) => <option key={value} value={value}>{plain(modeWords(value))}</option>;
    return (
        <li class={mode === '' ? 'pick' : 'pick picked'} style={{ '--depth': Math.min(choice.depth, 8) }}>
            <span class="pick-name"><Text>{choice.name}</Text>{choice.conditional && <span class="tag">only after a fault</span>}</span>
            {choice.own
                ? <span class="muted small">the scenario’s own request</span>
                : (
                    <select value={mode} aria-label={`How ${plain(choice.uid)} fails`} onChange={(event) => { set(event.currentTarget.value); }}>
                        <option value="">does not fail</option>
                        <optgroup label="Tried in this campaign">{tried.map(option)}</optgroup>
                        {others.length > 0 && <optgroup label="Others">{others.map(option)}</optgroup>}
                        {mode !== '' && !tried.includes(mode) && !others.includes(mode) && option(mode)}
                    </select>
                )}
        </li>
    );
}

function Services({ names, faults, set }: { names: readonly string[]; faults: readonly Fault[]; set: (faults: Fault[]) => void }) {
    if (names.length === 0) return null;
    return (
        <fieldset class="card">
            <legend class="visually-hidden">Services that are down</legend>
            <h2 aria-hidden="true">Services that are down</h2>
            <p class="muted">Every call to such a service is refused, except those that fail in a way of their own.</p>
            <div class="row">
                {names.map((name) => (
                    <label key={name} class="check">
                        <input type="checkbox" checked={isDown(faults, name)}
                            onChange={(event) => { set(event.currentTarget.checked ? choose(faults, name, DOWN) : raise(faults, name)); }} />
                        <Text>{name}</Text>
                    </label>
                ))}
            </div>
        </fieldset>
    );
}

/** What the search says about it: that it was run, or why not. */
function useExplanation(scenario: number, text: string): Explanation | null {
    const watching = useLive();
    const live = watching?.live;
    const [known, setKnown] = useState<{ text: string; answer: Explanation } | null>(null);
    useEffect(() => {
        if (!live || text === 'none') return undefined;
        let over = false;
        const timer = setTimeout(() => {
            live.client.explain(scenario, text).then(
                (answer) => { if (!over && answer) setKnown({ text, answer }); },
                () => undefined, // what cannot be explained can be run all the same
            );
        }, ASK_MS);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [live, scenario, text]);
    return known?.text === text ? known.answer : null;
}

function Chosen({ faults, set }: { faults: readonly Fault[]; set: (faults: Fault[]) => void }) {
    if (faults.length === 0) return <p class="muted">Nothing fails yet. Choose how at least one call fails.</p>;
    const without = (fault: Fault) => faults.filter((other) => other !== fault);
    return (
        <ul class="chosen">
            {faults.map((fault, i) => (
                <li key={i}>
                    <Icon name="bolt" />
                    <span><strong><Text>{lastElement(fault.call)}</Text></strong> <Text>{wholeWords(fault.mode) ?? modeWords(fault.mode)}</Text></span>
                    <button type="button" class="button quiet" aria-label={`Leave out ${plain(lastElement(fault.call))}`}
                        onClick={() => { set(without(fault)); }}><Icon name="bad" /></button>
                </li>
            ))}
        </ul>
    );
}

/** The calls as a picture to click on; the list below says the same, and has all ways to fail. */
function ChoiceGraph({ scenario, faults, toggle }: { scenario: Scenario; faults: readonly Fault[]; toggle: (uid: string) => void }) {
    const loaded = useDocument('dependencies');
    const dependencies = loaded.state === 'ready' ? loaded.value.scenarios.find((s) => s.scenario === scenario.scenario) : undefined;
    const graph = useMemo(() => callGraph(dependencies, scenario.calls), [dependencies, scenario.calls]);
    const picked = new Set(faults.map((fault) => fault.call));
    const own = new Set(scenario.calls.filter((call) => call.caller === null).map((call) => call.call));
    return (
        <section class="card graph-card" aria-label="Calls to click on">
            <CallGraph graph={graph} selected={null} picked={picked} onSelect={(uid) => { if (!own.has(uid)) toggle(uid); }} />
        </section>
    );
}

/** Below all that was chosen, so it comes into sight by itself. */
function Result() {
    const section = useRef<HTMLElement>(null);
    useEffect(() => { section.current?.scrollIntoView({ block: 'nearest' }); }, []);
    return <section ref={section} class="card try-result" aria-label="What came of it"><h2>What came of it</h2><ReplayShown /></section>;
}

export function Try({ scenario, index, route }: ViewProps) {
    const live = useLive() !== null;
    const loaded = useDocument('modes');
    const [filter, setFilter] = useState('');
    const firstMode = (uid: string) => modesFor(uid, scenario.modes, []).tried[0] ?? 'reset';
    const wish = route.query.call;
    const faults = wish === undefined ? parseFaultload(route.query.f ?? '') : choose([], wish, firstMode(wish));
    const text = printFaultload(faults);
    const explanation = useExplanation(index, text);
    const all = loaded.state === 'ready' ? loaded.value.sets.flatMap((s) => s.modes) : [];
    const set = (to: readonly Fault[]) => {
        location.replace(routeTo('try', index, [], { f: to.length ? printFaultload(to) : '' }));
    };
    const list = choices(scenario.calls);
    const wanted = filter.trim().toLowerCase();
    const shown = wanted === '' ? list : list.filter((choice) => choice.uid.toLowerCase().includes(wanted));
    if (list.length === 0) return <><h1>Try faults</h1><Empty title="No call has been seen yet." /></>;
    return (
        <>
            <header class="stack">
                <h1>Try faults of your own</h1>
                <p class="muted">Choose calls and how each fails, then run it{live ? '' : ' with the command'} and see what comes of it.</p>
            </header>
            <ChoiceGraph scenario={scenario} faults={faults} toggle={(uid) => { set(choose(faults, uid, modeOf(faults, uid) === '' ? firstMode(uid) : '')); }} />
            <div class="try">
                <div class="stack try-choices">
                    <section class="card">
                        <div class="row try-head">
                            <h2>Calls</h2>
                            {list.length > 8 && <input type="search" placeholder="Find a call" aria-label="Find a call" value={filter}
                                onInput={(event) => { setFilter(event.currentTarget.value); }} />}
                        </div>
                        <ul class="picks">
                            {shown.map((choice) => (
                                <CallChoice key={choice.uid} choice={choice} mode={modeOf(faults, choice.uid)} modes={scenario.modes} all={all}
                                    set={(mode) => { set(choose(faults, choice.uid, mode)); }} />
                            ))}
                        </ul>
                        {shown.length === 0 && <p class="muted">No call has this in its name.</p>}
                    </section>
                    <Services names={services(scenario.calls)} faults={faults} set={set} />
                </div>
                <section class="card try-chosen" aria-label="What fails">
                    <div class="row try-head">
                        <h2>{faults.length === 0 ? 'What fails' : plural(faults.length, 'fault')}</h2>
                        {faults.length > 0 && <button type="button" class="button quiet" onClick={() => { set([]); }}>Clear</button>}
                    </div>
                    <Chosen faults={faults} set={set} />
                    {faults.length > 0 && (
                        <>
                            <div class="stack"><h3>As text</h3><Command command={text} label="Faultload" /></div>
                            <div class="stack"><h3>{live ? 'Or in a terminal' : 'Run it'}</h3>
                                <Command command={replayCommand(scenario, text)} /></div>
                            {explanation && <p class="explained"><Icon name="info" /> What the search says: <Text>{explanation.text}</Text>
                                {explanation.run !== null && <> <a href={routeTo('run', index, [explanation.run])}>Look at the run</a></>}</p>}
                        </>
                    )}
                    {faults.length > 0 && <ReplayButton main wish={{ scenario: index, faultload: text }} label="Run these faults" />}
                </section>
                {route.query.replay !== undefined && <Result key={route.query.replay} />}
            </div>
        </>
    );
}
