/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs, written and read.
 *
 * 1. A run is added in one transaction: its points that are new, its calls, then the run itself.
 * 2. What cannot be read back is not written: it is refused here, where its maker can be told.
 * 3. A point that was added in this process costs a few lookups in memory, not a statement.
 * 4. A run is read whole, in a transaction of its own, before anybody else sees it: a callback may
 *    use the store, and a long look at it does not keep the writer's log from being emptied.
 * 5. Every value is checked for what it may be, the sum of all for being what was written, and the
 *    run as a whole for being one (run_flaw). Nobody behind this file checks any of that again. */
#include "base/hash.h"
#include "base/index.h"
#include "store/store_int.h"

/* The number of the last run of a campaign; 0 when there is none. */
static int last_run(struct store *s, uint64_t campaign, uint64_t *number, struct err *e)
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

/* ---- texts that are written ---- */

/* One word per bit; bits without a word are numbers. */
static void flags_print(uint32_t flags, const char *const *words, uint32_t n, struct buf *out)
{
    for (uint32_t bit = 0; flags; bit++, flags >>= 1) {
        if (!(flags & 1))
            continue;
        if (out->n)
            buf_addc(out, ' ');
        if (bit < n)
            buf_adds(out, words[bit]);
        else
            buf_addf(out, "%u", 1u << bit);
    }
}

int faultload_text(struct store *s, const struct names *names, const struct faultloads *fl,
                   faultload f, slice *out, struct err *e)
{
    buf_clear(&s->text);
    faultload_print(names, fl, f, &s->text);
    *out = buf_slice(&s->text);
    return s->text.full ? store_refused(s, e, "a faultload of more than %d bytes cannot be stored",
                                        STORE_TEXT_MAX)
                        : 0;
}

enum word { WORD_MODE, WORD_OUTCOME, WORD_CALL_FLAGS, WORD_RUN_FLAGS };

/* The text of a number. It stays as long as the store, and is made once: there are few. */
static slice word_of(struct store *s, enum word kind, uint32_t number)
{
    uint64_t key = (uint64_t)kind << 32 | number;
    const uint32_t *known = map_get(&s->words, key);
    if (known)
        return names_text(&s->names, *known);
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    switch (kind) {
    case WORD_MODE: mode_print(number, &text); break;
    case WORD_OUTCOME: outcome_print(number, &text); break;
    case WORD_CALL_FLAGS: flags_print(number, call_flag_names, CALL_FLAGS, &text); break;
    case WORD_RUN_FLAGS: flags_print(number, run_flag_names, RUN_FLAGS, &text); break;
    }
    sym word = names_sym(&s->names, buf_slice(&text));
    buf_deinit(&text);
    map_set(&s->words, key, word);
    return names_text(&s->names, word);
}

/* ---- points that are written ---- */

/* The same path in our own names, given that `above` (a uid of `names` or UID_NONE) is own_above.
 */
static uid own_uid(struct store *s, const struct names *names, uid u, uid above, uid own_above)
{
    s->way.n = 0;
    for (; u != above && u != UID_NONE; u = uid_parent(names, u))
        vec_push(&s->way, u);
    uid own = u == UID_NONE ? UID_NONE : own_above;
    while (s->way.n > 0) {
        struct element element = *uid_element(names, s->way.at[--s->way.n]);
        element.service = names_sym(&s->names, names_text(names, element.service));
        element.interface = names_sym(&s->names, names_text(names, element.interface));
        own = names_uid(&s->names, own, names_element(&s->names, element));
    }
    return own;
}

