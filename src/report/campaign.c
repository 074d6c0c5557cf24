/* SPDX-License-Identifier: Apache-2.0
 *
 * What all reports of a campaign say alike. */
#include "report/campaign_int.h"

const char *report_verdict(const struct summary *s)
{
    return conclusion_names[summary_conclusion(s)];
}

const char *report_worst(const struct report_source *source)
{
    enum conclusion worst = source->error ? CONCLUSION_INCONCLUSIVE : CONCLUSION_OK;
    for (uint32_t i = 0; i < source->n; i++) {
        enum conclusion one = summary_conclusion(source->scenarios[i]);
        worst = one > worst ? one : worst;
    }
    return conclusion_names[worst];
}

static const struct trace *trace_of(const struct report_source *source, uint32_t scenario,
                                    faultload f, struct trace *out)
{
    struct run run = {0};
    if (!source->run_of || source->run_of(source->ctx, scenario, f, &run))
        return NULL;
    *out = run.trace;
    return out;
}

void report_runs(const struct report_source *source, uint32_t scenario,
                 const struct finding *finding, struct report_runs *out)
{
    *out = (struct report_runs){0};
    out->plain = trace_of(source, scenario, FAULTLOAD_EMPTY, &out->plain_trace);
    out->seen = trace_of(source, scenario, finding->faultload, &out->seen_trace);
}

void report_runs_deinit(struct report_runs *runs)
{
    vec_deinit(&runs->plain_trace.calls);
    vec_deinit(&runs->seen_trace.calls);
}

double report_rate(const struct summary *s)
{
    return s->took_ns > 0 ? (double)(s->runs + s->repeats) / ((double)s->took_ns / 1e9) : 0;
}
