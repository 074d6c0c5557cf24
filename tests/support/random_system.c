/* SPDX-License-Identifier: Apache-2.0 */
#include "support/random_system.h"

#include "base/random.h"

enum { SERVICES_PER_LEVEL = 2 };

struct gen {
    struct arena *a;
    struct rng rng;
    uint32_t levels; /* services of level `levels` make no calls */
    uint32_t names;  /* calls named so far in this handler */
    uint32_t budget; /* calls that the handler may still be given */
    bool timed;      /* services take their time, and callers do not wait for ever */
};

static uint32_t below(struct gen *g, uint32_t n)
{
    return rng_below(&g->rng, n);
}

__attribute__((format(printf, 2, 3))) static const struct node *text(struct gen *g,
                                                                     const char *format, ...)
{
    struct buf b = BUF_INIT(300);
    va_list args;
    va_start(args, format);
    buf_addv(&b, format, args);
    va_end(args);
    const struct node *node = node_str(g->a, slice_copy(g->a, buf_slice(&b)));
    buf_deinit(&b);
    return node;
}

/* Numbers carry their text, as if they had been read from a file. */
static const struct node *number(struct gen *g, uint32_t n)
{
    struct node *node = node_list(g->a, 0);
    *node = *text(g, "%u", n);
    node->type = NODE_NUM;
    node->num = n;
    return node;
}

/* A growing map or list. */
static struct node *empty_map(struct gen *g)
{
    struct node *map = node_map(g->a, 24);
    map->n = 0;
    return map;
}

static void put(struct gen *g, struct node *map, const struct node *key, const struct node *value)
{
    (void)g;
    map->map[map->n++] = (struct node_pair){.key = key->text, .value = value};
}

static struct node *empty_list(struct gen *g)
{
    struct node *list = node_list(g->a, 24);
    list->n = 0;
    return list;
}

static void append(struct node *list, const struct node *item)
{
    list->list[list->n++] = item;
}

static const char *outcomes(struct gen *g)
{
    static const char *const sets[] = {"failed", "failed", "500", "503",
                                       "ok",     "5xx",    "any", "404, 503"};
    return sets[below(g, sizeof sets / sizeof *sets)];
}

static const struct node *reply(struct gen *g)
{
    static const uint32_t statuses[] = {200, 200, 500, 503, 404};
    struct node *step = empty_map(g);
    put(g, step, text(g, "reply"), number(g, statuses[below(g, 5)]));
    return step;
}

static const struct node *steps(struct gen *g, uint32_t level, uint32_t depth, bool may_reply);

/* Of a few lengths, so that sums of them lie on both sides of a timeout. */
static const char *const latencies[] = {"2ms", "5ms", "10ms", "30ms"};
static const char *const timeouts[] = {"4ms", "7500us", "25ms", "60ms"};

static struct node *plain_call(struct gen *g, uint32_t level)
{
    struct node *step = empty_map(g);
    put(g, step, text(g, "call"), text(g, "s%u%u GET /", level + 1, below(g, SERVICES_PER_LEVEL)));
    put(g, step, text(g, "as"), text(g, "c%u", g->names++));
    if (g->timed && below(g, 2))
        put(g, step, text(g, "timeout"), text(g, "%s", timeouts[below(g, 4)]));
    g->budget -= g->budget > 0;
    return step;
}

static const struct node *call(struct gen *g, uint32_t level, uint32_t depth, bool may_reply)
{
    struct node *step = plain_call(g, level);
    if (below(g, 4) == 0) {
        struct node *retry = empty_map(g);
        put(g, retry, text(g, "times"), number(g, 1 + below(g, 5) / 4));
        put(g, retry, text(g, "on"), text(g, "%s", outcomes(g)));
        put(g, step, text(g, "retry"), retry);
    }
    if (depth < 3 && below(g, 2) == 0) {
        struct node *on = empty_map(g);
        const char *first = outcomes(g), *second = outcomes(g);
        put(g, on, text(g, "%s", first), steps(g, level, depth + 1, may_reply));
        if (strcmp(first, second) != 0 && below(g, 2))
            put(g, on, text(g, "%s", second), steps(g, level, depth + 1, may_reply));
        put(g, step, text(g, "on"), on);
    }
    return step;
}

/* One call per branch: with more, which of two branches makes its second call first would depend on
 * how long the answers take, and not on outcomes alone. */
static const struct node *parallel(struct gen *g, uint32_t level, uint32_t depth, bool may_reply)
{
    struct node *step = empty_map(g), *branches = empty_list(g);
    uint32_t n = 2 + below(g, 2);
    for (uint32_t i = 0; i < n; i++)
        append(branches, plain_call(g, level));
    put(g, step, text(g, "parallel"), branches);
    if (below(g, 3) == 0)
        put(g, step, text(g, "until"), text(g, "first-error"));
    if (depth < 3 && below(g, 2)) {
        struct node *on = empty_map(g);
        put(g, on, text(g, "%s", outcomes(g)), steps(g, level, depth + 1, may_reply));
        put(g, step, text(g, "on"), on);
    }
    return step;
}

/* One comparison of an earlier answer. */
static void add_comparison(struct gen *g, struct buf *out)
{
    static const struct {
        const char *before, *after;
    } forms[] = {{"", ".failed"},     {"", ".ok"},    {"", ".status == 503"},
                 {"not ", ".called"}, {"", ".error"}, {"", ".status in [500, 404]"}};
    uint32_t i = below(g, sizeof forms / sizeof *forms);
    buf_addf(out, "%sc%u%s", forms[i].before, (unsigned)below(g, g->names), forms[i].after);
}

