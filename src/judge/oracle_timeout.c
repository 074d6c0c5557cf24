/* SPDX-License-Identifier: Apache-2.0
 *
 * no-timeout, inverted-timeouts, over-limit: who waits for how long.
 *
 * A call that is held tells whether its caller has a timeout: without one it waits until the hold
 * ends by itself, or until the run is cut off. When a caller gives up, what goes on below the call
 * shows that the callee waits for longer than anybody waits for it.
 *
 * 1. Nobody waits for a call in the background: nothing is said about when that ends.
 * 2. A caller that leaves because another of its calls failed has not run out of time.
 * 3. A test that is killed because its run takes too long has not given up either.
 * 4. Timeouts are inverted when one call that is slow, with its tries, is enough to show it. That
 *    several in a row add up to more than anybody waits is no fault of theirs.
 * 5. Timeouts that are equal are inverted as well: the caller's runs first. But when both end at
 *    about the same time the callee may have been told to stop, which is right. In memory nobody is
 *    told. A real system is asked: its callee gets the request half of that time later, and its
 *    call must still be waited for as long, although the caller has left. */
#include "judge/oracle_int.h"

#include "base/clock.h"

/* How long `hold` holds a caller that does not give up, in memory and at a door. */
static const int64_t HOLD_NS = SECONDS(60);

/* A cancellation that is passed on ends what is below at about the same time. */
static const int64_t SLACK_NS = MS(50);

/* A handler that waits for so long after its own caller gave up does not notice that. */
static const int64_t FORGOTTEN_NS = SECONDS(1);

/* ---- waiting ---- */

static bool gave_up(const struct call *c)
{
    enum outcome_kind kind = outcome_kind(c->seen);
    return (kind == OUT_TIMEOUT || kind == OUT_CANCELLED) && !(c->flags & CALL_OPEN);
}

/* Without faults the handler has answered before this call ends: nobody waits for it. */
static bool in_background(const struct view *v, uint32_t i)
{
    const struct call *calm = v->judge->calm.trace.calls.at;
    uint32_t twin = v->twin.at[i];
    return twin != CALL_NONE && twin > 0 && calm[twin].end_ns > calm[calm[twin].parent].end_ns;
}

/* ---- no-timeout ---- */

static void see_no_timeout(const struct view *v, uint32_t i)
{
    const struct call *c = &v->calls[i], *above = &v->calls[c->parent];
    struct judge *j = v->judge;
    /* held: did the handler that made the call wait until the end of it? where its own caller gave
     * up, its end says nothing; but why else would that have given up? */
    bool waited = above->end_ns >= c->end_ns ||
                  (gave_up(above) && v->n_faults == 1 && v->twin.at[i] != CALL_NONE);
    bool hold = mode_kind(c->mode) == MODE_HOLD, held = hold && call_took(c) >= HOLD_NS && waited;
    /* stuck: it goes on until the run is cut off, and its handler waits for it, or nobody waits any
     * more for that, since long; and it is the only one that does, here and below */
    bool hung = c->parent == 0 && v->run->flags & RUN_HUNG && !(v->run->flags & RUN_HURRIED);
    bool forgotten = hold && gave_up(above) && c->end_ns - above->end_ns >= FORGOTTEN_NS;
    bool stuck = c->flags & CALL_OPEN && (hung || above->flags & CALL_OPEN || forgotten) &&
                 !in_background(v, i);
    for (uint32_t k = 0; k < view_children(v, c->parent) && stuck; k++) {
        uint32_t other = view_child(v, c->parent, k);
        stuck = other == i || !(v->calls[other].flags & CALL_OPEN);
    }
    for (uint32_t k = 0; k < view_children(v, i) && stuck; k++)
        stuck = !(v->calls[view_child(v, i, k)].flags & CALL_OPEN);
    if ((!held && !stuck) || !remark_due(v, ORACLE_NO_TIMEOUT, c->uid))
        return;
    struct witness witness[] = {{i, "waited for until the end"}};
    const char *who = say_service(j, above->uid), *whom = say_name(j, c->uid);
    if (held)
        remark_write(v, ORACLE_NO_TIMEOUT, c->uid, witness, 1,
                     "%s waits for %s, however long the answer takes: this call has no timeout",
                     who, whom);
    else
        remark_write(
            v, ORACLE_NO_TIMEOUT, c->uid, witness, 1,
            "%s is still waiting for %s when the run is cut off: this call has no timeout, or "
            "one that is too long",
            who, whom);
}

