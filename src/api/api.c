/* SPDX-License-Identifier: Apache-2.0
 *
 * The server: who asks is judged, the route is found, its handler answers. */
#include "api/api.h"

#include <sys/resource.h>

#include "api/api_int.h"
#include "base/clock.h"

enum { QUEUE_MAX = FEED_RING_BYTES }; /* bytes of one answer under way: the largest event */

/* ---- requests ---- */

/* application/json, with parameters or not. No form of another page can be sent so. */
static bool is_json(const struct head *h)
{
    slice type = head_get(h, SLICE("content-type"));
    type.n = type.p ? slice_find(type, ';') : 0;
    return slice_eq_nocase(slice_trim(type), SLICE("application/json"));
}

static void answer(struct asking *k)
{
    struct server_request *q = k->q;
    const char *why = NULL, *allow = NULL;
    struct err e = {0};
    uint16_t found = route_find(q->head->method, q->path, &k->arena, &k->asked, &allow);
    bool is_page = slice_is(q->path, "/");
    uint16_t refused =
        access_check(&k->api->access, q->head, found == 200 && k->asked.route->open, is_page, &why);
    if (refused) {
        answer_error(q, refused, why);
    } else if (found == 404) {
        answer_error(q, 404, "there is no such address; /api/v1/openapi.json lists all");
    } else if (found == 405) {
        server_field(q, "allow", allow);
        (void)err_set(&e, 0, 0, "this address takes %s, not %.*s", allow, SHORT(q->head->method));
        answer_error(q, 405, e.text);
    } else if (k->asked.route->body && !is_json(q->head)) {
        answer_error(q, 415, "send Content-Type: application/json");
    } else if (route_query(&k->asked, q->query, &k->arena, &e)) {
        answer_error(q, 400, e.text);
    } else {
        k->asked.route->handle(k);
    }
}

static void on_request(struct server_request *q)
{
    struct asking k = {.api = q->ctx, .q = q};
    answer(&k);
    arena_deinit(&k.arena);
}

/* ---- the server ---- */

/* Descriptors are the campaign's in the first place: connections get at most half of them. */
static uint32_t connections_most(uint32_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > wanted)
        return wanted;
    return (uint32_t)(limit.rlim_cur / 2);
}

static void make_address(struct api *a)
{
    struct addr at = a->at;
    addr_from_here(&at);
    buf_adds(&a->address, a->tls ? "https://" : "http://");
    addr_print(&at, &a->address);
    buf_addc(&a->address, '/');
    if (a->token.n)
        buf_addf(&a->address, "#token=%s", buf_text(&a->token));
}

static int listen_at(struct api *a, struct err *e)
{
    static const struct server_route all = {
        .path = "*", .body_max = API_BODY_MAX, .handle = on_request};
    const struct api_options *o = &a->o;
    uint32_t connections = connections_most(a->feed.most + API_OTHERS);
    struct server_options server = {.loop = o->loop,
                                    .routes = &all,
                                    .n_routes = 1,
                                    .ctx = a,
                                    .refuse = answer_error,
                                    .connections = connections,
                                    .queue = QUEUE_MAX,
                                    .patience_ns = o->patience_ns};
    if (connections < a->feed.most + API_OTHERS)
        a->feed.most = connections / 2;
    if (addr_parse(slice_of(o->listen ? o->listen : "127.0.0.1:0"), o->what ? o->what : "--listen",
                   &a->at, e) ||
        access_allowed(&a->at, o->token, e))
        return -1;
    if (o->tls_cert) {
        a->tls = tls_page(o->tls_cert, o->tls_key, e);
        if (!a->tls)
            return -1;
    }
    server.tls = a->tls;
    return server_new(&server, &a->at, &a->server, e);
}

static void print_state(void *ctx, struct buf *out)
{
    campaign_print(ctx, out);
}

int api_new(const struct api_options *o, struct api **out, struct err *e)
{
    struct api *a = mem_zero(sizeof *a);
    *a = (struct api){.o = *o,
                      .epoch = (uint64_t)clock_ns() / 1000,
                      .token = BUF_INIT(4096),
                      .address = BUF_INIT(8192),
                      .openapi = BUF_INIT(8 << 20),
                      .shelf = shelf_new()};
    watch_init(&a->watch, o->scenarios, o->n_scenarios);
    feed_init(&a->feed, o->loop, o->streams ? o->streams : API_STREAMS, a->epoch, print_state, a);
    if (listen_at(a, e)) {
        api_free(a);
        return -1;
    }
    if (o->token)
        buf_adds(&a->token, o->token);
    a->access = (struct access){.loopback = addr_is_loopback(&a->at),
                                .tls = a->tls != NULL,
                                .host = slice_of(a->at.host),
                                .token = o->token ? buf_slice(&a->token) : (slice){NULL, 0}};
    make_address(a);
    *out = a;
    return 0;
}

void api_free(struct api *a)
{
    if (!a)
        return;
    if (a->server)
        feed_flush(&a->feed);
    server_free(a->server);
    tls_context_free(a->tls);
    feed_deinit(&a->feed);
    watch_deinit(&a->watch);
    shelf_free(a->shelf);
    buf_deinit(&a->token);
    buf_deinit(&a->address);
    buf_deinit(&a->openapi);
    mem_free(a);
}

const char *api_address(const struct api *a)
{
    return buf_text(&a->address);
}

bool api_is_everywhere(const struct api *a)
{
    struct addr at = a->at;
    return addr_from_here(&at);
}

/* ---- what happens ---- */

void api_event(struct api *a, const struct event *event)
{
    watch_event(&a->watch, event, clock_ns());
    feed_event(&a->feed, event, a->o.names, a->o.faultloads);
}

void api_changed(struct api *a)
{
    shelf_age(a->shelf);
    feed_changed(&a->feed);
}

void api_replayed(struct api *a, uint64_t id)
{
    feed_replay(&a->feed, id);
}

uint32_t api_listeners(const struct api *a)
{
    return a->feed.n;
}
