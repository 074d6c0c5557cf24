/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of calls. They are given when calls arrive, and once more to the calls of the learning runs
 * when it is known which payloads are part of names: the same function, over the same facts. */
#include "track/track_int.h"

#include "base/hash.h"

enum { NAMING_ROUNDS = 4 };

static uint64_t key_of(slice service, slice interface)
{
    return hash_mix(hash_slice(service), hash_slice(interface));
}

uint64_t interface_key(const struct tracker *t, uint32_t service, slice interface)
{
    return key_of(t->opt.services[service], interface);
}

static bool equal_call(const struct track_call *a, const struct track_call *b)
{
    return a->service == b->service && a->interface == b->interface && a->payload == b->payload;
}

/* A hash of the siblings that had ended when a call starts. */
static uint32_t before_hash(const struct tracker *t, const struct track_calls *all, uint32_t parent,
                            int64_t start_ns)
{
    const struct names *names = t->opt.names;
    uint64_t sum = 0;
    for (uint32_t i = all->calls.at[parent].first; i != CALL_NONE; i = all->calls.at[i].next) {
        if (all->calls.at[i].open || all->trace.calls.at[i].end_ns > start_ns)
            continue;
        sum += element_hash(names, uid_element(names, all->trace.calls.at[i].uid));
    }
    return sum ? hash_fold(sum) : 0;
}

uid name_call(const struct tracker *t, const struct track_calls *all, uint32_t parent,
              const struct track_call *call, int64_t start_ns)
{
    struct names *names = t->opt.names;
    struct element el = {.service =
                             call->service == CALLER_CLIENT ? t->client : t->service[call->service],
                         .interface = call->interface,
                         .payload = call->payload};
    if (parent == CALL_NONE)
        return names_uid(names, UID_NONE, names_element(names, el));
    for (uint32_t i = all->calls.at[parent].first; i != CALL_NONE; i = all->calls.at[i].next)
        el.n += equal_call(&all->calls.at[i], call);
    if (t->opt.predecessors)
        el.before = before_hash(t, all, parent, start_ns);
    return names_uid(names, all->trace.calls.at[parent].uid, names_element(names, el));
}

void calls_link(struct track_calls *all, uint32_t i)
{
    struct track_call *c = &all->calls.at[i];
    uint32_t parent = all->trace.calls.at[i].parent;
    c->first = c->last = c->next = CALL_NONE;
    if (parent == CALL_NONE)
        return;
    struct track_call *p = &all->calls.at[parent];
    if (p->first == CALL_NONE)
        p->first = i;
    else
        all->calls.at[p->last].next = i;
    p->last = i;
}

void calls_deinit(struct track_calls *all)
{
    for (uint32_t i = 0; i < all->calls.n; i++)
        payload_deinit(&all->calls.at[i].fields);
    vec_deinit(&all->calls);
    vec_deinit(&all->trace.calls);
}

/* ---- learning ---- */

/* Where a call was made: the path of services and interfaces above it. */
static uint64_t place_of(const struct tracker *t, const struct track_calls *all, uint32_t i)
{
    uint64_t place = 0;
    for (i = all->trace.calls.at[i].parent; i != CALL_NONE; i = all->trace.calls.at[i].parent) {
        const struct element *el = uid_element(t->opt.names, all->trace.calls.at[i].uid);
        place = hash_mix(place, hash_mix(el->service, hash_mix(el->interface, el->n)));
        place = hash_mix(place, el->payload);
    }
    return place;
}

/* side_by_side: the interfaces whose targets are looked at. */
static void learn(const struct tracker *t, struct lessons *l, const struct track_calls *all,
                  uint32_t run, const struct map *side_by_side)
{
    for (uint32_t i = 1; i < all->calls.n; i++) {
        const struct track_call *c = &all->calls.at[i];
        const struct element *el = uid_element(t->opt.names, all->trace.calls.at[i].uid);
        uint64_t key = interface_key(t, c->service, names_text(t->opt.names, c->interface));
        payload_learn(l->payloads, run, key, place_of(t, all, i), el->n, &c->fields,
                      map_get(side_by_side, key) != NULL);
    }
}

