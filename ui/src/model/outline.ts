// SPDX-License-Identifier: Apache-2.0
//
// The decision tree of a handler as an outline that reads like its code: what it does when all goes well
// from top to bottom, and under each call what it does when it sees something else.
//
//     1 calls cart GET /carts/alice                  200 goes on
//         500, 502: calls cart GET /carts/alice again
//             200: goes on with step 2
//             500, 502: answers 503
//     2 answers 200
//
// The document has each subtree once, however many ways lead to it, and so has the outline: the first
// place draws it, the others name the step. A subtree of which less was tried than of one that is drawn,
// and nothing else was seen, is said to go on like that one, as far as tried.
import { parseElement, withoutNumber } from './names';
import { tone } from './outcome';
import type { Branch, Handler, HandlerNode } from './types';

export interface Seen {
    /** 0: told elsewhere. */
    readonly runs: number;
    /** Numbers of a few runs that show it. */
    readonly shown: readonly number[];
}

/** A call that the handler makes, or its end. */
export interface Step extends Seen {
    readonly kind: 'call' | 'reply' | 'link';
    /** Names it in links and for people: 2, 2a.1 ... Ends that are links have none. */
    readonly label: string;
    /** Of a call: its element, without number. Of a reply: what it answers. Of a link: the label of the step that follows. */
    readonly text: string;
    /** Of a call: how many equal ones this handler made before. */
    readonly again: number;
    /** Of a call: with these outcomes the next step follows. */
    readonly goesOn: readonly string[];
    /** Of a call: what happens with other outcomes. Of a reply: other answers at the same place. */
    readonly ways: readonly Way[];
    /** Of a link: less was tried here than there. Of a call: of some of the outcomes that go on. */
    readonly partly: boolean;
}

/** What a handler does after it saw something else of a call than usual. */
export interface Way extends Seen {
    readonly label: string;
    readonly outcomes: readonly string[];
    /** The handler made this call instead of the usual one; null: the usual one. */
    readonly instead: string | null;
    readonly partly: boolean;
    readonly steps: readonly Step[];
}

export interface Outline {
    readonly steps: readonly Step[];
    /** How many rows are there if all is open, and how deep do they go? */
    readonly rows: number;
    readonly depth: number;
}

/** As many things one after the other are said again rather than looked up elsewhere. */
const SMALL = 2;
/** Comparing subtrees ends here: then they are drawn one by one. */
const MOST_COMPARISONS = 200_000;
const DEEPEST_COMPARISON = 400;
const DEEPEST_UNION = 40;
/** Subtrees that one is compared with. */
const MOST_LIKE = 32;
const MOST_SHOWN = 3;

interface Group extends Seen {
    readonly call: string | null;
    readonly reply: string | null;
    readonly outcomes: readonly string[];
    readonly to: number | null;
    readonly partly: boolean;
}

const byNumber = (a: number, b: number) => a - b;

/** Each once: what is good first, then by name. */
function inOrder(outcomes: readonly string[]): string[] {
    const bad = (outcome: string) => tone(outcome) === 'ok' ? 0 : 1;
    return [...new Set(outcomes)].sort((a, b) => bad(a) - bad(b) || (a < b ? -1 : 1));
}

function together(a: Group, b: Group): Group {
    return {
        ...a,
        outcomes: inOrder([...a.outcomes, ...b.outcomes]),
        runs: a.runs + b.runs,
        shown: [...new Set([...a.shown, ...b.shown])].sort(byNumber).slice(0, MOST_SHOWN),
        partly: a.partly || b.partly || a.to !== b.to,
    };
}

/** What is usual comes first: the run without faults, success, what was seen most. */
function usualFirst(a: Group, b: Group): number {
    const first = (g: Group) => g.shown.includes(1) ? 0 : 1;
    const good = (g: Group) => g.outcomes.some((o) => tone(o) === 'ok') ? 0 : 1;
    return first(a) - first(b) || good(a) - good(b) || b.runs - a.runs || (a.shown[0] ?? 0) - (b.shown[0] ?? 0);
}

/** Drawn once more: its runs are told at the first place. */
function uncounted(group: Group): Group {
    return { ...group, runs: 0, shown: [] };
}

/** A letter for each way: a ... z, aa ... */
function letter(n: number): string {
    const last = String.fromCharCode(97 + n % 26);
    return n < 26 ? last : letter(Math.floor(n / 26) - 1) + last;
}

