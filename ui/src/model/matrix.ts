// SPDX-License-Identifier: Apache-2.0
//
// The matrix of dependencies: a row for each call, a column for each way to fail, and in the cells what
// becomes of the request.
import { lastElement, shortName } from './names';
import { gotWords } from './outcome';
import type { Dependency, DependencyScenario, Failure } from './types';

export type CellKind = 'fails' | 'value' | 'other' | 'retry' | 'same' | 'late' | 'untried';

export interface CellWords {
    readonly sign: string;
    readonly words: string;
}

export const cellWords: Readonly<Record<CellKind, CellWords>> = {
    fails: { sign: '\u2715', words: 'the request fails' },
    value: { sign: '\u2713', words: 'absorbed: a default value, or nothing, takes its place' },
    other: { sign: '\u21c4', words: 'absorbed: another call is made instead' },
    retry: { sign: '\u21bb', words: 'absorbed by a retry; a lasting failure was not tried' },
    same: { sign: '=', words: 'its caller saw no failure' },
    late: { sign: '\u00b7', words: 'the request has already failed when it is called' },
    untried: { sign: '\u2013', words: 'not tried' },
};

export interface Cell {
    readonly kind: CellKind;
    readonly failure: Failure | null;
}

export interface Column {
    /** The ways to fail that share it. */
    readonly labels: readonly string[];
}

export interface Row {
    readonly dependency: Dependency;
    /** By label. */
    readonly cells: ReadonlyMap<string, Cell>;
    readonly fails: boolean;
    /** What the filter for text looks at. */
    readonly text: string;
}

export interface Matrix {
    readonly labels: readonly string[];
    readonly rows: readonly Row[];
    readonly services: readonly string[];
}

/** When it is called the request has failed already, so that nobody can tell what its failure does. */
function tooLate(d: Dependency): boolean {
    return d.only_after !== null && d.failures.length === 0 && d.kind !== 'unknown';
}

function cellOf(d: Dependency, failure: Failure | undefined): Cell {
    if (!failure) return { kind: tooLate(d) ? 'late' : 'untried', failure: null };
    if (failure.fails) return { kind: 'fails', failure };
    const by = failure.absorbed_by;
    return { kind: by === 'value' || by === 'other' || by === 'retry' ? by : 'same', failure };
}

export function matrix(scenario: DependencyScenario): Matrix {
    const labels = new Set(scenario.tried);
    for (const d of scenario.dependencies) for (const f of d.failures) labels.add(f.failure);
    const rows = scenario.dependencies.map((dependency): Row => {
        const failures = new Map(dependency.failures.map((f) => [f.failure, f]));
        const cells = new Map([...labels].map((label) => [label, cellOf(dependency, failures.get(label))]));
        return {
            dependency, cells,
            fails: dependency.failures.some((f) => f.fails),
            text: `${shortName(dependency.call)} ${dependency.text}`.toLowerCase(),
        };
    });
    const services = [...new Set(scenario.dependencies.flatMap((d) => [d.caller, d.service]))].filter((s) => s !== '').sort();
    return { labels: [...labels], rows, services };
}

/** One column for each way to fail; or, together, one for those that no call tells apart. */
export function columns(m: Matrix, together: boolean): Column[] {
    if (!together) return m.labels.map((label) => ({ labels: [label] }));
    const found = new Map<string, string[]>();
    for (const label of m.labels) {
        const key = JSON.stringify(m.rows.map((row) => {
            const cell = row.cells.get(label);
            return [cell?.kind, cell?.failure?.status];
        }));
        const same = found.get(key);
        if (same) same.push(label);
        else found.set(key, [label]);
    }
    return [...found.values()].map((labels) => ({ labels }));
}

export interface Filter {
    readonly text: string;
    readonly service: string;
    readonly kind: string;
    /** Only calls whose failure can make the request fail. */
    readonly failing: boolean;
}

export function filterRows(rows: readonly Row[], filter: Filter): Row[] {
    const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return rows.filter(({ dependency: d, fails, text }) =>
        (!filter.failing || fails) &&
        (filter.kind === '' || d.kind === filter.kind) &&
        (filter.service === '' || d.service === filter.service || d.caller === filter.service) &&
        words.every((word) => text.includes(word)));
}

/** "3 hard, 2 soft": how many of each kind, in the order of the rows. */
export function countKinds(rows: readonly Row[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { dependency } of rows) counts.set(dependency.kind, (counts.get(dependency.kind) ?? 0) + 1);
    return counts;
}

/** "the client gets 503"; a scenario that is a command has no client. */
export function statusWords(status: string): string {
    return status.startsWith('exit:') ? `the command ends with ${status}` : `the client gets ${gotWords(status)}`;
}

/** What becomes of one failure, in a sentence. */
export function failureWords(d: Dependency, failure: Failure): string {
    const { absorbed_in: by, instead } = failure;
    const gets = statusWords(failure.status);
    const who = by ?? d.caller;
    if (failure.fails) return `The request fails: ${gets}.`;
    switch (failure.absorbed_by) {
    case 'value': return `${who} goes on without it; ${gets}.`;
    case 'other': return `${who} calls ${instead === null ? 'something else' : lastElement(instead)} instead; ${gets}.`;
    case 'retry': return `${who} tries again; ${gets}. A failure that lasts was not tried.`;
    default: return `Its caller sees no failure; ${gets}.`;
    }
}

export interface FailureGroup {
    readonly words: string;
    readonly fails: boolean;
    readonly first: Failure;
    readonly failures: readonly Failure[];
}

/** Failures that come to the same, together: those that make the request fail first. */
export function groupFailures(d: Dependency, failures: readonly Failure[]): FailureGroup[] {
    const groups = new Map<string, Failure[]>();
    for (const failure of failures) {
        const words = failureWords(d, failure);
        const same = groups.get(words);
        if (same) same.push(failure);
        else groups.set(words, [failure]);
    }
    return [...groups].flatMap(([words, all]) => all[0] ? [{ words, fails: all[0].fails, first: all[0], failures: all }] : [])
        .sort((a, b) => Number(b.fails) - Number(a.fails));
}
