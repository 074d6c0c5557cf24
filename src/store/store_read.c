/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading runs.
 *
 * 1. A run is read whole, in a transaction of its own, before anybody else sees it: a callback may
 *    use the store, and a long look at it does not keep the writer's log from being emptied.
 * 2. Every value is checked for what it may be, the sum of all for being what was written, and the
 *    run as a whole for being one (run_flaw). Nobody behind this file checks any of that again. */
#include "base/hash.h"
#include "base/intern.h"
#include "store/store_int.h"

struct reader {
    struct store *store;
    uint64_t campaign;
    struct names *names;
    struct faultloads *fl;
    uint64_t last;     /* the run that was read before; 0: none */
    struct map points; /* row of a point -> its uid in names */
    VEC(struct above {
        int64_t id;
        uint32_t element;
    })
    way;                /* the part of a path that is not known yet, from below */
    struct intern whys; /* reasons that were met, see verdict.why */
};

static void reader_deinit(struct reader *r)
{
    map_deinit(&r->points);
    vec_deinit(&r->way);
    intern_deinit(&r->whys);
}

/* ---- texts ---- */

static bool flags_read(slice text, const char *const *words, uint32_t n, uint32_t *out)
{
    slice word;
    *out = 0;
    while (slice_word(&text, &word)) {
        uint64_t bit = 0;
        for (uint32_t i = 0; i < n; i++)
            if (slice_is(word, words[i]))
                bit = (uint64_t)1 << i;
        if (!bit && !slice_to_u64(word, UINT32_MAX, &bit))
            return false;
        *out |= (uint32_t)bit;
    }
    return true;
}

static uint32_t get_flags(struct get *g, const char *const *words, uint32_t n, uint32_t most)
{
    uint32_t flags;
    if (flags_read(get_text(g), words, n, &flags) && flags <= most)
        return flags;
    get_bad(g);
    return 0;
}

static outcome get_outcome(struct get *g)
{
    outcome o;
    if (outcome_read(get_text(g), &o))
        return o;
    get_bad(g);
    return OUTCOME(OUT_NONE, 0);
}

static mode get_mode(struct get *g)
{
    mode m;
    struct err ignored = {0};
    if (get_null(g))
        return MODE_NONE;
    if (mode_parse(get_text(g), &m, &ignored) == 0)
        return m;
    get_bad(g);
    return MODE_NONE;
}

static enum run_purpose get_purpose(struct get *g)
{
    slice text = get_text(g);
    for (uint32_t i = 0; i < RUN_PURPOSES; i++)
        if (slice_is(text, run_purpose_names[i]))
            return (enum run_purpose)i;
    get_bad(g);
    return RUN_SEARCH;
}

static const char *get_copy(struct get *g, struct arena *a)
{
    slice text = get_text(g);
    return arena_copy(a, text.p, text.n);
}

static const char *get_why(struct reader *r, struct get *g, struct arena *keep)
{
    slice text = get_text(g);
    text.n = slice_find(text, 0);
    return intern_text(&r->whys, intern_put_in(&r->whys, keep, text)).p;
}

/* ---- points ---- */

/* The row of a point: its element, and *parent. */
static int read_point(struct reader *r, int64_t id, int64_t *parent, uint32_t *element,
                      struct err *e)
{
    struct get g;
    struct element read = {0};
    struct err inner = {0};
    struct put p = put_into(r->store, SQL_POINT_GET, 0);
    put_int(&p, id);
    put_int(&p, (int64_t)r->campaign);
    int found = get_first(&p, &g, e);
    if (found < 0)
        return -1;
    if (found == 0)
        return store_damaged(r->store, e, "point %lld is missing", (long long)id);
    get_int(&g, 1, UINT32_MAX);
    *parent = get_int(&g, 0, id - 1); /* so that the way up ends */
    slice text = get_text(&g), more;
    if (element_parse(r->names, &text, &read, &inner) || slice_word(&text, &more))
        get_bad(&g);
    else
        *element = names_element(r->names, read);
    get_sum(&g);
    get_done(&g);
    return g.bad ? store_damaged(r->store, e, "point %lld: %s", (long long)id, g.bad) : 0;
}

/* The uid of a point's row; 0 is none. */
static int point_uid(struct reader *r, int64_t id, uid *out, struct err *e)
{
    const uint32_t *known = NULL;
    r->way.n = 0;
    while (id > 0 && !(known = map_get(&r->points, (uint64_t)id))) {
        struct above above = {.id = id};
        if (read_point(r, id, &id, &above.element, e))
            return -1;
        vec_push(&r->way, above);
    }
    *out = known ? *known : UID_NONE;
    while (r->way.n > 0) {
        struct above above = r->way.at[--r->way.n];
        *out = names_uid(r->names, *out, above.element);
        map_set(&r->points, (uint64_t)above.id, *out);
    }
    return 0;
}

