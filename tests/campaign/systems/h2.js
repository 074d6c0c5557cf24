// SPDX-License-Identifier: Apache-2.0
// Two services that speak HTTP/2 in clear text, and are not gRPC: `h2.js NAME PORT`. orders asks
// stock ($STOCK) on a session that it keeps, twice at most. Sessions that stock sees, and those
// that orders makes, are counted in the file sessions, a line for each; and there it says when a
// session was sent away (GOAWAY) that orders opened at its start, and never used.
const fs = require('fs');
const http2 = require('http2');

const [name, port] = process.argv.slice(2);
const note = (who) => fs.appendFileSync('sessions', `${who}\n`);
let session;

function connect() {
  note('orders');
  session = http2.connect(process.env.STOCK);
  session.on('error', () => {});
}

const ask = () => new Promise((resolve, reject) => {
  if (!session || session.closed || session.destroyed) connect();
  const call = session.request({ ':path': '/items/7' });
  let status;
  let body = '';
  call.on('response', (headers) => { status = headers[':status']; });
  call.on('data', (bytes) => { body += bytes; });
  call.on('error', reject);
  call.on('close', () => (status === 200 && body ? resolve(body) : reject(new Error(status))));
  call.setTimeout(5000, () => call.close());
  call.end();
});

async function orders(request, response) {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      response.end(await ask());
      return;
    } catch {
      // once more
    }
  }
  response.writeHead(503);
  response.end();
}

if (name === 'orders') {
  http2.connect(process.env.STOCK).on('goaway', () => note('sent-away')).on('error', () => {});
}
const server = http2.createServer(name === 'stock'
  ? (request, response) => response.end('{"left":3}') : orders);
if (name === 'stock') server.on('session', () => note('stock'));
server.listen(+port, '127.0.0.1');
