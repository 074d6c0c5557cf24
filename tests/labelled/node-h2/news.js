// SPDX-License-Identifier: Apache-2.0
// News over HTTP/2 between the services: `node news.js NAME PORT` starts one of them.
//
//     edge --+-- users     who is reading; a guest when that is not known
//            `-- feed --+-- articles
//                       `-- likes    one request for each article, side by side
//
// Correct: one session per service, opened again when it is gone; a timeout for each request, the
// longer the nearer to the client; a guest is called a guest; likes that are not known are left out,
// and the feed says "partial".
// FLAW: feed answers 404 when articles cannot be had.
'use strict';
const http2 = require('node:http2');
const [, , name, port] = process.argv;

const sessions = new Map();
function session(origin) {
    let one = sessions.get(origin);
    if (!one || one.closed || one.destroyed) {
        one = http2.connect(origin);
        one.on('error', () => {});
        one.on('close', () => sessions.get(origin) === one && sessions.delete(origin));
        one.on('goaway', () => sessions.get(origin) === one && sessions.delete(origin));
        sessions.set(origin, one);
    }
    return one;
}

function get(origin, path) {
    return new Promise((resolve, reject) => {
        const stream = session(origin).request({ ':path': path });
        let status, text = '';
        stream.setTimeout(name === 'edge' ? 1500 : 600, () => stream.close(http2.constants.NGHTTP2_CANCEL));
        stream.on('response', (headers) => { status = headers[':status']; });
        stream.on('data', (piece) => { text += piece; });
        stream.on('error', reject);
        stream.on('close', () => {
            if (status === 200 && stream.rstCode === 0) resolve(JSON.parse(text));
            else reject(new Error(`${path}: ${status}`));
        });
    });
}

const routes = {
    edge: async (path) => {
        const user = await get(process.env.USERS, '/me').catch(() => ({ name: 'guest' }));
        try {
            const feed = await get(process.env.FEED, '/feed');
            return [200, { user: user.name, ...feed }];
        } catch {
            return [503, { error: 'no news now' }];
        }
    },
    users: async () => [200, { name: 'ann' }],
    feed: async () => {
        let ids;
        try {
            ids = await get(process.env.ARTICLES, '/articles');
        } catch {
            return [404, {}];
        }
        const likes = await Promise.all(ids.map((id) => get(process.env.LIKES, `/likes/${id}`).catch(() => null)));
        return [200, { articles: ids, likes: likes.filter(Boolean), partial: likes.includes(null) }];
    },
    articles: async () => [200, ['fox', 'hen']],
    likes: async (path) => [200, { of: path.split('/').pop(), count: 3 }],
};

const server = http2.createServer();
server.on('stream', async (stream, headers) => {
    stream.on('error', () => {});
    const [status, body] = await routes[name](headers[':path']);
    if (stream.destroyed) return;
    stream.respond({ ':status': status, 'content-type': 'application/json' });
    stream.end(JSON.stringify(body));
});
server.listen(Number(port), '127.0.0.1');
