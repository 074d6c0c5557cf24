/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge: shows every run to the oracles, remembers what they say, and puts it in order. */
#include "judge/oracle_int.h"

const struct oracle_row oracle_rows[ORACLES] = {
#define ORACLE(id, name, severity, says) {name, SEVERITY_##severity, says},
#include "judge/oracle.list"
#undef ORACLE
};

/* Which oracles a function is for: it is not called when all of them are off. */
#define BIT(id) (1u << ORACLE_##id)

/* What looks for them in every run, and what concludes at the end; in this order. */
static const struct {
    void (*see)(const struct view *v);
    void (*conclude)(struct judge *j);
    uint32_t oracles;
} steps[] = {
    {oracle_cause, NULL, BIT(FAILURE_WITHOUT_CAUSE)},
    {oracle_status, oracle_status_end, BIT(WRONG_STATUS)},
    {oracle_hidden, oracle_hidden_end, BIT(HIDDEN_ERROR)},
    {oracle_lost, oracle_lost_end, BIT(LOST_VALUE)}, /* after hidden-error */
    {oracle_check, oracle_check_end, BIT(CHECK_THEN_ACT)},
    {oracle_retry, oracle_retry_end, BIT(RETRY_WITHOUT_EFFECT) | BIT(UNEVEN_RETRY)},
    {oracle_duplicate, oracle_duplicate_end, BIT(DUPLICATE_EFFECT)},
    {oracle_storm, oracle_storm_end, BIT(RETRY_STORM)},
    {NULL, oracle_uneven_end, BIT(UNEVEN_RETRY) | BIT(UNEVEN_FALLBACK)},
    {oracle_fallback, NULL, BIT(FALLBACK_TO_FAILED) | BIT(FALLBACK_WORSE)},
    {NULL, oracle_fallback_end, BIT(FALLBACK_UNREACHED)},
    {oracle_timeout, NULL, BIT(NO_TIMEOUT) | BIT(INVERTED_TIMEOUTS) | BIT(OVER_LIMIT)},
    {oracle_effects, oracle_effects_end, BIT(PARTIAL_EFFECTS) | BIT(SKIPPED_EFFECT)},
    {oracle_slow, oracle_slow_end, BIT(SLOW_ELSEWHERE)},
};

enum oracle oracle_find(slice name)
{
    uint32_t i = 0;
    while (i < ORACLES && !slice_is(name, oracle_rows[i].name))
        i++;
    return (enum oracle)i;
}

bool oracle_compares(enum oracle oracle)
{
    uint32_t several = BIT(UNEVEN_RETRY) | BIT(UNEVEN_FALLBACK) | BIT(FALLBACK_UNREACHED) |
                       BIT(LEAK) | BIT(SLOW_ELSEWHERE);
    return several >> oracle & 1;
}

struct judge *judge_new(const struct judge_options *options)
{
    struct judge *j = mem_zero(sizeof *j);
    j->opt = *options;
    j->set = options->settings;
    j->limit_ns = options->limit_ns ? options->limit_ns : options->settings->limit_ns;
    return j;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    arena_deinit(&j->keep);
    calm_deinit(&j->calm);
    intern_deinit(&j->pool);
    vec_deinit(&j->lost);
    view_deinit(&j->view);
    vec_deinit(&j->reactions);
    map_deinit(&j->reaction_at);
    vec_deinit(&j->said);
    vec_deinit(&j->said_in);
    vec_deinit(&j->late);
    map_deinit(&j->said_at);
    map_deinit(&j->called);
    map_deinit(&j->asked);
    map_deinit(&j->decided);
    vec_deinit(&j->paces);
    map_deinit(&j->pace_at);
    vec_deinit(&j->effects);
    vec_deinit(&j->paths);
    deps_memory_free(j->deps);
    map_deinit(&j->slow.faults);
    map_deinit(&j->slow.at);
    vec_deinit(&j->slow.all);
    vec_deinit(&j->waits);
    map_deinit(&j->wait_at);
    mem_free(j);
}

