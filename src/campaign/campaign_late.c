/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes after the end of its run: calls of work that goes on after the answer. Runs wait for
 * them as long as those without faults have taught (`quiet`), but some only faults bring about.
 * They are noticed afterwards:
 *
 *   state, trace   the call says of which run it is, and that has ended: a stray
 *   none           in the next run it passes for one of its calls, until that contradicts what
 *                  was seen before. Then nothing is run for a moment: what still comes is late
 *
 * The same moment of rest is at the end of the search, when there is no later run in which a call
 * could be noticed. It is the longer, the longer services pause between their calls: what waited so
 * long before a second try when its run was still under way may do so after the answer, and a busy
 * machine makes both slower.
 *
 * What was seen so far may be misread, so the campaign starts over, with runs that wait longer. Each
 * time they wait at least twice as long, so it starts over a few times at most; beyond QUIET_MAX_MS,
 * and where the file says how long to wait, late calls make the verdict inconclusive instead.
 *
 * And does the campaign get anywhere? Where names of calls change from run to run, or where a service
 * calls others all the time, most faults meet nothing and points grow without end. Such a campaign
 * is stopped early, with the likely cause and what to do about it. */
#include <stdio.h>

#include "campaign/campaign_int.h"

#include "base/clock.h"

enum {
    ROOM_MS = 10,
    REST_MS = 100,      /* without runs, and longer while late calls come: */
    REST_MAX_MS = 2500, /* so long at most. At the end it is longer by */
    REST_TIMES = 5,     /* so many times the longest pause between calls */
    REST_DOUBLINGS = 4, /* after looks in vain */
    VAIN_MAX = 16,      /* looks in vain that are counted, */
    PROVOKED_MAX = 2,   /* and those that make runs again */
    DEEP_MS = 800,      /* the last time, with that much patience */
    STARTS_MAX = 5,
    POLL_MS = 2000, /* so long nothing may come, in one of */
    POLL_LOOKS = 3,
    POLLS_MIN = 10,   /* calls after the answer, until the run is cut off */
    WINDOW = 100,     /* runs that are looked at together, */
    UNFIRED_MAX = 35, /* and how many of them may miss a call that was to fail */
};

static const struct track_strays *strays(const struct campaign *c)
{
    return &c->lessons->strays;
}

/* Could runs wait longer than they do? */
static bool can_wait(const struct campaign *c)
{
    return c->opt.config->quiet_ns < 0 && !c->late.given_up && !c->steady.stopped;
}

bool campaign_is_late(const struct campaign *c)
{
    return can_wait(c) && strays(c)->n > c->late.strays;
}

/* Are there services whose calls do not say of which run they are? */
static bool is_nameless(const struct campaign *c)
{
    for (uint32_t i = 0; i < c->opt.config->services.n; i++)
        if (c->lessons->facts[i].by[TRACK_NONE])
            return true;
    return false;
}

/* Has a run since the last look contradicted others? */
static bool is_contradicted(struct campaign *c)
{
    uint32_t n;
    uint64_t suspects;
    (void)search_suspects(c->search, &n, &suspects);
    bool any = suspects > c->late.suspects;
    const struct search_run *runs = search_runs(c->search, &n);
    for (uint32_t i = c->late.runs; i < n; i++)
        any |= !runs[i].fired;
    c->late.suspects = suspects;
    c->late.runs = n;
    return any;
}

/* Lets the system be until no late call has come for so long; patient: as of an order. */
static void rest_while_late(struct campaign *c, int64_t ns, bool patient)
{
    uint64_t before;
    int64_t total = 0;
    do {
        before = strays(c)->n;
        (void)campaign_want(c, (struct order){ORDER_REST, .rest_ns = ns, .patient = patient}, NULL);
        total += ns;
    } while (strays(c)->n > before && total < MS(REST_MAX_MS) && !campaign_is_over(c));
}

int64_t campaign_quiet_for(int64_t late_ns)
{
    int64_t step = MS(ROOM_MS), most = MS(QUIET_MAX_MS);
    int64_t quiet = late_ns ? (3 * late_ns / step + 1) * step + 2 * step : 0;
    return quiet < most ? quiet : most;
}

