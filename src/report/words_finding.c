/* SPDX-License-Identifier: Apache-2.0
 *
 * The faults of a finding in words: call by call, all tries of a call together, with all modes in
 * which it fails. Where nobody has sorted them so (an oracle's remark), what is a try is read from
 * a run without faults. */
#include "report/words.h"

enum { CALLS_TOLD = 64, RETRIES_TOLD = 64 };

static bool plain_status(mode m)
{
    return mode_kind(m) == MODE_STATUS && !mode_lost(m);
}

/* "answers 500, 502 or 503", "resets the connection or never answers": those of its modes after
 * which it is tried again in vain, or the others. Returns how many there are. */
static uint32_t words_modes(const struct finding_call *c, bool every_try, struct buf *out)
{
    mode modes[FINDING_MODES];
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n_modes; k++)
        if (c->modes[k].every_try == every_try)
            modes[n++] = c->modes[k].mode;
    for (uint32_t k = 0; k < n; k++) {
        if (k)
            buf_adds(out, k + 1 < n ? ", " : " or ");
        if (k && plain_status(modes[k]) && plain_status(modes[k - 1]))
            buf_addf(out, "%u", (unsigned)mode_argument(modes[k]));
        else
            words_mode(modes[k], out);
    }
    return n;
}

static void words_retry(uint32_t n, struct buf *out)
{
    static const char *const words[] = {"its retry", "its second retry", "its third retry"};
    if (n >= 1 && n <= sizeof words / sizeof *words)
        buf_adds(out, words[n - 1]);
    else
        buf_addf(out, "its retry %u", (unsigned)n);
}

/* What is told of a finding, and the runs that it can be told from. */
struct telling {
    const struct summary *s;
    const struct finding *finding;
    const struct trace *plain, *seen; /* without faults, with them; NULL: not known */
    bool every;                       /* its calls may fail in every combination of their modes */
    uint32_t n;
    struct finding_call calls[CALLS_TOLD];
};

/* Of two calls, is the second a retry of the first: its next equal sibling, which nothing calls
 * without faults? */
static bool is_retry(const struct telling *t, uid first, uid second)
{
    const struct names *names = t->s->names;
    const struct element *x = uid_element(names, first), *y = uid_element(names, second);
    bool follows = uid_parent(names, first) == uid_parent(names, second) && x->n != N_ANY &&
                   y->n == x->n + 1 && x->service == y->service && x->interface == y->interface &&
                   x->payload == y->payload && x->before == y->before;
    for (uint32_t i = 0; follows && t->plain && i < t->plain->calls.n; i++)
        follows = t->plain->calls.at[i].uid != second;
    return follows && t->plain;
}

/* How often a call was tried in the run that shows it, from this try on. */
static uint32_t count_tries(const struct telling *t, uid u)
{
    uint32_t n = 1;
    for (uint32_t i = 0; t->seen && i < t->seen->calls.n; i++)
        if (is_retry(t, u, t->seen->calls.at[i].uid)) {
            u = t->seen->calls.at[i].uid;
            n++;
            i = 0;
        }
    return n;
}

/* The calls of the faultload, in causal order: its last row is the last to fire. */
static void find_calls(struct telling *t, faultload f)
{
    const struct faultloads *fl = t->s->faultloads;
    if (f == FAULTLOAD_EMPTY || t->n == CALLS_TOLD)
        return;
    struct faultload_row row = fl->rows.at[f];
    find_calls(t, row.rest);
    struct finding_call *last = t->n ? &t->calls[t->n - 1] : NULL;
    if (last && is_retry(t, fl->rows.at[row.rest].last.point, row.last.point)) {
        last->hits++;
        last->same = last->same && last->last == row.last.mode;
        last->last = row.last.mode;
    } else if (t->n < CALLS_TOLD) {
        t->calls[t->n++] = (struct finding_call){.call = row.last.point,
                                                 .last = row.last.mode,
                                                 .hits = 1,
                                                 .tries = count_tries(t, row.last.point),
                                                 .same = true};
    }
}

static bool is_every_try(const struct finding_call *c)
{
    return c->tries > 1 && c->hits == c->tries;
}

static void words_one_mode(const struct telling *t, const struct finding_call *c, struct buf *out)
{
    mode first = faultload_at(t->s->faultloads, t->finding->faultload, c->call);
    if (!c->same) { /* each try: "answers 503, and its retry resets the connection" */
        words_mode(first == MODE_NONE ? c->last : first, out);
        buf_adds(out, ", and ");
        words_retry(c->hits - 1, out);
        buf_addc(out, ' ');
    }
    words_mode(c->last, out);
    if (c->same && is_every_try(c))
        buf_adds(out, " at every try");
    else if (c->same && c->hits > 1)
        buf_addf(out, " at %u %s", (unsigned)c->hits, plural(c->hits, "try", "tries"));
}

