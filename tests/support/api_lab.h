/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the API share: a host without a campaign, a server for it on a loop, and bare
 * sockets that ask, so that every byte of an answer is seen. */
#ifndef OUTFOX_SUPPORT_API_LAB_H
#define OUTFOX_SUPPORT_API_LAB_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api.h"
#include "core/fault.h"
#include "core/names.h"
#include "support/pump.h"

#define PATIENCE SECONDS(120)

struct lab {
    struct loop loop;
    struct api *api;
    struct addr at;
    struct names names;
    struct faultloads faultloads;
    /* the host */
    struct api_state state;
    uint64_t version;
    enum api_result result; /* of documents and commands */
    size_t size;            /* of documents, at least */
    int64_t cost_ns;        /* of printing one */
    int printed, commands;
    struct api_document document; /* the last that was asked for, */
    struct api_command command;   /* and the last command, with its texts here */
    char oracle[100], finding[100], faultload[1000];
    enum api_replay replay;
};

static inline void turn(struct lab *b)
{
    (void)uv_run(&b->loop.uv, UV_RUN_NOWAIT);
    sched_yield();
}

/* ---- the host ---- */

static const struct api_oracle lab_oracles[] = {{"retry-storm", SEVERITY_FINDING},
                                                {"slow", SEVERITY_WARNING}};

static inline void lab_state(void *ctx, struct api_state *out)
{
    struct lab *b = ctx;
    *out = b->state;
    out->oracles = lab_oracles;
    out->n_oracles = 2;
}

static inline uint64_t lab_version(void *ctx, const struct api_document *d)
{
    struct lab *b = ctx;
    (void)d;
    return b->version;
}

static inline enum api_result lab_document(void *ctx, const struct api_document *d, struct buf *out,
                                           struct err *e)
{
    struct lab *b = ctx;
    int64_t end_ns = clock_ns() + b->cost_ns;
    b->printed++;
    b->document = *d;
    copy_text(b->faultload, sizeof b->faultload, d->faultload);
    while (clock_ns() < end_ns) {
    }
    if (b->result != API_OK) {
        (void)err_set(e, 0, 0, "the host says <no>");
        return b->result;
    }
    buf_addf(out, "{\"kind\":%d,\"scenario\":%u,\"page\":%u,\"from\":%u,\"version\":%u,\"x\":\"",
             (int)d->kind, d->scenario, d->page, (unsigned)d->from, (unsigned)b->version);
    while (out->n + 2 < b->size)
        buf_addc(out, (char)('a' + out->n % 26));
    buf_adds(out, "\"}");
    return API_OK;
}

static inline enum api_result lab_command(void *ctx, const struct api_command *c, uint64_t *id,
                                          struct err *e)
{
    struct lab *b = ctx;
    b->commands++;
    b->command = *c;
    copy_text(b->oracle, sizeof b->oracle, c->oracle);
    copy_text(b->finding, sizeof b->finding, c->finding);
    copy_text(b->faultload, sizeof b->faultload, c->faultload);
    if (b->result != API_OK)
        (void)err_set(e, 0, 0, "the host says <no>");
    *id = 7;
    return b->result;
}

static inline enum api_replay lab_replay(void *ctx, uint64_t id, struct buf *out, struct err *e)
{
    struct lab *b = ctx;
    if (id != 7)
        return API_REPLAY_NONE;
    if (b->replay == API_REPLAY_DONE)
        buf_adds(out, "{\"shows\":true}\n");
    if (b->replay == API_REPLAY_FAILED)
        (void)err_set(e, 0, 0, "\"it\" did not start");
    return b->replay;
}

static const char *const lab_scenarios[] = {"checkout", "a \"b\" \\ c"};
static inline struct api_options lab_options(struct lab *b, struct api_host *host)
{
    *host = (struct api_host){b, lab_state, lab_version, lab_document, lab_command, lab_replay};
    return (struct api_options){.loop = &b->loop,
                                .host = host,
                                .what = "--listen",
                                .system = "shop",
                                .file = "outfox.yaml",
                                .version = "1.2.3",
                                .n_scenarios = 2,
                                .scenarios = lab_scenarios,
                                .names = &b->names,
                                .faultloads = &b->faultloads};
}

/* `more` changes the options before the server is made; NULL: nothing. */
static inline void lab_init(struct lab *b, void (*more)(struct api_options *o))
{
    static struct api_host host;
    struct err e = {0};
    *b = (struct lab){.version = 5, .replay = API_REPLAY_DONE};
    b->state = (struct api_state){.phase = API_RUNNING, .ready = true, .commands = 1u << API_PAUSE};
    assert_int_equal(loop_init(&b->loop, NULL), 0);
    names_init(&b->names);
    faultloads_init(&b->faultloads);
    struct api_options o = lab_options(b, &host);
    if (more)
        more(&o);
    if (api_new(&o, &b->api, &e))
        fail_msg("%s", e.text);
    const char *from = strstr(api_address(b->api), "://") + 3;
    slice text = slice_of(from);
    text.n = slice_find(text, '/');
    if (addr_parse(text, "test", &b->at, &e))
        fail_msg("%s", e.text);
}

static inline void lab_deinit(struct lab *b)
{
    api_free(b->api);
    PUMP(b, b->loop.n_handles == 0);
    loop_deinit(&b->loop);
    faultloads_deinit(&b->faultloads);
    names_deinit(&b->names);
}

/* ---- asking ---- */

static inline int raw_connect(struct lab *b)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&b->at.sa, b->at.n), 0);
    return fd;
}

static inline void raw_say(int fd, slice text)
{
    assert_int_equal(send(fd, text.p, text.n, MSG_NOSIGNAL), (ssize_t)text.n);
}

/* Adds what comes, until the connection ends or `word` (NULL: none) is in the text. */
static inline void raw_hear(struct lab *b, int fd, const char *word, struct buf *text)
{
    char bytes[64 * 1024];
    ssize_t got = -1;
    int64_t end_ns = clock_ns() + PATIENCE;
    while (got != 0 && !(word && strstr(buf_text(text), word))) {
        if (clock_ns() > end_ns || text->full)
            fail_msg("never heard \"%s\", but \"%.2000s\"", word, buf_text(text));
        turn(b);
        got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got > 0)
            buf_add(text, (slice){bytes, (size_t)got});
    }
}

/* The whole answer to a request: a line such as "GET /x", fields that end with \r\n, a body. */
static inline void ask(struct lab *b, const char *line, const char *fields, const char *body,
                       struct buf *out)
{
    struct buf text = BUF_INIT(1 << 20);
    int fd = raw_connect(b);
    bool host = strncasecmp(fields, "host:", 5) == 0;
    buf_addf(&text, "%s HTTP/1.1\r\n%s%sConnection: close\r\n", line,
             host ? "" : "Host: localhost\r\n", fields);
    if (body[0])
        buf_addf(&text, "Content-Length: %zu\r\n", strlen(body));
    buf_addf(&text, "\r\n%s", body);
    raw_say(fd, buf_slice(&text));
    buf_clear(out);
    raw_hear(b, fd, NULL, out);
    close(fd);
    buf_deinit(&text);
}

/* The status of an answer. */
static inline int status_of(const struct buf *answer)
{
    return answer->n > 12 ? atoi(answer->p + 9) : 0;
}

/* Is it in the answer? */
static inline bool says(const struct buf *answer, const char *text)
{
    return strcasestr(buf_text(answer), text) != NULL;
}

#endif
