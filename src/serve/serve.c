/* SPDX-License-Identifier: Apache-2.0
 *
 * The server as a whole: options, listening, accepting, stopping. The thread that runs it accepts;
 * each connection gets a thread of the crew. */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "io/blocking.h"
#include "io/sys.h"
#include "serve/serve_int.h"

struct serve *serve_new(const struct sim *sim)
{
    static const slice usual[] = {{"traceparent", 11}, {"tracestate", 10}, {"baggage", 7}};
    struct serve *s = mem_zero(sizeof *s);
    uint32_t n = sim->n_services;
    s->sim = sim;
    s->served = arena_zero(&s->arena, n * sizeof *s->served);
    s->port = arena_zero(&s->arena, n * sizeof *s->port);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        s->propagate[s->n_propagate++] = usual[i];
    block_links_init(&s->links);
    atomic_init(&s->seed, hash_mix((uint64_t)clock_wall_ns(), (uint64_t)getpid()));
    s->states = states_new(sim);
    pthread_mutex_init(&s->peers_lock, NULL);
    s->crew = crew_new(SERVE_THREADS_MAX);
    return s;
}

static void stop(struct serve *s)
{
    for (uint32_t i = 0; i < s->ports.n; i++)
        sys_close(s->ports.at[i].fd);
    s->ports.n = 0;
    block_links_end(&s->links);
}

void serve_free(struct serve *s)
{
    if (!s)
        return;
    stop(s);
    crew_free(s->crew);
    peers_free(s);
    pthread_mutex_destroy(&s->peers_lock);
    states_free(s->states);
    block_links_deinit(&s->links);
    vec_deinit(&s->ports);
    vec_deinit(&s->routes);
    arena_deinit(&s->arena);
    mem_free(s);
}

/* ---- options ---- */

static int find_service(const struct serve *s, slice name, const char *option, uint32_t *out,
                        struct err *e)
{
    *out = sim_service_find(s->sim, name);
    if (*out != UINT32_MAX)
        return 0;
    const char *names[64];
    size_t n = 0;
    for (uint32_t i = 0; i < s->sim->n_services && n < 64; i++)
        names[n++] = s->sim->service[i].name.p;
    return err_set(e, 0, 0, "--%s: unknown service \"%.*s\"%s", option, SHORT(name),
                   err_hint(name, names, n).text);
}

static int read_port(slice text, const char *option, uint16_t *out, struct err *e)
{
    uint64_t port;
    if (!slice_to_u64(text, UINT16_MAX, &port))
        return err_set(e, 0, 0, "--%s: expected a port from 0 (any) to 65535, not \"%.*s\"", option,
                       SHORT(text));
    *out = (uint16_t)port;
    return 0;
}

static int set_service(struct serve *s, slice value, struct err *e)
{
    uint32_t i;
    if (find_service(s, value, "service", &i, e))
        return -1;
    if (s->sim->service[i].external)
        return err_set(e, 0, 0, "--service: \"%.*s\" is outside the system", SLICE_ARG(value));
    s->served[i] = s->chosen = true;
    return 0;
}

static int set_port(struct serve *s, slice value, struct err *e)
{
    slice name;
    uint32_t i;
    if (!slice_cut(&value, '=', &name) || !value.p)
        return err_set(e, 0, 0, "--port: expected NAME=PORT");
    return find_service(s, name, "port", &i, e) || read_port(value, "port", &s->port[i], e) ? -1
                                                                                            : 0;
}

/* http://HOST:PORT, or HOST:PORT alone. */
static int read_url(struct serve *s, slice url, struct route *out, struct err *e)
{
    if (slice_starts(url, SLICE("http://")))
        url = slice_from(url, 7);
    if (url.n && url.p[url.n - 1] == '/')
        url.n--;
    if (addr_parse(url, "--to", &out->addr, e))
        return -1;
    if (addr_is_unix(&out->addr) || addr_port(&out->addr) == 0)
        return err_set(e, 0, 0, "--to: expected an address such as http://127.0.0.1:8001");
    struct buf text = BUF_INIT(200);
    buf_add(&text, url);
    if (slice_find(url, ':') == url.n) { /* a port alone */
        buf_clear(&text);
        buf_addf(&text, "127.0.0.1:%u", (unsigned)addr_port(&out->addr));
    }
    out->authority = buf_keep(&text, &s->arena);
    return 0;
}

static int set_to(struct serve *s, slice value, struct err *e)
{
    struct route route = {.caller = UINT32_MAX};
    slice names, caller;
    if (!slice_cut(&value, '=', &names) || !value.p)
        return err_set(e, 0, 0, "--to: expected [CALLER>]CALLEE=URL");
    if (slice_find(names, '>') < names.n) {
        slice_cut(&names, '>', &caller);
        if (find_service(s, slice_trim(caller), "to", &route.caller, e))
            return -1;
    }
    if (find_service(s, slice_trim(names), "to", &route.callee, e) || read_url(s, value, &route, e))
        return -1;
    vec_push(&s->routes, route);
    return 0;
}

