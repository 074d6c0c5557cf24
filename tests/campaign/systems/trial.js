// SPDX-License-Identifier: Apache-2.0
// Everyday services of Node: trial.js PORT WORD. Those that call take the addresses of $NEXT.
//
//   leaf     answers
//   both     calls two at the same time, the second once more after 60 ms when it fails, and answers
//            as soon as the first has failed for good: the second try comes after the answer
//   crash    has a bug: a rejection that nobody handles ends the process
//   h2-leaf  answers, and speaks nothing but HTTP/2
//   h2       so does this one, and calls one, twice if need be, over HTTP/2
//   https    answers over TLS to those who ask for localhost; k.pem and c.pem are in its directory
//   post     calls one with POST
'use strict';
const http = require('http');
const [, , port, word] = process.argv;
const next = (process.env.NEXT || '').split(' ').map(url => url + '/value');
const pause = ms => new Promise(done => setTimeout(done, ms));

async function get(url, tries, wait, options) {
  for (let left = tries; ; left--) {
    try {
      const answer = await fetch(url, options);
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
      return await answer.text();
    } catch (error) {
      if (left <= 1) throw error;
      await pause(wait);
    }
  }
}

const handlers = {
  leaf: async () => {},
  both: () => Promise.all([get(next[0], 1), get(next[1], 2, 60)]),
  post: () => get(next[0], 1, 0, { method: 'POST', body: '{}' }),
};

function answer(reply, status, text = '{}') {
  reply.writeHead(status, { 'content-type': 'application/json' });
  reply.end(text);
}

function serve() {
  http.createServer(async (request, reply) => {
    if (word === 'crash') {
      await get(next[0], 1); // not caught
      return answer(reply, 200);
    }
    try {
      await handlers[word]();
      answer(reply, 200);
    } catch (error) {
      answer(reply, 503);
    }
  }).listen(port, '127.0.0.1');
}

function serveTls() {
  const file = name => require('fs').readFileSync(name);
  require('https').createServer({ key: file('k.pem'), cert: file('c.pem') }, (request, reply) => {
    answer(reply, /^localhost/.test(request.headers.host) ? 200 : 421);
  }).listen(port, '127.0.0.1');
}

function ask2(http2, state) {
  return new Promise((done, failed) => {
    if (!state.session || state.session.closed || state.session.destroyed) {
      state.session = http2.connect(process.env.NEXT);
      state.session.on('error', () => {});
    }
    const call = state.session.request({ ':path': '/value' });
    let status;
    call.on('response', headers => { status = headers[':status']; });
    call.on('error', failed);
    call.on('close', () => (status === 200 ? done() : failed(new Error(status))));
    call.setTimeout(1000, () => call.close());
    call.resume();
    call.end();
  });
}

function serve2() {
  const http2 = require('http2');
  const state = {};
  http2.createServer(async (request, reply) => {
    for (let left = word === 'h2' ? 2 : 0; left > 0; left--) {
      try {
        await ask2(http2, state);
        break;
      } catch (error) {
        if (left === 1) return answer(reply, 503);
      }
    }
    return answer(reply, 200);
  }).listen(port, '127.0.0.1');
}

if (word === 'https') serveTls();
else if (word.startsWith('h2')) serve2();
else serve();
