/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be known of a file's calls without running it: that the service exists, that one of its
 * endpoints may answer, and that calls do not go in a circle. The {references} in a path stand for
 * anything. */
#include "sim/sim_int.h"

enum mark { UNSEEN, OPEN, DONE };

struct walk {
    const struct sim *sim;
    enum mark **mark; /* [service][endpoint] */
    struct err *err;
    struct arena scratch;
    VEC(const struct endpoint *) path; /* endpoints that are open, outermost first */
    VEC(slice) path_service;
};

static int visit(struct walk *w, uint32_t s, uint32_t i);

static int report_circle(struct walk *w, uint32_t line, uint32_t col, const struct endpoint *again)
{
    struct buf text = BUF_INIT(400);
    uint32_t i = 0;
    while (w->path.at[i] != again)
        i++;
    for (; i < w->path.n; i++)
        buf_addf(&text, "%.*s %.*s > ", SLICE_ARG(w->path_service.at[i]),
                 SLICE_ARG(w->path.at[i]->text));
    err_set(w->err, line, col, "calls go in a circle: %s%.*s again", buf_text(&text),
            SLICE_ARG(again->text));
    buf_deinit(&text);
    return -1;
}

static int no_service(struct walk *w, uint32_t line, uint32_t col, slice name)
{
    const char *names[64];
    size_t n = 0;
    for (uint32_t i = 0; i < w->sim->n_services && n < 64; i++)
        names[n++] = arena_copy(&w->scratch, w->sim->service[i].name.p, w->sim->service[i].name.n);
    return err_set(w->err, line, col, "there is no service \"%.*s\"%s", SHORT(name),
                   err_hint(name, names, n).text);
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
        return err_set(w->err, line, col, "a call is written SERVICE METHOD /path");
    if (second.p[0] == '{' || slice_starts(second, SLICE("http://")))
        return 0; /* METHOD URL */
    uint32_t s = service_find(w->sim, first);
    if (s == UINT32_MAX)
        return no_service(w, line, col, first);
    const struct service *service = &w->sim->service[s];
    struct endpoint asked;
    endpoint_split(&w->scratch, request, &asked);
    bool found = service->external;
    for (uint32_t i = 0; i < service->n_endpoints; i++) {
        if (!endpoint_may_match(&service->endpoint[i], &asked))
            continue;
        found = true;
        if (w->mark[s][i] == OPEN)
            return report_circle(w, line, col, &service->endpoint[i]);
        if (visit(w, s, i))
            return -1;
    }
    if (!found)
        return err_set(w->err, line, col, "service \"%.*s\" has no endpoint for \"%.*s\"",
                       SLICE_ARG(service->name), SHORT(request));
    return 0;
}

static int check_steps(struct walk *w, const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->n; i++) {
        const struct step *step = &steps->at[i];
        if (step->kind == STEP_CALL && check_target(w, step->value, step->line, step->col))
            return -1;
        if (check_steps(w, &step->then) || check_steps(w, &step->other))
            return -1;
        for (uint32_t k = 0; k < step->n_branches; k++)
            if (check_steps(w, &step->branch[k]))
                return -1;
        for (uint32_t k = 0; k < step->on.n; k++)
            if (check_steps(w, &step->on.at[k].steps))
                return -1;
    }
    return 0;
}

static int visit(struct walk *w, uint32_t s, uint32_t i)
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
    if (check_steps(w, &ep->steps))
        return -1;
    w->path.n--;
    w->path_service.n--;
    w->mark[s][i] = DONE;
    return 0;
}

static int check_all(struct walk *w)
{
    const struct sim *sim = w->sim;
    w->mark = arena_zero(&w->scratch, sim->n_services * sizeof *w->mark);
    for (uint32_t s = 0; s < sim->n_services; s++)
        w->mark[s] = arena_zero(&w->scratch, sim->service[s].n_endpoints * sizeof **w->mark);
    for (uint32_t s = 0; s < sim->n_services; s++)
        for (uint32_t i = 0; i < sim->service[s].n_endpoints; i++)
            if (visit(w, s, i))
                return -1;
    for (uint32_t i = 0; i < sim->n_scenarios; i++) {
        const struct scenario *sc = &sim->scenario[i];
        if (check_target(w, sc->request, sc->line, sc->col))
            return -1;
    }
    return 0;
}

int sim_check(const struct sim *sim, struct err *e)
{
    struct walk w = {.sim = sim, .err = e};
    int status = check_all(&w);
    arena_deinit(&w.scratch);
    vec_deinit(&w.path);
    vec_deinit(&w.path_service);
    return status;
}
