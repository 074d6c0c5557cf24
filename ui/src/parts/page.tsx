// SPDX-License-Identifier: Apache-2.0
import { type Block, codePieces, type Section } from '../model/page';
import { Text } from './text';

function Inline({ text }: { text: string }) {
    return <>{codePieces(text).map((piece, i) => i % 2 === 1 ? <code key={i}><Text>{piece}</Text></code> : <Text key={i}>{piece}</Text>)}</>;
}

function Blocks({ blocks }: { blocks: readonly Block[] }) {
    return (
        <>
            {blocks.map((block, i) => block.kind === 'text'
                ? <p key={i}><Inline text={block.text} /></p>
                : <ul key={i} class="bullets">{block.items.map((item, k) => <li key={k}><Inline text={item} /></li>)}</ul>)}
        </>
    );
}

/** A part of a page, under its heading. */
export function PageSection({ section }: { section: Section }) {
    return (
        <div class="page-section">
            {section.title !== '' && <h3><Text>{section.title}</Text></h3>}
            <Blocks blocks={section.blocks} />
        </div>
    );
}
