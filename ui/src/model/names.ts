// SPDX-License-Identifier: Apache-2.0
//
// Names of calls. An element is `SERVICE INTERFACE [{payload}] [^predecessors] [#n]`; the full name of a
// call is the path of elements that leads to it, with ` > ` between them.

export interface Name {
    readonly service: string;
    /** All that follows the service, but for the number. */
    readonly what: string;
    /** How many equal calls the same handler made before. */
    readonly number: number;
}

export function elements(uid: string): string[] {
    return uid.split(' > ');
}

export function lastElement(uid: string): string {
    const at = uid.lastIndexOf(' > ');
    return at < 0 ? uid : uid.slice(at + 3);
}

/** The full name of the call that made this one; null for the first. */
export function parentOf(uid: string): string | null {
    const at = uid.lastIndexOf(' > ');
    return at < 0 ? null : uid.slice(0, at);
}

export function parseElement(element: string): Name {
    const numbered = /^(.*) #(\d{1,9})$/.exec(element);
    const text = numbered?.[1] ?? element;
    const blank = text.indexOf(' ');
    return {
        service: blank < 0 ? text : text.slice(0, blank),
        what: blank < 0 ? '' : text.slice(blank + 1),
        number: numbered ? Number(numbered[2]) : 0,
    };
}

/** The same without the number that tells equal calls apart. */
export function withoutNumber(element: string): string {
    return element.replace(/ #\d{1,9}$/, '');
}

export function withoutNumbers(uid: string): string {
    return elements(uid).map(withoutNumber).join(' > ');
}

/** "checkout > cart GET /carts/[id]": who calls what. */
export function shortName(uid: string): string {
    const parent = parentOf(uid);
    const own = lastElement(uid);
    return parent === null ? own : `${parseElement(lastElement(parent)).service} > ${own}`;
}

/** Does a caller take this for a success? */
export function succeeds(outcome: string): boolean {
    return /^([123]\d\d|grpc:0|exit:0)$/.test(outcome);
}
