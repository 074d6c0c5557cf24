// SPDX-License-Identifier: Apache-2.0
//
// What a campaign could not be sure of: why, what that means, and what helps.
import { table } from './table';
import type { Level, Scenario, Suspect } from './types';

/** Words for a cause, as reports for terminals have them; "" where it is not known. */
const CAUSES = table({
    'circuit-breaker': 'Circuit breaker',
    cache: 'Cache',
    'data-left': 'Data of earlier runs',
    polling: 'Polling',
    'changing-path': 'Paths that change',
    'changing-payload': 'Requests that change',
    'changing-order': 'Order that changes',
    'changing-answer': 'Answers that change',
    'mode-without-effect': 'A fault that does not fit',
    timing: 'Timing',
    'assumption-wrong': 'Wrong assumption',
    unknown: 'Unknown cause',
});

export function causeWords(cause: string): string {
    return CAUSES.get(cause) ?? cause;
}

const KINDS = table({
    'fault-not-fired': 'A fault did not fire',
    'unstable-handler': 'A service did something else after the same outcomes',
    'unstable-call': 'A call is made in some runs only',
    'given-up': 'Given up',
    'assumption-wrong': 'An assumption is wrong',
    'outcome-not-shown': 'An outcome could not be brought about',
});

export interface Group {
    readonly kind: string;
    readonly words: string;
    readonly suspects: readonly Suspect[];
}

/** Suspects by kind, in the order in which the kinds were noticed. */
export function byKind(suspects: readonly Suspect[]): Group[] {
    const groups = new Map<string, Suspect[]>();
    for (const suspect of suspects) {
        const group = groups.get(suspect.kind);
        if (group) group.push(suspect);
        else groups.set(suspect.kind, [suspect]);
    }
    return [...groups].map(([kind, list]) => ({ kind, words: KINDS.get(kind) ?? kind, suspects: list }));
}

/** Services whose calls could not be told apart as well as could be; those that need something done. */
export function lostContext(levels: readonly Level[]): Level[] {
    return levels.filter((level) => level.level !== 'state' || level.note !== null);
}

const LEVELS = table({
    state: 'exactly, by what it passes on',
    trace: 'the run by a trace id, the call by the service that has it open',
    none: 'by the address at which they arrive, one run at a time',
});

/** How the calls of a service are told apart. */
export function levelWords(level: string): string {
    return LEVELS.get(level) ?? level;
}

const STOPS = table({
    runs: 'the run budget was used up',
    time: 'the time budget was used up',
    interrupt: 'it was interrupted',
    finding: 'it stopped at the first finding',
    error: 'a run could not be made',
    'not-run': 'it was not explored',
    unstable: 'it was stopped because most faults met no call',
    polling: 'it was stopped because a service calls others all the time',
});

export function stopWords(by: string): string {
    return STOPS.get(by) ?? by;
}

/** How many different things there are to look at. */
export function countDoubts(s: Scenario): number {
    return s.unsure.length + lostContext(s.levels).length + s.notes.length +
        (s.broken === null ? 0 : 1) + (s.stopped_by === null || s.stopped_by === 'running' ? 0 : 1) + (s.unsure.length === 0 && s.suspect_total > 0 ? 1 : 0);
}

/** Is everything that a run showed to be relied on? */
export function isSure(s: Scenario): boolean {
    return countDoubts(s) === 0 && s.volatile.length === 0 && s.inconclusive === null;
}