/* The row of a point, made when it is not there yet. */
static int find_point(struct store *s, uint64_t campaign, int64_t parent, uid own, int64_t *id,
                      struct err *e)
{
    struct get g;
    struct element again;
    struct err inner = {0};
    buf_clear(&s->text);
    element_print(&s->names, uid_element(&s->names, own), &s->text);
    slice text = buf_slice(&s->text), rest = text, more;
    bool same = !s->text.full && element_parse(&s->names, &rest, &again, &inner) == 0 &&
                !slice_word(&rest, &more) &&
                names_element(&s->names, again) == s->names.uids.at[own].element;
    if (!same)
        return store_refused(s, e,
                             "the call \"%.*s\" cannot be stored, because its name would not be "
                             "read back unchanged; give the service a name of one word",
                             (int)(text.n < 200 ? text.n : 200), text.p);
    struct put find = put_into(s, SQL_POINT_FIND, 0);
    put_int(&find, (int64_t)campaign);
    put_int(&find, parent);
    put_text(&find, text);
    int found = get_first(&find, &g, e);
    if (found < 0)
        return -1;
    if (found) {
        *id = get_int(&g, 1, UINT32_MAX);
        get_done(&g);
        return g.bad ? store_damaged(s, e, "point: %s", g.bad) : 0;
    }
    struct put add = put_into(s, SQL_POINT_ADD, 0);
    put_int(&add, (int64_t)campaign);
    put_int(&add, parent);
    put_text(&add, text);
    put_sum(&add);
    if (put_done(&add, e))
        return -1;
    *id = sqlite3_last_insert_rowid(s->db);
    return *id <= UINT32_MAX ? 0 : store_refused(s, e, "it has seen too many points");
}

/* The id of a point's row, 0 for none; the rows above it are made first. */
static int point_id(struct store *s, uint64_t campaign, uid own, int64_t *id, struct err *e)
{
    const uint32_t *known = NULL;
    s->way.n = 0;
    for (; own != UID_NONE; own = uid_parent(&s->names, own)) {
        known = map_get(&s->points, campaign << 32 | own);
        if (known)
            break;
        vec_push(&s->way, own);
    }
    *id = known ? *known : 0;
    while (s->way.n > 0) {
        own = s->way.at[--s->way.n];
        if (find_point(s, campaign, *id, own, id, e))
            return -1;
        map_set(&s->points, campaign << 32 | own, (uint32_t)*id);
    }
    return 0;
}

/* ---- adding ---- */

/* What adding one run needs. */
struct adding {
    struct store *store;
    uint64_t campaign;
    const struct names *names;
    const struct run *run;
    uint64_t sum; /* of its calls */
};

/* 0: none. */
static void put_id(struct put *p, int64_t id)
{
    if (id)
        put_int(p, id);
    else
        put_null(p);
}

static int add_call(struct adding *a, uint32_t i, struct err *e)
{
    struct store *s = a->store;
    const struct call *calls = a->run->trace.calls.at, *c = &calls[i];
    bool is_root = c->parent == CALL_NONE;
    uid above = is_root ? UID_NONE : calls[c->parent].uid;
    uid own_above = is_root ? UID_NONE : s->own.at[c->parent];
    uid own = own_uid(s, a->names, c->uid, above, own_above);
    int64_t point, fault_point;
    vec_push(&s->own, own);
    if (point_id(s, a->campaign, own, &point, e))
        return -1;
    fault_point = point;
    if (c->fault_point != c->uid) {
        own = own_uid(s, a->names, c->fault_point, above, own_above);
        if (point_id(s, a->campaign, own, &fault_point, e))
            return -1;
    }
    struct put p = put_into(s, SQL_CALL_ADD, a->sum);
    put_int(&p, (int64_t)a->campaign);
    put_int(&p, (int64_t)a->run->number);
    put_int(&p, i);
    if (is_root)
        put_null(&p);
    else
        put_int(&p, c->parent);
    put_id(&p, point);
    if (c->mode == MODE_NONE)
        put_null(&p);
    else
        put_text(&p, word_of(s, WORD_MODE, c->mode));
    put_id(&p, fault_point);
    put_text(&p, word_of(s, WORD_OUTCOME, c->seen));
    put_int(&p, c->handled);
    put_text(&p, word_of(s, WORD_OUTCOME, c->reply));
    put_text(&p, word_of(s, WORD_CALL_FLAGS, c->flags));
    put_int(&p, c->start_ns);
    put_int(&p, c->end_ns);
    put_later(&p, c->request);
    put_later(&p, c->key);
    put_blob_later(&p, c->answer ? &a->run->answers[c->answer - 1] : NULL);
    a->sum = p.sum;
    return put_done(&p, e);
}

