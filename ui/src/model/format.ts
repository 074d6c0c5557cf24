// SPDX-License-Identifier: Apache-2.0
//
// Numbers and lists in words.

const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** 12,345; beyond what a number holds exactly, 2.4 × 10^18. */
export function count(n: number): string {
    if (!Number.isFinite(n)) return 'unknown';
    if (Math.abs(n) < 1e15) return counts.format(n);
    const power = Math.floor(Math.log10(Math.abs(n)));
    return `${(n / 10 ** power).toFixed(1)} \u00d7 10${superscript(power)}`;
}

/** For a narrow place, with the word that goes below it: 1,953,125, then 244 and "million". */
export function compact(n: number): { figure: string; unit: string } {
    const big: readonly (readonly [number, string])[] = [[1e12, 'trillion'], [1e9, 'billion'], [1e6, 'million']];
    const unit = n >= 1e8 && n < 1e15 ? big.find(([size]) => n >= size) : undefined;
    return unit ? { figure: digits(n / unit[0]), unit: `${unit[1]} ` } : { figure: count(n), unit: '' };
}

function superscript(n: number): string {
    const digits = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079';
    return String(n).replace(/\d/g, (digit) => digits[Number(digit)] ?? digit);
}

/** "1 run", "2 runs"; `many` where an s is not enough. */
export function plural(n: number, one: string, many = `${one}s`): string {
    return `${count(n)} ${n === 1 ? one : many}`;
}

/** "1.8 s", "430 µs", "2 min 5 s": three digits that matter. */
export function duration(ns: number): string {
    if (!Number.isFinite(ns) || ns < 0) return 'unknown';
    if (ns < 1000) return `${Math.round(ns)} ns`;
    if (ns < 999_500) return `${digits(ns / 1e3)} \u00b5s`;
    if (ns < 999_500_000) return `${digits(ns / 1e6)} ms`;
    if (ns < 59.95e9) return `${digits(ns / 1e9)} s`;
    const seconds = Math.round(ns / 1e9);
    if (seconds < 3600) return parts(Math.floor(seconds / 60), 'min', seconds % 60, 's');
    const minutes = Math.round(seconds / 60);
    if (minutes < 1440) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
    const hours = Math.round(minutes / 60);
    return parts(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function digits(x: number): string {
    const fixed = x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
    return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
}

function parts(a: number, unit: string, b: number, small: string): string {
    return b === 0 ? `${a} ${unit}` : `${a} ${unit} ${b} ${small}`;
}

/** "8.3 %", "< 0.1 %", "100 %": never 0 for something, never 100 for less than all. */
export function percent(part: number, whole: number): string {
    if (whole <= 0) return '0 %';
    const share = 100 * part / whole;
    if (share === 0 || share === 100) return `${share} %`;
    if (share < 0.1) return '< 0.1 %';
    if (share > 99.9) return '> 99.9 %';
    return `${share.toFixed(1).replace(/\.0$/, '')} %`;
}

/** "a", "a or b", "a, b or c". */
export function either(items: readonly string[], word = 'or'): string {
    if (items.length < 2) return items[0] ?? '';
    return `${items.slice(0, -1).join(', ')} ${word} ${items[items.length - 1] ?? ''}`;
}
