// SPDX-License-Identifier: Apache-2.0
//
// The call graph, drawn: boxes and rows are HTML, so that they have buttons and text like all else; the
// lines are an SVG behind them. The picture scrolls inside its view, as everything does that is larger
// than its place: by wheel, finger, key or dragging. Ctrl with the wheel zooms.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { type Graph, type GraphCall, kindOf, sentence } from '../model/graph';
import { type Box, CLIENT, type GraphLayout, HEAD, layoutGraph, type Line, ROW } from '../model/graphlayout';
import { plain } from '../model/text';
import { begin, fit, STEP, type Zoom, zoomBy } from '../model/zoom';
import { useMedia } from './hooks';
import { Icon } from './icons';
import { Text } from './text';

interface Handling {
    readonly selected: string | null;
    /** Several that are chosen; absent: the selected one alone is. */
    readonly picked?: ReadonlySet<string> | undefined;
    /** The row that Tab leads to. */
    readonly stop: string | null;
    readonly hot: string | null;
    readonly onSelect: (uid: string) => void;
    readonly onHot: (uid: string | null) => void;
}

function Row({ call, handling }: { call: GraphCall; handling: Handling }) {
    const { selected, picked, stop, onSelect, onHot } = handling;
    const kind = kindOf(call.kind);
    const label = plain(sentence(call));
    return (
        <button type="button" class={`graph-row kind-${kind.name}`} data-uid={call.uid} style={{ height: `${ROW}px` }}
            tabIndex={stop === call.uid ? 0 : -1} aria-pressed={picked ? picked.has(call.uid) : selected === call.uid} aria-label={label} title={label}
            onClick={() => { onSelect(call.uid); }}
            onMouseEnter={() => { onHot(call.uid); }} onMouseLeave={() => { onHot(null); }}
            onFocus={() => { onHot(call.uid); }} onBlur={() => { onHot(null); }}>
            <span class="kind-sign" aria-hidden="true">{kind.sign}</span>
            <bdi class="graph-what">{plain(call.what)}</bdi>
            {call.retried && <span class="graph-mark" aria-hidden="true">↻</span>}
        </button>
    );
}

