/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/result.h"

uint32_t trial_client_at(const struct trials *t, uint32_t phase, uint32_t client)
{
    uint32_t at = client;
    for (uint32_t i = 0; i < phase; i++)
        at += t->phases.at[i].clients.n;
    return at;
}

struct trial_result *trial_result_new(const struct trials *t, const struct trial_order *order)
{
    struct trial_result *r = mem_zero(sizeof *r);
    r->order = *order;
    r->finding = UINT32_MAX;
    r->over_ns = -1;
    r->injection.at_ns = -1;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        vec_push(&r->nodes, (struct trial_node){.ended_ns = -1});
    for (uint32_t i = 0; i < t->phases.n; i++)
        for (uint32_t k = 0; k < t->phases.at[i].clients.n; k++)
            vec_push(&r->clients, (struct trial_client){
                                      .phase = i, .client = k, .began_ns = -1, .ended_ns = -1});
    for (uint32_t i = 0; i < t->checkers.invariants.n; i++)
        vec_push(&r->invariants, (struct trial_invariant){0});
    return r;
}

/* The texts of an injection, in another arena. */
static void keep_injection(struct arena *a, struct trial_injection *in)
{
    slice *const texts[] = {&in->site.function, &in->site.file, &in->callee, &in->state.function,
                            &in->state.file,    &in->variable,  &in->task,   &in->why};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = slice_copy(a, *texts[i]);
    for (uint32_t i = 0; i < in->stack.n; i++) {
        in->stack.at[i].function = slice_copy(a, in->stack.at[i].function);
        in->stack.at[i].file = slice_copy(a, in->stack.at[i].file);
    }
}

void trial_result_trim(struct trial_result *r)
{
    struct arena kept = {0};
    if (r->verdict == VERDICT_SUSPICIOUS)
        return;
    keep_injection(&kept, &r->injection);
    for (uint32_t i = 0; i < r->symptoms.n; i++)
        r->symptoms.at[i].text = slice_copy(&kept, r->symptoms.at[i].text);
    r->broken = slice_copy(&kept, r->broken);
    r->reason = slice_copy(&kept, r->reason);
    r->dir = slice_copy(&kept, r->dir);
    for (uint32_t i = 0; i < r->nodes.n; i++)
        vec_deinit(&r->nodes.at[i].lines);
    for (uint32_t i = 0; i < r->clients.n; i++) {
        vec_deinit(&r->clients.at[i].ops);
        r->clients.at[i].said = (slice){0};
    }
    for (uint32_t i = 0; i < r->invariants.n; i++)
        r->invariants.at[i].said = (slice){0};
    vec_deinit(&r->points);
    arena_deinit(&r->arena);
    r->arena = kept;
}

void trial_result_free(struct trial_result *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nodes.n; i++)
        vec_deinit(&r->nodes.at[i].lines);
    for (uint32_t i = 0; i < r->clients.n; i++)
        vec_deinit(&r->clients.at[i].ops);
    vec_deinit(&r->nodes);
    vec_deinit(&r->clients);
    vec_deinit(&r->invariants);
    vec_deinit(&r->points);
    vec_deinit(&r->injection.stack);
    vec_deinit(&r->symptoms);
    arena_deinit(&r->arena);
    mem_free(r);
}

struct trial_seen trial_result_seen(const struct trial_result *r)
{
    return (struct trial_seen){.point = r->points.at,
                               .n_points = r->points.n,
                               .requests = r->requests,
                               .injection = r->injection.done ? &r->injection.raw : NULL};
}

const char *trial_verdict_name(enum trial_verdict v)
{
    static const char *const names[VERDICTS] = {
        [VERDICT_NONE] = "not judged",       [VERDICT_TOLERATED] = "tolerated",
        [VERDICT_EXPECTED] = "expected",     [VERDICT_SUSPICIOUS] = "suspicious",
        [VERDICT_NOT_INJECTED] = "no fault", [VERDICT_NOT_SURE] = "not sure",
    };
    return names[v];
}

const char *trial_purpose_name(enum trial_purpose p)
{
    static const char *const names[TRIAL_PURPOSES] = {
        [TRIAL_REFERENCE] = "reference", [TRIAL_CONTROL] = "control", [TRIAL_EXPLORE] = "explore",
        [TRIAL_AGAIN] = "again",         [TRIAL_VARY] = "vary",       [TRIAL_REPLAY] = "replay",
    };
    return names[p];
}

const char *symptom_name(enum symptom_kind k)
{
    static const char *const names[SYMPTOMS] = {
#define SYMPTOM(ID, name, doc) [SYMPTOM_##ID] = (name),
#include "trial/symptom.list"
    };
    return names[k];
}

const char *symptom_doc(enum symptom_kind k)
{
    static const char *const docs[SYMPTOMS] = {
#define SYMPTOM(ID, name, doc) [SYMPTOM_##ID] = (doc),
#include "trial/symptom.list"
    };
    return docs[k];
}