void campaign_learn_late(struct campaign *c, const struct trace *trace, int64_t late_ns)
{
    int64_t quiet = campaign_quiet_for(late_ns);
    if (c->opt.config->quiet_ns >= 0 || quiet <= c->lessons->quiet_ns)
        return;
    uid call = UID_NONE; /* the first that began after the answer */
    for (uint32_t i = 1; i < trace->calls.n && call == UID_NONE; i++)
        if (trace->calls.at[i].start_ns >= trace->calls.at[0].end_ns)
            call = trace->calls.at[i].uid;
    if (call != UID_NONE && 2 * late_ns > c->lessons->quiet_ns && is_nameless(c)) {
        c->late.seen_ns = late_ns; /* runs before it may have ended too early */
        c->late.call = call;
    } else {
        c->lessons->quiet_ns = quiet;
    }
}

void campaign_learn_pause(struct campaign *c, const struct run *run)
{
    int64_t pause_ns = trace_pause(&run->trace);
    c->late.pause_ns = pause_ns > c->late.pause_ns ? pause_ns : c->late.pause_ns;
}

/* Makes the i-th of the last runs again, and rests. What it shows is not looked at. */
static int provoke(struct campaign *c, uint32_t i, int64_t rest_ns, struct err *e)
{
    struct run run = {0};
    faultload f = c->recent[(c->n_recent - i) % RECENT_KEPT];
    for (uint32_t k = 1; k < i; k++)
        if (c->recent[(c->n_recent - k) % RECENT_KEPT] == f)
            return 0; /* once is enough */
    if (f == FAULTLOAD_EMPTY)
        return 0;
    int status = campaign_run_alone(c, f, RUN_CHECK, &run, e);
    vec_deinit(&run.trace.calls);
    if (status == 0)
        rest_while_late(c, rest_ns, false);
    return status;
}

/* Does one of the last runs leave calls behind? At most so many are asked. */
static int provoke_all(struct campaign *c, uint32_t most, int64_t rest_ns, struct err *e)
{
    uint32_t n = c->n_recent < most ? c->n_recent : most;
    int status = 0;
    for (uint32_t i = 1; i <= n && status == 0 && !campaign_is_late(c); i++)
        status = provoke(c, i, rest_ns, e);
    return status;
}

bool campaign_wait_longer(struct campaign *c, int64_t late_ns)
{
    int64_t now = c->lessons->quiet_ns, most = MS(QUIET_MAX_MS);
    int64_t wanted = campaign_quiet_for(late_ns);
    if (can_wait(c) && (now >= most || c->late.starts == STARTS_MAX)) {
        c->late.given_up = true; /* and whatever it is, runs need not wait for it in vain */
        c->lessons->quiet_ns = c->late.usual_ns;
    }
    if (!can_wait(c))
        return false;
    wanted = wanted > 2 * now ? wanted : 2 * now;
    c->late.quiet_ns = wanted < most ? wanted : most;
    return true;
}

static const char *caller_of(const struct campaign *c, const struct track_strays *s)
{
    return s->caller < c->opt.config->services.n ? c->opt.config->services.at[s->caller].name.p
                                                 : "a service";
}

static void stop_polled(struct campaign *c, slice caller, slice call)
{
    c->steady.stopped = "polling";
    campaign_note(
        c,
        "%.*s calls %.*s all the time, even when no run is under way; `ignore: [\"%.*s\"]` in the "
        "file leaves such calls out",
        SLICE_ARG(caller), SLICE_ARG(call), SLICE_ARG(call));
}

/* Late calls of services that say nothing: do they cease when no run is made? */
static bool ceases(struct campaign *c)
{
    for (int i = 0; i < POLL_LOOKS; i++) {
        uint64_t before = strays(c)->n;
        (void)campaign_want(c, (struct order){ORDER_REST, .rest_ns = MS(POLL_MS)}, NULL);
        if (strays(c)->n == before || campaign_is_over(c))
            return true;
    }
    stop_polled(c, slice_of(caller_of(c, strays(c))), strays(c)->call);
    return false;
}

