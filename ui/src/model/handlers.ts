// SPDX-License-Identifier: Apache-2.0
//
// Handlers at a glance, and the rows of an outline that are seen while parts of it are closed.
import { elements, withoutNumber, withoutNumbers } from './names';
import { inline, type Outline, type Step, type Way } from './outline';
import { tone } from './outcome';
import type { Handler } from './types';

/** What a handler does about failures of the calls that it makes when all goes well. */
export interface Traits {
    readonly retries: readonly string[];
    readonly ignores: readonly string[];
    readonly replaces: readonly string[];
    readonly givesUp: readonly string[];
}

const failed = (outcomes: readonly string[]) => outcomes.some((o) => tone(o) === 'bad');

/** Does every end below answer an error? */
function endsBadly(steps: readonly Step[]): boolean {
    return steps.every((step) => step.ways.every((way) => endsBadly(way.steps)) &&
        (step.kind === 'call' || (step.kind === 'reply' && tone(step.text) !== 'ok')));
}

export function traits({ steps }: Outline): Traits {
    const found = { retries: [] as string[], ignores: [] as string[], replaces: [] as string[], givesUp: [] as string[] };
    for (const step of steps) {
        if (step.kind !== 'call') continue;
        if (failed(step.goesOn)) found.ignores.push(step.text);
        for (const way of step.ways) {
            const next = way.steps[0];
            if (way.instead !== null || !next || !failed(way.outcomes)) continue;
            if (next.kind === 'call' && next.again > 0 && next.text === step.text) found.retries.push(step.text);
            else if (endsBadly(way.steps)) found.givesUp.push(step.text);
            else if (next.kind === 'call') found.replaces.push(step.text);
            else found.ignores.push(step.text);
        }
    }
    const once = (list: string[]) => [...new Set(list)];
    return { retries: once(found.retries), ignores: once(found.ignores), replaces: once(found.replaces), givesUp: once(found.givesUp) };
}

/** A trait in words: "tries a and b again". */
export interface Saying {
    readonly before: string;
    readonly calls: readonly string[];
    readonly join: string;
    readonly after: string;
}

export function sayings(t: Traits): Saying[] {
    return [
        { before: 'tries ', calls: t.retries, join: 'and', after: ' again' },
        { before: 'calls something else instead of ', calls: t.replaces, join: 'and', after: '' },
        { before: 'goes on without ', calls: t.ignores, join: 'and', after: '' },
        { before: 'gives up without ', calls: t.givesUp, join: 'or', after: '' },
    ].filter(({ calls }) => calls.length > 0);
}

/** All answers of a handler, and how often it gave each: the usual one first. */
export function answers(handler: Handler): [string, number][] {
    const found = new Map<string, number>();
    for (const node of handler.nodes)
        for (const { reply, runs } of node.branches)
            if (reply !== undefined) found.set(reply, (found.get(reply) ?? 0) + runs);
    return [...found].sort((a, b) => b[1] - a[1]);
}

/** The calls that a handler makes, each once. */
export function callsOf(handler: Handler): string[] {
    return [...new Set(handler.nodes.flatMap((node) => node.branches.flatMap((b) => b.call === undefined ? [] : [withoutNumber(b.call)])))];
}

/** A handler, and where it was seen: after the same calls, but for the numbers of equal ones. */
export interface Place {
    readonly handler: Handler;
    /** Its index in the document. */
    readonly at: number;
}

/** The handlers of a document, those that answer equal calls together: as they are called, from the client down. */
export function places(handlers: readonly Handler[]): Place[][] {
    const found = new Map<string, Place[]>();
    handlers.forEach((handler, at) => {
        const key = withoutNumbers(handler.call);
        const same = found.get(key);
        if (same) same.push({ handler, at });
        else found.set(key, [{ handler, at }]);
    });
    const depth = (group: readonly Place[]) => elements(group[0]?.handler.call ?? '').length;
    return [...found.values()].sort((a, b) => depth(a) - depth(b));
}

/** A row of the tree: a step, or a way that leads away from one. */
export interface TreeRow {
    readonly id: string;
    readonly level: number;
    readonly place: number;
    readonly of: number;
    readonly parent: string | null;
    readonly step: Step | null;
    readonly way: Way | null;
    /** null: nothing is below. */
    readonly open: boolean | null;
}

/** Rows have the labels of what they show; a link has that of its block. */
function stepId(step: Step, parent: string): string {
    return step.label || `${parent}>`;
}

/** Which rows can be opened, down to a level? */
export function openable({ steps }: Outline, depth = Infinity): Set<string> {
    const found = new Set<string>();
    const add = (list: readonly Step[], level: number, parent: string): void => {
        for (const step of list) {
            if (step.ways.length === 0 || level >= depth) continue;
            found.add(stepId(step, parent));
            for (const way of step.ways) {
                if (inline(way) || level + 1 >= depth) continue;
                found.add(way.label);
                add(way.steps, level + 2, way.label);
            }
        }
    };
    add(steps, 1, '');
    return found;
}

export function visibleRows({ steps }: Outline, open: ReadonlySet<string>): TreeRow[] {
    const rows: TreeRow[] = [];
    const add = (list: readonly Step[], level: number, parent: string | null): void => {
        list.forEach((step, i) => {
            const id = stepId(step, parent ?? '');
            const isOpen = step.ways.length === 0 ? null : open.has(id);
            rows.push({ id, level, parent, place: i + 1, of: list.length, step, way: null, open: isOpen });
            if (isOpen !== true) return;
            step.ways.forEach((way, k) => {
                const wayOpen = inline(way) ? null : open.has(way.label);
                rows.push({ id: way.label, level: level + 1, parent: id, place: k + 1, of: step.ways.length, step: null, way, open: wayOpen });
                if (wayOpen === true) add(way.steps, level + 2, way.label);
            });
        });
    };
    add(steps, 1, null);
    return rows;
}

/** The rows that must be open so that the one with this label is seen; its own id is the last. */
export function pathTo(outlined: Outline, label: string): string[] | null {
    const search = (list: readonly Step[], parent: string): string[] | null => {
        for (const step of list) {
            const id = stepId(step, parent);
            if (id === label) return [id];
            for (const way of step.ways) {
                if (way.label === label) return [id, way.label];
                const below = search(way.steps, way.label);
                if (below) return inline(way) ? [id, way.label] : [id, way.label, ...below];
            }
        }
        return null;
    };
    return search(outlined.steps, '');
}

/** "2nd time", "3rd time": for a call that was made before. */
export function nthTime(again: number): string {
    const n = again + 1;
    const end = n % 100 >= 11 && n % 100 <= 13 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th';
    return `${n}${end} time`;
}
