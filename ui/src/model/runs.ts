// SPDX-License-Identifier: Apache-2.0
//
// The index of runs: filtered, sorted, and told. A hundred thousand of them are filtered with each key
// that is typed, so what can be decided once for each name is decided once.
import type { Runs } from './types';

export interface RunFilter {
    readonly text: string;
    /** '' for all of these. */
    readonly status: string;
    readonly pass: string;
    readonly call: string;
    readonly mode: string;
    readonly purpose: string;
    readonly size: string;
    readonly flag: string;
}

export const NO_FILTER: RunFilter = { text: '', status: '', pass: '', call: '', mode: '', purpose: '', size: '', flag: '' };

export const flags = [[1, 'hung'], [2, 'a service died'], [4, 'a fault did not fire']] as const;

export type SortKey = 'number' | 'size' | 'status' | 'took' | 'calls' | 'purpose';

/** The filter of an address; what it does not know is left out. */
export function filterOf(query: Readonly<Record<string, string>>): RunFilter {
    const filter: Record<keyof RunFilter, string> = { ...NO_FILTER };
    for (const key of Object.keys(NO_FILTER) as (keyof RunFilter)[]) filter[key] = query[key] ?? '';
    return filter;
}

/** Words of a text search: all must be there. */
function wordsOf(text: string): string[] {
    return text.toLowerCase().split(/\s+/).filter((word) => word !== '');
}

/** For each run: do its names, together, hold all words? */
function holdsWords(runs: Runs, words: readonly string[]): (i: number) => boolean {
    if (words.length === 0) return () => true;
    const lists = [runs.calls, runs.modes, runs.statuses, runs.sentences, runs.purposes]
        .map((list) => list.map((text) => words.map((word) => text.toLowerCase().includes(word))));
    const [calls = [], modes = [], statuses = [], sentences = [], purposes = []] = lists;
    const { runs: columns } = runs;
    return (i) => words.every((word, w) => {
        if (String(columns.number[i]) === word.replace(/^#/, '')) return true;
        if (statuses[columns.status[i] ?? -1]?.[w] || sentences[columns.why[i] ?? -1]?.[w]) return true;
        if (purposes[columns.purpose[i] ?? -1]?.[w]) return true;
        return (columns.faults[i] ?? []).some((place, k) => (k % 2 === 0 ? calls : modes)[place]?.[w]);
    });
}

/** Is one of its faults at this call, in this mode? */
function holdsFault(faults: readonly number[], call: number, mode: number): boolean {
    for (let k = 0; k < faults.length; k += 2)
        if ((call < 0 || faults[k] === call) && (mode < 0 || faults[k + 1] === mode)) return true;
    return false;
}

/** The places of the runs that pass the filter, in their order. */
export function filterRuns(runs: Runs, filter: RunFilter): number[] {
    const { runs: columns } = runs;
    const text = holdsWords(runs, wordsOf(filter.text));
    const status = runs.statuses.indexOf(filter.status), purpose = runs.purposes.indexOf(filter.purpose);
    const call = runs.calls.indexOf(filter.call), mode = runs.modes.indexOf(filter.mode);
    const unknown = (filter.status !== '' && status < 0) || (filter.purpose !== '' && purpose < 0)
        || (filter.call !== '' && call < 0) || (filter.mode !== '' && mode < 0);
    const size = filter.size === '' ? -1 : Number(filter.size), flag = Number(filter.flag);
    const found: number[] = [];
    if (unknown) return found;
    for (let i = 0; i < columns.number.length; i++) {
        const faults = columns.faults[i] ?? [];
        if (status >= 0 && columns.status[i] !== status) continue;
        if (purpose >= 0 && columns.purpose[i] !== purpose) continue;
        if (filter.pass !== '' && columns.pass[i] !== Number(filter.pass)) continue;
        if (size >= 0 && faults.length / 2 !== size) continue;
        if (flag > 0 && ((columns.flags[i] ?? 0) & flag) === 0) continue;
        if ((call >= 0 || mode >= 0) && !holdsFault(faults, call, mode)) continue;
        if (text(i)) found.push(i);
    }
    return found;
}

/** Sorts in place; runs that are equal stay in the order of their numbers. */
export function sortRuns(runs: Runs, places: number[], key: SortKey, down: boolean): number[] {
    const { runs: columns } = runs;
    const texts = (list: readonly string[]) => {
        const order = [...list.keys()].sort((a, b) => (list[a] ?? '').localeCompare(list[b] ?? ''));
        const rank: number[] = [];
        order.forEach((place, i) => { rank[place] = i; });
        return rank;
    };
    const status = texts(runs.statuses), purpose = texts(runs.purposes);
    const value: Record<SortKey, (i: number) => number> = {
        number: (i) => columns.number[i] ?? 0,
        size: (i) => columns.faults[i]?.length ?? 0,
        status: (i) => status[columns.status[i] ?? -1] ?? 0,
        took: (i) => columns.took_us[i] ?? 0,
        calls: (i) => columns.calls[i] ?? 0,
        purpose: (i) => purpose[columns.purpose[i] ?? -1] ?? 0,
    };
    const of = value[key], sign = down ? -1 : 1;
    return places.sort((a, b) => sign * (of(a) - of(b)) || a - b);
}

export interface RunLine {
    readonly place: number;
    readonly number: number;
    readonly purpose: string;
    readonly faults: readonly { readonly call: string; readonly mode: string }[];
    readonly pass: boolean;
    readonly status: string;
    readonly why: string | null;
    readonly took_ns: number;
    readonly calls: number;
    /** In words. */
    readonly flags: readonly string[];
}

/** One run, told by its place in the columns. */
export function runAt(runs: Runs, place: number): RunLine | null {
    const { runs: columns } = runs;
    const number = columns.number[place];
    if (number === undefined) return null;
    const raw = columns.faults[place] ?? [], marks = columns.flags[place] ?? 0;
    const faults = [];
    for (let k = 0; k < raw.length; k += 2)
        faults.push({ call: runs.calls[raw[k] ?? -1] ?? '', mode: runs.modes[raw[k + 1] ?? -1] ?? '' });
    return {
        place, number, faults, purpose: runs.purposes[columns.purpose[place] ?? -1] ?? '', pass: columns.pass[place] === 1,
        status: runs.statuses[columns.status[place] ?? -1] ?? 'unknown', why: runs.sentences[columns.why[place] ?? -1] ?? null,
        took_ns: (columns.took_us[place] ?? 0) * 1000, calls: columns.calls[place] ?? 0,
        flags: flags.filter(([bit]) => (marks & bit) !== 0).map(([, words]) => words),
    };
}

/** The place of a run, or -1. Numbers rise. */
export function placeOf(runs: Runs, number: number): number {
    const { number: numbers } = runs.runs;
    let low = 0, high = numbers.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((numbers[middle] ?? 0) < number) low = middle + 1;
        else high = middle;
    }
    return numbers[low] === number ? low : -1;
}

/** The sizes of faultloads that there are. */
export function sizesOf(runs: Runs): number[] {
    const sizes = new Set<number>();
    for (const faults of runs.runs.faults) sizes.add(faults.length / 2);
    return [...sizes].sort((a, b) => a - b);
}
