// SPDX-License-Identifier: Apache-2.0
import type { FunctionComponent } from 'preact';

import type { Route } from '../model/route';
import type { Report, Scenario } from '../model/types';
import type { IconName } from '../parts/icons';

export interface ViewProps {
    readonly report: Report;
    /** The scenario that the view is about, and its place in the report. */
    readonly scenario: Scenario;
    readonly index: number;
    readonly route: Route;
}

export interface View {
    /** In the address: #/NAME/S. */
    readonly name: string;
    readonly title: string;
    readonly icon: IconName;
    readonly component: FunctionComponent<ViewProps>;
    /** About one scenario: its address has a number. */
    readonly ofScenario: boolean;
    /** Not in the navigation itself, but under this view. */
    readonly under?: string;
    /** In the navigation only if this holds. */
    readonly shown?: (report: Report) => boolean;
    /** Beside the title in the navigation. */
    readonly count?: (scenario: Scenario) => number;
}
