// SPDX-License-Identifier: Apache-2.0
//
// The end of a service's log, with a sentence that says why this service and when.
import type { Log } from '../model/types';
import { Copy } from './copy';
import { Text } from './text';

export function LogEnd({ log, why }: { log: Log | null; why: string }) {
    if (log === null) return null;
    return (
        <section class="card" aria-labelledby="log">
            <div class="row spread">
                <h2 id="log">The log of <Text>{log.service}</Text></h2>
                <Copy text={log.lines.join('\n')} what="log" />
            </div>
            <p class="muted small">{why}</p>
            <pre class="log" tabIndex={0} role="group" aria-label="Log">{log.lines.map((line, i) => <div key={i}><Text>{line || ' '}</Text></div>)}</pre>
        </section>
    );
}
