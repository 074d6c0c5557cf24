// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from 'preact-render-to-string';

import type { Suite, SuiteCall, SuiteScenario } from '../src/gen/documents';
import * as model from '../src/model/suite';
import { parseRoute } from '../src/model/route';
import type { Report } from '../src/model/types';
import { views } from '../src/views/list';
import { SuiteView } from '../src/views/suite';
import { explored } from './made';

const hostile = '<img src=x onerror=alert(1)>\u202e</script>';
/** What is read of a page: its text, with blanks for elements. */
const words = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').replace(/&gt;/g, '>');

function row(scenario: string, part: Partial<SuiteScenario> = {}): SuiteScenario {
    return {
        scenario, runs: 9, calls: 2, failed_calls: 2, handlers: 3, edges: 9, only_calls: 0, only_handlers: 0, only_edges: 4, adds_nothing: false,
        shown_by: [], shown_by_more: false, left_out: 0, ...part,
    };
}

function call(service: string, part: Partial<SuiteCall> = {}): SuiteCall {
    return { caller: 'front', service, interface: 'GET /', conditional: false, failed: 3, scenarios: [0], ...part };
}

function suite(part: Partial<Suite> = {}): Suite {
    return {
        scenarios: [row('page'), row('again', { adds_nothing: true, shown_by: [0], only_edges: 0 })], calls: [call('cart'), call('news', { failed: 0, conditional: true })],
        calls_total: 2, failed_calls: 1, handlers: [{ handler: 'front GET /', service: 'front', edges: 7, scenarios: [0, 1] }], handlers_total: 1, edges: 12,
        unreached_services: ['mail'], unreached_calls: [{ caller: 'front', service: 'mail', interface: null }], unreached_calls_total: 1, ...part,
    };
}

function report(part: Partial<Report> = {}): Report {
    return {
        schema_version: 1, version: '1', system: 'shop', file: 'outfox.yaml', verdict: 'ok', error: null,
        scenarios: [explored({ scenario: 'page' }), explored({ scenario: 'again' })], suite: suite(), comparison: null, ...part,
    };
}

function show(of: Report): string {
    const [scenario] = of.scenarios;
    assert.ok(scenario);
    return render(<SuiteView report={of} scenario={scenario} index={0} route={parseRoute('#/suite')} />);
}

test('all of it in a sentence', () => {
    assert.equal(model.totals(suite()), '2 scenarios reach 1 handler and make 2 calls between services, of which 1 was made to fail: 12 edges in all.');
    assert.equal(model.callText(call('cart')), 'front > cart GET /');
    assert.equal(model.callText({ caller: 'a', service: 'b', interface: null }), 'a > b');
});

test('who adds nothing, by whom it is shown, and what it has all the same', () => {
    const [one, ...others] = model.idle(report(), suite());
    assert.deepEqual([one, others], [{ index: 1, name: 'again', by: [0], more: false, findings: 0 }, []]);
    assert.deepEqual(model.neverFailed(suite()).map((c) => c.service), ['news']);
});

test('why there may be more', () => {
    assert.deepEqual(model.doubts(report(), suite()), []);
    const cut = report({ scenarios: [explored({ stopped_by: 'runs' }), explored({ broken: 'it fails' })] });
    assert.deepEqual(model.doubts(cut, suite({ scenarios: [row('page', { left_out: 2 }), row('again')] })), [
        '2 scenarios were not explored to the end: this is what was seen so far.', '1 scenario showed more than is kept.',
    ]);
});

test('the view has a row for each scenario, and lists of what to do something about', () => {
    const text = words(show(report()));
    assert.match(text, /again 9 2 2 3 9 0 nothing/);
    assert.match(text, /Adds nothing to the others \( ?1 ?\).* again : shown by page/);
    assert.match(text, /Services that no scenario reaches \( ?1 ?\).* mail/);
    assert.match(text, /Calls that no scenario makes \( ?1 ?\).* front > mail/);
    assert.match(text, /never made to fail \( ?1 ?\).* front > news GET \/ , only after a fault: in page/);
    const whole = words(show(report({ suite: suite({ scenarios: [row('page'), row('again')], calls: [call('cart')], unreached_services: [], unreached_calls: [] }) })));
    assert.doesNotMatch(whole, /Adds nothing|no scenario|never made/);
});

test('long lists are cut', () => {
    const calls = Array.from({ length: 120 }, (_, i) => call(`s${i}`, { scenarios: [0, 1, 0, 1, 0, 1] }));
    const html = show(report({ suite: suite({ calls }) }));
    assert.match(words(html), /Show 70 more/);
    assert.match(words(html), /and 2 more/);
    assert.ok(!html.includes('s99'));
});

test('there is a suite of several scenarios alone', () => {
    const view = views.find(({ name }) => name === 'suite');
    assert.ok(view?.shown);
    assert.ok(view.shown(report()));
    assert.ok(!view.shown(report({ suite: null })));
    assert.match(show(report({ suite: null })), /There is one scenario/);
});

test('text of others stays text', () => {
    const html = show(report({
        scenarios: [explored({ scenario: hostile }), explored({ scenario: hostile })],
        suite: suite({
            scenarios: [row(hostile), row(hostile, { adds_nothing: true, shown_by: [0] })], calls: [call(hostile, { failed: 0 })], unreached_services: [hostile],
            unreached_calls: [{ caller: hostile, service: hostile, interface: hostile }],
            handlers: [{ handler: hostile, service: hostile, edges: 1, scenarios: [0] }],
        }),
    }));
    assert.ok(!html.includes('<img') && !html.includes('</script>') && !html.includes('\u202e'));
});
