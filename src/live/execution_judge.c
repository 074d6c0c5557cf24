/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict of one run: what its answer, or its command, comes to. A run that was not answered in
 * time, and one in which a service died, has failed whatever else holds. */
#include "base/intern.h"
#include "data/json.h"
#include "data/secret.h"
#include "live/execution_int.h"

static const char *say(const struct execution *x, const char *format, const char *text)
{
    struct buf sentence = BUF_INIT(400);
    buf_addf(&sentence, "%s%s", format, text);
    const char *out = intern_keep(x->live->opt.sentences, buf_slice(&sentence));
    buf_deinit(&sentence);
    return out;
}

static const struct trace *trace_of(const struct execution *x)
{
    return x->result.lesson ? track_lesson_trace(x->result.lesson) : &x->result.run.trace;
}

static bool any_fired(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->calls.n; i++)
        if (trace->calls.at[i].mode != MODE_NONE)
            return true;
    return false;
}

static void judge_simulated(struct execution *x, const struct node *state)
{
    const struct node *body = &node_null;
    if (x->answer.body.n && node_parse_json(&x->arena, x->answer.body, &body))
        body = node_str(&x->arena, x->answer.body);
    sim_judge(x->live->opt.sim, x->order.scenario, x->answer.seen, body, trace_of(x), state,
              &x->result.run.verdict);
}

static void judge_command(struct execution *x, const struct expect_spec *expect)
{
    const struct command_result *r = &x->ended;
    struct verdict *v = &x->result.run.verdict;
    expect_command(expect, r, x->live->opt.sentences, &x->arena, v);
    v->status = r->timed_out        ? OUTCOME(OUT_TIMEOUT, 0)
                : r->exit_code >= 0 ? OUTCOME(OUT_EXIT, r->exit_code)
                                    : OUTCOME(OUT_EXIT, 128 + r->signal); /* as shells count */
}

/* From here on nobody needs the secrets that services told, and all that follows is kept. */
static void mask_secrets(struct execution *x)
{
    struct run *run = &x->result.run;
    run->body = secret_masked(&x->arena, run->body, RUN_BODY_MAX);
    for (uint32_t i = 0; i < run->n_answers; i++)
        run->answers[i] = secret_masked(&x->arena, run->answers[i], RUN_BODY_MAX);
}

void execution_judge(struct execution *x, const struct node *state)
{
    struct run *run = &x->result.run;
    const struct scenario_spec *spec = &x->live->config->scenarios.at[x->order.scenario];
    bool faulty = spec->under_faults.given && any_fired(trace_of(x));
    const struct expect_spec *expect = faulty ? &spec->under_faults : &spec->expect;
    struct intern *s = x->live->opt.sentences;
    run->body = spec->is_command ? x->ended.output : x->answer.body;
    if (run->body.n > RUN_BODY_MAX)
        run->body.n = RUN_BODY_MAX;
    if (x->live->config->simulated_scenarios)
        judge_simulated(x, state);
    else if (spec->is_command)
        judge_command(x, expect);
    else
        expect_answer(expect, &x->answer, s, &x->arena, &run->verdict);
    mask_secrets(x);
    if (run->flags & RUN_HUNG) {
        struct buf within = BUF_INIT(40);
        buf_add_ns(&within, spec->timeout_ns); /* one finding, also of a run with less time */
        run->verdict.pass = false;
        run->verdict.why = say(x, "the scenario does not end within ", buf_text(&within));
        buf_deinit(&within);
    }
    if (run->flags & RUN_CRASHED) {
        slice who = slice_of(run->event);
        const char *bracket = strstr(run->event, " (");
        if (bracket)
            who.n = (size_t)(bracket - run->event);
        run->verdict.pass = false;
        run->verdict.why = intern_keep(s, who);
        run->verdict.detail = run->event;
    }
}
