// SPDX-License-Identifier: Apache-2.0
//
// Runs something once more, between the runs of the campaign, and shows what came of it. Its number is in
// the address, so that it is found again after a reload.
import { useEffect } from 'preact/hooks';

import { duration } from '../model/format';
import { type Route, routeTo } from '../model/route';
import { CallTree } from '../parts/calltree';
import { Details } from '../parts/details';
import { useRoute } from '../parts/hooks';
import { Icon } from '../parts/icons';
import { Outcome } from '../parts/outcome';
import { Text } from '../parts/text';
import type { ReplayWish } from './client';
import { can, useLive, type Watching } from './context';
import type { ReplayState } from './store';
import type { Replay } from './types';

function Verdict({ result }: { result: Replay }) {
    const good = result.verdict === 'ok';
    return (
        <div class="stack">
            <p class="row">
                <span class={`verdict tone-${good ? 'ok' : 'bad'}`}><Icon name={good ? 'ok' : 'bad'} />{good ? 'As expected' : 'Not as expected'}</span>
                {result.shows !== null && <span class="tag">{result.shows ? 'the finding shows again' : 'the finding does not show again'}</span>}
            </p>
            {result.why !== '' && <p><strong><Text>{result.why}</Text></strong></p>}
            {result.detail !== null && <p><Text>{result.detail}</Text></p>}
            {result.event !== null && <p><Icon name="warn" /> <Text>{result.event}</Text></p>}
            <p class="row small">The client got <Outcome outcome={result.status} /> after {duration(result.took_ns)}.
                <span class="muted">Without faults: <Outcome outcome={result.without_faults.status} /> after {duration(result.without_faults.took_ns)}.</span></p>
        </div>
    );
}

/** What came of a replay. */
export function ReplayResult({ result }: { result: Replay }) {
    return (
        <div class="stack">
            <Verdict result={result} />
            {result.remarks.length > 0 && (
                <ul class="bullets">
                    {result.remarks.map((remark, i) => <li key={i}><strong><Text>{remark.oracle}</Text></strong>: <Text>{remark.why}</Text></li>)}
                </ul>
            )}
            {result.trace
                ? <CallTree now={result.trace} was={result.without_faults.trace} title="In this replay" />
                : <p class="muted">No call was made.</p>}
            {result.body !== '' && <Details title="What the client received"><pre class="block" tabIndex={0}><Text lines>{result.body}</Text></pre></Details>}
        </div>
    );
}

/** How far a replay is, and then what came of it. */
export function ReplayProgress({ state }: { state: ReplayState }) {
    switch (state.state) {
    case 'waiting': return <p class="replay-wait" role="status"><span class="spinner" aria-hidden="true" />The replay waits for its turn.</p>;
    case 'running': return <p class="replay-wait" role="status"><span class="spinner" aria-hidden="true" />The replay is under way: once without faults, once with them.</p>;
    case 'failed': return <div class="problem" role="alert"><p><Icon name="warn" /><strong>The replay could not be made.</strong></p><p><Text>{state.error}</Text></p></div>;
    case 'done': return <ReplayResult result={state.result} />;
    }
}

/** The replay whose number is in the address. */
function useReplay({ live, now }: Watching, route: Route): ReplayState | null {
    const id = route.query.replay ?? '';
    useEffect(() => { if (id !== '') live.recall(id); }, [live, id]);
    return now.replays.get(id) ?? null;
}

function Shown({ watching }: { watching: Watching }) {
    const state = useReplay(watching, useRoute());
    return state && <ReplayProgress state={state} />;
}

function Button({ watching, wish, label, main }: { watching: Watching; wish: ReplayWish; label: string; main: boolean }) {
    const { live, now } = watching;
    const route = useRoute();
    const state = useReplay(watching, route)?.state;
    const busy = now.sending.has('replay') || state === 'waiting' || state === 'running';
    const start = async () => {
        const made = await live.replay(wish);
        if (made !== null) location.replace(routeTo(route.view, route.scenario, route.rest, { ...route.query, replay: made }));
    };
    return (
        <div class="row">
            <button type="button" class={main ? 'button main' : 'button'} disabled={busy || !can(now, 'replay')} onClick={() => { void start(); }}>
                <Icon name="play" />{label}
            </button>
            {!can(now, 'replay') && now.link === 'open' && <span class="muted small">Not possible while the campaign is in this state.</span>}
        </div>
    );
}

/** What came of the replay that was asked for here. */
export function ReplayShown() {
    const watching = useLive();
    return watching && <Shown watching={watching} />;
}

/** A button that replays; nothing in a report. ReplayShown shows what came of it. */
export function ReplayButton({ wish, label = 'Replay', main = false }: { wish: ReplayWish; label?: string; main?: boolean }) {
    const watching = useLive();
    return watching && <Button watching={watching} wish={wish} label={label} main={main} />;
}
