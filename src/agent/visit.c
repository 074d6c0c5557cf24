/* SPDX-License-Identifier: Apache-2.0
 *
 * One connection of outfox, and the script that it runs.
 *
 *   stranger --HELLO--> known --RUN--> runs --(the script has ended)--> CODE is sent, closed
 *       |                 |             `-- the connection is gone, or we end: its input ends, it has
 *       `-- refused       `-- refused       its patience, then it is killed
 *
 * 1. A script has no output that nobody reads: with the connection gone it is read and dropped.
 * 2. What the peer does not take stops our reading of the script's output, so the script waits. What
 *    the script does not take stops our reading of the connection.
 * 3. A visit is freed by visit_free alone, when connection and process are both gone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent_int.h"
#include "agent/frame.h"
#include "base/token.h"
#include "io/sys.h"

enum { READS_MOST = 16, REST_MOST = 64, FEED_AGAIN_MS = 10, UNFED_MAX = 64 * 1024 };

/* A pipe that the script prints into. `data` of a loop's polls belongs to io/conn.c. */
struct watch {
    uv_poll_t poll; /* first, so that its address is the watch's */
    struct visit *visit;
    enum frame_kind kind;
    int fd;
    bool rests; /* the peer does not take what is there */
};

struct visit {
    struct agent *agent;
    struct visit *next;
    struct conn *conn; /* NULL: gone */
    struct frames in;
    enum { STRANGER, KNOWN, RUNS } stage;
    struct process *process; /* NULL: none, or over */
    struct watch *out, *err; /* NULL: ended */
    int input;               /* our end of its standard input; -1: ended */
    struct buf unfed;        /* what it has not taken yet */
    bool fed_all;            /* no more will come for it */
    struct timer feed;       /* tries again */
    struct timer patience;   /* its end is overdue then */
    char peer[80];
};

struct visit *visit_next(const struct visit *v)
{
    return v->next;
}

bool visit_is_stranger(const struct visit *v)
{
    return v->stage == STRANGER;
}

/* ---- its end ---- */

static void on_closed(uv_handle_t *h)
{
    mem_free(h);
}

static void watch_close(struct watch **w)
{
    if (!*w)
        return;
    uv_close((uv_handle_t *)&(*w)->poll, on_closed); /* before the descriptor */
    sys_close((*w)->fd);
    *w = NULL;
}

static void input_close(struct visit *v)
{
    timer_stop(&v->agent->loop, &v->feed);
    if (v->input >= 0)
        sys_close(v->input);
    v->input = -1;
    buf_clear(&v->unfed);
}

static void visit_free(struct visit *v)
{
    struct agent *a = v->agent;
    for (struct visit **at = &a->visits; *at; at = &(*at)->next)
        if (*at == v) {
            *at = v->next;
            break;
        }
    a->n_visits--;
    a->n_strangers -= v->stage == STRANGER;
    timer_stop(&a->loop, &v->patience);
    input_close(v);
    watch_close(&v->out);
    watch_close(&v->err);
    buf_deinit(&v->unfed);
    frames_deinit(&v->in);
    mem_free(v);
    if (!a->visits)
        agent_rests(a);
}

/* The connection is no more. What runs hears of it by its input. */
static void visit_lost(struct visit *v)
{
    v->conn = NULL;
    if (!v->process) {
        visit_free(v);
        return;
    }
    input_close(v);
    if (!v->patience.at_ns)
        timer_start(&v->agent->loop, &v->patience, clock_ns() + AGENT_PATIENCE_NS);
}

static void refuse(struct visit *v, const char *why)
{
    agent_say(v->agent, "%s is refused: %s", v->peer, why);
    frame_add(&v->conn->out, FRAME_REFUSED, slice_of(why));
    conn_close(v->conn);
    visit_lost(v);
}

void visit_kill(struct visit *v)
{
    if (v->process) {
        process_signal(v->process, SIGKILL);
        process_abandon(v->process);
        v->process = NULL;
    }
    if (v->conn)
        conn_reset(v->conn);
    v->conn = NULL;
    visit_free(v);
}

static void on_patience(struct timer *t)
{
    struct visit *v = OWNER(t, struct visit, patience);
    agent_say(v->agent, "a command of %s did not end by itself, and is killed", v->peer);
    visit_kill(v);
}

void visit_end(struct visit *v)
{
    if (!v->process && v->conn) {
        refuse(v, "the agent is ending");
        return;
    }
    input_close(v);
    v->fed_all = true;
}

/* ---- what it prints ---- */

static void on_output(uv_poll_t *h, int status, int events);

static void output_watch(struct watch *w)
{
    if (w->rests)
        (void)uv_poll_stop(&w->poll);
    else
        (void)uv_poll_start(&w->poll, UV_READABLE, on_output);
}