/* ---- calls ---- */

/* Takes a row of `call`; points are still numbers of rows. */
static void get_call(struct get *g, uint32_t n, struct call *c, int64_t *point,
                     int64_t *fault_point, slice *answer)
{
    get_int(g, 1, UINT32_MAX);
    get_int(g, 1, INT64_MAX - 1);
    get_int(g, n, n);
    c->parent = get_null(g) ? CALL_NONE : (uint32_t)get_int(g, 0, UINT32_MAX - 1);
    *point = get_null(g) ? 0 : get_int(g, 1, UINT32_MAX);
    c->mode = get_mode(g);
    *fault_point = get_null(g) ? 0 : get_int(g, 1, UINT32_MAX);
    c->seen = get_outcome(g);
    c->handled = get_int(g, 0, 1);
    c->reply = get_outcome(g);
    c->flags = (uint8_t)get_flags(g, call_flag_names, CALL_FLAGS, UINT8_MAX);
    c->start_ns = get_int(g, INT64_MIN, INT64_MAX);
    c->end_ns = get_int(g, INT64_MIN, INT64_MAX);
    c->request = get_later(g);
    c->key = get_later(g);
    c->answer = get_blob_later(g, RUN_BODY_MAX, answer);
}

/* At most as many are read as are ever written. */
static void keep_answer(struct arena *text, struct run *run, struct call *c, slice answer)
{
    if (!run->answers)
        run->answers = arena_alloc(text, RUN_ANSWERS_MAX * sizeof *run->answers);
    c->answer = 0;
    if (run->n_answers == RUN_ANSWERS_MAX)
        return;
    run->answers[run->n_answers++] = slice_copy(text, answer);
    c->answer = run->n_answers;
}

/* The calls of a run into run->trace, and their sum. */
static int read_calls(struct reader *r, struct arena *text, struct run *run, uint64_t *sum,
                      struct err *e)
{
    struct get g;
    struct put p = put_into(r->store, SQL_CALL_GET, 0);
    put_int(&p, (int64_t)r->campaign);
    put_int(&p, (int64_t)run->number);
    int more = get_first(&p, &g, e);
    while (more > 0) {
        struct call c = {0};
        int64_t point, fault_point;
        uint32_t n = run->trace.calls.n;
        slice answer = {0};
        if (n == RUN_CALLS_MAX)
            get_bad(&g);
        get_call(&g, n, &c, &point, &fault_point, &answer);
        if (c.answer)
            keep_answer(text, run, &c, answer);
        if (g.bad) {
            get_done(&g);
            return store_damaged(r->store, e, "run %llu, call %u: %s",
                                 (unsigned long long)run->number, (unsigned)n, g.bad);
        }
        if (point_uid(r, point, &c.uid, e) || point_uid(r, fault_point, &c.fault_point, e)) {
            get_done(&g);
            return -1;
        }
        vec_push(&run->trace.calls, c);
        more = get_next(&g, e);
    }
    *sum = g.sum;
    return more;
}

/* ---- runs ---- */

/* What is taken from a row of `run` besides the run. */
struct run_rest {
    uint64_t previous;
    uint32_t calls;
    uint64_t sum; /* of the row */
    int64_t all;  /* sum of row and calls as it was written */
};

static void get_run(struct reader *r, struct get *g, struct arena *text, struct arena *keep,
                    struct run *run, struct run_rest *rest)
{
    struct err inner = {0};
    get_int(g, 1, UINT32_MAX);
    run->number = (uint64_t)get_int(g, 1, INT64_MAX - 1);
    rest->previous = (uint64_t)get_int(g, 0, (int64_t)run->number - 1);
    run->purpose = get_purpose(g);
    run->flags = get_flags(g, run_flag_names, RUN_FLAGS, UINT32_MAX);
    if (faultload_parse(r->names, r->fl, get_text(g), &run->faultload, &inner))
        get_bad(g);
    run->verdict.pass = get_int(g, 0, 1);
    run->verdict.status = get_outcome(g);
    run->verdict.why = get_why(r, g, keep);
    run->verdict.detail = get_null(g) ? NULL : get_copy(g, text);
    run->event = get_null(g) ? NULL : get_copy(g, text);
    run->body = slice_copy(text, get_blob(g, RUN_BODY_MAX));
    run->wall_ns = get_int(g, INT64_MIN, INT64_MAX);
    run->took_ns = get_int(g, INT64_MIN, INT64_MAX);
    rest->calls = (uint32_t)get_int(g, 1, RUN_CALLS_MAX);
    rest->sum = g->sum;
    rest->all = get_int(g, INT64_MIN, INT64_MAX);
}

