// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';

import { FileSource } from '../src/source';

test('a document is inflated out of the file, once', async () => {
    let asked = 0;
    const base64 = deflateSync(JSON.stringify({ schema_version: 1, text: '</script>\u202e' })).toString('base64');
    Object.assign(globalThis, { document: {
        getElementById: (id: string) => {
            asked++;
            return id === 'outfox:report' ? { textContent: base64 } : null;
        },
    } });
    const source = new FileSource();
    assert.deepEqual(await source.get('report'), { schema_version: 1, text: '</script>\u202e' });
    assert.deepEqual(await source.get('report'), { schema_version: 1, text: '</script>\u202e' });
    assert.equal(asked, 1);
    assert.equal(await source.get('nothing'), null);
});
