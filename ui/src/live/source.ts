// SPDX-License-Identifier: Apache-2.0
//
// Documents of a server. Each is kept with its tag: while the server says that it is still the same,
// what was read before stays, the very object, so that nothing is drawn again.
import type { Runs } from '../model/types';
import type { Source } from '../source';
import type { Client } from './client';
import { addRuns, nameOfRest } from './more_runs';

interface Kept {
    readonly value: unknown;
    readonly etag: string | null;
}

export class ServerSource implements Source {
    readonly live = true;
    private readonly kept = new Map<string, Kept>();
    private readonly asked = new Map<string, Promise<unknown>>();

    constructor(private readonly client: Client) {}

    get(name: string): Promise<unknown> {
        const under = this.asked.get(name);
        if (under) return under;
        const answer = this.fetch(name).finally(() => { this.asked.delete(name); });
        this.asked.set(name, answer);
        return answer;
    }

    /** Another server may use the same tags for other documents. */
    forget(): void {
        this.kept.clear();
    }

    private async fetch(name: string): Promise<unknown> {
        const kept = this.kept.get(name);
        const asked = nameOfRest(name, kept?.value);
        const answer = await this.client.get(asked, kept?.etag ?? null);
        if (answer.kind === 'same') return kept?.value ?? null;
        if (answer.kind === 'none') {
            this.kept.delete(name);
            return null;
        }
        if (asked !== name && this.kept.get(name) !== kept) return await this.fetch(name); // forgotten meanwhile
        const value = asked === name ? answer.value : addRuns(kept?.value as Runs, answer.value as Runs);
        this.kept.set(name, { value, etag: answer.etag });
        return value;
    }
}
