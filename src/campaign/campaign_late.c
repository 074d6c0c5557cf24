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
 * The same moment of rest is at the end of the search. What was seen so far may be misread, so the
 * campaign starts over, with runs that wait longer. Each time they wait at least twice as long, so
 * it starts over a few times at most; beyond QUIET_MAX_MS, and where the file says how long to
 * wait, late calls make the verdict inconclusive instead. */
#include <stdio.h>

#include "campaign/campaign_int.h"

#include "base/clock.h"
enum {
    ROOM_MS = 10,
    REST_MS = 100,      /* without runs, and longer while late calls come: */
    REST_MAX_MS = 2500, /* so long at most */
    REST_DOUBLINGS = 4, /* after looks in vain */
    VAIN_MAX = 16,      /* looks in vain that are counted, */
    PROVOKED_MAX = 2,   /* and those that make runs again */
    DEEP_MS = 800,      /* the last time, with that much patience */
    STARTS_MAX = 5,
    POLL_MS = 2000, /* so long nothing may come, in one of */
    POLL_LOOKS = 3,
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

/* Lets the system be until no late call has come for so long. */
static void rest(struct campaign *c, int64_t ns)
{
    uint64_t before;
    int64_t total = 0;
    do {
        before = strays(c)->n;
        (void)campaign_want(c, (struct order){ORDER_REST, .rest_ns = ns}, NULL);
        total += ns;
    } while (strays(c)->n > before && total < MS(REST_MAX_MS) && !campaign_is_over(c));
}

int64_t campaign_quiet_for(int64_t late_ns)
{
    int64_t step = MS(ROOM_MS), most = MS(QUIET_MAX_MS);
    int64_t quiet = late_ns ? (3 * late_ns / step + 1) * step + 2 * step : 0;
    return quiet < most ? quiet : most;
}

static uid late_call(const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->calls.n; i++)
        if (trace->calls.at[i].start_ns >= trace->calls.at[0].end_ns)
            return trace->calls.at[i].uid;
    return UID_NONE;
}

void campaign_learn_late(struct campaign *c, const struct trace *trace, int64_t late_ns)
{
    int64_t quiet = campaign_quiet_for(late_ns);
    if (c->opt.config->quiet_ns >= 0 || quiet <= c->lessons->quiet_ns)
        return;
    uid call = late_call(trace);
    if (call != UID_NONE && 2 * late_ns > c->lessons->quiet_ns && is_nameless(c)) {
        c->late.seen_ns = late_ns; /* runs before it may have ended too early */
        c->late.call = call;
    } else {
        c->lessons->quiet_ns = quiet;
    }
}

