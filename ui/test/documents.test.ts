// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Documents } from '../src/documents';
import { type Source } from '../src/source';

const turn = () => new Promise((resolve) => { setImmediate(resolve); });

class Answers implements Source {
    readonly live = true;
    asked = 0;
    readonly waiting: ((value: unknown) => void)[] = [];

    get(): Promise<unknown> {
        this.asked++;
        return new Promise((resolve, reject) => {
            this.waiting.push((value) => { if (value instanceof Error) reject(value); else resolve(value); });
        });
    }
}

test('a document is asked for once and tells when it is there', async () => {
    const source = new Answers();
    const documents = new Documents(source);
    let told = 0;
    assert.deepEqual(documents.read('report'), { state: 'loading' });
    documents.listen('report', () => { told++; });
    assert.deepEqual(documents.read('report'), { state: 'loading' });
    source.waiting[0]?.({ system: 'shop' });
    await turn();
    assert.equal(source.asked, 1);
    assert.equal(told, 1);
    assert.deepEqual(documents.read('report'), { state: 'ready', value: { system: 'shop' } });
});

test('the old document stays while a new one is fetched, and when that fails', async () => {
    const source = new Answers();
    const documents = new Documents(source);
    documents.read('report');
    source.waiting[0]?.(1);
    await turn();
    void documents.refresh('report');
    assert.deepEqual(documents.read('report'), { state: 'ready', value: 1 });
    source.waiting[1]?.(new Error('gone'));
    await turn();
    assert.deepEqual(documents.read('report'), { state: 'ready', value: 1 });
});

test('an answer that was overtaken is dropped', async () => {
    const source = new Answers();
    const documents = new Documents(source);
    documents.read('report');
    void documents.refresh('report');
    source.waiting[1]?.('new');
    source.waiting[0]?.('old');
    await turn();
    assert.deepEqual(documents.read('report'), { state: 'ready', value: 'new' });
});

test('none, and an error', async () => {
    const source = new Answers();
    const documents = new Documents(source);
    documents.read('comparison');
    documents.read('report');
    source.waiting[0]?.(null);
    source.waiting[1]?.(new Error('the server answers 500'));
    await turn();
    assert.deepEqual(documents.read('comparison'), { state: 'missing' });
    assert.deepEqual(documents.read('report'), { state: 'error', error: 'the server answers 500' });
});

test('the same value is not told again; what nobody shows is fetched when it is read', async () => {
    const source = new Answers();
    const documents = new Documents(source);
    const value = { system: 'shop' };
    let told = 0;
    const end = documents.listen('report', () => { told++; });
    documents.read('report');
    source.waiting[0]?.(value);
    await turn();
    void documents.refresh('report');
    source.waiting[1]?.(value);
    await turn();
    assert.equal(told, 1);
    assert.deepEqual(documents.watched(), ['report']);
    end();
    assert.deepEqual(documents.watched(), []);
    documents.expire('report');
    assert.equal(source.asked, 2);
    assert.deepEqual(documents.read('report'), { state: 'ready', value });
    assert.equal(source.asked, 3);
    documents.read('report');
    assert.equal(source.asked, 3);
});
