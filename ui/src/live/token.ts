// SPDX-License-Identifier: Apache-2.0
//
// The token of a server that wants one. It comes in the fragment of the address, which browsers do
// not send, is kept for as long as the tab lives, and leaves the address at once: addresses end up in
// histories, screenshots and chats.

const KEY = 'outfox-token';

export interface Place {
    readonly hash: string;
    readonly pathname: string;
    readonly search: string;
}

/** "#token=T" or "#token=T&/runs/0": the token, and the route that remains. */
export function splitFragment(hash: string): { token: string | null; route: string } {
    const found = /^#token=([^&]*)&?(.*)$/s.exec(hash);
    if (!found) return { token: null, route: hash };
    let token = found[1] ?? '';
    try {
        token = decodeURIComponent(token);
    } catch {
        // it is no escape: the token has a percent sign
    }
    return { token: token || null, route: found[2] ? `#${found[2]}` : '' };
}

/** Storage may be forbidden: then the token lives as long as the page. */
function storage(): Storage | null {
    try {
        return sessionStorage;
    } catch {
        return null;
    }
}

let held: string | null = null;

export function keepToken(token: string): void {
    held = token;
    storage()?.setItem(KEY, token);
}

export function knownToken(): string | null {
    held ??= storage()?.getItem(KEY) ?? null;
    return held;
}

/** Takes the token out of the address, before anybody else reads that. */
export function takeToken(place: Place = location, past: Pick<History, 'replaceState'> = history): void {
    const { token, route } = splitFragment(place.hash);
    if (token === null) return;
    keepToken(token);
    past.replaceState(null, '', `${place.pathname}${place.search}${route}`);
}
