// SPDX-License-Identifier: Apache-2.0
//
// The documents as the page reads them, made from schemas/ by `npm run types`. Names of kinds are
// open: a reader takes those of later versions, too.
import type { CallsOfRuns, Dependencies, Explanations, Handlers, Modes, Oracles, PlanResult, Report, Runs } from '../gen/documents';

export type {
    Branch, Call, CampaignFinding as Finding, CallsOfRuns, Dependencies, Dependency, DependencyScenario, Evidence, Explanation,
    Explanations, Failure, Handler, HandlerNode, Handlers, KnownCall, Level, Log, OutcomeCount, Pair, Reason, Redundant,
    PlanAnswer, PlanClientRun, PlanMeasure, PlanResult, PlanRun, PlanSpell, Remark, Remedy, Report, RunColumns, Runs, Scenario, Suspect,
} from '../gen/documents';

/** What the document of a name is. */
export type DocumentOf<Name extends string> =
    Name extends 'report' ? Report
    : Name extends 'dependencies' ? Dependencies
    : Name extends `handlers/${number}` ? Handlers
    : Name extends `runs/${number}/${number}` ? CallsOfRuns
    : Name extends `runs/${number}` ? Runs
    : Name extends `explanations/${number}` ? Explanations
    : Name extends 'modes' ? Modes
    : Name extends 'oracles' ? Oracles
    : Name extends 'plan-result' ? PlanResult
    : unknown;