static int set_propagate(struct serve *s, slice value, struct err *e)
{
    slice name;
    s->n_propagate = 0;
    if (slice_is(value, "none"))
        return 0;
    while (slice_cut(&value, ',', &name)) {
        name = slice_trim(name);
        if (slice_eq_nocase(name, SLICE("content-type")) || slice_eq_nocase(name, SLICE("te")))
            return err_set(
                e, 0, 0,
                "--propagate: \"%.*s\" belongs to a single message and cannot be passed on",
                SLICE_ARG(name));
        if (!name.n || s->n_propagate == SERVE_PROPAGATE_MAX)
            return err_set(e, 0, 0,
                           "--propagate takes `none` or up to %d header names, separated by commas",
                           SERVE_PROPAGATE_MAX);
        s->propagate[s->n_propagate++] = slice_copy(&s->arena, name);
    }
    return 0;
}

static int set_control(struct serve *s, slice value, struct err *e)
{
    s->control = true;
    return read_port(value, "control", &s->control_port, e);
}

int serve_option(struct serve *s, slice name, slice value, struct err *e)
{
    static const struct {
        const char *name;
        int (*set)(struct serve *s, slice value, struct err *e);
    } rows[] = {{"service", set_service},
                {"port", set_port},
                {"to", set_to},
                {"propagate", set_propagate},
                {"control", set_control}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(name, rows[i].name))
            return rows[i].set(s, value, e);
    return err_set(e, 0, 0, "unknown option --%.*s", SLICE_ARG(name));
}

/* ---- listening ---- */

static int listen_at(struct serve *s, uint32_t service, uint16_t number, struct err *e)
{
    struct port port = {.service = service};
    char *at = arena_printf(&s->arena, "127.0.0.1:%u", (unsigned)number);
    if (addr_parse(slice_of(at), "port", &port.addr, e) ||
        (port.fd = addr_listen(&port.addr, false, e)) < 0)
        return -1;
    vec_push(&s->ports, port);
    return 0;
}

int serve_choose(struct serve *s, struct err *e)
{
    for (uint32_t i = 0; i < s->sim->n_services; i++) {
        s->served[i] = (s->served[i] || !s->chosen) && !s->sim->service[i].external;
        if (!s->served[i] && s->port[i])
            return err_set(e, 0, 0, "--port: service \"%s\" is not being served",
                           s->sim->service[i].name.p);
    }
    return 0;
}

int serve_listen(struct serve *s, struct err *e)
{
    for (uint32_t i = 0; i < s->sim->n_services; i++) {
        if (!s->served[i])
            continue;
        if (listen_at(s, i, s->port[i], e))
            return -1;
        /* the services that listen are reached there, unless --to says otherwise */
        const struct addr *at = &vec_last(&s->ports).addr;
        char *authority = arena_printf(&s->arena, "127.0.0.1:%u", (unsigned)addr_port(at));
        vec_push(&s->routes, (struct route){.caller = UINT32_MAX,
                                            .callee = i,
                                            .addr = *at,
                                            .authority = slice_of(authority)});
    }
    return s->control ? listen_at(s, UINT32_MAX, s->control_port, e) : 0;
}

void serve_print(const struct serve *s, struct buf *out)
{
    for (uint32_t i = 0; i < s->ports.n; i++) {
        const struct port *p = &s->ports.at[i];
        const char *name =
            p->service == UINT32_MAX ? "control" : s->sim->service[p->service].name.p;
        buf_addf(out, "%s http://127.0.0.1:%u\n", name, (unsigned)addr_port(&p->addr));
    }
}

const struct route *serve_route(const struct serve *s, uint32_t caller, uint32_t callee)
{
    const struct route *found = NULL;
    for (uint32_t i = 0; i < s->routes.n; i++) {
        const struct route *r = &s->routes.at[i];
        if (r->callee != callee || (r->caller != UINT32_MAX && r->caller != caller))
            continue;
        if (!found || (found->caller == UINT32_MAX && r->caller != UINT32_MAX))
            found = r;
    }
    return found;
}

/* ---- running ---- */

struct guest {
    struct serve *serve;
    int fd;
    uint32_t service;
};

static void welcome(void *arg)
{
    struct guest guest = *(struct guest *)arg;
    mem_free(arg);
    server_serve(guest.serve, guest.fd, guest.service);
}

static void accept_all(struct serve *s, const struct port *port)
{
    for (;;) {
        int fd = sys_accept(port->fd);
        if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS)
            usleep(10000); /* until a connection ends */
        if (fd < 0)
            return;
        struct guest *g = mem_alloc(sizeof *g);
        *g = (struct guest){s, fd, port->service};
        if (crew_give(s->crew, welcome, g))
            continue;
        sys_close(fd);
        mem_free(g);
    }
}

int serve_run(struct serve *s)
{
    uint32_t n = s->ports.n + 1;
    int *fd = mem_alloc(n * sizeof *fd), came = 0;
    bool *ready = mem_alloc(n * sizeof *ready);
    struct signalfd_siginfo info;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    fd[0] = signalfd(-1, &set, SFD_CLOEXEC);
    for (uint32_t i = 1; i < n; i++)
        fd[i] = s->ports.at[i - 1].fd;
    while (!came && block_wait(fd, ready, n, 0) == 0) {
        if (ready[0] && sys_read(fd[0], &info, sizeof info) == sizeof info)
            came = (int)info.ssi_signo;
        for (uint32_t i = 1; i < n; i++)
            if (ready[i])
                accept_all(s, &s->ports.at[i - 1]);
    }
    sys_close(fd[0]);
    mem_free(fd);
    mem_free(ready);
    stop(s);
    return came;
}
