/* SPDX-License-Identifier: Apache-2.0
 *
 * What fault-free runs teach about payloads. A call that was told is a sample. Calls of one
 * interface below the same parent are siblings; they are compared between runs as bags of values,
 * because siblings that are made at the same time come in any order.
 *
 *     run 1    item: a, time: 1        bags of item: {a, b} {b, a}   the same: stable
 *              item: b, time: 2        bags of time: {1, 2} {3, 4}   left out
 *     run 2    item: b, time: 3        what is left differs between the siblings of a run, and is
 *              item: a, time: 4        the same in both runs: it is part of the name
 *
 * 1. The run with the most siblings sets the measure; the bag of any other is part of its bag.
 * 2. A field that a call does not have has a value, too: it is absent.
 * 3. What was not told in full, because it was too much, is not used. */
#include "track/payload.h"

#include <stdlib.h>

#include "base/hash.h"

enum {
    SAMPLES_MAX = 1 << 16,              /* calls that are remembered */
    SAMPLE_FIELDS_MAX = 1 << 20,        /* and their fields */
    PATHS_MAX = 2 * PAYLOAD_FIELDS_MAX, /* of one interface */
};

static const uint64_t absent = 0x616273656e740000u;

struct sample {
    uint64_t interface, place;
    uint32_t run, n;
    uint32_t first, count; /* of the fields */
};

/* An interface whose payload is used: stable paths, ascending. */
struct rule {
    uint64_t interface;
    uint32_t first, n;
};

struct decided {
    VEC(struct rule) rules;
    VEC(uint64_t) paths;
    struct map at; /* interface -> index of its rule */
};

struct payload_rules {
    VEC(struct sample) samples;
    VEC(struct payload_field) fields;
    struct map runs;     /* those that were told of */
    struct map too_much; /* interfaces of which something was not remembered */
    struct decided decided;
};

static void decided_deinit(struct decided *d)
{
    vec_deinit(&d->rules);
    vec_deinit(&d->paths);
    map_deinit(&d->at);
}

struct payload_rules *payload_rules_new(void)
{
    return mem_zero(sizeof(struct payload_rules));
}

void payload_rules_free(struct payload_rules *r)
{
    if (!r)
        return;
    vec_deinit(&r->samples);
    vec_deinit(&r->fields);
    map_deinit(&r->runs);
    map_deinit(&r->too_much);
    decided_deinit(&r->decided);
    mem_free(r);
}

void payload_learn(struct payload_rules *r, uint32_t run, uint64_t interface, uint64_t place,
                   uint32_t n, const struct payload *p, bool targets)
{
    if (r->samples.n >= SAMPLES_MAX || r->fields.n + p->fields.n > SAMPLE_FIELDS_MAX) {
        map_set(&r->too_much, interface, 1);
        return;
    }
    map_set(&r->runs, run, 1);
    uint32_t first = r->fields.n;
    for (uint32_t i = 0; i < p->fields.n; i++)
        if (targets || !p->fields.at[i].target)
            vec_push(&r->fields, p->fields.at[i]);
    vec_push(&r->samples, (struct sample){interface, place, run, n, first, r->fields.n - first});
}

/* ---- deciding ---- */

/* The samples of one interface, by place and run, with a value each for what is looked at now. */
struct decider {
    const struct payload_rules *r;
    const struct sample *samples;
    uint32_t n;
    uint32_t evidence; /* runs that must have something before it counts: 2, if there are */
    uint64_t *value;
};

/* Samples from..to of one place, or of one run there. */
struct range {
    uint32_t from, to;
};

static struct range run_at(const struct decider *d, struct range place, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < place.to && d->samples[to].run == d->samples[from].run)
        to++;
    return (struct range){from, to};
}

static int u64_cmp(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Both ascending. */
static bool bag_within(const uint64_t *small, uint32_t n, const uint64_t *large, uint32_t most)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++, k++) {
        while (k < most && large[k] < small[i])
            k++;
        if (k == most || large[k] != small[i])
            return false;
    }
    return true;
}

/* Do the runs agree at every place? And is there a place where enough of them have a value, one that
 * tells siblings of a run apart if it is to? Sorts the values of each run. */
