// SPDX-License-Identifier: Apache-2.0
//
// Server-sent events, read from text as it comes in. EventSource would do the same, but it cannot
// send a header, and the token belongs into one.

export interface SseMessage {
    readonly type: string;
    readonly data: string;
    /** Of this message, or of the last one before it that had one. */
    readonly id: string;
}

/**
 * Takes pieces of a stream, cut anywhere, and gives the messages that are complete. A line ends with
 * LF, CR or CR LF; a message with an empty line. What is left over when a stream ends is no message.
 */
export class SseParser {
    /** How long to wait before connecting again, if the server has an opinion. */
    retryMs: number | null = null;
    private rest = '';
    private afterCr = false;
    private atStart = true;
    private type = '';
    private data: string[] = [];

    constructor(private id = '') {}

    push(piece: string): SseMessage[] {
        const out: SseMessage[] = [];
        let text = piece;
        if (text === '') return out;
        if (this.atStart) {
            this.atStart = false;
            if (text.startsWith('\uFEFF')) text = text.slice(1);
        }
        if (this.afterCr && text.startsWith('\n')) text = text.slice(1);
        this.afterCr = text.endsWith('\r');
        const lines = (this.rest + text).split(/\r\n|\n|\r/);
        this.rest = lines.pop() ?? '';
        for (const line of lines) {
            const message = this.take(line);
            if (message) out.push(message);
        }
        return out;
    }

    private take(line: string): SseMessage | null {
        if (line === '') return this.dispatch();
        const colon = line.indexOf(':');
        if (colon === 0) return null; // a comment, which keeps the connection alive
        const field = colon < 0 ? line : line.slice(0, colon);
        const after = colon < 0 ? '' : line.slice(colon + 1);
        const value = after.startsWith(' ') ? after.slice(1) : after;
        if (field === 'event') this.type = value;
        else if (field === 'data') this.data.push(value);
        else if (field === 'id' && !value.includes('\0')) this.id = value;
        else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
        return null;
    }

    private dispatch(): SseMessage | null {
        const message = { type: this.type || 'message', data: this.data.join('\n'), id: this.id };
        const any = this.data.length > 0;
        this.type = '';
        this.data = [];
        return any ? message : null;
    }
}
