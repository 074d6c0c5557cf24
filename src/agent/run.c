/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox's side: one script, with our standard streams, over a connection of its own. What it prints
 * is written at once and waits for whoever reads it: then we do not read, and the script waits too. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/frame.h"
#include "base/token.h"
#include "io/addr.h"
#include "io/conn.h"
#include "io/sys.h"

#define CONNECT_NS SECONDS(10)

struct call {
    const struct agent_call *what;
    struct arena arena;
    slice token;
    struct loop loop;
    struct conn *conn; /* NULL: gone */
    struct frames in;
    uv_poll_t input;
    bool polled, input_over;
    int code; /* -1: not known yet */
    struct err *e;
};

static const struct tls_terms terms = {
    .authority = "ca",
    .ca = "ca: FILE",
    .cert = "cert",
    .key = "key",
    .name = "address",
    .insecure = "fingerprint: HEX instead of ca",
    .plain = "start outfox agent there",
    .tls = "start outfox agent there",
};

static struct call *call_of(struct conn *c)
{
    return c->user;
}

static void call_end(struct call *k, int code)
{
    if (k->conn)
        conn_reset(k->conn);
    k->conn = NULL;
    k->code = code;
    loop_stop(&k->loop);
}

static void call_fail(struct call *k, const char *why, slice more)
{
    (void)err_set(k->e, 0, 0, "agent %s: %s%.*s", k->what->address, why, SLICE_ARG(more));
    call_end(k, AGENT_LOST);
}

/* All of it: standard output is a pipe whose reader may take its time. Nobody reads: it is dropped. */
static void pass_on(int fd, slice bytes)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    while (bytes.n) {
        ssize_t put = write(fd, bytes.p, bytes.n);
        if (put < 0 && (errno == EINTR || (errno == EAGAIN && poll(&room, 1, -1) >= 0)))
            continue;
        if (put <= 0)
            return;
        bytes = slice_from(bytes, (size_t)put);
    }
}

/* ---- the connection ---- */

static void on_bytes(struct conn *c, slice bytes)
{
    struct call *k = call_of(c);
    struct frame f;
    enum frame_step step;
    int code;
    while ((step = frames_take(&k->in, "OXCN", &bytes, &f)) == FRAME_WHOLE) {
        if (f.kind == FRAME_REFUSED) {
            call_fail(k, "", f.bytes);
            return;
        }
        if (f.kind == FRAME_CODE && frame_read_code(f.bytes, &code)) {
            call_end(k, code);
            return;
        }
        pass_on(f.kind == FRAME_OUTPUT ? STDOUT_FILENO : STDERR_FILENO, f.bytes);
    }
    if (step == FRAME_WRONG)
        call_fail(k, "what listens there is no outfox agent: mend address and port", (slice){0});
}

static void on_ready(struct conn *c)
{
    conn_expire(c, 0);
}

static void on_eof(struct conn *c)
{
    call_fail(call_of(c), "it has ended, or was killed, before the command did", (slice){0});
}

static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    static const char *const words[] = {[GONE_RESET] = "the connection is lost: ",
                                        [GONE_CONNECT] = "it cannot be reached: ",
                                        [GONE_TLS] = "it cannot be trusted: "};
    struct call *k = call_of(c);
    k->conn = NULL;
    call_fail(k, words[why], slice_of(text));
}

static void on_expired(struct conn *c)
{
    call_fail(call_of(c), "it cannot be reached: connecting timed out", (slice){0});
}

static void nothing(struct conn *c)
{
    (void)c;
}

static void on_input(uv_poll_t *h, int status, int seen);

/* There is room again for our input. */
static void on_wrote(struct conn *c)
{
    struct call *k = call_of(c);
    if (k->polled && !k->input_over && c->out.n < AGENT_UNREAD_MAX / 2)
        (void)uv_poll_start(&k->input, UV_READABLE, on_input);
}

static const struct conn_events events = {.ready = on_ready,
                                          .bytes = on_bytes,
                                          .eof = on_eof,
                                          .flush = nothing,
                                          .wrote = on_wrote,
                                          .gone = on_gone,
                                          .expired = on_expired};

/* ---- our input ---- */

static void input_end(struct call *k)
{
    k->input_over = true;
    if (k->conn) {
        frame_add(&k->conn->out, FRAME_END, (slice){0});
        conn_touch(k->conn);
    }
    (void)uv_poll_stop(&k->input);
}

static void on_input(uv_poll_t *h, int status, int seen)
{
    struct call *k = OWNER(h, struct call, input);
    (void)seen;
    loop_batch(&k->loop);
    ssize_t got = status < 0 ? status : sys_read(STDIN_FILENO, k->loop.read_bytes, FRAME_PIECE_MAX);
    if (got == -EAGAIN || (got > 0 && !k->conn))
        return;
    if (got <= 0) {
        input_end(k);
        return;
    }
    frame_add(&k->conn->out, FRAME_INPUT, (slice){k->loop.read_bytes, (size_t)got});
    conn_touch(k->conn);
    if (k->conn->out.n > AGENT_UNREAD_MAX) /* nobody takes it: neither do we */
        (void)uv_poll_stop(&k->input);
}

/* What cannot be waited for is no input: /dev/null, or a file. */
static void input_open(struct call *k)
{
    k->polled = uv_poll_init(&k->loop.uv, &k->input, STDIN_FILENO) == 0;
    if (k->polled)
        (void)uv_poll_start(&k->input, UV_READABLE, on_input);
    else
        frame_add(&k->conn->out, FRAME_END, (slice){0});
}

/* ---- from beginning to end ---- */

static int call_open(struct call *k, struct addr *to, struct tls_context **tls)
{
    const struct agent_call *w = k->what;
    if (w->script.n > FRAME_RUN_MAX)
        return err_set(k->e, 0, 0, "the script is longer than %d bytes", FRAME_RUN_MAX);
    if (token_read(w->token_file, "token-file", &k->arena, &k->token, k->e) ||
        token_check(k->token, k->e) || addr_parse(slice_of(w->address), "agent", to, k->e))
        return -1;
    struct tls_client_options o = {
        .terms = &terms, .ca = w->ca, .pin = w->fingerprint, .name = to->host};
    *tls = tls_client(&o, k->e);
    if (!*tls)
        return -1;
    int code = loop_init(&k->loop, NULL);
    if (!code)
        return 0;
    tls_context_free(*tls);
    return err_set(k->e, 0, 0, "there can be no event loop: %s", strerror(-code));
}

int agent_run(const struct agent_call *w, struct err *e)
{
    struct call k = {.what = w, .code = -1, .e = e};
    struct addr to;
    struct tls_context *tls = NULL;
    if (call_open(&k, &to, &tls)) {
        arena_deinit(&k.arena);
        return AGENT_LOST;
    }
    k.conn = conn_connect(&k.loop, &to, tls, ALPN_NONE, &events, &k);
    if (k.conn->fd >= 0)
        sys_watch_peer(k.conn->fd, AGENT_SILENCE_S);
    conn_expire(k.conn, clock_ns() + CONNECT_NS);
    conn_read(k.conn, true);
    frame_add_hello(&k.conn->out, k.token);
    frame_add(&k.conn->out, FRAME_RUN, w->script);
    input_open(&k);
    while (k.code < 0)
        loop_run(&k.loop);
    if (k.polled)
        uv_close((uv_handle_t *)&k.input, NULL);
    frames_deinit(&k.in);
    tls_context_free(tls);
    loop_deinit(&k.loop);
    arena_deinit(&k.arena);
    return k.code;
}
