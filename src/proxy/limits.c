/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/limits.h"

#include <stddef.h>

#define KIB    INT64_C(1024)
#define MIB    (1024 * KIB)
#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

enum limit_kind { COUNT, BYTES, TIME };

static const struct limit_row {
    const char *name;
    enum limit_kind kind;
    size_t field;
    int64_t least, most;
    const char *doc;
} rows[] = {
#define LIMIT(id, name, kind, standard, least, most, doc)                                          \
    {name, kind, offsetof(struct limits, id), least, most, doc},
#include "proxy/limits.list"
#undef LIMIT
};

enum { LIMITS = sizeof rows / sizeof *rows };

const struct limits limits_default = {
#define LIMIT(id, name, kind, standard, least, most, doc) .id = (standard),
#include "proxy/limits.list"
#undef LIMIT
};

static const char *const examples[] = {"a number", "a size such as 64KiB or 1MiB",
                                       "a time such as 200ms, 30s or 5m"};

/* Largest first; the last one of a kind is written when no other divides the value. */
static const struct unit {
    enum limit_kind kind;
    const char *name;
    int64_t size;
} units[] = {
    {BYTES, "MiB", MIB}, {BYTES, "KiB", KIB}, {BYTES, "", 1},   {TIME, "h", HOUR},
    {TIME, "m", MINUTE}, {TIME, "s", SECOND}, {TIME, "ms", MS}, {COUNT, "", 1},
};

enum { UNITS = sizeof units / sizeof *units };

static int64_t *limit_at(struct limits *limits, const struct limit_row *row)
{
    void *field = (char *)limits + row->field;
    return field;
}

static bool number_read(slice text, int64_t *out)
{
    uint64_t number;
    if (!slice_to_u64(text, INT64_MAX, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

static bool bytes_read(slice text, int64_t *out)
{
    size_t digits = 0;
    while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9')
        digits++;
    for (size_t i = 0; i < UNITS; i++)
        if (units[i].kind == BYTES && slice_is(slice_from(text, digits), units[i].name))
            return number_read((slice){text.p, digits}, out) &&
                   !__builtin_mul_overflow(*out, units[i].size, out);
    return false;
}

static bool value_read(enum limit_kind kind, slice text, int64_t *out)
{
    switch (kind) {
    case COUNT: return number_read(text, out);
    case BYTES: return bytes_read(text, out);
    case TIME: return slice_to_ns(text, out);
    }
    return false;
}

static void value_print(enum limit_kind kind, int64_t value, struct buf *out)
{
    const struct unit *unit = NULL;
    for (size_t i = 0; i < UNITS && (!unit || value == 0 || value % unit->size); i++)
        if (units[i].kind == kind)
            unit = &units[i];
    if (unit)
        buf_addf(out, "%lld%s", (long long)(value / unit->size), unit->name);
}

static int unknown_limit(slice name, struct err *e)
{
    const char *names[LIMITS];
    for (size_t i = 0; i < LIMITS; i++)
        names[i] = rows[i].name;
    return err_set(e, 0, 0, "there is no limit \"%.*s\"; outfox help proxy lists them%s",
                   SHORT(name), err_hint(name, names, LIMITS).text);
}

static int bad_value(const struct limit_row *row, slice value, struct err *e)
{
    struct buf range = BUF_INIT(100);
    value_print(row->kind, row->least, &range);
    buf_adds(&range, " to ");
    value_print(row->kind, row->most, &range);
    err_set(e, 0, 0, "the limit \"%s\" takes %s, from %s, not \"%.*s\"", row->name,
            examples[row->kind], buf_text(&range), SHORT(value));
    buf_deinit(&range);
    return -1;
}

int limits_set(struct limits *limits, slice name, slice value, struct err *e)
{
    for (size_t i = 0; i < LIMITS; i++) {
        const struct limit_row *row = &rows[i];
        int64_t number;
        if (!slice_is(name, row->name))
            continue;
        if (!value_read(row->kind, value, &number) || number < row->least || number > row->most)
            return bad_value(row, value, e);
        *limit_at(limits, row) = number;
        return 0;
    }
    return unknown_limit(name, e);
}

void limits_print(const struct limits *limits, struct buf *out)
{
    struct limits copy = *limits;
    for (size_t i = 0; i < LIMITS; i++) {
        struct buf value = BUF_INIT(40);
        value_print(rows[i].kind, *limit_at(&copy, &rows[i]), &value);
        buf_addf(out, "  %-22s %-7s %s\n", rows[i].name, buf_text(&value), rows[i].doc);
        buf_deinit(&value);
    }
}