int last_run(struct store *s, uint64_t campaign, uint64_t *number, struct err *e)
{
    struct get g;
    struct put p = put_into(s, SQL_RUN_LAST, 0);
    *number = 0;
    put_int(&p, (int64_t)campaign);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found;
    *number = (uint64_t)get_int(&g, 1, INT64_MAX - 1);
    get_done(&g);
    return g.bad ? store_damaged(s, e, "the last run: %s", g.bad) : 0;
}

/* Sums show what was written, not that it makes sense: whoever edits a row can sum it up too. */
static int check_run(struct reader *r, const struct run *run, struct err *e)
{
    uint32_t call;
    const char *flaw = run_flaw(r->names, run, &call);
    unsigned long long number = run->number;
    if (!flaw)
        return 0;
    return call == CALL_NONE
               ? store_damaged(r->store, e, "run %llu: %s", number, flaw)
               : store_damaged(r->store, e, "run %llu, call %u: %s", number, (unsigned)call, flaw);
}

/* The first run with at least this number: 1, or 0 when there is none. */
static int read_run(struct reader *r, uint64_t number, struct arena *text, struct arena *keep,
                    struct run *run, uint64_t *previous, struct err *e)
{
    struct get g;
    struct run_rest rest;
    uint64_t sum = 0;
    struct put p = put_into(r->store, SQL_RUN_GET, 0);
    put_int(&p, (int64_t)r->campaign);
    put_int(&p, (int64_t)number);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found;
    get_run(r, &g, text, keep, run, &rest);
    get_done(&g);
    unsigned long long shown = run->number;
    if (g.bad)
        return store_damaged(r->store, e, "run %llu: %s", shown, g.bad);
    if (read_calls(r, text, run, &sum, e))
        return -1;
    if (run->trace.calls.n != rest.calls)
        return store_damaged(r->store, e, "run %llu has %u calls, not %u", shown,
                             (unsigned)run->trace.calls.n, (unsigned)rest.calls);
    if (check_run(r, run, e))
        return -1;
    if (hash_mix(rest.sum, sum) != (uint64_t)rest.all)
        return store_damaged(r->store, e, "run %llu: sum", shown);
    *previous = rest.previous;
    return 1;
}

/* In a transaction, so that the run and its calls are of one moment. */
static int read_alone(struct reader *r, uint64_t number, struct arena *keep, struct run *run,
                      struct err *e)
{
    uint64_t previous;
    if (store_begin_read(r->store, e))
        return -1;
    int found = read_run(r, number, keep, keep, run, &previous, e);
    return store_end(r->store, found < 0 ? -1 : 0, e) ? -1 : found;
}

/* The run after r->last, or the end; both must be where they are said to be. */
static int read_following(struct reader *r, struct arena *text, struct arena *keep, struct run *run,
                          struct err *e)
{
    uint64_t previous = 0;
    if (store_begin_read(r->store, e))
        return -1;
    int found = read_run(r, r->last + 1, text, keep, run, &previous, e);
    int result = found < 0 ? -1 : 0;
    if (found == 0)
        result = last_run(r->store, r->campaign, &previous, e);
    if (result == 0 && previous != r->last)
        result = store_damaged(r->store, e, "what follows run %llu is missing",
                               (unsigned long long)r->last);
    return store_end(r->store, result, e) ? -1 : found;
}

int store_each_run(struct store *s, uint64_t campaign, struct names *names, struct faultloads *fl,
                   struct arena *keep, int (*each)(void *ctx, const struct run *run, struct err *e),
                   void *ctx, struct err *e)
{
    struct reader r = {.store = s, .campaign = campaign, .names = names, .fl = fl};
    struct arena text = {0};
    struct run run = {0};
    int result = 0;
    for (; result == 0; r.last = run.number) {
        run = (struct run){.trace = run.trace};
        run.trace.calls.n = 0;
        int found = read_following(&r, &text, keep, &run, e);
        if (found <= 0) {
            result = found;
            break;
        }
        result = each(ctx, &run, e);
        arena_reset(&text);
    }
    vec_deinit(&run.trace.calls);
    arena_deinit(&text);
    reader_deinit(&r);
    return result;
}

int store_run(struct store *s, uint64_t campaign, uint64_t number, struct names *names,
              struct faultloads *fl, struct arena *keep, struct run *out, struct err *e)
{
    struct reader r = {.store = s, .campaign = campaign, .names = names, .fl = fl};
    *out = (struct run){0};
    int found = number < 1 || number >= INT64_MAX ? 0 : read_alone(&r, number, keep, out, e);
    reader_deinit(&r);
    bool there = found > 0 && out->number == number;
    if (!there)
        vec_deinit(&out->trace.calls);
    return found < 0 ? -1 : !there;
}
