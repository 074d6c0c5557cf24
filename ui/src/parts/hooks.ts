// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

import { Documents, type Loaded } from '../documents';
import { parseRoute, type Route } from '../model/route';
import type { DocumentOf } from '../model/types';

export const DocumentsContext = createContext<Documents>(
    new Documents({ live: false, get: () => Promise.resolve(null) }));

export function useDocuments(): Documents {
    return useContext(DocumentsContext);
}

/** The document of this name: shown anew when it changes. null: none is wanted. */
export function useDocument<Name extends string>(name: Name | null): Loaded<DocumentOf<Name>> {
    const documents = useDocuments();
    const [, again] = useState(0);
    const now = name === null ? { state: 'missing' } as const : documents.read(name);
    useEffect(() => {
        if (name === null) return undefined;
        const end = documents.listen(name, () => { again((n) => n + 1); });
        if (documents.read(name) !== now) again((n) => n + 1); // it came in between
        return end;
    }, [documents, name]);
    return now as Loaded<DocumentOf<Name>>;
}

/** Where in the page one is. */
export function useRoute(): Route {
    const [hash, setHash] = useState(() => location.hash);
    useEffect(() => {
        const changed = () => { setHash(location.hash); };
        addEventListener('hashchange', changed);
        return () => { removeEventListener('hashchange', changed); };
    }, []);
    return parseRoute(hash);
}

/** Does a media query match? */
export function useMedia(query: string): boolean {
    const [matches, setMatches] = useState(() => matchMedia(query).matches);
    useEffect(() => {
        const media = matchMedia(query);
        const changed = () => { setMatches(media.matches); };
        changed();
        media.addEventListener('change', changed);
        return () => { media.removeEventListener('change', changed); };
    }, [query]);
    return matches;
}
