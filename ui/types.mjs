// SPDX-License-Identifier: Apache-2.0
//
// npm run types: the types of all documents, from their schemas, in src/gen/documents.d.ts. No two
// definitions have one name (src/page/schema.h), so all of them make one schema: a file is the
// type of its name (calls-of-runs: CallsOfRuns), as is a definition in it (run_calls: RunCalls).
import { compile } from 'json-schema-to-typescript';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const schemas = join(here, '..', 'schemas');
const out = join(here, 'src', 'gen', 'documents.d.ts');

const typeName = (name) => name.replace(/(^|[-_])([a-z])/g, (_, __, letter) => letter.toUpperCase());

const files = readdirSync(schemas).filter((f) => f.endsWith('.json')).sort()
    .map((f) => [f.replace(/\.json$/, ''), JSON.parse(readFileSync(join(schemas, f), 'utf8'))]);
const named = Object.fromEntries(files.flatMap(([name, schema]) =>
    [...(name === 'common' ? [] : [[name, schema]]), ...Object.entries(schema.$defs ?? {})]));

/** The name of the definition that a reference leads to, or of the file. */
const targetOf = (ref) => ref.includes('#') ? ref.split('/').pop() : ref.split(':').at(-2);

const ofFiles = new Set(['$schema', '$id', '$comment', '$defs', '$ref', 'title']);
const mapped = (map, change) => Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));

/** A schema with references to objects of the one schema alone: other types stand where they are used. */
function inOne(value) {
    if (Array.isArray(value)) return value.map(inOne);
    if (typeof value !== 'object' || value === null) return value;
    const name = value.$ref && targetOf(value.$ref);
    const target = named[name];
    if (target?.properties) return { $ref: `#/$defs/${typeName(name)}` }; // with a description it would be another type
    const kept = Object.fromEntries(Object.entries(value).filter(([key]) => !ofFiles.has(key)));
    return { ...(target && inOne(target)), ...mapped(kept, (inner, key) => key === 'properties' ? mapped(inner, inOne) : inOne(inner)) };
}

const types = Object.fromEntries(Object.entries(named).map(([name, schema]) => [typeName(name), inOne(schema)]));
const all = {
    type: 'object', additionalProperties: false, description: 'All documents and parts of them, by the names of their types.',
    properties: Object.fromEntries(Object.keys(types).map((name) => [name, { $ref: `#/$defs/${name}` }])),
    $defs: types,
};
const text = await compile(all, 'AllTypes', {
    additionalProperties: false, bannerComment: '// Made by npm run types from schemas/.', format: false, ignoreMinAndMaxItems: true,
});
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, text);
