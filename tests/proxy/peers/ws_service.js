// SPDX-License-Identifier: Apache-2.0
// A WebSocket service on ws: sends every frame back; the text `bye CODE` closes with that code.
'use strict';

const http = require('http');
const WebSocket = require('ws');
const { count, control, options } = require('./common.js');

const opts = options();
const server = http.createServer((req, res) => res.end('plain\n'));
const sockets = new WebSocket.Server({ server, maxPayload: 64 << 20, perMessageDeflate: false });

sockets.on('connection', (socket) => {
    count('sockets');
    socket.on('error', () => {});
    socket.on('message', (bytes, binary) => {
        const bye = !binary && /^bye (\d+) (.*)$/.exec(bytes.toString());
        if (bye) socket.close(Number(bye[1]), bye[2]);
        else socket.send(bytes, { binary });
    });
    socket.on('close', (code) => count(`closed ${code}`));
});
server.listen(Number(opts.port || 0), '127.0.0.1', () => {
    console.log(`listening 127.0.0.1:${server.address().port}`);
});
control();
