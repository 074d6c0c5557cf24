// SPDX-License-Identifier: Apache-2.0
//
// What the page knows of a campaign that goes on: its state, how the connection is, what was found
// since, the replays that were asked for. Views read `now` and are told when it changes.
import { Refused, type Budget, type Client, type ReplayWish } from './client';
import { isOver, Refresher, type Shelf } from './refresh';
import type { ServerSource } from './source';
import { EventStream, type Link } from './stream';
import type { SseMessage } from './sse';
import type { Campaign, FindingEvent, RemarkEvent, Replay, ReplayAnswer } from './types';

export type ReplayState =
    | { readonly state: 'waiting' | 'running' }
    | { readonly state: 'failed'; readonly error: string }
    | { readonly state: 'done'; readonly result: Replay };

export interface Now {
    readonly link: Link;
    readonly lostAt: number | null;
    readonly campaign: Campaign | null;
    /** Sentence for those who hear the page, and how many there were, so that equal ones are told apart. */
    readonly said: { readonly text: string; readonly n: number; readonly finding: boolean };
    /** Commands on their way. */
    readonly sending: ReadonlySet<string>;
    /** What the server said to the last command that it refused. */
    readonly refused: string | null;
    readonly replays: ReadonlyMap<string, ReplayState>;
}

export const TYPES = ['state', 'finding', 'remark', 'replay', 'again'] as const;
const POLL_MS = 2000;
const QUIET_MS = 1500;
/** How long a page may be out of sight before it lets go of its connection. */
const REST_MS = 5000;

/** Findings that were told within a moment, in one sentence. */
export function announcement(findings: readonly Pick<FindingEvent, 'why'>[], total: number): string {
    const [first] = findings;
    if (!first) return '';
    if (findings.length === 1) return `New finding: ${first.why}. ${total === 1 ? '1 finding' : `${total} findings`} so far.`;
    return `${findings.length} new findings. ${total} so far.`;
}

/** A campaign that has made fewer runs than before, or another one, is not the one that was watched. */
export function isAnother(before: Campaign | null, after: Campaign): boolean {
    if (!before) return false;
    return before.system !== after.system || before.file !== after.file || after.took_ns < before.took_ns ||
        isOver(before) && !isOver(after);
}

const isEnding = (campaign: Campaign) => isOver(campaign) || campaign.state === 'stopping';

function replayState(answer: ReplayAnswer): ReplayState {
    if (answer.result) return { state: 'done', result: answer.result };
    if (answer.state === 'failed') return { state: 'failed', error: answer.error ?? 'the replay failed' };
    return { state: answer.state === 'running' ? 'running' : 'waiting' };
}

const text = (cause: unknown) => cause instanceof Error ? cause.message : String(cause);

export class Live {
    now: Now = {
        link: 'connecting', lostAt: null, campaign: null, said: { text: '', n: 0, finding: false }, sending: new Set(), refused: null,
        replays: new Map(),
    };
    private readonly listeners = new Set<() => void>();
    private readonly stream: EventStream;
    private resting: ReturnType<typeof setTimeout> | undefined;
    private readonly refresher: Refresher;
    private fresh: (FindingEvent | RemarkEvent)[] = [];
    private saying: ReturnType<typeof setTimeout> | null = null;
    private wasLost = false;

    constructor(readonly client: Client, private readonly source: ServerSource, private readonly shelf: Shelf,
        hidden: () => boolean = () => document.hidden) {
        this.refresher = new Refresher(shelf, hidden);
        this.stream = new EventStream({
            url: `${client.base}/events?types=${TYPES.join(',')}`,
            headers: () => client.headers(),
            onMessage: (message) => { this.take(message); },
            onLink: (link) => { this.linked(link); },
        });
    }

    begin(): void {
        this.stream.start();
        document.addEventListener('visibilitychange', () => { this.seen(!document.hidden); });
        addEventListener('online', () => { this.stream.nudge(); });
        addEventListener('hashchange', () => { this.look(); });
    }

    end(): void {
        clearTimeout(this.resting);
        this.stream.stop();
        this.refresher.stop();
        if (this.saying !== null) clearTimeout(this.saying);
    }

    listen(changed: () => void): () => void {
        this.listeners.add(changed);
        return () => { this.listeners.delete(changed); };
    }

    /** A tab that nobody looks at does not keep others from being served; it catches up when it is looked at. */
    private seen(visible: boolean): void {
        clearTimeout(this.resting);
        if (visible) {
            this.stream.nudge();
            this.look();
        } else this.resting = setTimeout(() => { this.stream.rest(); }, REST_MS);
    }

    /** Try at once: the page is looked at, or somebody asked for it. */
    look(): void {
        if (this.now.link === 'lost') this.stream.nudge();
        this.refresher.look();
    }

    /** There is a token now. */
    admit(): void {
        this.stream.nudge();
        for (const name of this.shelf.names()) void this.shelf.refresh(name);
    }

    dismiss(): void {
        this.set({ refused: null });
    }

    pause(): Promise<boolean> { return this.command('pause', () => this.client.pause()); }
    resume(): Promise<boolean> { return this.command('resume', () => this.client.resume()); }
    stop(): Promise<boolean> { return this.command('stop', () => this.client.stop()); }
    budget(to: Budget): Promise<boolean> { return this.command('budget', () => this.client.budget(to)); }

    oracle(name: string, severity: string): Promise<boolean> {
        return this.command(`oracle ${name}`, () => this.client.oracle(name, severity));
    }

    /** Asks for a replay; gives its id, or null where that was refused. */
    async replay(wish: ReplayWish): Promise<string | null> {
        const id = await this.send('replay', () => this.client.replay(wish));
        if (id === null) return null;
        this.setReplay(id, { state: 'waiting' });
        void this.follow(id);
        return id;
    }

