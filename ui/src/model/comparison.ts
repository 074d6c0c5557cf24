// SPDX-License-Identifier: Apache-2.0
//
// Two campaigns compared: what each change means, which come first, and all of it in a sentence.
import type { ChangedLatency, ComparedScenario, Difference } from '../gen/documents';
import { either, plural } from './format';
import type { Tone } from './outcome';
import { table } from './table';

export type Subject = 'findings' | 'warnings' | 'calls' | 'dependencies' | 'pairs';

interface Words {
    readonly text: string;
    readonly tone: Tone;
    readonly icon: 'plus' | 'minus' | 'change' | 'ok' | 'bad' | 'question';
}

const OF_PROBLEMS = table<Words>({
    new: { text: 'New', tone: 'bad', icon: 'bad' },
    changed: { text: 'Changed', tone: 'odd', icon: 'change' },
    'not-seen': { text: 'Not seen', tone: 'none', icon: 'question' },
    fixed: { text: 'Fixed', tone: 'ok', icon: 'ok' },
});
const OF_FACTS = table<Words>({
    new: { text: 'New', tone: 'odd', icon: 'plus' },
    changed: { text: 'Changed', tone: 'odd', icon: 'change' },
    gone: { text: 'Gone', tone: 'none', icon: 'minus' },
    'not-seen': { text: 'Not seen', tone: 'none', icon: 'question' },
});
const ORDER = ['new', 'changed', 'not-seen', 'gone', 'fixed'];

export function changeWords(change: string, subject: Subject): Words {
    const words = subject === 'findings' || subject === 'warnings' || subject === 'pairs' ? OF_PROBLEMS : OF_FACTS;
    return words.get(change) ?? OF_FACTS.get(change) ?? { text: change, tone: 'none', icon: 'question' };
}

/** What is new first, what is fixed last; each in the order of the document. */
export function inOrder<T extends { readonly change: string }>(items: readonly T[]): T[] {
    const place = (item: T) => {
        const at = ORDER.indexOf(item.change);
        return at < 0 ? ORDER.length : at;
    };
    return items.map((item, i) => ({ item, i })).sort((a, b) => place(a.item) - place(b.item) || a.i - b.i).map(({ item }) => item);
}

const FIELDS = table({
    kind: 'kind', absorbed_by: 'absorbed by', absorbed_in: 'absorbed in', instead: 'instead', retried: 'retried',
    statuses: 'what the client gets', state: 'how sure it is', faultload: 'smallest faultload', size: 'number of faults', severity: 'severity',
    conditional: 'only after a fault',
});
const VALUES = table({ true: 'yes', false: 'no' });

export function differenceWords(d: Difference): { readonly field: string; readonly before: string; readonly after: string } {
    const value = (text: string | null) => text === null ? 'nothing' : VALUES.get(text) ?? text;
    return { field: FIELDS.get(d.field) ?? d.field, before: value(d.before), after: value(d.after) };
}

/** "2.5 times as long", "a third of the time": how a latency changed. */
export function latencyWords(before: number, after: number): string {
    if (before <= 0 || after <= 0) return after > before ? 'longer' : 'shorter';
    const slower = after >= before;
    const ratio = slower ? after / before : before / after;
    const text = ratio < 9.95 ? ratio.toFixed(1) : Math.round(ratio).toString();
    return `${text} times as ${slower ? 'long' : 'fast'}`;
}

/** The largest changes first, those that got slower before the others. */
export function byChange(items: readonly ChangedLatency[]): ChangedLatency[] {
    const weight = (item: ChangedLatency) => item.after_ns - item.before_ns;
    return [...items].sort((a, b) => Number(weight(b) > 0) - Number(weight(a) > 0) || Math.abs(weight(b)) - Math.abs(weight(a)));
}

const countOf = (items: readonly { readonly change: string }[], change: string) => items.filter((item) => item.change === change).length;

/** "1 new finding, 2 fixed", of some scenarios. */
export function headline(scenarios: readonly ComparedScenario[]): string {
    const all = <T>(pick: (s: ComparedScenario) => readonly T[]) => scenarios.flatMap((s) => [...pick(s)]);
    const findings = all((s) => s.findings), calls = all((s) => s.calls);
    const dependencies = all((s) => s.dependencies).length + all((s) => s.pairs).length;
    const latency = all((s) => s.latency).length, warnings = all((s) => s.warnings).length;
    const parts = [
        [countOf(findings, 'new'), (n: number) => plural(n, 'new finding')],
        [countOf(findings, 'changed'), (n: number) => `${n} changed`],
        [countOf(findings, 'not-seen'), (n: number) => `${n} not seen again`],
        [countOf(findings, 'fixed'), (n: number) => `${n} fixed`],
        [warnings, (n: number) => plural(n, 'warning differs', 'warnings differ')],
        [countOf(calls, 'new'), (n: number) => plural(n, 'new call')],
        [calls.length - countOf(calls, 'new'), (n: number) => plural(n, 'call changed or gone', 'calls changed or gone')],
        [dependencies, (n: number) => plural(n, 'dependency differs', 'dependencies differ')],
        [latency, (n: number) => plural(n, 'latency differs', 'latencies differ')],
    ] as const;
    const told = parts.filter(([n]) => n > 0).map(([n, words]) => words(n));
    return told.length === 0 ? 'nothing differs that was compared' : either(told, 'and');
}

/** Does anything differ in this scenario? */
export function differs(s: ComparedScenario): boolean {
    return s.change !== null || s.verdict_before !== s.verdict_after ||
        [s.findings, s.warnings, s.calls, s.dependencies, s.pairs, s.latency].some((list) => list.length > 0);
}
