// SPDX-License-Identifier: Apache-2.0
//
// One run: what was injected, what came of it, when each call was made, beside the run without faults.
import { ReplayButton, ReplayShown } from '../live/replay';
import { replayCommand } from '../model/command';
import { printFaultload } from '../model/faultload';
import { count, duration, plural } from '../model/format';
import { routeTo } from '../model/route';
import type { RunLine } from '../model/runs';
import { table } from '../model/table';
import type { Scenario } from '../model/types';
import { allWrong } from '../model/wrong';
import { CallTree } from '../parts/calltree';
import { Command } from '../parts/copy';
import { Faults } from '../parts/faultload';
import { Icon } from '../parts/icons';
import { Outcome } from '../parts/outcome';
import { useRunCalls } from '../parts/runcalls';
import { Empty, Loading } from '../parts/state';
import { Text } from '../parts/text';
import { Waterfall } from '../parts/waterfall';
import { WrongTag } from '../parts/wrong';
import type { ViewProps } from './view';

const purposes = table({
    baseline: 'without faults, to learn what is stable', search: 'the search asked for it', audit: 'to check an assumption',
    check: 'without faults: does the system still work?', shrink: 'to see whether fewer faults are enough',
    confirm: 'to see whether it fails again', replay: 'somebody asked for it',
});

function Facts({ line, scenario, index }: { line: RunLine; scenario: Scenario; index: number }) {
    const wrong = allWrong(scenario).filter((w) => w.run === line.number);
    const faultload = printFaultload(line.faults);
    return (
        <section class="card" aria-label="In words">
            <dl class="facts roomy">
                <div><dt>Result</dt><dd class="row">
                    <Outcome outcome={line.status} />
                    {line.pass
                        ? <span><Icon name="ok" /> as expected</span>
                        : <span class="wrong-word"><Icon name="bad" /> {line.why === null ? 'not as expected' : <Text>{line.why}</Text>}</span>}
                    {line.flags.map((flag) => <span key={flag} class="tag tone-odd">{flag}</span>)}
                </dd></div>
                <div><dt>Faults</dt><dd><Faults faults={line.faults} /></dd></div>
                <div><dt>Made</dt><dd>{purposes.get(line.purpose) ?? line.purpose}; {plural(line.calls, 'call')} in {duration(line.took_ns)}</dd></div>
                {wrong.length > 0 && <div><dt>Shows</dt><dd><ul class="plain-list">
                    {wrong.map((w) => <li key={w.id} class="row"><WrongTag wrong={w} /><a href={routeTo('finding', index, [w.id])}><Text>{w.title}</Text></a></li>)}
                </ul></dd></div>}
            </dl>
            <div class="again">
                <h2>See it again</h2>
                <Command command={replayCommand(scenario, faultload)} label="Replay command" />
                <div class="row">
                    <ReplayButton wish={{ scenario: index, run: line.number }} label="Replay this run" />
                    {line.faults.length > 0 && <a href={routeTo('try', index, [], { f: faultload })}>Try it with other faults</a>}
                </div>
                <ReplayShown />
            </div>
        </section>
    );
}

export function Run({ scenario, index, route }: ViewProps) {
    const number = Number(route.rest[0]);
    const run = useRunCalls(index, Number.isSafeInteger(number) ? number : -1);
    const title = <h1>Run {Number.isSafeInteger(number) ? count(number) : '?'} <span class="title-part">of <Text>{scenario.scenario}</Text></span></h1>;
    const crumb = <p class="crumb small"><a href={routeTo('runs', index)}>All runs</a></p>;
    if (run.state === 'loading') return <>{crumb}{title}<Loading what="the run" /></>;
    if (run.state === 'unknown') return <>{crumb}<Empty title="This page does not have this run." /></>;
    const same = run.line.faults.length === 0;
    const was = same ? null : scenario.without_faults;
    return (
        <>
            <div class="stack">{crumb}{title}</div>
            <Facts line={run.line} scenario={scenario} index={index} />
            {run.calls
                ? (
                    <>
                        <section class="card" aria-labelledby="waterfall"><h2 id="waterfall">Times</h2><Waterfall now={run.calls} was={was} /></section>
                        <section class="card" aria-labelledby="calls"><h2 id="calls">Calls</h2><CallTree now={run.calls} was={was} /></section>
                    </>
                )
                : <Empty title="This page does not have the calls of this run."><p>It would have been too large with all of them. The command above makes the run again and shows them.</p></Empty>}
        </>
    );
}
