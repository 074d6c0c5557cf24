// SPDX-License-Identifier: Apache-2.0
// Reports that take a while: `node reports.js NAME PORT` starts one of the services.
//
//     api --+-- jobs    POST /jobs starts one; GET /jobs/ID is polled until it is done
//           |     `-- store  where the finished report is put, tried twice
//           +-- store   GET /files/ID fetches it
//           `-- audit   POST /events, after the answer: nobody waits for it
//
// Correct: the poll has an end, a failed poll is tried again, ids of jobs come from the caller and
// creating one twice makes one job, the audit's failure is nobody's business. Trace headers are
// passed on, also by work that goes on after the answer.
// FLAW: a report that could not be stored is a success of api: 200 and "failed", without rows.
'use strict';
const http = require('node:http');
const { randomUUID } = require('node:crypto');
const { AsyncLocalStorage } = require('node:async_hooks');
const [, , name, port] = process.argv;
const { JOBS, STORE, AUDIT } = process.env;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const trace = new AsyncLocalStorage(); // the trace headers of the request that is handled
function passOn({ traceparent, tracestate }) {
    return traceparent ? { traceparent, ...(tracestate && { tracestate }) } : {};
}

async function call(method, url, body) {
    const answer = await fetch(url, {
        method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(700),
        headers: { ...trace.getStore(), ...(body && { 'content-type': 'application/json' }) },
    });
    if (!answer.ok) throw Object.assign(new Error(`${method} ${url}`), { status: answer.status });
    return answer.json();
}

async function twice(what) {
    try {
        return await what();
    } catch (error) {
        if (error.status === 404) throw error;
        await sleep(100);
        return what();
    }
}

async function waitFor(id) {
    for (let polls = 0; polls < 60; polls++) {
        const job = await call('GET', `${JOBS}/jobs/${id}`).catch(() => ({ state: 'unknown' }));
        if (job.state === 'done' || job.state === 'failed') return;
        await sleep(80);
    }
}

async function createReport(id) {
    await twice(() => call('PUT', `${JOBS}/jobs/${id}`, { kind: 'sales' }));
    await waitFor(id);
    try {
        const file = await twice(() => call('GET', `${STORE}/files/${id}`));
        return [200, { id, state: 'done', rows: file.rows }];
    } catch (error) {
        if (error.status === 404) return [200, { id, state: 'failed' }];
        throw error;
    }
}

async function report() {
    const id = randomUUID();
    try {
        return await createReport(id);
    } catch {
        return [503, { error: 'no report now' }];
    } finally {
        setTimeout(() => call('POST', `${AUDIT}/events`, { id }).catch(() => {}), 30);
    }
}

const jobs = new Map(); // id -> state
const files = new Map(); // id -> content
async function work(id) {
    jobs.set(id, 'running');
    await sleep(100);
    try {
        await twice(() => call('PUT', `${STORE}/files/${id}`, { rows: 12 }));
        jobs.set(id, 'done');
    } catch {
        jobs.set(id, 'failed');
    }
}

const routes = {
    api: report,
    jobs: async (method, id) => {
        if (method === 'PUT' && !jobs.has(id)) work(id);
        return jobs.has(id) ? [200, { state: jobs.get(id) }] : [404, {}];
    },
    store: async (method, id, body) => {
        if (method === 'PUT') files.set(id, body);
        return files.has(id) ? [200, files.get(id)] : [404, {}];
    },
    audit: async () => [200, {}],
};

http.createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const handle = () => routes[name](request.method, request.url.split('/').pop(), text && JSON.parse(text));
    const [status, body] = request.url === '/health' ? [200, {}] : await trace.run(passOn(request.headers), handle);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
}).listen(Number(port), '127.0.0.1');
