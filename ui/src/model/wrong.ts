// SPDX-License-Identifier: Apache-2.0
//
// What is wrong, told once: a finding, or what an oracle says. Numbers are those of the other reports:
// findings of oracles follow those of expectations; warnings have numbers of their own (w1, w2 in
// addresses).
import { either } from './format';
import { gotWords } from './outcome';
import { table } from './table';
import type { Finding, Remark, Scenario } from './types';

export interface Wrong {
    /** In addresses. */
    readonly id: string;
    readonly number: string;
    readonly warning: boolean;
    readonly title: string;
    readonly oracle: string | null;
    readonly when: string;
    readonly during: Remark['during'];
    readonly faultload: string;
    readonly runs: number;
    readonly run: number;
    readonly replay: string;
    readonly finding: Finding | null;
    readonly remark: Remark | null;
}

function ofFinding(finding: Finding): Wrong {
    const number = finding.id.slice(finding.id.lastIndexOf('/') + 1);
    return {
        id: number, number, warning: false, title: finding.why, oracle: finding.oracle, when: finding.when,
        during: finding.during,
        faultload: finding.faultload, runs: finding.runs, run: finding.run, replay: finding.replay, finding, remark: null,
    };
}

function ofRemark(remark: Remark, number: number): Wrong {
    const warning = remark.severity !== 'finding';
    return {
        id: warning ? `w${number}` : String(number), number: String(number), warning, title: remark.why,
        oracle: remark.oracle, when: remark.when, during: remark.during, faultload: remark.faultload, runs: remark.runs, run: remark.run,
        replay: remark.replay, finding: null, remark,
    };
}

/** All of a scenario, findings first. */
export function allWrong(scenario: Scenario): Wrong[] {
    const wrong = scenario.findings.map(ofFinding);
    let findings = scenario.findings.length + scenario.more_findings, warnings = 0;
    const remarks = scenario.remarks.map((r) => ofRemark(r, r.severity === 'finding' ? ++findings : ++warnings));
    return [...wrong, ...remarks.filter((r) => !r.warning), ...remarks.filter((r) => r.warning)];
}

export interface Counts {
    findings: number;
    warnings: number;
}

/** Those that the lists leave out are counted, too. */
export function countWrong(scenario: Scenario): Counts {
    const counts = { findings: scenario.findings.length + scenario.more_findings, warnings: 0 };
    for (const remark of scenario.remarks) counts[remark.severity === 'finding' ? 'findings' : 'warnings']++;
    counts.warnings += Math.max(0, scenario.remarks_total - scenario.remarks.length); // warnings come last
    return counts;
}

const kinds = table({
    'expectation': 'The expectation does not hold',
    'hang': 'The scenario hangs',
    'crash': 'A service dies',
    'blast-radius': 'The system stays broken afterwards',
    'contract': 'The contract does not hold',
});

const states = table({
    seen: 'seen once',
    confirmed: 'confirmed by a second run',
    flaky: 'flaky: not reproduced by a second run',
});

/** "The expectation does not hold, confirmed by a second run". */
export function whatItIs(wrong: Wrong): string {
    const { finding } = wrong;
    if (!finding) return `A ${wrong.warning ? 'warning' : 'finding'} of the oracle ${wrong.oracle ?? ''}`;
    return `${kinds.get(finding.kind) ?? finding.kind}, ${states.get(finding.state) ?? finding.state}`;
}

/** "the client gets 200 or 503"; empty when that is not known. */
export function whatClientGets(statuses: readonly string[]): string {
    if (statuses.length === 0) return '';
    const exits = statuses.every((status) => status.startsWith('exit:'));
    if (exits) return `the command ends with exit code ${either(statuses.map((status) => status.slice(5)))}`;
    return `the client gets ${either(statuses.map(gotWords))}`;
}
