/* SPDX-License-Identifier: Apache-2.0
 *
 * What a handler does in the real world: calls go out (outgoing.c), branches are given to
 * other threads, waiting is waiting.
 *
 * 1. Whatever goes on after the answer (background calls, branches that nobody waits for) holds the
 *    request. */
#include "serve/serve_int.h"

/* ---- memory and time ---- */

static struct arena *world_arena(void *ctx)
{
    struct request *r = ctx;
    struct arena *a = &r->arena;
    pthread_mutex_lock(&r->lock);
    if (r->given) {
        struct request_arena *m = mem_zero(sizeof *m);
        m->next = r->more;
        r->more = m;
        a = &m->arena;
    }
    r->given = true;
    pthread_mutex_unlock(&r->lock);
    return a;
}

static void world_sleep(void *ctx, int64_t ns)
{
    struct request *r = ctx;
    block_links_sleep(&r->serve->links, ns);
}

/* ---- calls ---- */

/* A method is a word of a request: nothing else may be slipped into its line. */
static bool is_method(slice method)
{
    for (size_t i = 0; i < method.n; i++)
        if (!((method.p[i] >= 'A' && method.p[i] <= 'Z') ||
              (method.p[i] >= 'a' && method.p[i] <= 'z') || method.p[i] == '-'))
            return false;
    return true;
}

/* Addresses that come as data are numbers: nothing is looked up. */
static bool is_numeric(slice host)
{
    if (slice_starts(host, SLICE("localhost:")))
        return true;
    bool port = false;
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        port |= c == ':';
        if (!((c >= '0' && c <= '9') || c == '.' || c == ':' || c == '[' || c == ']' ||
              (c >= 'a' && c <= 'f')))
            return false;
    }
    return port;
}

static struct peer *peer_of(const struct serve *s, const struct sim_call *call)
{
    const struct addr *to;
    struct addr read;
    slice authority = call->host;
    struct err ignored = {0};
    if (call->callee != UINT32_MAX) {
        if (!serve_route(s, call->caller, call->callee, &to, &authority))
            return NULL;
    } else {
        if (!is_numeric(call->host) || addr_parse(call->host, "URL", &read, &ignored))
            return NULL;
        to = &read;
    }
    return outgoing_peer(s->outgoing, to, authority, call->method.n == 0);
}

struct errand {
    struct request *request;
    struct peer *peer;
    struct sim_call call;
};

static void run_errand(void *arg)
{
    struct errand *e = arg;
    const struct node *ignored;
    outgoing_call(e->request->serve->outgoing, e->peer, e->request, &e->call,
                  world_arena(e->request), &ignored);
    request_drop(e->request);
    mem_free(e);
}

static outcome world_call(void *ctx, const struct sim_call *call, struct arena *a,
                          const struct node **body)
{
    struct request *r = ctx;
    struct peer *peer = is_method(call->method) ? peer_of(r->serve, call) : NULL;
    *body = &node_null;
    if (!peer)
        return OUTCOME(OUT_REFUSED, 0);
    if (!call->background)
        return outgoing_call(r->serve->outgoing, peer, r, call, a, body);
    struct errand *e = mem_alloc(sizeof *e);
    *e = (struct errand){request_hold(r), peer, *call};
    if (!crew_give(r->serve->crew, run_errand, e))
        run_errand(e);
    return OUTCOME_OK;
}

/* ---- branches ---- */

enum { RUNNING, GOOD, BAD };

struct group {
    struct request *request;
    pthread_mutex_t lock;
    pthread_cond_t news;
    uint32_t refs, n;
    bool first_error;
    bool (*job)(void *arg, uint32_t i);
    void *arg;
    struct branch {
        struct group *group;
        uint32_t state;
    } branch[];
};

/* With the lock, which it opens. */
static void group_drop(struct group *g)
{
    bool last = --g->refs == 0;
    pthread_mutex_unlock(&g->lock);
    if (!last)
        return;
    request_drop(g->request);
    pthread_cond_destroy(&g->news);
    pthread_mutex_destroy(&g->lock);
    mem_free(g);
}

static void run_branch(void *arg)
{
    struct branch *b = arg;
    struct group *g = b->group;
    bool good = g->job(g->arg, (uint32_t)(b - g->branch));
    pthread_mutex_lock(&g->lock);
    b->state = good ? GOOD : BAD;
    pthread_cond_signal(&g->news);
    group_drop(g);
}

/* With the lock: is it decided? *failed is the first that failed. */
static bool decided(const struct group *g, uint32_t *failed)
{
    bool all = true;
    *failed = UINT32_MAX;
    for (uint32_t i = 0; i < g->n; i++) {
        all &= g->branch[i].state != RUNNING;
        if (g->branch[i].state != BAD || *failed != UINT32_MAX)
            continue;
        *failed = i;
        if (g->first_error && all)
            return true;
    }
    return all;
}

static uint32_t world_parallel(void *ctx, uint32_t n, bool first_error,
                               bool (*job)(void *arg, uint32_t i), void *arg)
{
    uint32_t failed;
    struct group *g = mem_zero(sizeof *g + n * sizeof *g->branch);
    *g = (struct group){.request = request_hold(ctx),
                        .refs = n + 1,
                        .n = n,
                        .first_error = first_error,
                        .job = job,
                        .arg = arg};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->news, NULL);
    struct crew *crew = g->request->serve->crew;
    for (uint32_t i = 0; i < n; i++) {
        g->branch[i].group = g;
        /* this thread takes the last one, unless it may have to go on before that is done */
        bool mine = i + 1 == n && !first_error;
        if (mine || !crew_give(crew, run_branch, &g->branch[i]))
            run_branch(&g->branch[i]);
    }
    pthread_mutex_lock(&g->lock);
    while (!decided(g, &failed))
        pthread_cond_wait(&g->news, &g->lock);
    group_drop(g);
    return failed;
}

/* ---- state ---- */

static const struct node **world_state_begin(void *ctx, uint32_t service)
{
    struct request *r = ctx;
    return states_begin(r->serve->states, r->trace, service);
}

static void world_state_end(void *ctx, uint32_t service, uint32_t slot)
{
    struct request *r = ctx;
    states_end(r->serve->states, r->trace, service, slot);
}

const struct sim_world serve_world = {.call = world_call,
                                      .sleep = world_sleep,
                                      .parallel = world_parallel,
                                      .arena = world_arena,
                                      .state_begin = world_state_begin,
                                      .state_end = world_state_end};
