/* SPDX-License-Identifier: Apache-2.0
 *
 * hidden-error: a success that is none.
 *
 *   in words   the body speaks of an error that the fault-free one does not know
 *   by absence the client gets another body, and nothing was asked instead, for an error of a
 *              dependency without which, at other errors, the request fails: at the end
 *
 * 1. Data that another service gave instead may have any text: then only keys count.
 * 2. What is said of a faultload is not said again of larger ones. */
#include "base/hash.h"
#include "judge/blame_int.h"
#include "judge/body_int.h"
#include "judge/contrast_int.h"
#include "judge/oracle_int.h"

/* ---- in words ---- */

/* Most runs of a campaign end with one of a few bodies: what was found in them is remembered. */
static bool speaks_of_error(struct judge *j, const struct request *r, bool values)
{
    uint64_t hash = hash_mix(hash_slice(r->body), (uint64_t)r->usual->request << 1 | values) | 1;
    struct body_memory *m = &j->bodies[hash % BODIES_REMEMBERED];
    struct body_error error;
    if (m->hash != hash)
        *m = (struct body_memory){hash, body_find_error(&r->usual->mask, r->body, values, &error)};
    return m->speaks;
}

static void see_request(const struct view *v, const struct request *r)
{
    struct judge *j = v->judge;
    if (r->body.n == 0 || !outcome_ok(r->status) || !r->usual || !outcome_ok(r->usual->status))
        return;
    bool values = !request_elsewhere(v, r);
    uint32_t at = request_fault(v, r);
    if (at == CALL_NONE || !speaks_of_error(j, r, values) || request_alike(r) != ALIKE_OTHER ||
        judge_said_smaller(j, ORACLE_HIDDEN_ERROR, v->run->faultload))
        return;
    const struct call *c = &v->calls[at];
    struct body_error error;
    if (!judge_wants(j, v, ORACLE_HIDDEN_ERROR, c->uid) ||
        !body_find_error(&r->usual->mask, r->body, values, &error))
        return;
    struct witness witness[] = {{at, "failed"}, {r->call, "answered with success"}};
    judge_tell(j, v, ORACLE_HIDDEN_ERROR, c->uid, witness, 2,
               "the client gets %s although %s %s, and reads of an error only in the body: %s",
               judge_outcome(j, r->status), judge_name(j, c->uid),
               call_failed(c) ? "failed" : "did not answer as it should", error.quote);
}

void oracle_hidden(const struct view *v)
{
    for (uint32_t i = 0; i < v->requests.n; i++)
        see_request(v, &v->requests.at[i]);
}

/* ---- by absence ---- */

static bool silent(const struct judge *j, const struct reaction *r)
{
    return r->ok && r->instead == UID_NONE && reaction_alike(j, r) == ALIKE_OTHER;
}

static bool shows(const struct judge *j, const struct reaction *r)
{
    (void)j;
    return !r->ok;
}

static void tell_absent(struct judge *j, const struct reaction *hidden,
                        const struct reaction *shown)
{
    judge_conclude(j, ORACLE_HIDDEN_ERROR, hidden->group, hidden,
                   "the client gets %s with another body when %s answers %s, and %s when that "
                   "answers %s: what it needs is missing, and it is not told",
                   judge_outcome(j, hidden->status), judge_name(j, hidden->call),
                   judge_outcome(j, hidden->label), judge_outcome(j, shown->status),
                   judge_outcome(j, shown->label));
}

void oracle_hidden_end(struct judge *j)
{
    judge_unsay_larger(j, ORACLE_HIDDEN_ERROR);
    contrast_find(j, &(struct contrast){silent, shows, tell_absent});
}
