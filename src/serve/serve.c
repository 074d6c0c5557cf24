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
    uint32_t n = sim_service_count(sim);
    s->sim = sim;
    s->served = arena_zero(&s->arena, n * sizeof *s->served);
    s->port = arena_zero(&s->arena, n * sizeof *s->port);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        s->propagate[s->n_propagate++] = usual[i];
    block_links_init(&s->links);
    atomic_init(&s->seed, hash_mix((uint64_t)clock_wall_ns(), (uint64_t)getpid()));
    s->states = states_new(sim);
    s->outgoing = outgoing_new(s);
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
    outgoing_free(s->outgoing);
    states_free(s->states);
    block_links_deinit(&s->links);
    vec_deinit(&s->ports);
    vec_deinit(&s->routes);
    arena_deinit(&s->arena);
    mem_free(s);
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
    for (uint32_t i = 0; i < sim_service_count(s->sim); i++) {
        s->served[i] = (s->served[i] || !s->chosen) && !sim_service_external(s->sim, i);
        if (!s->served[i] && s->port[i])
            return err_set(e, 0, 0, "--port: service \"%s\" is not among those that are served",
                           sim_service_name(s->sim, i));
    }
    return 0;
}

int serve_listen(struct serve *s, struct err *e)
{
    for (uint32_t i = 0; i < sim_service_count(s->sim); i++) {
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
            p->service == UINT32_MAX ? "control" : sim_service_name(s->sim, p->service);
        buf_addf(out, "%s http://127.0.0.1:%u\n", name, (unsigned)addr_port(&p->addr));
    }
}

bool serve_route(const struct serve *s, uint32_t caller, uint32_t callee, const struct addr **addr,
                 slice *authority)
{
    const struct route *found = NULL;
    for (uint32_t i = 0; i < s->routes.n; i++) {
        const struct route *r = &s->routes.at[i];
        if (r->callee != callee || (r->caller != UINT32_MAX && r->caller != caller))
            continue;
        if (!found || (found->caller == UINT32_MAX && r->caller != UINT32_MAX))
            found = r;
    }
    if (!found)
        return false;
    *addr = &found->addr;
    *authority = found->authority;
    return true;
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
