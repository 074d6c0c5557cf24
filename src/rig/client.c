/* SPDX-License-Identifier: Apache-2.0
 *
 * What exercises the nodes, each client at one of them: a built-in one carries out its operations one
 * after the other, whatever becomes of each; a command says what it does line by line. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/file.h"
#include "io/sys.h"
#include "lab/voice.h"
#include "plan/said.h"
#include "rig/rig_int.h"

#define AFTER_LOSS_NS MS(20) /* who was refused asks again, but not at once */

static struct trial_client *result_of(struct rig_client *c)
{
    return &c->slot->result->clients.at[c->at];
}

static void op_add(struct rig_client *c, slice name, bool ok, int64_t took_ns, slice said)
{
    struct trial_result *r = c->slot->result;
    struct trial_client *to = result_of(c);
    if (to->ops.n == TRIAL_OPS_MAX) {
        r->truncated = true;
        return;
    }
    if (!ok && !to->said.n)
        to->said = slice_copy(&r->arena, said);
    slice known = to->ops.n && slice_eq(vec_last(&to->ops).name, name)
                      ? vec_last(&to->ops).name
                      : slice_copy(&r->arena, name);
    vec_push(&to->ops, (struct trial_op){slot_now(c->slot), took_ns, known, ok});
}

static void over(struct rig_client *c, bool finished)
{
    struct trial_client *to = result_of(c);
    c->over = true;
    to->finished = finished;
    to->ended_ns = slot_now(c->slot);
    slot_wake(c->slot);
}

/* ---- built-in ones ---- */

static void operation(struct rig_client *c, struct buf *out)
{
    trials_operation(c->what, c->n, out);
}

static void on_next(struct timer *t)
{
    struct rig_client *c = OWNER(t, struct rig_client, next);
    struct buf text = BUF_INIT(TALK_REPLY_MAX);
    operation(c, &text);
    c->asked_ns = clock_ns();
    caller_ask(c->caller, buf_slice(&text), c->what->timeout_ns);
    buf_deinit(&text);
}

static void on_done(void *user, const struct call_result *r)
{
    struct rig_client *c = user;
    struct loop *l = &c->slot->rig->loop;
    struct buf text = BUF_INIT(TALK_REPLY_MAX);
    operation(c, &text);
    slice rest = buf_slice(&text), name = {0};
    (void)slice_word(&rest, &name);
    op_add(c, name, r->end == CALL_OK, r->took_ns, r->text);
    buf_deinit(&text);
    if (++c->n >= c->what->count) {
        over(c, true);
        return;
    }
    int64_t at = c->asked_ns + c->what->every_ns;
    int64_t pause = r->end == CALL_REFUSED || r->end == CALL_LOST ? AFTER_LOSS_NS : 0;
    timer_start(l, &c->next, at > l->now_ns + pause ? at : l->now_ns + pause);
}

/* ---- commands ---- */

static void on_line(void *user, slice text)
{
    struct rig_client *c = user;
    struct said s = said_read(text);
    int64_t now = clock_ns();
    slice rest = s.text, name = {0};
    if (s.kind != SAID_OK && s.kind != SAID_FAIL)
        return;
    (void)slice_word(&rest, &name);
    op_add(c, name, s.kind == SAID_OK, s.took_ns >= 0 ? s.took_ns : now - c->last_ns, s.text);
    c->last_ns = now;
}

static void on_ended(void *user, int status, const char *why)
{
    struct rig_client *c = user;
    struct trial_client *to = result_of(c);
    c->voice = NULL;
    to->status = status;
    bool ok = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ok && !to->said.n)
        to->said = slice_copy(&c->slot->result->arena, slice_of(why));
    if (status == -1)
        (void)slot_broken(c->slot, "the client %.*s could not be started: %s",
                          SLICE_ARG(c->what->name), why);
    over(c, ok);
}

static const struct voice_events events = {NULL, on_line, on_ended};

static void start_command(struct rig_client *c)
{
    struct slot *s = c->slot;
    struct arena *a = &s->arena;
    uint32_t n;
    slice command = place_expand(s, c->what->node, c->what->command);
    const struct text_pair *env = place_env(s, c->what->node, &c->what->env, &n);
    struct process_spec spec = {.command = arena_copy(a, command.p, command.n),
                                .dir = arena_copy(a, s->rig->trials->dir.p, s->rig->trials->dir.n),
                                .env = env_texts(a, env, n)};
    const char *log =
        arena_printf(a, "%.*s/%.*s.log", SLICE_ARG(s->base), SLICE_ARG(c->what->name));
    c->log_fd = file_open_private(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    c->voice = voice_start(s->rig->keeper, &spec, c->log_fd, &events, c);
}

/* ---- both ---- */

void rig_client_start(struct rig_client *c)
{
    struct slot *s = c->slot;
    struct trial_client *to = result_of(c);
    to->started = true;
    to->began_ns = slot_now(s);
    c->last_ns = clock_ns();
    c->log_fd = -1;
    c->next.fire = on_next;
    if (c->what->talk == TALKS_COMMAND) {
        start_command(c);
        return;
    }
    slice talk = c->what->talk == TALKS_REDIS ? SLICE("redis") : SLICE("memcached");
    c->caller = caller_new(&s->rig->loop, talk_find(talk), s->port[c->what->at_port], on_done, c);
    timer_start(&s->rig->loop, &c->next, s->rig->loop.now_ns);
}

void rig_client_stop(struct rig_client *c)
{
    struct trial_client *to = result_of(c);
    timer_stop(&c->slot->rig->loop, &c->next);
    caller_free(c->caller);
    c->caller = NULL;
    if (c->voice)
        voice_abandon(c->voice);
    c->voice = NULL;
    if (c->log_fd >= 0)
        sys_close(c->log_fd);
    c->log_fd = -1;
    if (!c->over) {
        c->over = true;
        to->late = true;
        to->ended_ns = slot_now(c->slot);
    }
}
