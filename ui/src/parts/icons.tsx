// SPDX-License-Identifier: Apache-2.0
//
// Signs that stand beside words, never alone: all are hidden from screen readers.

const paths = {
    ok: 'M3.5 8.5l3 3 6-7',
    bad: 'M4.5 4.5l7 7m0-7l-7 7',
    warn: 'M8 2.5L14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1',
    bolt: 'M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z',
    info: 'M8 7.2v4M8 4.8v.1M8 14.2a6.2 6.2 0 100-12.4 6.2 6.2 0 000 12.4z',
    question: 'M6 6.2a2 2 0 114 .1c0 1.4-2 1.6-2 3M8 11.8v.1M8 14.2a6.2 6.2 0 100-12.4 6.2 6.2 0 000 12.4z',
    copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
    sun: 'M8 11a3 3 0 100-6 3 3 0 000 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
    moon: 'M13 9.5A5.5 5.5 0 116.5 3a4.5 4.5 0 006.5 6.5z',
    right: 'M6 3.5L10.5 8 6 12.5',
    plus: 'M8 3v10M3 8h10',
    minus: 'M3 8h10',
    change: 'M2.5 5.5h10l-3-3M13.5 10.5h-10l3 3',
    home: 'M2.5 7.5L8 2.5l5.5 5M4 6.5v7h8v-7',
    graph: 'M4 5.5a2 2 0 100-4 2 2 0 000 4zM12 9.5a2 2 0 100-4 2 2 0 000 4zM4 14.5a2 2 0 100-4 2 2 0 000 4zM5.8 4.4l4.4 2.2M5.8 11.6l4.4-2.8',
    grid: 'M2.5 2.5h11v11h-11zM2.5 6.2h11M2.5 9.8h11M6.2 2.5v11M9.8 2.5v11',
    tree: 'M8 2v4M8 6H4v3M8 6h4v3M4 9v0M2.8 9h2.4v3H2.8zM10.8 9h2.4v3h-2.4zM6.8 1h2.4v3H6.8z',
    list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1',
    search: 'M7 12A5 5 0 107 2a5 5 0 000 10zM10.7 10.7L14 14',
    live: 'M2 8h2.5l2-5 3 10 2-5H14',
    clock: 'M8 4.5V8l2.5 1.5M8 14.2a6.2 6.2 0 100-12.4 6.2 6.2 0 000 12.4z',
    pause: 'M5 3v10M11 3v10',
    play: 'M4.5 2.5l8 5.5-8 5.5z',
    stop: 'M3.5 3.5h9v9h-9z',
    filter: 'M2 3h12L9.5 8.5V13l-3-1.5v-3z',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
    return (
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
            <path d={paths[name]} />
        </svg>
    );
}

/** The mark of Outfox: a fox that looks at you. */
export function Mark() {
    return (
        <svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
            <path class="mark-fur" d="M3 3l8.5 6.2h9L29 3l-1.2 13.4L16 29.5 4.2 16.4z" />
            <path class="mark-ear" d="M5.6 6.6l3.7 3.6-3 3.2zM26.4 6.6l-3.7 3.6 3 3.2z" />
            <path class="mark-cheek" d="M4.2 16.4l7.1-.5L16 26l4.7-10.1 7.1.5L16 29.5z" />
            <path class="mark-eye" d="M10.2 14.6l3.4 1.7-2.7.7zM21.8 14.6l-3.4 1.7 2.7.7z" />
            <path class="mark-eye" d="M14.3 25.6h3.4L16 28z" />
        </svg>
    );
}