static void rename_calls(const struct tracker *t, const struct lessons *l, struct track_calls *all)
{
    for (uint32_t i = 0; i < all->calls.n; i++) {
        struct track_call *c = &all->calls.at[i];
        struct call *call = &all->trace.calls.at[i];
        if (i > 0)
            c->payload = payload_hash_of(
                l->payloads, interface_key(t, c->service, names_text(t->opt.names, c->interface)),
                &c->fields);
        call->uid = name_call(t, all, call->parent, c, call->start_ns);
        calls_link(all, i);
    }
}

/* Adds the interfaces of calls that overlap and differ, and have one name all the same. False:
 * there are none. */
static bool find_equal(const struct tracker *t, struct track_lesson *const *runs, uint32_t n,
                       struct map *side_by_side)
{
    const struct names *names = t->opt.names;
    struct overlaps o = {.pairs = {.items = {0}}};
    bool found = false;
    for (uint32_t i = 0; i < n; i++)
        overlaps_learn(&o, names, &runs[i]->all.trace);
    for (uint32_t i = 0; i < o.equal.n; i++) {
        const struct element *el = &names->elements.at[o.equal.at[i].element];
        if (!o.equal.at[i].differ)
            continue;
        map_set(side_by_side,
                key_of(names_text(names, el->service), names_text(names, el->interface)), 1);
        found = true;
    }
    overlaps_deinit(&o);
    return found;
}

/* Which of equal calls side by side comes first is chance, so where their bodies do not tell them
 * apart, their targets are looked at. Targets of other calls are not: calls in sequence are told
 * apart by their number. Each round tells apart the calls of handlers that the one before did. */
static void decide_names(const struct tracker *t, struct lessons *l,
                         struct track_lesson *const *runs, uint32_t n)
{
    struct map side_by_side = {.items = {0}};
    for (uint32_t round = 0; round < NAMING_ROUNDS; round++) {
        payload_rules_free(l->payloads);
        l->payloads = payload_rules_new();
        for (uint32_t i = 0; i < n; i++)
            learn(t, l, &runs[i]->all, i, &side_by_side);
        payload_decide(l->payloads);
        for (uint32_t i = 0; i < n; i++)
            rename_calls(t, l, &runs[i]->all);
        if (n < 2 || !find_equal(t, runs, n, &side_by_side)) /* one run proves no target */
            break;
    }
    map_deinit(&side_by_side);
}

void track_decide(const struct tracker *t, struct lessons *out, struct track_lesson *const *runs,
                  uint32_t n)
{
    out->decided = true;
    out->dialects = 0;
    for (uint32_t i = 0; i < out->n_services; i++)
        out->dialects |= out->facts[i].dialects;
    if (!out->dialects) /* nobody has made a call yet: some may when others fail */
        out->dialects = (1u << DIALECTS) - 1;
    if (t->opt.payload == TRACK_PAYLOAD_AUTO)
        decide_names(t, out, runs, n);
}

const struct trace *track_lesson_trace(const struct track_lesson *l)
{
    return &l->all.trace;
}

void track_lesson_free(struct track_lesson *l)
{
    calls_deinit(&l->all);
    mem_free(l);
}

/* ---- as text ---- */

void lessons_print(const struct lessons *l, struct buf *out)
{
    buf_addf(out, "dialects %x\n", (unsigned)l->dialects);
    payload_rules_print(l->payloads, out);
}

int lessons_parse(struct lessons *l, slice text)
{
    slice line, word;
    uint64_t bits;
    slice_cut(&text, '\n', &line);
    slice_word(&line, &word);
    line = slice_trim(line);
    if (!slice_is(word, "dialects") || !slice_to_hex(line, &bits) || bits >> DIALECTS)
        return -1;
    l->dialects = (uint32_t)bits;
    l->decided = true;
    return payload_rules_parse(l->payloads, text.p ? text : (slice){"", 0});
}
