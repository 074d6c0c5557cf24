/* SPDX-License-Identifier: Apache-2.0
 *
 * A chunk is a list of records. Numbers have seven bits in each byte, the lowest first; the top bit
 * says that there is more. What has a text form is written once, as a record of its own, and is known by
 * its number from then on (from 1; 0: none):
 *
 *   P parent text     a point: the one above it, and its last element
 *   M text            a mode
 *   O text            an outcome
 *   R faults calls    a run: of each fault point and mode; of each call parent + 1, point, mode, point of
 *                     the fault, seen, reply, (flags, mark, handled), start since the call before it,
 *                     time */
#include "store/journal.h"

#include "store/store_int.h"

enum {
    CHUNK_BYTES = 256 << 10,   /* from here on a chunk is kept, */
    CHUNK_BYTES_MAX = 3 << 20, /* and no entry makes one larger than this */
    RECORD_TEXT_MAX = 64 << 10,
};

/* ---- writing ---- */

struct journal {
    const struct names *names;
    const struct faultloads *fl;
    struct buf bytes;
    struct map point, mode, outcome; /* their numbers in this chunk */
    struct buf text;
};

struct journal *journal_new(const struct names *names, const struct faultloads *fl)
{
    struct journal *j = mem_zero(sizeof *j);
    j->names = names;
    j->fl = fl;
    j->bytes = BUF_INIT(CHUNK_BYTES_MAX);
    j->text = BUF_INIT(RECORD_TEXT_MAX);
    return j;
}

void journal_free(struct journal *j)
{
    if (!j)
        return;
    buf_deinit(&j->bytes);
    buf_deinit(&j->text);
    map_deinit(&j->point);
    map_deinit(&j->mode);
    map_deinit(&j->outcome);
    mem_free(j);
}

void journal_clear(struct journal *j)
{
    buf_clear(&j->bytes);
    map_clear(&j->point);
    map_clear(&j->mode);
    map_clear(&j->outcome);
}

slice journal_chunk(const struct journal *j)
{
    return (slice){j->bytes.p, j->bytes.n};
}

bool journal_full(const struct journal *j)
{
    return j->bytes.n >= CHUNK_BYTES;
}

static void add_number(struct buf *out, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        buf_addc(out, (char)(number | 0x80));
    buf_addc(out, (char)number);
}

static void add_text(struct journal *j, slice text)
{
    add_number(&j->bytes, text.n);
    buf_add(&j->bytes, text);
}

static uint32_t point_number(struct journal *j, uid u)
{
    const uint32_t *known = u == UID_NONE ? NULL : map_get(&j->point, u);
    if (u == UID_NONE || known)
        return known ? *known : 0;
    uint32_t above = point_number(j, uid_parent(j->names, u)), n = j->point.items.n + 1;
    buf_clear(&j->text);
    element_print(j->names, uid_element(j->names, u), &j->text);
    buf_addc(&j->bytes, 'P');
    add_number(&j->bytes, above);
    add_text(j, buf_slice(&j->text));
    map_set(&j->point, u, n);
    return n;
}

static uint32_t mode_number(struct journal *j, mode m)
{
    const uint32_t *known = m == MODE_NONE ? NULL : map_get(&j->mode, m);
    if (m == MODE_NONE || known)
        return known ? *known : 0;
    buf_clear(&j->text);
    mode_print(m, &j->text);
    buf_addc(&j->bytes, 'M');
    add_text(j, buf_slice(&j->text));
    map_set(&j->mode, m, j->mode.items.n + 1);
    return j->mode.items.n;
}

static uint32_t outcome_number(struct journal *j, outcome o)
{
    const uint32_t *known = map_get(&j->outcome, o);
    if (known)
        return *known;
    buf_clear(&j->text);
    outcome_print(o, &j->text);
    buf_addc(&j->bytes, 'O');
    add_text(j, buf_slice(&j->text));
    map_set(&j->outcome, o, j->outcome.items.n + 1);
    return j->outcome.items.n;
}

/* Names all that the run needs, so that its own record has numbers only. */
static void name_parts(struct journal *j, const struct journal_entry *entry)
{
    for (faultload f = entry->faultload; f != FAULTLOAD_EMPTY; f = j->fl->rows.at[f].rest) {
        (void)point_number(j, j->fl->rows.at[f].last.point);
        (void)mode_number(j, j->fl->rows.at[f].last.mode);
    }
    for (uint32_t i = 0; i < entry->trace->calls.n; i++) {
        const struct call *c = &entry->trace->calls.at[i];
        (void)point_number(j, c->uid);
        (void)point_number(j, c->fault_point);
        (void)mode_number(j, c->mode);
        (void)outcome_number(j, c->seen);
        (void)outcome_number(j, c->reply);
    }
}