/* Makes the i-th of the last runs again, and rests. What it shows is not looked at. */
static int provoke(struct campaign *c, uint32_t i, int64_t rest_ns, struct err *e)
{
    struct run run = {0};
    faultload f = c->recent[(c->n_recent - i) % RECENT_KEPT];
    for (uint32_t k = 1; k < i; k++)
        if (c->recent[(c->n_recent - k) % RECENT_KEPT] == f)
            return 0; /* once is enough */
    int status = f != FAULTLOAD_EMPTY ? campaign_heal(c, false, e) : 0;
    if (status || f == FAULTLOAD_EMPTY)
        return status;
    status = campaign_run_alone(c, f, RUN_CHECK, &run, e);
    vec_deinit(&run.trace.calls);
    if (status == 0)
        rest(c, rest_ns);
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

/* Late calls of services that say nothing: do they cease when no run is made? */
static bool ceases(struct campaign *c)
{
    for (int i = 0; i < POLL_LOOKS; i++) {
        uint64_t before = strays(c)->n;
        (void)campaign_want(c, (struct order){ORDER_REST, .rest_ns = MS(POLL_MS)}, NULL);
        if (strays(c)->n == before || campaign_is_over(c))
            return true;
    }
    campaign_stop_polled(c, slice_of(caller_of(c, strays(c))), strays(c)->call);
    return false;
}

/* "gateway calls b GET /b 61ms after the answer" */
static void print_stray(const struct campaign *c, struct buf *out)
{
    const struct track_strays *s = strays(c);
    buf_addf(out, "%s calls %.*s ", caller_of(c, s), SLICE_ARG(s->call));
    buf_add_ns(out, s->late_ns / MS(1) * MS(1) + MS(1));
    buf_adds(out, " after the answer");
}

/* The same of a call that was seen in its run. */
static void print_late(const struct campaign *c, struct buf *out)
{
    const struct names *names = c->opt.names;
    uid caller = uid_parent(names, c->late.call);
    slice name = names_text(names, uid_element(names, caller)->service);
    buf_addf(out, "%.*s calls ", SLICE_ARG(name));
    element_print(names, uid_element(names, c->late.call), out);
    buf_addc(out, ' ');
    buf_add_ns(out, c->late.seen_ns / MS(1) * MS(1) + MS(1));
    buf_adds(out, " after the answer");
}

/* Why the campaign starts over, for its notes. */
static void explain(struct campaign *c, bool stray)
{
    struct buf text = BUF_INIT(sizeof c->late.why);
    if (stray)
        print_stray(c, &text);
    else
        print_late(c, &text);
    (void)snprintf(c->late.why, sizeof c->late.why, "%s", buf_text(&text));
    buf_deinit(&text);
}

void campaign_explain_death(struct campaign *c, const char *how)
{
    struct buf text = BUF_INIT(sizeof c->late.why);
    buf_addf(&text, "%.*s ", (int)strcspn(how, ";"), how);
    buf_add_ns(&text, c->death_ns / MS(1) * MS(1) + MS(1));
    buf_adds(&text, " after the answer");
    (void)snprintf(c->late.why, sizeof c->late.why, "%s", buf_text(&text));
    buf_deinit(&text);
}

/* Nothing was late: it was something else that contradicted. The next looks are rarer, and longer.
 */
static void look_less(struct campaign *c)
{
    c->late.in_vain += c->late.in_vain < VAIN_MAX;
    c->late.skip = (1u << c->late.in_vain) - 1;
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
    rest(c, rest_ns);
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
    if (doubt && !late && !c->late.seen_ns)
        look_less(c);
    c->late.strays = strays(c)->n;
    int64_t late_ns = late ? strays(c)->late_ns : 0;
    late_ns = late_ns > c->late.seen_ns ? late_ns : c->late.seen_ns;
    if (!late_ns || !campaign_wait_longer(c, late_ns))
        return 0; /* what nobody can wait for is told at the end */
    explain(c, late);
    return STATUS_AGAIN;
}

void campaign_note_late(struct campaign *c)
{
    struct buf text = BUF_INIT(1 << 12);
    buf_addf(&text, "%s, when its run had ended: runs now wait ", c->late.why);
    buf_add_ns(&text, c->late.quiet_ns);
    buf_adds(&text, " for such things, and the campaign was started over. `quiet: ");
    buf_add_ns(&text, c->late.quiet_ns);
    buf_adds(&text, "` in the file saves that");
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

void campaign_note_strays(struct campaign *c)
{
    const struct track_strays *s = strays(c);
    struct buf text = BUF_INIT(1 << 12);
    if (!s->n || c->steady.stopped)
        return;
    c->summary.doubt = "calls that came after their run had ended were not explored";
    print_stray(c, &text);
    buf_addf(&text, ", when its run had ended (%llu late %s): such calls were not failed. `quiet: ",
             (unsigned long long)s->n, plural(s->n, "call", "calls"));
    buf_add_ns(&text, (2 * s->late_ns / MS(100) + 1) * MS(100));
    buf_addf(&text,
             "` in the file makes runs wait for them; if no run is their cause, `ignore: "
             "[\"%.*s\"]` leaves them out",
             SLICE_ARG(s->call));
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

void campaign_note_outlived(struct campaign *c)
{
    struct buf text = BUF_INIT(1 << 14);
    if (!c->n_outlived)
        return;
    buf_addf(&text, "in %llu %s calls were still open after the answer and the time `settle`",
             (unsigned long long)c->n_outlived, plural(c->n_outlived, "run", "runs"));
    if (c->outlived) {
        buf_adds(&text, ", such as ");
        element_print(c->opt.names, uid_element(c->opt.names, c->outlived), &text);
    }
    buf_adds(&text, ": they were cut off");
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}
