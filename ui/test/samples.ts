// SPDX-License-Identifier: Apache-2.0
//
// Documents for tests, small and written out.
import type { Dependency, DependencyScenario, Failure, Handler, HandlerNode, KnownCall } from '../src/model/types';

/** [call, outcomes, to, a run that shows it], or [reply, a run that shows it]. */
type Sample = readonly [string, readonly string[], number, number?] | readonly [string, number?];

export function handlerNode(branches: readonly Sample[]): HandlerNode {
    return {
        runs: branches.length,
        branches: branches.map((b) => Array.isArray(b[1])
            ? { call: b[0], outcomes: [...b[1] as string[]], runs: 1, shown: [b[3] ?? 5], to: b[2] as number }
            : { reply: b[0], outcomes: [b[0]], runs: 1, shown: [b[1] as number | undefined ?? 5] }),
    };
}

export function handler(nodes: HandlerNode[], name = 'a GET /'): Handler {
    return { call: name, handler: name, service: name.split(' ')[0] ?? '', runs: 9, transcripts: 9, nodes };
}

const bad = ['500', '503'];

/** examples/shop: tries cart and payment again, alerts, and does not mind a full cart. */
export const shopCheckout: Handler = handler([
    handlerNode([['cart GET /carts/alice', ['200'], 1, 1], ['cart GET /carts/alice', bad, 6, 2]]),
    handlerNode([['quote POST /quotes', ['200'], 2, 1], ['quote POST /quotes', bad, 7, 3]]),
    handlerNode([['payment POST /payments', ['200'], 3, 1], ['payment POST /payments', bad, 8, 4]]),
    handlerNode([['cart DELETE /carts/alice', ['200', ...bad], 4, 1]]),
    handlerNode([['200', 1]]),
    handlerNode([['503', 3]]),
    handlerNode([['cart GET /carts/alice #1', ['200'], 1, 2], ['cart GET /carts/alice #1', bad, 5, 9]]),
    handlerNode([['alerting POST /alerts/quote', ['200', ...bad], 5, 3]]),
    handlerNode([['payment POST /payments #1', ['200'], 3, 4], ['payment POST /payments #1', bad, 9, 11]]),
    handlerNode([['alerting POST /alerts/payment', ['200', ...bad], 5, 11]]),
], 'checkout POST /checkout/alice');

export function failure(name: string, more: Partial<Failure> = {}): Failure {
    return {
        failure: name, fails: true, lasting: true, status: '503', absorbed_by: null, absorbed_in: null, instead: null,
        faultload: `x : ${name}`, run: 12, replay: `outfox replay 'x : ${name}'`, ...more,
    };
}

export function dependency(call: string, more: Partial<Dependency> = {}): Dependency {
    const path = call.split(' > ');
    return {
        call, caller: path[path.length - 2]?.split(' ')[0] ?? '', service: path[path.length - 1]?.split(' ')[0] ?? '', kind: 'hard',
        absorbed_by: null, absorbed_in: null, instead: null, retried: false, only_after: null, causes: [], text: 'the request fails',
        failures: [failure('500'), failure('503')], ...more,
    };
}

const top = 'checkout POST /checkout/alice';

export const shop: DependencyScenario = {
    scenario: 'checkout', broken: null, stopped_by: null, tried: ['500', '503'],
    dependencies: [
        dependency(`${top} > cart GET /carts/alice`, { retried: true, text: 'the request fails; a retry absorbs a transient failure' }),
        dependency(`${top} > payment POST /payments`),
        dependency(`${top} > payment POST /payments > shipping POST /shipments`),
        dependency(`${top} > cart DELETE /carts/alice`, {
            kind: 'soft', absorbed_by: 'value', absorbed_in: 'checkout', text: 'checkout continues without it',
            failures: ['500', '503'].map((f) => failure(f, { fails: false, status: '200', absorbed_by: 'value', absorbed_in: 'checkout' })),
        }),
        dependency(`${top} > alerting POST /alerts/payment`, {
            kind: 'conditional', only_after: `${top} > payment POST /payments : 500`, causes: [[`${top} > payment POST /payments`]],
            text: 'only called when payment POST /payments fails, and then the request fails anyway', failures: [],
        }),
    ],
    pairs: [{
        calls: [`${top} > cart GET /carts/alice`, `${top} > cart DELETE /carts/alice`], status: '503',
        faultload: 'a : 500 & b : 500', run: 33, replay: "outfox replay 'a : 500 & b : 500'",
    }],
    redundant: [{ call: `${top} > cart GET /carts/alice`, times: 2, one_handler: true }],
};

export const shopCalls: KnownCall[] = [
    [top, null, 3_000_000], [`${top} > cart GET /carts/alice`, 'checkout', 131_000], [`${top} > payment POST /payments`, 'checkout', 475_000],
    [`${top} > payment POST /payments > shipping POST /shipments`, 'payment', 124_000], [`${top} > cart DELETE /carts/alice`, 'checkout', 167_000],
    [`${top} > cart GET /carts/alice #1`, 'checkout', null], [`${top} > log POST /lines`, 'checkout', null],
].map(([call, caller, took]) => ({
    call: call as string, caller: caller as string | null, service: (call as string).split(' > ').pop()?.split(' ')[0] ?? '',
    conditional: took === null, took_ns: took as number | null, runs: took === null ? 0 : 3,
}));
