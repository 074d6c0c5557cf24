// SPDX-License-Identifier: Apache-2.0
//
// The bar above all views of a live page: what the campaign does, how far it is, what it found, and
// what may be asked of it.
import { useEffect, useRef, useState } from 'preact/hooks';

import { flightWords, leftWords, linkWords, rate, scenarioNow, seconds, share, stateWords, sums, toneOf } from '../model/campaign';
import { count, percent, plural } from '../model/format';
import { routeTo } from '../model/route';
import type { Report } from '../model/types';
import { countWrong, type Counts } from '../model/wrong';
import { Icon } from '../parts/icons';
import { Text } from '../parts/text';
import { useLive } from './context';
import { Controls } from './controls';
import { Settings } from './settings';
import type { Now } from './store';
import { knownToken } from './token';
import { TokenForm } from './token_form';
import type { Campaign, Flight } from './types';

const NEWS_MS = 12_000;
const FLIGHTS = 2;

function Figure({ name, children, tone }: { name: string; children: string; tone?: string }) {
    return <div class={tone ? `live-figure tone-${tone}` : 'live-figure'}><dt>{name}</dt><dd>{children}</dd></div>;
}

/** Of the report that is shown below, where there is one: oracles are heard as events at the end alone. */
function foundIn(report: Report): Counts {
    const all = { findings: 0, warnings: 0 };
    for (const { findings, warnings } of report.scenarios.map(countWrong)) {
        all.findings += findings;
        all.warnings += warnings;
    }
    return all;
}

function Figures({ campaign, report, open }: { campaign: Campaign; report: Report | undefined; open: boolean }) {
    const all = sums(campaign);
    const { findings, warnings } = report ? foundIn(report) : all;
    const here = scenarioNow(campaign);
    const running = open && here?.state === 'running';
    return (
        <dl class="live-figures">
            <Figure name="Findings" tone={findings > 0 ? 'bad' : ''}>{count(findings)}</Figure>
            <Figure name="Warnings" tone={warnings > 0 ? 'odd' : ''}>{count(warnings)}</Figure>
            <Figure name="Runs">{count(all.runs)}</Figure>
            {running && <Figure name="Queue">{count(here.queued)}</Figure>}
            {running && campaign.state !== 'paused' && <Figure name="Rate">{rate(here.runs_per_second)}</Figure>}
            {campaign.took_ns > 0 && <Figure name="Time">{seconds(campaign.took_ns)}</Figure>}
        </dl>
    );
}

/** How far it is: a bar only where the end is in sight, words always. */
function Progress({ campaign }: { campaign: Campaign }) {
    const done = share(campaign);
    const left = leftWords(campaign);
    if (done === null && left === '') return null;
    return (
        <div class="live-progress">
            {done !== null && (
                <span class="live-track" role="progressbar" aria-label="Progress" aria-valuemin={0} aria-valuemax={100}
                    aria-valuenow={Math.round(done * 100)} aria-valuetext={`${percent(Math.round(done * 100), 100)} of what is known to be due`}>
                    <span class="live-fill" style={{ width: `${done * 100}%` }} />
                </span>
            )}
            <span class="live-left">{left}</span>
        </div>
    );
}

function Flights({ flights }: { flights: readonly Flight[] }) {
    const more = flights.length - FLIGHTS;
    if (flights.length === 0) return null;
    return (
        <p class="live-flights">
            <span class="muted">{plural(flights.length, 'run')} under way: </span>
            {flights.slice(0, FLIGHTS).map((flight, i) => (
                <span key={i} class="live-flight">
                    {i > 0 && '; '}<Text>{flightWords(flight)}</Text>
                    {flight.since_ns > 2e9 && <span class="muted"> (for {seconds(flight.since_ns)})</span>}
                </span>
            ))}
            {more > 0 && <span class="muted"> and {count(more)} more</span>}
        </p>
    );
}

