/* SPDX-License-Identifier: Apache-2.0
 *
 * What oracles say: each thing once, with the smallest faultload that shows it. Which of several
 * of equal size it is does not depend on the order of the runs. */
#include <stdarg.h>
#include <stdio.h>

#include "base/hash.h"
#include "judge/oracle_int.h"

bool judge_prefers(const struct judge *j, faultload a, faultload b)
{
    const struct faultload_row *rows = j->opt.faultloads->rows.at;
    if (rows[a].size != rows[b].size)
        return rows[a].size < rows[b].size;
    for (; a != b; a = rows[a].rest, b = rows[b].rest) {
        struct fault x = rows[a].last, y = rows[b].last;
        int order = x.point == y.point ? 0 : uid_cmp(j->opt.names, x.point, y.point);
        if (order || x.mode != y.mode)
            return order ? order < 0 : x.mode < y.mode;
    }
    return false;
}

/* ---- of a run ---- */

static uint64_t topic_key(struct judge *j, enum oracle o, topic t)
{
    return hash_mix(hash_mix((uint64_t)o + 1, t >> 32), judge_path(j, (uid)t));
}

bool remark_due(const struct view *v, enum oracle o, topic t)
{
    struct judge *j = v->judge;
    if (j->set->severity[o] == SEVERITY_OFF)
        return false;
    uint64_t key = topic_key(j, o, t);
    const uint32_t *at = map_get(&j->said_at, key);
    if (!at) {
        map_set(&j->said_at, key, j->said.n);
        vec_push(&j->said, (struct remark){.oracle = oracle_rows[o].name, .runs = 1});
        vec_push(&j->said_in, v->run->number);
        return true;
    }
    struct remark *r = &j->said.at[*at];
    r->runs += j->said_in.at[*at] != v->run->number;
    j->said_in.at[*at] = v->run->number;
    return !r->why || judge_prefers(j, v->run->faultload, r->faultload);
}

__attribute__((format(printf, 2, 0))) static const char *say(struct judge *j, const char *format,
                                                             va_list args)
{
    char text[1000];
    vsnprintf(text, sizeof text, format, args);
    return arena_copy(&j->keep, text, strlen(text));
}

void remark_write(const struct view *v, enum oracle o, topic t, const struct witness *witness,
                  uint32_t n, const char *format, ...)
{
    struct remark *r = remark_find(v->judge, o, t);
    va_list args;
    va_start(args, format);
    r->why = say(v->judge, format, args);
    va_end(args);
    r->faultload = v->run->faultload;
    r->number = v->run->number;
    r->n_evidence = 0;
    for (uint32_t i = 0; i < n && r->n_evidence < EVIDENCE_MAX; i++) {
        const struct call *c = &v->calls[witness[i].call];
        r->evidence[r->n_evidence++] =
            (struct evidence){c->uid, c->mode, c->seen, c->start_ns, c->end_ns, witness[i].role};
    }
}

void judge_note_service(struct judge *j, enum oracle o, slice service, faultload f, uint64_t number,
                        const char *why)
{
    uint64_t key = hash_mix((uint64_t)o + 1, hash_slice(service));
    if (j->set->severity[o] == SEVERITY_OFF || map_get(&j->said_at, key))
        return;
    map_set(&j->said_at, key, j->said.n);
    vec_push(&j->said, (struct remark){.oracle = oracle_rows[o].name,
                                       .why = arena_copy(&j->keep, why, strlen(why)),
                                       .faultload = f,
                                       .number = number,
                                       .runs = 1});
    vec_push(&j->said_in, number);
}

/* ---- at the end ---- */

struct remark *remark_find(struct judge *j, enum oracle o, topic t)
{
    const uint32_t *at = map_get(&j->said_at, topic_key(j, o, t));
    return at ? &j->said.at[*at] : NULL;
}

struct remark *remark_next(struct judge *j, enum oracle o, const struct remark *r)
{
    for (uint32_t i = r ? (uint32_t)(r - j->said.at) + 1 : 0; i < j->said.n; i++)
        if (j->said.at[i].why && j->said.at[i].oracle == oracle_rows[o].name)
            return &j->said.at[i];
    return NULL;
}

