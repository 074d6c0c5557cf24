// SPDX-License-Identifier: Apache-2.0
// An HTTP service with a path for everything that a test wants to see. HTTP/1.1 on Node's http,
// h2c (--h2) and TLS with both (--cert, --key, --ca for clients' certificates) on its http2.
//
//   /hello /json /count /echo /report /bytes/N /chunked/N /trailers /status/N /slow/MS /never
//   /early /endless /close /reset /half /rst/CODE
//
// --host, --port and --unix say where; it prints `listening ADDR`, then `control PORT`.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const http2 = require('http2');
const { count, control, counters, options } = require('./common.js');

const opts = options();

// A prime length: bytes that are lost, repeated or moved show in a checksum.
const BLOCK = Buffer.alloc(65521);
for (let i = 0; i < BLOCK.length; i++) BLOCK[i] = (i * i * 31 + i * 7 + 13) & 255;

function send(res, left) {
    const more = () => {
        while (left > 0) {
            const piece = left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK;
            left -= piece.length;
            if (!res.write(piece)) {
                res.once('drain', more);
                return;
            }
        }
        res.end();
    };
    more();
}

function report(req, res) {
    const hash = crypto.createHash('sha256');
    let length = 0;
    req.on('data', (piece) => {
        hash.update(piece);
        length += piece.length;
    });
    req.on('end', () => {
        const pairs = [];
        for (let i = 0; i < req.rawHeaders.length; i += 2) {
            pairs.push([req.rawHeaders[i], req.rawHeaders[i + 1]]);
        }
        const said = JSON.stringify({
            method: req.method, url: req.url, version: req.httpVersion, fields: pairs, length,
            sha256: hash.digest('hex'), trailers: req.trailers,
        });
        const size = Buffer.byteLength(said);
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': size });
        res.end(said);
    });
}

function endless(req, res) {
    res.writeHead(200, { 'content-type': 'application/octet-stream' });
    const more = () => {
        let room = true;
        while (room && !res.destroyed && !res.writableEnded) {
            room = res.write(BLOCK);
            count('sent', BLOCK.length);
        }
        if (!res.destroyed) res.once('drain', more);
    };
    more();
}

function early(req, res) {
    const link = '</style.css>; rel=preload';
    if (res.stream) res.stream.additionalHeaders({ ':status': 103, link });
    else res.writeEarlyHints({ link });
    setTimeout(() => res.end('late\n'), 50);
}

const JSON_BODY = '{"name":"fox","items":[{"id":1},{"id":2}],"note":"quick"}';

const paths = {
    hello: (req, res) => {
        req.resume();
        res.writeHead(200, {
            'content-type': 'text/plain', 'content-length': 6, 'x-origin': 'yes',
        });
        res.end('hello\n');
    },
    json: (req, res) => {
        req.resume();
        const { length } = JSON_BODY;
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
        res.end(JSON_BODY);
    },
    count: (req, res) => {
        // the how-manieth request this is, and how much it carried
        const n = counters[`${req.method} ${req.url}`];
        let length = 0;
        req.on('data', (piece) => {
            length += piece.length;
        });
        req.on('end', () => res.end(`${n} ${length}`));
    },
    echo: (req, res) => {
        const length = req.headers['content-length'];
        res.writeHead(200, length === undefined ? {} : { 'content-length': length });
        req.pipe(res);
    },
    report,
    bytes: (req, res, n) => {
        req.resume();
        res.writeHead(200, { 'content-length': n, 'content-type': 'application/octet-stream' });
        send(res, Number(n));
    },
    chunked: (req, res, n) => {
        req.resume();
        res.writeHead(200, { 'content-type': 'application/octet-stream' });
        send(res, Number(n));
    },
    trailers: (req, res) => {
        req.resume();
        res.writeHead(200, { trailer: 'x-checksum, x-second' });
        res.write('body ');
        res.write('and trailers\n');
        res.addTrailers({ 'x-checksum': 'abc', 'x-second': 'def' });
        res.end();
    },
    status: (req, res, n) => {
        req.resume();
        res.writeHead(Number(n), { 'x-status': n });
        res.end(n === '204' || n === '304' ? undefined : `status ${n}\n`);
    },
    slow: (req, res, ms) => {
        req.resume();
        setTimeout(() => res.end('slow\n'), Number(ms));
    },
    never: (req) => req.resume(),
    early,
    endless,
    close: (req) => req.socket.destroy(),
    reset: (req) => req.socket.resetAndDestroy(),
    half: (req, res) => {
        res.writeHead(200, { 'content-length': 100 });
        res.write('0123456789');
        setTimeout(() => (res.stream ? res.stream.close(2) : req.socket.destroy()), 50);
    },
    rst: (req, res, code) => res.stream.close(Number(code)),
};

function handle(req, res) {
    const [, name, argument] = req.url.split('?')[0].split('/');
    count(`${req.method} ${req.url}`);
    count('requests');
    count(`version ${req.httpVersion}`);
    req.on('data', (piece) => count('bytes', piece.length));
    req.on('error', () => {});
    res.on('error', () => {});
    // http2 says `close` of answers that nobody finished only with `aborted`
    if (res.stream) res.stream.on('aborted', () => count(`left ${req.url}`));
    else res.on('close', () => res.writableFinished || count(`left ${req.url}`));
    if (paths[name]) return paths[name](req, res, argument);
    res.writeHead(404);
    return res.end('no such path\n');
}

function tls() {
    const made = { key: fs.readFileSync(opts.key), cert: fs.readFileSync(opts.cert) };
    if (!opts.ca) return made;
    return { ...made, ca: fs.readFileSync(opts.ca), requestCert: true, rejectUnauthorized: true };
}

function make() {
    if (opts.cert && opts.h1) return require('https').createServer(tls(), handle);
    if (opts.cert) return http2.createSecureServer({ ...tls(), allowHTTP1: true }, handle);
    if (opts.h2) return http2.createServer(handle);
    return http.createServer(handle);
}

const server = make();
if (opts['keep-alive']) server.keepAliveTimeout = Number(opts['keep-alive']);
else if ('keepAliveTimeout' in server) server.keepAliveTimeout = 600000;
if (opts.refuse) {
    // 417 instead of 100: a client that waits must not send its body
    server.on('checkContinue', (req, res) => {
        count('continue asked');
        res.writeHead(417, { 'content-length': 0, connection: 'close' });
        res.end();
    });
}
server.on('connection', () => count('connections'));
server.on('secureConnection', (socket) => {
    const shown = socket.getPeerCertificate();
    if (shown && shown.subject) count(`client ${shown.subject.CN}`);
    count(`alpn ${socket.alpnProtocol}`);
});
server.on('sessionError', () => {});
if (opts.unix) {
    server.listen(opts.unix, () => console.log(`listening unix:${opts.unix}`));
} else {
    const host = opts.host || '127.0.0.1';
    server.listen(Number(opts.port || 0), host, () => {
        const shown = host.includes(':') ? `[${host}]` : host;
        console.log(`listening ${shown}:${server.address().port}`);
    });
}
control();
counters.requests = 0;
