/* SPDX-License-Identifier: Apache-2.0
 *
 * Adding runs.
 *
 * 1. A run is one transaction: its points that are new, its calls, then the run itself.
 * 2. What cannot be read back is not written: it is refused here, where its maker can be told.
 * 3. A point that was added in this process costs a few lookups in memory, not a statement. */
#include "base/hash.h"
#include "store/store_int.h"

/* ---- texts ---- */

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

static void word_print(enum word kind, uint32_t number, struct buf *out)
{
    switch (kind) {
    case WORD_MODE: mode_print(number, out); break;
    case WORD_OUTCOME: outcome_print(number, out); break;
    case WORD_CALL_FLAGS: flags_print(number, call_flag_names, CALL_FLAGS, out); break;
    case WORD_RUN_FLAGS: flags_print(number, run_flag_names, RUN_FLAGS, out); break;
    }
}

/* The text of a number. It stays as long as the store, and is made once: there are few. */
static slice word_of(struct store *s, enum word kind, uint32_t number)
{
    uint64_t key = (uint64_t)kind << 32 | number;
    const uint32_t *known = map_get(&s->words, key);
    if (known)
        return names_text(&s->names, *known);
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    word_print(kind, number, &text);
    sym word = names_sym(&s->names, buf_slice(&text));
    buf_deinit(&text);
    map_set(&s->words, key, word);
    return names_text(&s->names, word);
}

/* ---- points ---- */

/* The same element in our own names. */
static uint32_t own_element(struct store *s, const struct names *names, uid u)
{
    struct element element = *uid_element(names, u);
    element.service = names_sym(&s->names, names_text(names, element.service));
    element.interface = names_sym(&s->names, names_text(names, element.interface));
    return names_element(&s->names, element);
}

/* The same path in our own names, given that `above` (a uid of `names` or UID_NONE) is own_above.
 */
static uid own_uid(struct store *s, const struct names *names, uid u, uid above, uid own_above)
{
    s->way.n = 0;
    for (; u != above && u != UID_NONE; u = uid_parent(names, u))
        vec_push(&s->way, u);
    uid own = u == UID_NONE ? UID_NONE : own_above;
    while (s->way.n > 0)
        own = names_uid(&s->names, own, own_element(s, names, s->way.at[--s->way.n]));
    return own;
}

static uint64_t point_key(uint64_t campaign, uid own)
{
    return campaign << 32 | own;
}

/* Would the element's text be read as the same element? */
static int check_element(struct store *s, uid own, struct err *e)
{
    struct element again;
    struct err inner = {0};
    slice text = buf_slice(&s->text), rest = text, more;
    if (!s->text.full && element_parse(&s->names, &rest, &again, &inner) == 0 &&
        !slice_word(&rest, &more) &&
        names_element(&s->names, again) == s->names.uids.at[own].element)
        return 0;
    return store_refused(s, e,
                         "the call \"%.*s\" cannot be stored, because its name would not be read "
                         "back as the same; give the service a name of one word",
                         (int)(text.n < 200 ? text.n : 200), text.p);
}

/* The row of a point, made when it is not there yet. */
static int find_point(struct store *s, uint64_t campaign, int64_t parent, uid own, int64_t *id,
                      struct err *e)
{
    struct get g;
    buf_clear(&s->text);
    element_print(&s->names, uid_element(&s->names, own), &s->text);
    if (check_element(s, own, e))
        return -1;
    struct put find = put_into(s, SQL_POINT_FIND, 0);
    put_int(&find, (int64_t)campaign);
    put_int(&find, parent);
    put_text(&find, buf_slice(&s->text));
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
    put_text(&add, buf_slice(&s->text));
    put_sum(&add);
    if (put_done(&add, e))
        return -1;
    *id = sqlite3_last_insert_rowid(s->db);
    return *id <= UINT32_MAX ? 0 : store_refused(s, e, "it has seen too many points");
}

/* The id of a point's row; the rows above it are made first. */
static int point_id(struct store *s, uint64_t campaign, uid own, int64_t *id, struct err *e)
{
    const uint32_t *known = NULL;
    s->way.n = 0;
    for (; own != UID_NONE; own = uid_parent(&s->names, own)) {
        known = map_get(&s->points, point_key(campaign, own));
        if (known)
            break;
        vec_push(&s->way, own);
    }
    *id = known ? *known : 0;
    while (s->way.n > 0) {
        own = s->way.at[--s->way.n];
        if (find_point(s, campaign, *id, own, id, e))
            return -1;
        map_set(&s->points, point_key(campaign, own), (uint32_t)*id);
    }
    return 0;
}

