/* SPDX-License-Identifier: Apache-2.0
 *
 * Does the campaign get anywhere? Where names of calls change from run to run, or where a service
 * calls others all the time, most faults meet nothing and points grow without end. Such a campaign
 * is stopped early, with the likely cause and what to do about it. */
#include "campaign/campaign_int.h"

enum {
    WINDOW = 100, /* runs that are looked at together, */
    UNFIRED_MAX = 35 /* and how many of them may miss a call that was to fail */,
    POLLS_MIN = 10, /* calls after the answer, until the run is cut off */
};

/* The cause that most suspects have, and one of them. */
static const struct suspect *likeliest(const struct campaign *c)
{
    uint32_t n, count[CAUSES] = {0};
    uint64_t total;
    const struct suspect *list = search_suspects(c->search, &n, &total), *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].kind == SUSPECT_NOT_FIRED)
            count[list[i].cause]++;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].kind == SUSPECT_NOT_FIRED &&
            (!best || count[list[i].cause] > count[best->cause]))
            best = &list[i];
    return best;
}

/* "stock GET /changes", as `ignore` takes it. */
static void print_call(const struct campaign *c, uid call, struct buf *out)
{
    const struct element *e = uid_element(c->opt.names, call);
    slice service = names_text(c->opt.names, e->service);
    slice interface = names_text(c->opt.names, e->interface);
    buf_addf(out, "%.*s %.*s", SLICE_ARG(service), SLICE_ARG(interface));
}

static void say_cause(const struct campaign *c, const struct suspect *x, struct buf *out)
{
    switch (x ? x->cause : CAUSE_UNKNOWN) {
    case CAUSE_PAYLOAD:
        buf_adds(out, "Payloads differ from run to run: `identify: { payload: off }` leaves them "
                      "out of the names of calls");
        break;
    case CAUSE_INTERFACE:
        buf_adds(out, "Paths differ from run to run, such as ");
        print_call(c, x->point, out);
        buf_adds(out, " and ");
        print_call(c, x->other, out);
        buf_adds(out, ": a rule in `identify: { normalise: [...] }` makes them one");
        break;
    case CAUSE_COUNT:
        buf_adds(out, "The number of equal calls differs from run to run (");
        print_call(c, x->point, out);
        buf_adds(out, "). If they come late, `quiet: 1s` waits for them; if a service polls, "
                      "`ignore: [\"");
        print_call(c, x->point, out);
        buf_adds(out, "\"]` leaves them out");
        break;
    case CAUSE_UNFIT:
        buf_adds(out, "Modes find nothing to alter in answers, such as that of ");
        print_call(c, x->point, out);
        buf_adds(out, ": leave them out of `modes`, or let them name fields that are there");
        break;
    case CAUSE_ABSENT:
    case CAUSE_ORDER:
    case CAUSE_EXTRA:
    case CAUSES:
    case CAUSE_UNKNOWN:
        buf_adds(out, "State that outlives a run decides which calls are made, such as a cache or "
                      "a circuit breaker: `restart: each-run` of the service makes it forget");
        break;
    }
}

static void stop_unstable(struct campaign *c)
{
    struct buf text = BUF_INIT(1 << 14);
    c->steady.stopped = "unstable";
    buf_addf(&text,
             "%u of %d runs did not make the calls that were to fail, so the campaign was "
             "stopped. ",
             (unsigned)c->steady.unfired, WINDOW);
    say_cause(c, likeliest(c), &text);
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

const char *campaign_gets_nowhere(struct campaign *c)
{
    uint32_t n;
    const struct search_run *runs = search_runs(c->search, &n);
    for (; c->steady.runs < n && !c->steady.stopped; c->steady.runs++) {
        const struct search_run *r = &runs[c->steady.runs];
        if (r->purpose == FOR_BASELINE)
            continue;
        c->steady.unfired += !r->fired;
        if (++c->steady.looked < WINDOW)
            continue;
        if (c->steady.unfired > UNFIRED_MAX)
            stop_unstable(c);
        c->steady.looked = c->steady.unfired = 0;
    }
    return c->steady.stopped;
}

void campaign_stop_polled(struct campaign *c, slice caller, slice call)
{
    struct buf text = BUF_INIT(1 << 14);
    c->steady.stopped = "polling";
    buf_addf(&text,
             "%.*s calls %.*s all the time, whether a run is made or not. `ignore: [\"%.*s\"]` in "
             "the file leaves such calls out",
             SLICE_ARG(caller), SLICE_ARG(call), SLICE_ARG(call));
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

void campaign_look_polled(struct campaign *c, const struct trace *trace)
{
    const struct names *names = c->opt.names;
    const struct call *root = &trace->calls.at[0], *last = NULL;
    uint32_t n = 0;
    for (uint32_t i = 1; i < trace->calls.n; i++)
        if (trace->calls.at[i].start_ns >= root->end_ns) {
            last = &trace->calls.at[i];
            n++;
        }
    if (n < POLLS_MIN || last->start_ns - root->end_ns < c->opt.config->settle_ns / 4 * 3)
        return;
    struct buf call = BUF_INIT(1 << 14);
    print_call(c, last->uid, &call);
    const struct element *caller = uid_element(names, uid_parent(names, last->uid));
    campaign_stop_polled(c, names_text(names, caller->service), buf_slice(&call));
    buf_deinit(&call);
}
