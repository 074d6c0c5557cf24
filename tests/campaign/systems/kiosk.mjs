// SPDX-License-Identifier: Apache-2.0
// Somebody at the kiosk, in Chromium: waits for the page, buys, and believes what the page says.
// $HOW: how the page is to ask. $BROWSER: one that runs already.
import assert from 'node:assert';
import { chromium } from 'playwright-core';

const { WEB, API, HOW = '', BROWSER, CHROMIUM = '/usr/bin/chromium' } = process.env;
const browser = BROWSER ? await chromium.connectOverCDP(BROWSER) : await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const context = await browser.newContext(); // with an empty cache
try {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const broken = new Promise((_, reject) => page.on('pageerror', reject)); // an error that nobody caught
    const says = (text) => Promise.race([broken, page.getByText(text).waitFor()]);
    await page.goto(`${WEB}/?api=${API}&${HOW}`);
    await says(/offers/);
    const answered = page.waitForResponse((r) => r.request().method() === 'POST');
    await page.getByRole('button', { name: 'Buy' }).click();
    await says('Bought');
    assert.strictEqual((await answered).status(), 200, 'what the page says is bought is bought');
} catch (error) {
    console.error(error.message);
    process.exitCode = 1;
} finally {
    await context.close();
    await browser.close();
}
