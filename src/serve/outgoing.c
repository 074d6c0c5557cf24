/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that go out: who is called, and what is sent. */
#include "serve/serve_int.h"

#include "base/clock.h"

/* Somebody to be called. */
struct peer {
    struct block_peer at;
    char authority[160];
};

struct outgoing {
    struct serve *serve;
    pthread_mutex_t lock; /* of the list */
    VEC(struct peer *) peers;
};

struct outgoing *outgoing_new(struct serve *s)
{
    struct outgoing *c = mem_zero(sizeof *c);
    c->serve = s;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void outgoing_free(struct outgoing *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->peers.n; i++) {
        block_peer_deinit(&c->peers.at[i]->at);
        mem_free(c->peers.at[i]);
    }
    vec_deinit(&c->peers);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

struct peer *outgoing_peer(struct outgoing *c, const struct addr *addr, slice authority, bool h2)
{
    struct peer *found = NULL;
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->peers.n && !found; i++) {
        struct peer *p = c->peers.at[i];
        if (p->at.h2 == h2 && slice_is(authority, p->authority))
            found = p;
    }
    if (!found && c->peers.n < SERVE_PEERS_MAX && authority.n < sizeof found->authority) {
        found = mem_zero(sizeof *found);
        found->at.addr = *addr;
        found->at.h2 = h2;
        memcpy(found->authority, authority.p, authority.n);
        vec_push(&c->peers, found);
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

enum { OWN_FIELDS = 4, KEY_MAX = 1000 };

/* Can it be the value of a header? A handler computes it of what it was sent. */
static bool is_key(slice key)
{
    bool ok = key.n > 0 && key.n <= KEY_MAX;
    for (size_t i = 0; ok && i < key.n; i++)
        ok = key.p[i] > ' ' && key.p[i] < 0x7f;
    return ok;
}

outcome outgoing_call(struct outgoing *c, struct peer *p, const struct request *r,
                      const struct sim_call *call, struct arena *a, const struct node **answer)
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
    if (is_key(call->key))
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
        block_call(&c->serve->links, &p->at, &h, buf_slice(&body), clock_ns() + wait_ns, a, &in);
    bool answered = outcome_kind(seen) == OUT_STATUS || outcome_kind(seen) == OUT_GRPC;
    *answer = answered ? body_parse(a, collect_body(&in, grpc, &cut)) : &node_null;
    buf_deinit(&in.kept);
    buf_deinit(&target);
    buf_deinit(&body);
    return seen;
}