class Writer {
    private readonly labels = new Map<number, string>();
    /** The nodes that have a label, by the call that is made there. */
    private readonly named = new Map<string, number[]>();
    private readonly compared = new Map<string, boolean>();
    private readonly groupsOf = new Map<number, Group[]>();

    private readonly nodes: HandlerNode[];

    constructor(nodes: readonly HandlerNode[]) {
        this.nodes = [...nodes];
    }

    /** The steps from a node on. */
    block(from: number, prefix: string): Step[] {
        const spine: { label: string; groups: Group[] }[] = [];
        let end: Step | null = null;
        let at: number | null = from;
        // all of the usual way is named before what leaves it, so that others lead back to it
        while (at !== null) {
            const link = this.link(at);
            if (link) {
                end = link;
                break;
            }
            const groups = this.groups(at);
            const usual = groups[0];
            if (!usual) break;
            const label = `${prefix}${spine.length + 1}`;
            spine.push({ label, groups: this.labels.has(at) ? groups.map(uncounted) : groups });
            this.name(at, label);
            at = usual.to;
        }
        const steps = spine.map((place) => this.step(place.label, place.groups));
        return end ? [...steps, end] : steps;
    }

    private step(label: string, groups: readonly Group[]): Step {
        const [usual, ...others] = groups as [Group, ...Group[]];
        return {
            kind: usual.call === null ? 'reply' : 'call',
            label,
            text: usual.call === null ? usual.reply ?? '' : withoutNumber(usual.call),
            again: usual.call === null ? 0 : parseElement(usual.call).number,
            goesOn: usual.call === null ? [] : usual.outcomes,
            partly: usual.partly,
            runs: usual.runs,
            shown: usual.shown,
            ways: others.map((group, i) => this.way(`${label}${letter(i)}`, group, usual)),
        };
    }

    private way(label: string, group: Group, usual: Group): Way {
        const { outcomes, partly, runs, shown } = group;
        const end = { kind: 'reply', label, text: group.reply ?? '', again: 0, goesOn: [], ways: [], partly: false, runs, shown } as const;
        return {
            label, outcomes, partly, runs, shown,
            instead: group.call === usual.call ? null : group.call,
            steps: group.to === null ? [end] : this.block(group.to, `${label}.`),
        };
    }

    /** What a handler does next, usual things first; what leads to the same as far as tried is one. */
    private groups(node: number): Group[] {
        const known = this.groupsOf.get(node);
        if (known) return known;
        const all = (this.nodes[node]?.branches ?? []).map((b: Branch): Group => ({
            call: b.call ?? null, reply: b.reply ?? null, outcomes: b.outcomes, to: b.to ?? null,
            runs: b.runs, shown: b.shown, partly: false,
        }));
        const groups: Group[] = [];
        for (const group of all.sort(usualFirst)) {
            const { to } = group;
            const like = to === null ? -1 : groups.findIndex((g) => g.call === group.call && g.to !== null && this.covers(g.to, to));
            const same = groups[like];
            if (same) groups[like] = together(same, group);
            else groups.push(group);
        }
        this.unite(groups);
        this.groupsOf.set(node, groups);
        return groups;
    }

    /** Of what is not usual, makes one of what does not contradict each other, as far as tried. */
    private unite(groups: Group[]): void {
        for (let i = 1; i < groups.length; i++)
            for (let k = groups.length - 1; k > i; k--) {
                const [a, b] = [groups[i], groups[k]];
                if (!a || !b || a.call !== b.call || a.to === null || b.to === null || !this.agree(a.to, b.to)) continue;
                groups[i] = { ...together(a, b), to: this.union(a.to, b.to) };
                groups.splice(k, 1);
            }
    }

    /** The same call next, and the same after each outcome that was seen of both? */
    private agree(a: number, b: number, deep = 0): boolean {
        if (a === b) return true;
        const [all, others] = [this.nodes[a]?.branches ?? [], this.nodes[b]?.branches ?? []];
        const next = all[0]?.call;
        if (next === undefined || deep >= DEEPEST_UNION || [...all, ...others].some((branch) => branch.call !== next)) return this.covers(a, b);
        return others.every((other) => all.every(({ outcomes, to }) => to === undefined || other.to === undefined ||
            !outcomes.some((outcome) => other.outcomes.includes(outcome)) || this.agree(to, other.to, deep + 1)));
    }

