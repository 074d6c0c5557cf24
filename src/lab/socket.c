/* SPDX-License-Identifier: Apache-2.0
 *
 * The socket of a run: a unix socket for the user of the run alone, beside the run's directory. Who
 * connects says lines:
 *
 *   as CLIENT                        what follows counts as if this client had printed it
 *   ok [TOOK] [TEXT]   fail ...      an operation of that client; metric NAME VALUE: a number
 *   event NAME [VALUE]               something happened; of nobody, where no client was named
 *   fire EVENT                       an event of the plan, whose trigger is manual
 *   fire                             which of them wait?
 *
 * `fire` is answered by a line, and so is what is wrong: "wrong: SENTENCE". All else is not, so that a
 * workload may write and never read.
 *
 * 1. A run never waits for a peer. One that does not read what it is answered is sent away.
 * 2. Lines, answers and peers are bounded. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/blocking.h"
#include "io/conn.h"
#include "io/sys.h"
#include "lab/collect_int.h"
#include "lab/socket.h"

enum { PEERS_MOST = 64, UNREAD_MAX = 64 * 1024, ANSWER_MAX = 4000, PATH_MOST = 100 };

#define TELL_NS SECONDS(10)

struct peer {
    struct lab_socket *socket;
    struct peer *next;
    struct conn *conn;
    int32_t client; /* as whom it speaks; PLAN_NONE: nobody */
    size_t n;
    char line[VOICE_LINE_MAX];
};

struct lab_socket {
    struct listener listener; /* first, so that its address is the socket's */
    struct lab *lab;
    struct addr at;
    struct peer *peers;
    uint32_t n_peers;
};

static void peer_free(struct peer *p)
{
    struct lab_socket *c = p->socket;
    for (struct peer **at = &c->peers; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    c->n_peers--;
    mem_free(p);
}

__attribute__((format(printf, 2, 3))) static void reply(struct peer *p, const char *format, ...)
{
    struct buf text = BUF_INIT(ANSWER_MAX);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    buf_addc(&text, '\n');
    chain_add(&p->conn->out, buf_slice(&text));
    conn_touch(p->conn);
    buf_deinit(&text);
}

/* ---- what is said ---- */

/* The events that wait for somebody, with commas; how many there are. */
static uint32_t print_waiting(const struct lab *lab, struct buf *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < lab->plan->events.n; i++)
        if (schedule_waits(lab->schedule, i))
            buf_addf(out, "%s%.*s", n++ ? ", " : "", SLICE_ARG(lab->plan->events.at[i].name));
    return n;
}

static void fire(struct peer *p, slice name)
{
    struct lab *lab = p->socket->lab;
    struct buf waiting = BUF_INIT(1000);
    int32_t event = plan_event(lab->plan, name);
    uint32_t n = print_waiting(lab, &waiting);
    if (!lab->faults)
        reply(p, "wrong: no faults happen now: this is a run without them, or it is just beginning "
                 "or ending");
    else if (!name.n)
        reply(p, n ? "waiting: %s" : "nothing waits for it%s", buf_text(&waiting));
    else if (event == PLAN_NONE || lab->plan->events.at[event].trigger.kind != TRIGGER_MANUAL)
        reply(p,
              "wrong: the plan has no event \"%.*s\" with trigger: { manual: true }; waiting: %s",
              SHORT(name), n ? buf_text(&waiting) : "none");
    else if (!schedule_fire(lab->schedule, lab_now(lab), (uint32_t)event))
        reply(p, "wrong: \"%.*s\" was fired already; waiting: %s", SHORT(name),
              n ? buf_text(&waiting) : "none");
    else
        reply(p, "fired");
    buf_deinit(&waiting);
    lab_pump(lab);
}

/* The first words are known: event of nobody. */
static bool told(struct lab *lab, slice line)
{
    slice rest = line, word, name;
    if (!slice_word(&rest, &word) || !slice_is(word, "event") || !slice_word(&rest, &name))
        return false;
    lab_told(lab, PLAN_NONE, name, slice_trim(rest));
    return true;
}

static void line_take(struct peer *p, slice line)
{
    struct lab *lab = p->socket->lab;
    slice rest = line, word;
    if (!slice_word(&rest, &word))
        return;
    if (slice_is(word, "fire")) {
        fire(p, slice_trim(rest));
    } else if (slice_is(word, "as")) {
        p->client = plan_client(lab->plan, slice_trim(rest));
    } else if (p->client != PLAN_NONE && client_say(&lab->clients[p->client], line)) {
        lab_pump(lab);
    } else if (p->client != PLAN_NONE && slice_is(word, "metric") &&
               collect_heard(lab, PLAN_NONE, p->client, line)) {
        lab_pump(lab);
    } else if (told(lab, line)) {
        lab_pump(lab);
    } else if (slice_is(word, "ok") || slice_is(word, "fail") || slice_is(word, "metric")) {
        reply(p, "wrong: whose is it? Say \"as CLIENT\" first, with the name of a client of "
                 "the plan");
    } else {
        reply(p, "wrong: a line begins with event, ok, fail, metric, as or fire, not with \"%.*s\"",
              SHORT(word));
    }
}

/* ---- peers ---- */

