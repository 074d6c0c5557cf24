// SPDX-License-Identifier: Apache-2.0
//
// What happens when a call fails: one part for each thing that can happen.
import { kindOf } from '../model/graph';
import { type FailureGroup, groupFailures } from '../model/matrix';
import { routeTo } from '../model/route';
import type { Dependency } from '../model/types';
import { Command } from './copy';
import { Faultload } from './faultload';
import { Outcome } from './outcome';
import { Text } from './text';

export function KindTag({ kind }: { kind: string }) {
    const { sign, name, words } = kindOf(kind);
    return <span class={`kind-tag kind-${name}`} title={words}><span class="kind-sign" aria-hidden="true">{sign}</span><Text>{name}</Text></span>;
}

/** Links to runs: "Runs 12, 18, 31". */
export function RunLinks({ runs, index }: { runs: readonly number[]; index: number }) {
    return (
        <span class="run-links">
            {runs.length === 1 ? 'Run ' : 'Runs '}
            {runs.map((run, i) => <span key={run}>{i > 0 && ', '}<a href={routeTo('run', index, [run])}>{run}</a></span>)}
        </span>
    );
}

function Group({ group, index, open }: { group: FailureGroup; index: number; open: boolean }) {
    return (
        <li class="failure">
            <div class="row">
                {group.failures.map((f) => <Outcome key={f.failure} outcome={f.failure} />)}
            </div>
            <p class={group.fails ? 'failure-bad' : ''}><Text>{group.words}</Text> <RunLinks runs={group.failures.map((f) => f.run)} index={index} /></p>
            <details open={open}>
                <summary>Faultload and command</summary>
                <Faultload text={group.first.faultload} />
                <Command command={group.first.replay} label="Command that shows it again" />
            </details>
        </li>
    );
}

/** How each failure of a call is met; with `only`, these failures alone. */
export function Failures({ dependency, index, only }: { dependency: Dependency; index: number; only?: readonly string[] }) {
    const failures = only ? dependency.failures.filter((f) => only.includes(f.failure)) : dependency.failures;
    if (failures.length === 0) return <p class="muted">No failure of this call was tried alone.</p>;
    return <ul class="failures">{groupFailures(dependency, failures).map((group) => <Group key={group.first.failure} group={group} index={index} open={only !== undefined} />)}</ul>;
}