static bool wanted(const struct judge *j, uint32_t oracles)
{
    for (uint32_t o = 0; o < ORACLES; o++)
        if (oracles >> o & 1 && j->set->severity[o] != SEVERITY_OFF)
            return true;
    return false;
}

static bool is_calm(const struct run *run)
{
    uint32_t i = 0;
    while (i < run->trace.calls.n && run->trace.calls.at[i].mode == MODE_NONE)
        i++;
    return run->faultload == FAULTLOAD_EMPTY && i == run->trace.calls.n;
}

void judge_run(struct judge *j, const struct run *run)
{
    struct view *v = &j->view;
    bool calm = is_calm(run);
    if (run->trace.calls.n == 0 || (!j->calm.known && !calm))
        return;
    if (calm)
        calm_learn(j, run);
    j->timed |= run->wall_ns != 0;
    view_make(j, run, v);
    for (uint32_t i = 1; i < v->n; i++)
        map_set(&j->called, uid_element(v->names, v->calls[i].uid)->service, 1);
    reaction_learn(v);
    deps_learn(v);
    if (!v->n_faults) {
        if (wanted(j, BIT(FAILURE_WITHOUT_CAUSE)))
            oracle_cause(v); /* a system may fail without any fault */
        return;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].see && wanted(j, steps[i].oracles))
            steps[i].see(v);
}

uid judge_path(struct judge *j, uid call)
{
    if (call == UID_NONE)
        return UID_NONE;
    while (j->paths.n <= call)
        vec_push(&j->paths, UID_NONE);
    if (j->paths.at[call] == UID_NONE) {
        struct element e = *uid_element(j->opt.names, call);
        uid parent = judge_path(j, uid_parent(j->opt.names, call));
        e.n = 0;
        e.before = 0;
        j->paths.at[call] = names_uid(j->opt.names, parent, names_element(j->opt.names, e));
    }
    return j->paths.at[call];
}

void judge_learn(struct judge *j, const struct run *run)
{
    if (!j->calm.known || run->trace.calls.n == 0)
        return;
    if (!is_calm(run)) {
        view_make(j, run, &j->view);
        if (wanted(j, BIT(SLOW_ELSEWHERE)))
            oracle_slow(&j->view);
        if (wanted(j, BIT(INVERTED_TIMEOUTS)))
            wait_learn(&j->view);
        if (wanted(j, BIT(RETRY_WITHOUT_EFFECT)))
            oracle_retry(&j->view);
    } else if (run_expected(run)) {
        answers_learn(&j->calm.usual, j->set, run);
    }
}

enum effect judge_effect(struct judge *j, uid call)
{
    while (j->effects.n <= call)
        vec_push(&j->effects, 0);
    if (!j->effects.at[call])
        j->effects.at[call] = (uint8_t)(effect_of(j->set, j->opt.names, call) + 1);
    return (enum effect)(j->effects.at[call] - 1);
}

void doubt_add(struct doubts *d, faultload f)
{
    uint32_t i = 0;
    while (i < d->n && d->at[i] != f)
        i++;
    if (i == d->n && d->n < d->most)
        d->at[d->n++] = f;
}

uint32_t judge_doubts(struct judge *j, faultload *out, uint32_t most)
{
    struct doubts d = {out, 0, most};
    if (!j->timed)
        return 0; /* in memory times are exact */
    if (wanted(j, BIT(INVERTED_TIMEOUTS)))
        wait_doubts(j, &d);
    if (wanted(j, BIT(SLOW_ELSEWHERE)))
        slow_doubts(j, &d);
    if (wanted(j, BIT(RETRY_WITHOUT_EFFECT)))
        pace_doubts(j, &d);
    return d.n;
}

/* ---- the end ---- */

