// SPDX-License-Identifier: Apache-2.0
//
// A faultload that somebody puts together: calls to choose from, the ways in which each can fail.
import { DOWN, type Fault, wholeWords } from './faultload';
import type { KnownCall } from './types';

export interface Choice {
    readonly uid: string;
    readonly name: string;
    readonly depth: number;
    /** Only seen after a fault, so that it takes one for it to be made. */
    readonly conditional: boolean;
    /** The scenario's own request: it is what is tested, and never made to fail. */
    readonly own: boolean;
}

/** The calls as a tree, each after the one that makes it, in the order in which they were seen. */
export function choices(calls: readonly KnownCall[]): Choice[] {
    const known = new Set(calls.map((call) => call.call));
    const below = new Map<string | null, KnownCall[]>();
    const above = (uid: string): string | null => {
        for (let at = uid.lastIndexOf(' > '); at > 0; at = uid.lastIndexOf(' > ', at - 1))
            if (known.has(uid.slice(0, at))) return uid.slice(0, at);
        return null;
    };
    for (const call of calls) {
        const parent = above(call.call);
        const list = below.get(parent);
        if (list) list.push(call);
        else below.set(parent, [call]);
    }
    const out: Choice[] = [];
    const todo = [...below.get(null) ?? []].reverse().map((call) => ({ call, from: '', depth: 0 }));
    for (let next = todo.pop(); next; next = todo.pop()) {
        const { call, from, depth } = next;
        const uid = call.call;
        out.push({ uid, name: from ? uid.slice(from.length + 3) : uid, depth, conditional: call.conditional, own: call.caller === null });
        todo.push(...[...below.get(uid) ?? []].reverse().map((child) => ({ call: child, from: uid, depth: depth + 1 })));
    }
    return out;
}

/** Services that are called, without the one that the scenario calls. */
export function services(calls: readonly KnownCall[]): string[] {
    const own = new Set(calls.filter((call) => call.caller === null).map((call) => call.service));
    return [...new Set(calls.map((call) => call.service))].filter((service) => !own.has(service)).sort();
}

/** "mail post.Office/Send" is gRPC, "stock GET /items" is not. */
export function isGrpc(uid: string): boolean {
    const [, what = ''] = uid.slice(uid.lastIndexOf(' > ') < 0 ? 0 : uid.lastIndexOf(' > ') + 3).split(' ');
    return what.includes('/') && !what.startsWith('/');
}

/** Does a mode make sense at this call? Those of later versions do. */
export function fits(mode: string, uid: string): boolean {
    const inner = mode.replace(/^lost-reply:/, '');
    if (inner.startsWith('grpc:')) return isGrpc(uid);
    return !/^\d{3}$/.test(inner) || !isGrpc(uid);
}

export interface ModeChoice {
    readonly tried: readonly string[];
    readonly others: readonly string[];
}

/** The ways in which a call can fail: those of the campaign, then others, each once. */
export function modesFor(uid: string, tried: readonly string[], all: readonly string[]): ModeChoice {
    const first = [...new Set(tried)].filter((mode) => fits(mode, uid));
    const others = [...new Set(all)].filter((mode) => !first.includes(mode) && fits(mode, uid));
    return { tried: first, others };
}

/** The faults with this call failing in this way; '': not failing. Calls stay in their order. */
export function choose(faults: readonly Fault[], call: string, mode: string): Fault[] {
    const same = (fault: Fault) => fault.call === call && (wholeWords(fault.mode) === null) === (wholeWords(mode) === null);
    if (mode === '') return faults.filter((fault) => fault.call !== call || wholeWords(fault.mode) !== null);
    if (!faults.some(same)) return [...faults, { call, mode }];
    return faults.map((fault) => same(fault) ? { call, mode } : fault);
}

export function raise(faults: readonly Fault[], service: string): Fault[] {
    return faults.filter((fault) => fault.call !== service || fault.mode !== DOWN);
}

export function modeOf(faults: readonly Fault[], call: string): string {
    return faults.find((fault) => fault.call === call && wholeWords(fault.mode) === null)?.mode ?? '';
}

export function isDown(faults: readonly Fault[], service: string): boolean {
    return faults.some((fault) => fault.call === service && fault.mode === DOWN);
}
