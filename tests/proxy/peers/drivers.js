// SPDX-License-Identifier: Apache-2.0
// drivers.js redis|pg PORT: what the drivers of Node see of a connection that breaks, as one line of JSON.
'use strict';

const host = '127.0.0.1';

// Counts to 20, over whatever happens to the connection: the driver connects anew by itself.
async function redis(port) {
  const { createClient } = require('redis');
  const client = createClient({ socket: { host, port, reconnectStrategy: (n) => (n < 20 ? 50 : false) } });
  const errors = [];
  let failed = 0;
  client.on('error', (error) => errors.push(error.code || error.message));
  await client.connect();
  for (let i = 0; i < 20; i++) {
    try {
      await client.incr('node');
    } catch {
      failed++;
    }
  }
  const value = Number(await client.get('node'));
  await client.quit();
  return { value, failed, errors };
}

// One answer that comes, and one that breaks off, each on a connection of its own.
async function pg(port) {
  const { Client } = require('pg');
  const ask = async (text) => {
    const client = new Client({ host, port, user: 'test', database: 'postgres' });
    let broken = null;
    client.on('error', (error) => { broken = error.message; });
    try {
      await client.connect();
      const { rows } = await client.query(text);
      await client.end();
      return rows[0].value.length;
    } catch (error) {
      return broken || error.code || error.message;
    }
  };
  return { whole: await ask("select repeat('x', 50000) as value"), cut: await ask("select repeat('x', 50000) as value") };
}

const [kind, port] = process.argv.slice(2);
({ redis, pg })[kind](Number(port)).then((seen) => { console.log(JSON.stringify(seen)); }, (error) => {
  console.error(error);
  process.exitCode = 1;
});
