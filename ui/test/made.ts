// SPDX-License-Identifier: Apache-2.0
//
// Campaigns and scenarios for tests.
import type { Campaign, CampaignScenario } from '../src/live/types';
import type { Scenario } from '../src/model/types';

export function scenario(part: Partial<CampaignScenario> = {}): CampaignScenario {
    return {
        scenario: 'checkout', state: 'running', verdict: null, runs: 60, queued: 40, findings: 1, warnings: 2, failed_runs: 3,
        runs_per_second: 2, left_ns: 20e9, left_at_least: false, max_runs: 0, max_time_ns: 0, ...part,
    };
}

export function campaign(part: Partial<Campaign> = {}): Campaign {
    return {
        schema_version: 1, system: 'shop', file: 'outfox.yaml', version: '0.1', state: 'exploring', error: null, scenario: 0,
        took_ns: 30e9, scenarios: [scenario()], in_flight: [], oracles: [], commands: ['pause', 'stop'], ...part,
    };
}

/** A scenario that was explored, without anything wrong. */
export function explored(part: Partial<Scenario> = {}): Scenario {
    return {
        scenario: 'checkout', verdict: 'ok', modes: ['503', 'hold'], not_tried: null, order: 'soon', seed: 0, assumptions: [], points: 2,
        conditional_points: 0, space: 9, runs: 9, runs_by_size: [1, 4, 4], repeats: 2, audited: 0, outcomes: [], transcripts: 4, skipped: {},
        skipped_known: true, skipped_estimated: false, findings: [], more_findings: 0, remarks: [], remarks_total: 0, failed_runs: 0,
        unsure: [], suspect: [], suspect_total: 0, stopped_by: null, queued: 0, inconclusive: null, resume: null, replay: 'outfox replay none',
        broken: null, broken_detail: null, broken_log: null, levels: [], notes: [], volatile: [], dependencies: [], pairs: [], without_faults: null, requests: [], calls: [], took_ns: 1e9, runs_per_second: 9, ...part,
    } as Scenario; // with all that views read
}
