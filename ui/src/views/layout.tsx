// SPDX-License-Identifier: Apache-2.0
//
// The frame of all views: the mark, the system, the navigation, the scenario, the theme.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { count } from '../model/format';
import { type Route, routeTo } from '../model/route';
import { plain } from '../model/text';
import type { Report } from '../model/types';
import { Details } from '../parts/details';
import { Icon, Mark } from '../parts/icons';
import { Text } from '../parts/text';
import { setTheme, theme, type Theme } from '../theme';
import { views } from './list';
import type { View } from './view';

export function ThemeToggle() {
    const [now, setNow] = useState<Theme>(theme);
    const next = now === 'dark' ? 'light' : 'dark';
    const toggle = () => {
        setTheme(next);
        setNow(next);
    };
    return (
        <button type="button" class="button quiet" onClick={toggle} aria-label={`Switch to ${next} colours`}>
            <Icon name={next === 'dark' ? 'moon' : 'sun'} /><span class="wide-only">{next === 'dark' ? 'Dark' : 'Light'}</span>
        </button>
    );
}

/** Where the same view is for another scenario; of one finding or run, the list that it is from. */
function sameView(view: View): string {
    if (view.under === undefined) return view.ofScenario ? view.name : 'scenario';
    return view.under === '' ? 'scenario' : view.under;
}

function ScenarioChoice({ report, route, view }: { report: Report; route: Route; view: View }) {
    if (report.scenarios.length < 2) return null;
    const go = (value: string) => { location.hash = value === '' ? routeTo('') : routeTo(sameView(view), Number(value)); };
    return (
        <label class="scenario-choice">
            <span>Scenario</span>
            <select value={view.ofScenario ? String(route.scenario) : ''} onChange={(event) => { go(event.currentTarget.value); }}>
                <option value="">All scenarios</option>
                {report.scenarios.map((scenario, i) => (
                    <option key={i} value={String(i)}>{plain(scenario.scenario)}</option>
                ))}
            </select>
        </label>
    );
}

function NavigationItem({ view, current, report, route }: { view: View; current: View; report: Report; route: Route }) {
    if (view.shown?.(report) === false) return null;
    const scenario = report.scenarios[route.scenario];
    const n = scenario && view.count ? view.count(scenario) : 0;
    const here = view === current || current.under === view.name;
    return (
        <li>
            <a href={view.ofScenario ? routeTo(view.name, route.scenario) : routeTo(view.name)}
                aria-current={here ? 'page' : undefined}>
                <Icon name={view.icon} />{view.title}
                {n > 0 && <span class="nav-count">{count(n)}</span>}
            </a>
        </li>
    );
}

export function Layout({ report, route, view, bar, children }: {
    report: Report;
    route: Route;
    view: View;
    /** Above the view: the controls of a live campaign. */
    bar?: ComponentChildren;
    children: ComponentChildren;
}) {
    return (
        <div class="frame">
            <a class="skip" href="#main" onClick={(event) => {
                event.preventDefault(); // the hash is the address of views
                document.getElementById('main')?.focus();
            }}>Skip to content</a>
            <header class="side">
                <div class="brand">
                    <a href={routeTo('')} class="brand-link"><Mark /><span>Outfox</span></a>
                    <span class="brand-system"><Text>{report.system}</Text></span>
                    <ThemeToggle />
                </div>
                <ScenarioChoice report={report} route={route} view={view} />
                <nav aria-label="Views">
                    <ul>
                        {views.filter((v) => v.under === undefined).map((v) => (
                            <NavigationItem key={v.name} view={v} current={view} report={report} route={route} />
                        ))}
                    </ul>
                </nav>
            </header>
            <div class="body">
                {bar}
                <main id="main" tabIndex={-1}>{children}</main>
                <footer>
                    <p>Outfox <Text>{report.version}</Text> · <Text>{report.file}</Text></p>
                    <Details title="Licences of what this page is made with">
                        {() => <pre class="licences" tabIndex={0}>{document.getElementById('licences')?.textContent}</pre>}
                    </Details>
                </footer>
            </div>
        </div>
    );
}
