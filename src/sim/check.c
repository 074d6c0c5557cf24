/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be known of a file's calls without running it: that the service exists, that one of its
 * endpoints may answer, and that calls do not go in a circle; who may call whom, and how. The
 * {references} in a path stand for anything. */
#include "base/hash.h"
#include "core/coverage.h"
#include "core/interface.h"
#include "sim/sim_int.h"

/* The text of a call with {} for what is not known before a run. */
static slice target_pattern(struct arena *a, const struct expr *target)
{
    if (target->op == EX_CONST)
        return target->constant->text;
    if (target->op != EX_TEXT)
        return SLICE("{}");
    struct buf text = BUF_INIT(1 << 16);
    for (uint32_t i = 0; i < target->n; i++)
        buf_add(&text,
                target->part[i]->op == EX_CONST ? target->part[i]->constant->text : SLICE("{}"));
    return buf_keep(&text, a);
}

/* Gives all calls in the steps to `found`, until it returns something else than 0, which is
 * returned. */
static int each_call(const struct steps *steps, int (*found)(void *ctx, const struct step *call),
                     void *ctx)
{
    int status = 0;
    for (uint32_t i = 0; i < steps->n && !status; i++) {
        const struct step *step = &steps->at[i];
        if (step->kind == STEP_CALL)
            status = found(ctx, step);
        if (!status)
            status = each_call(&step->then, found, ctx);
        if (!status)
            status = each_call(&step->other, found, ctx);
        for (uint32_t k = 0; k < step->n_branches && !status; k++)
            status = each_call(&step->branch[k], found, ctx);
        for (uint32_t k = 0; k < step->on.n && !status; k++)
            status = each_call(&step->on.at[k].steps, found, ctx);
    }
    return status;
}

/* ---- calls that go nowhere or in circles ---- */

enum mark { UNSEEN, OPEN, DONE };

struct walk {
    const struct sim *sim;
    enum mark **mark; /* [service][endpoint] */
    struct err *err;
    struct arena scratch;
    VEC(const struct endpoint *) path; /* endpoints that are open, outermost first */
    VEC(slice) path_service;
};

static int check_call(void *walk, const struct step *call);

static int check_endpoint(struct walk *w, uint32_t s, uint32_t i)
{
    const struct endpoint *ep = &w->sim->service[s].endpoint[i];
    if (w->mark[s][i] == DONE)
        return 0;
    if (w->path.n >= SIM_DEPTH_MAX)
        return err_set(w->err, ep->line, ep->col, "calls nest deeper than %d levels",
                       SIM_DEPTH_MAX);
    w->mark[s][i] = OPEN;
    vec_push(&w->path, ep);
    vec_push(&w->path_service, w->sim->service[s].name);
    if (each_call(&ep->steps, check_call, w))
        return -1;
    w->path.n--;
    w->path_service.n--;
    w->mark[s][i] = DONE;
    return 0;
}

static int report_circle(struct walk *w, uint32_t line, uint32_t col, const struct endpoint *again)
{
    struct buf text = BUF_INIT(400);
    uint32_t i = 0;
    while (w->path.at[i] != again)
        i++;
    for (; i < w->path.n; i++)
        buf_addf(&text, "%.*s %.*s > ", SLICE_ARG(w->path_service.at[i]),
                 SLICE_ARG(w->path.at[i]->text));
    err_set(w->err, line, col, "calls form a cycle: %s%.*s again", buf_text(&text),
            SLICE_ARG(again->text));
    buf_deinit(&text);
    return -1;
}

/* Follows one call, written at this place, to all endpoints that may answer it. */
static int check_target(struct walk *w, const struct expr *target, uint32_t line, uint32_t col)
{
    slice rest = target_pattern(&w->scratch, target), first, second;
    if (!slice_word(&rest, &first) || slice_find(first, '{') < first.n)
        return 0;
    slice request = slice_trim(rest);
    request.n = slice_find(request, '?'); /* the query is no part of the path */
    if (!slice_word(&rest, &second))
        return err_set(w->err, line, col, "write a call as SERVICE METHOD /path");
    if (second.p[0] == '{' || slice_starts(second, SLICE("http://")))
        return 0; /* METHOD URL */
    uint32_t s = sim_service_find(w->sim, first);
    if (s == UINT32_MAX) {
        const char *names[64];
        size_t n = 0;
        for (; n < w->sim->n_services && n < 64; n++)
            names[n] = w->sim->service[n].name.p;
        return err_set(w->err, line, col, "unknown service \"%.*s\"%s", SHORT(first),
                       err_hint(first, names, n).text);
    }
    const struct sim_service *service = &w->sim->service[s];
    struct endpoint asked;
    endpoint_split(&w->scratch, request, &asked);
    bool found = service->external;
    for (uint32_t i = 0; i < service->n_endpoints; i++) {
        if (!endpoint_match(&service->endpoint[i], &asked, false))
            continue;
        found = true;
        if (w->mark[s][i] == OPEN)
            return report_circle(w, line, col, &service->endpoint[i]);
        if (check_endpoint(w, s, i))
            return -1;
    }
    if (!found)
        return err_set(w->err, line, col, "service \"%.*s\" has no endpoint for \"%.*s\"",
                       SLICE_ARG(service->name), SHORT(request));
    return 0;
}

