/* SPDX-License-Identifier: Apache-2.0
 *
 * The agent from its beginning to its end.
 *
 *   listens --(SIGINT, SIGTERM)--> ends: nobody is accepted, scripts lose their input
 *                                    `-- all have ended, or their patience is over --> over
 *
 * The keeper comes first, so that it has nothing of ours; it knows the patience too, for when we are
 * killed. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/agent_int.h"
#include "base/file.h"
#include "io/sys.h"

#define REST_NS SECONDS(1)

void agent_say(const struct agent *a, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (a->o.say)
        a->o.say(a->o.user, text);
}

/* Strangers are few, and the oldest makes room: so they cannot keep those out who know the token. */
static void on_accepted(struct listener *l, int fd)
{
    struct agent *a = l->user;
    struct visit *oldest = NULL;
    for (struct visit *v = a->visits; v && a->n_strangers >= AGENT_STRANGERS_MOST;
         v = visit_next(v))
        oldest = visit_is_stranger(v) ? v : oldest;
    if (oldest)
        visit_kill(oldest);
    visit_new(a, fd);
}

static void on_late(struct timer *t)
{
    struct agent *a = OWNER(t, struct agent, late);
    while (a->visits)
        visit_kill(a->visits);
}

static void on_rest(struct timer *t)
{
    if (!OWNER(t, struct agent, rest)->visits)
        sys_give_back();
}

void agent_rests(struct agent *a)
{
    if (a->ending)
        loop_stop(&a->loop);
    else
        timer_start(&a->loop, &a->rest, clock_ns() + REST_NS);
}

static void on_signal(uv_signal_t *h, int number)
{
    struct agent *a = h->loop->data;
    if (a->signal) /* twice: at once. Keeper and guards see to what is left */
        _exit(128 + number);
    a->signal = number;
    a->ending = true;
    listener_close(&a->listener, NULL);
    a->listening = false;
    for (struct visit *v = a->visits, *next; v; v = next) {
        next = visit_next(v);
        visit_end(v);
    }
    timer_start(&a->loop, &a->late, clock_ns() + AGENT_PATIENCE_NS);
    if (!a->visits)
        loop_stop(&a->loop);
}

static int listen_at(struct agent *a, struct err *e)
{
    int fd = addr_listen(&a->at, false, e);
    if (fd < 0)
        return -1;
    int code = listener_init(&a->listener, &a->loop, fd, on_accepted, a);
    if (code)
        return err_set(e, 0, 0, "%s: cannot listen: %s", a->at.text, strerror(-code));
    a->listening = true;
    return 0;
}

int agent_new(struct agent **out, const struct agent_options *o, struct err *e)
{
    struct agent *a = *out = mem_zero(sizeof *a);
    a->o = *o;
    a->program = arena_printf(&a->arena, "OUTFOX_AGENT=%s", file_program(&a->arena));
    a->late.fire = on_late;
    a->rest.fire = on_rest;
    if (addr_parse(slice_of(o->listen ? o->listen : "127.0.0.1:7700"), "--listen", &a->at, e))
        return -1;
    if (addr_is_unix(&a->at))
        return err_set(e, 0, 0, "--listen takes HOST:PORT: plans know no other addresses");
    (void)keeper_clear_up();
    if (agent_own(a, e) || keeper_new_patient(&a->keeper, AGENT_PATIENCE_NS, e))
        return -1;
    a->tls = tls_server(a->cert, o->cert ? o->key : NULL, NULL, NULL, e);
    if (!a->tls)
        return -1;
    (void)tls_fingerprint(a->tls, a->fingerprint);
    int code = loop_init(&a->loop, NULL);
    if (code)
        return err_set(e, 0, 0, "there can be no event loop: %s", strerror(-code));
    a->loop.uv.data = a;
    (void)uv_signal_init(&a->loop.uv, &a->on_int);
    (void)uv_signal_init(&a->loop.uv, &a->on_term);
    (void)uv_signal_start(&a->on_int, on_signal, SIGINT);
    (void)uv_signal_start(&a->on_term, on_signal, SIGTERM);
    if (keeper_attach(a->keeper, &a->loop, e) || listen_at(a, e))
        return -1;
    agent_rests(a);
    return 0;
}

void agent_where(struct agent *a, struct agent_where *out)
{
    struct buf text = BUF_INIT(200);
    addr_print(&a->at, &text);
    slice host = slice_of(a->at.host);
    *out = (struct agent_where){
        .text = buf_keep(&text, &a->arena).p,
        .host = a->at.host,
        .everywhere = !host.n || slice_is(host, "0.0.0.0") || slice_is(host, "::"),
        .port = addr_port(&a->at),
        .token_file = a->token_file,
        .fingerprint = a->fingerprint,
    };
}

int agent_serve(struct agent *a)
{
    while (!a->ending || a->visits)
        loop_run(&a->loop);
    return a->signal;
}

void agent_free(struct agent *a)
{
    if (!a)
        return;
    if (a->loop.uv.data) {
        timer_stop(&a->loop, &a->late);
        timer_stop(&a->loop, &a->rest);
        if (a->listening)
            listener_close(&a->listener, NULL);
        uv_close((uv_handle_t *)&a->on_int, NULL);
        uv_close((uv_handle_t *)&a->on_term, NULL);
    }
    keeper_free(a->keeper);
    if (a->loop.uv.data)
        loop_deinit(&a->loop);
    tls_context_free(a->tls);
    arena_deinit(&a->arena);
    mem_free(a);
}
