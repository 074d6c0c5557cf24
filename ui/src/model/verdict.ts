// SPDX-License-Identifier: Apache-2.0
import type { Tone } from './outcome';
import { table } from './table';

interface Words {
    readonly text: string;
    readonly kind: Tone;
    readonly icon: 'ok' | 'bad' | 'warn' | 'question';
}

const known = table<Words>({
    ok: { text: 'No findings', kind: 'ok', icon: 'ok' },
    findings: { text: 'Findings', kind: 'bad', icon: 'bad' },
    inconclusive: { text: 'Inconclusive', kind: 'odd', icon: 'question' },
    broken: { text: 'Fails without faults', kind: 'bad', icon: 'warn' },
});

export function verdictWords(verdict: string): Words {
    return known.get(verdict) ?? { text: verdict, kind: 'none', icon: 'question' };
}
