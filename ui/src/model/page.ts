// SPDX-License-Identifier: Apache-2.0
//
// The page of an oracle, which is text for terminals: a heading at the left edge, what it is about
// indented below, items that begin with "- ".

export type Block =
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'list'; readonly items: readonly string[] };

export interface Section {
    /** '' before the first heading. */
    readonly title: string;
    readonly blocks: readonly Block[];
}

/** Lines between empty ones: a paragraph, or items. */
function blockOf(lines: readonly string[]): Block {
    const items: string[] = [];
    for (const line of lines.map((l) => l.trim())) {
        if (line.startsWith('- ')) items.push(line.slice(2));
        else if (items.length > 0) items.push(`${items.pop() ?? ''} ${line}`);
    }
    if (items.length > 0) return { kind: 'list', items };
    return { kind: 'text', text: lines.map((l) => l.trim()).join(' ') };
}

export function parsePage(page: string): Section[] {
    const sections: { title: string; blocks: Block[] }[] = [{ title: '', blocks: [] }];
    let held: string[] = [];
    const flush = () => {
        if (held.length > 0) sections[sections.length - 1]?.blocks.push(blockOf(held));
        held = [];
    };
    const lines = page.split('\n');
    lines.forEach((line, i) => {
        const heading = /^\S/.test(line) && /^\s/.test(lines[i + 1] ?? '');
        if (heading || line.trim() === '') flush();
        if (heading) sections.push({ title: line, blocks: [] });
        else if (line.trim() !== '') held.push(line);
    });
    flush();
    return sections.filter((section) => section.title !== '' || section.blocks.length > 0);
}

/** Text in which `this` is code: every other piece. */
export function codePieces(text: string): string[] {
    return text.split('`');
}
