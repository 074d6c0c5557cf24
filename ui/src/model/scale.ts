// SPDX-License-Identifier: Apache-2.0

/** Round places on an axis from 0 to `end`: some three to six, none so near to the end that it has no room. */
export function ticks(end: number): number[] {
    if (!(end > 0) || !Number.isFinite(end)) return [0];
    const rough = end / 5, power = 10 ** Math.floor(Math.log10(rough)), digit = rough / power;
    const step = power * (digit > 5 ? 10 : digit > 2 ? 5 : digit > 1 ? 2 : 1);
    const places: number[] = [];
    for (let i = 0; i * step <= end * 0.92; i++) places.push(i * step);
    return places;
}
