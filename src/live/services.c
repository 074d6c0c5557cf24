/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of services.
 *
 *   OFF --> WAITING --> STARTING --> READY --> OFF (died: hook)
 *    ^         |            |          |
 *    |      port in use   dies, deadline: hook `failed`, OFF
 *    `------------------ STOPPING <----' (again: --> WAITING when the process is gone)
 *
 * 1. Hooks are called from the loop, never from within a call of ours: what services_start and the
 *    others begin goes on in timers.
 * 2. In a round (services_start, services_restart, services_renew) exactly one of `ready` and
 *    `failed` is called, unless services_stop ends it. It is over when those that it awaits are
 *    ready; the death of another is told by `died`.
 * 3. A service is not started while anything of its former process lives: `again` remembers.
 * 4. Every state that waits has a deadline: a port that does not get free, a service that does not
 *    get ready, one that does not end.
 *
 * Is a service ready? One question at a time: a connection, or a request. And before it is started:
 * is its port free? Otherwise somebody else would answer in its name. A connection under way is
 * looked at by a timer: on one machine it takes no time, so a handle of libuv would be more work
 * than it saves. */
#include "live/services.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "io/owner.h"
#include "io/sys.h"
#include "io/tls.h"
#include "live/command.h"
#include "live/services_int.h"

enum { TEXT_MAX = 1024 * 1024, GENERATIONS_MOST = 64, NAMES_TOLD = 3 };

#define PORT_WAIT_NS  MS(1500) /* what is left of an earlier campaign may be about to end */
#define PAUSE_NS      MS(20)
#define PAUSE_MOST_NS MS(200)
#define AGAIN_NS      MS(2) /* of one that was ready before, and that a run may wait for */
#define AGAIN_MOST_NS MS(10)
#define LOOK_NS       MS(2)      /* between two looks at a connection under way */
#define CONNECT_NS    SECONDS(1) /* then another is tried */
#define ANSWER_NS     SECONDS(2) /* a request that takes longer is made again */
#define KILL_NS       SECONDS(2) /* from SIGKILL to giving up: it waits for a broken disk */

static bool is_ours(const struct service *s)
{
    return s->spec->run.n > 0;
}

/* Does it have a process that is not being ended? */
static bool service_runs(const struct service *s)
{
    return s->state == SERVICE_STARTING || s->state == SERVICE_READY;
}

static void timer_in(struct service *s, int64_t ns, void (*fire)(struct timer *t))
{
    s->timer.fire = fire;
    timer_start(s->all->loop, &s->timer, s->all->loop->now_ns + ns);
}

static struct service *service_of(struct timer *t)
{
    return OWNER(t, struct service, timer);
}

static const struct addr *address_of(const struct service *s)
{
    return s->all->hooks.address(s->all->hooks.ctx, s->index);
}

static void ready_stop(struct service *s)
{
    timer_stop(s->all->loop, &s->asking);
    if (s->fd >= 0)
        sys_close(s->fd);
    s->fd = -1;
    if (s->call)
        client_cancel(s->call);
    s->call = NULL;
}

/* --- Rounds ----------------------------------------------------------------------------------- */

static void on_soon(struct timer *t)
{
    struct services *all = OWNER(t, struct services, soon);
    bool ready = true, gone = true;
    for (uint32_t i = 0; i < all->n; i++) {
        ready = ready && (!all->at[i].awaited || all->at[i].state == SERVICE_READY);
        gone = gone && !all->at[i].process;
    }
    void (*stopped)(void *) = all->stopped;
    if (stopped && gone) {
        all->stopped = NULL;
        stopped(all->stopped_ctx);
    } else if (all->round && ready) {
        all->round = false;
        all->hooks.ready(all->hooks.ctx);
    }
}

/* Something has changed that may end a round, or stopping. */
static void look_soon(struct services *all)
{
    all->soon.fire = on_soon;
    timer_start(all->loop, &all->soon, all->loop->now_ns);
}

static void service_off(struct service *s)
{
    ready_stop(s);
    timer_stop(s->all->loop, &s->timer);
    s->state = SERVICE_OFF;
}

static void on_kill_in_vain(struct timer *t);

static void service_kill(struct service *s)
{
    process_signal(s->process, SIGKILL);
    timer_in(s, KILL_NS, on_kill_in_vain);
}

/* It did not get ready. */
static void service_failed(struct service *s, const struct err *e)
{
    struct services *all = s->all;
    service_off(s);
    if (s->process)
        service_kill(s);
    if (!all->round)
        return;
    all->round = false;
    all->hooks.failed(all->hooks.ctx, e);
}

/* --- Getting ready ---------------------------------------------------------------------------- */

static void ready_ask(struct service *s);

static void service_ready_now(struct service *s)
{
    timer_stop(s->all->loop, &s->timer);
    s->state = SERVICE_READY;
    look_soon(s->all);
}

#define CONNECTING "connecting to "

static void on_deadline(struct timer *t)
{
    struct service *s = service_of(t);
    struct err e = {0};
    struct buf after = BUF_INIT(40), log = BUF_INIT(sizeof e.text);
    buf_add_ns(&after, s->spec->ready_ns);
    service_log_print(s, &log);
    /* one that was not told where to listen, or listens elsewhere, can never get ready there */
    bool answers = !slice_starts(slice_of(s->last), SLICE(CONNECTING));
    service_err(s, &e, "is not ready after %s (%s); %s%s", buf_text(&after),
                s->last[0] ? s->last : "it is not running yet",
                config_tells_port(s->spec)
                    ? answers ? "increase \"ready-within\" to give it more time"
                              : "check that it listens there; if it only needs more time, "
                                "increase \"ready-within\""
                    : "it is not told this port: put {port} into its `run` or `env` where it reads "
                      "its port, or set `port: N` if it always listens on port N",
                buf_text(&log));
    buf_deinit(&after);
    buf_deinit(&log);
    service_failed(s, &e);
}

static int64_t left_ns_of(const struct service *s)
{
    return s->begin_ns + s->spec->ready_ns - s->all->loop->now_ns;
}

static void on_ask(struct timer *t)
{
    struct service *s = service_of(t);
    timer_in(s, left_ns_of(s), on_deadline); /* until there is an answer */
    ready_ask(s);
}

static void service_not_ready(struct service *s)
{
    int64_t left_ns = left_ns_of(s);
    if (left_ns <= 0) {
        on_deadline(&s->timer);
        return;
    }
    int64_t most_ns = s->starts > 1 ? AGAIN_MOST_NS : PAUSE_MOST_NS,
            longer_ns = s->pause_ns * 3 / 2;
    timer_in(s, s->pause_ns < left_ns ? s->pause_ns : left_ns, on_ask);
    s->pause_ns = longer_ns < most_ns ? longer_ns : most_ns;
}

__attribute__((format(printf, 2, 3))) static void answer_note(struct service *s, const char *format,
                                                              ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->last, sizeof s->last, format, args);
    va_end(args);
}

static void not_connected(struct service *s, int code)
{
    struct buf at = BUF_INIT(160);
    addr_print(address_of(s), &at);
    answer_note(s, CONNECTING "%s: %s", buf_text(&at), strerror(code));
    buf_deinit(&at);
    ready_stop(s);
    service_not_ready(s);
}

/* Without a listener, a connection to a port of the range that connections are made from can by
 * chance be made from that very port, and so reach itself. */
static bool is_with_itself(int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t n_here = sizeof here, n_there = sizeof there;
    return getsockname(fd, (struct sockaddr *)&here, &n_here) == 0 &&
           getpeername(fd, (struct sockaddr *)&there, &n_there) == 0 && here.ss_family != AF_UNIX &&
           n_here == n_there && memcmp(&here, &there, n_here) == 0;
}

static void connection_look(struct service *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};
    int code = 0;
    socklen_t n = sizeof code;
    if (poll(&p, 1, 0) != 1) {
        if (s->all->loop->now_ns - s->asked_ns > CONNECT_NS)
            not_connected(s, ETIMEDOUT);
        else
            timer_start(s->all->loop, &s->asking, s->all->loop->now_ns + LOOK_NS);
        return;
    }
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &code, &n))
        code = errno;
    if (code == 0 && is_with_itself(s->fd)) {
        sys_linger_reset(s->fd); /* the port must be free at once */
        code = ECONNREFUSED;
    }
    if (code) {
        not_connected(s, code);
        return;
    }
    ready_stop(s);
    service_ready_now(s);
}

static void on_look(struct timer *t)
{
    connection_look(OWNER(t, struct service, asking));
}

static void on_answer(void *user, const struct client_answer *a)
{
    struct service *s = user;
    const struct service_spec *spec = s->spec;
    s->call = NULL;
    if (a->head && a->head->status >= 200 && a->head->status < 400) {
        service_ready_now(s);
        return;
    }
    if (a->head)
        answer_note(s, "%.*s %.*s answers %u", SLICE_ARG(spec->ready_method),
                    SLICE_ARG(spec->ready_target), (unsigned)a->head->status);
    else
        answer_note(s, "%.*s %.*s: %s", SLICE_ARG(spec->ready_method),
                    SLICE_ARG(spec->ready_target), a->error ? a->error : "no answer");
    service_not_ready(s);
}

static void ready_ask(struct service *s)
{
    const struct addr *at = address_of(s);
    struct buf authority = BUF_INIT(300);
    switch (s->spec->ready) {
    case READY_NONE: service_ready_now(s); break;
    case READY_TCP:
        s->fd = addr_connect(at);
        s->asking.fire = on_look;
        s->asked_ns = s->all->loop->now_ns;
        if (s->fd < 0)
            not_connected(s, errno);
        else
            connection_look(s);
        break;
    case READY_HTTP:
        addr_print(at, &authority);
        struct head head = {.method = s->spec->ready_method,
                            .scheme = s->tls ? SLICE("https") : SLICE("http"),
                            .authority =
                                addr_is_unix(at) ? SLICE("localhost") : buf_slice(&authority),
                            .target = s->spec->ready_target};
        struct client_request r = {
            .to = at, .tls = s->tls, .head = &head, .timeout_ns = ANSWER_NS, .body_max = 0};
        s->call = client_send(s->all->client, &r, on_answer, s);
        break;
    }
    buf_deinit(&authority);
}

/* --- Events of the process -------------------------------------------------------------------- */

static void service_wait(struct service *s);

static void on_started(struct process *p, pid_t pid)
{
    (void)pid;
    struct service *s = process_user(p);
    if (s->state == SERVICE_STARTING)
        ready_ask(s);
}

/* It is no more, or is about to be; `how` is for people. */
static void service_lost(struct service *s, const char *how, const char *advice)
{
    struct services *all = s->all;
    struct err e = {0};
    struct buf log = BUF_INIT(sizeof e.text);
    bool was_ready = s->state == SERVICE_READY;
    if (was_ready && !(all->round && s->awaited)) {
        service_off(s);
        if (s->process)
            service_kill(s);
        struct buf text = BUF_INIT(sizeof e.text);
        buf_addf(&text, "%.*s died (%s); see %s", SLICE_ARG(s->spec->name), how, s->log);
        all->hooks.died(all->hooks.ctx, s->index, buf_text(&text));
        buf_deinit(&text);
    } else {
        service_log_print(s, &log);
        service_err(s, &e, "ended before %s ready (%s)%s%s", was_ready ? "all were" : "it was", how,
                    advice, buf_text(&log));
        service_failed(s, &e);
    }
    buf_deinit(&log);
}

/* It was told to end, and has. */
static void service_over(struct service *s)
{
    service_off(s);
    s->ordered = false;
    s->again = s->anew;
    s->all->hooks.over(s->all->hooks.ctx, s->index);
}

static void on_ended(struct process *p, int status)
{
    struct service *s = process_user(p);
    if (!service_runs(s))
        return; /* `gone` follows */
    if (s->ordered) {
        service_over(s);
        return;
    }
    struct buf how = BUF_INIT(200);
    status_print(status, &how);
    service_lost(s, buf_text(&how),
                 status == 0
                     ? ": a service must stay in the foreground, so that Outfox notices its end"
                     : "");
    buf_deinit(&how);
}

static void service_gone(struct service *s)
{
    s->process = NULL;
    service_off(s);
    if (s->again)
        service_wait(s);
    look_soon(s->all);
}

static void on_kill_in_vain(struct timer *t)
{
    struct service *s = service_of(t);
    process_abandon(s->process);
    service_gone(s);
}

static void on_gone(struct process *p)
{
    service_gone(process_user(p));
}

static void on_failed(struct process *p, const char *why)
{
    struct service *s = process_user(p);
    bool runs = service_runs(s), started = process_pid(p) != 0;
    s->process = NULL;
    if (!runs) {
        service_gone(s);
    } else if (started && s->state == SERVICE_READY && !(s->all->round && s->awaited)) {
        struct err e = {0};
        service_off(s);
        service_err(s, &e, "is lost: %s; continue the campaign with outfox run --resume", why);
        s->all->hooks.lost(s->all->hooks.ctx, &e);
    } else if (started) {
        service_lost(s, why, "");
    } else {
        struct err e = {0};
        service_err(s, &e, "cannot be started: %s", why);
        service_failed(s, &e);
    }
}

static const struct process_events events = {
    .started = on_started, .failed = on_failed, .ended = on_ended, .gone = on_gone};

/* --- Starting --------------------------------------------------------------------------------- */

/* An expanded text, in the arena with a NUL behind it; false with *e. */
static bool expanded(struct service *s, slice text, struct arena *a, slice *out, struct err *e)
{
    struct services *all = s->all;
    struct buf b = BUF_INIT(TEXT_MAX);
    bool known = all->hooks.expand(all->hooks.ctx, s->index, text, &b, e) == 0;
    if (known && b.full) {
        service_err(s, e, "has a command or an environment variable that is too long");
        known = false;
    }
    *out = buf_keep(&b, a);
    return known;
}

static void service_begin(struct service *s)
{
    struct arena a = {0};
    struct err e = {0};
    uint32_t n = s->spec->env.n;
    struct text_pair *env = arena_alloc(&a, (n + 1) * sizeof *env);
    slice command = {0}, dir = s->spec->dir.n ? s->spec->dir : s->all->config->dir;
    bool known = true;
    for (uint32_t i = 0; i < n && known; i++) {
        env[i].name = s->spec->env.at[i].name;
        known = expanded(s, s->spec->env.at[i].value, &a, &env[i].value, &e);
    }
    known = known && expanded(s, s->spec->run, &a, &command, &e);
    int out = known ? service_log_open(s, &e) : -1;
    if (out >= 0) {
        struct process_spec spec = {.command = command.p,
                                    .dir = dir.n ? slice_copy(&a, dir).p : NULL,
                                    .env = env_texts(&a, env, n),
                                    .out_fd = out};
        s->state = SERVICE_STARTING;
        s->begin_ns = s->all->loop->now_ns;
        s->pause_ns = s->starts > 1 ? AGAIN_NS : PAUSE_NS;
        s->last[0] = 0;
        s->process = process_start(s->all->keeper, &spec, &events, s);
        sys_close(out);
        timer_in(s, s->spec->ready_ns, on_deadline); /* until the first question */
    } else {
        service_failed(s, &e);
    }
    arena_deinit(&a);
}

/* 0, EADDRINUSE, or another errno when nobody can tell. */
static int port_try(const struct addr *a)
{
    if (addr_is_unix(a)) {
        int fd = addr_connect(a);
        if (fd >= 0)
            sys_close(fd);
        return fd >= 0 ? EADDRINUSE : 0;
    }
    int fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, code = 0;
    if (fd < 0)
        return errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
                     sizeof on); /* old connections do not count */
    if (a->sa.ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&a->sa, a->n))
        code = errno;
    sys_close(fd);
    return code;
}

/* Is nobody there who listens where it is to listen? Else *e says who. */
static bool service_port_free(const struct service *s, struct err *e)
{
    const struct addr *a = address_of(s);
    if (port_try(a) != EADDRINUSE)
        return true;
    struct buf at = BUF_INIT(160), holder = BUF_INIT(160);
    pid_t pid = addr_is_unix(a) ? 0 : owner_listener(a);
    addr_print(a, &at);
    if (pid > 0) {
        char path[64], name[64];
        (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
        FILE *f = fopen(path, "re");
        const char *got = f ? fgets(name, sizeof name, f) : NULL;
        slice comm = got ? slice_trim(slice_of(got)) : SLICE("");
        buf_addf(&holder, "process %d%s%.*s%s", (int)pid, comm.n ? " (" : "", SLICE_ARG(comm),
                 comm.n ? ")" : "");
        if (f)
            (void)fclose(f);
    } else {
        buf_adds(&holder, "another process");
    }
    service_err(s, e,
                "cannot listen on %s, which is in use by %s; stop that, or choose another port",
                buf_text(&at), buf_text(&holder));
    buf_deinit(&at);
    buf_deinit(&holder);
    return false;
}

static void on_wait(struct timer *t)
{
    struct service *s = service_of(t);
    struct err e = {0};
    if (service_port_free(s, &e))
        service_begin(s);
    else if (s->all->loop->now_ns - s->begin_ns < PORT_WAIT_NS)
        timer_in(s, PAUSE_NS, on_wait);
    else
        service_failed(s, &e);
}

static void service_wait(struct service *s)
{
    s->again = s->process != NULL;
    if (s->again)
        return;
    s->state = SERVICE_WAITING;
    s->all->loop->now_ns = clock_ns(); /* we may be called from outside of the loop */
    s->begin_ns = s->all->loop->now_ns;
    timer_in(s, 0, on_wait);
}

/* --- Stopping --------------------------------------------------------------------------------- */

static void on_patience_ended(struct timer *t)
{
    service_kill(service_of(t));
}

static void service_stop(struct service *s)
{
    bool was_off = s->state == SERVICE_OFF;
    ready_stop(s);
    if (!s->process || was_off) { /* off: SIGKILL is under way */
        if (!s->process)
            service_off(s);
        return;
    }
    if (s->state == SERVICE_STOPPING)
        return;
    s->state = SERVICE_STOPPING;
    process_signal(s->process, SIGTERM);
    timer_in(s, s->spec->stop_ns, on_patience_ended);
}

/* --- The face --------------------------------------------------------------------------------- */

int services_new(struct loop *l, struct keeper *k, struct client *client,
                 const struct campaign_config *config, const struct services_hooks *hooks,
                 struct services **out, struct err *e)
{
    struct services *all = mem_zero(sizeof *all);
    *all = (struct services){.loop = l,
                             .keeper = k,
                             .client = client,
                             .config = config,
                             .hooks = *hooks,
                             .n = config->services.n};
    all->at = mem_zero((all->n + 1) * sizeof *all->at);
    bool any = false;
    int rc = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        struct service *s = &all->at[i];
        *s = (struct service){.all = all, .index = i, .spec = &config->services.at[i], .fd = -1};
        any = any || is_ours(s);
        if (rc || !is_ours(s) || s->spec->ready != READY_HTTP || !s->spec->tls)
            continue;
        /* whether it answers is all that is asked here: certificates are checked by the proxy */
        s->tls = tls_client(&(struct tls_client_options){.insecure = true}, e);
        rc = s->tls ? 0 : -1;
    }
    if (rc == 0 && any)
        rc = service_logs_make(all, e);
    if (rc) {
        services_free(all);
        return -1;
    }
    *out = all;
    return 0;
}

void services_start(struct services *s)
{
    service_logs_watch(s);
    services_restart(s, false);
}

void services_restart(struct services *s, bool all)
{
    s->round = true;
    s->stopped = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        struct service *one = &s->at[i];
        one->awaited = is_ours(one);
        if (!is_ours(one))
            continue;
        if (all)
            service_stop(one);
        if (one->state == SERVICE_OFF || one->state == SERVICE_STOPPING)
            service_wait(one);
    }
    look_soon(s);
}

bool services_end(struct services *s, uint32_t service, int signal, bool again)
{
    struct service *one = &s->at[service];
    if (one->state != SERVICE_READY || !one->process)
        return false;
    one->ordered = one->ended = true;
    one->anew = again;
    process_signal(one->process, signal);
    return true;
}

bool services_was_ended(const struct services *s, uint32_t service)
{
    return s->at[service].ended;
}

bool services_renew(struct services *s)
{
    s->loop->now_ns = clock_ns();
    for (uint32_t i = 0; i < s->n; i++) {
        struct service *one = &s->at[i];
        bool each = one->spec->restart == RESTART_EACH_RUN;
        one->awaited = each || one->ended;
        one->ended = false;
        s->round |= one->awaited;
        if (!one->awaited)
            continue;
        if (each &&
            one->state == SERVICE_READY) { /* nobody waits for what it would do at SIGTERM */
            ready_stop(one);
            one->state = SERVICE_STOPPING;
            service_kill(one);
        }
        if (one->state == SERVICE_OFF || one->state == SERVICE_STOPPING)
            service_wait(one);
    }
    return s->round;
}

void services_stop(struct services *s, void (*stopped)(void *ctx), void *ctx)
{
    s->round = false;
    s->stopped = stopped;
    s->stopped_ctx = ctx;
    s->loop->now_ns = clock_ns();
    for (uint32_t i = 0; i < s->n; i++) {
        s->at[i].again = false;
        service_stop(&s->at[i]);
    }
    service_logs_watch(s);
    look_soon(s);
}

void services_free(struct services *s)
{
    if (!s)
        return;
    timer_stop(s->loop, &s->soon);
    timer_stop(s->loop, &s->trim);
    for (uint32_t i = 0; i < s->n; i++) {
        struct service *one = &s->at[i];
        service_off(one);
        if (one->process)
            process_abandon(one->process);
        tls_context_free(one->tls);
        mem_free(one->log);
    }
    mem_free(s->at);
    mem_free(s);
}

/* --- Whose process is it, and what do they hold? ------------------------------------------------- */

static uint32_t find(const struct services *s, pid_t pid, pid_t (*of)(const struct process *p))
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i].process && of(s->at[i].process) == pid)
            return i;
    return UINT32_MAX;
}

/* Nearly all are in the group of their service, which costs one call to find out. The others have
 * the service's guard among their ancestors. */
uint32_t services_of_pid(const struct services *s, pid_t pid)
{
    pid_t group = pid > 0 ? getpgid(pid) : -1;
    uint32_t found = group > 0 ? find(s, group, process_pid) : UINT32_MAX;
    for (int i = 0; i < GENERATIONS_MOST && found == UINT32_MAX && pid > 1; i++) {
        pid = process_parent(pid);
        if (pid > 0)
            found = find(s, pid, process_guard);
    }
    return found;
}

pid_t services_pid(const struct services *s, uint32_t service)
{
    const struct service *one = service < s->n ? &s->at[service] : NULL;
    return one && one->process && service_runs(one) ? process_pid(one->process) : 0;
}

bool services_usage(const struct services *s, uint32_t service, struct process_usage *out)
{
    const struct service *one = service < s->n ? &s->at[service] : NULL;
    return one && one->process && service_runs(one) && process_usage(one->process, out);
}

/* --- Who is waited for ------------------------------------------------------------------------ */

void services_waiting(const struct services *s, bool starting, struct buf *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct service *one = &s->at[i];
        bool waits =
            starting ? one->spec->run.n && one->state != SERVICE_READY : one->process != NULL;
        if (!waits || n++ >= NAMES_TOLD)
            continue;
        buf_addf(out, "%s%.*s", n == 1 ? "waiting for " : ", ", SLICE_ARG(one->spec->name));
        if (starting && one->last[0])
            buf_addf(out, " (%s)", one->last);
    }
    if (n > NAMES_TOLD)
        buf_addf(out, " and %u more", (unsigned)(n - NAMES_TOLD));
    buf_adds(out, n == 0 ? "waiting for the services" : "");
    buf_adds(out, starting ? " to be ready" : " to end");
}
