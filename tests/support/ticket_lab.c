/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ticket_lab.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "data/yaml.h"

static int read_paths(struct ticket_lab *t, const char *path, struct err *e)
{
    const struct node *root;
    if (yaml_load(path, &t->suite.arena, &root, e))
        return -1;
    const struct node *list = node_get(root, SLICE("fallbacks"));
    if (!list || list->type != NODE_LIST || list->n != TICKET_PATHS)
        return err_set(e, 0, 0, "%s has not the fallback paths that are counted", path);
    for (uint32_t i = 0; i < TICKET_PATHS; i++) {
        const struct node *call = node_get(list->list[i], SLICE("call"));
        slice rest = call->text;
        const char *gt = memmem(rest.p, rest.n, " > ", 3);
        if (!gt)
            return err_set(e, 0, 0, "%s: a path is CALLER > CALL", path);
        t->paths[i].caller = (slice){rest.p, (size_t)(gt - rest.p)};
        t->paths[i].callee = (slice){gt + 3, rest.n - t->paths[i].caller.n - 3};
    }
    return 0;
}

/* "SERVICE INTERFACE" */
static bool is_call(const struct names *names, const struct element *el, slice text)
{
    slice service = names_text(names, el->service), interface = names_text(names, el->interface);
    return text.n == service.n + 1 + interface.n && memcmp(text.p, service.p, service.n) == 0 &&
           memcmp(text.p + service.n + 1, interface.p, interface.n) == 0;
}

static void look_at_call(struct ticket_lab *t, const struct call *c, const struct call *caller)
{
    const struct names *names = &t->suite.lab.names;
    const struct element *from = uid_element(names, caller->uid), *el = uid_element(names, c->uid);
    for (uint32_t i = 0; i < TICKET_PATHS; i++)
        if (!t->reached[i] && slice_eq(names_text(names, from->service), t->paths[i].caller) &&
            is_call(names, el, t->paths[i].callee)) {
            t->reached[i] = true;
            t->n_reached++;
        }
}

static void visit(void *ctx, const struct suite_lab *l, uint32_t seat)
{
    struct ticket_lab *t = ctx;
    const struct verdict *v = &l->lab.verdict;
    const struct trace *trace = &l->lab.trace;
    for (uint32_t i = 1; i < trace->calls.n; i++)
        look_at_call(t, &trace->calls.at[i], &trace->calls.at[trace->calls.at[i].parent]);
    t->faulty += vec_last(&l->runs).faultload != FAULTLOAD_EMPTY;
    if (v->pass)
        return;
    if (!t->first)
        t->first = t->faulty;
    uint64_t failure = hash_mix(hash_mix(seat, v->status), hash_slice(slice_of(v->why)));
    t->n_failures += map_count(&t->failures, failure) == 1;
}

int ticket_lab_init(struct ticket_lab *t, const char *top, struct err *e)
{
    char path[500];
    *t = (struct ticket_lab){0};
    snprintf(path, sizeof path, "%s/examples/train-ticket/train-ticket.yaml", top);
    if (suite_lab_file(&t->suite, path, e))
        return -1;
    snprintf(path, sizeof path, "%s/examples/train-ticket/labels.yaml", top);
    return read_paths(t, path, e);
}

void ticket_lab_deinit(struct ticket_lab *t)
{
    map_deinit(&t->failures);
    suite_lab_deinit(&t->suite);
}

void ticket_lab_begin(struct ticket_lab *t, const char *order, uint64_t seed)
{
    suite_lab_forget(&t->suite);
    map_deinit(&t->failures);
    memset(t->reached, 0, sizeof t->reached);
    t->n_failures = t->n_reached = t->faulty = t->first = 0;
    t->suite.no_facts = true;
    t->suite.visit = visit;
    t->suite.ctx = t;
    suite_lab_open(&t->suite, order, seed);
}

void ticket_lab_until(struct ticket_lab *t, uint32_t runs)
{
    while (t->faulty < runs && !suite_lab_explore(&t->suite, runs - t->faulty))
        ;
}

void ticket_lab_end(struct ticket_lab *t)
{
    suite_lab_close(&t->suite);
}
