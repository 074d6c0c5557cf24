// SPDX-License-Identifier: Apache-2.0
//
// Faultloads as text: CALL : MODE & CALL : MODE & SERVICE WAY, such as payment down; none for the empty one.
import { lastElement } from './names';
import { table } from './table';

/** Stands for the mode of a service that is down. */
export const DOWN = 'down';

/** The ways in which a service fails as a whole; dice may follow. They stand for a mode, too. */
const WHOLE = /^(down|slow|overloaded(:[1-9][0-9]*)?|hanging|gone|crashing)$/;

/** "is overloaded", of a service that fails as a whole; nothing for a mode of calls. */
export function wholeWords(mode: string): string | null {
    return WHOLE.test(mode) ? `is ${mode.replace(/:.*/, '')}` : null;
}

export interface Fault {
    /** A call, or a service that fails as a whole. */
    readonly call: string;
    readonly mode: string;
}

/** The faults of a text. Names may hold anything, so a part that is no fault belongs to the next one. */
export function parseFaultload(text: string): Fault[] {
    const faults: Fault[] = [];
    if (text === 'none' || text === '') return faults;
    let held = '';
    for (const part of text.split(' & ')) {
        held = held ? `${held} & ${part}` : part;
        const at = held.lastIndexOf(' : '), last = held.lastIndexOf(' ');
        if (at > 0 && !held.slice(at + 3).includes(' ')) faults.push({ call: held.slice(0, at), mode: held.slice(at + 3) });
        else if (last > 0 && WHOLE.test(held.slice(last + 1))) faults.push({ call: held.slice(0, last), mode: held.slice(last + 1) });
        else continue;
        held = '';
    }
    if (held) faults.push({ call: held, mode: '' });
    return faults;
}

export function printFaultload(faults: readonly Fault[]): string {
    if (faults.length === 0) return 'none';
    return faults.map((fault) => WHOLE.test(fault.mode) ? `${fault.call} ${fault.mode}` : `${fault.call} : ${fault.mode}`).join(' & ');
}

const PLAIN = table({
    refuse: 'refuses the connection',
    reset: 'resets the connection',
    close: 'closes the connection',
    hold: 'never answers',
    duplicate: 'gets the request twice',
    goaway: 'closes the connection with GOAWAY',
});

const WITH_ARGUMENT = table<(argument: string) => string>({
    grpc: (a) => `answers grpc:${a}`,
    reset: (a) => `resets the connection after ${a} bytes`,
    close: (a) => `closes the connection after ${a} bytes`,
    delay: (a) => `answers later by ${a}`,
    'delay-reply': (a) => `has its answer held back for ${a}`,
    slow: (a) => `answers at ${a} bytes per second`,
    truncate: (a) => `cuts its answer off after ${a} bytes`,
    corrupt: (a) => `answers with its body changed (${a})`,
    'rst-stream': (a) => `resets the stream with code ${a}`,
    event: (a) => `meets the event ${a}`,
    'lost-reply': (a) => `${modeWords(a)} after the work is done`,
});

/** "answers 503", "never answers": what a call does that fails in this mode. */
export function modeWords(mode: string): string {
    if (/^\d{3}$/.test(mode)) return `answers ${mode}`;
    const at = mode.indexOf(':');
    const words = at < 0 ? PLAIN.get(mode) : WITH_ARGUMENT.get(mode.slice(0, at))?.(mode.slice(at + 1));
    return words ?? `fails with ${mode}`;
}

/** "payment POST /payments answers 503 at every try", "stock is down". */
export function faultWords(fault: Fault): string {
    const whole = wholeWords(fault.mode);
    if (whole) return `${fault.call} ${whole}`;
    const name = lastElement(fault.call);
    return name.endsWith(' #*') ? `${name.slice(0, -3)} ${modeWords(fault.mode)} at every try` : `${name} ${modeWords(fault.mode)}`;
}

/** A faultload in a few words, for a line: the first calls that fail, and how many more. */
export function faultloadWords(text: string, most = 2): string {
    const faults = parseFaultload(text);
    if (faults.length === 0) return 'no faults';
    const told = faults.slice(0, most).map(faultWords);
    const more = faults.length - told.length;
    return told.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
