// SPDX-License-Identifier: Apache-2.0
// Client libraries of Node behind one door: reads commands, one JSON object per line, and answers
// each with one line {"id": N, ...} that says what the library reported, in its own words.
//
//   {"id": 1, "kind": "http",  "url": ..., "method", "headers", "body", "timeout", "agent"}
//   {"id": 2, "kind": "http2", ...the same; "ca"; the session is kept per "session" name}
//   {"id": 3, "kind": "grpc",  "target", "method", "messages": [...], "deadline" ms, "cancel" ms,
//                              "metadata", "channel": name of a channel to keep}
//   {"id": 5, "kind": "flood", "url", "count": streams to open and cancel}
//   {"id": 4, "kind": "ws",    "url", "frames": [sizes or texts], "close": [code, reason]}
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const http2 = require('http2');
const readline = require('readline');
const grpc = require('@grpc/grpc-js');
const WebSocket = require('ws');
const { services } = require('./grpc_api.js');

const kept = {};
const keepAlive = new http.Agent({ keepAlive: true });

function sha256(bytes) {
    return crypto.createHash('sha256').update(bytes).digest('hex');
}

function show(bytes) {
    return bytes.length <= 4096 ? bytes.toString('latin1') : undefined;
}

function viaHttp(what, done) {
    const result = { data: 0 };
    const pieces = [];
    const finish = (more) => {
        const body = Buffer.concat(pieces);
        done({ ...result, ...more, length: body.length, sha256: sha256(body), body: show(body) });
    };
    const req = http.request(what.url, {
        method: what.method || 'GET', headers: what.headers || {}, timeout: what.timeout,
        agent: what.agent ? keepAlive : undefined,
    }, (res) => {
        Object.assign(result, { status: res.statusCode, headers: res.headers });
        res.on('data', (piece) => pieces.push(piece));
        res.on('end', () => finish({ trailers: res.trailers, complete: res.complete }));
        res.on('error', (error) => finish({ error: error.message }));
    });
    req.on('information', (info) => {
        result.information = info.statusCode;
    });
    req.on('timeout', () => req.destroy(new Error('TIMEOUT')));
    req.on('error', (error) => finish({ error: error.message }));
    if (what.body !== undefined) req.write(what.body);
    req.end();
}

function session(what) {
    const name = what.session || `once ${what.id}`;
    if (kept[name] && !kept[name].closed && !kept[name].destroyed) return kept[name];
    const made = http2.connect(what.url, what.ca ? { ca: fs.readFileSync(what.ca) } : {});
    made.on('error', () => {});
    made.on('goaway', (code, last) => {
        made.away = { code, last };
    });
    kept[name] = made;
    return made;
}

function viaHttp2(what, done) {
    const made = session(what);
    const url = new URL(what.url);
    const result = {};
    const pieces = [];
    const req = made.request({
        ':path': url.pathname + url.search, ':method': what.method || 'GET', ...what.headers,
    });
    req.on('headers', (headers) => {
        result.information = headers[':status'];
    });
    req.on('response', (headers) => {
        result.status = headers[':status'];
        result.headers = headers;
    });
    req.on('trailers', (trailers) => {
        result.trailers = trailers;
    });
    req.on('data', (piece) => pieces.push(piece));
    req.on('error', (error) => {
        result.error = error.code || error.message;
    });
    if (what.timeout) req.setTimeout(what.timeout, () => {
        result.timeout = true;
        req.close(http2.constants.NGHTTP2_CANCEL);
    });
    req.on('close', () => {
        const body = Buffer.concat(pieces);
        const finish = () => {
            done({ ...result, rst: req.rstCode, goaway: made.away, length: body.length,
                          sha256: sha256(body), body: show(body) });
            if (!what.session) made.close();
        };
        setTimeout(finish, what.linger || 0); // a GOAWAY may come just behind
    });
    if (what.body !== undefined) req.write(what.body);
    req.end();
}

// Opens streams and cancels each at once.
function flood(what, done) {
    const made = http2.connect(what.url);
    const result = { goaway: null, closed: false };
    let left = what.count;
    made.on('error', () => {});
    made.on('goaway', (code) => {
        result.goaway = code;
    });
    made.on('close', () => {
        result.closed = true;
        done(result);
    });
    const more = () => {
        for (let i = 0; i < 20 && left > 0 && !made.closed && !made.destroyed; i++, left--) {
            const req = made.request({ ':path': new URL(what.url).pathname });
            req.on('error', () => {});
            req.close(http2.constants.NGHTTP2_CANCEL);
        }
        if (left > 0 && !made.destroyed) setTimeout(more, 2);
        else setTimeout(() => done({ ...result, closed: made.destroyed }), 500);
    };
    made.on('connect', more);
}

