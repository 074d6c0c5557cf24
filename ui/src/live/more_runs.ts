// SPDX-License-Identifier: Apache-2.0
//
// The index of runs grows all the time: only what is new is fetched, and added to what is there.
import type { RunColumns, Runs } from '../model/types';

/** The name that asks for what came after these runs; the name itself where all of them are wanted. */
export function nameOfRest(name: string, known: unknown): string {
    if (!/^runs\/\d+$/.test(name) || known === null || known === undefined) return name;
    const last = (known as Runs).runs.number.at(-1);
    return last === undefined ? name : `${name}?from=${last + 1}`;
}

/** A list of texts that takes in another one: gives the places of that one's texts here. */
function joined(list: readonly string[], more: readonly string[]): { list: string[]; place: (i: number) => number } {
    const at = new Map(list.map((text, i) => [text, i]));
    const all = [...list];
    const places = more.map((text) => {
        let place = at.get(text);
        if (place === undefined) {
            place = all.push(text) - 1;
            at.set(text, place);
        }
        return place;
    });
    return { list: all, place: (i) => i < 0 ? i : places[i] ?? -1 };
}

/** The runs of both; `more` are later ones. The first stays as it is. */
export function addRuns(old: Runs, more: Runs): Runs {
    const calls = joined(old.calls, more.calls), modes = joined(old.modes, more.modes);
    const statuses = joined(old.statuses, more.statuses), sentences = joined(old.sentences, more.sentences);
    const purposes = joined(old.purposes, more.purposes);
    const a = old.runs, b = more.runs;
    const runs: RunColumns = {
        number: [...a.number, ...b.number],
        purpose: [...a.purpose, ...b.purpose.map(purposes.place)],
        faults: [...a.faults, ...b.faults.map((pairs) => pairs.map((value, i) => i % 2 === 0 ? calls.place(value) : modes.place(value)))],
        pass: [...a.pass, ...b.pass],
        status: [...a.status, ...b.status.map(statuses.place)],
        why: [...a.why, ...b.why.map(sentences.place)],
        took_us: [...a.took_us, ...b.took_us],
        calls: [...a.calls, ...b.calls],
        flags: [...a.flags, ...b.flags],
    };
    return {
        ...more, calls: calls.list, modes: modes.list, statuses: statuses.list, sentences: sentences.list, purposes: purposes.list, runs,
    };
}
