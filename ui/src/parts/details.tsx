// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

import { Icon } from './icons';

/** Something that is folded away until somebody wants it; made only then. */
export function Details({ title, open = false, children }: {
    title: ComponentChildren;
    open?: boolean;
    children: ComponentChildren | (() => ComponentChildren);
}) {
    const [shown, setShown] = useState(open);
    return (
        <details class="details" open={open} onToggle={(event) => { setShown(event.currentTarget.open); }}>
            <summary><Icon name="right" /><span>{title}</span></summary>
            {shown && <div class="details-body">{typeof children === 'function' ? children() : children}</div>}
        </details>
    );
}

export interface Tab {
    readonly id: string;
    readonly title: ComponentChildren;
    readonly content: () => ComponentChildren;
}

/** Tabs: arrows go from one to the next, only the chosen one is in the order of the Tab key. */
export function Tabs({ label, tabs, chosen, choose }: {
    label: string;
    tabs: readonly Tab[];
    /** The tab that is shown; unknown: the first. */
    chosen: string;
    choose: (id: string) => void;
}) {
    const own = useId();
    const list = useRef<HTMLDivElement>(null);
    const at = Math.max(0, tabs.findIndex((tab) => tab.id === chosen));
    const go = (to: number) => {
        const tab = tabs[(to + tabs.length) % tabs.length];
        if (!tab) return;
        choose(tab.id);
        list.current?.querySelectorAll<HTMLButtonElement>('[role=tab]')[(to + tabs.length) % tabs.length]?.focus();
    };
    const key = (event: KeyboardEvent) => {
        const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
        const to = moves[event.key];
        if (to === undefined) return;
        event.preventDefault();
        go(to);
    };
    return (
        <div class="tabs">
            <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={key}>
                {tabs.map((tab, i) => (
                    <button key={tab.id} type="button" role="tab" id={`${own}-${tab.id}`} aria-controls={`${own}-panel`}
                        aria-selected={i === at} tabIndex={i === at ? 0 : -1} onClick={() => { choose(tab.id); }}>
                        {tab.title}
                    </button>
                ))}
            </div>
            <div role="tabpanel" id={`${own}-panel`} aria-labelledby={`${own}-${tabs[at]?.id ?? ''}`} class="tab-panel">
                {tabs[at]?.content()}
            </div>
        </div>
    );
}
