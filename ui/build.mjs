// SPDX-License-Identifier: Apache-2.0
//
// Builds the page: one HTML file without documents, which the binary embeds.
//
//     node build.mjs OUT.html
//
// What follows the marker <!--documents--> are the documents, in the report; the live page has none
// there. Script and style stand inside, and a policy in the head allows these two by their hash and
// nothing else: no request can leave the file.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

async function bundle(entry, more) {
    const done = await build({
        entryPoints: [join(here, entry)],
        bundle: true,
        minify: true,
        write: false,
        target: ['chrome100', 'firefox113', 'safari16.4'],
        legalComments: 'none', // licences() has them all, in full
        logLevel: 'warning',
        charset: 'ascii',
        metafile: true,
        ...more,
    });
    return { text: done.outputFiles[0].text, inputs: Object.keys(done.metafile.inputs) };
}

// The licences of the packages whose code is in the bundle, in full.
function licences(inputs) {
    const names = new Set();
    for (const input of inputs) {
        const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
        if (found) names.add(found[1]);
    }
    return [...names].sort().map((name) => {
        const folder = join(here, 'node_modules', name);
        const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
        if (!file) throw new Error(`${name} has no licence file`);
        return `${name} ${about.version} (${about.license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    }).join('\n----\n\n');
}

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
// In strings, where alone they can be, these would end the element or hide what follows.
const inert = (text) => text.replace(/<(?=\/script|!--)/gi, '\\x3c');

const script = await bundle('src/main.tsx', {
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
});
const style = await bundle('src/style/main.css', { loader: { '.css': 'css' } });
const code = inert(script.text);
const policy = [
    "default-src 'none'",
    `script-src ${hash(code)}`,
    `style-src ${hash(style.text)}`,
    "style-src-attr 'unsafe-inline'",
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Outfox</title>
<link rel="icon" href="data:,">
<style>${style.text}</style>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript. The same results as text: outfox report</noscript></div>
<script type="text/plain" id="licences">${licences(script.inputs).replace(/<\//g, '< /')}</script>
<script>${code}</script>
<!--documents-->
</body>
</html>
`;
writeFileSync(process.argv[2], page);
