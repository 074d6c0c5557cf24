// SPDX-License-Identifier: Apache-2.0
//
// The calls of a run as a tree, beside those of the run without faults: line by line on wide screens, as
// one tree on narrow ones. Every difference has a sign and a word.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { duration, plural } from '../model/format';
import { compare, countMarks, type Mark, type Row } from '../model/tree';
import type { Call } from '../model/types';
import { useMedia } from './hooks';
import { Icon, type IconName } from './icons';
import { Injected, Outcome } from './outcome';
import { Text } from './text';

const marks: Record<Mark, { icon: IconName | null; word: string }> = {
    same: { icon: null, word: '' },
    injected: { icon: 'bolt', word: 'fault injected' },
    new: { icon: 'plus', word: 'only with faults' },
    gone: { icon: 'minus', word: 'only without faults' },
    changed: { icon: 'change', word: 'other outcome' },
};

// More lines than anybody reads would only make the page slow.
const LINES = 400;

/** The lines of the tree; with `through`, those that go on past a call that is not there. */
function Guides({ row, through = false }: { row: Row; through?: boolean }) {
    const lines = through ? row.last.slice(0, Math.max(0, row.last.length - row.depth + row.shared + 1)) : row.last;
    return (
        <span class="guides" aria-hidden="true">
            {lines.map((last, i) => {
                const own = i + 1 === lines.length && !through;
                return <span key={i} class={own ? (last ? 'guide-end' : 'guide-tee') : last ? 'guide-none' : 'guide-line'} />;
            })}
        </span>
    );
}

export function MarkSign({ mark }: { mark: Mark }) {
    const { icon, word } = marks[mark];
    return (
        <span class="mark-sign" title={word || undefined}>
            {icon && <><Icon name={icon} /><span class="visually-hidden">{word}</span></>}
        </span>
    );
}

/** The requests of a command are numbered. */
function numberOf(row: Row): string {
    const number = (row.now ?? row.was)?.request;
    return number === undefined ? '' : `${number}. `;
}

/** A line of the tree: its name, and what stands behind it or, without room, below. */
export function TreeLine({ row, children }: { row: Row; children?: ComponentChildren }) {
    return (
        <div class="tree-line">
            <span class="visually-hidden">level {row.depth + 1}</span>
            <Guides row={row} />
            <div class="tree-cell"><span class="tree-name">{numberOf(row)}<Text>{row.name}</Text></span>{children}</div>
        </div>
    );
}

function Result({ call, was }: { call: Call; was?: Call | null }) {
    return (
        <span class="tree-result">
            <Outcome outcome={call.seen} />
            {was && was.seen !== call.seen && <span class="muted small">was {was.seen}</span>}
            {call.injected !== undefined && <Injected mode={call.injected} />}
            {call.injected !== undefined && call.reply !== undefined
                && <span class="muted small">the service answered {call.reply}</span>}
        </span>
    );
}

function Beside({ rows, title }: { rows: readonly Row[]; title: string }) {
    return (
        <table class="tree-table beside">
            <caption class="visually-hidden">Calls without faults and in this run, line by line</caption>
            <thead><tr><th scope="col">Without faults</th><th scope="col">{title}</th></tr></thead>
            <tbody>
                {rows.map((row, i) => (
                    <tr key={i} class={`line mark-${row.mark}`}>
                        <td class={row.was ? undefined : 'absent'}>
                            {row.was
                                ? <TreeLine row={row}><Result call={row.was} /></TreeLine>
                                : <div class="tree-line"><Guides row={row} through /><span class="visually-hidden">not made</span></div>}
                        </td>
                        <td class={row.now ? 'now' : 'now absent'}>
                            <MarkSign mark={row.mark} />
                            {row.now
                                ? <TreeLine row={row}><Result call={row.now} /></TreeLine>
                                : <div class="tree-line"><Guides row={row} through /><span class="absent-word">not made</span></div>}
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function Single({ rows, title }: { rows: readonly Row[]; title: string }) {
    return (
        <table class="tree-table">
            <caption class="visually-hidden">{title}</caption>
            <tbody>
                {rows.map((row, i) => {
                    const call = row.now ?? row.was;
                    return (
                        <tr key={i} class={`line mark-${row.mark}`}>
                            <td class="now">
                                <MarkSign mark={row.mark} />
                                <TreeLine row={row}>
                                    {row.mark === 'gone'
                                        ? <span class="absent-word">only without faults</span>
                                        : call && <Result call={call} was={row.mark === 'same' ? null : row.was} />}
                                </TreeLine>
                            </td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

/** "1 fault injected, 2 calls only with faults": what is different, in words. */
export function Differences({ rows }: { rows: readonly Row[] }) {
    const counts = countMarks(rows);
    const parts = [
        counts.injected > 0 && <span key="injected" class="legend mark-injected"><MarkSign mark="injected" />{plural(counts.injected, 'fault')} injected</span>,
        counts.new > 0 && <span key="new" class="legend mark-new"><MarkSign mark="new" />{plural(counts.new, 'call')} only with faults</span>,
        counts.gone > 0 && <span key="gone" class="legend mark-gone"><MarkSign mark="gone" />{plural(counts.gone, 'call')} only without faults</span>,
        counts.changed > 0 && <span key="changed" class="legend mark-changed"><MarkSign mark="changed" />{plural(counts.changed, 'call')} with another outcome</span>,
    ].filter(Boolean);
    return <p class="row small">{parts.length ? parts : <span class="muted">The same calls with the same outcomes.</span>}</p>;
}

export function CallTree({ now, was, title = 'In this run' }: { now: Call; was: Call | null; title?: string }) {
    const wide = useMedia('(min-width: 1000px)');
    const [all, setAll] = useState(false);
    const [only, setOnly] = useState(false);
    const rows = compare(now, was);
    const chosen = only ? rows.filter((row) => row.differs) : rows;
    const shown = all ? chosen : chosen.slice(0, LINES);
    return (
        <div class="tree">
            <div class="tree-head">
                {was ? <Differences rows={rows} /> : <p class="small muted">{plural(rows.length, 'call')} in {duration(now.end_ns - now.start_ns)}</p>}
                {was && rows.length > 12 && (
                    <button type="button" class="button" aria-pressed={only} onClick={() => { setOnly(!only); }}>
                        Only what is different
                    </button>
                )}
            </div>
            {wide && was ? <Beside rows={shown} title={title} /> : <Single rows={shown} title={title} />}
            {shown.length < chosen.length && (
                <button type="button" class="button" onClick={() => { setAll(true); }}>
                    Show {plural(chosen.length - shown.length, 'more call')}
                </button>
            )}
        </div>
    );
}