void remark_conclude(struct judge *j, enum oracle o, topic t, const struct reaction *r,
                     const char *format, ...)
{
    struct remark remark = {.oracle = oracle_rows[o].name, .runs = 1};
    const struct remark *said = remark_find(j, o, t);
    if (j->set->severity[o] == SEVERITY_OFF || (said && said->why))
        return; /* a run has said so already */
    va_list args;
    va_start(args, format);
    remark.why = say(j, format, args);
    va_end(args);
    if (r) {
        remark.faultload = r->faultload;
        remark.number = r->number;
        remark.evidence[remark.n_evidence++] =
            (struct evidence){.call = r->call, .seen = label_outcome(r->label), .role = "fails"};
        if (r->instead != UID_NONE)
            remark.evidence[remark.n_evidence++] =
                (struct evidence){.call = r->instead, .role = "instead"};
    }
    vec_push(&j->late, remark);
}

void remarks_pick(struct judge *j, enum oracle o, uid (*about)(const struct remark *r))
{
    struct map kept = {0}; /* what it is about -> the remark */
    for (struct remark *r = NULL; (r = remark_next(j, o, r));) {
        uid what = about(r);
        if (what == UID_NONE)
            continue;
        const uint32_t *at = map_get(&kept, judge_path(j, what));
        struct remark *other = at ? &j->said.at[*at] : NULL;
        bool rather = !other || (r->faultload == other->faultload
                                     ? strcmp(r->why, other->why) < 0
                                     : judge_prefers(j, r->faultload, other->faultload));
        if (other)
            (rather ? other : r)->why = NULL;
        if (rather)
            map_set(&kept, judge_path(j, what), (uint32_t)(r - j->said.at));
    }
    map_deinit(&kept);
}

bool remark_smaller(struct judge *j, enum oracle o, faultload f)
{
    const struct faultloads *fl = j->opt.faultloads;
    for (const struct remark *r = NULL; (r = remark_next(j, o, r));) {
        faultload part = r->faultload;
        if (faultload_size(fl, part) >= faultload_size(fl, f))
            continue;
        while (part != FAULTLOAD_EMPTY &&
               faultload_at(fl, f, fl->rows.at[part].last.point) != MODE_NONE)
            part = fl->rows.at[part].rest;
        if (part == FAULTLOAD_EMPTY)
            return true;
    }
    return false;
}

void remarks_drop_larger(struct judge *j, enum oracle o)
{
    for (struct remark *r = NULL; (r = remark_next(j, o, r));)
        if (remark_smaller(j, o, r->faultload))
            r->why = NULL;
}

/* ---- parts of sentences ---- */

const char *say_name(struct judge *j, uid call)
{
    struct element e = *uid_element(j->opt.names, call);
    struct buf text = BUF_INIT(400);
    e.n = 0;
    e.before = 0;
    element_print(j->opt.names, &e, &text);
    return buf_keep(&text, &j->keep).p;
}

const char *say_service(struct judge *j, uid call)
{
    slice name = names_text(j->opt.names, uid_element(j->opt.names, call)->service);
    return slice_copy(&j->keep, name).p;
}

const char *say_outcome(struct judge *j, outcome o)
{
    struct buf text = BUF_INIT(60);
    outcome_print(o, &text);
    return buf_keep(&text, &j->keep).p;
}

const char *say_label(struct judge *j, label l)
{
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    label_print(l, &text);
    return buf_keep(&text, &j->keep).p;
}

const char *say_fate(struct judge *j, outcome seen)
{
    static const char *const fates[OUT_KINDS] = {
        [OUT_NONE] = "did not end",           [OUT_REFUSED] = "could not be reached",
        [OUT_RESET] = "reset the connection", [OUT_CLOSED] = "closed the connection",
        [OUT_TIMEOUT] = "timed out",          [OUT_CANCELLED] = "was abandoned by its caller",
        [OUT_EXIT] = "ended with an error",
    };
    const char *fate = fates[outcome_kind(seen)];
    if (fate)
        return fate;
    struct buf text = BUF_INIT(60);
    buf_adds(&text, "answered ");
    outcome_print(seen, &text);
    return buf_keep(&text, &j->keep).p;
}
