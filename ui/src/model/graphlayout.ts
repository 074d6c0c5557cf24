// SPDX-License-Identifier: Apache-2.0
//
// Where the boxes and lines of a call graph are. dagre puts the services into columns, each to the right
// of those that call it, and leads long lines around boxes; lines begin and end at rows.
import { Graph as Dagre, layout } from '@dagrejs/dagre';

import type { Graph, GraphCall } from './graph';
import { elements } from './names';

export interface Box {
    readonly service: string;
    readonly calls: readonly GraphCall[];
    /** Calls that are not drawn, for there are too many. */
    readonly hidden: number;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
}

export interface Line {
    readonly call: GraphCall;
    readonly path: string;
}

export interface GraphLayout {
    readonly boxes: readonly Box[];
    readonly lines: readonly Line[];
    readonly width: number;
    readonly height: number;
}

interface Point { x: number; y: number }

export const HEAD = 34;
export const ROW = 30;
/** Of a letter in a row, of one in a head: in pixels, for the fonts of the style. */
const ROW_LETTER = 7.3;
const HEAD_LETTER = 9;
const PADDING = 62;
const NARROWEST = 132;
const WIDEST = 340;
const WIDEST_NARROW = 220;
export const MOST_ROWS = 14;
export const CLIENT = '\u0000client';
const MARGIN = 16;
const COLUMN_GAP = 96;
const NODE_GAP = 26;
const MANY_SERVICES = 40;

function widthOf(service: string, calls: readonly GraphCall[], widest: number): number {
    const rows = Math.max(0, ...calls.map((call) => call.what.length)) * ROW_LETTER + PADDING;
    return Math.round(Math.min(widest, Math.max(NARROWEST, rows, service.length * HEAD_LETTER + 32)));
}

/** Smooth, level at each point. */
function curve(points: readonly Point[]): string {
    const at = (n: number) => String(Math.round(n * 10) / 10);
    return points.map((p, i) => {
        const before = points[i - 1];
        if (!before) return `M${at(p.x)} ${at(p.y)}`;
        // back to the left: in a wide loop
        const reach = p.x > before.x ? (p.x - before.x) / 2 : 60 + Math.abs(p.y - before.y) / 8;
        return `C${at(before.x + reach)} ${at(before.y)} ${at(p.x - reach)} ${at(p.y)} ${at(p.x)} ${at(p.y)}`;
    }).join('');
}

/** The points in which a long line passes between other boxes: level as long as it is beside them. */
function passes(points: readonly Point[], boxes: readonly Box[], from: Box, to: Box): Point[] {
    const found: Point[] = [];
    for (const p of points) {
        const beside = boxes.filter((b) => b !== from && b !== to && b.x < p.x && p.x < b.x + b.width);
        const left = Math.min(...beside.map((b) => b.x));
        const right = Math.max(...beside.map((b) => b.x + b.width));
        if (beside.length === 0 || left <= from.x + from.width || right >= to.x) continue;
        found.push({ x: left, y: p.y }, { x: right, y: p.y });
    }
    return found;
}

interface Placed extends Point { width: number; height: number }

/** Where there are too many services for dagre: in columns by how near the client they are called, below those that call them. */
function stack(graph: Graph, g: Dagre): void {
    const near = new Map([[CLIENT, 0]]);
    for (const call of graph.calls) near.set(call.service, Math.min(near.get(call.service) ?? Infinity, elements(call.uid).length));
    const inColumns: string[][] = [];
    for (const [service, column] of near) (inColumns[column] ??= []).push(service);
    const at = (service: string) => g.node(service) as Placed;
    const heights = inColumns.map((column) => column.reduce((sum, service) => sum + at(service).height + NODE_GAP, -NODE_GAP));
    const height = Math.max(...heights);
    let left = MARGIN;
    inColumns.forEach((column, i) => {
        const callers = new Map(column.map((service) => {
            const from = (graph.services.get(service) ?? []).map((call) => call.caller ?? CLIENT).filter((caller) => (near.get(caller) ?? 0) < i);
            return [service, from.reduce((sum, caller) => sum + at(caller).y, 0) / Math.max(1, from.length)];
        }));
        const widest = Math.max(...column.map((service) => at(service).width));
        let top = MARGIN + (height - (heights[i] ?? 0)) / 2;
        for (const service of column.sort((a, b) => (callers.get(a) ?? 0) - (callers.get(b) ?? 0))) {
            const node = at(service);
            node.x = left + widest / 2;
            node.y = top + node.height / 2;
            top += node.height + NODE_GAP;
        }
        left += widest + COLUMN_GAP;
    });
    Object.assign(g.graph() as object, { width: left - COLUMN_GAP + MARGIN, height: height + 2 * MARGIN });
}

