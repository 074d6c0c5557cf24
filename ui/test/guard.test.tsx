// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { options } from 'preact';
import { render } from 'preact-render-to-string';

import { Guard } from '../src/parts/guard';

function Broken(): never {
    throw new TypeError('it is <undefined>');
}

test('a view that throws is told of, and what stands beside it stays', () => {
    Object.assign(options, { errorBoundaries: true });
    const html = render(<div><p>frame</p><Guard><Broken /></Guard></div>);
    assert.match(html, /frame/);
    assert.match(html, /This view failed/);
    assert.match(html, /it is &lt;undefined>/);
    assert.match(render(<Guard><p>well</p></Guard>), /<p>well<\/p>/);
});
