// SPDX-License-Identifier: Apache-2.0
//
// One run beside the one without faults, as a single tree. Calls are the same when the paths of their
// names are. As in the reports for terminals:
//
//   injected  a fault was injected here
//   new       the call is not made without faults
//   gone      the call is only made without faults
//   changed   its caller sees something else than without faults
import type { Call, CallsOfRuns } from './types';

export type Mark = 'same' | 'injected' | 'new' | 'gone' | 'changed';

/** Levels whose lines are drawn: a tree deeper than this runs on at the same place. */
const GUIDES = 16;

export interface Row {
    /** The full name. */
    readonly uid: string;
    readonly name: string;
    readonly depth: number;
    /** Of its own level and those above, up to GUIDES of them, outermost first: is this the last call there? */
    readonly last: readonly boolean[];
    /** The depth of the nearest call above that both runs have. */
    readonly shared: number;
    /** In the run that is shown; null if it is gone. */
    readonly now: Call | null;
    /** In the run without faults; null if it is not made there. */
    readonly was: Call | null;
    readonly mark: Mark;
    /** Something is different here or below. */
    readonly differs: boolean;
}

function markOf(now: Call | null, was: Call | null): Mark {
    if (!now) return 'gone';
    if (now.injected !== undefined) return 'injected';
    if (!was) return 'new';
    return now.seen === was.seen ? 'same' : 'changed';
}

interface Two {
    readonly now: Call | null;
    readonly was: Call | null;
}

/** The calls of one handler: those of the run in their order, and those that are gone before what followed them. */
function merge(now: readonly Call[], was: readonly Call[]): Two[] {
    const there = new Set(now.map((call) => call.call));
    const places = new Map(was.map((call, i) => [call.call, i]));
    const merged: Two[] = [];
    let at = 0;
    const goneUntil = (end: number) => {
        for (; at < end; at++) {
            const old = was[at];
            if (old && !there.has(old.call)) merged.push({ now: null, was: old });
        }
    };
    for (const call of now) {
        const place = places.get(call.call);
        if (place !== undefined) goneUntil(place);
        merged.push({ now: call, was: place === undefined ? null : was[place] ?? null });
    }
    goneUntil(was.length);
    return merged;
}

/**
 * The rows of both, top down. `alone`: there is no run to compare with, so nothing is marked but faults.
 * Without recursion: a chain of calls may be longer than the stack.
 */
export function compare(now: Call | null, was: Call | null, alone = was === null): Row[] {
    interface Step { two: Two; above: string; depth: number; shared: number; last: boolean[]; from: number }
    const rows: { -readonly [K in keyof Row]: Row[K] }[] = [];
    const parents: number[] = [];
    const steps: Step[] = [{ two: { now, was }, above: '', depth: 0, shared: 0, last: [], from: -1 }];
    for (let step = steps.pop(); step; step = steps.pop()) {
        const { two, above, depth, shared, last, from } = step;
        const call = two.now ?? two.was;
        if (!call) continue;
        const uid = above ? `${above} > ${call.call}` : call.call;
        const found = markOf(two.now, two.was);
        const mark = alone && found !== 'injected' ? 'same' : found;
        const own = rows.length;
        rows.push({ uid, name: call.call, depth, shared, last, now: two.now, was: two.was, mark, differs: mark !== 'same' });
        parents.push(from);
        const below = merge(two.now?.calls ?? [], two.was?.calls ?? []);
        below.map((child, i) => ({
            two: child, above: uid, depth: depth + 1, shared: two.now && two.was ? depth : shared, last: [...last, i + 1 === below.length].slice(-GUIDES), from: own,
        })).reverse().forEach((child) => steps.push(child));
    }
    for (let i = rows.length - 1; i > 0; i--) {
        const above = rows[parents[i] ?? 0];
        if (above && rows[i]?.differs) above.differs = true;
    }
    return rows;
}

/** How many calls have each mark. */
export function countMarks(rows: readonly Row[]): Record<Mark, number> {
    const counts: Record<Mark, number> = { same: 0, injected: 0, new: 0, gone: 0, changed: 0 };
    for (const row of rows) counts[row.mark]++;
    return counts;
}

/** The calls of a run as a tree; null if the page does not have them. */
export function callsOfRun(page: CallsOfRuns, number: number): Call | null {
    const run = page.runs.find((r) => r.number === number);
    if (!run) return null;
    const calls: { call: Call; uid: string }[] = [];
    let root: Call | null = null;
    for (let i = 0; i + 6 < run.calls.length; i += 7) {
        const [point = 0, parent = -1, seen = 0, reply = -1, injected = -1, start = 0, end = 0] = run.calls.slice(i, i + 7);
        const above = parent >= 0 ? calls[parent] : undefined;
        const uid = page.points[point] ?? '';
        const outcome = page.outcomes[seen] ?? 'unknown', answer = page.outcomes[reply], mode = page.modes[injected];
        const call: Call = {
            call: above && uid.startsWith(`${above.uid} > `) ? uid.slice(above.uid.length + 3) : uid,
            seen: outcome, start_ns: start * 1000, end_ns: end * 1000, calls: [],
            ...mode === undefined ? {} : { injected: mode }, ...answer === undefined ? {} : { reply: answer },
        };
        calls.push({ call, uid });
        if (above) above.call.calls.push(call);
        else root ??= call;
    }
    return root;
}

/** From when to when a run lasted, in its own time. */
export function span(call: Call | null): number {
    let end = 0;
    const calls = call ? [call] : [];
    for (let next = calls.pop(); next; next = calls.pop()) {
        end = Math.max(end, next.end_ns);
        calls.push(...next.calls);
    }
    return end;
}
