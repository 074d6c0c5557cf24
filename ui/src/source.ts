// SPDX-License-Identifier: Apache-2.0
//
// Where documents come from: out of this very file (a report), or from the server that sent the page
// (the live page). Whoever shows something asks for a document by its name and knows no more.

export interface Source {
    readonly live: boolean;
    /** The document of this name, or null where there is none. */
    get(name: string): Promise<unknown>;
}

async function inflate(base64: string): Promise<string> {
    const binary = atob(base64.trim());
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return await new Response(stream).text();
}

/** Documents inside this file: each is inflated once, when it is first asked for. */
export class FileSource implements Source {
    readonly live = false;
    private readonly known = new Map<string, Promise<unknown>>();

    get(name: string): Promise<unknown> {
        let found = this.known.get(name);
        if (!found) {
            found = this.read(name);
            this.known.set(name, found);
        }
        return found;
    }

    private async read(name: string): Promise<unknown> {
        const element = document.getElementById(`outfox:${name}`);
        return element ? JSON.parse(await inflate(element.textContent)) as unknown : null;
    }
}

/** Is this page the report of a failure plan? */
export function isPlan(): boolean {
    return document.getElementById('outfox:plan-result') !== null;
}

/** Is this page a report, with its documents inside? Else a server has sent it. */
export function isReport(): boolean {
    return document.getElementById('outfox:report') !== null || isPlan();
}