/* " 61ms after the answer" */
static void print_after(int64_t ns, struct buf *out)
{
    buf_addc(out, ' ');
    buf_add_ns(out, ns / MS(1) * MS(1) + MS(1));
    buf_adds(out, " after the answer");
}

/* "gateway calls b GET /b 61ms after the answer" */
static void print_stray(const struct campaign *c, struct buf *out)
{
    const struct track_strays *s = strays(c);
    buf_addf(out, "%s calls %.*s", caller_of(c, s), SLICE_ARG(s->call));
    print_after(s->late_ns, out);
}

/* Why the campaign starts over, for its notes: a stray, or a call that was seen in its run. */
static void explain_late(struct campaign *c, bool stray)
{
    const struct names *names = c->opt.names;
    struct buf text = BUF_INIT(sizeof c->late.why);
    if (stray) {
        print_stray(c, &text);
    } else {
        uid caller = uid_parent(names, c->late.call);
        slice name = names_text(names, uid_element(names, caller)->service);
        buf_addf(&text, "%.*s calls ", SLICE_ARG(name));
        element_print(names, uid_element(names, c->late.call), &text);
        print_after(c->late.seen_ns, &text);
    }
    (void)snprintf(c->late.why, sizeof c->late.why, "%s", buf_text(&text));
    buf_deinit(&text);
}

void campaign_explain_death(struct campaign *c, const char *how)
{
    struct buf text = BUF_INIT(sizeof c->late.why);
    buf_addf(&text, "%.*s", (int)strcspn(how, ";"), how);
    print_after(c->death_ns, &text);
    (void)snprintf(c->late.why, sizeof c->late.why, "%s", buf_text(&text));
    buf_deinit(&text);
}

int campaign_look_late(struct campaign *c, bool last, struct err *e)
{
    bool doubt = is_contradicted(c) && is_nameless(c) && can_wait(c);
    if (doubt && c->late.skip) {
        c->late.skip--;
        doubt = false;
    }
    if (!campaign_is_late(c) && !c->late.seen_ns && !doubt && !last)
        return 0;
    uint32_t longer = c->late.in_vain < REST_DOUBLINGS ? c->late.in_vain : REST_DOUBLINGS;
    int64_t rest_ns = MS(REST_MS) << (doubt ? longer : 0);
    if (last)
        rest_ns += REST_TIMES * c->late.pause_ns;
    rest_ns = rest_ns < MS(REST_MAX_MS) ? rest_ns : MS(REST_MAX_MS);
    rest_while_late(c, rest_ns, last);
    int status = 0;
    if (doubt && !campaign_is_late(c) && !c->late.seen_ns && c->late.in_vain < PROVOKED_MAX)
        status = provoke_all(c, RECENT_KEPT, rest_ns, e);
    if (status == 0 && last && c->late.in_vain && can_wait(c) && !campaign_is_late(c))
        status = provoke_all(c, RECENT_RUNS, MS(DEEP_MS), e); /* before nothing can be said */
    if (status)
        return status;
    bool late = campaign_is_late(c);
    if (late && !c->late.starts && is_nameless(c) && !ceases(c))
        return 0;
    if (doubt && !late &&
        !c->late.seen_ns) { /* it was something else that contradicted: the next */
        c->late.in_vain += c->late.in_vain < VAIN_MAX; /* looks are rarer, and longer */
        c->late.skip = (1u << c->late.in_vain) - 1;
    }
    c->late.strays = strays(c)->n;
    int64_t late_ns = late ? strays(c)->late_ns : 0;
    late_ns = late_ns > c->late.seen_ns ? late_ns : c->late.seen_ns;
    if (!late_ns || !campaign_wait_longer(c, late_ns))
        return 0; /* what nobody can wait for is told at the end */
    explain_late(c, late);
    return STATUS_AGAIN;
}

void campaign_note_late(struct campaign *c)
{
    struct buf quiet = BUF_INIT(40);
    buf_add_ns(&quiet, c->late.quiet_ns);
    campaign_note(c,
                  "%s, when its run had already ended: runs now wait %s after the answer, and the "
                  "campaign was started over. Set `quiet: %s` in the file to avoid that",
                  c->late.why, buf_text(&quiet), buf_text(&quiet));
    buf_deinit(&quiet);
}

