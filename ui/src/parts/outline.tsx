// SPDX-License-Identifier: Apache-2.0
//
// The decision tree of a handler, as a tree that keys and screen readers know.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { plural } from '../model/format';
import { nthTime, openable, pathTo, type TreeRow, visibleRows } from '../model/handlers';
import type { Outline, Seen, Step, Way } from '../model/outline';
import { routeTo } from '../model/route';
import { Outcome } from './outcome';
import { Text } from './text';

const AS_TRIED = 'as far as it was tried: some things were tried there that were not tried here';
const MOST_OUTCOMES = 8;

function Outcomes({ outcomes }: { outcomes: readonly string[] }) {
    const more = outcomes.length - MOST_OUTCOMES;
    return (
        <span class="outcomes">
            {outcomes.slice(0, more > 1 ? MOST_OUTCOMES : undefined).map((o) => <Outcome key={o} outcome={o} />)}
            {more > 1 && <span class="muted" title={outcomes.slice(MOST_OUTCOMES).join(', ')}>and {more} more</span>}
        </span>
    );
}

function AsTried() {
    return <span class="as-tried" title={AS_TRIED}>as far as tried</span>;
}

/** What a handler does in one step. */
function Action({ step, onGo }: { step: Step; onGo: (label: string) => void }) {
    switch (step.kind) {
    case 'reply': return <span class="action"><span class="verb">answers</span> <Outcome outcome={step.text} /></span>;
    case 'link': return (
        <span class="action">
            <span class="verb">goes on with</span>{' '}
            <button type="button" class="step-link" tabIndex={-1} onClick={(event) => { event.stopPropagation(); onGo(step.text); }}>step {step.text}</button>
            {step.partly && <> <AsTried /></>}
        </span>
    );
    case 'call': return (
        <span class="action">
            <span class="verb">calls</span> <span class="call-name call-own"><Text>{step.text}</Text></span>
            {step.again > 0 && <> <span class="once-more" title={`The ${nthTime(step.again)} that this handler makes this call`}>again{step.again > 1 && `, ${nthTime(step.again)}`}</span></>}
        </span>
    );
    }
}

function Shown({ seen, index, active }: { seen: Seen; index: number; active: boolean }) {
    if (seen.runs === 0) return null;
    return (
        <span class="seen">
            {plural(seen.runs, 'time')}
            {seen.shown.length > 0 && <span class="seen-runs">: {seen.shown.length === 1 ? 'run' : 'runs'} {seen.shown.map((run, i) => (
                <span key={run}>{i > 0 && ', '}<a href={routeTo('run', index, [run])} tabIndex={active ? 0 : -1} aria-label={`run ${run}`}>{run}</a></span>
            ))}{seen.runs > seen.shown.length && ' \u2026'}</span>}
        </span>
    );
}

function StepText({ step, onGo }: { step: Step; onGo: (label: string) => void }) {
    const any = step.kind === 'call' && step.ways.length === 0 && step.goesOn.length > 1;
    return (
        <>
            <span class="step-label">{step.label || '\u21b3'}</span>
            <Action step={step} onGo={onGo} />
            {step.kind === 'call' && (
                <span class="goes-on">
                    <span class="verb">{any ? 'and goes on, whatever it sees:' : 'and goes on if it sees'}</span> <Outcomes outcomes={step.goesOn} />
                    {step.partly && <> <AsTried /></>}
                </span>
            )}
        </>
    );
}

function WayText({ way, open, usual, onGo }: { way: Way; open: boolean | null; usual: string | null; onGo: (label: string) => void }) {
    const actions = open === null ? way.steps : open ? [] : way.steps.slice(0, 1);
    const between = (i: number): ComponentChildren => i === 0 ? null : <span class="verb">, then </span>;
    return (
        <>
            <span class="step-label">{way.label}</span>
            <span class="way">
                {way.instead !== null && <><span class="verb">or calls</span> <span class="call-name call-own"><Text>{way.instead}</Text></span> <span class="verb">{usual === null ? '' : 'first'}</span> </>}
                <span class="verb">{way.outcomes.length === 0 ? '' : 'if it sees'}</span> <Outcomes outcomes={way.outcomes} />
                {way.partly && <> <AsTried /></>}
                <span class="arrow">{open ? ':' : ' \u2192 '}</span>
                {actions.map((step, i) => <span key={i}>{between(i)}<Action step={step} onGo={onGo} /></span>)}
                {open === false && <span class="verb">, and so on</span>}
            </span>
        </>
    );
}

