// SPDX-License-Identifier: Apache-2.0
// What the listening peers share: counters, and a port of their own on which the tests read them.
'use strict';

const http = require('http');

const counters = {};

function count(name, by = 1) {
    counters[name] = (counters[name] || 0) + by;
}

// A port beside the service, so that looking does not change what is looked at.
function control(paths = {}) {
    const server = http.createServer((req, res) => {
        const act = paths[req.url];
        if (act) act();
        res.end(JSON.stringify(counters));
    });
    server.listen(0, '127.0.0.1', () => console.log(`control ${server.address().port}`));
}

// --name value pairs and bare --flags of the command line.
function options() {
    const found = {};
    const words = process.argv.slice(2);
    for (let i = 0; i < words.length; i++) {
        const name = words[i].replace(/^--/, '');
        const bare = i + 1 >= words.length || words[i + 1].startsWith('--');
        found[name] = bare ? true : words[++i];
    }
    return found;
}

module.exports = { counters, count, control, options };
