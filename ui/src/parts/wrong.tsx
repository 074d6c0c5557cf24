// SPDX-License-Identifier: Apache-2.0
import { plural } from '../model/format';
import { routeTo } from '../model/route';
import { type Wrong, whatClientGets, whatItIs } from '../model/wrong';
import { Icon } from './icons';
import { Outcome } from './outcome';
import { CallName, Text } from './text';

/** FINDING 3, WARNING 1. */
export function WrongTag({ wrong }: { wrong: Wrong }) {
    return (
        <span class={`tag tone-${wrong.warning ? 'odd' : 'bad'}`}>
            <Icon name={wrong.warning ? 'warn' : 'bad'} />{wrong.warning ? 'Warning' : 'Finding'} {wrong.number}
        </span>
    );
}

/** The requests of a command on behalf of which something failed, and what they got. */
export function During({ wrong }: { wrong: Wrong }) {
    return (
        <>
            {wrong.during.map(({ number, call, seen, usual }) => (
                <div key={number} class="row">
                    <span>{number}. <CallName uid={call} short /></span><Outcome outcome={seen} />
                    {usual !== seen && <span class="muted small">{usual === null ? 'not made without faults' : `was ${usual}`}</span>}
                </div>
            ))}
        </>
    );
}

/** One thing that is wrong, to be opened. */
export function WrongCard({ wrong, index, scenario }: {
    wrong: Wrong;
    index: number;
    /** Its name, where several are listed. */
    scenario?: string | undefined;
}) {
    const then = wrong.finding ? whatClientGets(wrong.finding.statuses) : '';
    const flaky = wrong.finding?.state === 'flaky';
    return (
        <li class={`wrong tone-${wrong.warning ? 'odd' : 'bad'}`}>
            <div class="row">
                <WrongTag wrong={wrong} />
                {wrong.oracle !== null && <span class="tag"><Text>{wrong.oracle}</Text></span>}
                {flaky && <span class="tag tone-odd"><Icon name="question" />flaky</span>}
                {scenario !== undefined && <span class="small muted">in <Text>{scenario}</Text></span>}
            </div>
            <h3><a href={routeTo('finding', index, [wrong.id])}><Text>{wrong.title}</Text></a></h3>
            <dl class="facts">
                <div><dt>When</dt><dd><Text>{wrong.when}</Text></dd></div>
                {wrong.during.length > 0 && <div><dt>During</dt><dd><During wrong={wrong} /></dd></div>}
                {then !== '' && <div><dt>Then</dt><dd>{then} <span class="muted">(seen in {plural(wrong.runs, 'run')})</span></dd></div>}
                {wrong.finding && flaky && <div><dt>What</dt><dd>{whatItIs(wrong)}</dd></div>}
            </dl>
            <span class="wrong-go"><Icon name="right" /></span>
        </li>
    );
}
