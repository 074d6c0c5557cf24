/* SPDX-License-Identifier: Apache-2.0
 *
 * What a failure is, and which are the same. As they come they are sorted roughly, to know what is
 * news; failures_sort.c does so once more, small ones first, when it is known what fails on its
 * own. */
#include "findings/failures_int.h"

#include "base/hash.h"

void sorting_deinit(struct sorting *s)
{
    vec_deinit(&s->heads);
    map_deinit(&s->at);
    map_deinit(&s->failed);
}

struct failures *failures_new(const struct names *names, const struct faultloads *fl)
{
    struct failures *f = mem_zero(sizeof *f);
    f->names = names;
    f->fl = fl;
    return f;
}

void failures_free(struct failures *f)
{
    if (!f)
        return;
    vec_deinit(&f->list);
    map_deinit(&f->own);
    map_deinit(&f->met);
    sorting_deinit(&f->now);
    arena_deinit(&f->keep);
    arena_deinit(&f->scratch);
    mem_free(f);
}

uint32_t failures_count(const struct failures *f)
{
    return f->now.heads.n;
}

/* ---- tries ---- */

static uint64_t element_key(const struct element *e)
{
    return hash_mix(hash_mix(e->service, e->interface), (uint64_t)e->payload << 32 | e->before);
}

uint64_t failures_call_key(const struct failures *f, uid u)
{
    if (u == UID_NONE)
        return 1;
    const struct element *e = uid_element(f->names, u);
    uint64_t key = hash_mix(failures_call_key(f, uid_parent(f->names, u)), element_key(e));
    uint64_t n = e->n == N_ANY ? 0 : e->n;
    while (n > 0 && !map_get(&f->own, hash_mix(key, n)))
        n--;
    return hash_mix(key, n);
}

/* The equal sibling before this call; NULL: there is none. */
static const struct call *try_before(const struct failures *f, const struct trace *trace,
                                     const struct call *c)
{
    const struct element *e = uid_element(f->names, c->uid);
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *other = &trace->calls.at[i];
        const struct element *x = uid_element(f->names, other->uid);
        if (other->parent == c->parent && x->n + 1 == e->n && element_key(x) == element_key(e))
            return other;
    }
    return NULL;
}

void failures_learn(struct failures *f, const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        const struct element *e = uid_element(f->names, c->uid);
        if (e->n == 0 || e->n == N_ANY || map_get(&f->met, c->uid))
            continue;
        const struct call *before = try_before(f, trace, c);
        if (before && !outcome_ok(before->seen))
            continue;
        uint64_t key = hash_mix(failures_call_key(f, uid_parent(f->names, c->uid)), element_key(e));
        map_set(&f->met, c->uid, 1);
        map_set(&f->own, hash_mix(key, e->n), 1);
    }
}

/* ---- the places of a failure ---- */

static void find_hits(const struct trace *trace, struct arena *a, struct failure *x)
{
    x->hits = arena_alloc(a, (trace->calls.n + 1) * sizeof *x->hits);
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i], *top = c;
        if (c->mode == MODE_NONE)
            continue;
        while (top->parent != CALL_NONE && top->parent != 0 &&
               !outcome_ok(trace->calls.at[top->parent].seen))
            top = &trace->calls.at[top->parent];
        struct hit h = {c->uid, c->fault_point, c->mode, top->uid, call_way(top), false, false};
        for (uint32_t k = 0; k < x->n_hits; k++) {
            h.again |= x->hits[k].point == h.point;
            h.told |= x->hits[k].top == h.top;
        }
        x->hits[x->n_hits++] = h;
    }
}

struct place *failure_place(const struct failure *x, uint64_t key)
{
    for (uint32_t i = 0; i < x->n_places; i++)
        if (x->places[i].key == key)
            return &x->places[i];
    return NULL;
}

/* The place of x that hides what happens at this call: itself or, of those given up, one above. */
static struct place *covering(const struct failures *f, const struct failure *x, uid u)
{
    struct place *at = failure_place(x, failures_call_key(f, u));
    while (!at && (u = uid_parent(f->names, u)) != UID_NONE) {
        at = failure_place(x, failures_call_key(f, u));
        if (at && !at->always)
            at = NULL;
    }
    return at;
}

static void drop_hidden(const struct failures *f, struct failure *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_places; i++) {
        uid above = uid_parent(f->names, x->places[i].call);
        x->places[n] = x->places[i];
        n += !covering(f, x, above);
    }
    x->n_places = n;
}

static void find_places(const struct failures *f, struct failure *x)
{
    x->n_places = 0;
    for (uint32_t i = 0; i < x->n_hits; i++) {
        uint64_t key = failures_call_key(f, x->hits[i].call);
        struct place *p = failure_place(x, key);
        if (!p) {
            p = &x->places[x->n_places++];
            *p = (struct place){.key = key, .call = x->hits[i].call, .always = true, .same = true};
        }
        p->same = p->same && (p->hits == 0 || p->last == x->hits[i].mode);
        p->last = x->hits[i].mode;
        p->hits++;
    }
}

/* Did this call fail because of a fault below it? */
static bool passes_on(const struct failures *f, const struct failure *x, const struct call *c)
{
    bool below = false;
    for (uint32_t i = 0; i < x->n_hits && !below; i++)
        below = x->hits[i].call != c->uid && uid_contains(f->names, c->uid, x->hits[i].call);
    return below && !outcome_ok(c->seen);
}