/* In causal order, which is from the last row of a faultload to its first. */
static void add_faults(struct journal *j, faultload f)
{
    if (f == FAULTLOAD_EMPTY)
        return;
    add_faults(j, j->fl->rows.at[f].rest);
    add_number(&j->bytes, point_number(j, j->fl->rows.at[f].last.point));
    add_number(&j->bytes, mode_number(j, j->fl->rows.at[f].last.mode));
}

static void add_call(struct journal *j, const struct call *c, uint8_t mark, int64_t before_ns)
{
    struct buf *out = &j->bytes;
    uint64_t since = (uint64_t)c->start_ns - (uint64_t)before_ns;
    add_number(out, c->parent == CALL_NONE ? 0 : (uint64_t)c->parent + 1);
    add_number(out, point_number(j, c->uid));
    add_number(out, mode_number(j, c->mode));
    add_number(out, point_number(j, c->fault_point));
    add_number(out, outcome_number(j, c->seen));
    add_number(out, outcome_number(j, c->reply));
    add_number(out, (uint64_t)c->flags << 3 | (uint64_t)mark << 1 | c->handled);
    add_number(out, since << 1 ^ (uint64_t)((int64_t)since >> 63)); /* aligned ones may go back */
    add_number(out, (uint64_t)(c->end_ns - c->start_ns));
}

bool journal_add(struct journal *j, const struct journal_entry *entry)
{
    int64_t before_ns = 0;
    name_parts(j, entry);
    buf_addc(&j->bytes, 'R');
    add_number(&j->bytes, faultload_size(j->fl, entry->faultload));
    add_faults(j, entry->faultload);
    add_number(&j->bytes, entry->trace->calls.n);
    for (uint32_t i = 0; i < entry->trace->calls.n; i++) {
        const struct call *c = &entry->trace->calls.at[i];
        add_call(j, c, entry->marks ? entry->marks[i] : JOURNAL_TELLS, before_ns);
        before_ns = c->start_ns;
    }
    return !j->bytes.full && !j->text.full;
}

/* ---- reading ---- */

struct journal_reader {
    slice rest;
    struct names *names;
    struct faultloads *fl;
    VEC(uid) points;
    VEC(mode) modes;
    VEC(outcome) outcomes;
    struct trace trace;
    VEC(uint8_t) marks;
    bool bad;
};

static uint64_t take_number(struct journal_reader *r, uint64_t most)
{
    uint64_t number = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        if (!r->rest.n)
            break;
        uint8_t byte = (uint8_t)r->rest.p[0];
        r->rest = slice_from(r->rest, 1);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80 && number <= most)
            return number;
        if (byte < 0x80)
            break;
    }
    r->bad = true;
    return 0;
}

static slice take_text(struct journal_reader *r)
{
    uint64_t n = take_number(r, RECORD_TEXT_MAX);
    slice text = {r->rest.p, n};
    if (n > r->rest.n) {
        r->bad = true;
        return SLICE("");
    }
    r->rest = slice_from(r->rest, n);
    return text;
}

/* What a number stands for in a list of things that were named; `none` for 0. */
#define TAKE_NAMED(r, list, none) take_named((r), (list).at, (list).n, (none))

static uint32_t take_named(struct journal_reader *r, const uint32_t *at, uint32_t n, uint32_t none)
{
    uint64_t number = take_number(r, n);
    return number ? at[number - 1] : none;
}

static void read_point(struct journal_reader *r)
{
    uid above = TAKE_NAMED(r, r->points, UID_NONE);
    slice text = take_text(r);
    struct element element;
    struct err ignored = {0};
    if (r->bad || element_parse(r->names, &text, &element, &ignored) || slice_trim(text).n) {
        r->bad = true;
        return;
    }
    vec_push(&r->points, names_uid(r->names, above, names_element(r->names, element)));
}

static void read_mode(struct journal_reader *r)
{
    mode m = MODE_NONE;
    struct err ignored = {0};
    r->bad |= mode_parse(take_text(r), &m, &ignored) != 0;
    vec_push(&r->modes, m);
}

static void read_outcome(struct journal_reader *r)
{
    outcome o = OUT_NONE;
    r->bad |= !outcome_read(take_text(r), &o);
    vec_push(&r->outcomes, o);
}

static faultload read_faults(struct journal_reader *r)
{
    faultload f = FAULTLOAD_EMPTY;
    for (uint64_t n = take_number(r, r->rest.n); n && !r->bad; n--) {
        struct fault fault = {.point = TAKE_NAMED(r, r->points, UID_NONE)};
        fault.mode = TAKE_NAMED(r, r->modes, MODE_NONE);
        r->bad |= fault.point == UID_NONE || fault.mode == MODE_NONE ||
                  faultload_at(r->fl, f, fault.point) != MODE_NONE;
        if (!r->bad)
            f = faultload_extend(r->fl, f, fault);
    }
    return f;
}

