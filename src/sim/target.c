/* SPDX-License-Identifier: Apache-2.0
 *
 * From the text of a call to the endpoint that answers it. Segments of an endpoint's path match
 * literally or, as {name}, anything; the endpoint with the most literal segments wins. */
#include "base/str.h"
#include "sim/handler.h"
#include "sim/sim_int.h"

uint32_t state_find(const struct sim_service *service, slice name)
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

static void split_path(struct arena *a, slice path, struct endpoint *out)
{
    out->n_segments = 1;
    for (size_t i = 0; i < path.n; i++)
        out->n_segments += path.p[i] == '/';
    out->segment = arena_zero(a, out->n_segments * sizeof *out->segment);
    for (uint32_t i = 0; i < out->n_segments; i++)
        slice_cut(&path, '/', &out->segment[i]);
}

void endpoint_split(struct arena *a, slice text, struct endpoint *out)
{
    slice path = text, method;
    slice_word(&path, &method);
    path = slice_trim(path); /* may have blanks: they come from values */
    out->text = text;
    out->method = path.n ? method : SLICE("");
    split_path(a, path.n ? path : method, out);
}

uint32_t endpoint_match(const struct endpoint *ep, const struct endpoint *request, bool known)
{
    if (ep->n_segments != request->n_segments || !slice_eq(ep->method, request->method))
        return 0;
    uint32_t literals = 1;
    for (uint32_t i = 0; i < ep->n_segments; i++) {
        slice segment = request->segment[i];
        if (is_parameter(ep->segment[i]) || (!known && slice_find(segment, '{') < segment.n))
            continue;
        if (!slice_eq(ep->segment[i], segment))
            return 0;
        literals++;
    }
    return literals;
}

void target_match(const struct sim *sim, struct arena *a, slice method, slice path, bool decode,
                  struct target *t)
{
    const struct sim_service *service = &sim->service[t->service];
    struct endpoint request = {.method = method};
    split_path(a, slice_trim(path), &request);
    for (uint32_t i = 0; decode && i < request.n_segments; i++) {
        slice *segment = &request.segment[i];
        if (slice_find(*segment, '%') == segment->n)
            continue;
        struct buf text = BUF_INIT(segment->n);
        (void)percent_decode(*segment, false, &text); /* a % that begins no %XX stays */
        *segment = buf_keep(&text, a);
    }
    uint32_t best = 0;
    for (uint32_t i = 0; i < service->n_endpoints; i++) {
        uint32_t match = endpoint_match(&service->endpoint[i], &request, true);
        if (match > best) {
            best = match;
            t->endpoint = &service->endpoint[i];
        }
    }
    if (!t->endpoint)
        return;
    t->param = arena_zero(a, request.n_segments * sizeof(struct node *));
    for (uint32_t i = 0; i < request.n_segments; i++)
        if (is_parameter(t->endpoint->segment[i]))
            t->param[t->n_params++] = node_str(a, request.segment[i]);
}

bool target_split(slice text, struct target_text *out)
{
    slice rest = text, first;
    *out = (struct target_text){.method = SLICE("")};
    slice_word(&rest, &first);
    rest = slice_trim(rest);
    if (!rest.n)
        return false;
    slice url = SLICE("http://");
    if (slice_starts(rest, url)) {
        rest = slice_from(rest, url.n);
        size_t slash = slice_find(rest, '/');
        out->url = true;
        out->method = first;
        out->service = (slice){rest.p, slash};
        out->path = slash < rest.n ? slice_from(rest, slash) : SLICE("/");
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

const struct target *target_find(struct sim *sim, slice text)
{
    sym key = names_sym(sim->names, text);
    const uint32_t *known = map_get(&sim->target_of, key);
    if (known)
        return &sim->targets.at[*known];
    struct target t = {.service = UINT32_MAX};
    struct target_text asked;
    if (target_split(slice_copy(&sim->arena, text), &asked)) {
        struct buf interface = BUF_INIT(1 << 16);
        interface_make(asked.method, asked.path, sim->rewrite, &interface);
        t.interface = names_sym(sim->names, buf_slice(&interface));
        t.service = sim_service_find(sim, asked.service);
        buf_deinit(&interface);
        asked.path.n = slice_find(asked.path, '?');
        if (t.service != UINT32_MAX)
            target_match(sim, &sim->arena, asked.method, asked.path, false, &t);
    }
    vec_push(&sim->targets, t);
    map_set(&sim->target_of, key, sim->targets.n - 1);
    return &vec_last(&sim->targets);
}

/* ---- paths as requests carry them ---- */

/* In the file any text may be a value, and so part of a path; on the wire what is no plain byte of a
 * URL is written %XX. */
static bool is_plain(char c)
{
    return c > 0x20 && c < 0x7f && !memchr("\"<>\\^`{|}%#", c, 11);
}

slice sim_path_encode(struct arena *a, slice path)
{
    size_t plain = 0;
    while (plain < path.n && is_plain(path.p[plain]))
        plain++;
    if (plain == path.n)
        return path;
    struct buf text = BUF_INIT(path.n * 3);
    percent_encode(path, is_plain, &text);
    return buf_keep(&text, a);
}