static const struct node *condition(struct gen *g)
{
    struct buf out = BUF_INIT(200);
    add_comparison(g, &out);
    if (below(g, 2)) {
        buf_adds(&out, below(g, 2) ? " and " : " or ");
        add_comparison(g, &out);
    }
    const struct node *node = text(g, "%s", buf_text(&out));
    buf_deinit(&out);
    return node;
}

static const struct node *branch(struct gen *g, uint32_t level, uint32_t depth, bool may_reply)
{
    struct node *step = empty_map(g);
    put(g, step, text(g, "if"), condition(g));
    put(g, step, text(g, "then"), steps(g, level, depth + 1, may_reply));
    if (below(g, 2))
        put(g, step, text(g, "else"), steps(g, level, depth + 1, may_reply));
    return step;
}

static const struct node *pause(struct gen *g)
{
    struct node *step = empty_map(g);
    put(g, step, text(g, "sleep"), text(g, "%s", latencies[below(g, 4)]));
    return step;
}

static const struct node *steps(struct gen *g, uint32_t level, uint32_t depth, bool may_reply)
{
    struct node *list = empty_list(g);
    uint32_t n = 1 + below(g, depth == 0 ? 3 : 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t kind = below(g, 10);
        if (g->budget == 0 || (depth > 0 && kind == 0)) {
            if (may_reply) {
                append(list, reply(g));
                break;
            }
        } else if (kind < 6) {
            append(list, call(g, level, depth, may_reply));
        } else if (kind < 8 && depth < 2) {
            append(list, parallel(g, level, depth, may_reply));
        } else if (g->names > 0 && depth < 3) {
            append(list, branch(g, level, depth, may_reply));
        }
        if (g->timed && below(g, 6) == 0)
            append(list, pause(g));
    }
    if (may_reply && depth == 0 && below(g, 2))
        append(list, reply(g));
    return list;
}

static const struct node *service(struct gen *g, uint32_t level)
{
    struct node *map = empty_map(g);
    g->names = 0;
    g->budget = level == 0 ? 4 : 2;
    if (g->timed && below(g, 2))
        put(g, map, text(g, "latency"), text(g, "%s", latencies[below(g, 4)]));
    const struct node *body = level < g->levels ? steps(g, level, 0, true) : &node_null;
    put(g, map, text(g, "GET /"), body);
    return map;
}

static const struct node *generate(struct gen g)
{
    g.levels = 1 + below(&g, 3);
    struct node *root = empty_map(&g), *services = empty_map(&g), *modes = empty_list(&g);
    static const char *const all[] = {"500", "503", "reset", "lost-reply:503", "hold"};
    uint32_t n_modes = 1 + below(&g, 3), first = below(&g, 5);
    for (uint32_t i = 0; i < n_modes; i++)
        append(modes, text(&g, "%s", all[(first + i) % 5]));
    for (uint32_t level = 0; level <= g.levels; level++)
        for (uint32_t i = 0; i < (level ? SERVICES_PER_LEVEL : 1); i++)
            put(&g, services, text(&g, "s%u%u", level, i), service(&g, level));
    struct node *scenarios = empty_map(&g), *scenario = empty_map(&g);
    put(&g, scenario, text(&g, "request"), text(&g, "s00 GET /"));
    put(&g, scenarios, text(&g, "main"), scenario);
    put(&g, root, text(&g, "system"), text(&g, "random"));
    put(&g, root, text(&g, "modes"), modes);
    put(&g, root, text(&g, "services"), services);
    put(&g, root, text(&g, "scenarios"), scenarios);
    return root;
}

const struct node *random_system(uint64_t seed, struct arena *a)
{
    return generate((struct gen){.a = a, .rng = {seed}});
}

const struct node *random_timed_system(uint64_t seed, struct arena *a)
{
    return generate((struct gen){.a = a, .rng = {seed}, .timed = true});
}

/* ---- shrinking ---- */

/* A copy without the item at the place that *at counts down to; *at ends above 0 when there are
 * fewer places. */
static const struct node *without(struct arena *a, const struct node *node, uint32_t *at)
{
    if (node->type != NODE_LIST && node->type != NODE_MAP)
        return node;
    bool list = node->type == NODE_LIST;
    struct node *copy = list ? node_list(a, node->n) : node_map(a, node->n);
    copy->n = 0;
    for (uint32_t i = 0; i < node->n; i++) {
        if (*at == 1) {
            *at = 0;
            continue;
        }
        if (*at > 0)
            --*at;
        if (list) {
            copy->list[copy->n++] = without(a, node->list[i], at);
        } else {
            copy->map[copy->n] = node->map[i];
            copy->map[copy->n++].value = without(a, node->map[i].value, at);
        }
    }
    return copy;
}

const struct node *shrink_system(const struct node *system, struct arena *a, still_wrong *wrong,
                                 void *ctx)
{
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (uint32_t place = 1;; place++) {
            uint32_t at = place;
            const struct node *candidate = without(a, system, &at);
            if (at > 0)
                break; /* past the last place */
            if (wrong(candidate, ctx)) {
                system = candidate;
                smaller = true;
                place--;
            }
        }
    }
    return system;
}
