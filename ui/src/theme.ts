// SPDX-License-Identifier: Apache-2.0
//
// Light or dark: as the system wants it, until somebody chooses. Opened from a disk, a page may have no
// storage: then the choice lasts as long as the page.

export type Theme = 'light' | 'dark';

const KEY = 'outfox:theme';
const wantsDark = () => matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme | null = null;

function stored(): Theme | null {
    try {
        const value = localStorage.getItem(KEY);
        return value === 'light' || value === 'dark' ? value : null;
    } catch {
        return null;
    }
}

export function theme(): Theme {
    return chosen ?? (wantsDark().matches ? 'dark' : 'light');
}

function show(): void {
    document.documentElement.dataset.theme = theme();
}

export function setTheme(to: Theme): void {
    chosen = to;
    try {
        localStorage.setItem(KEY, to);
    } catch {
        // no storage here
    }
    show();
}

export function beginTheme(): void {
    chosen = stored();
    show();
    wantsDark().addEventListener('change', show);
}
