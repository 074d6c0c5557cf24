// SPDX-License-Identifier: Apache-2.0
//
// The documents that were asked for so far: each is fetched once, kept, and fetched again when somebody
// says that it changed. While that lasts the old one stays, so that nothing flickers.
import type { Source } from './source';

export type Loaded<T> =
    | { readonly state: 'loading' }
    | { readonly state: 'error'; readonly error: string }
    /** There is no such document: it was left out, or does not make sense here. */
    | { readonly state: 'missing' }
    | { readonly state: 'ready'; readonly value: T };

interface Entry {
    now: Loaded<unknown>;
    /** Counts fetches: an answer that was overtaken is dropped. */
    asked: number;
    /** It may be another one by now, and is fetched again when it is read next. */
    expired: boolean;
    readonly listeners: Set<() => void>;
}

const LOADING = { state: 'loading' } as const;
const MISSING = { state: 'missing' } as const;

export class Documents {
    private readonly entries = new Map<string, Entry>();

    constructor(readonly source: Source) {}

    /** What is known of a document; asks for it the first time. */
    read(name: string): Loaded<unknown> {
        const entry = this.entry(name);
        if (entry.asked === 0 || entry.expired) void this.refresh(name);
        return entry.now;
    }

    /** Names of the documents that were asked for. */
    names(): string[] {
        return [...this.entries.keys()];
    }

    /** Names of those that somebody shows. */
    watched(): string[] {
        return this.names().filter((name) => this.entry(name).listeners.size > 0);
    }

    /** It may be another one by now; nobody needs to know at once. */
    expire(name: string): void {
        this.entry(name).expired = true;
    }

    async refresh(name: string): Promise<void> {
        const entry = this.entry(name);
        const turn = ++entry.asked;
        entry.expired = false;
        if (entry.now.state !== 'ready') this.set(entry, LOADING);
        let now: Loaded<unknown>;
        try {
            const value = await this.source.get(name);
            now = value === null ? MISSING : { state: 'ready', value };
        } catch (cause) {
            now = { state: 'error', error: cause instanceof Error ? cause.message : String(cause) };
        }
        if (turn !== entry.asked) return;
        // what was there is better than an error; the bar of the live page says that the server is gone
        if (now.state === 'error' && entry.now.state === 'ready') return;
        const same = now.state === 'ready' && entry.now.state === 'ready' && now.value === entry.now.value;
        if (!same) this.set(entry, now);
    }

    /** Calls when the document changes; gives what ends that. */
    listen(name: string, changed: () => void): () => void {
        const { listeners } = this.entry(name);
        listeners.add(changed);
        return () => { listeners.delete(changed); };
    }

    private entry(name: string): Entry {
        let entry = this.entries.get(name);
        if (!entry) {
            entry = { now: LOADING, asked: 0, expired: false, listeners: new Set() };
            this.entries.set(name, entry);
        }
        return entry;
    }

    private set(entry: Entry, now: Loaded<unknown>): void {
        if (entry.now === now) return;
        entry.now = now;
        for (const changed of [...entry.listeners]) changed();
    }
}