static int add_run(struct adding *a, const struct faultloads *fl, struct err *e)
{
    struct store *s = a->store;
    const struct run *run = a->run;
    slice faults;
    s->own.n = 0;
    if (s->last_in != a->campaign && last_run(s, a->campaign, &s->last, e))
        return -1;
    s->last_in = a->campaign;
    if (run->number <= s->last)
        return store_refused(s, e, "run %llu cannot be added: run %llu is already there",
                             (unsigned long long)run->number, (unsigned long long)s->last);
    for (uint32_t i = 0; i < run->trace.calls.n; i++)
        if (add_call(a, i, e))
            return -1;
    if (faultload_text(s, a->names, fl, run->faultload, &faults, e))
        return -1;
    struct put p = put_into(s, SQL_RUN_ADD, 0);
    put_int(&p, (int64_t)a->campaign);
    put_int(&p, (int64_t)run->number);
    put_int(&p, (int64_t)s->last);
    put_text(&p, slice_of(run_purpose_names[run->purpose]));
    put_text(&p, word_of(s, WORD_RUN_FLAGS, run->flags));
    put_text(&p, faults);
    put_int(&p, run->verdict.pass);
    put_text(&p, word_of(s, WORD_OUTCOME, run->verdict.status));
    put_text(&p, slice_of(run->verdict.why ? run->verdict.why : ""));
    put_text_or_null(&p, run->verdict.detail);
    put_text_or_null(&p, run->event);
    put_blob(&p, run->body);
    put_int(&p, run->wall_ns);
    put_int(&p, run->took_ns);
    put_int(&p, run->trace.calls.n);
    put_int(&p, (int64_t)hash_mix(p.sum, a->sum));
    s->last = run->number;
    return put_done(&p, e);
}

static int check_writable(struct store *s, const struct names *names, const struct run *run,
                          struct err *e)
{
    const char *texts[] = {run->verdict.why, run->verdict.detail, run->event};
    uint32_t call;
    const char *flaw = run_flaw(names, run, &call);
    if (flaw && call == CALL_NONE)
        return store_refused(s, e, "run %llu cannot be stored: its %s is out of range",
                             (unsigned long long)run->number, flaw);
    if (flaw)
        return store_refused(s, e,
                             "run %llu cannot be stored: in its call %u the %s is out of range",
                             (unsigned long long)run->number, (unsigned)call, flaw);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && strnlen(texts[i], STORE_TEXT_MAX + 1) > STORE_TEXT_MAX)
            return store_refused(s, e, "a text of run %llu has more than %d bytes",
                                 (unsigned long long)run->number, STORE_TEXT_MAX);
    return 0;
}

int store_add(struct store *s, uint64_t campaign, const struct names *names,
              const struct faultloads *fl, const struct run *run, struct err *e)
{
    struct adding a = {.store = s, .campaign = campaign, .names = names, .run = run};
    if (campaign < 1 || campaign > UINT32_MAX)
        return store_refused(s, e, "there is no campaign %llu in it", (unsigned long long)campaign);
    if (check_writable(s, names, run, e) || store_begin_write(s, e))
        return -1;
    return store_end(s, add_run(&a, fl, e), e);
}

/* ---- reading ---- */