static int check_call(void *walk, const struct step *call)
{
    return check_target(walk, call->value, call->line, call->col);
}

int sim_check(const struct sim *sim, struct err *e)
{
    struct walk w = {.sim = sim, .err = e};
    int status = 0;
    w.mark = arena_zero(&w.scratch, sim->n_services * sizeof *w.mark);
    for (uint32_t s = 0; s < sim->n_services; s++)
        w.mark[s] = arena_zero(&w.scratch, sim->service[s].n_endpoints * sizeof **w.mark);
    for (uint32_t s = 0; s < sim->n_services; s++)
        for (uint32_t i = 0; i < sim->service[s].n_endpoints && !status; i++)
            status = check_endpoint(&w, s, i);
    for (uint32_t i = 0; i < sim->n_scenarios && !status; i++) {
        const struct sim_scenario *sc = &sim->scenario[i];
        status = check_target(&w, sc->request, sc->line, sc->col);
    }
    arena_deinit(&w.scratch);
    vec_deinit(&w.path);
    vec_deinit(&w.path_service);
    return status;
}

/* ---- who may call whom ---- */

static int may_go_to(void *ctx, const struct step *call)
{
    slice callee = *(const slice *)ctx;
    struct arena a = {0};
    struct target_text parts;
    slice text = target_pattern(&a, call->value);
    bool may = slice_find(text, '{') < text.n;
    if (target_split(text, &parts))
        may = slice_eq(parts.service, callee) || slice_find(parts.service, '{') < parts.service.n ||
              (!parts.url && parts.path.n && parts.path.p[0] == '{'); /* METHOD {url} */
    arena_deinit(&a);
    return may;
}

bool sim_may_call(const struct sim *sim, uint32_t caller, uint32_t callee)
{
    const struct sim_service *service = &sim->service[caller];
    bool may = false;
    for (uint32_t i = 0; i < service->n_endpoints && !may; i++)
        may = each_call(&service->endpoint[i].steps, may_go_to, &sim->service[callee].name);
    return may;
}

/* ---- all calls ---- */

struct way_walk {
    const struct sim *sim;
    slice caller;
    struct arena *arena;
    struct known_ways *out;
    struct map seen;
};

/* The path without its query, with a star for each segment of which not all is known. */
static void star_path(slice path, struct buf *out)
{
    slice segment;
    path.n = slice_find(path, '?');
    for (bool first = true; slice_cut(&path, '/', &segment); first = false) {
        buf_adds(out, first ? "" : "/");
        buf_add(out, slice_find(segment, '{') < segment.n ? SLICE("*") : segment);
    }
}

static int add_way(void *ctx, const struct step *call)
{
    struct way_walk *w = ctx;
    struct target_text parts;
    if (!target_split(target_pattern(w->arena, call->value), &parts) ||
        sim_service_find(w->sim, parts.service) == UINT32_MAX)
        return 0; /* only a run can tell */
    struct buf text = BUF_INIT(1 << 16), interface = BUF_INIT(1 << 16);
    if (parts.method.n)
        buf_addf(&text, "%.*s ", SLICE_ARG(parts.method));
    star_path(parts.path, &text);
    interface_read(buf_slice(&text), w->sim->rewrite, &interface);
    uint64_t key = hash_mix(hash_slice(parts.service), hash_slice(buf_slice(&interface)));
    if (map_count(&w->seen, hash_mix(hash_slice(w->caller), key)) == 1) {
        slice kept = {arena_copy(w->arena, interface.p, interface.n), interface.n};
        vec_push(w->out, (struct known_way){w->caller, parts.service, kept});
    }
    buf_deinit(&text);
    buf_deinit(&interface);
    return 0;
}

void sim_ways(const struct sim *sim, struct arena *a, struct known_ways *out)
{
    struct way_walk w = {.sim = sim, .arena = a, .out = out};
    for (uint32_t i = 0; i < sim->n_services; i++) {
        w.caller = sim->service[i].name;
        for (uint32_t k = 0; k < sim->service[i].n_endpoints; k++)
            (void)each_call(&sim->service[i].endpoint[k].steps, add_way, &w);
    }
    map_deinit(&w.seen);
}
