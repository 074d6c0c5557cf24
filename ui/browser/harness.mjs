// SPDX-License-Identifier: Apache-2.0
//
// What tests in a browser share: Chromium driven by playwright-core, and what must hold of every page
// that is looked at, whatever it shows.
//
//  1. Nothing is written to the console as an error, and no exception is left over.
//  2. No request leaves the file, or, of a live page, its own server.
//  3. Nothing is wider than the screen, at 360 px and at 1600 px.
//  4. axe finds no serious or critical violation, in the light theme and in the dark one.
//  5. Nothing that a service has written is executed: no element of theirs is in the document.
import { chromium } from 'playwright-core';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const WIDE = { width: 1600, height: 1000 };
export const NARROW = { width: 360, height: 740 };

const failures = [];
let checks = 0;

/** Counts, and goes on: one look at a page tells all that is wrong with it. */
export function check(holds, what) {
    checks++;
    if (!holds) {
        failures.push(what);
        console.log(`FAIL ${what}`);
    }
    return Boolean(holds);
}

/** The last line, for tools/run-tests. */
export function finish() {
    console.log(`checks: ${checks - failures.length}`);
    process.exitCode = failures.length ? 1 : 0;
}

const options = {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
};

export async function launch() {
    return await chromium.launch(options);
}

/** A browser that can be killed, as by SIGKILL: it says goodbye to nobody. */
export async function launchMortal() {
    const server = await chromium.launchServer(options);
    return { browser: await chromium.connect(server.wsEndpoint()), kill: () => server.kill() };
}

/**
 * A page that is watched: everything it does wrong is a failed check. origin: what it may ask for,
 * besides itself.
 */
export async function open(browser, url, { origin = url, size = WIDE, theme = 'light', expected = [] } = {}) {
    const context = await browser.newContext({ viewport: size, colorScheme: theme, reducedMotion: 'reduce' });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => undefined);
    const page = await context.newPage();
    const known = (text) => expected.some((e) => e.test(text));
    page.on('console', (m) => {
        if (m.type() === 'error' && !known(m.text())) check(false, `${url}: the console says: ${m.text()}`);
    });
    page.on('pageerror', (e) => { if (!known(e.message)) check(false, `${url}: exception: ${e.message}`); });
    page.on('dialog', (d) => { check(false, `${url}: a dialog: ${d.message()}`); void d.dismiss(); });
    page.on('request', (r) => {
        const inside = r.url().startsWith(origin.split('#')[0]) || /^(data|blob):/.test(r.url());
        if (!inside) check(false, `${url}: it asks for ${r.url()}`);
    });
    await page.goto(url);
    await page.locator('main').first().waitFor({ timeout: 30_000 });
    return page;
}

/** Until what was asked for is drawn, and nothing is being loaded. An address changes a moment before the
 * page hears of it. */
export async function settled(page) {
    await page.evaluate(() => new Promise((done) => {
        window.setTimeout(() => { window.requestAnimationFrame(() => { window.requestAnimationFrame(done); }); });
    }));
    await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'), undefined, { timeout: 30_000 });
}

async function fits(page, what) {
    const wide = await page.evaluate(() => {
        const most = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= most) return null;
        const out = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > most + 1);
        return out.slice(0, 3).map((e) => `${e.tagName.toLowerCase()}.${String(e.className.baseVal ?? e.className)}`).join(', ') || 'the page';
    });
    check(wide === null, `${what}: wider than the screen: ${wide}`);
}

async function accessible(page, what) {
    const there = await page.evaluate(() => 'axe' in window);
    if (!there) await page.evaluate(axe);
    const found = await page.evaluate(async () => {
        const r = await window.axe.run(document, { resultTypes: ['violations'] });
        return r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
            .map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].target.join(' ')} ${v.nodes[0].failureSummary ?? ''}`);
    });
    check(found.length === 0, `${what}: axe: ${found.join(' | ')}`);
}

/** All that must hold of what is shown now, in both sizes and both themes. */
export async function inspect(page, what) {
    await settled(page);
    for (const [name, size] of [['wide', WIDE], ['narrow', NARROW]]) {
        await page.setViewportSize(size);
        for (const theme of name === 'wide' ? ['dark', 'light'] : ['light']) {
            await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
            await fits(page, `${what}, ${name}, ${theme}`);
            await accessible(page, `${what}, ${name}, ${theme}`);
        }
    }
    await page.setViewportSize(WIDE);
    const theirs = await page.evaluate(() => document.querySelectorAll('#app script, #app iframe, #app img, #app object, #app [onerror], #app [onload]').length);
    check(theirs === 0, `${what}: ${theirs} elements that are not ours`);
    check(!await page.evaluate(() => 'owned' in window), `${what}: text of others was executed`);
}

/** A picture for the documents, where they are wanted (SCREENSHOTS: a folder). */
export async function picture(page, name, { theme = 'light', size = { width: 1280, height: 800 } } = {}) {
    const folder = process.env.SCREENSHOTS;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await settled(page);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.setViewportSize(WIDE);
}
