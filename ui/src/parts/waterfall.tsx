// SPDX-License-Identifier: Apache-2.0
//
// When each call began and ended, in this run and in the one without faults, on one scale.
import { duration } from '../model/format';
import { tone } from '../model/outcome';
import { ticks } from '../model/scale';
import { compare, type Row, span } from '../model/tree';
import type { Call } from '../model/types';
import { MarkSign, TreeLine } from './calltree';
import { Outcome } from './outcome';

function Bar({ call, whole, quiet }: { call: Call | null; whole: number; quiet?: boolean }) {
    if (!call) return <span class="fall-none">not made</span>;
    const start = 100 * call.start_ns / whole, length = 100 * (call.end_ns - call.start_ns) / whole;
    const kind = call.injected !== undefined ? 'fault' : tone(call.seen);
    return (
        <span class={`fall-bar fall-${kind}${quiet ? ' fall-quiet' : ''}`}>
            <span class="fall-track"><span class="fall-block" style={{ insetInlineStart: `${start}%`, width: `max(2px, ${length}%)` }} /></span>
            <span class="fall-label">{duration(call.end_ns - call.start_ns)}</span>
        </span>
    );
}

function Axis({ whole }: { whole: number }) {
    return (
        <span class="fall-axis" aria-hidden="true">
            {ticks(whole).map((at) => (
                <span key={at} class="fall-tick" style={{ insetInlineStart: `${100 * at / whole}%` }}>{at === 0 ? '0' : duration(at)}</span>
            ))}
        </span>
    );
}

// More bars than anybody compares would only make the page slow.
const BARS = 400;

export function Waterfall({ now, was }: { now: Call; was: Call | null }) {
    const rows: Row[] = compare(now, was);
    const whole = Math.max(1, span(now), was ? span(was) : 0);
    return (
        <div class="fall-wrap">
            <table class={was ? 'fall fall-two' : 'fall'}>
                <caption class="visually-hidden">When each call began and how long it took</caption>
                <thead>
                    <tr>
                        <th scope="col">Call</th>
                        {was && <th scope="col"><span>Without faults</span><Axis whole={whole} /></th>}
                        <th scope="col"><span>In this run</span><Axis whole={whole} /></th>
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, BARS).map((row, i) => (
                        <tr key={i} class={`line mark-${row.mark}`}>
                            <th scope="row">
                                <div class="fall-name">
                                    <MarkSign mark={row.mark} /><TreeLine row={row}>{row.now && <Outcome outcome={row.now.seen} />}</TreeLine>
                                </div>
                            </th>
                            {was && <td><span class="narrow-label">Without faults</span><Bar call={row.was} whole={whole} quiet /></td>}
                            <td><span class="narrow-label">In this run</span><Bar call={row.now} whole={whole} /></td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {rows.length > BARS && <p class="small muted">The first {BARS} of {rows.length} calls.</p>}
        </div>
    );
}
