// SPDX-License-Identifier: Apache-2.0
import { type Fault, parseFaultload } from '../model/faultload';
import { Icon } from './icons';
import { CallName, Text } from './text';

/** How a call fails: 503, reset, lost-reply:503 ... */
export function Mode({ mode }: { mode: string }) {
    return <span class="mode"><Icon name="bolt" /><Text>{mode}</Text></span>;
}

/** Faults in one line or a few: each a call and how it fails. `short`: without what leads to the call. */
export function Faults({ faults, short = false }: { faults: readonly Fault[]; short?: boolean }) {
    if (faults.length === 0) return <span class="muted">no faults</span>;
    return (
        <ul class="faults">
            {faults.map((fault, i) => (
                <li key={i}><CallName uid={fault.call} short={short} /> <Mode mode={fault.mode} /></li>
            ))}
        </ul>
    );
}

export function Faultload({ text, short = false }: { text: string; short?: boolean }) {
    return <Faults faults={parseFaultload(text)} short={short} />;
}