static bool values_agree(struct decider *d, bool tell_apart)
{
    struct range place, run;
    bool evident = false;
    for (uint32_t from = 0; from < d->n; from = place.to) {
        struct range most = {0, 0};
        uint32_t n_runs = 0;
        bool apart = false;
        place = (struct range){from, from + 1};
        while (place.to < d->n && d->samples[place.to].place == d->samples[from].place)
            place.to++;
        for (uint32_t i = place.from; i < place.to; i = run.to) {
            run = run_at(d, place, i);
            qsort(d->value + run.from, run.to - run.from, sizeof *d->value, u64_cmp);
            if (run.to - run.from > most.to - most.from)
                most = run;
            bool has = false;
            for (uint32_t k = run.from; k < run.to; k++)
                has |= d->value[k] != absent;
            n_runs += has;
            apart |= d->value[run.from] != d->value[run.to - 1];
        }
        for (uint32_t i = place.from; i < place.to; i = run.to) {
            run = run_at(d, place, i);
            if (!bag_within(d->value + run.from, run.to - run.from, d->value + most.from,
                            most.to - most.from))
                return false;
        }
        evident |= n_runs >= d->evidence && (apart || !tell_apart);
    }
    return evident;
}

static const struct payload_field *field_at(const struct decider *d, uint32_t sample, uint64_t path)
{
    const struct payload_field *fields = d->r->fields.at + d->samples[sample].first;
    uint32_t low = 0, high = d->samples[sample].count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fields[middle].path < path)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->samples[sample].count && fields[low].path == path ? &fields[low] : NULL;
}

static bool path_is_stable(struct decider *d, uint64_t path)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct payload_field *f = field_at(d, i, path);
        if (f && f->volatile_)
            return false;
        d->value[i] = f ? f->value : absent;
    }
    return values_agree(d, false);
}

/* All paths of the samples, each once, ascending, at the end of `out`; false: too many. */
static bool paths_collect(const struct decider *d, struct decided *out)
{
    uint32_t first = out->paths.n, n = 0;
    struct map seen = {.items = {0}};
    for (uint32_t i = 0; i < d->n && n <= PATHS_MAX; i++)
        for (uint32_t k = 0; k < d->samples[i].count; k++) {
            uint64_t path = d->r->fields.at[d->samples[i].first + k].path;
            if (n <= PATHS_MAX && map_count(&seen, path) == 1) {
                vec_push(&out->paths, path);
                n++;
            }
        }
    map_deinit(&seen);
    if (n)
        qsort(out->paths.at + first, n, sizeof *out->paths.at, u64_cmp);
    return n <= PATHS_MAX;
}

/* Both are ascending, so one pass finds what they share. Order does not matter to a sum. */
static uint32_t hash_stable(const struct payload_field *fields, uint32_t n, const uint64_t *paths,
                            uint32_t n_paths)
{
    uint64_t sum = 0;
    uint32_t k = 0;
    bool any = false; /* a body, or a part of the target that counts */
    for (uint32_t i = 0; i < n; i++) {
        while (k < n_paths && paths[k] < fields[i].path)
            k++;
        bool counts = k < n_paths && paths[k] == fields[i].path && !fields[i].volatile_;
        any |= counts || !fields[i].target;
        if (counts)
            sum += hash_mix(fields[i].path, fields[i].value);
    }
    return any ? hash_fold(hash_mix(sum, 1)) : 0;
}

/* Does what is left tell siblings apart, the same way in all runs? */
static bool stable_is_useful(struct decider *d, const uint64_t *paths, uint32_t n_paths)
{
    for (uint32_t i = 0; i < d->n; i++)
        d->value[i] =
            hash_stable(d->r->fields.at + d->samples[i].first, d->samples[i].count, paths, n_paths);
    return values_agree(d, true);
}

static void decide_interface(struct decider *d, struct decided *out)
{
    uint32_t first = out->paths.n, kept = first;
    uint64_t interface = d->samples[0].interface;
    if (!map_get(&d->r->too_much, interface) && paths_collect(d, out)) {
        for (uint32_t i = first; i < out->paths.n; i++)
            if (path_is_stable(d, out->paths.at[i]))
                out->paths.at[kept++] = out->paths.at[i];
        if (kept > first && stable_is_useful(d, out->paths.at + first, kept - first)) {
            map_set(&out->at, interface, out->rules.n);
            vec_push(&out->rules, (struct rule){interface, first, kept - first});
            out->paths.n = kept;
            return;
        }
    }
    out->paths.n = first;
}

