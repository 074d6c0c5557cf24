/* SPDX-License-Identifier: Apache-2.0
 *
 * What a handler does in the real world: values become bytes, calls go out on kept connections,
 * branches are given to other threads, waiting is waiting.
 *
 * 1. Whatever goes on after the answer (background calls, branches that nobody waits for) holds the
 *    request.
 * 2. A URL that a service hands on must lead to where *it* would go: the file knows services by
 *    name, so `http://SERVICE` at the beginning of a text is replaced on the way out. */
#include "data/json.h"
#include "serve/serve_int.h"

/* Somebody to be called. */
struct peer {
    struct block_peer at;
    char authority[160];
};

/* ---- values as bytes ---- */

const struct node *body_parse(struct arena *a, slice bytes)
{
    const struct node *value;
    if (bytes.n == 0)
        return &node_null;
    bytes = slice_copy(a, bytes);
    if (node_parse_json(a, bytes, &value) == 0 && value->weight <= SERVE_VALUE_MAX)
        return value;
    return node_str(a, bytes);
}

/* http://SERVICE and what follows, when SERVICE is one of the system that can be reached. */
static const struct node *replace_text(const struct serve *s, uint32_t service,
                                       const struct node *value, struct arena *a)
{
    const slice scheme = SLICE("http://");
    if (!slice_starts(value->text, scheme))
        return value;
    slice rest = slice_from(value->text, scheme.n), name = rest;
    name.n = 0;
    while (name.n < rest.n && !memchr("/?#", rest.p[name.n], 3))
        name.n++;
    uint32_t callee = sim_service_find(s->sim, name);
    const struct route *route = callee == UINT32_MAX ? NULL : serve_route(s, service, callee);
    if (!route)
        return value;
    struct buf text = BUF_INIT(SERVE_BODY_MAX);
    buf_addf(&text, "http://%.*s", SLICE_ARG(route->authority));
    buf_add(&text, slice_from(rest, name.n));
    value = node_str(a, slice_copy(a, buf_slice(&text)));
    buf_deinit(&text);
    return value;
}

/* The value itself where nothing is to be replaced. */
static const struct node *replace(const struct serve *s, uint32_t service, const struct node *value,
                                  struct arena *a)
{
    struct node *copy = NULL;
    if (value->type == NODE_STR)
        return replace_text(s, service, value, a);
    if (value->type != NODE_LIST && value->type != NODE_MAP)
        return value;
    bool list = value->type == NODE_LIST;
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node *item = list ? value->list[i] : value->map[i].value;
        const struct node *other = replace(s, service, item, a);
        if (other == item)
            continue;
        if (!copy && list)
            memcpy((copy = node_list(a, value->n))->list, value->list,
                   value->n * sizeof *copy->list);
        else if (!copy)
            memcpy((copy = node_map(a, value->n))->map, value->map, value->n * sizeof *copy->map);
        if (list)
            copy->list[i] = other;
        else
            copy->map[i].value = other;
    }
    return copy ? copy : value;
}

void body_print(const struct serve *s, uint32_t service, const struct node *value, struct arena *a,
                struct buf *out)
{
    if (value->type != NODE_NULL)
        node_print(replace(s, service, value, a), out);
}

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

