// SPDX-License-Identifier: Apache-2.0
//
// What only a live server tells, made from schemas/ by `npm run types`.
export type {
    Campaign, CampaignScenario, FindingEvent, Flight, OracleSetting, RemarkEvent, Replay, ReplayId as Accepted, ReplayState as ReplayAnswer, RunResult,
} from '../gen/documents';
