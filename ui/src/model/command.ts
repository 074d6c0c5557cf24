// SPDX-License-Identifier: Apache-2.0
//
// Commands for a shell.
import type { Scenario } from './types';

/** A word as shells take it; with quotes only where it needs them. */
export function quoted(word: string): string {
    return /^[A-Za-z0-9/._-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The command that runs a scenario with these faults. */
export function replayCommand(scenario: Scenario, faultload: string): string {
    return scenario.replay.replace(/^outfox replay none/, () => `outfox replay ${quoted(faultload)}`);
}
