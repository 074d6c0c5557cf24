// SPDX-License-Identifier: Apache-2.0
//
// Figures over time: lines or bars, with the faults as bands behind them. The picture stretches with
// its place; words around it are HTML, so they do not. A picture has a sentence that says the same.
import type { ComponentChildren } from 'preact';

import { type Band, barPath, linePath, moment, type Point, type Scale } from '../model/plan';
import { plain } from '../model/text';
import { ticks } from '../model/scale';
import { Text } from './text';

export interface Line {
    readonly name: string;
    /** How it looks: plot-NAME of the style. */
    readonly look: string;
    readonly points: readonly Point[];
    readonly bars?: boolean;
}

/** The part of time that all plots of a run show, and what they share. */
export interface Stage {
    readonly from: number;
    readonly to: number;
    readonly bands: readonly Band[];
    /** Where somebody looks. */
    readonly cursor: number | null;
    readonly look: (at: number | null) => void;
}

const share = (at: number, stage: Stage) => Math.max(0, Math.min(1, (at - stage.from) / Math.max(1e-9, stage.to - stage.from)));

function Key({ line }: { line: Line }) {
    return <li class={`plot-key plot-${line.look}`}><span class="plot-swatch" aria-hidden="true" /><Text>{line.name}</Text></li>;
}

export function TimeAxis({ stage }: { stage: Stage }) {
    const length = stage.to - stage.from;
    return (
        <div class="plot-axis" aria-hidden="true">
            {ticks(length).map((at) => (
                <span key={at} style={{ insetInlineStart: `${100 * at / Math.max(1e-9, length)}%` }}>{at === 0 ? '0' : moment(at)}</span>
            ))}
        </div>
    );
}

/** The names of the faults, each where it is on. */
export function Bands({ stage }: { stage: Stage }) {
    if (stage.bands.length === 0) return null;
    const rows = Math.max(...stage.bands.map((band) => band.row)) + 1;
    return (
        <div class="plot-wrap plot-band-wrap" aria-hidden="true">
            <div class="plot-scale">faults</div>
            <div class="plot-names" style={{ height: `${Math.min(rows, 12) * 1.5}rem` }}>
                {stage.bands.filter((band) => band.row < 12).map((band, i) => {
                    const left = share(band.begin, stage), right = 1 - share(band.end, stage);
                    // where there is no room behind its beginning, the name ends with it
                    const late = left > 0.6;
                    return (
                        <span key={i} class="plot-name" style={{ insetBlockStart: `${band.row * 1.5}rem`, insetInlineStart: `${100 * left}%`, insetInlineEnd: `${100 * right}%` }}>
                            <span class={late ? 'late' : ''}><Text>{[band.fault.event, ...band.fault.nodes.length > 0 ? [band.fault.nodes.join(', ')] : []].join(': ')}</Text></span>
                        </span>
                    );
                })}
            </div>
        </div>
    );
}

function Picture({ lines, stage, scale, label }: { lines: readonly Line[]; stage: Stage; scale: Scale; label: string }) {
    const at = (event: PointerEvent) => {
        const box = (event.currentTarget as SVGElement).getBoundingClientRect();
        stage.look(stage.from + (stage.to - stage.from) * Math.max(0, Math.min(1, (event.clientX - box.left) / Math.max(1, box.width))));
    };
    return (
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={label}
            onPointerMove={at} onPointerLeave={() => { stage.look(null); }}>
            {stage.bands.map((band, i) => (
                <rect key={i} class="plot-band" x={1000 * share(band.begin, stage)} y="0" height="100"
                    width={Math.max(2, 1000 * (share(band.end, stage) - share(band.begin, stage)))} />
            ))}
            {scale.ticks.map((value) => (
                <path key={value} class="plot-grid" d={`M0 ${100 - 100 * scale.place(value)}H1000`} />
            ))}
            {lines.map((line) => (
                <path key={line.name} class={`${line.bars ? 'plot-bars' : 'plot-line'} plot-${line.look}`}
                    d={(line.bars ? barPath : linePath)(line.points, stage.from, stage.to, scale)} />
            ))}
            {stage.cursor !== null && <path class="plot-cursor" d={`M${1000 * share(stage.cursor, stage)} 0V100`} />}
        </svg>
    );
}

export function Plot({ title, note, lines, stage, scale, unit, label, axis, small = false }: {
    title: ComponentChildren;
    note?: string | undefined;
    lines: readonly Line[];
    stage: Stage;
    scale: Scale;
    /** A value in words. */
    unit: (value: number) => string;
    /** What the picture shows, in a sentence. */
    label: string;
    /** What stands below it in place of the time. */
    axis?: ComponentChildren;
    small?: boolean;
}) {
    return (
        <figure class={small ? 'plot plot-small' : 'plot'}>
            <figcaption class="plot-head">
                <h3>{title}</h3>
                {note !== undefined && <span class="small muted">{note}</span>}
                {lines.length > 1 && <ul class="plot-keys">{lines.map((line) => <Key key={line.name} line={line} />)}</ul>}
            </figcaption>
            <div class="plot-wrap">
                <div class="plot-scale" aria-hidden="true">
                    {scale.ticks.map((value) => <span key={value} style={{ insetBlockEnd: `${100 * scale.place(value)}%` }}>{unit(value)}</span>)}
                </div>
                <div class="plot-area"><Picture lines={lines} stage={stage} scale={scale} label={plain(label)} /></div>
            </div>
            {!small && (axis ?? <TimeAxis stage={stage} />)}
        </figure>
    );
}