void campaign_note_strays(struct campaign *c)
{
    const struct track_strays *s = strays(c);
    struct buf stray = BUF_INIT(1 << 12), quiet = BUF_INIT(40);
    if (!s->n || c->steady.stopped)
        return;
    c->summary.doubt = "calls that arrived after their run had ended were not explored";
    print_stray(c, &stray);
    buf_add_ns(&quiet, (2 * s->late_ns / MS(100) + 1) * MS(100));
    campaign_note(c,
                  "%s, when its run had already ended (%llu late %s); such calls were not "
                  "faulted. Set `quiet: %s` in the file to make runs wait for them; if no run "
                  "causes them, leave them out with `ignore: [\"%.*s\"]`",
                  buf_text(&stray), (unsigned long long)s->n, plural(s->n, "call", "calls"),
                  buf_text(&quiet), SLICE_ARG(s->call));
    buf_deinit(&stray);
    buf_deinit(&quiet);
}

void campaign_note_outlived(struct campaign *c)
{
    struct buf call = BUF_INIT(1 << 14);
    if (!c->n_outlived)
        return;
    if (c->outlived) {
        buf_adds(&call, ", such as ");
        element_print(c->opt.names, uid_element(c->opt.names, c->outlived), &call);
    }
    campaign_note(c,
                  "in %llu %s calls were still open after the answer and the `settle` time%s; "
                  "they were cut off",
                  (unsigned long long)c->n_outlived, plural(c->n_outlived, "run", "runs"),
                  buf_text(&call));
    buf_deinit(&call);
}

/* ---- does it get anywhere? ---- */

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
    struct buf call = BUF_INIT(1 << 12), other = BUF_INIT(1 << 12);
    enum suspect_cause cause = x ? x->cause : CAUSE_UNKNOWN;
    if (x)
        print_call(c, x->point, &call);
    switch (cause) {
    case CAUSE_PAYLOAD:
        buf_adds(out, "Payloads differ from run to run; `identify: { payload: off }` leaves them "
                      "out of the names of calls");
        break;
    case CAUSE_INTERFACE:
        print_call(c, x->other, &other);
        buf_addf(out,
                 "Paths differ from run to run, such as %s and %s; add a rule to `identify: { "
                 "normalise: [...] }` that makes them one",
                 buf_text(&call), buf_text(&other));
        break;
    case CAUSE_COUNT:
        buf_addf(out,
                 "The number of equal calls differs from run to run (%s). If they are late, wait "
                 "for them with `quiet: 1s`; if a service polls, leave them out with `ignore: "
                 "[\"%s\"]`",
                 buf_text(&call), buf_text(&call));
        break;
    case CAUSE_UNFIT:
        buf_addf(out,
                 "Some modes find nothing to alter in an answer, such as that of %s; remove them "
                 "from `modes`, or name fields that exist",
                 buf_text(&call));
        break;
    case CAUSE_ABSENT:
    case CAUSE_ORDER:
    case CAUSE_EXTRA:
    case CAUSES:
    case CAUSE_UNKNOWN:
        buf_adds(out, "State that outlives a run, such as a cache or a circuit breaker, decides "
                      "which calls are made; `restart: each-run` on the service clears it");
        break;
    }
    buf_deinit(&call);
    buf_deinit(&other);
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
        if (c->steady.unfired > UNFIRED_MAX) {
            struct buf cause = BUF_INIT(1 << 14);
            c->steady.stopped = "unstable";
            say_cause(c, likeliest(c), &cause);
            campaign_note(c,
                          "%u of %d runs did not make the calls that were to fail, so the campaign "
                          "was stopped. %s",
                          (unsigned)c->steady.unfired, WINDOW, buf_text(&cause));
            buf_deinit(&cause);
        }
        c->steady.looked = c->steady.unfired = 0;
    }
    return c->steady.stopped;
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
    stop_polled(c, names_text(names, caller->service), buf_slice(&call));
    buf_deinit(&call);
}