/* Reads at most so often; false: there is no more. */
static bool output_read(struct watch *w, int times)
{
    struct visit *v = w->visit;
    struct loop *l = &v->agent->loop;
    for (int i = 0; i < times; i++) {
        ssize_t got = sys_read(w->fd, l->read_bytes, FRAME_PIECE_MAX);
        if (got == -EAGAIN)
            return true;
        if (got <= 0)
            return false;
        if (!v->conn)
            continue;
        frame_add(&v->conn->out, w->kind, (slice){l->read_bytes, (size_t)got});
        conn_touch(v->conn);
        if (times == READS_MOST && v->conn->out.n > AGENT_UNREAD_MAX) {
            w->rests = true;
            break;
        }
    }
    return true;
}

static void on_output(uv_poll_t *h, int status, int events)
{
    struct watch *w = (struct watch *)h;
    struct visit *v = w->visit;
    (void)events;
    loop_batch(&v->agent->loop);
    if (status < 0 || !output_read(w, READS_MOST))
        watch_close(w == v->out ? &v->out : &v->err);
    else
        output_watch(w);
}

/* A pipe, of which *theirs is the end to print into. NULL with errno. */
static struct watch *watch_open(struct visit *v, enum frame_kind kind, int *theirs)
{
    int ends[2], code;
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    struct watch *w = mem_zero(sizeof *w);
    *w = (struct watch){.visit = v, .kind = kind, .fd = ends[0]};
    code = uv_poll_init(&v->agent->loop.uv, &w->poll, ends[0]); /* makes this end non-blocking */
    if (code) {
        mem_free(w);
        sys_close(ends[0]);
        sys_close(ends[1]);
        errno = -code;
        return NULL;
    }
    *theirs = ends[1];
    output_watch(w);
    return w;
}

/* ---- what it reads ---- */

/* Gives it what it takes. */
static void feed(struct visit *v)
{
    size_t given = 0;
    while (v->input >= 0 && given < v->unfed.n) {
        ssize_t put = write(v->input, v->unfed.p + given, v->unfed.n - given);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            break;
        given =
            put < 0 ? v->unfed.n : given + (size_t)put; /* it has closed it: nobody misses them */
    }
    if (given) {
        memmove(v->unfed.p, v->unfed.p + given, v->unfed.n - given);
        v->unfed.n -= given;
    }
    if (v->unfed.n)
        timer_start(&v->agent->loop, &v->feed, v->agent->loop.now_ns + MS(FEED_AGAIN_MS));
    else if (v->fed_all)
        input_close(v);
    if (v->conn)
        conn_read(v->conn, !v->unfed.n);
}

static void on_feed(struct timer *t)
{
    feed(OWNER(t, struct visit, feed));
}

/* ---- the script ---- */

/* The last of it, and its code. */
static void visit_over(struct visit *v, int code)
{
    struct watch *both[] = {v->out, v->err};
    v->process = NULL;
    for (int i = 0; i < 2; i++)
        if (both[i] && !output_read(both[i], REST_MOST))
            watch_close(i ? &v->err : &v->out);
    if (v->conn) {
        frame_add_code(&v->conn->out, code);
        conn_close(v->conn);
        v->conn = NULL;
    }
    visit_free(v);
}

