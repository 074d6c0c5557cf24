/* SPDX-License-Identifier: Apache-2.0
 *
 * From the text of a call to the endpoint that answers it. Segments of an endpoint's path match
 * literally or, as {name}, anything; the endpoint with the most literal segments wins. */
#include "sim/sim_int.h"

uint32_t service_find(const struct sim *sim, slice name)
{
    const uint32_t *i = map_get(&sim->service_of, names_sym(sim->names, name));
    return i ? *i : UINT32_MAX;
}

uint32_t state_find(const struct service *service, slice name)
{
    for (uint32_t i = 0; service->state && i < service->state->n; i++)
        if (slice_eq(service->state->map[i].key, name))
            return i;
    return SLOT_NONE;
}

static bool is_parameter(slice segment)
{
    return segment.n > 2 && segment.p[0] == '{' && segment.p[segment.n - 1] == '}';
}

static slice *split_path(struct arena *a, slice path, uint32_t *n)
{
    *n = 1;
    for (size_t i = 0; i < path.n; i++)
        *n += path.p[i] == '/';
    slice *segment = arena_zero(a, *n * sizeof *segment);
    for (uint32_t i = 0; i < *n; i++)
        slice_cut(&path, '/', &segment[i]);
    return segment;
}

void endpoint_split(struct arena *a, slice text, struct endpoint *out)
{
    slice path = text, method;
    slice_word(&path, &method);
    path = slice_trim(path); /* may have blanks: they come from values */
    out->text = text;
    out->method = path.n ? method : SLICE("");
    out->segment = split_path(a, path.n ? path : method, &out->n_segments);
}

/* Number of literal segments + 1, or 0 when it does not match. */
static uint32_t match(const struct endpoint *ep, const struct endpoint *request)
{
    if (ep->n_segments != request->n_segments || !slice_eq(ep->method, request->method))
        return 0;
    uint32_t literals = 1;
    for (uint32_t i = 0; i < ep->n_segments; i++) {
        if (is_parameter(ep->segment[i]))
            continue;
        if (!slice_eq(ep->segment[i], request->segment[i]))
            return 0;
        literals++;
    }
    return literals;
}

bool endpoint_may_match(const struct endpoint *ep, const struct endpoint *request)
{
    bool ok = ep->n_segments == request->n_segments && slice_eq(ep->method, request->method);
    for (uint32_t i = 0; ok && i < ep->n_segments; i++)
        ok = is_parameter(ep->segment[i]) ||
             slice_find(request->segment[i], '{') < request->segment[i].n ||
             slice_eq(ep->segment[i], request->segment[i]);
    return ok;
}

/* The service and the rest of "http://SERVICE/path". */
static bool split_url(slice url, slice *service, slice *path)
{
    if (!slice_starts(url, SLICE("http://")))
        return false;
    slice rest = slice_from(url, 7);
    size_t slash = slice_find(rest, '/');
    *service = (slice){rest.p, slash};
    *path = slash < rest.n ? slice_from(rest, slash) : SLICE("/");
    return true;
}

void endpoint_match(const struct sim *sim, struct arena *a, const struct endpoint *request,
                    struct target *t)
{
    const struct service *service = &sim->service[t->service];
    uint32_t best = 0;
    for (uint32_t i = 0; i < service->n_endpoints; i++) {
        uint32_t m = match(&service->endpoint[i], request);
        if (m > best) {
            best = m;
            t->endpoint = &service->endpoint[i];
        }
    }
    if (!t->endpoint)
        return;
    t->param = arena_zero(a, request->n_segments * sizeof(struct node *));
    for (uint32_t i = 0; i < request->n_segments; i++)
        if (is_parameter(t->endpoint->segment[i]))
            t->param[t->n_params++] = node_str(a, request->segment[i]);
}

bool target_split(slice text, struct target_text *out)
{
    slice rest = text, first;
    *out = (struct target_text){.method = SLICE("")};
    slice_word(&rest, &first);
    rest = slice_trim(rest);
    if (!rest.n)
        return false;
    if (split_url(rest, &out->service, &out->path)) {
        out->url = true;
        out->method = first;
        return true;
    }
    out->service = first;
    slice_word(&rest, &out->path);
    rest = slice_trim(rest);
    if (rest.n) {
        out->method = out->path;
        out->path = rest;
    }
    return true;
}

static struct target make_target(struct sim *sim, slice text)
{
    struct target t = {.service = UINT32_MAX};
    struct target_text asked;
    if (!target_split(text, &asked))
        return t;
    struct buf buf = BUF_INIT(1 << 16);
    interface_make(asked.method, asked.path, sim->rewrite, &buf);
    t.interface = names_sym(sim->names, buf_slice(&buf));
    t.service = service_find(sim, asked.service);
    buf_clear(&buf);
    asked.path.n = slice_find(asked.path, '?');
    buf_addf(&buf, "%.*s%s%.*s", SLICE_ARG(asked.method), asked.method.n ? " " : "",
             SLICE_ARG(asked.path));
    if (t.service != UINT32_MAX) {
        struct endpoint request;
        endpoint_split(&sim->arena, slice_copy(&sim->arena, buf_slice(&buf)), &request);
        endpoint_match(sim, &sim->arena, &request, &t);
    }
    buf_deinit(&buf);
    return t;
}

slice target_pattern(struct arena *a, const struct expr *target)
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

const struct target *target_find(struct sim *sim, slice text)
{
    sym key = names_sym(sim->names, text);
    const uint32_t *known = map_get(&sim->target_of, key);
    if (known)
        return &sim->targets.at[*known];
    vec_push(&sim->targets, make_target(sim, slice_copy(&sim->arena, text)));
    map_set(&sim->target_of, key, sim->targets.n - 1);
    return &vec_last(&sim->targets);
}
