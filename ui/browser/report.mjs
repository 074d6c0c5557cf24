// SPDX-License-Identifier: Apache-2.0
//
// The report in a browser: node report.mjs FOLDER URL, with FOLDER/NAME/report.html, and the page of the
// hostile campaign at URL (tests/ui/reports makes them). All views of all reports are walked through; what people come for is followed on the
// shop: from a finding to its calls, to its run, through the runs, the matrix, a handler's tree; and
// what changed since. What a suite covers is read on the kiosk.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

import { check, finish, inspect, launch, NARROW, open, picture, settled, WIDE } from './harness.mjs';

const [folder, served] = process.argv.slice(2);
const browser = await launch();
const address = (name) => pathToFileURL(join(folder, name, 'report.html')).href;
const title = (page) => page.locator('main h1').first().innerText();

/** Clicks, and waits until the page is where that leads: addresses change a moment later. */
async function follow(page, link, where) {
    await link.click();
    await page.waitForURL(where);
    await settled(page);
}

async function go(page, name) {
    const link = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
    await follow(page, link, `**${await link.getAttribute('href')}`);
}

/** Every view that the navigation offers, each looked at. */
async function walk(name, look, url = address(name)) {
    const page = await open(browser, url);
    await settled(page);
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    const n = await links.count();
    check(n >= 8, `${name}: ${n} views`);
    for (let i = 0; i < n; i++) {
        await follow(page, links.nth(i), `**${await links.nth(i).getAttribute('href')}`);
        check((await title(page)).length > 0, `${name}: view ${i} has a title`);
        check(await page.getByRole('alert').count() === 0, `${name}: ${await title(page)}: ${await page.getByRole('alert').allInnerTexts()}`);
        await look(page, `${name}: ${await title(page)}`);
    }
    await page.context().close();
}

async function quick(page, what) {
    for (const size of [NARROW, WIDE]) {
        await page.setViewportSize(size);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        check(over <= 0, `${what}: ${over} px wider than ${size.width}`);
    }
}

/* ---- the shop: the card is charged more than once ---- */

