// SPDX-License-Identifier: Apache-2.0
// A gRPC service on @grpc/grpc-js, with every kind of call. Messages are JSON, and bytes for the
// health check, so that no compiler for .proto files is needed.
'use strict';

const grpc = require('@grpc/grpc-js');
const { count, control, options } = require('./common.js');
const { services } = require('./grpc_api.js');

const opts = options();

// Counts calls, and those that the client gave up; the library says `cancelled` of others too.
function seen(call, name) {
    count(name);
    call.on('cancelled', () => {
        if (name === 'Wait' || (call.request && call.request.open)) count(`cancelled ${name}`);
    });
}

function unary(call, done) {
    seen(call, 'Unary');
    const trailers = new grpc.Metadata();
    trailers.set('x-trailer', 'after');
    const word = call.metadata.get('x-word')[0];
    const head = new grpc.Metadata();
    head.set('x-echo', word || 'none');
    call.sendMetadata(head);
    const { text } = call.request;
    done(null, { text, deadline: Number.isFinite(call.getDeadline()) }, trailers);
}

function fail(call, done) {
    seen(call, 'Fail');
    const metadata = new grpc.Metadata();
    metadata.set('x-reason', 'stock');
    metadata.set('x-raw-bin', Buffer.from([0, 1, 254, 255]));
    done({ code: grpc.status.FAILED_PRECONDITION, details: 'sold out: 100% \u{1F98A}', metadata });
}

function large(call, done) {
    seen(call, 'Large');
    done(null, { text: 'x'.repeat(call.request.size), got: (call.request.text || '').length });
}

function wait(call) {
    seen(call, 'Wait');
}

function collect(call, done) {
    seen(call, 'Collect');
    const got = [];
    call.on('data', (message) => got.push(message.text));
    call.on('end', () => done(null, { text: got.join(' '), count: got.length }));
}

function expand(call) {
    seen(call, 'Expand');
    let sent = 0;
    const more = () => {
        while (sent < call.request.count) {
            sent += 1;
            if (!call.write({ text: `${sent}` + 'y'.repeat(call.request.size || 0) })) {
                call.once('drain', more);
                return;
            }
        }
        if (call.request.open) return;
        call.end();
    };
    more();
}

function chat(call) {
    seen(call, 'Chat');
    call.on('data', (message) => call.write({ text: `you said ${message.text}` }));
    call.on('end', () => call.end());
    call.on('error', () => {});
}

function health(call, done) {
    seen(call, 'Check');
    done(null, Buffer.from([8, 1])); // SERVING
}

const server = new grpc.Server({ 'grpc.max_receive_message_length': 16 << 20 });
server.addService(services['test.Echo'], {
    Unary: unary, Fail: fail, Large: large, Wait: wait, Collect: collect, Expand: expand,
    Chat: chat,
});
server.addService(services['grpc.health.v1.Health'], { Check: health });
const insecure = grpc.ServerCredentials.createInsecure();
server.bindAsync(`127.0.0.1:${opts.port || 0}`, insecure, (error, port) => {
    if (error) throw error;
    console.log(`listening 127.0.0.1:${port}`);
});
control();