    /** A node that stands for two that agree. */
    private union(a: number, b: number): number {
        if (this.covers(a, b)) return a;
        if (this.covers(b, a)) return b;
        const branches = [...this.nodes[a]?.branches ?? []];
        for (const other of this.nodes[b]?.branches ?? []) {
            const at = branches.findIndex(({ outcomes }) => outcomes.some((outcome) => other.outcomes.includes(outcome)));
            const same = branches[at];
            if (same?.to === undefined || other.to === undefined) branches.push(other);
            else branches[at] = {
                ...same, to: this.union(same.to, other.to), runs: same.runs + other.runs,
                outcomes: inOrder([...same.outcomes, ...other.outcomes]),
                shown: [...new Set([...same.shown, ...other.shown])].sort(byNumber).slice(0, MOST_SHOWN),
            };
        }
        this.nodes.push({ runs: branches.reduce((sum, branch) => sum + branch.runs, 0), branches });
        return this.nodes.length - 1;
    }

    /** The step that stands for this node elsewhere, if it is worth naming. */
    private link(node: number): Step | null {
        const link = (text: string, partly: boolean): Step =>
            ({ kind: 'link', label: '', text, again: 0, goesOn: [], ways: [], partly, runs: 0, shown: [] });
        const exact = this.labels.get(node);
        const label = exact ?? this.like(node);
        if (label === undefined || this.small(node, /^\d+$/.test(label) ? 1 : SMALL)) return null;
        return link(label, exact === undefined);
    }

    private name(node: number, label: string): void {
        if (this.labels.has(node)) return;
        this.labels.set(node, label);
        const call = this.nodes[node]?.branches[0]?.call;
        if (call === undefined) return;
        const same = this.named.get(call);
        if (same) same.push(node);
        else this.named.set(call, [node]);
    }

    /** The label of a subtree of which all was seen that was seen of this one. */
    private like(node: number): string | undefined {
        const call = this.nodes[node]?.branches[0]?.call;
        const found = this.named.get(call ?? '')?.slice(0, MOST_LIKE).find((other) => this.covers(other, node));
        return found === undefined ? undefined : this.labels.get(found);
    }

    /** One thing after the other, and soon an end? */
    private small(node: number, most: number): boolean {
        const groups = this.groups(node);
        const [only] = groups;
        if (!only) return true;
        if (groups.length > 1 || most === 0) return false;
        return only.to === null || this.small(only.to, most - 1);
    }

    /** Was all that is known of `b` seen of `a`, too? */
    private covers(a: number, b: number, deep = 0): boolean {
        if (a === b) return true;
        const key = `${a} ${b}`;
        const known = this.compared.get(key);
        if (known !== undefined) return known;
        if (this.compared.size >= MOST_COMPARISONS || deep >= DEEPEST_COMPARISON) return false;
        this.compared.set(key, false);
        const all = this.nodes[a]?.branches ?? [];
        const result = (this.nodes[b]?.branches ?? []).every((branch) => branch.call === undefined
            ? all.some((other) => other.reply === branch.reply)
            : branch.outcomes.every((outcome) => all.some((other) => other.call === branch.call &&
                other.outcomes.includes(outcome) && other.to !== undefined && branch.to !== undefined && this.covers(other.to, branch.to, deep + 1))));
        this.compared.set(key, result);
        return result;
    }
}

/** A way that needs no rows of its own: one thing after the other. */
export function inline(way: Way): boolean {
    return way.steps.length <= SMALL + 1 && way.steps.every((step) => step.ways.length === 0);
}

function size(steps: readonly Step[], level: number): { rows: number; depth: number } {
    let rows = 0;
    let depth = level;
    for (const step of steps) {
        rows++;
        for (const way of step.ways) {
            rows++;
            depth = Math.max(depth, level + 1);
            if (inline(way)) continue;
            const below = size(way.steps, level + 2);
            rows += below.rows;
            depth = Math.max(depth, below.depth);
        }
    }
    return { rows, depth };
}

export function outline(handler: Handler): Outline {
    const steps = new Writer(handler.nodes).block(0, '');
    return { steps, ...size(steps, 1) };
}
