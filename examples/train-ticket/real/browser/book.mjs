// SPDX-License-Identifier: Apache-2.0
// A customer in a browser: logs in, searches, books, and believes what the page says. Chromium is
// Debian's, or what CHROMIUM names.
import assert from 'node:assert';
import { chromium } from 'playwright-core';

const { WEB, ORDER, CHROMIUM = '/usr/bin/chromium' } = process.env;
const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const page = await browser.newPage(); // a new browser, so its cache is empty
page.setDefaultTimeout(60_000);
const broken = new Promise((_, reject) => page.on('pageerror', reject)); // an error that nobody caught

// What the page says next, once it has done what it is doing.
async function says(before) {
    await Promise.race([broken, page.waitForFunction((old) => {
        const text = document.getElementById('message').textContent;
        return text !== old && !text.endsWith('...');
    }, before)]);
    return page.locator('#message').textContent();
}

// The story. It ends early, and well, as soon as the page says that it is sorry.
async function book() {
    await page.goto(WEB);
    await page.getByLabel('Name').fill('ann');
    await page.getByLabel('Password').fill('secret-of-ann');
    await page.getByRole('button', { name: 'Log in' }).click();
    const welcome = await says('');
    if (welcome.startsWith('Sorry')) return;
    assert.strictEqual(welcome, 'Welcome, ann');

    await page.getByRole('button', { name: 'Search' }).click();
    const found = await says(welcome);
    if (found.startsWith('Sorry')) return;
    assert.strictEqual(found, '2 trains');
    assert.match(await page.locator('#trips li').first().textContent(), /G1234: \d+ euros/);

    await page.getByRole('button', { name: 'Book' }).first().click();
    const booked = await says(found);
    if (booked.startsWith('Sorry')) return;
    assert.strictEqual(booked, 'Booked: G1234');
    const { orders } = await (await fetch(`${ORDER}/orders?user=ann`)).json();
    assert.strictEqual(orders.length, 1, 'what the page says is booked is booked');
}

try {
    await book();
} catch (error) {
    console.error(error.message); // the report quotes the end of what is printed
    process.exitCode = 1;
} finally {
    await browser.close();
}