static void count_tries(const struct failures *f, struct failure *x, const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        struct place *p = failure_place(x, failures_call_key(f, c->uid));
        if (!p)
            continue;
        if (p->tries++ == 0 && passes_on(f, x, c))
            p->call = c->uid;
        p->hits += c->mode == MODE_NONE && passes_on(f, x, c);
        p->always = p->always && (c->mode != MODE_NONE || !outcome_ok(c->seen));
    }
}

static void seal(const struct failures *f, struct failure *x)
{
    drop_hidden(f, x);
    x->mask = 0;
    for (uint32_t i = 0; i < x->n_places; i++)
        x->mask |= 1ull << (x->places[i].key & 63);
}

static struct failure make(const struct failures *f, const struct run *run, struct arena *a)
{
    struct failure x = {.faultload = run->faultload,
                        .why = run->verdict.why,
                        .status = run->verdict.status,
                        .shrunk = run->purpose == RUN_SHRINK,
                        .kind = finding_kind_of(run->flags)};
    find_hits(&run->trace, a, &x);
    x.places = arena_alloc(a, (x.n_hits + 1) * sizeof *x.places);
    find_places(f, &x);
    count_tries(f, &x, &run->trace);
    seal(f, &x);
    return x;
}

/* ---- the same? ---- */

uint64_t failure_key(const struct failure *x)
{
    uint64_t key = hash_slice(slice_of(x->why));
    for (uint32_t i = 0; i < x->n_places; i++)
        key += hash_mix(x->places[i].key, 1);
    return key;
}

bool failure_hits(const struct failures *f, const struct failure *x, const struct failure *head,
                  uint64_t *faults, uint64_t *seen)
{
    bool part = false;
    *faults = hash_slice(slice_of(x->why)) + 1;
    *seen = *faults + 1;
    for (uint32_t i = 0; i < x->n_hits; i++) {
        const struct hit *h = &x->hits[i];
        if (head && !covering(f, head, h->call)) {
            part = true;
            continue;
        }
        *faults += h->again ? 0 : hash_mix(hash_mix(h->point, h->mode), 2);
        *seen += h->told ? 0 : hash_mix(hash_mix(h->top, h->way), 3);
    }
    return part;
}

/* Has x all that `head` has, which is enough to fail in the same way? */
static bool contains(const struct failures *f, const struct sorting *s, const struct failure *x,
                     const struct failure *head)
{
    uint64_t faults, seen;
    if (strcmp(head->why, x->why) != 0)
        return false;
    if (faultload_within(f->fl, head->faultload, x->faultload))
        return true;
    if (head->mask & ~x->mask)
        return false;
    for (uint32_t i = 0; i < head->n_places; i++) {
        const struct place *p = failure_place(x, head->places[i].key);
        if (!p || (head->places[i].always && !p->always))
            return false;
    }
    return !failure_hits(f, x, head, &faults, &seen) || map_get(&s->failed, faults) ||
           map_get(&s->failed, seen);
}

uint32_t failure_group(const struct failures *f, const struct sorting *s, const struct failure *x)
{
    const uint32_t *same = map_get(&s->at, failure_key(x));
    if (same)
        return *same;
    for (uint32_t i = 0; i < s->heads.n; i++)
        if (contains(f, s, x, &f->list.at[s->heads.at[i]]))
            return i;
    return UINT32_MAX;
}

/* ---- as they come ---- */

bool failures_is_new(struct failures *f, const struct run *run)
{
    arena_reset(&f->scratch);
    struct failure x = make(f, run, &f->scratch);
    return failure_group(f, &f->now, &x) == UINT32_MAX;
}

static void remember(const struct failures *f, struct sorting *s, const struct failure *x)
{
    uint64_t faults, seen;
    (void)failure_hits(f, x, NULL, &faults, &seen);
    map_set(&s->failed, faults, 1);
    map_set(&s->failed, seen, 1);
}

/* A group of its own, to which those belong that contain it. */
static void start_group(struct failures *f, uint32_t index)
{
    struct sorting *s = &f->now;
    const struct failure *x = &f->list.at[index];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->heads.n; i++)
        if (!contains(f, s, &f->list.at[s->heads.at[i]], x))
            s->heads.at[n++] = s->heads.at[i];
    s->heads.n = n;
    vec_push(&s->heads, index);
    map_clear(&s->at);
    for (uint32_t i = 0; i < s->heads.n; i++)
        map_set(&s->at, failure_key(&f->list.at[s->heads.at[i]]), i);
}

void failures_add(struct failures *f, const struct run *run, faultload happened, uint32_t number)
{
    struct failure x = make(f, run, &f->keep);
    x.faultload = happened;
    x.number = number;
    uint32_t group = failure_group(f, &f->now, &x);
    if (group == UINT32_MAX && run->verdict.detail)
        x.detail = arena_copy(&f->keep, run->verdict.detail, strlen(run->verdict.detail));
    remember(f, &f->now, &x);
    vec_push(&f->list, x);
    if (group == UINT32_MAX && f->now.heads.n < FINDINGS_MAX + FINDINGS_MORE)
        start_group(f, f->list.n - 1);
}
