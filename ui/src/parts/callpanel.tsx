// SPDX-License-Identifier: Apache-2.0
//
// All that is known of one call.
import { useEffect, useRef } from 'preact/hooks';

import { duration, either } from '../model/format';
import { callsBelow, type Graph, type GraphCall } from '../model/graph';
import { statusWords } from '../model/matrix';
import { lastElement, shortName, withoutNumbers } from '../model/names';
import { routeTo } from '../model/route';
import { plain } from '../model/text';
import type { Pair } from '../model/types';
import { Command } from './copy';
import { Failures, KindTag, RunLinks } from './failures';
import { Icon } from './icons';
import { Text } from './text';

interface Props {
    readonly graph: Graph;
    readonly call: GraphCall;
    readonly pairs: readonly Pair[];
    readonly index: number;
    readonly onClose: () => void;
}

function CallLink({ uid, index }: { uid: string; index: number }) {
    return <a class="mono small" href={routeTo('calls', index, [], { call: uid })}><Text>{lastElement(uid)}</Text></a>;
}

function Facts({ graph, call, index }: { graph: Graph; call: GraphCall; index: number }) {
    const { dependency: d } = call;
    const below = callsBelow(graph, call.uid);
    return (
        <dl class="call-facts">
            <dt>Called by</dt>
            <dd>{call.parent === null ? 'the client' : <CallLink uid={call.parent} index={index} />}</dd>
            {d && d.causes.length > 0 && (
                <>
                    <dt>Only after</dt>
                    <dd><Text>{either(d.causes.map((cause) => `${cause.map(shortName).join(' and ')} ${cause.length > 1 ? 'fail' : 'fails'}`))}</Text></dd>
                </>
            )}
            <dt>Takes</dt>
            <dd>{call.took === null ? 'not made without faults' : `${duration(call.took)} without faults (median)`}</dd>
            <dt>Its handler calls</dt>
            <dd>
                {below.length === 0 && 'nothing'}
                {below.map((other, i) => <span key={other.uid}>{i > 0 && ', '}<CallLink uid={other.uid} index={index} /></span>)}
            </dd>
            <dt>More</dt>
            <dd class="row">
                <a href={routeTo('runs', index, [], { call: call.uid })}>Runs in which it failed</a>
                <a href={routeTo('handlers', index, [], { of: call.uid })}>What its handler does</a>
                {call.caller !== null && <a href={routeTo('try', index, [], { call: call.uid })}>Make it fail</a>}
            </dd>
        </dl>
    );
}

function PairItem({ pair, uid, index }: { pair: Pair; uid: string; index: number }) {
    const other = pair.calls.find((call) => withoutNumbers(call) !== uid) ?? uid;
    return (
        <li class="failure">
            <p>If <CallLink uid={withoutNumbers(other)} index={index} /> fails, too: {statusWords(pair.status)}. <RunLinks runs={[pair.run]} index={index} /></p>
            <details>
                <summary>Command</summary>
                <Command command={pair.replay} label="Command that shows it again" />
            </details>
        </li>
    );
}

export function CallPanel({ graph, call, pairs, index, onClose }: Props) {
    const title = useRef<HTMLHeadingElement>(null);
    useEffect(() => { title.current?.focus({ preventScroll: false }); }, [call.uid]);
    const { dependency } = call;
    const own = pairs.filter((pair) => pair.calls.some((uid) => withoutNumbers(uid) === call.uid));
    return (
        <section class="card call-panel" aria-label={`About ${plain(lastElement(call.uid))}`}
            onKeyDown={(event) => { if (event.key === 'Escape') onClose(); }}>
            <div class="panel-head">
                <h2 ref={title} tabIndex={-1} class="mono"><Text>{lastElement(call.uid)}</Text></h2>
                <button type="button" class="button quiet" onClick={onClose} aria-label="Close"><Icon name="bad" /></button>
            </div>
            <p class="row">
                {call.kind === 'request' ? 'This is the request of the client: it is not made to fail.' : <KindTag kind={call.kind} />}
                {dependency && <Text>{dependency.text}</Text>}
            </p>
            <Facts graph={graph} call={call} index={index} />
            {dependency && <><h3>When it fails</h3><Failures dependency={dependency} index={index} /></>}
            {own.length > 0 && (
                <>
                    <h3>Survived alone, but not together</h3>
                    <ul class="failures">{own.map((pair) => <PairItem key={pair.faultload} pair={pair} uid={call.uid} index={index} />)}</ul>
                </>
            )}
        </section>
    );
}
