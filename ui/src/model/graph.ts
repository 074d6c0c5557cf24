// SPDX-License-Identifier: Apache-2.0
//
// The call graph of a scenario: a box for each service with a row for each call to it, and a line from
// the row of a call to those of the calls that its handler makes. The client is at the left.
import { duration } from './format';
import { parentOf, lastElement, parseElement, withoutNumbers } from './names';
import type { Call, Dependency, DependencyScenario, KnownCall } from './types';

export interface GraphCall {
    /** Its full name, without the numbers of equal calls. */
    readonly uid: string;
    readonly service: string;
    /** Its interface. */
    readonly what: string;
    /** The call whose handler makes it; null: the client does. */
    readonly parent: string | null;
    readonly caller: string | null;
    /** hard, soft, conditional, unknown; request: the client's own. */
    readonly kind: string;
    /** Is it only made after a fault? */
    readonly onlyAfter: boolean;
    readonly retried: boolean;
    /** Median without faults. */
    readonly took: number | null;
    readonly dependency: Dependency | null;
}

export interface Graph {
    readonly calls: readonly GraphCall[];
    readonly byUid: ReadonlyMap<string, GraphCall>;
    /** The services in the order in which they are called, and the calls to each. */
    readonly services: ReadonlyMap<string, readonly GraphCall[]>;
}

/** The full names of the calls of a run, in the order in which they are made. */
function namesOf(run: Call | null): string[] {
    const names: string[] = [];
    const todo = run ? [{ call: run, above: '' }] : [];
    for (let at = todo.pop(); at; at = todo.pop()) {
        const uid = `${at.above}${at.call.call}`;
        names.push(uid);
        for (const call of [...at.call.calls].reverse()) todo.push({ call, above: `${uid} > ` });
    }
    return names;
}

/**
 * The calls of a scenario, as far as they are known: those that were made and those that may fail. Those
 * of the run without faults come first, in its order.
 */
export function callGraph(dependencies: DependencyScenario | undefined, known: readonly KnownCall[], run: Call | null = null): Graph {
    const byDependency = new Map((dependencies?.dependencies ?? []).map((d) => [withoutNumbers(d.call), d]));
    const byName = new Map<string, KnownCall>();
    for (const call of known) {
        const uid = withoutNumbers(call.call);
        if (!byName.has(uid)) byName.set(uid, call); // the first of equal ones is the usual one
    }
    const byUid = new Map<string, GraphCall>();
    const services = new Map<string, GraphCall[]>();
    const add = (uid: string): void => {
        if (byUid.has(uid)) return;
        const parent = parentOf(uid);
        if (parent !== null) add(parent);
        const dependency = byDependency.get(uid) ?? null;
        const seen = byName.get(uid);
        const { service, what } = parseElement(lastElement(uid));
        const call: GraphCall = {
            uid, service, what, parent, dependency,
            caller: parent === null ? null : byUid.get(parent)?.service ?? null,
            kind: dependency?.kind ?? (parent === null ? 'request' : 'unknown'),
            onlyAfter: dependency ? dependency.only_after !== null : seen?.conditional ?? false,
            retried: dependency?.retried ?? false,
            took: seen?.took_ns ?? null,
        };
        byUid.set(uid, call);
        const of = services.get(service);
        if (of) of.push(call);
        else services.set(service, [call]);
    };
    for (const uid of namesOf(run)) add(withoutNumbers(uid));
    for (const uid of byName.keys()) add(uid);
    for (const uid of byDependency.keys()) add(uid);
    return { calls: [...byUid.values()], byUid, services };
}

/** The calls that the handler of a call makes. */
export function callsBelow(graph: Graph, uid: string): GraphCall[] {
    return graph.calls.filter((call) => call.parent === uid);
}

export interface Kind {
    readonly name: string;
    readonly sign: string;
    readonly words: string;
}

/** What becomes of the request when a call fails: worst first. */
export const kinds: readonly Kind[] = [
    { name: 'hard', sign: '\u25a0', words: 'the request fails with it' },
    { name: 'conditional', sign: '\u25c6', words: 'it depends on the failure, or the call is only made after one' },
    { name: 'soft', sign: '\u25cb', words: 'the failure is absorbed' },
    { name: 'unknown', sign: '?', words: 'it never failed alone' },
];

const request: Kind = { name: 'request', sign: '\u25b6', words: 'the request of the client' };

export function kindOf(name: string): Kind {
    if (name === request.name) return request;
    return kinds.find((kind) => kind.name === name) ?? { name, sign: '?', words: name };
}

/** A call in a sentence: what the graph says of it to those who hear it, or who point at it. */
export function sentence(call: GraphCall): string {
    const took = call.took === null ? '' : `; ${duration(call.took)} without faults`;
    const fails = call.kind === 'request' ? '' : `: ${call.kind}, ${call.dependency?.text ?? 'nothing is known of its failure yet'}`;
    return `${call.caller ?? 'the client'} calls ${call.service} ${call.what}${fails}${took}`;
}
