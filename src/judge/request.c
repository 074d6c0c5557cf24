/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/judge_int.h"

enum { REQUESTS_MAX = 1000 }; /* of one command */

void requests_of(const struct run *run, struct requests *out)
{
    const struct call *calls = run->trace.calls.at;
    bool command = outcome_kind(run->verdict.status) == OUT_EXIT;
    out->n = 0;
    for (uint32_t i = 1; i < run->trace.calls.n && out->n < REQUESTS_MAX; i++)
        if (calls[i].parent == 0 && calls[i].flags & CALL_EXEMPT) {
            uint32_t n = calls[i].answer;
            vec_push(out, (struct request){.call = i, .status = calls[i].seen, .told = n > 0});
            if (n)
                vec_last(out).body = run->answers[n - 1];
        }
    if (out->n == 0 && !command)
        vec_push(out,
                 (struct request){.status = run->verdict.status, .told = true, .body = run->body});
}

const struct request *view_request(const struct view *v, uint32_t i)
{
    for (uint32_t k = 0; k < v->requests.n; k++)
        if (view_below(v, v->requests.at[k].call, i))
            return &v->requests.at[k];
    return NULL;
}

enum alike request_alike(const struct request *r)
{
    return r->usual && r->told ? mask_compare(&r->usual->mask, r->body) : ALIKE_UNKNOWN;
}

outcome view_status(const struct view *v)
{
    for (uint32_t i = 0; i < v->requests.n; i++) {
        const struct request *r = &v->requests.at[i];
        if (!outcome_ok(r->status) && r->usual && outcome_ok(r->usual->status))
            return r->status;
    }
    return v->requests.n == 1 ? v->requests.at[0].status : v->run->verdict.status;
}

/* ---- what is usual ---- */

const struct usual_answer *answers_find(const struct usual_answers *list, uid request)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i].request == request)
            return &list->at[i];
    return NULL;
}

void answers_learn(struct usual_answers *list, const struct judge_settings *set,
                   const struct run *run)
{
    struct requests all = {0};
    requests_of(run, &all);
    for (uint32_t k = 0; k < all.n; k++) {
        const struct request *r = &all.at[k];
        uid request = run->trace.calls.at[r->call].uid;
        uint32_t i = 0;
        while (i < list->n && list->at[i].request != request)
            i++;
        if (i == REQUESTS_MAX)
            continue;
        if (i == list->n)
            vec_push(list, (struct usual_answer){.request = request, .status = r->status});
        struct usual_answer *u = &list->at[i];
        u->runs++;
        u->mask.set = set;
        if (u->status == r->status && r->told)
            mask_learn(&u->mask, r->body, run->wall_ns);
    }
    vec_deinit(&all);
}

void answers_deinit(struct usual_answers *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        mask_deinit(&list->at[i].mask);
    vec_deinit(list);
}
