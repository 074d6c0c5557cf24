// SPDX-License-Identifier: Apache-2.0
//
// What the scenarios of a suite cover: the parts of the document that somebody may want to act upon.
import type { Report, Suite, SuiteCall, SuiteWay } from '../gen/documents';
import { count, plural } from './format';
import { countWrong } from './wrong';

/** A scenario that others make superfluous. */
export interface Idle {
    readonly index: number;
    readonly name: string;
    /** Places of those that show what it shows. */
    readonly by: readonly number[];
    readonly more: boolean;
    /** That it has all the same: a reason to keep it. */
    readonly findings: number;
}

export function idle(report: Report, suite: Suite): Idle[] {
    return suite.scenarios.flatMap((row, index) => {
        const scenario = report.scenarios[index];
        return row.adds_nothing
            ? [{ index, name: row.scenario, by: row.shown_by, more: row.shown_by_more, findings: scenario ? countWrong(scenario).findings : 0 }]
            : [];
    });
}

export function neverFailed(suite: Suite): SuiteCall[] {
    return suite.calls.filter((call) => call.failed === 0);
}

/** "front > cart GET /carts/[id]" */
export function callText(call: SuiteCall | SuiteWay): string {
    return `${call.caller} > ${call.service}${call.interface === null ? '' : ` ${call.interface}`}`;
}

/** All of it in a sentence. */
export function totals(suite: Suite): string {
    return `${plural(suite.scenarios.length, 'scenario')} reach ${plural(suite.handlers_total, 'handler')} and make `
        + `${plural(suite.calls_total, 'call')} between services, of which ${count(suite.failed_calls)} `
        + `${suite.failed_calls === 1 ? 'was' : 'were'} made to fail: ${plural(suite.edges, 'edge')} in all.`;
}

/** Why there may be more than was seen; none: there is no reason. */
export function doubts(report: Report, suite: Suite): string[] {
    const early = report.scenarios.filter((s) => s.stopped_by !== null || s.broken !== null).length;
    const full = suite.scenarios.filter((row) => row.left_out > 0).length;
    return [
        ...early > 0 ? [`${plural(early, 'scenario was', 'scenarios were')} not explored to the end: this is what was seen so far.`] : [],
        ...full > 0 ? [`${plural(full, 'scenario showed', 'scenarios showed')} more than is kept.`] : [],
    ];
}