function channel(what) {
    const name = what.channel || `once ${what.id}`;
    if (!kept[name]) {
        kept[name] = new grpc.Client(what.target, grpc.credentials.createInsecure(), {
            'grpc.use_local_subchannel_pool': 1, 'grpc.enable_retries': what.retries ? 1 : 0,
            'grpc.max_receive_message_length': 16 << 20, 'grpc.initial_reconnect_backoff_ms': 50,
        });
    }
    return kept[name];
}

function start(client, api, what, metadata, options, answered) {
    const words = [api.path, api.requestSerialize, api.responseDeserialize];
    if (!api.requestStream) words.push(api.bytes ? Buffer.alloc(0) : what.messages[0]);
    words.push(metadata, options);
    if (!api.responseStream) words.push(answered);
    const kind = `make${api.requestStream ? (api.responseStream ? 'BidiStream' : 'ClientStream')
        : (api.responseStream ? 'ServerStream' : 'Unary')}Request`;
    return client[kind](...words);
}

function viaGrpc(what, done) {
    const [service, name] = what.method.split('/');
    const api = { ...services[service][name], bytes: service.startsWith('grpc.') };
    const client = channel(what);
    const metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries(what.metadata || {})) metadata.set(key, value);
    const options = what.deadline ? { deadline: Date.now() + what.deadline } : {};
    const result = { messages: [], count: 0 };
    const keep = (message) => {
        result.count += 1;
        if (result.messages.length < 20) {
            const text = message && message.text;
            result.messages.push(text && text.length > 1000 ? { length: text.length } : message);
        }
    };
    const started = Date.now();
    const call = start(client, api, what, metadata, options, (error, value) => {
        if (!error) keep(value);
        else result.failed = { code: error.code, details: error.details };
    });
    call.on('metadata', (got) => {
        result.head = got.getMap();
    });
    call.on('error', () => {});
    if (api.responseStream) call.on('data', keep);
    call.on('status', (status) => {
        const trailers = status.metadata.getMap();
        for (const key of Object.keys(trailers)) {
            if (Buffer.isBuffer(trailers[key])) trailers[key] = [...trailers[key]];
        }
        // the answer's message comes before the status, the callback with it after
        setImmediate(() => {
            // what the caller is told; the status may be OK although there is no message to it
            const { code, details } = result.failed || status;
            done({ ...result, code, details, trailers, ms: Date.now() - started });
            if (!what.channel) client.close();
        });
    });
    if (what.cancel) setTimeout(() => call.cancel(), what.cancel);
    if (api.requestStream) {
        const rest = [...what.messages];
        const next = () => {
            if (rest.length === 0) {
                if (!what.open) call.end();
                return;
            }
            call.write(rest.shift());
            if (what.pause) setTimeout(next, what.pause);
            else next();
        };
        next();
    }
}

function viaWebSocket(what, done) {
    const result = { got: [], pong: false };
    const socket = new WebSocket(what.url, { headers: what.headers, perMessageDeflate: false });
    const frames = [...what.frames];
    const next = () => {
        if (frames.length === 0) {
            if (what.close) socket.close(...what.close);
            return;
        }
        const frame = frames.shift();
        socket.send(typeof frame === 'number' ? Buffer.alloc(frame, 'w') : frame);
    };
    socket.on('open', () => {
        result.open = true;
        socket.ping('are you there');
        next();
    });
    socket.on('pong', (bytes) => {
        result.pong = bytes.toString();
    });
    socket.on('message', (bytes, binary) => {
        const { length } = bytes;
        result.got.push(binary ? { length, sha256: sha256(bytes) } : bytes.toString());
        next();
    });
    socket.on('unexpected-response', (req, res) => {
        result.status = res.statusCode;
        result.headers = res.headers;
        req.destroy();
        done(result);
    });
    socket.on('error', (error) => {
        result.error = error.message;
    });
    socket.on('close', (code, reason) => {
        if (result.status === undefined) done({ ...result, code, reason: reason.toString() });
    });
}

const kinds = { http: viaHttp, http2: viaHttp2, flood, grpc: viaGrpc, ws: viaWebSocket };

readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const what = JSON.parse(line);
    let told = false;
    kinds[what.kind](what, (result) => {
        if (!told) console.log(JSON.stringify({ id: what.id, ...result }));
        told = true;
    });
}).on('close', () => process.exit(0));
