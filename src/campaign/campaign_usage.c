/* SPDX-License-Identifier: Apache-2.0
 *
 * Do the services leak? What they hold is looked at after runs, less and less often. It is told
 * when they are started again, as long as it is known, and at the end. */
#include "base/clock.h"
#include "campaign/campaign_int.h"
#include "io/process.h"
#include "live/usage.h"

/* Looking takes so much time in all, and of every further second a part of it. What it costs
 * depends on the machine: where it takes long, it is done less often. */
static const int64_t ALWAYS_NS = MS(50);
enum { SHARE = 100 };

static void tell_leak(struct campaign *c, uint32_t service, bool broken)
{
    const struct usage *u = &c->usage[service];
    slice name = c->opt.config->services.at[service].name;
    struct buf text = BUF_INIT(400);
    for (enum usage_kind kind = 0; kind < USAGE_KINDS; kind++) {
        const struct usage_sample *from = &u->at[0];
        if (!usage_grows(u, kind, c->opt.jobs ? c->opt.jobs : 1, &from) &&
            !(broken && kind == USAGE_DESCRIPTORS && usage_swells(u)))
            continue;
        if (text.n)
            buf_adds(&text, "; ");
        else
            buf_addf(&text, "%.*s keeps growing: ", SLICE_ARG(name));
        usage_print(kind, from, &u->at[u->n - 1], &text);
    }
    if (text.n)
        judge_note_service(c->judge, ORACLE_LEAK, name, FAULTLOAD_EMPTY, c->number,
                           buf_text(&text));
    buf_deinit(&text);
}

void campaign_sample(struct campaign *c)
{
    uint32_t n = c->opt.config->services.n;
    if (!c->target || !c->judge || n == 0 ||
        c->opt.judging->settings.severity[ORACLE_LEAK] == SEVERITY_OFF)
        return;
    int64_t now = clock_ns();
    if (!c->usage)
        c->usage = mem_zero(n * sizeof *c->usage);
    if (c->sampled_ns > ALWAYS_NS + (now - c->start_ns) / SHARE)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct process_usage held;
        int64_t process;
        if (!usage_due(&c->usage[i], c->number) ||
            !c->target->usage(c->target->ctx, i, &held, &process))
            continue;
        if (process != c->usage[i].process)
            tell_leak(c, i, true); /* it died, perhaps of that */
        struct usage_sample sample = {c->number, {held.descriptors, held.memory}};
        usage_add(&c->usage[i], process, &sample);
    }
    c->sampled_ns += clock_ns() - now;
}

void campaign_tell_leaks(struct campaign *c, bool broken)
{
    for (uint32_t i = 0; c->usage && i < c->opt.config->services.n; i++)
        tell_leak(c, i, broken);
}
