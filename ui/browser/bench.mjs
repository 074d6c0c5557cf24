// SPDX-License-Identifier: Apache-2.0
//
// What bench/page.py measures in a browser, or as one:
//
//     node bench.mjs report FILE     prints {"paint", "overview", "runs"} in milliseconds, medians of five
//     node bench.mjs page URL        looks at the live page until it is killed
//     node bench.mjs client URL      asks for what the page asks for, without a browser
import { pathToFileURL } from 'node:url';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import { launch, WIDE } from './harness.mjs';

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

async function once(browser, url) {
    const page = await browser.newPage({ viewport: WIDE });
    const since = () => page.evaluate(() => performance.now());
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator('main h1').first().waitFor({ timeout: 60_000 });
    const overview = await since();
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN);
    const begin = await since();
    await page.goto(`${url}#/runs/0`);
    await page.locator('[role=row], tbody tr').nth(5).waitFor({ timeout: 60_000 });
    const runs = await since() - begin;
    await page.close();
    return { paint, overview, runs };
}

async function report(file) {
    const browser = await launch();
    const all = [];
    for (let i = 0; i < 5; i++) all.push(await once(browser, pathToFileURL(file).href));
    await browser.close();
    console.log(JSON.stringify(Object.fromEntries(
        Object.keys(all[0]).map((key) => [key, median(all.map((one) => one[key]))]))));
}

async function page(url) {
    const browser = await launch();
    await (await browser.newPage({ viewport: WIDE })).goto(url);
    await sleep(600_000);
}

async function client(url) {
    const tags = new Map();
    const ask = async (name) => {
        const answer = await fetch(`${url}api/v1/${name}`, { headers: { 'if-none-match': tags.get(name) ?? '""' } });
        tags.set(name, answer.headers.get('etag') ?? '""');
        await answer.arrayBuffer();
    };
    void fetch(`${url}api/v1/events?types=state,campaign,finding,remark,note,warning,end,replay`).then(async (answer) => {
        for await (const part of answer.body) void part;
    });
    for (;;) {
        for (const name of ['report', 'dependencies', 'handlers/0']) await ask(name);
        await sleep(3000);
    }
}

await { report, page, client }[process.argv[2]](process.argv[3]);
