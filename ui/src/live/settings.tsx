// SPDX-License-Identifier: Apache-2.0
//
// What can be changed while a campaign goes on: its budget, and which oracles it listens to; and how
// far each scenario is.
import { useState } from 'preact/hooks';

import { budgetWords, readBudget, scenarioNow } from '../model/campaign';
import { count } from '../model/format';
import { Verdict } from '../parts/outcome';
import { useDocument } from '../parts/hooks';
import { Text } from '../parts/text';
import { can, type Watching } from './context';
import type { Campaign } from './types';

const SEVERITIES = ['off', 'warning', 'finding'] as const;

function BudgetForm({ watching, campaign }: { watching: Watching; campaign: Campaign }) {
    const { live, now } = watching;
    const [runs, setRuns] = useState('');
    const [minutes, setMinutes] = useState('');
    const [error, setError] = useState('');
    const here = scenarioNow(campaign);
    const submit = async (event: Event) => {
        event.preventDefault();
        const budget = readBudget(runs, minutes);
        if ('error' in budget) {
            setError(budget.error);
            return;
        }
        setError('');
        if (await live.budget(budget)) {
            setRuns('');
            setMinutes('');
        }
    };
    return (
        <form class="stack" onSubmit={(event) => { void submit(event); }}>
            <h3>Budget of each scenario</h3>
            <p class="muted small">Now: {here ? budgetWords(here) : 'no bound'}. What you leave empty stays; 0 removes the bound.</p>
            <div class="row">
                <label class="live-field">Runs <input type="text" inputMode="numeric" size={8} value={runs} aria-invalid={error !== ''} aria-describedby="budget-error"
                    onInput={(event) => { setRuns(event.currentTarget.value); }} /></label>
                <label class="live-field">Minutes <input type="text" inputMode="decimal" size={6} value={minutes} aria-invalid={error !== ''} aria-describedby="budget-error"
                    onInput={(event) => { setMinutes(event.currentTarget.value); }} /></label>
                <button type="submit" class="button" disabled={now.sending.has('budget')}>Set</button>
            </div>
            <p id="budget-error" class="live-error" role="alert">{error}</p>
        </form>
    );
}

function OracleList({ watching, campaign }: { watching: Watching; campaign: Campaign }) {
    const { live, now } = watching;
    const loaded = useDocument('oracles');
    const docs = new Map(loaded.state === 'ready' ? loaded.value.oracles.map((o) => [o.name, o.doc]) : []);
    return (
        <div class="stack">
            <h3>Oracles</h3>
            <p class="muted small">What an oracle says counts as a finding or a warning, or is left out.</p>
            <ul class="live-oracles">
                {campaign.oracles.map((oracle) => (
                    <li key={oracle.name}>
                        <label>
                            <span class="live-oracle-name"><Text>{oracle.name}</Text></span>
                            <select value={oracle.severity} disabled={!can(now, 'oracle') || now.sending.has(`oracle ${oracle.name}`)}
                                onChange={(event) => { void live.oracle(oracle.name, event.currentTarget.value); }}>
                                {SEVERITIES.map((severity) => <option key={severity} value={severity}>{severity}</option>)}
                            </select>
                        </label>
                        <span class="muted small"><Text>{docs.get(oracle.name) ?? ''}</Text></span>
                    </li>
                ))}
            </ul>
        </div>
    );
}

function ScenarioTable({ campaign }: { campaign: Campaign }) {
    return (
        <div class="stack">
            <h3>Scenarios</h3>
            <div class="scroll" role="region" aria-label="Scenarios" tabIndex={0}>
                <table class="live-table">
                    <thead><tr>
                        <th scope="col">Scenario</th><th scope="col">State</th><th scope="col" class="number">Runs</th>
                        <th scope="col" class="number">Queue</th><th scope="col" class="number">Findings</th>
                    </tr></thead>
                    <tbody>
                        {campaign.scenarios.map((s) => (
                            <tr key={s.scenario}>
                                <th scope="row"><Text>{s.scenario}</Text></th>
                                <td>{s.verdict === null ? s.state : <Verdict verdict={s.verdict} />}</td>
                                <td class="number">{count(s.runs)}</td>
                                <td class="number">{count(s.queued)}</td>
                                <td class="number">{count(s.findings)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </div>
    );
}

export function Settings({ watching, campaign, close }: { watching: Watching; campaign: Campaign; close: () => void }) {
    return (
        <div id="live-settings" class="live-settings" onKeyDown={(event) => { if (event.key === 'Escape') close(); }}>
            <div class="stack">
                {can(watching.now, 'budget') && <BudgetForm watching={watching} campaign={campaign} />}
                <ScenarioTable campaign={campaign} />
            </div>
            {campaign.oracles.length > 0 && <OracleList watching={watching} campaign={campaign} />}
        </div>
    );
}