function ServiceBox({ box, handling, onOpen }: { box: Box; handling: Handling; onOpen: (service: string) => void }) {
    const place = { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` };
    if (box.service === CLIENT)
        return <div class="graph-box graph-client" style={place}><div class="graph-head" style={{ height: `${HEAD}px` }}>client</div></div>;
    return (
        <div class="graph-box" style={place} role="group" aria-label={plain(box.service)}>
            <div class="graph-head" style={{ height: `${HEAD}px` }} title={plain(box.service)}><Text>{box.service}</Text></div>
            {box.calls.map((call) => <Row key={call.uid} call={call} handling={handling} />)}
            {box.hidden > 0 && (
                <button type="button" class="graph-row graph-more" style={{ height: `${ROW}px` }} onClick={() => { onOpen(box.service); }}>
                    {box.hidden} more
                </button>
            )}
        </div>
    );
}

function lineClass(line: Line, { hot, selected }: Handling): string {
    const { call } = line;
    const dash = call.kind === 'unknown' && !call.onlyAfter ? 'dotted' : call.onlyAfter || call.kind === 'conditional' ? 'dashed' : 'solid';
    const about = hot ?? selected;
    const near = about !== null && (call.uid === about || call.parent === about);
    return `graph-line kind-${kindOf(call.kind).name} ${dash}${near ? ' near' : ''}${about !== null && !near ? ' far' : ''}`;
}

function Lines({ layout, handling }: { layout: GraphLayout; handling: Handling }) {
    return (
        <svg width={layout.width} height={layout.height} aria-hidden="true" focusable="false">
            {layout.lines.map((line) => {
                const [x = 0, y = 0] = line.path.split(/[ C]/).slice(-2).map(Number);
                return (
                    <g key={line.call.uid} class={lineClass(line, handling)} onClick={() => { handling.onSelect(line.call.uid); }}>
                        <path class="graph-hit" d={line.path} />
                        <path class="graph-stroke" d={line.path} />
                        <path class="graph-tip" d={`M${x - 8} ${y - 4.5}L${x} ${y}L${x - 8} ${y + 4.5}z`} />
                    </g>
                );
            })}
        </svg>
    );
}

/** The row that a key leads to: up and down within all rows of a column, left to the caller, right to what it calls. */
function neighbour(graph: Graph, layout: GraphLayout, uid: string, key: string): string | null {
    const call = graph.byUid.get(uid);
    if (!call) return null;
    if (key === 'ArrowLeft') return call.parent;
    if (key === 'ArrowRight') return graph.calls.find((c) => c.parent === uid)?.uid ?? null;
    const all = [...layout.boxes].sort((a, b) => a.x + a.width / 2 - b.x - b.width / 2 || a.y - b.y).flatMap((box) => box.calls);
    const at = all.findIndex((c) => c.uid === uid);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 }[key];
    return to === undefined ? null : all[to]?.uid ?? null;
}

/** Scrolls the view, and nothing around it, so that a row is seen. */
function bring(view: HTMLElement, uid: string): void {
    const row = view.querySelector(`[data-uid="${CSS.escape(uid)}"]`)?.getBoundingClientRect();
    const frame = view.getBoundingClientRect();
    if (!row) return;
    const by = (low: number, high: number, from: number, to: number) => low < from ? low - from : high > to ? Math.min(high - to, low - from) : 0;
    const air = 24;
    view.scrollBy(by(row.left - air, row.right + air, frame.left, frame.right), by(row.top - air, row.bottom + air, frame.top, frame.bottom));
}

function useZoom(layout: GraphLayout, selected: string | null) {
    const view = useRef<HTMLDivElement>(null);
    const [zoom, setZoom] = useState<Zoom>({ scale: 1, left: 0, top: 0 });
    const now = useRef(zoom);
    now.current = zoom;
    const by = (factor: number, at?: { x: number; y: number }) => {
        const element = view.current;
        if (!element) return;
        touched.current = true;
        const seen = { scale: now.current.scale, left: element.scrollLeft, top: element.scrollTop };
        setZoom(zoomBy(seen, factor, at ?? { x: element.clientWidth / 2, y: element.clientHeight / 2 }));
    };
    const to = (scale: number) => { setZoom({ scale, left: 0, top: 0 }); };
    const touched = useRef(false); // since then, how it is shown is the reader's
    const all = () => {
        const element = view.current;
        touched.current = true;
        if (element) to(fit(layout.width, layout.height, { width: element.clientWidth, height: Math.max(element.clientHeight, 0.75 * innerHeight) }));
    };
    useLayoutEffect(() => {
        if (view.current && !touched.current) to(begin(layout.width, view.current.clientWidth));
    }, [layout.width, selected === null]);
    useLayoutEffect(() => { view.current?.scrollTo(zoom.left, zoom.top); }, [zoom]);
    useLayoutEffect(() => { if (view.current && selected !== null) bring(view.current, selected); }, [selected, zoom.scale]);
    useEffect(() => {
        const element = view.current;
        if (!element) return undefined;
        const wheel = (event: WheelEvent) => {
            if (!event.ctrlKey && !event.metaKey) return;
            event.preventDefault();
            const { left, top } = element.getBoundingClientRect();
            by(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top });
        };
        element.addEventListener('wheel', wheel, { passive: false });
        return () => { element.removeEventListener('wheel', wheel); };
    }, []);
    return { view, zoom, by, all };
}

/** A mouse takes hold of the ground and moves it. */
function drag(event: PointerEvent & { readonly currentTarget: HTMLDivElement }): void {
    const view = event.currentTarget;
    if (event.pointerType !== 'mouse' || event.button !== 0 || (event.target as Element).closest('button, .graph-line')) return;
    event.preventDefault();
    const from = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    const move = (e: PointerEvent) => { view.scrollTo(from.x - e.clientX, from.y - e.clientY); };
    const end = () => {
        view.classList.remove('held');
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', end);
        removeEventListener('pointercancel', end);
    };
    view.classList.add('held');
    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
    addEventListener('pointercancel', end);
}

export function CallGraph({ graph, selected, picked, onSelect }: {
    graph: Graph;
    selected: string | null;
    picked?: ReadonlySet<string>;
    onSelect: (uid: string) => void;
}) {
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const [hot, setHot] = useState<string | null>(null);
    const narrow = useMedia('(max-width: 1099px)');
    const layout = useMemo(() => layoutGraph(graph, open, narrow), [graph, open, narrow]);
    const { view, zoom, by, all } = useZoom(layout, selected);
    const stop = selected !== null && graph.byUid.has(selected) ? selected : graph.calls[0]?.uid ?? null;
    const handling: Handling = { selected, picked, stop, hot, onSelect, onHot: setHot };
    const keys = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === '+' || event.key === '=') by(STEP);
        else if (event.key === '-') by(1 / STEP);
        else if (event.key === '0') all();
        else {
            const uid = (event.target as HTMLElement).dataset.uid;
            const next = uid === undefined ? null : neighbour(graph, layout, uid, event.key);
            if (next === null) return;
            view.current?.querySelector<HTMLElement>(`[data-uid="${CSS.escape(next)}"]`)?.focus();
        }
        event.preventDefault();
    };
    const about = hot === null ? undefined : graph.byUid.get(hot);
    const size = { width: `${layout.width * zoom.scale}px`, height: `${layout.height * zoom.scale}px` };
    return (
        <div class="graph">
            <div class="graph-tools">
                <button type="button" class="button" onClick={() => { by(1 / STEP); }} aria-label="Zoom out"><Icon name="minus" /></button>
                <span class="number graph-scale" aria-live="polite">{Math.round(zoom.scale * 100)} %</span>
                <button type="button" class="button" onClick={() => { by(STEP); }} aria-label="Zoom in"><Icon name="plus" /></button>
                <button type="button" class="button" onClick={all}>Fit</button>
                <p class="muted small graph-hint" aria-hidden={about ? 'true' : undefined}>
                    {about
                        ? <Text>{sentence(about)}</Text>
                        : `Drag to move. Ctrl and the wheel, or + and \u2212, zoom. Arrow keys go from call to call, Enter ${picked ? 'chooses' : 'opens'} one.`}
                </p>
            </div>
            <div ref={view} class="graph-view" role="group" aria-label="Call graph" onKeyDown={keys} onPointerDown={drag}>
                <div class="graph-size" style={size}>
                    <div class="graph-plane" style={{ width: `${layout.width}px`, height: `${layout.height}px`, transform: `scale(${zoom.scale})` }}>
                        <Lines layout={layout} handling={handling} />
                        {layout.boxes.map((box) => (
                            <ServiceBox key={box.service} box={box} handling={handling} onOpen={(service) => { setOpen(new Set([...open, service])); }} />
                        ))}
                    </div>
                </div>
            </div>
        </div>
    );
}