/* ---- inverted-timeouts ---- */

/* Are all faults of the run at one call and its tries? */
static bool is_single(const struct view *v)
{
    uint32_t first = CALL_NONE, left = v->n_faults;
    for (uint32_t i = 1; left > 0 && i < v->n; i++) {
        if (v->calls[i].mode == MODE_NONE)
            continue;
        if (first != CALL_NONE && !view_equal(v, first, i))
            return false;
        first = i;
        left--;
    }
    return left == 0;
}

/* After such a wait, what is no longer at about the same time? */
static int64_t slack_of(int64_t took_ns)
{
    return took_ns / 10 > SLACK_NS ? took_ns / 10 : SLACK_NS;
}

/* The uppermost call below i that goes on for longer than that after i was given up; CALL_NONE:
 * none. */
static uint32_t goes_on(const struct view *v, uint32_t i, int64_t slack)
{
    const struct call *c = &v->calls[i];
    for (uint32_t d = i + 1; d < v->n; d++) {
        const struct call *below = &v->calls[d];
        if (below->start_ns < c->end_ns && below->end_ns > c->end_ns + slack &&
            view_below(v, i, d) && !in_background(v, d))
            return d;
    }
    return CALL_NONE;
}

/* It was given up because the handler's own caller did: not the one to look at. */
static bool left_with_caller(const struct view *v, const struct call *c)
{
    const struct call *above = &v->calls[c->parent];
    return c->parent > 0 && gave_up(above) && above->end_ns <= c->end_ns + SLACK_NS;
}

/* A request of a command that was killed with its run. */
static bool is_cut_off(const struct view *v, const struct call *c)
{
    return c->parent == 0 && c->flags & CALL_EXEMPT && v->run->flags & RUN_HUNG;
}

static void tell_inverted(const struct view *v, uint32_t i, uint32_t d, bool equal)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[i];
    if (!remark_due(v, ORACLE_INVERTED_TIMEOUTS, c->uid))
        return;
    struct witness witness[] = {{i, "gave up after"},
                                {d, equal ? "was waited for" : "went on for"}};
    const char *who = say_service(j, v->calls[c->parent].uid), *whom = say_name(j, c->uid);
    const char *callee = say_service(j, v->calls[v->calls[d].parent].uid);
    const char *below = say_name(j, v->calls[d].uid);
    if (equal)
        remark_write(
            v, ORACLE_INVERTED_TIMEOUTS, c->uid, witness, 2,
            "%s waits no longer for %s than %s does for %s: the timeouts are nearly equal, "
            "so no answer about it arrives in time",
            who, whom, callee, below);
    else
        remark_write(v, ORACLE_INVERTED_TIMEOUTS, c->uid, witness, 2,
                     "%s gives up on %s while %s is still waiting for %s: the work goes on in vain",
                     who, whom, callee, below);
}

/* ---- timeouts that seem to be equal, in real runs ---- */

static struct wait *wait_of(const struct judge *j, uid path)
{
    const uint32_t *at = map_get(&j->wait_at, path);
    return at ? &j->waits.at[*at] : NULL;
}

/* Where the caller's wait is nearly as long as that of its callee, its call comes half of its time
 * late, and the callee's is not answered: does that wait for as long all the same? One call of each
 * callee tells. What is over sooner than a machine may pause tells nothing. */
