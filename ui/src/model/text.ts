// SPDX-License-Identifier: Apache-2.0
//
// Text of others: nothing in it may hide, reorder or pretend. What cannot be seen gets a sign that can.

export interface Piece {
    readonly text: string;
    /** The code points of what stood here, such as U+202E; absent of text that is what it seems. */
    readonly code?: string;
}

// Controls; soft hyphen and what else has no width; marks and overrides of direction; separators of lines;
// variation selectors and tags; halves of a surrogate pair.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu; // eslint-disable-line no-control-regex, no-misleading-character-class

function sign(char: string): Piece {
    const code = char.codePointAt(0) ?? 0;
    const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    if (code < 0x20) return { text: String.fromCharCode(0x2400 + code), code: hex };
    if (code === 0x7f) return { text: '\u2421', code: hex };
    return { text: hex, code: hex };
}

/** The text in pieces; with `lines`, ends of lines and tabs stay what they are. */
export function pieces(text: string, lines = false): Piece[] {
    const found: Piece[] = [];
    let from = 0;
    for (const match of text.matchAll(hidden)) {
        if (lines && (match[0] === '\n' || match[0] === '\t')) continue;
        if (match.index > from) found.push({ text: text.slice(from, match.index) });
        found.push(sign(match[0]));
        from = match.index + match[0].length;
    }
    if (from < text.length) found.push({ text: text.slice(from) });
    return found;
}

/** The same as plain text, for titles and labels: letter by letter what is to be seen. */
export function plain(text: string): string {
    return pieces(text).map((piece) => piece.text).join('');
}
