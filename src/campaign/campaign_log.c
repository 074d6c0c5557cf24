/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service that went wrong has written meanwhile. Only runs that confirm a finding are
 * looked at: they are made alone, so what was written while one lasted was written of it, or of
 * nobody. */
#include "base/hash.h"
#include "campaign/campaign_int.h"
#include "report/escape.h"

enum { LINES_MOST = 10, LINE_MOST = 300 };

/* No answer at all, or one that says: server error. */
static bool went_wrong(const struct call *c)
{
    return c->mode == MODE_NONE && (outcome_error(c->seen) || outcome_kind(c->seen) > OUT_GRPC);
}

/* The service that was the first to answer wrongly, although nothing was injected at it. */
static slice culprit(const struct campaign *c, const struct run *run)
{
    const struct call *first = &run->trace.calls.at[0];
    for (uint32_t i = 1; i < run->trace.calls.n; i++) {
        const struct call *call = &run->trace.calls.at[i];
        bool sooner = !went_wrong(first) || call->end_ns < first->end_ns;
        if (went_wrong(call) && call->handled && sooner)
            first = call;
    }
    return names_text(c->opt.names, uid_element(c->opt.names, first->uid)->service);
}

/* "log " and the faultload as a number: the name of the fact in the store. */
static void log_name(const struct campaign *c, faultload f, struct buf *out)
{
    struct buf text = BUF_INIT(1 << 20);
    faultload_print(c->opt.names, c->opt.faultloads, f, &text);
    buf_addf(out, "log %016llx", (unsigned long long)hash_slice(buf_slice(&text)));
    buf_deinit(&text);
}

/* The service, and its lines, harmless and short. */
int campaign_keep_log(struct campaign *c, const struct run *run, struct err *e)
{
    struct buf lines = BUF_INIT(1 << 14), name = BUF_INIT(64), text = BUF_INIT(1 << 14);
    int failed = 0;
    if (!c->opt.store || run->verdict.pass || run->trace.calls.n == 0)
        return 0;
    slice service = culprit(c, run), rest, line;
    c->target->log_since(c->target->ctx, service, LINES_MOST, &lines);
    rest = buf_slice(&lines);
    if (rest.n) {
        log_name(c, run->faultload, &name);
        buf_add(&text, service);
        while (slice_cut(&rest, '\n', &line)) {
            buf_addc(&text, '\n');
            escape_line((slice){line.p, line.n < LINE_MOST ? line.n : LINE_MOST}, &text);
        }
        failed = store_set(c->opt.store, c->id, buf_slice(&name), buf_slice(&text), e);
    }
    buf_deinit(&lines);
    buf_deinit(&name);
    buf_deinit(&text);
    return failed;
}

void campaign_find_log(struct campaign *c, struct finding *f)
{
    struct buf name = BUF_INIT(64);
    struct err ignored = {0};
    slice text = {0}, service;
    log_name(c, f->faultload, &name);
    if (c->opt.store &&
        store_get(c->opt.store, c->id, buf_slice(&name), &c->keep, &text, &ignored) == 0 &&
        text.p && slice_cut(&text, '\n', &service) && text.n) {
        f->log_of = slice_copy(&c->keep, service).p;
        f->log = slice_copy(&c->keep, text).p;
    }
    buf_deinit(&name);
}
