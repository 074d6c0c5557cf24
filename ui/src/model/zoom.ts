// SPDX-License-Identifier: Apache-2.0
//
// How much of a picture is seen, and which part: the picture scrolls inside its view.

export interface Zoom {
    readonly scale: number;
    /** How far the view is scrolled. */
    readonly left: number;
    readonly top: number;
}

export const SMALLEST = 0.25;
export const LARGEST = 2.5;
/** Smaller than this, nobody can read it. */
const READABLE = 0.75;
export const STEP = 1.25;

function within(scale: number): number {
    return Math.min(LARGEST, Math.max(SMALLEST, scale));
}

/** Zooms so that what is at this point of the view stays there. */
export function zoomBy(zoom: Zoom, factor: number, at: { x: number; y: number }): Zoom {
    const scale = within(zoom.scale * factor);
    const grown = scale / zoom.scale;
    return {
        scale,
        left: Math.max(0, (zoom.left + at.x) * grown - at.x),
        top: Math.max(0, (zoom.top + at.y) * grown - at.y),
    };
}

/** All of it; never larger than it is. */
export function fit(width: number, height: number, view: { width: number; height: number }): number {
    if (width <= 0 || height <= 0) return 1;
    return within(Math.min(1, view.width / width, view.height / height));
}

/** As it is first shown: as wide as the view, as long as that can be read. */
export function begin(width: number, viewWidth: number): number {
    return width <= 0 ? 1 : Math.max(READABLE, Math.min(1, viewWidth / width));
}
