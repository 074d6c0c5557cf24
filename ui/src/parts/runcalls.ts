// SPDX-License-Identifier: Apache-2.0
import { placeOf, runAt, type RunLine } from '../model/runs';
import { callsOfRun } from '../model/tree';
import type { Call } from '../model/types';
import { useDocument } from './hooks';

export type RunCalls =
    | { readonly state: 'loading' }
    /** There is no run of this number. */
    | { readonly state: 'unknown' }
    /** calls: null, if this page does not have them. */
    | { readonly state: 'ready'; readonly line: RunLine; readonly calls: Call | null };

/** A run of a scenario with its calls; null: none is wanted. */
export function useRunCalls(index: number, number: number | null): RunCalls {
    const runs = useDocument(number === null ? null : `runs/${index}`);
    const place = runs.state === 'ready' && number !== null ? placeOf(runs.value, number) : -1;
    const line = runs.state === 'ready' ? runAt(runs.value, place) : null;
    const size = runs.state === 'ready' ? runs.value.page_size : 1;
    const page = useDocument(line ? `runs/${index}/${Math.floor(place / size)}` : null);
    if (runs.state === 'loading' || (line && page.state === 'loading')) return { state: 'loading' };
    if (!line) return { state: 'unknown' };
    return { state: 'ready', line, calls: page.state === 'ready' ? callsOfRun(page.value, line.number) : null };
}