static int sample_cmp(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    const uint64_t key[][2] = {{x->interface, y->interface},
                               {x->place, y->place},
                               {x->run, y->run},
                               {x->n, y->n},
                               {x->first, y->first}};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (key[i][0] != key[i][1])
            return key[i][0] < key[i][1] ? -1 : 1;
    return 0;
}

void payload_decide(struct payload_rules *r)
{
    const uint32_t n = r->samples.n;
    struct decided decided = {.rules = {0}};
    if (n)
        qsort(r->samples.at, n, sizeof *r->samples.at, sample_cmp);
    uint64_t *value = mem_alloc((n + 1) * sizeof *value);
    for (uint32_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && r->samples.at[to].interface == r->samples.at[from].interface;)
            to++;
        struct decider d = {.r = r, .samples = r->samples.at + from, .n = to - from};
        d.evidence = r->runs.items.n < 2 ? 1 : 2;
        d.value = value;
        decide_interface(&d, &decided);
    }
    mem_free(value);
    decided_deinit(&r->decided);
    r->decided = decided;
}

/* ---- what was decided ---- */

bool payload_used(const struct payload_rules *r, uint64_t interface)
{
    return map_get(&r->decided.at, interface) != NULL;
}

uint32_t payload_hash_of(const struct payload_rules *r, uint64_t interface, const struct payload *p)
{
    const uint32_t *at = map_get(&r->decided.at, interface);
    if (!at)
        return 0;
    const struct rule *rule = &r->decided.rules.at[*at];
    return hash_stable(p->fields.at, p->fields.n, r->decided.paths.at + rule->first, rule->n);
}

uint32_t payload_hash_all(const struct payload *p)
{
    uint64_t sum = 0;
    bool any = false;
    for (uint32_t i = 0; i < p->fields.n; i++) {
        const struct payload_field *f = &p->fields.at[i];
        any |= !f->target;
        if (!f->volatile_ && !f->target)
            sum += hash_mix(f->path, f->value);
    }
    return any ? hash_fold(hash_mix(sum, 1)) : 0;
}

/* One line per interface: its number and those of the paths. */
void payload_rules_print(const struct payload_rules *r, struct buf *out)
{
    for (uint32_t i = 0; i < r->decided.rules.n; i++) {
        const struct rule *rule = &r->decided.rules.at[i];
        buf_addf(out, "%016llx", (unsigned long long)rule->interface);
        for (uint32_t k = 0; k < rule->n; k++)
            buf_addf(out, " %016llx", (unsigned long long)r->decided.paths.at[rule->first + k]);
        buf_addc(out, '\n');
    }
}

static bool line_parse(slice line, struct decided *out)
{
    struct rule rule = {.first = out->paths.n};
    uint64_t number;
    slice word;
    bool first = true;
    while (slice_cut(&line, ' ', &word)) {
        if (word.n != 16 || !slice_to_hex(word, &number))
            return false;
        if (first)
            rule.interface = number;
        else if (rule.n == PATHS_MAX || (rule.n && vec_last(&out->paths) >= number))
            return false;
        else {
            vec_push(&out->paths, number);
            rule.n++;
        }
        first = false;
    }
    if (rule.n == 0 || map_get(&out->at, rule.interface))
        return false;
    map_set(&out->at, rule.interface, out->rules.n);
    vec_push(&out->rules, rule);
    return true;
}

int payload_rules_parse(struct payload_rules *r, slice text)
{
    struct decided decided = {.rules = {0}};
    slice line;
    while (text.n) {
        bool ended = slice_find(text, '\n') < text.n;
        slice_cut(&text, '\n', &line);
        if (!ended || !line_parse(line, &decided)) {
            decided_deinit(&decided);
            return -1;
        }
    }
    decided_deinit(&r->decided);
    r->decided = decided;
    return 0;
}
