// SPDX-License-Identifier: Apache-2.0
//
// What came of a scenario, in sentences: the same as the reports for terminals say.
import { count, plural } from './format';
import { table } from './table';
import type { Scenario } from './types';
import { countWrong } from './wrong';

const stops = table({
    'runs': 'the run budget was used up',
    'time': 'the time budget was used up',
    'interrupt': 'it was interrupted',
    'finding': 'it stopped at the first finding',
    'error': 'a run could not be made',
    'not-run': 'it was not explored',
    'unstable': 'it was stopped because most faults met no call',
    'polling': 'it was stopped because a service calls others all the time',
});

export function stopWords(by: string): string {
    return stops.get(by) ?? by;
}

/** There is nothing to tell of it. */
export function neverBegan(scenario: Scenario): boolean {
    return scenario.stopped_by === 'not-run' && scenario.runs === 0;
}

/** "1 finding, 2 warnings". */
export function headline(scenario: Scenario): string {
    const { findings, warnings } = countWrong(scenario);
    if (scenario.verdict === 'broken') return 'Fails without any fault';
    if (neverBegan(scenario)) return 'Nothing was run yet';
    const lasts = scenario.stopped_by === 'running';
    const parts = [findings > 0 ? plural(findings, 'finding') : 'No findings'];
    if (warnings > 0) parts.push(plural(warnings, 'warning'));
    if (lasts) return `${parts.join(', ')} so far`;
    return scenario.verdict === 'inconclusive' ? `${parts.join(', ')}, but inconclusive` : parts.join(', ');
}

/** "12 calls can fail (5 only after a fault), each in 4 ways: 244,140,625 combinations." Empty of one that never began. */
export function spaceSentence(scenario: Scenario): string {
    const { points, conditional_points: after, modes, space } = scenario;
    if (scenario.runs_by_size.length === 0 || scenario.broken !== null) return '';
    if (points === 0) return 'No call can fail.';
    // modes of gRPC are none of HTTP, and the other way round: if all calls have as many ways, so many
    const ways = Math.min(Math.round(space ** (1 / points)) - 1, modes.length), together = (ways + 1) ** points;
    const all = space >= together * 0.999 && space * 0.999 <= together;
    return `${plural(points, 'call')} can fail${after > 0 ? ` (${count(after)} only after a fault)` : ''}, `
        + `each in ${all ? '' : 'up to '}${plural(all ? ways : modes.length, 'way')}: ${plural(space, 'combination')}.`;
}

/** How far the runs go. */
export function runsSentence(scenario: Scenario): string {
    if (scenario.runs_by_size.length === 0 || scenario.broken !== null) return '';
    const runs = plural(scenario.runs, 'run');
    if (scenario.stopped_by === 'running')
        return `${runs} so far; ${count(scenario.queued)} more ${scenario.queued === 1 ? 'is' : 'are'} waiting.`;
    if (scenario.stopped_by !== null) {
        const waiting = `${count(scenario.queued)} more ${scenario.queued === 1 ? 'was' : 'were'} waiting`;
        return `${runs} before ${stopWords(scenario.stopped_by)}; ${waiting}.`;
    }
    if (scenario.points === 0) return `${runs} made.`;
    if (scenario.suspect_total > 0) return `${runs} made, but not everything could be tested.`;
    const end = scenario.assumptions.length > 0 ? ', if these assumptions hold:' : '.';
    return `${runs} to see every decision that the services can take${end}`;
}

/** A sentence that ends with a command: the two apart. */
export function splitCommand(text: string): { text: string; command: string | null } {
    const at = text.lastIndexOf(': outfox ');
    return at < 0 ? { text, command: null } : { text: text.slice(0, at), command: text.slice(at + 2) };
}

const skips = table<{ title: string; why: string }>({
    'downstream': { title: 'Cannot happen: below a failed call', why: 'A fault below a call that itself fails cannot happen.' },
    'exclusion': { title: 'Cannot happen: excluded', why: 'The other faults keep the call from being made.' },
    'inclusion': { title: 'Cannot happen: not included', why: 'The call is only made after a failure that does not happen.' },
    'unreachability': { title: 'Cannot happen: not reached', why: 'The caller itself is not reached.' },
    'encapsulation': {
        title: 'Nothing new', why: 'Every service has seen these outcomes, from the same faults or from errors passed up.',
    },
    'max-faults': { title: 'Too many faults at a time', why: 'The search was limited to a number of faults at a time (--max-faults).' },
    't-way': { title: 'Combined only t-wise', why: 'Faults that are absorbed alone were combined so that every few of them meet (--t-way).' },
});

/** Why some faultloads were not run. */
export function skipWords(scenario: Scenario, name: string): { title: string; why: string } {
    const assumption = scenario.assumptions.find((text) => text.startsWith(`${name}:`))?.slice(name.length + 1).trim();
    if (name === 'encapsulation' && !scenario.skipped_known)
        return { title: 'Nothing new', why: 'Seen in another run before its turn came.' };
    const known = skips.get(name);
    if (known) return known;
    return { title: `Assumed: ${name}`, why: assumption ? `${assumption.charAt(0).toUpperCase()}${assumption.slice(1)}.`.replace(/\.\.$/, '.') : `The reduction ${name}.` };
}