static void read_calls(struct journal_reader *r)
{
    int64_t start_ns = 0;
    r->trace.calls.n = r->marks.n = 0;
    for (uint64_t n = take_number(r, r->rest.n); n && !r->bad; n--) {
        struct call c = {.parent = (uint32_t)take_number(r, r->trace.calls.n) - 1};
        c.uid = TAKE_NAMED(r, r->points, UID_NONE);
        c.mode = TAKE_NAMED(r, r->modes, MODE_NONE);
        c.fault_point = TAKE_NAMED(r, r->points, UID_NONE);
        c.seen = TAKE_NAMED(r, r->outcomes, OUT_NONE);
        c.reply = TAKE_NAMED(r, r->outcomes, OUT_NONE);
        uint64_t flags = take_number(r, 8 * UINT8_MAX + 7);
        c.handled = flags & 1;
        c.flags = (uint8_t)(flags >> 3);
        r->bad |= (flags >> 1 & 3) > JOURNAL_STALE;
        vec_push(&r->marks, (uint8_t)(flags >> 1 & 3));
        uint64_t since = take_number(r, UINT64_MAX);
        since = since >> 1 ^ (0 - (since & 1));
        start_ns = (int64_t)((uint64_t)start_ns + since);
        c.start_ns = start_ns;
        c.end_ns = (int64_t)((uint64_t)start_ns + take_number(r, (uint64_t)RUN_TIME_MAX));
        vec_push(&r->trace.calls, c);
    }
}

/* The next entry; false: there is none, or r->bad. */
static bool read_entry(struct journal_reader *r, struct journal_entry *out)
{
    while (r->rest.n && !r->bad) {
        char kind = r->rest.p[0];
        uint32_t call;
        r->rest = slice_from(r->rest, 1);
        switch (kind) {
        case 'P': read_point(r); continue;
        case 'M': read_mode(r); continue;
        case 'O': read_outcome(r); continue;
        case 'R':
            *out = (struct journal_entry){.faultload = read_faults(r), .trace = &r->trace};
            read_calls(r);
            out->marks = r->marks.at;
            r->bad |= r->trace.calls.n == 0;
            if (!r->bad) {
                struct run run = {.number = 1, .faultload = out->faultload, .trace = r->trace};
                run.verdict.why = "";
                r->bad = run_flaw(r->names, &run, &call) != NULL;
            }
            return !r->bad;
        default: r->bad = true;
        }
    }
    return false;
}

int journal_read(slice chunk, struct names *names, struct faultloads *fl,
                 int (*each)(void *ctx, const struct journal_entry *entry), void *ctx)
{
    struct journal_reader r = {.rest = chunk, .names = names, .fl = fl};
    struct journal_entry entry;
    int result = 0;
    while (result == 0 && read_entry(&r, &entry))
        result = each(ctx, &entry);
    vec_deinit(&r.points);
    vec_deinit(&r.modes);
    vec_deinit(&r.outcomes);
    vec_deinit(&r.trace.calls);
    vec_deinit(&r.marks);
    return r.bad ? -1 : result;
}

/* ---- in the store ---- */

int journal_keep(struct store *s, uint64_t campaign, uint64_t last, slice chunk, struct err *e)
{
    struct get g;
    if (store_begin_write(s, e))
        return -1;
    struct put p = put_into(s, SQL_JOURNAL_LAST, 0);
    put_int(&p, (int64_t)campaign);
    int found = get_first(&p, &g, e);
    int64_t n = found > 0 ? get_int(&g, 0, UINT32_MAX - 1) + 1 : 0;
    if (found > 0)
        get_done(&g);
    if (found < 0)
        return store_end(s, -1, e);
    p = put_into(s, SQL_JOURNAL_ADD, 0);
    put_int(&p, (int64_t)campaign);
    put_int(&p, n);
    put_int(&p, (int64_t)last);
    put_blob(&p, chunk);
    put_sum(&p);
    return store_end(s, put_done(&p, e), e);
}

int journal_each(struct store *s, uint64_t campaign,
                 int (*each)(void *ctx, uint64_t last, slice chunk, struct err *e), void *ctx,
                 struct err *e)
{
    struct arena arena = {0};
    int result = 0;
    for (int64_t n = 0; result == 0; n++) {
        struct get g;
        struct put p = put_into(s, SQL_JOURNAL_GET, 0);
        put_int(&p, (int64_t)campaign);
        put_int(&p, n);
        int found = get_first(&p, &g, e);
        if (found <= 0) {
            result = found;
            break;
        }
        get_int(&g, 1, UINT32_MAX);
        get_int(&g, n, n);
        uint64_t last = (uint64_t)get_int(&g, 0, INT64_MAX - 1);
        slice chunk = get_blob(&g, CHUNK_BYTES_MAX);
        get_sum(&g);
        arena_reset(&arena);
        chunk = slice_copy(&arena, chunk);
        get_done(&g);
        result = g.bad ? store_damaged(s, e, "journal %lld: %s", (long long)n, g.bad)
                       : each(ctx, last, chunk, e);
    }
    arena_deinit(&arena);
    return result;
}
