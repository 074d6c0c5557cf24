// SPDX-License-Identifier: Apache-2.0
//
// What stands where a document is not there (yet).
import type { ComponentChildren } from 'preact';

import type { DocumentOf } from '../model/types';
import { useDocument, useDocuments } from './hooks';
import { Icon } from './icons';
import { Text } from './text';

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
    return <div class="empty"><p class="empty-title">{title}</p>{children}</div>;
}

export function Loading({ what }: { what: string }) {
    return <div class="loading" role="status" aria-busy="true"><span class="spinner" aria-hidden="true" />Reading {what} …</div>;
}

function Problem({ error, name }: { error: string; name: string }) {
    const documents = useDocuments();
    return (
        <div class="problem" role="alert">
            <p><Icon name="warn" /><strong>This part could not be read.</strong></p>
            <p><Text>{error}</Text></p>
            <button type="button" class="button" onClick={() => { void documents.refresh(name); }}>Try again</button>
        </div>
    );
}

/** Shows a document once it is there; before that, and where it is not, says so. */
export function WithDocument<Name extends string>({ name, what, missing, children }: {
    name: Name;
    /** In words: "the runs". */
    what: string;
    /** What stands there when there is none. */
    missing?: ComponentChildren;
    children: (value: DocumentOf<Name>) => ComponentChildren;
}) {
    const loaded = useDocument(name);
    switch (loaded.state) {
    case 'loading': return <Loading what={what} />;
    case 'error': return <Problem error={loaded.error} name={name} />;
    case 'missing': return missing === undefined ? <Empty title={`This page does not have ${what}.`} /> : <>{missing}</>;
    case 'ready': return <>{children(loaded.value)}</>;
    }
}
