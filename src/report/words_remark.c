/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for what oracles say. */
#include "report/words.h"

/* Below that, when something happened is nothing to wonder about. */
enum { SPAN_TOLD_NS = 100 * 1000 * 1000 };

struct finding words_as_finding(const struct remark *r)
{
    return (struct finding){.faultload = r->faultload, .number = r->number ? r->number - 1 : 0};
}

void words_remark(const struct remark *r, struct buf *out)
{
    buf_addf(out, "%s: %s", r->oracle, r->why);
}

void words_remark_when(const struct summary *s, const struct remark *r, const struct trace *plain,
                       const struct trace *seen, struct buf *out)
{
    struct finding as = words_as_finding(r);
    words_finding_runs(s, &as, plain, seen, out);
}

/* Do times matter: did something take long, or was something waited for? */
static bool times_matter(const struct remark *r)
{
    int64_t first = INT64_MAX, last = 0;
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        const struct evidence *x = &r->evidence[i];
        if (x->end_ns <= x->start_ns)
            continue; /* not known */
        first = x->start_ns < first ? x->start_ns : first;
        last = x->end_ns > last ? x->end_ns : last;
    }
    return last > first && last - first >= SPAN_TOLD_NS;
}

static void add_time(int64_t ns, struct buf *out)
{
    buf_add_ns(out, ns / 1000000 * 1000000);
}

void words_evidence(const struct summary *s, const struct remark *r, uint32_t i, struct buf *out)
{
    const struct evidence *x = &r->evidence[i];
    buf_addf(out, "%s: ", x->role);
    words_call(s->names, x->call, out);
    if (x->seen) {
        buf_adds(out, "  ");
        outcome_print(x->seen, out);
    }
    if (x->mode != MODE_NONE) {
        buf_adds(out, "  <- injected ");
        mode_print(x->mode, out);
    }
    if (x->end_ns > x->start_ns && times_matter(r)) {
        buf_adds(out, "  (from ");
        add_time(x->start_ns, out);
        buf_adds(out, " to ");
        add_time(x->end_ns, out);
        buf_addc(out, ')');
    }
}

void words_remark_replay(const struct summary *s, const struct remark *r, struct buf *out)
{
    struct finding as = words_as_finding(r);
    if (s->ids)
        words_replay_faultload(s, r->faultload, out);
    else
        words_replay(s, &as, out);
}

void words_about(const struct remark *r, struct buf *out)
{
    buf_addf(out, "outfox oracles %s", r->oracle);
}

uint64_t words_warnings(const struct summary *s, struct buf *out)
{
    uint64_t n = summary_warnings(s);
    if (n)
        buf_addf(out, "%llu %s", (unsigned long long)n, plural(n, "warning", "warnings"));
    return n;
}