/* "answers 503, or resets the connection at every try" */
static void words_all_modes(const struct finding_call *c, struct buf *out)
{
    struct buf more = BUF_INIT(1 << 14);
    uint32_t once = words_modes(c, false, out), more_often = words_modes(c, true, &more);
    if (once && more_often)
        buf_adds(out, ", or ");
    buf_add(out, buf_slice(&more));
    if (more_often)
        buf_adds(out, " at every try");
    if (c->more_modes)
        buf_adds(out, ", or fails in other ways");
    buf_deinit(&more);
}

/* A fault at #* lasts: "answers 503 at every try". */
static void words_finding_call(const struct telling *t, const struct finding_call *c,
                               struct buf *out)
{
    bool lasts = uid_element(t->s->names, c->call)->n == N_ANY;
    struct service_fault how = fault_service(t->s->names, (struct fault){c->call, c->last});
    if (how.row) {
        buf_add(out, names_text(t->s->names, uid_element(t->s->names, c->call)->service));
        buf_addf(out, " is %s", how.row->word);
        return;
    }
    words_call(t->s->names, c->call, out);
    if (lasts)
        out->n -= strlen(" #*");
    buf_addc(out, ' ');
    if (t->every && c->n_modes > 1)
        words_all_modes(c, out);
    else
        words_one_mode(t, c, out);
    if (lasts)
        buf_adds(out, " at every try");
}

/* Of a call that was faulted, or failed because of it: what became of the retry. given_up: the
 * fault was there at every try, so only a success is news. */
static void words_retry_of(const struct telling *t, uid u, bool its, bool given_up, struct buf *out)
{
    for (uint32_t i = 0; i < t->seen->calls.n; i++) {
        const struct call *c = &t->seen->calls.at[i];
        if (c->mode != MODE_NONE || !is_retry(t, u, c->uid) || (given_up && !outcome_ok(c->seen)))
            continue;
        buf_adds(out, ", and ");
        if (its)
            words_retry(uid_element(t->s->names, c->uid)->n, out);
        else
            words_add(out, t->s->names, "the retry of %c", u);
        words_add(out, t->s->names, outcome_ok(c->seen) ? " succeeds" : " ends with %o", c->seen);
    }
}

/* Does this call, whichever try of it, fail at every one? */
static bool is_given_up(const struct telling *t, uid u)
{
    const struct element *e = uid_element(t->s->names, u);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct element *x = uid_element(t->s->names, t->calls[i].call);
        if (x->service == e->service && x->interface == e->interface && is_every_try(&t->calls[i]))
            return true;
    }
    return false;
}

/* ", and its retry succeeds": of each call that fails, and of those above that failed with it. */
static void words_retries(const struct telling *t, struct buf *out)
{
    const struct faultloads *fl = t->s->faultloads;
    bool one = t->n == 1;
    uid told[RETRIES_TOLD] = {0};
    uint32_t n = 0;
    for (faultload f = t->finding->faultload; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest) {
        uid point = fl->rows.at[f].last.point;
        bool given_up = is_given_up(t, point);
        for (uid u = point; u != UID_NONE && n < RETRIES_TOLD; u = uid_parent(t->s->names, u)) {
            uint32_t k = 0;
            while (k < n && told[k] != u)
                k++;
            if (k < n)
                break; /* its callers were told of too */
            told[n++] = u;
            words_retry_of(t, u, one && u == point, given_up, out);
        }
    }
}

void words_finding(const struct summary *s, const struct finding *finding,
                   const struct trace *plain, const struct trace *seen, struct buf *out)
{
    struct telling t = {.s = s, .finding = finding, .plain = plain, .seen = seen};
    uint64_t product = 1;
    /* the calls as they were sorted, or as the faultload has them: of a service as a whole, one */
    bool whole = faultload_of_services(s->names, s->faultloads, finding->faultload);
    for (uint32_t i = 0; i < finding->calls.n && i < CALLS_TOLD && !whole; i++) {
        t.calls[t.n++] = finding->calls.at[i];
        product *= finding->calls.at[i].n_modes;
    }
    t.every = t.n > 0 && product > 0 && finding->combinations == product;
    if (t.n == 0)
        find_calls(&t, finding->faultload);
    if (finding->faultload == FAULTLOAD_EMPTY) {
        buf_adds(out, "nothing fails at all");
        return;
    }
    for (uint32_t i = 0; i < t.n; i++) {
        buf_adds(out, i ? " and " : "");
        words_finding_call(&t, &t.calls[i], out);
    }
    if (plain && seen)
        words_retries(&t, out);
    if (!t.every && finding->n_alike)
        buf_addf(out, ", or in %llu other %s of modes", (unsigned long long)finding->n_alike,
                 plural(finding->n_alike, "combination", "combinations"));
}
