/* SPDX-License-Identifier: Apache-2.0
 *
 * The faults of a finding in words: all modes of a point together, and retries as retries where a
 * run without faults tells that they are. */
#include "report/words.h"

enum { MODES_TOLD = 64, RETRIES_TOLD = 64 };

/* All modes that the finding has at this point, each once. */
static uint32_t modes_at(const struct summary *s, const struct finding *finding, uid point,
                         mode *out, uint32_t max)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i <= finding->alike.n && n < max; i++) {
        faultload f = i ? finding->alike.at[i - 1] : finding->faultload;
        mode m = faultload_at(s->faultloads, f, point);
        uint32_t k = 0;
        while (k < n && out[k] != m)
            k++;
        if (k == n)
            out[n++] = m;
    }
    return n;
}

static bool plain_status(mode m)
{
    return mode_kind(m) == MODE_STATUS && !mode_lost(m);
}

/* "answers 500, 502 or 503", "resets the connection or never answers" */
static void words_modes_at(const struct summary *s, const struct finding *finding, uid point,
                           struct buf *out)
{
    mode modes[MODES_TOLD] = {0};
    uint32_t n = modes_at(s, finding, point, modes, MODES_TOLD);
    for (uint32_t k = 0; k < n; k++) {
        if (k)
            buf_adds(out, k + 1 < n ? ", " : " or ");
        if (k && plain_status(modes[k]) && plain_status(modes[k - 1]))
            buf_addf(out, "%u", (unsigned)mode_argument(modes[k]));
        else
            words_mode(modes[k], out);
    }
}

/* Is b the next equal sibling of a? */
static bool follows(const struct names *names, uid a, uid b)
{
    const struct element *x = uid_element(names, a), *y = uid_element(names, b);
    return uid_parent(names, a) == uid_parent(names, b) && x->n != N_ANY && y->n == x->n + 1 &&
           x->service == y->service && x->interface == y->interface && x->payload == y->payload &&
           x->before == y->before;
}

static const struct call *find_call(const struct trace *trace, uid u)
{
    for (uint32_t i = 0; i < trace->calls.n; i++)
        if (trace->calls.at[i].uid == u)
            return &trace->calls.at[i];
    return NULL;
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
    bool all_modes;
};

/* Of two calls, is the second a retry of the first? Only if nothing calls it without faults. */
static bool is_retry(const struct telling *t, uid first, uid second)
{
    return t->plain && follows(t->s->names, first, second) && !find_call(t->plain, second);
}

static void words_fault_modes(const struct telling *t, struct fault fault, struct buf *out)
{
    if (t->all_modes)
        words_modes_at(t->s, t->finding, fault.point, out);
    else
        words_mode(fault.mode, out);
}

static bool retries_alike(const struct telling *t, struct fault a, struct fault b)
{
    struct buf x = BUF_INIT(1 << 14), y = BUF_INIT(1 << 14);
    words_fault_modes(t, a, &x);
    words_fault_modes(t, b, &y);
    bool alike = slice_eq(buf_slice(&x), buf_slice(&y));
    buf_deinit(&x);
    buf_deinit(&y);
    return alike;
}

/* The faults in causal order: the last row of a faultload is the last to fire. */
static void words_faults(const struct telling *t, faultload f, struct buf *out)
{
    const struct faultload_row *row = &t->s->faultloads->rows.at[f];
    if (row->rest != FAULTLOAD_EMPTY) {
        struct fault before = t->s->faultloads->rows.at[row->rest].last;
        words_faults(t, row->rest, out);
        if (is_retry(t, before.point, row->last.point)) {
            bool alike = retries_alike(t, before, row->last);
            buf_adds(out, alike ? ", and so does " : " and ");
            words_retry(uid_element(t->s->names, row->last.point)->n, out);
            if (!alike) {
                buf_addc(out, ' ');
                words_fault_modes(t, row->last, out);
            }
            return;
        }
        buf_adds(out, " and ");
    }
    words_call(t->s->names, row->last.point, out);
    buf_addc(out, ' ');
    words_fault_modes(t, row->last, out);
}

/* Of a call that was faulted, or failed because of it: what became of the retry. */
static void words_retry_of(const struct telling *t, uid u, bool its, struct buf *out)
{
    for (uint32_t i = 0; i < t->seen->calls.n; i++) {
        const struct call *c = &t->seen->calls.at[i];
        if (c->mode != MODE_NONE || !is_retry(t, u, c->uid))
            continue;
        buf_adds(out, ", and ");
        if (its) {
            words_retry(uid_element(t->s->names, c->uid)->n, out);
        } else {
            buf_adds(out, "the retry of ");
            words_call(t->s->names, u, out);
        }
        buf_adds(out, outcome_ok(c->seen) ? " succeeds" : " ends with ");
        if (!outcome_ok(c->seen))
            outcome_print(c->seen, out);
    }
}

/* ", and its retry succeeds": of each fault, and of the calls above that failed with it. */
static void words_retries(const struct telling *t, struct buf *out)
{
    const struct faultloads *fl = t->s->faultloads;
    bool one = faultload_size(fl, t->finding->faultload) == 1;
    uid told[RETRIES_TOLD] = {0};
    uint32_t n = 0;
    for (faultload f = t->finding->faultload; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest) {
        uid point = fl->rows.at[f].last.point;
        for (uid u = point; u != UID_NONE && n < RETRIES_TOLD; u = uid_parent(t->s->names, u)) {
            uint32_t k = 0;
            while (k < n && told[k] != u)
                k++;
            if (k < n)
                break; /* its callers were told of too */
            told[n++] = u;
            words_retry_of(t, u, one && u == point, out);
        }
    }
}

/* Do the modes of each point fail in every combination? Then they can be told point by point. */
static bool is_product(const struct summary *s, const struct finding *finding)
{
    mode modes[MODES_TOLD] = {0};
    uint64_t product = 1;
    for (faultload f = finding->faultload; f != FAULTLOAD_EMPTY; f = s->faultloads->rows.at[f].rest)
        product *= modes_at(s, finding, s->faultloads->rows.at[f].last.point, modes, MODES_TOLD);
    return finding->alike.n == finding->n_alike && product == finding->n_alike + 1;
}

void words_finding_runs(const struct summary *s, const struct finding *finding,
                        const struct trace *plain, const struct trace *seen, struct buf *out)
{
    struct telling t = {s, finding, plain, seen, is_product(s, finding)};
    if (finding->faultload == FAULTLOAD_EMPTY) {
        buf_adds(out, "nothing fails at all");
        return;
    }
    words_faults(&t, finding->faultload, out);
    if (plain && seen)
        words_retries(&t, out);
    if (!t.all_modes)
        buf_addf(out, ", or in %llu other %s of modes", (unsigned long long)finding->n_alike,
                 finding->n_alike == 1 ? "combination" : "combinations");
}

void words_finding(const struct summary *s, const struct finding *finding, struct buf *out)
{
    words_finding_runs(s, finding, NULL, NULL, out);
}
