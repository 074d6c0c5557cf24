/* SPDX-License-Identifier: Apache-2.0
 *
 * Trace context, read from the head of a request and written into it. Both are one pass over the
 * fields; a field that is none of ours costs a look at the length of its name.
 *
 * 1. Several fields of a list (tracestate, baggage) are one list, in their order.
 * 2. Members of others keep their bytes and their order. When a list gets too long by ours, it is
 *    the last that go; what was too long in bytes before we came is not ours to judge.
 * 3. Nothing is allocated but from the arena of the caller. */
#include "track/context_int.h"

#include <string.h>

#define OWN_KEY "outfox"
#define NOWHERE UINT32_MAX

enum {
    MEMBERS_MOST = 64,
    MEMBER_MOST = sizeof OWN_KEY "=0123456789abcdef-01234567", /* of ours */
};

/* ---- reading ---- */

struct reader {
    bool (*known)(void *ctx, uint64_t run);
    void *ctx;
    struct context *out;
};

static void reader_take(struct reader *r, enum dialect by, uint64_t run, uint32_t call)
{
    r->out->seen |= 1u << by;
    if (by >= r->out->by || run == 0 || !r->known(r->ctx, run))
        return;
    r->out->by = by;
    r->out->run = run;
    r->out->call = call;
}

/* The next member of a list, without blanks; false at its end. */
static bool member_next(slice *rest, slice *member)
{
    while (slice_cut(rest, ',', member)) {
        *member = slice_trim(*member);
        if (member->n)
            return true;
    }
    return false;
}

/* Is the key ours? Then *value is what follows it. */
static bool member_is_own(slice member, slice *value)
{
    const slice key = SLICE(OWN_KEY);
    if (!slice_starts(member, key))
        return false;
    *value = slice_trim(slice_from(member, key.n));
    if (value->n == 0 || value->p[0] != '=')
        return false;
    *value = slice_trim(slice_from(*value, 1));
    return true;
}

/* RUN-CALL; what follows a `;` are properties that somebody has added (baggage). */
static bool own_parse(slice value, uint64_t *run, uint32_t *call)
{
    struct trace_id head, tail;
    value.n = slice_find(value, ';');
    value = slice_trim(value);
    if (value.n < 18 || value.p[16] != '-' || !dialect_parse_hex((slice){value.p, 16}, 16, &head) ||
        !dialect_parse_hex(slice_from(value, 17), 8, &tail))
        return false;
    *run = head.low;
    *call = (uint32_t)tail.low;
    return true;
}

static void list_read(struct reader *r, enum dialect by, slice list)
{
    slice member, value;
    uint64_t run = 0;
    uint32_t call = UINT32_MAX;
    while (member_next(&list, &member)) {
        if (!member_is_own(member, &value))
            r->out->seen |= slice_find(member, '=') < member.n ? 1u << by : 0;
        else if (own_parse(value, &run, &call))
            reader_take(r, by, run, call);
    }
}

static void custom_read(struct reader *r, const slice *custom, uint32_t n, const struct field *f)
{
    struct trace_id id;
    for (uint32_t i = 0; i < n; i++)
        if (slice_eq_nocase(custom[i], f->name) && dialect_parse_plain(slice_trim(f->value), &id))
            reader_take(r, DIALECT_CUSTOM, id.low, UINT32_MAX);
}

void context_read(const struct head *h, const slice *custom, uint32_t n_custom,
                  bool (*known)(void *ctx, uint64_t run), void *ctx, struct context *out)
{
    struct reader r = {known, ctx, out};
    *out = (struct context){.call = UINT32_MAX, .by = DIALECTS};
    for (uint32_t i = 0; i < h->n_fields; i++) {
        const struct field *f = &h->fields[i];
        const struct dialect_header *d = dialect_header_of(f->name);
        struct trace_id id;
        custom_read(&r, custom, n_custom, f);
        if (!d)
            continue;
        if (!d->print)
            list_read(&r, d->dialect, f->value);
        else if (d->parse && d->parse(slice_trim(f->value), &id))
            reader_take(&r, d->dialect, id.low, UINT32_MAX);
    }
}