    /** A replay that this page did not ask for itself: of before a reload, or of another page. */
    recall(id: string): void {
        if (this.now.replays.has(id)) return;
        this.setReplay(id, { state: 'waiting' });
        void this.follow(id);
    }

    // ---- what comes in ----

    private linked(link: Link): void {
        if (link === 'connecting' && this.now.link !== 'connecting') return; // lost, until it is open
        if (link === 'open') {
            if (this.wasLost) this.refetch();
            this.wasLost = false;
            void this.catchUp();
        }
        if (link === 'lost') this.wasLost = true;
        this.set({ link, lostAt: link === 'lost' ? this.now.lostAt ?? Date.now() : null });
    }

    /** The stream tells what changes; how things are when it begins is asked for. */
    private async catchUp(): Promise<void> {
        try {
            const answer = await this.client.get('campaign');
            if (answer.kind === 'fresh') this.setCampaign(answer.value as Campaign);
        } catch {
            // the stream notices the same, and says so
        }
        for (const id of this.now.replays.keys()) void this.ask(id);
    }

    private refetch(): void {
        this.source.forget();
        this.refresher.reset();
    }

    private take(message: SseMessage): void {
        if (message.type === 'reset') {
            this.refetch();
            void this.catchUp();
            return;
        }
        let data: unknown;
        try {
            data = JSON.parse(message.data);
        } catch {
            return; // a server that sends no JSON is not ours
        }
        if (message.type === 'state') this.setCampaign(data as Campaign);
        else if (message.type === 'finding') this.found(data as FindingEvent);
        else if (message.type === 'remark' && (data as RemarkEvent).severity === 'finding') this.found(data as RemarkEvent);
        else if (message.type === 'again') this.refetch();
        else if (message.type === 'replay') void this.ask(String((data as { id: string | number }).id));
    }

    private setCampaign(campaign: Campaign): void {
        const before = this.now.campaign;
        if (isAnother(before, campaign)) this.refetch();
        this.set({ campaign });
        this.refresher.tell(campaign);
        if (!before) return;
        if (!isOver(before) && isOver(campaign)) this.say(campaign.state === 'failed' ? 'The campaign failed.' : 'The campaign has finished.');
        if (isEnding(campaign) && campaign.state !== before.state) this.gather(campaign);
    }

    /** The server may end with the campaign: what the page can show is fetched while it is there. */
    private gather(campaign: Campaign): void {
        for (const name of ['report', 'dependencies']) void this.shelf.refresh(name);
        campaign.scenarios.forEach((_, s) => {
            for (const name of ['handlers', 'runs', 'explanations']) void this.shelf.refresh(`${name}/${s}`);
        });
    }

    private found(finding: FindingEvent | RemarkEvent): void {
        if (finding.stage !== 'told') return; // it will be shrunk and confirmed first, or is told once more at the end
        this.fresh.push(finding);
        if (this.saying !== null) return;
        this.saying = setTimeout(() => {
            this.saying = null;
            const total = this.now.campaign?.scenarios.reduce((sum, s) => sum + s.findings, 0) ?? this.fresh.length;
            this.say(announcement(this.fresh, Math.max(total, this.fresh.length)), true);
            this.fresh = [];
        }, QUIET_MS);
    }

    // ---- what is asked ----

    /** A command, after which the campaign is in the state that the server answers with. */
    private async command(name: string, ask: () => Promise<Campaign>): Promise<boolean> {
        const campaign = await this.send(name, ask);
        if (campaign) this.setCampaign(campaign);
        return campaign !== null;
    }

    /** Sends something once; null: it was refused, and `refused` says why. */
    private async send<T>(name: string, ask: () => Promise<T>): Promise<T | null> {
        if (this.now.sending.has(name)) return null;
        this.set({ sending: new Set([...this.now.sending, name]), refused: null });
        let got: T | null = null;
        let refused: string | null = null;
        try {
            got = await ask();
        } catch (cause) {
            refused = text(cause);
            if (cause instanceof Refused && cause.status === 401) this.set({ link: 'denied' });
        }
        this.set({ sending: new Set([...this.now.sending].filter((other) => other !== name)), refused });
        return got;
    }

    /** Asks now and then, besides the event that tells its end: that may be missed. */
    private async follow(id: string): Promise<void> {
        while (await this.ask(id)) await new Promise((done) => setTimeout(done, POLL_MS));
    }

    /** How far a replay is; returns whether it goes on. */
    private async ask(id: string): Promise<boolean> {
        const before = this.now.replays.get(id)?.state;
        if (before !== 'waiting' && before !== 'running') return false;
        let now: ReplayState;
        try {
            const answer = await this.client.replayed(id);
            now = answer ? replayState(answer) : { state: 'failed', error: 'the server does not know this replay: it was started again' };
        } catch (cause) {
            if (!(cause instanceof Refused)) return true; // the server is away
            now = { state: 'failed', error: cause.message };
        }
        this.setReplay(id, now);
        if (now.state === 'done') this.say(`The replay is done: ${now.result.verdict === 'ok' ? 'as expected' : now.result.why}.`);
        return now.state === 'waiting' || now.state === 'running';
    }

    // ---- telling ----

    private say(sentence: string, finding = false): void {
        this.set({ said: { text: sentence, n: this.now.said.n + 1, finding } });
    }

    private setReplay(id: string, now: ReplayState): void {
        this.set({ replays: new Map(this.now.replays).set(id, now) });
    }

    private set(part: Partial<Now>): void {
        this.now = { ...this.now, ...part };
        for (const changed of [...this.listeners]) changed();
    }
}
