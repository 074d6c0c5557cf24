// SPDX-License-Identifier: Apache-2.0
//
// Text of others, and names of calls made of it.
import { pieces } from '../model/text';

/** Text that may be hostile: what cannot be seen gets a sign, and its direction stays its own. */
export function Text({ children, lines = false }: { children: string; lines?: boolean }) {
    return (
        <bdi class="text">
            {pieces(children, lines).map((piece, i) => piece.code
                ? <span key={i} class="sign" title={piece.code}>{piece.text}</span>
                : piece.text)}
        </bdi>
    );
}

/** The name of a call: what leads to it quietly, itself aloud. */
export function CallName({ uid, short = false }: { uid: string; short?: boolean }) {
    const at = uid.lastIndexOf(' > ');
    const own = at < 0 ? uid : uid.slice(at + 3);
    return (
        <span class="call-name">
            {at >= 0 && !short && <span class="call-path"><Text>{uid.slice(0, at)}</Text> &gt; </span>}
            <span class="call-own"><Text>{own}</Text></span>
        </span>
    );
}
