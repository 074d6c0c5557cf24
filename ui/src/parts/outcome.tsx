// SPDX-License-Identifier: Apache-2.0
//
// Small signs for what a caller saw, what was injected, and what a scenario came to. Each has a word or
// a shape besides its colour.
import { outcomeWords, tone, type Tone } from '../model/outcome';
import { verdictWords } from '../model/verdict';
import { Icon, type IconName } from './icons';
import { Text } from './text';

const icons: Record<Tone, IconName> = { ok: 'ok', odd: 'warn', bad: 'bad', none: 'question' };

/** What a caller saw: 200, 503, reset ... */
export function Outcome({ outcome }: { outcome: string }) {
    const kind = tone(outcome);
    return (
        <span class={`outcome tone-${kind}`} title={outcomeWords(outcome) || undefined}>
            <Icon name={icons[kind]} /><Text>{outcome}</Text>
        </span>
    );
}

/** A fault that fired. */
export function Injected({ mode }: { mode: string }) {
    return <span class="injected" title="Outfox made this call fail"><Icon name="bolt" />injected <Text>{mode}</Text></span>;
}

/** What a scenario or a campaign came to. */
export function Verdict({ verdict }: { verdict: string }) {
    const { text, kind, icon } = verdictWords(verdict);
    return <span class={`verdict tone-${kind}`}><Icon name={icon} />{text}</span>;
}
