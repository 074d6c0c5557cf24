/* SPDX-License-Identifier: Apache-2.0 */
#include "report/requests.h"

#include "report/words.h"

enum { REQUESTS_SHOWN = 30, NAME_COLUMNS = 50 };

static bool is_below(const struct names *names, uid call, uid above)
{
    while (call != UID_NONE && call != above)
        call = uid_parent(names, call);
    return call == above;
}

static bool fails_below(const struct summary *s, faultload f, uid request)
{
    for (; f != FAULTLOAD_EMPTY; f = s->faultloads->rows.at[f].rest)
        if (is_below(s->names, s->faultloads->rows.at[f].last.point, request))
            return true;
    return false;
}

/* What is wrong when calls below the request fail: findings, then those of oracles, by the numbers
 * that cards have. */
static void find_findings(const struct summary *s, struct told_request *r, struct arena *keep)
{
    struct buf id = BUF_INIT(1 << 12);
    uint64_t number = s->findings.n + s->more_findings;
    for (uint32_t i = 0; i < s->findings.n; i++) {
        if (!fails_below(s, s->findings.at[i].faultload, r->call))
            continue;
        words_id(s, i + 1, &id);
        vec_push(&r->findings, arena_copy(keep, buf_text(&id), id.n));
        buf_clear(&id);
    }
    for (uint32_t i = 0; i < s->remarks.n; i++) {
        const struct remark *remark = &s->remarks.at[i];
        number += remark->severity == SEVERITY_FINDING;
        if (remark->severity != SEVERITY_FINDING || !fails_below(s, remark->faultload, r->call))
            continue;
        words_id(s, number, &id);
        vec_push(&r->findings, arena_copy(keep, buf_text(&id), id.n));
        buf_clear(&id);
    }
    buf_deinit(&id);
}

static uint32_t count_below(const struct trace *t, const struct names *names, uid request)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->calls.n; i++)
        n += t->calls.at[i].uid != request && is_below(names, t->calls.at[i].uid, request);
    return n;
}

void requests_tell(const struct report_source *source, uint32_t scenario, struct told_requests *out)
{
    const struct summary *s = source->scenarios[scenario];
    struct run run = {0};
    struct trace_order order = {0};
    if (!source->run_of || source->run_of(source->ctx, scenario, FAULTLOAD_EMPTY, &run))
        return;
    const struct trace *t = &run.trace;
    trace_order(t, s->names, &order);
    for (uint32_t i = 0; t->calls.n && i < order.first.at[1]; i++) {
        const struct call *c = &t->calls.at[order.child.at[i]];
        if (!call_is_request(c))
            continue;
        struct told_request r = {.number = out->list.n + 1,
                                 .call = c->uid,
                                 .seen = c->seen,
                                 .calls = count_below(t, s->names, c->uid)};
        find_findings(s, &r, &out->keep);
        vec_push(&out->list, r);
    }
    trace_order_deinit(&order);
    vec_deinit(&run.trace.calls);
}

void requests_forget(struct told_requests *all)
{
    for (uint32_t i = 0; i < all->list.n; i++)
        vec_deinit(&all->list.at[i].findings);
    vec_deinit(&all->list);
    arena_deinit(&all->keep);
}

void requests_text(const struct report_source *source, uint32_t scenario, struct buf *out)
{
    struct told_requests all = {.list = {0}};
    requests_tell(source, scenario, &all);
    if (all.list.n > 1)
        buf_adds(out, "\n  requests of the command, without faults\n");
    for (uint32_t i = 0; all.list.n > 1 && i < all.list.n && i < REQUESTS_SHOWN; i++) {
        const struct told_request *r = &all.list.at[i];
        struct buf name = BUF_INIT(1 << 16);
        words_add(&name, source->scenarios[scenario]->names, "%e", r->call);
        buf_addf(out, "   %3u. %-*s ", (unsigned)r->number, NAME_COLUMNS, buf_text(&name));
        outcome_print(r->seen, out);
        buf_addf(out, "  %u %s below", (unsigned)r->calls, plural(r->calls, "call", "calls"));
        for (uint32_t k = 0; k < r->findings.n; k++)
            buf_addf(out, "%s%s", k ? ", " : plural(r->findings.n, "; finding ", "; findings "),
                     r->findings.at[k]);
        buf_addc(out, '\n');
        buf_deinit(&name);
    }
    if (all.list.n > REQUESTS_SHOWN)
        buf_addf(out, "    ... and %u more; --json lists all\n",
                 (unsigned)(all.list.n - REQUESTS_SHOWN));
    requests_forget(&all);
}
