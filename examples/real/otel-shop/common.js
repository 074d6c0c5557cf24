// SPDX-License-Identifier: Apache-2.0
// What the services share: JSON over HTTP and gRPC with as few lines as possible, and nothing about
// tracing, which OpenTelemetry adds from outside (see README.md).
'use strict';
const http = require('node:http');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const port = Number(process.env.PORT);
const shop = grpc.loadPackageDefinition(loader.loadSync(path.join(__dirname, 'shop.proto'))).shop;

async function readJson(request) {
    let text = '';
    for await (const piece of request) text += piece;
    return text ? JSON.parse(text) : {};
}

// Serves routes: { 'GET /items/': async (rest of the path, body) => [status, answer] }.
function serveHttp(routes) {
    const server = http.createServer(async (request, response) => {
        let status = 404, answer = { error: 'no such path' };
        try {
            if (request.url === '/health') [status, answer] = [200, { ok: true }];
            for (const [route, handle] of Object.entries(routes)) {
                const [method, prefix] = route.split(' ');
                if (request.method === method && request.url.startsWith(prefix))
                    [status, answer] = await handle(request.url.slice(prefix.length),
                                                    await readJson(request));
            }
        } catch (error) {
            [status, answer] = [500, { error: String(error) }];
        }
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
    });
    server.listen(port, '127.0.0.1');
}

// Serves a gRPC service: { Method: (request) => reply }.
function serveGrpc(name, methods) {
    const handlers = {};
    for (const [method, handle] of Object.entries(methods))
        handlers[method] = (call, done) => done(null, handle(call.request));
    const server = new grpc.Server();
    server.addService(shop[name].service, handlers);
    server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error) => {
        if (error) throw error;
    });
}

// A client whose methods are promises, each with a deadline.
function grpcClient(name, address) {
    const client = new shop[name](address, grpc.credentials.createInsecure());
    return (method, request) => new Promise((resolve, reject) => {
        client[method](request, { deadline: Date.now() + 5000 },
                       (error, reply) => error ? reject(error) : resolve(reply));
    });
}

async function httpCall(method, url, body) {
    const answer = await fetch(url, {
        method,
        body: body && JSON.stringify(body),
        headers: body && { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(5000),
    });
    const text = await answer.text();
    if (!answer.ok) throw Object.assign(new Error(`${url}: ${answer.status}`), { status: answer.status });
    return JSON.parse(text);
}

process.on('SIGTERM', () => process.exit(0));

module.exports = { serveHttp, serveGrpc, grpcClient, httpCall };
