// SPDX-License-Identifier: Apache-2.0
//
// The state of a campaign in words and figures, for the bar that is on all views of the live page.
import type { Campaign, CampaignScenario, Flight } from '../live/types';
import { faultloadWords } from './faultload';
import { count, duration, plural } from './format';
import type { Tone } from './outcome';
import { table } from './table';
import { verdictWords } from './verdict';

const STATES = table({
    starting: 'Starting the services',
    learning: 'Learning: runs without faults',
    exploring: 'Exploring',
    confirming: 'Confirming a finding',
    paused: 'Paused',
    stopping: 'Stopping',
    finished: 'Finished',
    failed: 'Failed',
});

const WORST = ['broken', 'findings', 'inconclusive', 'ok'];

/** What the campaign does; at its end, what it came to. */
export function stateWords(campaign: Campaign): string {
    const words = STATES.get(campaign.state) ?? campaign.state;
    const worst = WORST.find((verdict) => campaign.scenarios.some((s) => s.verdict === verdict));
    return campaign.state === 'finished' && worst !== undefined ? `${words}: ${verdictWords(worst).text.toLowerCase()}` : words;
}

/** How a state is coloured; busy: it goes on. */
export type StateTone = Tone | 'busy';

export function toneOf(campaign: Campaign): StateTone {
    if (campaign.state === 'failed') return 'bad';
    if (campaign.state === 'paused' || campaign.state === 'stopping') return 'none';
    if (campaign.state !== 'finished') return 'busy';
    const tones = campaign.scenarios.map((s) => s.verdict === null ? 'odd' : verdictWords(s.verdict).kind);
    return tones.includes('bad') ? 'bad' : tones.every((tone) => tone === 'ok') ? 'ok' : 'odd';
}

/** The scenario that the figures are about: the one under way, else the last that began. */
export function scenarioNow(campaign: Campaign): CampaignScenario | null {
    if (campaign.scenario !== null) return campaign.scenarios[campaign.scenario] ?? null;
    return [...campaign.scenarios].reverse().find((s) => s.state !== 'waiting') ?? campaign.scenarios[0] ?? null;
}

export interface Sums {
    readonly runs: number;
    readonly findings: number;
    readonly warnings: number;
    readonly failed: number;
}

export function sums(campaign: Campaign): Sums {
    const total = { runs: 0, findings: 0, warnings: 0, failed: 0 };
    for (const s of campaign.scenarios) {
        total.runs += s.runs;
        total.findings += s.findings;
        total.warnings += s.warnings;
        total.failed += s.failed_runs;
    }
    return total;
}

export function rate(perSecond: number): string {
    return `${perSecond < 9.95 ? perSecond.toFixed(1) : count(perSecond)} runs/s`;
}

/** A time that goes on, in whole seconds, so that nothing flickers. */
export function seconds(ns: number): string {
    return ns < 1e9 ? '0 s' : duration(Math.floor(ns / 1e9) * 1e9);
}

/** A time that is a guess, rounded so that it does not pretend: "a few seconds", "20 s", "3 min", "1.5 h". */
export function roughly(ns: number): string {
    const s = ns / 1e9;
    if (s < 5) return 'a few seconds';
    if (s < 57.5) return `${Math.round(s / 5) * 5} s`;
    const min = Math.round(s / 60);
    if (min < 100) return `${min} min`;
    const h = s / 3600;
    if (h < 9.75) return `${Math.round(h * 2) / 2} h`;
    return h < 72 ? `${Math.round(h)} h` : `${Math.round(h / 24)} days`;
}

/** How long it will take, as honestly as it can be told; '' where there is nothing to tell. */
export function leftWords(campaign: Campaign): string {
    const s = scenarioNow(campaign);
    if (!s || s.state !== 'running') return '';
    if (campaign.state === 'paused' || campaign.state === 'stopping' || campaign.state === 'starting') return '';
    if (campaign.state === 'finished' || campaign.state === 'failed') return '';
    const rest = campaign.scenarios.some((other) => other.state === 'waiting') ? ' for this scenario' : '';
    if (s.left_ns === null) return campaign.state === 'learning' ? '' : 'too early to say how long it takes';
    if (s.left_at_least) return `at least ${roughly(s.left_ns)}${rest}: the queue still grows`;
    return `about ${roughly(s.left_ns)} left${rest}`;
}