void peers_free(struct serve *s)
{
    for (uint32_t i = 0; i < s->peers.n; i++) {
        block_peer_deinit(&s->peers.at[i]->at);
        mem_free(s->peers.at[i]);
    }
    vec_deinit(&s->peers);
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

/* Who is called; NULL: nobody can be, or there are too many. */
static struct peer *peer_of(struct serve *s, const struct sim_call *call)
{
    bool h2 = call->method.n == 0;
    struct route told = {.authority = call->host};
    const struct route *to = &told;
    struct err ignored = {0};
    if (call->callee != UINT32_MAX)
        to = serve_route(s, call->caller, call->callee);
    else if (!is_numeric(call->host) || addr_parse(call->host, "URL", &told.addr, &ignored))
        to = NULL;
    if (!to)
        return NULL;
    slice authority = to->authority;
    struct peer *found = NULL;
    pthread_mutex_lock(&s->peers_lock);
    for (uint32_t i = 0; i < s->peers.n && !found; i++) {
        struct peer *p = s->peers.at[i];
        if (p->at.h2 == h2 && slice_is(authority, p->authority))
            found = p;
    }
    if (!found && s->peers.n < SERVE_PEERS_MAX && authority.n < sizeof found->authority) {
        found = mem_zero(sizeof *found);
        found->at.addr = to->addr;
        found->at.h2 = h2;
        memcpy(found->authority, authority.p, authority.n);
        vec_push(&s->peers, found);
    }
    pthread_mutex_unlock(&s->peers_lock);
    return found;
}

enum { OWN_FIELDS = 4, KEY_MAX = 1000 };

static outcome call_out(struct peer *p, const struct request *r, const struct sim_call *call,
                        struct arena *a, const struct node **answer)
{
    bool grpc = p->at.h2, cut;
    struct buf body = BUF_INIT(SERVE_BODY_MAX), target = BUF_INIT(SERVE_BODY_MAX);
    char depth[DIGITS_MOST];
    struct field *fields = arena_alloc(a, (r->n_fields + OWN_FIELDS) * sizeof *fields);
    uint32_t n = r->n_fields;
    if (n)
        memcpy(fields, r->fields, n * sizeof *fields);
    if (call->payload->type != NODE_NULL)
        node_print(call->payload, &body);
    fields[n++] = (struct field){SERVE_DEPTH_FIELD, slice_of_u64(r->depth + 1, depth)};
    if (grpc || body.n)
        fields[n++] = (struct field){SLICE("content-type"), grpc ? SLICE("application/grpc+json")
                                                                 : SLICE("application/json")};
    if (grpc)
        fields[n++] = (struct field){SLICE("te"), SLICE("trailers")};
    /* a handler computes its key of what it was sent: can it be the value of a header? */
    bool keyed = call->key.n > 0 && call->key.n <= KEY_MAX;
    for (size_t i = 0; keyed && i < call->key.n; i++)
        keyed = call->key.p[i] > ' ' && call->key.p[i] < 0x7f;
    if (keyed)
        fields[n++] = (struct field){SLICE("idempotency-key"), call->key};
    slice path = sim_path_encode(a, call->path);
    buf_addf(&target, "%s%.*s", grpc ? "/" : "", SLICE_ARG(path));
    struct head h = {.method = grpc ? SLICE("POST") : call->method,
                     .scheme = SLICE("http"),
                     .authority = slice_of(p->authority),
                     .target = buf_slice(&target),
                     .fields = fields,
                     .n_fields = n,
                     .has_length = !grpc && body.n > 0,
                     .length = body.n};
    int64_t wait_ns = call->timeout_ns ? call->timeout_ns : SERVE_WAIT_NS;
    struct collector in = {.kept = BUF_INIT(SERVE_BODY_MAX)};
    outcome seen =
        block_call(&r->serve->links, &p->at, &h, buf_slice(&body), clock_ns() + wait_ns, a, &in);
    bool answered = outcome_kind(seen) == OUT_STATUS || outcome_kind(seen) == OUT_GRPC;
    *answer = answered ? body_parse(a, collect_body(&in, grpc, &cut)) : &node_null;
    buf_deinit(&in.kept);
    buf_deinit(&target);
    buf_deinit(&body);
    return seen;
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
    call_out(e->peer, e->request, &e->call, world_arena(e->request), &ignored);
    request_drop(e->request);
    mem_free(e);
}

static outcome world_call(void *ctx, const struct sim_call *call, struct arena *a,
                          const struct node **body)
{
    struct request *r = ctx;
    *body = &node_null;
    /* a method is a word of a request: nothing else may be slipped into its line */
    for (size_t i = 0; i < call->method.n; i++)
        if (!is_letter(call->method.p[i]) && call->method.p[i] != '-')
            return OUTCOME(OUT_REFUSED, 0);
    struct peer *peer = peer_of(r->serve, call);
    if (!peer)
        return OUTCOME(OUT_REFUSED, 0);
    if (!call->background)
        return call_out(peer, r, call, a, body);
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
