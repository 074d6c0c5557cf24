// SPDX-License-Identifier: Apache-2.0
//
// The page: its colours at once, all else when all of the file is there.
import { render } from 'preact';

import { Documents } from './documents';
import { Client } from './live/client';
import { LiveContext } from './live/context';
import { ServerSource } from './live/source';
import { Live } from './live/store';
import { knownToken, takeToken } from './live/token';
import { DocumentsContext } from './parts/hooks';
import { FileSource, isPlan, isReport } from './source';
import { beginTheme } from './theme';
import { App } from './views/app';
import { PlanApp } from './views/plan';

/** Documents of this file; or of the server, and the campaign that it runs. */
function begin(): { documents: Documents; live: Live | null } {
    if (isReport()) return { documents: new Documents(new FileSource()), live: null };
    takeToken();
    const client = new Client(knownToken);
    const source = new ServerSource(client);
    const documents = new Documents(source);
    const live = new Live(client, source, documents);
    live.begin();
    return { documents, live };
}

beginTheme();
document.addEventListener('DOMContentLoaded', () => {
    const root = document.getElementById('app');
    if (!root) return;
    const { documents, live } = begin();
    render(
        <DocumentsContext.Provider value={documents}>
            <LiveContext.Provider value={live}>{isPlan() ? <PlanApp /> : <App />}</LiveContext.Provider>
        </DocumentsContext.Provider>, root);
});
