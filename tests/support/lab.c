/* SPDX-License-Identifier: Apache-2.0 */
#include "support/lab.h"

#include <stdlib.h>

#include "base/hash.h"
#include "data/yaml.h"

int lab_init(struct lab *lab, const struct node *system, struct err *e)
{
    *lab = (struct lab){0};
    names_init(&lab->names);
    faultloads_init(&lab->fl);
    lab->aim = (struct aim){0};
    return system ? sim_load(system, &lab->names, &lab->sim, e) : 0;
}

int lab_init_text(struct lab *lab, const char *yaml, struct err *e)
{
    const struct node *root;
    if (lab_init(lab, NULL, e) || yaml_parse(slice_of(yaml), &lab->arena, &root, e))
        return -1;
    return sim_load(root, &lab->names, &lab->sim, e);
}

void lab_init_many(struct lab *lab, uint32_t n, const char *modes, bool deep)
{
    struct buf text = BUF_INIT(1 << 24);
    struct err e = {0};
    buf_addf(&text, "system: many\nmodes: [%s]\nservices:\n  top:\n    GET /:\n      - parallel:\n",
             modes);
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&text, "          - call: s%u GET /\n", (unsigned)i);
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&text,
                 deep
                     ? "  s%u: { GET /: [ { call: d%u GET /, on: { failed: { reply: 404 } } } ] }\n"
                       "  d%u: { GET /: }\n"
                     : "  s%u: { GET /: }\n",
                 (unsigned)i, (unsigned)i, (unsigned)i);
    buf_adds(&text, "scenarios: { main: { request: top GET / } }\n");
    if (lab_init_text(lab, buf_text(&text), &e))
        abort(); /* the text is ours */
    buf_deinit(&text);
}

int lab_init_file(struct lab *lab, const char *path, struct err *e)
{
    const struct node *root;
    if (lab_init(lab, NULL, e) || yaml_load(path, &lab->arena, &root, e))
        return -1;
    return sim_load(root, &lab->names, &lab->sim, e);
}

void lab_deinit(struct lab *lab)
{
    sim_free(lab->sim);
    vec_deinit(&lab->trace.calls);
    trace_order_deinit(&lab->order);
    map_deinit(&lab->facts);
    map_deinit(&lab->faultloads);
    aim_deinit(&lab->aim);
    faultloads_deinit(&lab->fl);
    names_deinit(&lab->names);
    arena_deinit(&lab->arena);
}

static void add_facts(struct lab *lab)
{
    trace_order(&lab->trace, &lab->names, &lab->order);
    for (uint32_t h = 0; h < lab->trace.calls.n; h++) {
        const struct call *handler = &lab->trace.calls.at[h];
        if (!handler->handled)
            continue;
        uint64_t fact = hash_mix(handler->uid, handler->reply);
        for (uint32_t i = lab->order.first.at[h]; i < lab->order.first.at[h + 1]; i++) {
            const struct call *c = &lab->trace.calls.at[lab->order.child.at[i]];
            fact = hash_mix(hash_mix(fact, c->uid), call_label(c));
        }
        map_count(&lab->facts, fact);
    }
}

void lab_run_only(struct lab *lab, faultload f)
{
    struct err e = {0};
    aim_set(&lab->aim, &lab->names, &lab->fl, f);
    if (sim_run(lab->sim, lab->scenario, &lab->aim, lab->seed++, &lab->trace, &lab->verdict, NULL,
                &e))
        mem_oom(); /* a test's system always runs */
}

void lab_run(struct lab *lab, faultload f)
{
    lab_run_only(lab, f);
    for (uint32_t i = 1; i < lab->trace.calls.n && lab->flags; i++)
        lab->trace.calls.at[i].flags = lab->flags(&lab->names, lab->trace.calls.at[i].uid);
    map_count(&lab->faultloads, lab_key(lab, f));
    add_facts(lab);
}

uint64_t lab_key(const struct lab *lab, faultload f)
{
    uint64_t sum = 0;
    for (; f != FAULTLOAD_EMPTY; f = lab->fl.rows.at[f].rest)
        sum += hash_mix(lab->fl.rows.at[f].last.point, lab->fl.rows.at[f].last.mode);
    return sum;
}

bool lab_all_fired(const struct lab *lab, faultload f)
{
    for (; f != FAULTLOAD_EMPTY; f = lab->fl.rows.at[f].rest) {
        bool fired = false;
        for (uint32_t i = 0; i < lab->trace.calls.n; i++)
            fired |= lab->trace.calls.at[i].mode != MODE_NONE &&
                     lab->trace.calls.at[i].fault_point == lab->fl.rows.at[f].last.point;
        if (!fired)
            return false;
    }
    return true;
}

static const mode *lab_modes(const struct lab *lab, uint32_t *n)
{
    *n = lab->modes ? lab->n_modes : lab->sim->modes.n;
    return lab->modes ? lab->modes : lab->sim->modes.at;
}

struct search_options lab_options(const struct lab *lab)
{
    struct search_options options = {.baselines = 1};
    options.modes = lab_modes(lab, &options.n_modes);
    return options;
}

struct search *lab_explore(struct lab *lab, const struct search_options *options, uint64_t max_runs)
{
    struct search *search = search_new(&lab->names, &lab->fl, options);
    faultload f;
    for (uint64_t n = 0; (!max_runs || n < max_runs) && search_next(search, &f); n++) {
        lab_run(lab, f);
        search_observe(search, f, &lab->trace, &lab->verdict);
    }
    return search;
}

/* f with a fault at u, and without those that it keeps from happening. */
static faultload with_fault(struct lab *lab, faultload f, uid u, mode m)
{
    faultload result = FAULTLOAD_EMPTY;
    for (; f != FAULTLOAD_EMPTY; f = lab->fl.rows.at[f].rest)
        if (mode_reached(m) || !uid_contains(&lab->names, u, lab->fl.rows.at[f].last.point))
            result = faultload_extend(&lab->fl, result, lab->fl.rows.at[f].last);
    return faultload_extend(&lab->fl, result, (struct fault){u, m});
}

bool lab_brute_force(struct lab *lab, uint32_t most,
                     void (*visit)(void *ctx, faultload f, bool fired), void *ctx)
{
    VEC(faultload) todo = {0};
    struct map known = {0};
    uint32_t n_modes;
    const mode *modes = lab_modes(lab, &n_modes);
    vec_push(&todo, FAULTLOAD_EMPTY);
    map_set(&known, 0, 1);
    for (uint32_t at = 0; at < todo.n && todo.n <= most; at++) {
        faultload f = todo.at[at];
        lab_run(lab, f);
        if (visit)
            visit(ctx, f, lab_all_fired(lab, f));
        for (uint32_t i = 1; i < lab->trace.calls.n; i++) {
            uid u = lab->trace.calls.at[i].uid;
            for (uint32_t m = 0; m < n_modes && lab->trace.calls.at[i].mode == MODE_NONE; m++) {
                if (!call_takes(&lab->trace.calls.at[i], modes[m]))
                    continue;
                faultload next = with_fault(lab, f, u, modes[m]);
                uint64_t key = lab_key(lab, next);
                if (map_get(&known, key))
                    continue;
                map_set(&known, key, 1);
                vec_push(&todo, next);
            }
        }
    }
    bool complete = todo.n <= most;
    vec_deinit(&todo);
    map_deinit(&known);
    return complete;
}