/** dagre knows no order of time: the other way up, if that puts more of what is called early above the rest. */
function turn(g: Dagre, services: readonly string[]): void {
    const { height = 0 } = g.graph() as { height?: number };
    const at = (service: string) => g.node(service) as Point;
    let order = 0;
    services.forEach((a, i) => {
        for (const b of services.slice(i + 1)) if (at(a).x === at(b).x) order += Math.sign(at(b).y - at(a).y);
    });
    if (order >= 0) return;
    for (const service of services) at(service).y = height - at(service).y;
    for (const edge of g.edges()) for (const p of (g.edge(edge) as { points?: Point[] }).points ?? []) p.y = height - p.y;
}

/** Where the row of a call is; of one that is not drawn, the last. */
function rowAt(box: Box, uid: string): number {
    const at = box.calls.findIndex((call) => call.uid === uid);
    return box.y + HEAD + (at < 0 ? box.calls.length : at) * ROW + ROW / 2;
}

/** The boxes, each column at one edge, and their rows in the order of those that call them, so that few lines cross. */
function place(graph: Graph, g: Dagre, shown: ReadonlyMap<string, readonly GraphCall[]>): Box[] {
    const centres = new Map<number, number>(); // the left edge of each column
    const all = [...shown].map(([service, calls]) => {
        const { x, y, width, height } = g.node(service) as Placed;
        centres.set(x, Math.min(centres.get(x) ?? Infinity, x - width / 2));
        return { service, calls, x, y: y - height / 2, width, height, hidden: (graph.services.get(service)?.length ?? 0) - calls.length };
    });
    const done = new Map<string, Box>();
    for (const box of all.sort((a, b) => a.x - b.x)) {
        const from = (call: GraphCall): number => {
            const above = call.caller === null ? undefined : done.get(call.caller);
            return above && call.parent !== null ? rowAt(above, call.parent) : Infinity;
        };
        const rank = new Map(box.calls.map((call) => [call, from(call)]));
        const calls = [...box.calls].sort((a, b) => Math.sign((rank.get(a) ?? 0) - (rank.get(b) ?? 0)) || 0);
        done.set(box.service, { ...box, calls, x: centres.get(box.x) ?? box.x });
    }
    return [...done.values()];
}

/** `open` are the services of which all calls are drawn; `narrow`: for a small screen. */
export function layoutGraph(graph: Graph, open: ReadonlySet<string>, narrow = false): GraphLayout {
    if (graph.calls.length === 0) return { boxes: [], lines: [], width: 0, height: 0 };
    const g = new Dagre();
    g.setGraph({ rankdir: 'LR', ranksep: narrow ? 44 : COLUMN_GAP, nodesep: NODE_GAP, edgesep: 14, marginx: MARGIN, marginy: MARGIN });
    g.setDefaultEdgeLabel(() => ({}));
    const shown = new Map<string, readonly GraphCall[]>([[CLIENT, []]]);
    for (const [service, calls] of graph.services)
        shown.set(service, open.has(service) || calls.length <= MOST_ROWS ? calls : calls.slice(0, MOST_ROWS - 1));
    const rowsOf = (service: string): number => {
        const all = graph.services.get(service)?.length ?? 0;
        const drawn = shown.get(service)?.length ?? 0;
        return drawn + (all > drawn ? 1 : 0);
    };
    for (const [service, calls] of shown) {
        const width = service === CLIENT ? 84 : widthOf(service, calls, narrow ? WIDEST_NARROW : WIDEST);
        g.setNode(service, { width, height: HEAD + rowsOf(service) * ROW });
    }
    for (const call of graph.calls) {
        const from = call.caller ?? CLIENT;
        if (from !== call.service && !g.hasEdge(call.service, from)) g.setEdge(from, call.service, { minlen: 1 });
    }
    if (shown.size > MANY_SERVICES) stack(graph, g);
    else {
        layout(g);
        turn(g, [...shown.keys()]);
    }
    const boxes = place(graph, g, shown);
    const boxOf = new Map(boxes.map((box) => [box.service, box]));
    const lines: Line[] = [];
    for (const call of graph.calls) {
        const from = boxOf.get(call.caller ?? CLIENT);
        const to = boxOf.get(call.service);
        if (!from || !to) continue;
        const begin = { x: from.x + from.width, y: call.parent === null ? from.y + HEAD / 2 : rowAt(from, call.parent) };
        const end = { x: to.x, y: rowAt(to, call.uid) };
        const edge = g.hasEdge(from.service, to.service) ? g.edge(from.service, to.service) as { points?: Point[] } : {};
        lines.push({ call, path: curve([begin, ...passes(edge.points ?? [], boxes, from, to), end]) });
    }
    const { width = 0, height = 0 } = g.graph() as { width?: number; height?: number };
    return { boxes, lines, width, height };
}