void wait_doubts(struct judge *j, struct doubts *out)
{
    const struct wait *last = NULL;
    for (uint32_t i = 0; j->waits.at && i < j->waits.n && out->n < out->most; i++) {
        const struct wait *below = &j->waits.at[i];
        const struct wait *above = wait_of(j, uid_parent(j->opt.names, judge_path(j, below->call)));
        int64_t more = above ? below->took_ns - above->took_ns : 0;
        if (!above || more < -slack_of(above->took_ns) || more > slack_of(above->took_ns) ||
            above == last || above->tried || above->took_ns <= 5 * SLACK_NS)
            continue;
        last = above;
        uint32_t late_ms = (uint32_t)(above->took_ns / 2 / MS(1));
        struct fault late = {above->call, mode_make(MODE_DELAY, late_ms)};
        struct fault held = {below->call, below->mode};
        faultload f = faultload_extend(j->opt.faultloads, FAULTLOAD_EMPTY, late);
        doubt_add(out, faultload_extend(j->opt.faultloads, f, held));
    }
}

void wait_learn(const struct view *v)
{
    struct judge *j = v->judge;
    for (uint32_t d = 1; d < v->n && v->n_faults == 2; d++) {
        uint32_t i = v->calls[d].parent;
        const struct call *c = &v->calls[i], *below = &v->calls[d];
        struct wait *w = wait_of(j, judge_path(j, c->uid));
        if (!w || below->mode == MODE_NONE || mode_kind(c->mode) != MODE_DELAY)
            continue;
        int64_t slack = slack_of(call_took(c));
        w->tried = true;
        if (gave_up(c) && !left_with_caller(v, c) && gave_up(below) &&
            below->start_ns - c->start_ns > 2 * slack && call_took(below) >= call_took(c) - slack)
            tell_inverted(v, i, d, true);
    }
}

/* v->calls[i] was given up: does something below it go on? */
static void see_inverted(const struct view *v, uint32_t i)
{
    const struct call *c = &v->calls[i];
    if (v->faults.at[i] == 0 || view_children(v, i) == 0 || in_background(v, i) ||
        is_cut_off(v, c) || left_with_caller(v, c))
        return;
    /* did another call of the same handler end just then, so that this one was no longer wanted? */
    for (uint32_t k = 0; outcome_kind(c->seen) == OUT_CANCELLED && k < view_children(v, c->parent);
         k++) {
        const struct call *other = &v->calls[view_child(v, c->parent, k)];
        if (!gave_up(other) && other->start_ns < c->end_ns && other->end_ns <= c->end_ns &&
            other->end_ns > c->end_ns - SLACK_NS)
            return;
    }
    uint32_t d = goes_on(v, i, slack_of(call_took(c)));
    bool equal = d == CALL_NONE && v->run->wall_ns == 0;
    if (equal)
        d = goes_on(v, i, 0);
    if (d != CALL_NONE)
        tell_inverted(v, i, d, equal);
}

void oracle_timeout(const struct view *v)
{
    struct judge *j = v->judge;
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (c->flags & CALL_OPEN || mode_kind(c->mode) == MODE_HOLD)
            see_no_timeout(v, i);
        if (!gave_up(c) || !is_single(v))
            continue;
        see_inverted(v, i);
        if (c->mode != MODE_NONE && !in_background(v, i) && !is_cut_off(v, c) &&
            map_index(&j->wait_at, judge_path(j, c->uid), j->waits.n) == j->waits.n)
            vec_push(&j->waits, (struct wait){c->uid, c->mode, call_took(c), false});
    }
    /* over-limit */
    if (!j->limit_ns || v->n_faults != 1 || call_took(&v->calls[0]) <= j->limit_ns ||
        j->calm.took.at[0] > j->limit_ns)
        return;
    uint32_t i = 0;
    while (v->calls[i].mode == MODE_NONE)
        i++;
    if (!remark_due(v, ORACLE_OVER_LIMIT, v->calls[i].uid))
        return;
    struct witness witness[] = {{i, "the fault"}, {0, "took"}};
    struct buf limit = BUF_INIT(60);
    buf_add_ns(&limit, j->limit_ns);
    remark_write(v, ORACLE_OVER_LIMIT, v->calls[i].uid, witness, 2,
                 "a fault at %s alone makes %s take longer than its limit of %s",
                 say_name(j, v->calls[i].uid), say_name(j, v->calls[0].uid), buf_text(&limit));
    buf_deinit(&limit);
}