/** How much of what is known to be due is done, from 0 to 1; null where that would be a lie. */
export function share(campaign: Campaign): number | null {
    const s = scenarioNow(campaign);
    if (!s || s.state !== 'running' || campaign.state === 'learning' || campaign.state === 'starting') return null;
    if (s.max_runs > 0 && s.max_runs <= s.runs + s.queued) return Math.min(1, s.runs / s.max_runs);
    if (s.left_at_least || s.left_ns === null || s.runs + s.queued === 0) return null;
    return s.runs / (s.runs + s.queued);
}

const PURPOSES = table({
    baseline: 'a run without faults',
    check: 'checking that the system still works',
    audit: 'an audit of what is skipped',
    shrink: 'leaving out faults one by one',
    confirm: 'confirming a finding',
    replay: 'a replay',
});

/** A run under way: "confirming a finding: payment POST /payments answers 503". */
export function flightWords(flight: Flight): string {
    const purpose = PURPOSES.get(flight.purpose);
    const faults = faultloadWords(flight.faultload);
    if (purpose === undefined) return faults === 'no faults' ? 'a run without faults' : faults;
    if (flight.purpose === 'baseline' || flight.purpose === 'check') return purpose;
    return `${purpose}: ${faults}`;
}

/** "2,000 runs or 5 min", or that there is no bound. */
export function budgetWords(s: CampaignScenario): string {
    const bounds: string[] = [];
    if (s.max_runs > 0) bounds.push(plural(s.max_runs, 'run'));
    if (s.max_time_ns > 0) bounds.push(exactTime(s.max_time_ns));
    return bounds.length === 0 ? 'no bound' : bounds.join(' or ');
}

/** A bound, which is no guess: "90 s", "5 min", "2 h". */
export function exactTime(ns: number): string {
    const s = Math.round(ns / 1e9);
    if (s % 3600 === 0 && s > 0) return `${s / 3600} h`;
    if (s % 60 === 0 && s > 0) return `${s / 60} min`;
    return `${s} s`;
}

export type BudgetCheck = { readonly max_runs?: number | null; readonly max_time?: string | null } | { readonly error: string };

/** What somebody typed as the new bounds; an empty one stays as it is. */
export function readBudget(runs: string, minutes: string): BudgetCheck {
    const out: { max_runs?: number | null; max_time?: string | null } = {};
    const r = runs.trim().replaceAll(',', '');
    const m = minutes.trim().replaceAll(',', '.');
    if (r !== '') {
        if (!/^\d{1,9}$/.test(r)) return { error: 'Runs must be a whole number; 0 means no bound.' };
        out.max_runs = Number(r) || null;
    }
    if (m !== '') {
        const value = Number(m);
        if (!/^\d*\.?\d+$/.test(m) || !Number.isFinite(value) || value > 1e7)
            return { error: 'Minutes must be a number such as 10 or 1.5; 0 means no bound.' };
        out.max_time = value > 0 ? `${Math.max(1, Math.round(value * 60))}s` : null;
    }
    if (out.max_runs === undefined && out.max_time === undefined) return { error: 'Give a number of runs, minutes, or both.' };
    return out;
}

/** What is told where the connection is not as it should be; null: all is well. */
export function linkWords(link: string, campaign: Campaign | null, hasToken = false): { readonly text: string; readonly tone: StateTone } | null {
    if (link === 'open') return null;
    if (link === 'denied') return { text: hasToken ? 'The server does not accept this token.' : 'The server wants a token.', tone: 'bad' };
    if (link === 'connecting') return campaign ? null : { text: 'Connecting to the server\u2026', tone: 'none' };
    if (campaign && ['finished', 'failed', 'stopping'].includes(campaign.state))
        return { text: 'The campaign is over and its server has ended. This page shows all that was fetched; the command outfox ui serves the campaign again.', tone: 'none' };
    if (campaign) return { text: 'The connection to the server is lost. What you see is what was known then; the page tries again by itself.', tone: 'bad' };
    return { text: 'The server cannot be reached. The page tries again by itself.', tone: 'bad' };
}
