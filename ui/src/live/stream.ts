// SPDX-License-Identifier: Apache-2.0
//
// The stream of events: connects, reads, and connects again when the connection is lost, each time
// telling the server the last event it has. It waits longer from try to try, and not at all when
// somebody says that now is a good time (nudge).
import { SseParser } from './sse';
import type { SseMessage } from './sse';

export type Link = 'connecting' | 'open' | 'lost' | 'denied';

export interface StreamOptions {
    readonly url: string;
    headers(): Record<string, string>;
    onMessage(message: SseMessage): void;
    onLink(link: Link): void;
    readonly fetch?: typeof fetch;
    /** From 0 to 1. */
    readonly random?: () => number;
    readonly silenceMs?: number;
}

const FIRST_MS = 500;
const LONGEST_MS = 15_000;
/** The server says something every 15 s, if only a comment. */
const SILENCE_MS = 40_000;

/** How long to wait before try n (from 0): twice as long each time, and not all clients at once. */
export function backoffMs(n: number, random: number, least = FIRST_MS): number {
    const whole = Math.min(LONGEST_MS, least * 2 ** Math.min(n, 10));
    return Math.round(whole * (0.75 + random / 4));
}

export class EventStream {
    private lastId = '';
    private stopped = false;
    private resting = false;
    private tries = 0;
    private least = FIRST_MS;
    private connection: AbortController | null = null;
    private wake: (() => void) | null = null;

    constructor(private readonly options: StreamOptions) {}

    start(): void {
        this.stopped = false;
        void this.loop();
    }

    stop(): void {
        this.stopped = true;
        this.connection?.abort();
        this.wake?.();
    }

    /** Do not wait any longer: the page is looked at again, there is a network, or a token. */
    nudge(): void {
        this.resting = false;
        this.tries = 0;
        this.wake?.();
    }

    /** Let go of the connection until somebody nudges: a browser has six for all tabs together. */
    rest(): void {
        this.resting = true;
        this.connection?.abort();
    }

    /** Forget where the stream was: the next connection begins anew. */
    forget(): void {
        this.lastId = '';
    }

    private async loop(): Promise<void> {
        while (!this.isStopped()) {
            const link = await this.connect();
            if (this.isStopped()) return;
            if (!this.isResting()) {
                this.options.onLink(link);
                await this.pause(link === 'denied' ? null : this.nextWait());
            }
            while (this.isResting() && !this.isStopped()) await this.pause(null);
        }
    }

    /** These are functions, because they change while others wait. */
    private isStopped(): boolean {
        return this.stopped;
    }

    private isResting(): boolean {
        return this.resting;
    }

    private nextWait(): number {
        return backoffMs(this.tries++, (this.options.random ?? Math.random)(), this.least);
    }

    /** Waits this long, or with null until somebody wakes it. */
    private pause(ms: number | null): Promise<void> {
        return new Promise((done) => {
            const timer = ms === null ? null : setTimeout(() => { this.wake?.(); }, ms);
            this.wake = () => {
                if (timer !== null) clearTimeout(timer);
                this.wake = null;
                done();
            };
        });
    }

    /** One connection, from its beginning to its end; returns what there is afterwards. */
    private async connect(): Promise<Link> {
        const control = new AbortController();
        this.connection = control;
        this.options.onLink('connecting');
        let watchdog: ReturnType<typeof setTimeout> | undefined;
        const alive = () => {
            clearTimeout(watchdog);
            watchdog = setTimeout(() => { control.abort(); }, this.options.silenceMs ?? SILENCE_MS);
        };
        try {
            alive();
            const headers: Record<string, string> = { ...this.options.headers(), accept: 'text/event-stream' };
            if (this.lastId) headers['last-event-id'] = this.lastId;
            const answer = await (this.options.fetch ?? fetch)(this.options.url, {
                headers, signal: control.signal, cache: 'no-store',
            });
            if (answer.status === 401 || answer.status === 403) return 'denied';
            if (!answer.ok || !answer.body) return 'lost';
            this.options.onLink('open');
            await this.read(answer.body, alive);
        } catch {
            // lost, for whatever reason: tried again
        } finally {
            clearTimeout(watchdog);
            control.abort();
            this.connection = null;
        }
        return 'lost';
    }

    private async read(body: ReadableStream<Uint8Array>, alive: () => void): Promise<void> {
        const parser = new SseParser(this.lastId);
        const decoder = new TextDecoder();
        const reader = body.getReader();
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            alive();
            for (const message of parser.push(decoder.decode(value, { stream: true }))) {
                this.tries = 0;
                this.lastId = message.id;
                this.options.onMessage(message);
            }
            if (parser.retryMs !== null) this.least = Math.max(100, parser.retryMs);
        }
    }
}
