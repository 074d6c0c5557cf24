// SPDX-License-Identifier: Apache-2.0
//
// The views, in the order of the navigation.
import { countDoubts } from '../model/doubts';
import { CallsView } from './calls';
import { Compare } from './compare';
import { Doubts } from './doubts';
import { Finding } from './finding';
import { HandlersView } from './handlers';
import { MatrixView } from './matrix';
import { Overview, ScenarioOverview } from './overview';
import { Run } from './run';
import { Runs } from './runs';
import { Search } from './search';
import { SuiteView } from './suite';
import { Try } from './try';
import type { View } from './view';

export const views: readonly View[] = [
    { name: '', title: 'Overview', icon: 'home', component: Overview, ofScenario: false },
    { name: 'scenario', title: 'Scenario', icon: 'home', component: ScenarioOverview, ofScenario: true, under: '' },
    { name: 'finding', title: 'Finding', icon: 'bad', component: Finding, ofScenario: true, under: '' },
    { name: 'suite', title: 'Suite', icon: 'ok', component: SuiteView, ofScenario: false, shown: (report) => report.suite !== null },
    { name: 'calls', title: 'Calls', icon: 'graph', component: CallsView, ofScenario: true },
    { name: 'matrix', title: 'Dependencies', icon: 'grid', component: MatrixView, ofScenario: true },
    { name: 'handlers', title: 'Handlers', icon: 'tree', component: HandlersView, ofScenario: true },
    { name: 'runs', title: 'Runs', icon: 'list', component: Runs, ofScenario: true },
    { name: 'run', title: 'Run', icon: 'list', component: Run, ofScenario: true, under: 'runs' },
    { name: 'search', title: 'Search', icon: 'search', component: Search, ofScenario: true },
    { name: 'doubts', title: 'Doubts', icon: 'question', component: Doubts, ofScenario: true, count: countDoubts },
    { name: 'try', title: 'Try faults', icon: 'bolt', component: Try, ofScenario: true },
    { name: 'compare', title: 'Compare', icon: 'change', component: Compare, ofScenario: false, shown: (report) => report.comparison !== null },
];
