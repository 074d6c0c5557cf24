// SPDX-License-Identifier: Apache-2.0
// What the services in Node share: JSON over HTTP, gRPC, and the trace context of a request, which
// every call made on its behalf carries on.
'use strict';
const http = require('node:http');
const path = require('node:path');
const { AsyncLocalStorage } = require('node:async_hooks');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const port = Number(process.env.PORT);
const train = grpc.loadPackageDefinition(loader.loadSync(path.join(__dirname, 'train.proto'), { defaults: true })).train;
const PATIENCE_MS = 5000; // of a call to a service that asks nobody else
const CONTEXT = ['traceparent', 'tracestate', 'baggage'];
const context = new AsyncLocalStorage(); // the context of the request that is being handled

function contextOf(get) {
    const found = CONTEXT.map((name) => [name, get(name)]).filter(([, value]) => value);
    return Object.fromEntries(found);
}

// What went wrong at a call. status: that of the answer, undefined if there was none.
class CallError extends Error {
    constructor(what, status) {
        super(what);
        this.status = status;
    }
}

async function readJson(request) {
    let text = '';
    for await (const piece of request) text += piece;
    return text ? JSON.parse(text) : {};
}

// The handler of a route 'GET /trips/:train', and what its path says: { train: 'G1' }.
function findRoute(routes, method, pathname) {
    const asked = pathname.split('/');
    for (const [route, handle] of Object.entries(routes)) {
        const [wanted, pattern] = route.split(' ');
        const parts = pattern.split('/');
        if (wanted !== method || parts.length !== asked.length) continue;
        if (!parts.every((part, i) => part.startsWith(':') || part === asked[i])) continue;
        const named = parts.map((part, i) => [part.slice(1), decodeURIComponent(asked[i])]);
        return [handle, Object.fromEntries(named.filter((_, i) => parts[i].startsWith(':')))];
    }
    return [];
}

// Serves routes: { 'GET /trips/:train': async ({ path, query, body, headers }) => [status, answer] }.
// An answer that is bytes is sent as it is; with a third element, of that content type.
function serveHttp(routes) {
    const all = { 'GET /health': async () => [200, { ok: true }], ...routes };
    http.createServer((request, response) => {
        context.run(contextOf((name) => request.headers[name]), async () => {
            const { pathname, searchParams } = new URL(request.url, 'http://localhost');
            const [handle, path] = findRoute(all, request.method, pathname);
            let status = 404, answer = { error: 'no such path' }, type = 'application/json';
            try {
                if (handle) {
                    const query = Object.fromEntries(searchParams), body = await readJson(request);
                    [status, answer, type = type] = await handle({ path, query, body, headers: request.headers });
                }
            } catch (error) {
                console.error(error);
                [status, answer] = [500, { error: String(error) }];
            }
            response.writeHead(status, { 'content-type': type });
            response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
        });
    }).listen(port, '127.0.0.1');
}

// Calls another service. The answer, if its status is 2xx; otherwise a CallError.
async function call(method, url, body, patience = PATIENCE_MS) {
    let answer;
    try {
        answer = await fetch(url, {
            method,
            body: body && JSON.stringify(body),
            headers: { 'content-type': 'application/json', ...context.getStore() },
            signal: AbortSignal.timeout(patience),
        });
    } catch (error) {
        throw new CallError(`${method} ${url}: ${error.message}`);
    }
    const text = await answer.text();
    if (!answer.ok) throw new CallError(`${method} ${url}: ${answer.status}`, answer.status);
    return JSON.parse(text);
}

// Serves a gRPC service: { Method: async (request) => reply }. What they throw is `unavailable`.
function serveGrpc(name, methods) {
    const handlers = {};
    for (const [method, handle] of Object.entries(methods)) {
        handlers[method] = (asked, done) => {
            context.run(contextOf((key) => asked.metadata.get(key)[0]), () => {
                handle(asked.request).then(
                    (reply) => done(null, reply),
                    (error) => done({ code: error.code ?? grpc.status.UNAVAILABLE, details: error.message }),
                );
            });
        };
    }
    const server = new grpc.Server();
    server.addService(train[name].service, handlers);
    server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error) => {
        if (error) throw error;
    });
}

// A client whose methods are promises: await prices('GetQuote', { train }).
function grpcClient(name, address) {
    const client = new train[name](address, grpc.credentials.createInsecure());
    return (method, request) => new Promise((resolve, reject) => {
        const metadata = new grpc.Metadata();
        for (const [key, value] of Object.entries(context.getStore() ?? {})) metadata.set(key, value);
        client[method](request, metadata, { deadline: Date.now() + 3 * PATIENCE_MS },
                       (error, reply) => (error ? reject(error) : resolve(reply)));
    });
}

process.on('SIGTERM', () => process.exit(0));

module.exports = { serveHttp, serveGrpc, grpcClient, call, PATIENCE_MS };
