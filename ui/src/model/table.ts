// SPDX-License-Identifier: Apache-2.0

/** A table from names to what they mean. Names come from others: "constructor" is one like any other. */
export function table<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
    return new Map(Object.entries(rows));
}
