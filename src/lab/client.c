/* SPDX-License-Identifier: Apache-2.0
 *
 * What exercises the system. A client with `every` is a command that is run again and again: each
 * time is an operation. Others run as long as the run does, and say line by line what they did
 * (plan/said.h). They may say the same by the run's socket (socket.c). */
#include <unistd.h>

#include "data/json.h"
#include "io/sys.h"
#include "lab/lab_int.h"
#include "lab/socket.h"
#include "plan/said.h"

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
    if (!ok && lab->run->first_failure.client == UINT32_MAX) {
        lab->run->first_failure.said = slice_copy(&lab->run->arena, said);
        lab->run->first_failure.at_ns = now;
        lab->run->first_failure.client = c->index;
    }
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

/* Does it tell of its operations itself, as clients without `every` do? */
static bool says_ops(slice line)
{
    enum said_kind kind = said_read(line).kind;
    return kind == SAID_OK || kind == SAID_FAIL;
}

static void on_done(void *user, const struct command_result *r)
{
    struct lab_client *c = user;
    struct lab *lab = c->lab;
    c->command = NULL;
    slice said = slice_last_line(r->output);
    if (said.n)
        lab_heard(lab, PLAN_NONE, (int32_t)c->index, said);
    struct buf late = BUF_INIT(2000);
    if (r->timed_out) {
        buf_adds(&late, "it did not end within ");
        buf_add_ns(&late, plan_of(c)->within_ns);
        if (says_ops(said))
            buf_addf(&late, ", and prints lines such as \"%.*s\": leave out every", SHORT(said));
        said = buf_slice(&late);
    }
    op_add(c, r->started && r->exit_code == 0, r->end_ns - r->start_ns, said);
    buf_deinit(&late);
    int64_t at = r->start_ns + plan_of(c)->every_ns, now = clock_ns();
    timer_start(&lab->loop, &c->next, at > now ? at : now);
}

static void on_next(struct timer *t)
{
    struct lab_client *c = OWNER(t, struct lab_client, next);
    const struct plan_client *p = plan_of(c);
    struct command_request r = {.text = c->seat.command,
                                .dir = c->seat.dir,
                                .env = c->seat.env,
                                .n_env = c->seat.n_env,
                                .timeout_ns = p->within_ns};
    c->command = command_start(c->lab->keeper, &r, on_done, c);
}

/* ---- a command that lasts ---- */

bool client_say(struct lab_client *c, slice line)
{
    struct said said = said_read(line);
    switch (said.kind) {
    case SAID_OTHER: return false;
    case SAID_EVENT: lab_told(c->lab, (int32_t)c->index, said.name, said.text); return true;
    case SAID_OK:
    case SAID_FAIL: break;
    }
    op_add(c, said.kind == SAID_OK, said.took_ns < 0 ? clock_ns() - c->last_ns : said.took_ns,
           said.text);
    return true;
}

static void on_line(void *user, slice text)
{
    struct lab_client *c = user;
    (void)client_say(c, text);
    lab_heard(c->lab, PLAN_NONE, (int32_t)c->index, text);
}

static void on_ended(void *user, int status, const char *why)
{
    struct lab_client *c = user;
    c->voice = NULL;
    c->over = true;
    if (c->lab->run->broken.n) /* a host is lost, and this comes of it */
        return;
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
    c->log_fd = lab_log(lab, p->name);
    c->voice = lab_voice(lab, &c->seat, c->log_fd, &events, c);
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
