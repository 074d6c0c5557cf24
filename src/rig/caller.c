/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection, one operation at a time:
 *
 *   ask --> (connect) --> ready: the request is written --> bytes: a whole reply --> done
 *       `-- expired, gone, eof, or bytes that are no reply: the connection is dropped --> done */
#include "rig/caller.h"

#include <stdio.h>

#include "io/conn.h"

enum { TEXT_MAX = 200 };

struct caller {
    struct loop *loop;
    const struct talk *talk;
    struct addr to;
    struct conn *conn; /* NULL: there is none */
    struct buf in;
    bool asking;
    int64_t began_ns;
    void (*done)(void *user, const struct call_result *r);
    void *user;
};

/* Last of what an event does: the caller may be gone after it. */
static void finish(struct caller *c, enum call_end end, slice text, bool nothing)
{
    char copy[TEXT_MAX]; /* of what the connection has, which may go */
    struct call_result r = {.end = end, .nothing = nothing, .took_ns = clock_ns() - c->began_ns};
    r.text = (slice){copy, text.n < sizeof copy ? text.n : sizeof copy};
    if (text.n)
        memcpy(copy, text.p, r.text.n);
    if (!c->asking)
        return;
    c->asking = false;
    c->done(c->user, &r);
}

static void drop(struct caller *c)
{
    if (c->conn)
        conn_reset(c->conn);
    c->conn = NULL;
    buf_clear(&c->in);
}

static void on_ready(struct conn *conn)
{
    conn_read(conn, true);
}

static void on_bytes(struct conn *conn, slice bytes)
{
    struct caller *c = conn->user;
    struct talk_reply reply;
    buf_add(&c->in, bytes);
    if (!c->asking) { /* nobody has asked: what is it then? */
        drop(c);
        return;
    }
    c->talk->reply(buf_slice(&c->in), &reply);
    if (reply.kind == TALK_MORE && !c->in.full)
        return;
    if (reply.kind == TALK_BROKEN || reply.kind == TALK_MORE || reply.used != c->in.n) {
        drop(c);
        finish(c, CALL_LOST, SLICE("the answer is none of the protocol"), false);
        return;
    }
    char text[TEXT_MAX];
    slice said = {text, reply.text.n < sizeof text ? reply.text.n : sizeof text};
    if (said.n)
        memcpy(text, reply.text.p, said.n);
    buf_clear(&c->in);
    conn_expire(conn, 0);
    finish(c, reply.kind == TALK_OK ? CALL_OK : CALL_ERROR, said, reply.nothing);
}

static void on_eof(struct conn *conn)
{
    struct caller *c = conn->user;
    drop(c);
    finish(c, CALL_LOST, SLICE("the connection was closed"), false);
}

static void on_gone(struct conn *conn, enum conn_gone why, const char *text)
{
    struct caller *c = conn->user;
    c->conn = NULL;
    buf_clear(&c->in);
    finish(c, why == GONE_CONNECT ? CALL_REFUSED : CALL_LOST, slice_of(text), false);
}

static void on_expired(struct conn *conn)
{
    struct caller *c = conn->user;
    drop(c);
    finish(c, CALL_TIMEOUT, SLICE("no answer in time"), false);
}

static void on_nothing(struct conn *conn)
{
    (void)conn;
}

static const struct conn_events events = {.ready = on_ready,
                                          .bytes = on_bytes,
                                          .eof = on_eof,
                                          .flush = on_nothing,
                                          .wrote = on_nothing,
                                          .gone = on_gone,
                                          .expired = on_expired};

struct caller *caller_new(struct loop *l, const struct talk *talk, uint16_t port,
                          void (*done)(void *user, const struct call_result *r), void *user)
{
    struct caller *c = mem_zero(sizeof *c);
    char text[40];
    struct err e = {0};
    *c = (struct caller){.loop = l, .talk = talk, .done = done, .user = user};
    c->in = BUF_INIT(2 * TALK_REPLY_MAX);
    (void)snprintf(text, sizeof text, "127.0.0.1:%u", port);
    if (addr_parse(slice_of(text), "port", &c->to, &e)) /* numbers always hold */
        mem_oom();
    return c;
}

void caller_ask(struct caller *c, slice operation, int64_t timeout_ns)
{
    slice words[TALK_WORDS_MAX];
    uint32_t n = 0;
    struct buf request = BUF_INIT(TALK_REPLY_MAX);
    while (n < TALK_WORDS_MAX && slice_word(&operation, &words[n]))
        n++;
    c->talk->request(words, n, &request);
    c->asking = true;
    c->began_ns = clock_ns();
    if (!c->conn)
        c->conn = conn_connect(c->loop, &c->to, NULL, ALPN_NONE, &events, c);
    chain_add(&c->conn->out, buf_slice(&request));
    conn_touch(c->conn);
    conn_expire(c->conn, c->began_ns + timeout_ns);
    buf_deinit(&request);
}

void caller_free(struct caller *c)
{
    if (!c)
        return;
    drop(c);
    buf_deinit(&c->in);
    mem_free(c);
}
