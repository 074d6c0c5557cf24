/* SPDX-License-Identifier: Apache-2.0
 *
 * What exercises the system. A client with `every` is a command that is run again and again: each
 * time is an operation. Others run as long as the run does, and say line by line what they did:
 *
 *   ok [TOOK] [TEXT]       an operation succeeded; TOOK as in 1.5ms, else the time since the last one
 *   fail [TOOK] [TEXT]     one failed
 *   event NAME [VALUE]     something happened, which triggers may wait for
 *
 * All else that it prints is a line like any other. */
#include <unistd.h>

#include "data/json.h"
#include "io/sys.h"
#include "lab/lab_int.h"

static const struct plan_client *plan_of(const struct lab_client *c)
{
    return &c->lab->plan->clients.at[c->index];
}

/* One operation more, in the run and in its history. */
static void op_add(struct lab_client *c, bool ok, int64_t took_ns, slice said)
{
    struct lab *lab = c->lab;
    int64_t now = lab_now(lab);
    c->last_ns = clock_ns();
    if (lab->zero_ns == 0)
        return; /* warming up */
    if (lab->run->ops.n >= PLAN_OPS_MAX) {
        lab->run->truncated = true;
        return;
    }
    vec_push(&lab->run->ops, (struct plan_op){now, took_ns, c->index, ok});
    if (!lab->history)
        return;
    struct buf line = BUF_INIT(64 * 1024);
    struct json_out j = json_out(&line, JSON_COMPACT);
    json_map(&j, NULL);
    json_num(&j, "at_ms", (double)now / 1e6);
    json_str(&j, "client", plan_of(c)->name);
    json_bool(&j, "ok", ok);
    json_num(&j, "took_ms", (double)took_ns / 1e6);
    json_str(&j, "said", said);
    json_map_end(&j);
    buf_addc(&line, '\n');
    (void)fwrite(line.p, 1, line.n, lab->history);
    buf_deinit(&line);
}

/* ---- one command for each operation ---- */

static void on_next(struct timer *t);

static void on_done(void *user, const struct command_result *r)
{
    struct lab_client *c = user;
    struct lab *lab = c->lab;
    c->command = NULL;
    slice said = slice_last_line(r->output);
    if (said.n)
        lab_heard(lab, PLAN_NONE, (int32_t)c->index, said);
    op_add(c, r->started && r->exit_code == 0, r->end_ns - r->start_ns, said);
    int64_t at = r->start_ns + plan_of(c)->every_ns, now = clock_ns();
    timer_start(&lab->loop, &c->next, at > now ? at : now);
}

static void on_next(struct timer *t)
{
    struct lab_client *c = OWNER(t, struct lab_client, next);
    const struct plan_client *p = plan_of(c);
    struct command_request r = {
        .text = p->command, .dir = lab_dir(c->lab, p->dir), .timeout_ns = p->within_ns};
    r.env = lab_env(c->lab, &p->env, &r.n_env);
    c->command = command_start(c->lab->keeper, &r, on_done, c);
}

/* ---- a command that lasts ---- */

static void on_line(void *user, slice text)
{
    struct lab_client *c = user;
    struct lab *lab = c->lab;
    slice rest = text, word, name, value;
    if (!slice_word(&rest, &word))
        return;
    bool ok = slice_is(word, "ok");
    if (ok || slice_is(word, "fail")) {
        slice said = rest;
        int64_t took = clock_ns() - c->last_ns;
        if (slice_word(&said, &word) && slice_to_ns(word, &took))
            rest = said;
        op_add(c, ok, took, slice_trim(rest));
    } else if (slice_is(word, "event") && slice_word(&rest, &name)) {
        value = slice_trim(rest);
        if (lab->faults)
            schedule_event(lab->schedule, lab_now(lab), (int32_t)c->index, name, value);
    }
    lab_heard(lab, PLAN_NONE, (int32_t)c->index, text);
}

static void on_ended(void *user, int status, const char *why)
{
    struct lab_client *c = user;
    c->voice = NULL;
    c->over = true;
    c->lab->run->broken = slice_of(
        arena_printf(&c->lab->run->arena, "the client %.*s %s%s; its output is in %.*s/%.*s.log",
                     SLICE_ARG(plan_of(c)->name),
                     status == -1 ? "did not start: " : "ended before the run did: ",
                     *why ? why : "it had printed nothing", SLICE_ARG(c->lab->dir),
                     SLICE_ARG(plan_of(c)->name)));
    loop_stop(&c->lab->loop);
}

static const struct voice_events events = {NULL, on_line, on_ended};

void client_start(struct lab_client *c)
{
    const struct plan_client *p = plan_of(c);
    struct lab *lab = c->lab;
    c->last_ns = clock_ns();
    if (p->every_ns) {
        c->next.fire = on_next;
        timer_start(&lab->loop, &c->next, lab->loop.now_ns);
        return;
    }
    struct arena a = {0};
    struct process_spec spec = {.command = slice_copy(&a, p->command).p,
                                .dir = slice_copy(&a, lab_dir(lab, p->dir)).p};
    uint32_t n_env;
    const struct text_pair *env = lab_env(lab, &p->env, &n_env);
    spec.env = env_texts(&a, env, n_env);
    c->log_fd = lab_log(lab, p->name);
    c->voice = voice_start(lab->keeper, &spec, c->log_fd, &events, c);
    arena_deinit(&a);
}

void client_stop(struct lab_client *c)
{
    timer_stop(&c->lab->loop, &c->next);
    if (c->command)
        command_cancel(c->command);
    c->command = NULL;
    if (c->voice)
        voice_abandon(c->voice);
    c->voice = NULL;
}
