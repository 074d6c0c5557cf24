// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

import type { Live, Now } from './store';

/** The campaign that this page watches; null in a report. */
export const LiveContext = createContext<Live | null>(null);

export interface Watching {
    readonly live: Live;
    readonly now: Now;
}

/** The campaign, shown anew whenever something happens; null in a report. */
export function useLive(): Watching | null {
    const live = useContext(LiveContext);
    const [, again] = useState(0);
    useEffect(() => live?.listen(() => { again((n) => n + 1); }), [live]);
    return live && { live, now: live.now };
}

/** May this be asked of the campaign now? */
export function can(now: Now, command: string): boolean {
    return now.link === 'open' && (now.campaign?.commands.includes(command) ?? false);
}
