/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums up all rows of a campaign file anew, as somebody would who edits values and knows how. (Fuzz
 * targets link nothing of tests/support, so all of it stands here.) */
#ifndef OUTFOX_TESTS_SUPPORT_STORE_SUMS_H
#define OUTFOX_TESTS_SUPPORT_STORE_SUMS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/hash.h"

/* The columns [from, to) of the row at which stmt stands; a NULL from column `later` on does not
 * count. */
static inline uint64_t sums_of_row(sqlite3_stmt *stmt, uint64_t sum, int from, int to, int later)
{
    for (int i = from; i < to; i++) {
        int type = sqlite3_column_type(stmt, i);
        const void *p = type == SQLITE_BLOB ? sqlite3_column_blob(stmt, i)
                                            : (const void *)sqlite3_column_text(stmt, i);
        slice bytes = {p ? p : "", (size_t)sqlite3_column_bytes(stmt, i)};
        if (type == SQLITE_NULL && i >= later)
            continue;
        sum = hash_mix(sum, type == SQLITE_NULL      ? 0x6e756c6cu
                            : type == SQLITE_INTEGER ? (uint64_t)sqlite3_column_int64(stmt, i)
                                                     : hash_slice(bytes));
    }
    return sum;
}

/* Where it is another; the sum as it is stands last in the row. */
static inline void sums_set(sqlite3 *db, const char *update, sqlite3_stmt *key, int n, uint64_t sum)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_column_int64(key, sqlite3_column_count(key) - 1) == (int64_t)sum)
        return;
    if (sqlite3_prepare_v2(db, update, -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, (int64_t)sum);
        for (int i = 0; i < n; i++)
            sqlite3_bind_value(stmt, i + 2, sqlite3_column_value(key, i));
        sqlite3_step(stmt);
    }
    sqlite3_finalize(stmt);
}

static inline uint64_t sums_of_calls(sqlite3 *db, sqlite3_stmt *run)
{
    sqlite3_stmt *stmt = NULL;
    uint64_t sum = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT campaign, run, n, parent, point, mode, fault_point, seen, "
                           "handled, reply, flags, start_ns, end_ns, request, key, answer "
                           "FROM call WHERE campaign = ? AND run = ? ORDER BY n",
                           -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_value(stmt, 1, sqlite3_column_value(run, 0));
        sqlite3_bind_value(stmt, 2, sqlite3_column_value(run, 1));
        while (sqlite3_step(stmt) == SQLITE_ROW)
            sum = sums_of_row(stmt, sum, 0, 16, 13);
    }
    sqlite3_finalize(stmt);
    return sum;
}

static inline void store_sums(sqlite3 *db)
{
    static const struct {
        const char *select, *update;
        int keys, first, columns; /* the sum is that of columns first .. columns - 1 */
    } tables[] = {
        {"SELECT campaign, name, value, sum FROM fact",
         "UPDATE fact SET sum = ? WHERE campaign = ? AND name = ?", 2, 0, 3},
        {"SELECT campaign, id, state, why, faultload, sum FROM finding",
         "UPDATE finding SET sum = ? WHERE campaign = ? AND id = ?", 2, 0, 5},
        {"SELECT id, campaign, parent, element, sum FROM point",
         "UPDATE point SET sum = ? WHERE id = ?", 1, 1, 4},
        {"SELECT campaign, number, previous, purpose, flags, faultload, pass, status, why, detail, "
         "event, body, wall_ns, took_ns, calls, sum FROM run",
         "UPDATE run SET sum = ? WHERE campaign = ? AND number = ?", 2, 0, 15},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        bool run = i == 3;
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db, tables[i].select, -1, &stmt, NULL) == SQLITE_OK)
            while (sqlite3_step(stmt) == SQLITE_ROW) {
                uint64_t sum = sums_of_row(stmt, 0, tables[i].first, tables[i].columns, 99);
                if (run)
                    sum = hash_mix(sum, sums_of_calls(db, stmt));
                sums_set(db, tables[i].update, stmt, tables[i].keys, sum);
            }
        sqlite3_finalize(stmt);
    }
}

#endif
