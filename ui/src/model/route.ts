// SPDX-License-Identifier: Apache-2.0
//
// Where in the page one is: the part of the address behind #.
//
//     #/                      #/VIEW/S                #/VIEW/S/REST?KEY=VALUE
//
// S is the place of a scenario in the report, from 0.

export interface Route {
    /** '' is the overview. */
    readonly view: string;
    readonly scenario: number;
    /** What follows the scenario, decoded. */
    readonly rest: readonly string[];
    readonly query: Readonly<Record<string, string>>;
}

function decode(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch {
        return part; // a % of somebody's own
    }
}

export function parseRoute(hash: string): Route {
    const text = hash.startsWith('#') ? hash.slice(1) : hash;
    const at = text.indexOf('?');
    const path = at < 0 ? text : text.slice(0, at);
    const [view = '', scenario = '', ...rest] = path.split('/').filter((part) => part !== '').map(decode);
    const query: Record<string, string> = {};
    if (at >= 0) for (const [key, value] of new URLSearchParams(text.slice(at + 1))) query[key] = value;
    return { view, scenario: /^\d{1,6}$/.test(scenario) ? Number(scenario) : 0, rest, query };
}

/** The address of a view; values of the query that are empty are left out. */
export function routeTo(view: string, scenario?: number, rest: readonly (string | number)[] = [],
    query: Readonly<Record<string, string>> = {}): string {
    const parts = view === '' ? [] : [view, ...scenario === undefined ? [] : [scenario, ...rest]];
    const kept = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
    return `#/${parts.map((part) => encodeURIComponent(part)).join('/')}${kept ? `?${kept}` : ''}`;
}