function State({ campaign, link }: { campaign: Campaign; link: string }) {
    const here = scenarioNow(campaign);
    const tone = link === 'open' ? toneOf(campaign) : 'none';
    return (
        <p class="live-state">
            <span class={`live-pill tone-${tone}`}><span class="live-dot" aria-hidden="true" />{link === 'lost' && campaign.state === 'stopping' ? 'Ended' : stateWords(campaign)}</span>
            {here && campaign.scenarios.length > 1 && here.state === 'running' && (
                <span class="live-scenario">
                    <Text>{here.scenario}</Text>
                    <span class="muted"> · scenario {campaign.scenarios.indexOf(here) + 1} of {campaign.scenarios.length}</span>
                </span>
            )}
        </p>
    );
}

/** What was just found, for those who look; gone after a while. */
function News({ said }: { said: Now['said'] }) {
    const [gone, setGone] = useState(0);
    useEffect(() => {
        const timer = setTimeout(() => { setGone(said.n); }, NEWS_MS);
        return () => { clearTimeout(timer); };
    }, [said.n]);
    if (said.n === 0 || gone === said.n) return null;
    return (
        <p class={said.finding ? 'live-news tone-fault' : 'live-news tone-busy'}>
            <Icon name={said.finding ? 'bolt' : 'info'} /><span><Text>{said.text}</Text>{said.finding && <> <a href={routeTo('')}>Look at the findings</a></>}</span>
            <button type="button" class="button quiet" aria-label="Dismiss" onClick={() => { setGone(said.n); }}><Icon name="bad" /></button>
        </p>
    );
}

/** Says what is told, once, without taking the focus. */
function Announcer({ said }: { said: Now['said'] }) {
    return <div class="visually-hidden" role="status" aria-live="polite"><span key={said.n}>{said.text}</span></div>;
}

function LinkNotice({ now, retry }: { now: Now; retry: () => void }) {
    const words = linkWords(now.link, now.campaign, knownToken() !== null);
    if (!words) return null;
    return (
        <div class={`live-notice tone-${words.tone}`} role="status">
            <p><Icon name={words.tone === 'bad' ? 'warn' : 'info'} /> {words.text}</p>
            {now.link === 'lost' && <button type="button" class="button" onClick={retry}>Try now</button>}
        </div>
    );
}

export function LiveBar({ report }: { report?: Report }) {
    const watching = useLive();
    const [open, setOpen] = useState(false);
    const more = useRef<HTMLButtonElement>(null);
    if (!watching) return null;
    const { live, now } = watching;
    const { campaign } = now;
    const close = () => {
        setOpen(false);
        more.current?.focus();
    };
    return (
        <section class="live" aria-label="Campaign">
            <Announcer said={now.said} />
            <LinkNotice now={now} retry={() => { live.look(); }} />
            {now.link === 'denied' && <TokenForm live={live} />}
            {now.refused !== null && (
                <div class="live-notice tone-bad" role="alert">
                    <p><Icon name="warn" /> Not done: <Text>{now.refused}</Text></p>
                    <button type="button" class="button" onClick={() => { live.dismiss(); }}>Dismiss</button>
                </div>
            )}
            {campaign && (
                <>
                    <div class="live-row">
                        <State campaign={campaign} link={now.link} />
                        <Figures campaign={campaign} report={report} open={now.link === 'open'} />
                        <Controls watching={watching}>
                            <button ref={more} type="button" class="button" aria-expanded={open} aria-controls="live-settings"
                                onClick={() => { setOpen(!open); }}>Settings</button>
                        </Controls>
                    </div>
                    {now.link === 'open' && <Progress campaign={campaign} />}
                    {now.link === 'open' && <Flights flights={campaign.in_flight} />}
                    {campaign.error !== null && <div class="live-notice tone-bad"><p><Icon name="warn" /> <Text>{campaign.error}</Text></p></div>}
                    <News said={now.said} />
                    {open && <Settings watching={watching} campaign={campaign} close={close} />}
                </>
            )}
        </section>
    );
}
