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

static const enum limit_kind kinds[] = {
#define LIMIT(id, name, kind, standard, least, most, doc) kind,
#include "proxy/limits.list"
#undef LIMIT
};

static key_read read_limit;

static const struct key rows[] = {
#define LIMIT(id, key, kind, standard, from, to, about)                                            \
    {key, KEY_OTHER, offsetof(struct limits, id), (from), (to), .read = read_limit, .doc = (about)},
#include "proxy/limits.list"
#undef LIMIT
};

const struct keys limit_keys = {"limits", "limits", KEY_ROWS(rows)};

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

static int read_limit(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    enum limit_kind kind = kinds[key - rows];
    int64_t number, least = (int64_t)key->least, most = (int64_t)key->most;
    if (value_read(kind, value->text, &number) && number >= least && number <= most) {
        *(int64_t *)key_field(key, into) = number;
        return 0;
    }
    struct buf range = BUF_INIT(100);
    value_print(kind, least, &range);
    buf_adds(&range, " to ");
    value_print(kind, most, &range);
    keys_fail(r, value, "the limit \"%s\" takes %s, from %s, not \"%.*s\"", key->name,
              examples[kind], buf_text(&range), SHORT(value->text));
    buf_deinit(&range);
    return -1;
}

int limits_set(struct limits *limits, slice name, slice value, struct err *e)
{
    struct arena arena = {0};
    struct keys_reader r = {.e = e, .arena = &arena};
    int status = keys_set(&r, &limit_keys, limits, name, value);
    arena_deinit(&arena);
    return status;
}

void limits_print(const struct limits *limits, struct buf *out)
{
    for (size_t i = 0; i < limit_keys.n; i++) {
        struct buf text = BUF_INIT(40);
        int64_t value;
        memcpy(&value, (const char *)limits + rows[i].field, sizeof value);
        value_print(kinds[i], value, &text);
        buf_addf(out, "  %-22s %-7s %s\n", rows[i].name, buf_text(&text), rows[i].doc);
        buf_deinit(&text);
    }
}