/* ---- calls ---- */

/* What adding one run needs. */
struct adding {
    struct store *store;
    uint64_t campaign;
    const struct names *names;
    const struct run *run;
    uint64_t sum; /* of its calls */
};

/* The rows of a call's own point and of its fault's; 0: none. */
static int call_points(struct adding *a, uint32_t i, int64_t *point, int64_t *fault_point,
                       struct err *e)
{
    struct store *s = a->store;
    const struct call *calls = a->run->trace.calls.at, *c = &calls[i];
    uid above = UID_NONE, own_above = UID_NONE;
    if (c->parent != CALL_NONE) {
        above = calls[c->parent].uid;
        own_above = s->own.at[c->parent];
    }
    uid own = own_uid(s, a->names, c->uid, above, own_above);
    vec_push(&s->own, own);
    if (point_id(s, a->campaign, own, point, e))
        return -1;
    *fault_point = *point;
    if (c->fault_point == c->uid)
        return 0;
    own = own_uid(s, a->names, c->fault_point, above, own_above);
    return point_id(s, a->campaign, own, fault_point, e);
}

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
    const struct call *c = &a->run->trace.calls.at[i];
    int64_t point, fault_point;
    if (call_points(a, i, &point, &fault_point, e))
        return -1;
    struct put p = put_into(s, SQL_CALL_ADD, a->sum);
    put_int(&p, (int64_t)a->campaign);
    put_int(&p, (int64_t)a->run->number);
    put_int(&p, i);
    if (c->parent == CALL_NONE)
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

/* ---- runs ---- */

static int check_run(struct store *s, const struct names *names, const struct run *run,
                     struct err *e)
{
    const char *texts[] = {run->verdict.why, run->verdict.detail, run->event};
    uint32_t call;
    const char *flaw = run_flaw(names, run, &call);
    if (flaw && call == CALL_NONE)
        return store_refused(s, e, "run %llu cannot be stored: its %s is beyond all bounds",
                             (unsigned long long)run->number, flaw);
    if (flaw)
        return store_refused(
            s, e, "run %llu cannot be stored: of its call %u the %s is beyond all bounds",
            (unsigned long long)run->number, (unsigned)call, flaw);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && strnlen(texts[i], STORE_TEXT_MAX + 1) > STORE_TEXT_MAX)
            return store_refused(s, e, "a text of run %llu has more than %d bytes",
                                 (unsigned long long)run->number, STORE_TEXT_MAX);
    return 0;
}

/* Knows the run before this one, which must be an earlier one. */
static int find_last(struct adding *a, struct err *e)
{
    struct store *s = a->store;
    if (s->last_in != a->campaign && last_run(s, a->campaign, &s->last, e))
        return -1;
    s->last_in = a->campaign;
    if (a->run->number > s->last)
        return 0;
    return store_refused(s, e, "run %llu cannot be added: run %llu is already there",
                         (unsigned long long)a->run->number, (unsigned long long)s->last);
}

static int add_row(struct adding *a, slice faults, struct err *e)
{
    struct store *s = a->store;
    const struct run *run = a->run;
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

static int add_run(struct adding *a, const struct faultloads *fl, struct err *e)
{
    slice faults;
    a->store->own.n = 0;
    if (find_last(a, e))
        return -1;
    for (uint32_t i = 0; i < a->run->trace.calls.n; i++)
        if (add_call(a, i, e))
            return -1;
    if (faultload_text(a->store, a->names, fl, a->run->faultload, &faults, e))
        return -1;
    return add_row(a, faults, e);
}

int store_add(struct store *s, uint64_t campaign, const struct names *names,
              const struct faultloads *fl, const struct run *run, struct err *e)
{
    struct adding a = {.store = s, .campaign = campaign, .names = names, .run = run};
    if (campaign < 1 || campaign > UINT32_MAX)
        return store_refused(s, e, "there is no campaign %llu in it", (unsigned long long)campaign);
    if (check_run(s, names, run, e) || store_begin_write(s, e))
        return -1;
    return store_end(s, add_run(&a, fl, e), e);
}