/* ---- lists with our member ---- */

/* W3C: of a tracestate that gets too long large members go first. */
static const struct list_rule {
    uint32_t members; /* ours included */
    size_t bytes, large;
} list_rules[] = {
    [DIALECT_TRACESTATE] = {32, 512, 128},
    [DIALECT_BAGGAGE] = {MEMBERS_MOST, 8192, SIZE_MAX},
};

enum { LISTS = DIALECT_BAGGAGE + 1 };

struct list {
    const struct list_rule *rule; /* NULL: not to be written */
    uint32_t field;               /* where it goes; NOWHERE: there was none */
    uint32_t n;
    size_t bytes;           /* of what is in `at`, with a comma each */
    slice at[MEMBERS_MOST]; /* of others */
};

static void list_init(struct list *l, const struct list_rule *rule)
{
    l->rule = rule;
    l->field = NOWHERE;
    l->n = 0;
    l->bytes = 0;
}

static void list_add(struct list *l, slice value)
{
    slice member, own;
    while (member_next(&value, &member)) {
        if (member_is_own(member, &own))
            continue;
        if (l->n == l->rule->members - 1)
            return; /* the last go first */
        l->at[l->n++] = member;
        l->bytes += member.n + 1;
    }
}

/* The member that is given up first; there is one. */
static uint32_t list_victim(const struct list *l)
{
    for (uint32_t i = l->n; i-- > 0;)
        if (l->at[i].n > l->rule->large)
            return i;
    return l->n - 1;
}

static void list_fit(struct list *l, size_t own)
{
    if (l->bytes > l->rule->bytes + 1) /* the comma of the last one */
        return;
    while (l->n && own + l->bytes > l->rule->bytes) {
        uint32_t i = list_victim(l);
        l->bytes -= l->at[i].n + 1;
        l->n--;
        memmove(&l->at[i], &l->at[i + 1], (l->n - i) * sizeof *l->at);
    }
}

static char *member_print(uint64_t run, uint32_t call, char *at)
{
    uint32_t digits = 1;
    while (digits < 8 && call >> 4 * digits)
        digits++;
    memcpy(at, OWN_KEY "=", sizeof OWN_KEY);
    at = dialect_print_hex(run, 16, at + sizeof OWN_KEY);
    *at++ = '-';
    return dialect_print_hex(call, digits, at);
}

static slice list_print(struct list *l, slice own, struct arena *a)
{
    list_fit(l, own.n);
    char *text = arena_alloc(a, own.n + l->bytes), *at = text;
    memcpy(at, own.p, own.n);
    at += own.n;
    for (uint32_t i = 0; i < l->n; i++) {
        *at++ = ',';
        memcpy(at, l->at[i].p, l->at[i].n);
        at += l->at[i].n;
    }
    return (slice){text, (size_t)(at - text)};
}

/* ---- writing ---- */

struct writer {
    struct arena *a;
    struct field *fields;
    uint32_t n;
    uint32_t present; /* bits 1 << enum dialect: a header of it was there, well-formed or not */
    bool lists;       /* one of them is written: then the other must not say something else */
    struct list list[LISTS];
};

/* A list as it is, but without our member; empty: nothing is left of it. */
static slice list_strip(slice value, struct arena *a)
{
    slice rest = value, member, own;
    bool ours = false;
    while (member_next(&rest, &member))
        ours |= member_is_own(member, &own);
    if (!ours)
        return value;
    char *text = arena_alloc(a, value.n + 1), *at = text;
    for (rest = value; member_next(&rest, &member);) {
        if (member_is_own(member, &own))
            continue;
        if (at > text)
            *at++ = ',';
        memcpy(at, member.p, member.n);
        at += member.n;
    }
    return (slice){text, (size_t)(at - text)};
}

