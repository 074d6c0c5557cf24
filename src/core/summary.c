/* SPDX-License-Identifier: Apache-2.0 */
#include "core/summary.h"

#include "core/run.h"

const char *const finding_kind_names[FINDING_KINDS] = {
    [FINDING_EXPECTATION] = "expectation",
    [FINDING_HANG] = "hang",
    [FINDING_CRASH] = "crash",
    [FINDING_BLAST] = "blast-radius",
    [FINDING_CONTRACT] = "contract",
};

enum finding_kind finding_kind_of(uint32_t run_flags)
{
    return run_flags & RUN_CRASHED    ? FINDING_CRASH
           : run_flags & RUN_HUNG     ? FINDING_HANG
           : run_flags & RUN_CONTRACT ? FINDING_CONTRACT
                                      : FINDING_EXPECTATION;
}

const char *const finding_state_names[FINDING_STATES] = {
    [FINDING_SEEN] = "seen",
    [FINDING_CONFIRMED] = "confirmed",
    [FINDING_FLAKY] = "flaky",
};

const char *const severity_names[SEVERITIES] = {
    [SEVERITY_OFF] = "off",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_FINDING] = "finding",
};

const char *const conclusion_names[CONCLUSIONS] = {
    [CONCLUSION_OK] = "ok",
    [CONCLUSION_INCONCLUSIVE] = "inconclusive",
    [CONCLUSION_FINDINGS] = "findings",
    [CONCLUSION_BROKEN] = "broken",
};

enum conclusion summary_conclusion(const struct summary *s)
{
    return s->broken           ? CONCLUSION_BROKEN
           : summary_wrong(s)  ? CONCLUSION_FINDINGS
           : summary_unsure(s) ? CONCLUSION_INCONCLUSIVE
                               : CONCLUSION_OK;
}

bool summary_unsure(const struct summary *s)
{
    return s->stopped || s->doubt || s->all_suspects;
}

uint64_t run_seed(uint64_t seed, uint64_t number)
{
    return seed * 1000003 + number;
}

uint32_t summary_wrong(const struct summary *s)
{
    uint32_t n = s->findings.n;
    for (uint32_t i = 0; i < s->remarks.n; i++)
        n += s->remarks.at[i].severity == SEVERITY_FINDING;
    return n;
}

uint64_t summary_warnings(const struct summary *s)
{
    uint64_t n = s->more_remarks;
    for (uint32_t i = 0; i < s->remarks.n; i++)
        n += s->remarks.at[i].severity == SEVERITY_WARNING;
    return n;
}

void summary_count(struct summary *s, outcome status, bool pass)
{
    for (uint32_t i = 0; i < s->outcomes.n; i++) {
        struct summary_outcome *o = &s->outcomes.at[i];
        if (o->status == status && o->pass == pass) {
            o->runs++;
            return;
        }
    }
    vec_push(&s->outcomes, (struct summary_outcome){status, pass, 1});
}

void finding_deinit(struct finding *finding)
{
    vec_deinit(&finding->alike);
    vec_deinit(&finding->calls);
}

void summary_deinit(struct summary *s)
{
    for (uint32_t i = 0; i < s->findings.n; i++)
        finding_deinit(&s->findings.at[i]);
    vec_deinit(&s->runs_by_size);
    vec_deinit(&s->outcomes);
    vec_deinit(&s->skipped);
    vec_deinit(&s->assumptions);
    vec_deinit(&s->findings);
    vec_deinit(&s->remarks);
    vec_deinit(&s->levels);
    vec_deinit(&s->notes);
    vec_deinit(&s->volatile_);
    vec_deinit(&s->reasons);
    vec_deinit(&s->restarted);
}
