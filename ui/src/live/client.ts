// SPDX-License-Identifier: Apache-2.0
//
// A client of the control API: docs/api.md. All that the page asks of a server goes through here, with
// the token in a header and nothing in the address.
import type { Explanation } from '../model/types';
import type { Accepted, Campaign, ReplayAnswer } from './types';

export type Answer =
    | { readonly kind: 'fresh'; readonly value: unknown; readonly etag: string | null }
    | { readonly kind: 'same' }
    | { readonly kind: 'none' };

/** The server was reached and said no; the message is its sentence. */
export class Refused extends Error {
    constructor(readonly status: number, message: string) {
        super(message);
    }
}

/** The server was not reached. */
export class Unreachable extends Error {
    constructor() {
        super('the server cannot be reached');
    }
}

export interface ReplayWish {
    readonly scenario: number;
    readonly finding?: string;
    readonly run?: number;
    readonly faultload?: string;
}

export interface Budget {
    /** null: no bound. */
    readonly max_runs?: number | null;
    readonly max_time?: string | null;
}

/** The sentence of an error, from a body that may be anything. */
export function sentenceOf(status: number, body: string): string {
    try {
        const value = JSON.parse(body) as unknown;
        const message = (value as { error?: { message?: unknown } } | null)?.error?.message;
        if (typeof message === 'string') return message;
    } catch {
        // not JSON
    }
    if (status === 401 || status === 403) return 'the server wants another token';
    return `the server answers ${status}`;
}

export class Client {
    readonly base: string;
    private readonly fetch: typeof fetch;

    constructor(private readonly token: () => string | null, options: { base?: string; fetch?: typeof fetch } = {}) {
        this.base = options.base ?? '/api/v1';
        this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
    }

    headers(): Record<string, string> {
        const token = this.token();
        return token === null ? {} : { authorization: `Bearer ${token}` };
    }

    /** A document, or that it is still the one with this tag, or that there is none. */
    async get(name: string, etag: string | null = null): Promise<Answer> {
        const headers: Record<string, string> = { ...this.headers(), accept: 'application/json' };
        if (etag !== null) headers['if-none-match'] = etag;
        const answer = await this.ask(name, { headers, cache: 'no-store' });
        if (answer.status === 304) return { kind: 'same' };
        if (answer.status === 404) return { kind: 'none' };
        return { kind: 'fresh', value: await read(answer), etag: answer.headers.get('etag') };
    }

    async post(name: string, body: unknown = {}): Promise<unknown> {
        const headers = { ...this.headers(), accept: 'application/json', 'content-type': 'application/json' };
        return await read(await this.ask(name, { method: 'POST', headers, body: JSON.stringify(body) }));
    }

    async pause(): Promise<Campaign> { return await this.post('pause') as Campaign; }
    async resume(): Promise<Campaign> { return await this.post('resume') as Campaign; }
    async stop(): Promise<Campaign> { return await this.post('stop') as Campaign; }
    async budget(budget: Budget): Promise<Campaign> { return await this.post('budget', budget) as Campaign; }

    async oracle(name: string, severity: string): Promise<Campaign> {
        return await this.post(`oracles/${encodeURIComponent(name)}`, { severity }) as Campaign;
    }

    async replay(wish: ReplayWish): Promise<string> {
        const accepted = await this.post('replays', wish) as Accepted;
        return String(accepted.id);
    }

    /** How far a replay is; null: the server knows of none such. */
    async replayed(id: string): Promise<ReplayAnswer | null> {
        const answer = await this.get(`replays/${encodeURIComponent(id)}`);
        return answer.kind === 'fresh' ? answer.value as ReplayAnswer : null;
    }

    async explain(scenario: number, faultload: string): Promise<Explanation | null> {
        const query = new URLSearchParams({ scenario: String(scenario), faultload });
        const answer = await this.get(`explain?${query.toString()}`);
        return answer.kind === 'fresh' ? answer.value as Explanation : null;
    }

    private async ask(name: string, init: RequestInit): Promise<Response> {
        try {
            return await this.fetch(`${this.base}/${name}`, init);
        } catch {
            throw new Unreachable();
        }
    }
}

async function read(answer: Response): Promise<unknown> {
    const body = await answer.text().catch(() => { throw new Unreachable(); });
    if (!answer.ok) throw new Refused(answer.status, sentenceOf(answer.status, body));
    return body === '' ? null : JSON.parse(body) as unknown;
}