static void on_bytes(struct conn *c, slice bytes)
{
    struct peer *p = c->user;
    for (size_t i = 0; i < bytes.n; i++) {
        bool end = bytes.p[i] == '\n';
        if (!end && p->n < sizeof p->line)
            p->line[p->n++] = bytes.p[i]; /* of a longer one the rest is left out */
        if (end) {
            size_t n = p->n;
            p->n = 0;
            line_take(p, (slice){p->line, n});
        }
    }
    if (c->out.n > UNREAD_MAX) {
        conn_reset(c);
        peer_free(p);
    }
}

static void on_eof(struct conn *c)
{
    struct peer *p = c->user;
    if (p->n)
        line_take(p, (slice){p->line, p->n});
    conn_close(c);
    peer_free(p);
}

static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    (void)why, (void)text;
    peer_free(c->user);
}

static void nothing(struct conn *c)
{
    (void)c;
}

static const struct conn_events events = {.ready = nothing,
                                          .bytes = on_bytes,
                                          .eof = on_eof,
                                          .flush = nothing,
                                          .wrote = nothing,
                                          .gone = on_gone,
                                          .expired = nothing};

static void on_accepted(struct listener *l, int fd)
{
    struct lab_socket *c = (struct lab_socket *)l;
    if (c->n_peers == PEERS_MOST) {
        sys_close(fd);
        return;
    }
    struct peer *p = mem_alloc(sizeof *p);
    p->socket = c;
    p->next = c->peers;
    p->client = PLAN_NONE;
    p->n = 0;
    c->peers = p;
    c->n_peers++;
    p->conn = conn_accept(&c->lab->loop, fd, NULL, &events, p);
    conn_read(p->conn, true);
}

/* ---- the socket ---- */

struct lab_socket *lab_socket_open(struct lab *lab, const char *path, struct err *e)
{
    struct lab_socket *c = mem_zero(sizeof *c);
    char text[PATH_MOST + 10];
    int code, fd = -1;
    c->lab = lab;
    if (snprintf(text, sizeof text, "unix:%s", path) >= (int)sizeof text)
        (void)err_set(e, 0, 0, "%s: a socket cannot have such a long path", path);
    else if (!addr_parse(slice_of(text), "the socket of the run", &c->at, e))
        fd = addr_listen(&c->at, false, e);
    if (fd >= 0 && chmod(path, 0600))
        (void)err_set(e, 0, 0, "%s cannot be closed to others: %s", path, strerror(errno));
    code = fd < 0 ? -1 : listener_init(&c->listener, &lab->loop, fd, on_accepted, c);
    if (!code)
        return c;
    (void)err_set(e, 0, 0, "%s: cannot listen", path);
    mem_free(c);
    return NULL;
}

static void on_closed(struct listener *l)
{
    mem_free(l);
}

void lab_socket_close(struct lab_socket *c)
{
    if (!c)
        return;
    while (c->peers) {
        struct peer *p = c->peers;
        conn_close(p->conn);
        peer_free(p);
    }
    addr_unlink(&c->at);
    listener_close(&c->listener, on_closed);
}

/* ---- the other side ---- */

/* Sends it all, says that no more follows, and hears what there is to hear. */
static int converse(int fd, slice lines, struct buf *said)
{
    struct blocks blocks = {0};
    struct chain out = CHAIN_INIT(&blocks);
    char room[4096];
    ssize_t got = 0;
    chain_add(&out, lines);
    block_patience(fd, TELL_NS, TELL_NS);
    int code = block_write(fd, &out);
    if (!code && shutdown(fd, SHUT_WR))
        code = -errno;
    while (!code && (got = sys_read(fd, room, sizeof room)) > 0)
        buf_add(said, (slice){room, (size_t)got});
    chain_clear(&out);
    blocks_deinit(&blocks);
    return code ? code : got < 0 ? (int)got : 0;
}

int lab_tell(const char *path, slice lines, struct buf *answer, struct err *e)
{
    struct addr at;
    char text[300];
    const char *slash = strrchr(path, '/');
    int dir = -1;
    (void)snprintf(text, sizeof text, "unix:%s", path);
    if (strlen(path) > PATH_MOST && slash) { /* its directory by a name that is short */
        struct buf up = BUF_INIT(4096);
        buf_add(&up, (slice){path, (size_t)(slash - path)});
        dir = open(buf_text(&up), O_PATH | O_DIRECTORY | O_CLOEXEC);
        (void)snprintf(text, sizeof text, "unix:/proc/self/fd/%d/%.90s", dir, slash + 1);
        buf_deinit(&up);
    }
    int fd = -1, code = addr_parse(slice_of(text), "the socket of a run", &at, e);
    if (!code)
        fd = block_connect(&at, clock_ns() + TELL_NS);
    if (!code && fd < 0)
        code = err_set(e, 0, 0, "no run is under way there: %s: %s", path, strerror(-fd));
    if (fd >= 0) {
        int failed = converse(fd, lines, answer);
        if (failed)
            code = err_set(e, 0, 0, "the run does not answer: %s: %s", path, strerror(-failed));
        sys_close(fd);
    }
    if (dir >= 0)
        sys_close(dir);
    return code;
}
