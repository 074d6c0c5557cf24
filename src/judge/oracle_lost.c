/* SPDX-License-Identifier: Apache-2.0
 *
 * lost-value: in a success something is null, empty or missing that never is without faults, and
 * nothing in the answer says so.
 *
 * 1. Whatever else is new or different in the answer, but for numbers, may be what says so: then it
 *    is silent. So it never speaks where hidden-error speaks of words.
 * 2. An answer that means "there is none" (404) is no failure, and neither is one that was
 *    spoilt on the way: nobody could know.
 * 3. The call to blame is the one whose failure was absorbed: faults below it show the same. */
#include <assert.h>
#include <stdio.h>

#include "data/json.h"
#include "judge/blame_int.h"
#include "judge/oracle_int.h"

enum { LOST_SHOWN = 3, LOST_TEXT_MAX = 400 };

/* What became of an answer. */
struct losses {
    const struct texts *optional;
    struct buf path;  /* so far */
    struct buf what;  /* "/total is null, /items is empty" */
    struct buf where; /* "/total, /items" */
    uint32_t n;
    bool told; /* something in the answer may say so */
};

static void lose(struct losses *l, const char *how)
{
    if (pointers_mean(l->optional, buf_slice(&l->path)) || l->n++ >= LOST_SHOWN)
        return;
    slice path = l->path.n ? buf_slice(&l->path) : SLICE("the answer");
    const char *comma = l->what.n ? ", " : "";
    buf_addf(&l->what, "%s%.*s %s", comma, SLICE_ARG(path), how);
    buf_addf(&l->where, "%s%.*s", comma, SLICE_ARG(l->path.n ? path : SLICE("\"\"")));
}

static void find_losses(struct losses *l, const struct node *was, const struct node *now);

static void find_at(struct losses *l, slice key, const struct node *was, const struct node *now)
{
    size_t n = l->path.n;
    pointer_add(&l->path, key);
    find_losses(l, was, now);
    l->path.n = n;
}

static void find_in_list(struct losses *l, const struct node *was, const struct node *now)
{
    char how[64];
    if (now->n < was->n) { /* which of them are left is not known */
        snprintf(how, sizeof how, "has %u of %u elements", (unsigned)now->n, (unsigned)was->n);
        lose(l, how);
        return;
    }
    l->told |= now->n > was->n;
    for (uint32_t i = 0; i < was->n; i++)
        find_at(l, SLICE("*"), was->list[i], now->list[i]);
}

static void find_in_map(struct losses *l, const struct node *was, const struct node *now)
{
    for (uint32_t i = 0; i < was->n; i++)
        find_at(l, was->map[i].key, was->map[i].value, node_get(now, was->map[i].key));
    for (uint32_t i = 0; i < now->n; i++)
        if (!node_get(was, now->map[i].key))
            find_at(l, now->map[i].key, NULL, now->map[i].value);
}

static void find_losses(struct losses *l, const struct node *was, const struct node *now)
{
    if (node_is_blank(was) || node_is_blank(now)) {
        l->told |= !node_is_blank(now);
        if (!node_is_blank(was))
            lose(l, !now ? "is missing" : now->type == NODE_NULL ? "is null" : "is empty");
        return;
    }
    assert(was && now); /* what is not there is blank */
    if (was->type == NODE_LIST && now->type == NODE_LIST) {
        find_in_list(l, was, now);
    } else if (was->type == NODE_MAP && now->type == NODE_MAP) {
        find_in_map(l, was, now);
    } else {
        bool numbers = was->type == NODE_NUM && now->type == NODE_NUM;
        l->told |= !numbers && !node_eq(was, now);
    }
}

/* Is something lost in silence? */
static bool find_in_body(struct losses *l, const struct mask *m, slice body)
{
    struct arena a = {0};
    const struct node *now = NULL;
    l->path.n = l->what.n = l->where.n = l->n = 0;
    l->told = false;
    if (m->json && body.n && node_parse_json(&a, body, &now) == 0)
        find_losses(l, m->json, mask_apply(m, &a, (slice){0}, now));
    else if (m->body.n && body.n == 0 && mask_compare(m, body) == ALIKE_OTHER)
        lose(l, "is empty");
    arena_deinit(&a);
    return l->n && l->what.n && !l->told;
}

static struct losses losses_new(const struct judge *j)
{
    return (struct losses){.optional = &j->set->optional,
                           .path = BUF_INIT(LOST_TEXT_MAX),
                           .what = BUF_INIT(LOST_TEXT_MAX),
                           .where = BUF_INIT(LOST_TEXT_MAX)};
}

static void losses_deinit(struct losses *l)
{
    buf_deinit(&l->path);
    buf_deinit(&l->what);
    buf_deinit(&l->where);
}

