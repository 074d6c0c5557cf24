/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run.h"

const char *const run_purpose_names[RUN_PURPOSES] = {
    [RUN_BASELINE] = "baseline", [RUN_SEARCH] = "search", [RUN_AUDIT] = "audit",
    [RUN_CHECK] = "check",       [RUN_SHRINK] = "shrink", [RUN_CONFIRM] = "confirm",
    [RUN_REPLAY] = "replay",
};

const char *const run_flag_names[RUN_FLAGS] = {"hung",     "crashed",    "outlived", "repeated",
                                               "contract", "unexpected", "hurried"};
const char *const call_flag_names[CALL_FLAGS] = {"exempt", "http",   "grpc", "ambiguous",
                                                 "open",   "hushed", "http2"};

/* ---- what can be ---- */

static bool is_time(int64_t ns)
{
    return ns >= -RUN_TIME_MAX && ns <= RUN_TIME_MAX;
}

static const char *call_flaw(const struct names *names, const struct run *run, uint32_t i)
{
    const struct call *calls = run->trace.calls.at, *c = &calls[i];
    const struct call *above = i && c->parent < i ? &calls[c->parent] : NULL;
    if (i ? !above : c->parent != CALL_NONE)
        return "parent";
    if (c->uid == UID_NONE || uid_element(names, c->uid)->n == N_ANY ||
        uid_parent(names, c->uid) != (above ? above->uid : UID_NONE))
        return "point";
    /* a fault is at the call, or at all that are equal to it */
    const struct element *el = uid_element(names, c->uid);
    const struct element *all = c->fault_point ? uid_element(names, c->fault_point) : NULL;
    if (c->mode != MODE_NONE && c->fault_point != c->uid &&
        (!all || uid_parent(names, c->fault_point) != uid_parent(names, c->uid) ||
         all->n != N_ANY || all->service != el->service || all->interface != el->interface ||
         all->payload != el->payload || all->before != el->before))
        return "fault_point";
    if (c->flags >> CALL_FLAGS)
        return "flags";
    if (i ? (above->flags & ~c->flags) & CALL_HUSHED : c->flags & CALL_HUSHED)
        return "flags"; /* what is below a hushed call is hushed; the request is not */
    if (!is_time(c->start_ns))
        return "start_ns";
    if (!is_time(c->end_ns) || c->end_ns <= c->start_ns)
        return "end_ns";
    return c->answer > run->n_answers ? "answer" : NULL;
}

/* What is wrong with the run itself, whatever its calls are. */
static const char *head_flaw(const struct run *run)
{
    if (run->number < 1 || run->number >= INT64_MAX)
        return "number";
    if ((uint32_t)run->purpose >= RUN_PURPOSES)
        return "purpose";
    if (run->flags >> RUN_FLAGS)
        return "flags";
    if (run->body.n > RUN_BODY_MAX)
        return "body";
    if (run->wall_ns < 0)
        return "wall_ns";
    if (run->took_ns < 0 || !is_time(run->took_ns))
        return "took_ns";
    if (!run->trace.calls.n || run->trace.calls.n > RUN_CALLS_MAX)
        return "calls";
    return NULL;
}

const char *run_flaw(const struct names *names, const struct run *run, uint32_t *call)
{
    VEC(uint32_t) depth = {0};
    const char *flaw = head_flaw(run);
    *call = CALL_NONE;
    for (uint32_t i = 0; !flaw && i < run->trace.calls.n; i++) {
        *call = i;
        flaw = call_flaw(names, run, i);
        vec_push(&depth, flaw || !i ? 1 : depth.at[run->trace.calls.at[i].parent] + 1);
        if (vec_last(&depth) > RUN_DEPTH_MAX)
            flaw = "parent";
    }
    vec_deinit(&depth);
    return flaw;
}