async function followFinding(page) {
    await picture(page, 'overview');
    await picture(page, 'overview-dark', { theme: 'dark' });
    await follow(page, page.getByRole('link', { name: 'the card is charged more than once' }), /#\/finding\//);
    check(/charged more than once/.test(await title(page)), 'a finding opens');
    await inspect(page, 'finding');
    await picture(page, 'finding', { size: { width: 1280, height: 1000 } });
    const calls = page.getByRole('table', { name: /Calls/ }).first();
    await calls.getByRole('row').nth(1).waitFor();
    const rows = (await calls.getByRole('row').allInnerTexts()).map((t) => t.replace(/\s+/g, ' '));
    check(rows.some((r) => /shipping POST \/shipments/.test(r) && /injected 500/.test(r)), `the fault is marked: ${rows}`);
    check(rows.some((r) => /payments #1/.test(r) && /not made|only with/.test(r)), `the retry stands beside nothing: ${rows}`);
    await page.getByRole('button', { name: /^Copy/ }).first().click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    check(copied === 'outfox replay 1', `the command to replay is copied: ${copied}`);
    await follow(page, page.getByRole('link', { name: /^Run \d+/ }), /#\/run\//);
    check(/^Run \d+/.test(await title(page)), 'from a finding to its run');
    await inspect(page, 'run');
    await picture(page, 'run');
}

async function filterRuns(page) {
    await go(page, 'Runs');
    const all = await page.getByRole('status').first().innerText();
    check(/^6\d\d runs$/.test(all), `all runs are listed: ${all}`);
    await page.getByLabel('Result').selectOption('0');
    await settled(page);
    const some = await page.getByRole('status').first().innerText();
    check(/^1\d of 6\d\d runs$/.test(some), `those that failed: ${some}`);
    await page.reload();
    await settled(page);
    check(await page.getByRole('status').first().innerText() === some, 'the address holds what is shown');
    await page.getByLabel('Search').fill('no such thing');
    await settled(page);
    check(await page.getByText('No run is like this.').count() === 1, 'nothing found is said');
    await page.keyboard.press('Tab');
}

async function filterMatrix(page) {
    await go(page, 'Dependencies');
    const rows = () => page.getByRole('table').first().getByRole('rowheader').allInnerTexts();
    const before = await rows();
    check(before.length === 9, `nine calls: ${before}`);
    check(/cart GET/.test(before[0]), `single points of failure come first: ${before[0]}`);
    await picture(page, 'matrix');
    await page.getByRole('searchbox').fill('alerting');
    await settled(page);
    const after = await rows();
    check(after.length === 2 && after.every((r) => /alerting/.test(r)), `filtered: ${after}`);
    await page.getByRole('searchbox').fill('');
    await page.getByRole('table').first().getByRole('cell').getByRole('button').first().click();
    await settled(page);
    check(await page.getByText(/outfox replay/).count() > 0, 'a cell tells how to see it again');
    await inspect(page, 'matrix with a cell open');
}

async function readHandler(page) {
    await go(page, 'Handlers');
    await follow(page, page.getByRole('link', { name: /payment POST \/payments/ }).first(), /#\/handlers\/0\/\d/);
    const tree = page.getByRole('tree').first();
    await tree.waitFor();
    const text = await tree.innerText();
    check(/shipping POST \/shipments/.test(text), `the tree of payments asks shipping: ${text}`);
    check(/502/.test(text) && /200/.test(text), `and replies 200 or 502: ${text}`);
    await inspect(page, 'handler tree');
    await go(page, 'Handlers');
    await follow(page, page.getByRole('link', { name: /checkout POST/ }).first(), /#\/handlers\/0\/\d/);
    await picture(page, 'handler', { size: { width: 1280, height: 1000 } });
    await page.getByRole('treeitem').first().focus();
    await page.keyboard.press('ArrowDown');
    check(await page.evaluate(() => document.activeElement?.getAttribute('role')) === 'treeitem', 'the tree is walked with keys');
}

async function readGraph(page) {
    await go(page, 'Calls');
    await picture(page, 'calls');
    await page.getByRole('button', { name: /shipping POST \/shipments/ }).first().click();
    await settled(page);
    check(await page.getByText(/outfox replay/).count() > 0, 'a call tells what happens when it fails');
    await inspect(page, 'call graph with a call open');
}

async function shop() {
    const page = await open(browser, address('shop'));
    await settled(page);
    await inspect(page, 'overview');
    await followFinding(page);
    await filterRuns(page);
    await readGraph(page);
    await filterMatrix(page);
    await readHandler(page);
    await page.context().close();
}

async function compared() {
    const page = await open(browser, address('fixed'));
    await settled(page);
    await go(page, 'Compare');
    const text = await page.locator('main').innerText();
    check(/fixed/i.test(text) && /the card is charged more than once/.test(text), `what was fixed is told: ${text}`);
    await inspect(page, 'comparison');
    await picture(page, 'comparison');
    await page.context().close();
}

/* ---- a suite: what adds nothing, what nobody reaches ---- */

async function suite() {
    const page = await open(browser, address('kiosk'));
    await settled(page);
    await go(page, 'Suite');
    const text = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
    check(/4 scenarios reach 5 handlers and make 3 calls between services, of which 3 were made to fail: 14 edges in all/.test(text), `all of it: ${text}`);
    check(/cart: shown by page page-again: shown by page/.test(text), `what adds nothing: ${text}`);
    check(/no scenario reaches \(2\).* mail spare .*no scenario makes \(1\).* front > mail POST \/alerts/.test(text), `what nobody reaches: ${text}`);
    check(!/never made to fail/.test(text), `what was always made to fail is not listed: ${text}`);
    await inspect(page, 'suite');
    await picture(page, 'suite', { size: { width: 1280, height: 1000 } });
    const table = page.getByRole('table', { name: 'What each scenario covers' });
    await table.getByRole('button', { name: 'Edges' }).focus();
    await page.keyboard.press('Enter');
    const first = async () => (await table.getByRole('rowheader').allInnerTexts())[0];
    check(await first() === 'cart', `sorted with keys: ${await first()}`);
    await follow(page, table.getByRole('link', { name: 'news' }), /#\/scenario\/3/);
    check(/news/.test(await title(page)), 'a row leads to its scenario');
    await page.context().close();
}

/* ---- whatever a service writes ---- */

async function hostile() {
    for (const url of [address('hostile'), served]) {
        await walk(url === served ? 'hostile, served' : 'hostile', inspect, url);
        const page = await open(browser, url);
        await settled(page);
        check(/<img src=x onerror=owned=1>/.test(await page.locator('body').innerText()), `${url}: hostile text is shown as text`);
        await page.context().close();
    }
    const text = readFileSync(join(folder, 'hostile', 'report.html'), 'latin1');
    const after = text.slice(text.indexOf('<!--documents-->'));
    check(!/onerror|\u202e/.test(after), 'no document stands in the file as it is');
}

async function all() {
    for (const name of readdirSync(folder).filter((f) => existsSync(join(folder, f, 'report.html'))).sort()) {
        const size = readFileSync(join(folder, name, 'report.html')).length;
        check(size <= 2e6, `${name}: ${size} bytes`);
        if (name !== 'hostile') await walk(name, ['shop', 'netflix', 'purchase'].includes(name) ? inspect : quick);
    }
}

const parts = { all, shop, compared, suite, hostile };
for (const part of (process.env.PARTS ?? Object.keys(parts).join()).split(',')) {
    const begin = Date.now();
    await parts[part]();
    console.log(`${part}: ${(Date.now() - begin) / 1000} s`);
}
await browser.close();
finish();