/* False: the field is not to be sent on. */
static bool writer_take_list(struct writer *w, struct list *l, struct field *f)
{
    if (!l->rule) {
        bool empty = f->value.n == 0;
        if (w->lists)
            f->value = list_strip(f->value, w->a);
        return empty || f->value.n > 0;
    }
    list_add(l, f->value);
    if (l->field != NOWHERE)
        return false;
    l->field = w->n;
    return true;
}

static void writer_copy(struct writer *w, const struct head *from)
{
    for (uint32_t i = 0; i < from->n_fields; i++) {
        struct field f = from->fields[i];
        const struct dialect_header *d = dialect_header_of(f.name);
        if (d)
            w->present |= 1u << d->dialect;
        if (!d || d->print || writer_take_list(w, &w->list[d->dialect], &f))
            w->fields[w->n++] = f;
    }
}

static void writer_lists(struct writer *w, uint64_t run, uint32_t call)
{
    char room[MEMBER_MOST];
    slice own = {room, (size_t)(member_print(run, call, room) - room)};
    for (uint32_t i = 0; i < LISTS; i++) {
        struct list *l = &w->list[i];
        if (!l->rule)
            continue;
        slice value = list_print(l, own, w->a);
        if (l->field == NOWHERE)
            w->fields[w->n++] = (struct field){dialect_headers[i].name, value};
        else
            w->fields[l->field].value = value;
    }
}

static void writer_add(struct writer *w, slice name, struct trace_id id,
                       char *(*print)(struct trace_id id, char *at))
{
    char room[HEADER_TEXT_MOST];
    slice value = {room, (size_t)(print(id, room) - room)};
    w->fields[w->n++] = (struct field){name, slice_copy(w->a, value)};
}

static bool writer_has(const struct writer *w, slice name)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (slice_eq_nocase(w->fields[i].name, name))
            return true;
    return false;
}

void context_write(const struct head *from, uint32_t write, const slice *custom, uint32_t n_custom,
                   struct trace_id id, uint32_t call, struct arena *a, const struct field **fields,
                   uint32_t *n_fields)
{
    struct writer w;
    size_t most = (size_t)from->n_fields + DIALECT_HEADERS + n_custom;
    w.a = a;
    w.n = w.present = 0;
    w.lists = (write & ((1u << LISTS) - 1)) != 0;
    w.fields = arena_alloc(a, most * sizeof *w.fields);
    for (uint32_t i = 0; i < LISTS; i++)
        list_init(&w.list[i], write >> i & 1 ? &list_rules[i] : NULL);
    writer_copy(&w, from);
    if (write & 1u << DIALECT_TRACESTATE)
        write |= 1u << DIALECT_TRACEPARENT;
    for (uint32_t i = 0; i < DIALECT_HEADERS; i++) {
        const struct dialect_header *d = &dialect_headers[i];
        if (d->print && (write & ~w.present) >> d->dialect & 1)
            writer_add(&w, d->name, id, d->print);
    }
    writer_lists(&w, id.low, call);
    if (write & 1u << DIALECT_CUSTOM)
        for (uint32_t i = 0; i < n_custom; i++)
            if (!writer_has(&w, custom[i]))
                writer_add(&w, custom[i], id, dialect_print_plain);
    *fields = w.fields;
    *n_fields = w.n;
}

void context_traceparent(struct trace_id id, struct buf *out)
{
    char room[HEADER_TEXT_MOST];
    const struct dialect_header *d = dialect_header_of(SLICE("traceparent"));
    buf_add(out, (slice){room, (size_t)(d->print(id, room) - room)});
}

void context_member(struct trace_id id, uint32_t call, struct buf *out)
{
    char room[MEMBER_MOST];
    buf_add(out, (slice){room, (size_t)(member_print(id.low, call, room) - room)});
}