static void on_ended(struct process *p, int status)
{
    visit_over(process_user(p), WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void on_failed(struct process *p, const char *why)
{
    struct visit *v = process_user(p);
    agent_say(v->agent, "a command of %s could not be run: %s", v->peer, why);
    if (v->conn)
        frame_add(&v->conn->out, FRAME_ERRORS, slice_of(why));
    visit_over(v, 126);
}

static void on_started(struct process *p, pid_t pid)
{
    (void)p, (void)pid;
}

static const struct process_events process_events = {
    .started = on_started, .failed = on_failed, .ended = on_ended};

/* False: it was refused, and is no more. */
static bool run(struct visit *v, slice script)
{
    bool good = false;
    int out = -1, err = -1, in[2] = {-1, -1};
    struct buf text = BUF_INIT(FRAME_RUN_MAX + 1);
    buf_add(&text, script);
    if (!(v->out = watch_open(v, FRAME_OUTPUT, &out)) ||
        !(v->err = watch_open(v, FRAME_ERRORS, &err)) || pipe2(in, O_CLOEXEC | O_NONBLOCK)) {
        refuse(v, "the agent has no descriptors left: raise its limit (ulimit -n)");
    } else {
        (void)fcntl(in[0], F_SETFL, 0);
        v->input = in[1];
        v->stage = RUNS;
        conn_expire(v->conn, 0);
        struct process_spec spec = {.env = (const char *const[]){v->agent->program, NULL},
                                    .command = buf_text(&text),
                                    .out_fd = err,
                                    .apart = true,
                                    .stdout_fd = out,
                                    .fed = true,
                                    .in_fd = in[0]};
        v->process = process_start(v->agent->keeper, &spec, &process_events, v);
        good = true;
    }
    for (int i = 0; i < 3; i++)
        if ((int[]){out, err, in[0]}[i] >= 0)
            sys_close((int[]){out, err, in[0]}[i]);
    buf_deinit(&text);
    return good;
}

/* ---- the connection ---- */

/* False: likewise. */
static bool hello(struct visit *v, slice bytes)
{
    uint32_t version;
    slice token;
    char why[200];
    if (!frame_read_hello(bytes, &version, &token))
        version = 0;
    if (version != FRAME_VERSION) {
        (void)snprintf(why, sizeof why,
                       "this agent speaks version %d of its language, and not %u: install the same "
                       "version of outfox on both machines",
                       FRAME_VERSION, version);
        refuse(v, why);
        return false;
    }
    if (!token_same(token, v->agent->token)) {
        refuse(v, "the token is not that of the agent: mend token-file");
        return false;
    }
    if (v->agent->n_visits - v->agent->n_strangers >= AGENT_VISITS_MOST) {
        refuse(v, "the agent runs as many commands as it may");
        return false;
    }
    v->stage = KNOWN;
    v->agent->n_strangers--;
    return true;
}

/* What may come now. */
static const char *expected(const struct visit *v)
{
    static const char *const kinds[] = {[STRANGER] = "H", [KNOWN] = "R", [RUNS] = "IE"};
    return kinds[v->stage];
}

static void on_bytes(struct conn *c, slice bytes)
{
    struct visit *v = c->user;
    struct frame f;
    enum frame_step step;
    while ((step = frames_take(&v->in, expected(v), &bytes, &f)) == FRAME_WHOLE) {
        if (f.kind == FRAME_HELLO) {
            if (!hello(v, f.bytes))
                return;
        } else if (f.kind == FRAME_RUN) {
            if (!run(v, f.bytes))
                return;
        } else {
            v->unfed.max = UNFED_MAX + LOOP_READ_BYTES; /* what one reading can bring */
            buf_add(&v->unfed, f.bytes);
            v->fed_all = v->fed_all || f.kind == FRAME_END;
        }
    }
    if (step == FRAME_WRONG)
        refuse(v, "it does not speak the agent's language: is that outfox?");
    else if (v->stage == RUNS && (v->unfed.n || v->fed_all))
        feed(v);
}

static void on_eof(struct conn *c)
{
    struct visit *v = c->user;
    conn_leave(c);
    visit_lost(v);
}

static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    struct visit *v = c->user;
    if (why == GONE_TLS)
        agent_say(v->agent, "%s: no TLS: it does not trust our certificate, or is not outfox",
                  v->peer);
    (void)text;
    visit_lost(v);
}

static void on_expired(struct conn *c)
{
    struct visit *v = c->user;
    agent_say(v->agent, "%s is refused: it has said no token for %d s", v->peer, AGENT_STRANGER_S);
    conn_reset(c);
    visit_lost(v);
}

/* There is room again for what it prints. */
static void on_wrote(struct conn *c)
{
    struct visit *v = c->user;
    struct watch *both[] = {v->out, v->err};
    for (int i = 0; i < 2; i++)
        if (both[i] && both[i]->rests && c->out.n < AGENT_UNREAD_MAX / 2) {
            both[i]->rests = false;
            output_watch(both[i]);
        }
}

static void nothing(struct conn *c)
{
    (void)c;
}

static const struct conn_events events = {.ready = nothing,
                                          .bytes = on_bytes,
                                          .eof = on_eof,
                                          .flush = nothing,
                                          .wrote = on_wrote,
                                          .gone = on_gone,
                                          .expired = on_expired};

static void name_peer(int fd, char out[80])
{
    struct addr peer = {.n = sizeof peer.sa};
    struct buf text = BUF_INIT(79);
    if (getpeername(fd, (struct sockaddr *)&peer.sa, &peer.n) == 0)
        addr_print(&peer, &text);
    (void)snprintf(out, 80, "%s", text.n ? buf_text(&text) : "somebody");
    buf_deinit(&text);
}

void visit_new(struct agent *a, int fd)
{
    struct visit *v = mem_zero(sizeof *v);
    *v = (struct visit){.agent = a, .next = a->visits, .input = -1};
    v->feed.fire = on_feed;
    v->patience.fire = on_patience;
    name_peer(fd, v->peer);
    sys_watch_peer(fd, AGENT_SILENCE_S);
    a->visits = v;
    a->n_visits++;
    a->n_strangers++;
    v->conn = conn_accept(&a->loop, fd, a->tls, &events, v);
    conn_expire(v->conn, a->loop.now_ns + SECONDS(AGENT_STRANGER_S));
    conn_read(v->conn, true);
}
