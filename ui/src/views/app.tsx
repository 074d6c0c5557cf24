// SPDX-License-Identifier: Apache-2.0
//
// The page: what the address says, in the frame.
import { useEffect, useRef } from 'preact/hooks';

import { type Route, routeTo } from '../model/route';
import { plain } from '../model/text';
import type { Report } from '../model/types';
import { LiveBar } from '../live/bar';
import { useLive } from '../live/context';
import { Guard } from '../parts/guard';
import { useDocument, useRoute } from '../parts/hooks';
import { Mark } from '../parts/icons';
import { Empty, WithDocument } from '../parts/state';
import { Layout } from './layout';
import { views } from './list';
import type { View } from './view';

const lost: View = {
    name: '?', title: 'Not found', icon: 'question', ofScenario: false,
    component: () => (
        <Empty title="There is nothing at this address.">
            <p><a href={routeTo('')}>Go to the overview</a></p>
        </Empty>
    ),
};

/** A new view begins at its top, and screen readers go on there; not for a change of the query alone. */
function useBegin(route: Route): void {
    const place = [route.view, route.scenario, ...route.rest].join('/');
    const first = useRef(true);
    useEffect(() => {
        if (first.current) {
            first.current = false;
            return;
        }
        scrollTo(0, 0);
        document.getElementById('main')?.focus({ preventScroll: true });
    }, [place]);
}

function Found({ report, route }: { report: Report; route: Route }) {
    const view = views.find((v) => v.name === route.view) ?? lost;
    const scenario = report.scenarios[route.scenario] ?? report.scenarios[0];
    const there = scenario !== undefined && (!view.ofScenario || route.scenario < report.scenarios.length);
    const shown = there ? view : lost;
    const title = shown.title;
    useBegin(route);
    useEffect(() => { document.title = `${title} · ${plain(report.system)} · Outfox`; }, [title, report.system]);
    const Component = shown.component;
    return (
        <Layout report={report} route={route} view={shown} bar={<LiveBar report={report} />}>
            {scenario
                ? <Guard key={`${shown.name}/${route.scenario}`}><Component report={report} scenario={scenario} index={route.scenario} route={route} /></Guard>
                : <Empty title="No scenario has been explored yet." />}
        </Layout>
    );
}

/** A live page before there is a report: the services start, or the server wants a token. */
function Waiting({ state }: { state: string }) {
    return (
        <div class="frame">
            <header class="side"><div class="brand"><span class="brand-link"><Mark /><span>Outfox</span></span></div></header>
            <div class="body">
                <LiveBar />
                <main id="main" tabIndex={-1}>
                    <h1 class="visually-hidden">Outfox</h1>
                    {state === 'starting' && <Empty title="The services are starting."><p>What is known of the system appears here with the first run.</p></Empty>}
                    {state === 'connecting' && <Empty title="Nothing is known of the campaign yet." />}
                </main>
            </div>
        </div>
    );
}

export function App() {
    const route = useRoute();
    const watching = useLive();
    const report = useDocument('report');
    if (watching && report.state !== 'ready') return <Waiting state={watching.now.campaign?.state ?? watching.now.link} />;
    return (
        <WithDocument name="report" what="the report">
            {(value) => <Found report={value} route={route} />}
        </WithDocument>
    );
}
