// SPDX-License-Identifier: Apache-2.0
//
// Runs the unit tests: test/*.test.ts(x), bundled as the page is, by the runner of Node. Ends with a
// line `checks: N`.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'ui-'));
const tests = readdirSync(here).filter((f) => /\.test\.tsx?$/.test(f)).map((f) => join(here, f));
await build({
    entryPoints: tests, outdir: out, outExtension: { '.js': '.mjs' }, bundle: true, platform: 'node', format: 'esm',
    jsx: 'automatic', jsxImportSource: 'preact', sourcemap: 'inline', logLevel: 'warning',
});
const files = readdirSync(out).filter((f) => f.endsWith('.mjs')).map((f) => join(out, f));
const ran = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...files], { encoding: 'utf8' });
const passed = Number(/^# pass (\d+)/m.exec(ran.stdout)?.[1] ?? 0);
rmSync(out, { recursive: true });
if (ran.status !== 0 || passed === 0) {
    console.log(ran.stdout, ran.stderr);
    process.exit(1);
}
console.log(`checks: ${passed}`);
