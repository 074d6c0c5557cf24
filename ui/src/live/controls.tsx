// SPDX-License-Identifier: Apache-2.0
//
// The buttons of the bar: those that make sense now. A stop is asked about once more, in place.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Icon } from '../parts/icons';
import { can, type Watching } from './context';

function StopQuestion({ stop, cancel }: { stop: () => void; cancel: () => void }) {
    const no = useRef<HTMLButtonElement>(null);
    useEffect(() => { no.current?.focus(); }, []);
    return (
        <div class="live-question" role="group" aria-labelledby="live-stop-question"
            onKeyDown={(event) => { if (event.key === 'Escape') cancel(); }}>
            <p id="live-stop-question">End the campaign now? What is known so far is reported, and <code>outfox run --resume</code> can continue it.</p>
            <span class="row">
                <button type="button" class="button danger" onClick={stop}>End it</button>
                <button ref={no} type="button" class="button" onClick={cancel}>Go on</button>
            </span>
        </div>
    );
}

export function Controls({ watching, children }: { watching: Watching; children: ComponentChildren }) {
    const { live, now } = watching;
    const [asking, setAsking] = useState(false);
    const button = useRef<HTMLButtonElement>(null);
    const mayStop = can(now, 'stop');
    const cancel = () => {
        setAsking(false);
        button.current?.focus();
    };
    return (
        <>
            <div class="live-controls">
                {can(now, 'pause') && (
                    <button type="button" class="button" disabled={now.sending.has('pause')} onClick={() => { void live.pause(); }}>
                        <Icon name="pause" />Pause
                    </button>
                )}
                {can(now, 'resume') && (
                    <button type="button" class="button main" disabled={now.sending.has('resume')} onClick={() => { void live.resume(); }}>
                        <Icon name="play" />Resume
                    </button>
                )}
                {mayStop && (
                    <button ref={button} type="button" class="button" aria-expanded={asking} disabled={now.sending.has('stop')}
                        onClick={() => { setAsking(!asking); }}><Icon name="stop" />Stop</button>
                )}
                {children}
            </div>
            {asking && mayStop && <StopQuestion cancel={cancel} stop={() => {
                setAsking(false);
                void live.stop();
            }} />}
        </>
    );
}