struct reader {
    struct store *store;
    uint64_t campaign;
    struct names *names;
    struct faultloads *fl;
    uint64_t last;     /* the run that was read before; 0: none */
    bool jumped;       /* it was not read: the next one need not follow it */
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

/* One word per bit, or numbers. */
static uint32_t get_flags(struct get *g, const char *const *words, uint32_t n, uint32_t most)
{
    uint32_t flags = 0;
    slice text = get_text(g), word;
    while (slice_word(&text, &word)) {
        uint64_t bit = 0;
        for (uint32_t i = 0; i < n; i++)
            if (slice_is(word, words[i]))
                bit = (uint64_t)1 << i;
        if (!bit && !slice_to_u64(word, UINT32_MAX, &bit))
            get_bad(g);
        flags |= (uint32_t)bit;
    }
    if (flags > most)
        get_bad(g);
    return flags;
}

static outcome get_outcome(struct get *g)
{
    outcome o;
    if (outcome_read(get_text(g), &o))
        return o;
    get_bad(g);
    return OUTCOME(OUT_NONE, 0);
}

static const char *get_copy(struct get *g, struct arena *a)
{
    slice text = get_text(g);
    return arena_copy(a, text.p, text.n);
}

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

/* The calls of a run into run->trace, and their sum. */
static int read_calls(struct reader *r, struct arena *text, struct run *run, uint64_t *sum,
                      struct err *e)
{
    struct get g;
    struct err inner = {0};
    struct put p = put_into(r->store, SQL_CALL_GET, 0);
    put_int(&p, (int64_t)r->campaign);
    put_int(&p, (int64_t)run->number);
    int more = get_first(&p, &g, e);
    while (more > 0) {
        struct call c = {0};
        uint32_t n = run->trace.calls.n;
        slice answer;
        if (n == RUN_CALLS_MAX)
            get_bad(&g);
        get_int(&g, 1, UINT32_MAX);
        get_int(&g, 1, INT64_MAX - 1);
        get_int(&g, n, n);
        c.parent = get_null(&g) ? CALL_NONE : (uint32_t)get_int(&g, 0, UINT32_MAX - 1);
        int64_t point = get_null(&g) ? 0 : get_int(&g, 1, UINT32_MAX);
        if (!get_null(&g) && mode_parse(get_text(&g), &c.mode, &inner))
            get_bad(&g);
        int64_t fault_point = get_null(&g) ? 0 : get_int(&g, 1, UINT32_MAX);
        c.seen = get_outcome(&g);
        c.handled = get_int(&g, 0, 1);
        c.reply = get_outcome(&g);
        c.flags = (uint8_t)get_flags(&g, call_flag_names, CALL_FLAGS, UINT8_MAX);
        c.start_ns = get_int(&g, INT64_MIN, INT64_MAX);
        c.end_ns = get_int(&g, INT64_MIN, INT64_MAX);
        c.request = get_later(&g);
        c.key = get_later(&g);
        /* at most as many answers are read as are ever written */
        if (get_blob_later(&g, RUN_BODY_MAX, &answer) && run->n_answers < RUN_ANSWERS_MAX) {
            if (!run->answers)
                run->answers = arena_alloc(text, RUN_ANSWERS_MAX * sizeof *run->answers);
            run->answers[run->n_answers++] = slice_copy(text, answer);
            c.answer = run->n_answers;
        }
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

/* The first run with at least this number: 1, or 0 when there is none. */
static int read_run(struct reader *r, uint64_t number, struct arena *text, struct arena *keep,
                    struct run *run, uint64_t *previous, struct err *e)
{
    struct get g;
    struct err inner = {0};
    struct put p = put_into(r->store, SQL_RUN_GET, 0);
    put_int(&p, (int64_t)r->campaign);
    put_int(&p, (int64_t)number);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found;
    get_int(&g, 1, UINT32_MAX);
    run->number = (uint64_t)get_int(&g, 1, INT64_MAX - 1);
    *previous = (uint64_t)get_int(&g, 0, (int64_t)run->number - 1);
    slice purpose = get_text(&g);
    for (run->purpose = 0; run->purpose < RUN_PURPOSES; run->purpose++)
        if (slice_is(purpose, run_purpose_names[run->purpose]))
            break;
    if (run->purpose == RUN_PURPOSES)
        get_bad(&g);
    run->flags = get_flags(&g, run_flag_names, RUN_FLAGS, UINT32_MAX);
    if (faultload_parse(r->names, r->fl, get_text(&g), &run->faultload, &inner))
        get_bad(&g);
    run->verdict.pass = get_int(&g, 0, 1);
    run->verdict.status = get_outcome(&g);
    slice why = get_text(&g);
    why.n = slice_find(why, 0);
    run->verdict.why = intern_text(&r->whys, intern_put_in(&r->whys, keep, why)).p;
    run->verdict.detail = get_null(&g) ? NULL : get_copy(&g, text);
    run->event = get_null(&g) ? NULL : get_copy(&g, text);
    run->body = slice_copy(text, get_blob(&g, RUN_BODY_MAX));
    run->wall_ns = get_int(&g, INT64_MIN, INT64_MAX);
    run->took_ns = get_int(&g, INT64_MIN, INT64_MAX);
    uint32_t n_calls = (uint32_t)get_int(&g, 1, RUN_CALLS_MAX), call;
    uint64_t sum = g.sum, sum_of_calls = 0;
    uint64_t written = (uint64_t)get_int(&g, INT64_MIN, INT64_MAX); /* sum of row and calls */
    get_done(&g);
    unsigned long long shown = run->number;
    if (g.bad)
        return store_damaged(r->store, e, "run %llu: %s", shown, g.bad);
    if (read_calls(r, text, run, &sum_of_calls, e))
        return -1;
    if (run->trace.calls.n != n_calls)
        return store_damaged(r->store, e, "run %llu has %u calls, not %u", shown,
                             (unsigned)run->trace.calls.n, (unsigned)n_calls);
    /* sums show what was written, not that it makes sense: who edits a row can sum it up too */
    const char *flaw = run_flaw(r->names, run, &call);
    if (flaw && call != CALL_NONE)
        return store_damaged(r->store, e, "run %llu, call %u: %s", shown, (unsigned)call, flaw);
    if (flaw)
        return store_damaged(r->store, e, "run %llu: %s", shown, flaw);
    if (hash_mix(sum, sum_of_calls) != written)
        return store_damaged(r->store, e, "run %llu: sum", shown);
    return 1;
}

/* The run after r->last, or the end; both must be where they are said to be. In a transaction, so
 * that the run and its calls are of one moment. */
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
    if (result == 0 && previous != r->last && !r->jumped)
        result = store_damaged(r->store, e, "what follows run %llu is missing",
                               (unsigned long long)r->last);
    r->jumped = false;
    return store_end(r->store, result, e) ? -1 : found;
}

int store_runs_from(struct store *s, uint64_t campaign, uint64_t number, struct names *names,
                    struct faultloads *fl, struct arena *keep,
                    int (*each)(void *ctx, const struct run *run, struct err *e), void *ctx,
                    struct err *e)
{
    struct reader r = {.store = s,
                       .campaign = campaign,
                       .names = names,
                       .fl = fl,
                       .last = number ? number - 1 : 0,
                       .jumped = number > 1};
    struct arena text = {0};
    struct run run = {0};
    int result = 0;
    if (number >= INT64_MAX)
        return 0; /* no run has such a number */
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

int store_each_run(struct store *s, uint64_t campaign, struct names *names, struct faultloads *fl,
                   struct arena *keep, int (*each)(void *ctx, const struct run *run, struct err *e),
                   void *ctx, struct err *e)
{
    return store_runs_from(s, campaign, 1, names, fl, keep, each, ctx, e);
}

enum status store_run(struct store *s, uint64_t campaign, uint64_t number, struct names *names,
                      struct faultloads *fl, struct arena *keep, struct run *out, struct err *e)
{
    struct reader r = {.store = s, .campaign = campaign, .names = names, .fl = fl};
    uint64_t previous;
    int found = 0;
    *out = (struct run){0};
    if (number >= 1 && number < INT64_MAX)
        found = store_begin_read(s, e) ? -1 : 1;
    if (found > 0) {
        found = read_run(&r, number, keep, keep, out, &previous, e);
        found = store_end(s, found < 0 ? -1 : 0, e) ? -1 : found;
    }
    reader_deinit(&r);
    bool there = found > 0 && out->number == number;
    if (!there)
        vec_deinit(&out->trace.calls);
    return found < 0 ? STATUS_FAILED : there ? STATUS_OK : STATUS_NONE;
}