/* An oracle's finding at a faultload that breaks the scenario anyway explains that finding: it is a
 * warning. */
enum severity judge_weigh(const struct judge *j, const struct remark *r, const struct summary *s)
{
    enum severity severity = j->set->severity[oracle_find(slice_of(r->oracle))];
    for (uint32_t i = 0; i < s->findings.n && severity == SEVERITY_FINDING; i++) {
        const struct finding *f = &s->findings.at[i];
        if (faultload_within(j->opt.faultloads, f->faultload, r->faultload))
            severity = SEVERITY_WARNING;
        for (uint32_t k = 0; k < f->alike.n && severity == SEVERITY_FINDING; k++)
            if (faultload_within(j->opt.faultloads, f->alike.at[k], r->faultload))
                severity = SEVERITY_WARNING;
    }
    return severity;
}

const struct remark *judge_news(struct judge *j)
{
    while (j->n_given < j->said.n) {
        const struct remark *r = &j->said.at[j->n_given++];
        if (r->why && j->set->severity[oracle_find(slice_of(r->oracle))] == SEVERITY_FINDING)
            return r;
    }
    return NULL;
}

/* What is not compared; of several requests, with their names before it. Requests of the same name
 * are told once. */
static void tell_volatile(struct judge *j, struct summary *out)
{
    struct intern told = {0};
    out->volatile_.n = 0;
    for (uint32_t i = 0; i < j->set->volatile_.n; i++)
        vec_push(&out->volatile_, j->set->volatile_.at[i].p);
    for (uint32_t i = 0; i < j->calm.usual.n; i++) {
        const struct usual_answer *u = &j->calm.usual.at[i];
        for (uint32_t k = 0; k < u->mask.names.n; k++) {
            struct buf text = BUF_INIT(1 << 12);
            uint32_t n = told.text.n;
            if (j->calm.usual.n > 1)
                buf_addf(&text, "%s: ", say_name(j, u->request));
            buf_add(&text, u->mask.names.at[k]);
            if (intern_put_in(&told, &j->keep, buf_slice(&text)) == n)
                vec_push(&out->volatile_, intern_text(&told, n).p);
            buf_deinit(&text);
        }
    }
    intern_deinit(&told);
}

enum { REMARKS_MAX = 300 };

void judge_finish(struct judge *j, bool complete, struct summary *out)
{
    /* what is concluded today may be wrong tomorrow: what runs have said stays as it is */
    struct remark *said = mem_alloc((j->said.n + 1) * sizeof *said);
    if (j->said.n)
        memcpy(said, j->said.at, j->said.n * sizeof *said);
    tell_volatile(j, out);
    out->remarks.n = 0;
    out->more_remarks = 0;
    j->late.n = 0;
    j->complete = complete;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (j->calm.known && steps[i].conclude && wanted(j, steps[i].oracles))
            steps[i].conclude(j);
    for (int severity = SEVERITY_FINDING; severity > SEVERITY_OFF; severity--)
        for (uint32_t o = 0; o < ORACLES; o++)
            for (uint32_t i = 0; i < j->said.n + j->late.n; i++) {
                struct remark r = i < j->said.n ? j->said.at[i] : j->late.at[i - j->said.n];
                if (!r.why || r.oracle != oracle_rows[o].name)
                    continue;
                r.severity = judge_weigh(j, &r, out);
                if ((int)r.severity != severity)
                    continue;
                if (out->remarks.n == REMARKS_MAX)
                    out->more_remarks++;
                else
                    vec_push(&out->remarks, r);
            }
    if (j->said.n)
        memcpy(j->said.at, said, j->said.n * sizeof *said);
    mem_free(said);
}

void judge_look(struct judge *j, struct arena *keep, struct summary *out)
{
    struct arena own = j->keep;
    j->keep = *keep;
    judge_finish(j, false, out);
    *keep = j->keep;
    j->keep = own;
}
