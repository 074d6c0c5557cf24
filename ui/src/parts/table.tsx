// SPDX-License-Identifier: Apache-2.0
//
// A table that sorts by the columns that can; and a long list of which only what is to be seen is made.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Icon } from './icons';

export interface Column<T> {
    readonly title: string;
    readonly cell: (row: T) => ComponentChildren;
    /** What to sort by; without it the column does not sort. */
    readonly value?: (row: T) => number | string;
    readonly number?: boolean;
}

function compareValues(a: number | string, b: number | string): number {
    return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
}

export function Table<T>({ caption, columns, rows }: { caption: string; columns: readonly Column<T>[]; rows: readonly T[] }) {
    const [sort, setSort] = useState<{ column: number; down: boolean } | null>(null);
    const value = sort ? columns[sort.column]?.value : undefined;
    const shown = value && sort
        ? [...rows].sort((a, b) => (sort.down ? -1 : 1) * compareValues(value(a), value(b)))
        : rows;
    const by = (column: number) => { setSort((now) => ({ column, down: now?.column === column ? !now.down : false })); };
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
            <table class="table">
                <caption class="visually-hidden">{caption}</caption>
                <thead>
                    <tr>
                        {columns.map((column, i) => (
                            <th key={i} scope="col" class={column.number ? 'number' : undefined}
                                aria-sort={sort?.column === i ? (sort.down ? 'descending' : 'ascending') : undefined}>
                                {column.value
                                    ? <SortButton title={column.title} state={sort?.column === i ? (sort.down ? 'down' : 'up') : 'none'} sort={() => { by(i); }} />
                                    : column.title}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {shown.map((row, i) => (
                        <tr key={i}>
                            {columns.map((column, k) => k === 0
                                ? <th key={k} scope="row" class={column.number ? 'number' : undefined}>{column.cell(row)}</th>
                                : <td key={k} class={column.number ? 'number' : undefined}>{column.cell(row)}</td>)}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

export function SortButton({ title, state, sort }: { title: string; state: 'up' | 'down' | 'none'; sort: () => void }) {
    return (
        <button type="button" class={`sort sort-${state}`} onClick={sort}>
            {title}<Icon name="right" />
        </button>
    );
}

// Browsers draw no element taller than some ten million pixels.
const TALLEST = 8_000_000;
const SPARE = 8;

/**
 * A list of up to millions of rows of one height. Only those in sight are made; screen readers are told
 * how many there are and which these are.
 */
export function VirtualList({ count, height, label, row, header }: {
    count: number;
    /** Of one row, in pixels. */
    height: number;
    label: string;
    row: (i: number) => ComponentChildren;
    /** The cells of the head, in a row of their own that stays. */
    header?: ComponentChildren;
}) {
    const box = useRef<HTMLDivElement>(null);
    const [view, setView] = useState({ top: 0, tall: 600 });
    const whole = count * height, drawn = Math.min(whole, TALLEST);
    useLayoutEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const measure = () => { setView({ top: element.scrollTop, tall: element.clientHeight }); };
        measure();
        const watch = new ResizeObserver(measure);
        watch.observe(element);
        return () => { watch.disconnect(); };
    }, []);
    useEffect(() => { box.current?.scrollTo({ top: 0 }); }, [count]);
    const inSight = Math.ceil(view.tall / height);
    // where the list is too tall to be drawn, its scroll bar stands for a share of it
    const most = Math.max(1, drawn - view.tall);
    const share = Math.min(1, Math.max(0, view.top / most));
    const top = whole > drawn ? share * Math.max(0, whole - view.tall) : view.top;
    const first = Math.max(0, Math.floor(top / height) - SPARE);
    const end = Math.min(count, Math.floor(top / height) + inSight + SPARE);
    const offset = whole > drawn ? view.top - (top - first * height) : first * height;
    const made = [];
    for (let i = first; i < end; i++) made.push(
        <div role="row" class="virtual-row" key={i} aria-rowindex={i + (header ? 2 : 1)} style={{ height: `${height}px` }}>{row(i)}</div>);
    return (
        <div class="virtual" role="table" aria-label={label} aria-rowcount={count + (header ? 1 : 0)} ref={box} tabIndex={0}
            onScroll={(event) => { setView({ top: event.currentTarget.scrollTop, tall: event.currentTarget.clientHeight }); }}>
            {header && <div role="row" aria-rowindex={1} class="virtual-head">{header}</div>}
            <div role="rowgroup" class="virtual-space" style={{ height: `${drawn}px` }}>
                <div role="presentation" class="virtual-rows" style={{ transform: `translateY(${offset}px)` }}>{made}</div>
            </div>
        </div>
    );
}