function Row({ row, index, active, onToggle, onGo, onActive }: {
    row: TreeRow;
    index: number;
    active: boolean;
    onToggle: (id: string) => void;
    onGo: (label: string) => void;
    onActive: (id: string) => void;
}) {
    const seen = row.step ?? row.way;
    return (
        <li role="treeitem" class={`outline-row ${row.step ? 'outline-step' : 'outline-way'}`} data-row={row.id} style={{ '--level': row.level - 1 }}
            aria-level={row.level} aria-posinset={row.place} aria-setsize={row.of} aria-expanded={row.open ?? undefined} tabIndex={active ? 0 : -1}
            onFocus={() => { onActive(row.id); }} onClick={() => { if (row.open !== null) onToggle(row.id); }}>
            <span class="twisty" aria-hidden="true">{row.open === null ? '' : row.open ? '\u25be' : '\u25b8'}</span>
            <span class="outline-text">
                {row.step && <StepText step={row.step} onGo={onGo} />}
                {row.way && <WayText way={row.way} open={row.open} usual={row.parent} onGo={onGo} />}
            </span>
            {seen && <Shown seen={seen} index={index} active={active} />}
        </li>
    );
}

/** More rows than this are not opened at once. */
const MANY_ROWS = 80;

function useRows(outline: Outline) {
    const [open, setOpen] = useState<ReadonlySet<string>>(() => openable(outline, outline.rows <= MANY_ROWS ? Infinity : 3));
    const [active, setActive] = useState<string | null>(null);
    const [wanted, setWanted] = useState<string | null>(null);
    const rows = useMemo(() => visibleRows(outline, open), [outline, open]);
    const toggle = (id: string, to = !open.has(id)) => {
        const next = new Set(open);
        if (to) next.add(id);
        else next.delete(id);
        setOpen(next);
    };
    /** Opens what is above a row, and goes there. */
    const go = (label: string) => {
        const path = pathTo(outline, label);
        if (!path) return;
        setOpen(new Set([...open, ...path.slice(0, -1)]));
        setWanted(path[path.length - 1] ?? null);
    };
    return { open, setOpen, active, setActive, wanted, setWanted, rows, toggle, go };
}

export function HandlerTree({ outline, index, label }: { outline: Outline; index: number; label: string }) {
    const { open, setOpen, active, setActive, wanted, setWanted, rows, toggle, go } = useRows(outline);
    const list = useRef<HTMLUListElement>(null);
    useLayoutEffect(() => {
        if (wanted === null) return;
        list.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(wanted)}"]`)?.focus();
        setWanted(null);
    }, [wanted]);
    const current = rows.find((row) => row.id === active) ?? rows[0];
    const key = (event: KeyboardEvent) => {
        const at = current ? rows.indexOf(current) : -1;
        if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
        if ((event.key === 'Enter' || event.key === ' ') && (event.target as HTMLElement).closest('a, button')) return;
        const to = (row: TreeRow | undefined) => { if (row) setWanted(row.id); };
        switch (event.key) {
        case 'ArrowDown': to(rows[at + 1]); break;
        case 'ArrowUp': to(rows[at - 1]); break;
        case 'Home': to(rows[0]); break;
        case 'End': to(rows[rows.length - 1]); break;
        case 'ArrowRight':
            if (current.open === false) toggle(current.id, true);
            else if (current.open) to(rows[at + 1]);
            break;
        case 'ArrowLeft':
            if (current.open) toggle(current.id, false);
            else to(rows.find((row) => row.id === current.parent));
            break;
        case 'Enter': case ' ': {
            const link = current.step ?? current.way?.steps[current.way.steps.length - 1];
            if (current.open !== null) toggle(current.id);
            else if (link?.kind === 'link') go(link.text);
            break;
        }
        case '*': setOpen(openable(outline)); break;
        default: return;
        }
        event.preventDefault();
    };
    const depths = Array.from({ length: Math.min(6, outline.depth) }, (_, i) => i + 1);
    const all = openable(outline).size;
    return (
        <div class="outline-part">
            {all > 0 && (
                <div class="row">
                    <button type="button" class="button" disabled={open.size === all} onClick={() => { setOpen(openable(outline)); }}>Open all</button>
                    <button type="button" class="button" disabled={open.size === 0} onClick={() => { setOpen(new Set()); }}>Close all</button>
                    <label class="row small"><span class="muted">Open to level</span>
                        <select value="" onChange={(event) => { setOpen(openable(outline, Number(event.currentTarget.value))); }}>
                            <option value="" disabled>choose</option>
                            {depths.map((d) => <option key={d} value={String(d)}>{d}</option>)}
                        </select>
                    </label>
                </div>
            )}
            <ul ref={list} role="tree" class="outline" aria-label={label} onKeyDown={key}>
                {rows.map((row) => (
                    <Row key={row.id} row={row} index={index} active={row === current} onToggle={(id) => { toggle(id); }} onGo={go} onActive={setActive} />
                ))}
            </ul>
        </div>
    );
}
