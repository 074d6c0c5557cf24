// SPDX-License-Identifier: Apache-2.0
//
// When documents of a campaign that goes on are fetched again: at most every few seconds, only when
// its state says that there is something new, only those that somebody looks at, and none while the
// page is hidden. What nobody looks at is fetched when somebody does.
import type { Campaign } from './types';

const EVERY_MS = 3000;

export function isOver(campaign: Campaign): boolean {
    return campaign.state === 'finished' || campaign.state === 'failed';
}

/** What tells one state of a scenario's documents from the next. */
export function markOf(campaign: Campaign, scenario: number | null): string {
    const rows = scenario === null ? campaign.scenarios : campaign.scenarios.slice(scenario, scenario + 1);
    const all = rows.map((s) => [s.state, s.verdict, s.runs, s.findings, s.warnings, s.failed_runs].join(' '));
    const phase = isOver(campaign) ? 'over' : campaign.state === 'starting' ? 'starting' : 'on';
    return `${phase}|${all.join('|')}`;
}

/** "handlers/2" is of scenario 2, "report" of all; null: it does not change while a campaign goes on. */
export function scenarioOf(name: string): number | 'all' | null {
    if (name === 'report' || name === 'dependencies') return 'all';
    const found = /^(?:handlers|runs|explanations)\/(\d+)(?:[/?]|$)/.exec(name);
    return found ? Number(found[1]) : null;
}

export interface Shelf {
    /** Documents that are on the screen. */
    watched(): string[];
    /** All that were fetched. */
    names(): string[];
    refresh(name: string): Promise<void>;
    /** Fetch it again when it is asked for next. */
    expire(name: string): void;
}

export class Refresher {
    private readonly seen = new Map<string, string>();
    private campaign: Campaign | null = null;
    private timer: ReturnType<typeof setTimeout> | null = null;
    private last = -Infinity;
    private busy = false;

    constructor(private readonly shelf: Shelf, private readonly hidden: () => boolean,
        private readonly now: () => number = () => performance.now(), private readonly everyMs = EVERY_MS) {}

    /** The campaign is in this state now. */
    tell(campaign: Campaign): void {
        if (isOver(campaign) && this.campaign && !isOver(this.campaign)) this.last = -Infinity; // the server may end soon
        this.campaign = campaign;
        this.plan();
    }

    /** The page is looked at again, or shows something else. */
    look(): void {
        this.plan();
    }

    /** All that is known may be wrong. */
    reset(): void {
        this.seen.clear();
        this.last = -Infinity;
        this.plan();
    }

    stop(): void {
        if (this.timer !== null) clearTimeout(this.timer);
        this.timer = null;
    }

    private plan(): void {
        if (this.timer !== null || this.busy || this.hidden() || this.due().length === 0) return;
        const wait = Math.max(0, this.last + this.everyMs - this.now());
        this.timer = setTimeout(() => {
            this.timer = null;
            void this.fetch();
        }, wait);
    }

    /** Documents that may be others by now. */
    private due(): string[] {
        return this.shelf.names().filter((name) => this.mark(name) !== this.seen.get(name));
    }

    private mark(name: string): string | undefined {
        const scenario = scenarioOf(name);
        if (scenario === null || this.campaign === null) return this.seen.get(name);
        return markOf(this.campaign, scenario === 'all' ? null : scenario);
    }

    private async fetch(): Promise<void> {
        if (this.hidden()) return;
        this.last = this.now();
        this.busy = true;
        const watched = new Set(this.shelf.watched());
        const names = this.due();
        for (const name of names) {
            const mark = this.mark(name);
            if (mark !== undefined) this.seen.set(name, mark);
        }
        for (const name of names) if (!watched.has(name)) this.shelf.expire(name);
        await Promise.all(names.filter((name) => watched.has(name)).map((name) => this.shelf.refresh(name)));
        this.busy = false;
        this.plan();
    }
}
