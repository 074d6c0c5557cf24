/* SPDX-License-Identifier: Apache-2.0 */
#include "support/court.h"

void court_open(struct court *c)
{
    *c = (struct court){.run = {.verdict = {.pass = true, .status = OUTCOME_OK, .why = ""}}};
    names_init(&c->names);
    faultloads_init(&c->faultloads);
    judge_settings_init(&c->settings);
    c->judge = judge_new(&(struct judge_options){
        .names = &c->names, .faultloads = &c->faultloads, .settings = &c->settings});
}

void court_close(struct court *c)
{
    judge_free(c->judge);
    vec_deinit(&c->run.trace.calls);
    summary_deinit(&c->summary);
    judge_settings_deinit(&c->settings);
    faultloads_deinit(&c->faultloads);
    names_deinit(&c->names);
}

struct call *court_add(struct court *c, uint32_t parent, const char *service, const char *interface,
                       uint32_t n, int64_t start_ns, int64_t took_ns)
{
    struct element el = {.service = names_sym(&c->names, slice_of(service)),
                         .interface = names_sym(&c->names, slice_of(interface)),
                         .n = n};
    uid above = parent == CALL_NONE ? UID_NONE : c->run.trace.calls.at[parent].uid;
    vec_push(&c->run.trace.calls,
             (struct call){.uid = names_uid(&c->names, above, names_element(&c->names, el)),
                           .parent = parent,
                           .flags = parent == CALL_NONE ? 0 : c->flags,
                           .seen = OUTCOME_OK,
                           .reply = OUTCOME_OK,
                           .handled = true,
                           .start_ns = start_ns,
                           .end_ns = start_ns + took_ns});
    return &vec_last(&c->run.trace.calls);
}

void court_judge(struct court *c, faultload f)
{
    c->run.number++;
    c->run.faultload = f;
    judge_run(c->judge, &c->run);
    c->run.trace.calls.n = 0;
}
