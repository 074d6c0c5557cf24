/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a service ready? One question at a time: a connection, or a request. And before it is started:
 * is its port free? Otherwise somebody else would answer in its name.
 *
 * A connection under way is looked at by a timer: on one machine it takes no time, so a handle of
 * libuv would be more work than it saves. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/owner.h"
#include "io/sys.h"
#include "io/tls.h"
#include "live/services_int.h"

#define LOOK_NS    MS(2)      /* between two looks at a connection under way */
#define CONNECT_NS SECONDS(1) /* then another is tried */
#define ANSWER_NS  SECONDS(2) /* a request that takes longer is made again */

static const struct addr *address_of(const struct service *s)
{
    return s->all->hooks.address(s->all->hooks.ctx, s->index);
}

__attribute__((format(printf, 2, 3))) static void answer_note(struct service *s, const char *format,
                                                              ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->last, sizeof s->last, format, args);
    va_end(args);
}

void ready_stop(struct service *s)
{
    timer_stop(s->all->loop, &s->asking);
    if (s->fd >= 0)
        sys_close(s->fd);
    s->fd = -1;
    if (s->call)
        client_cancel(s->call);
    s->call = NULL;
}

/* --- A connection ----------------------------------------------------------------------------- */

static void not_connected(struct service *s, int code)
{
    struct buf at = BUF_INIT(160);
    addr_print(address_of(s), &at);
    answer_note(s, "connecting to %s: %s", buf_text(&at), strerror(code));
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

static void ask_tcp(struct service *s)
{
    s->fd = addr_connect(address_of(s));
    if (s->fd < 0) {
        not_connected(s, errno);
        return;
    }
    s->asking.fire = on_look;
    s->asked_ns = s->all->loop->now_ns;
    connection_look(s);
}

/* --- A request -------------------------------------------------------------------------------- */

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

static void ask_http(struct service *s)
{
    struct buf authority = BUF_INIT(300);
    addr_print(address_of(s), &authority);
    struct head head = {.method = s->spec->ready_method,
                        .scheme = s->tls ? SLICE("https") : SLICE("http"),
                        .authority = addr_is_unix(address_of(s)) ? SLICE("localhost")
                                                                 : buf_slice(&authority),
                        .target = s->spec->ready_target};
    struct client_request r = {
        .to = address_of(s), .tls = s->tls, .head = &head, .timeout_ns = ANSWER_NS, .body_max = 0};
    s->call = client_send(s->all->client, &r, on_answer, s);
    buf_deinit(&authority);
}

void ready_ask(struct service *s)
{
    switch (s->spec->ready) {
    case READY_TCP: ask_tcp(s); break;
    case READY_HTTP: ask_http(s); break;
    case READY_NONE: service_ready_now(s); break;
    }
}

/* --- The port --------------------------------------------------------------------------------- */

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

static void holder_print(const struct addr *a, struct buf *out)
{
    char path[64], name[64];
    pid_t pid = addr_is_unix(a) ? 0 : owner_listener(a);
    if (pid <= 0) {
        buf_adds(out, "another process");
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    const char *got = f ? fgets(name, sizeof name, f) : NULL;
    if (f)
        (void)fclose(f);
    slice comm = got ? slice_trim(slice_of(got)) : SLICE("");
    buf_addf(out, "process %d%s%.*s%s", (int)pid, comm.n ? " (" : "", SLICE_ARG(comm),
             comm.n ? ")" : "");
}

bool service_port_free(const struct service *s, struct err *e)
{
    const struct addr *a = address_of(s);
    if (port_try(a) != EADDRINUSE)
        return true;
    struct buf at = BUF_INIT(160), holder = BUF_INIT(160);
    addr_print(a, &at);
    holder_print(a, &holder);
    service_err(s, e, "cannot have %s: %s listens there already; stop it, or choose another port",
                buf_text(&at), buf_text(&holder));
    buf_deinit(&at);
    buf_deinit(&holder);
    return false;
}

/* --- Who is waited for ------------------------------------------------------------------------ */

enum { NAMES_TOLD = 3 };

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