/* ---- whose fault ---- */

/* The call whose failure its caller has absorbed: above it all is well. */
static uint32_t absorbed_call(const struct view *v, const struct request *r, uint32_t fault)
{
    uint32_t handler = v->calls[fault].parent;
    while (handler != r->call && handler != CALL_NONE && call_failed(&v->calls[handler])) {
        fault = handler;
        handler = v->calls[fault].parent;
    }
    return fault;
}

static bool means_none(outcome o)
{
    return o == OUTCOME(OUT_STATUS, 404) || o == OUTCOME(OUT_STATUS, 410) ||
           o == OUTCOME(OUT_GRPC, 5);
}

/* The call to blame; CALL_NONE: nobody. */
static uint32_t blamed(const struct view *v, const struct request *r)
{
    uint32_t at = request_fault(v, r);
    if (at == CALL_NONE || !call_failed(&v->calls[at]))
        return CALL_NONE;
    at = absorbed_call(v, r, at);
    return means_none(v->calls[at].seen) || request_elsewhere(v, r) ? CALL_NONE : at;
}

/* ---- saying ---- */

static void remember(struct judge *j, uid call, const struct request *r)
{
    struct lost lost = {judge_path(j, call), r->usual->request, pool_put(&j->pool, r->body)};
    for (uint32_t i = 0; i < j->lost.n; i++)
        if (j->lost.at[i].path == lost.path) {
            j->lost.at[i] = lost;
            return;
        }
    vec_push(&j->lost, lost);
}

static void see_request(const struct view *v, const struct request *r)
{
    struct judge *j = v->judge;
    if (!r->told || !r->usual || !outcome_ok(r->status) || r->status != r->usual->status ||
        request_alike(r) != ALIKE_OTHER)
        return;
    uint32_t at = blamed(v, r);
    if (at == CALL_NONE || judge_said_smaller(j, ORACLE_LOST_VALUE, v->run->faultload))
        return;
    struct losses l = losses_new(j);
    const struct call *c = &v->calls[at];
    if (find_in_body(&l, &r->usual->mask, r->body) &&
        judge_wants(j, v, ORACLE_LOST_VALUE, c->uid)) {
        struct witness witness[] = {{at, "failed"}, {r->call, "answered with success"}};
        remember(j, c->uid, r);
        judge_tell(
            j, v, ORACLE_LOST_VALUE, c->uid, witness, 2,
            "the client gets %s although %s failed: %s%s, unlike without faults, and nothing "
            "in the answer says why. If that is meant: judge: { optional: [ %s ] }",
            judge_outcome(j, r->status), judge_name(j, c->uid), buf_text(&l.what),
            l.n > LOST_SHOWN ? " and more" : "", buf_text(&l.where));
    }
    losses_deinit(&l);
}

void oracle_lost(const struct view *v)
{
    if (v->run->flags & (RUN_HUNG | RUN_CRASHED | RUN_OUTLIVED))
        return;
    for (uint32_t i = 0; i < v->requests.n; i++)
        see_request(v, &v->requests.at[i]);
}

/* ---- the end ---- */

/* Has hidden-error something to say of this call? It knows more: that the call is needed. */
static bool is_hidden_error(struct judge *j, const struct remark *list, uint32_t n, uid path)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].why && list[i].oracle == oracle_rows[ORACLE_HIDDEN_ERROR].name &&
            list[i].n_evidence && judge_path(j, list[i].evidence[0].call) == path)
            return true;
    return false;
}

/* Later runs without faults may have shown that it is missing at times. */
static bool is_still_lost(struct judge *j, uid path)
{
    uint32_t i = 0;
    while (i < j->lost.n && j->lost.at[i].path != path)
        i++;
    if (i == j->lost.n || j->lost.at[i].body == POOL_NONE)
        return false;
    const struct usual_answer *usual = answers_find(&j->base.usual, j->lost.at[i].request);
    struct losses l = losses_new(j);
    bool still = usual && find_in_body(&l, &usual->mask, pool_text(&j->pool, j->lost.at[i].body));
    losses_deinit(&l);
    return still;
}

void oracle_lost_end(struct judge *j)
{
    judge_unsay_larger(j, ORACLE_LOST_VALUE);
    for (uint32_t i = 0; i < j->said.n; i++) {
        struct remark *r = &j->said.at[i];
        if (!r->why || r->oracle != oracle_rows[ORACLE_LOST_VALUE].name)
            continue;
        uid path = judge_path(j, r->evidence[0].call);
        if (!is_still_lost(j, path) || is_hidden_error(j, j->said.at, j->said.n, path) ||
            is_hidden_error(j, j->late.at, j->late.n, path))
            r->why = NULL;
    }
}
