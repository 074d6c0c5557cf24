// SPDX-License-Identifier: Apache-2.0
//
// The live page in a browser: node live.mjs URL, of `outfox run --ui` on the shop, which has just
// begun (tests/ui/live). It is watched, paused, given another budget, resumed and stopped; an oracle
// is turned off, its finding is replayed, faults are put together and run; and the browser is killed in
// the middle.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import { check, finish, inspect, launch, launchMortal, open, picture, settled } from './harness.mjs';

const url = process.argv[2];
const gone = [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|Failed to fetch|network error/];
const mortal = await launchMortal();
let page = await open(mortal.browser, url, { expected: gone });

const bar = () => page.getByRole('region', { name: 'Campaign' });
const figure = async (name) => Number((await bar().locator('dl > div', { hasText: name }).locator('dd').first().innerText()).replace(/\D/g, ''));
const state = async () => (await bar().locator('.live-pill').innerText()).toLowerCase();

async function until(what, holds, ms = 60_000) {
    const end = Date.now() + ms;
    while (Date.now() < end) {
        if (await holds().catch(() => false)) return check(true, what);
        await sleep(100);
    }
    return check(false, `${what}: not within ${ms} ms`);
}

async function go(name) {
    const link = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
    await link.click();
    await page.waitForURL(`**${await link.getAttribute('href')}`);
    await settled(page);
}

/* findings arrive */
await until('a finding appears while it is explored', async () => await page.getByRole('link', { name: 'the card is charged more than once' }).count() > 0);
check(!/finished/.test(await state()), 'it is still under way');
await picture(page, 'live');

/* pause, resume */
await bar().getByRole('button', { name: 'Pause' }).click();
await until('it pauses', async () => /paused/.test(await state()));
await sleep(1000); // what was under way ends
const before = await figure('Runs');
await inspect(page, 'live page, paused');
await sleep(1500);
check(await figure('Runs') === before, `no run while it is paused: ${before}, ${await figure('Runs')}`);

/* another budget, and an oracle that is to be silent */
await bar().getByRole('button', { name: 'Settings' }).click();
const settings = page.locator('#live-settings');
await settings.getByLabel('Runs').fill('many');
await settings.getByRole('button', { name: 'Set' }).click();
await until('what is no number is refused', async () => (await settings.getByRole('alert').innerText()).length > 0);
await settings.getByLabel('Runs').fill('900,000');
await settings.getByRole('button', { name: 'Set' }).click();
await until('the budget is raised', async () => /Now: 900,000 runs/.test(await settings.innerText()));
await settings.getByLabel('retry-without-effect').selectOption('off');
await until('an oracle is turned off', async () => await page.evaluate(async () => {
    const campaign = await (await fetch('/api/v1/campaign')).json();
    return campaign.oracles.find((o) => o.name === 'retry-without-effect').severity;
}) === 'off');
await inspect(page, 'live settings');
await bar().getByRole('button', { name: 'Settings' }).click();

await go('Calls');
await inspect(page, 'live call graph');
await bar().getByRole('button', { name: 'Resume' }).click();
await until('it goes on', async () => await figure('Runs') > before);

/* the browser is killed, and comes back */
await mortal.kill();
await sleep(500);
const browser = await launch();
page = await open(browser, url, { expected: gone });
await until('a new browser catches up', async () => await page.getByRole('link', { name: 'the card is charged more than once' }).count() > 0 && await figure('Runs') > before);

/* a finding is replayed */
await page.getByRole('link', { name: 'the card is charged more than once' }).first().click();
await page.waitForURL(/#\/finding\//);
await settled(page);
await page.getByRole('button', { name: /^Replay/ }).first().click();
await until('a replay from the page shows the finding again', async () => await page.getByText('the finding shows again').count() > 0);

/* faults that are put together by clicking */
await go('Try faults');
await page.getByRole('checkbox').or(page.getByRole('combobox')).first().waitFor();
const choice = page.locator('main').getByRole('combobox').first();
await choice.selectOption({ index: 1 });
await page.getByRole('button', { name: 'Run these faults' }).click();
await until('chosen faults are run', async () => await page.getByText(/^(As expected|Not as expected)$/).count() > 0);
await inspect(page, 'chosen faults');

/* stop */
await bar().getByRole('button', { name: 'Stop' }).click();
await bar().getByRole('button', { name: 'End it' }).click();
await until('it ends', async () => /finished|stopping|stopped|ended/.test(await state()) || await page.getByText(/gone|not answer|lost|ended/i).count() > 0);
await page.context().close();
await browser.close();
finish();
