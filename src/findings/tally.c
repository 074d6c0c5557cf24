/* SPDX-License-Identifier: Apache-2.0
 *
 * What a failure is, which failures are the same, and the findings made of them. As failures come
 * they are sorted roughly, to know what is news; tally_sort does so once more, small ones first,
 * when it is known what fails on its own. */
#include "findings/tally.h"

#include "base/hash.h"
#include "base/index.h"

enum { ALIKE_MAX = 256 };

/* A call that was made to fail. */
struct hit {
    uid call, point; /* point: that of the fault, which may stand for several calls */
    mode mode;
    uid top;   /* the highest caller that was seen to fail because of it, or the call itself */
    label way; /* in which that failed */
    bool again, told; /* an earlier hit has its point, its top */
};

/* Hits at tries of one call. */
struct place {
    uint64_t key;   /* of the call, whichever try it is */
    uid call;       /* the first of the tries that failed of it */
    mode last;      /* how the last of them was hit */
    uint32_t tries; /* in that run, hit or not */
    uint32_t hits;  /* tries that were hit, or failed because of a fault below */
    bool always;    /* none of them succeeded */
    bool same;      /* all hits are of one mode */
};

struct failure {
    faultload faultload;
    const char *why, *detail;
    outcome status;
    uint64_t number;
    enum finding_kind kind;
    bool shrunk;
    uint32_t n_hits, n_places;
    struct hit *hits; /* in the order of the trace */
    struct place *places;
    uint64_t mask; /* a bit of each place's key */
};

/* Failures put into groups, each of which is a finding. */
struct sorting {
    VEC(uint32_t) heads; /* the failure that stands for each group */
    struct map at;       /* symptom and places -> group */
    struct map failed;   /* symptom and faults, and symptom and what callers saw of them */
};

struct tally {
    struct search *search;
    const struct names *names;
    struct faultloads *fl;
    struct summary *out;
    uint64_t by_itself; /* runs that failed although no fault had fired */
    VEC(struct failure) failures;
    struct map own; /* calls that came after a success of the one before them, by key and number */
    struct map met; /* and by uid */
    struct sorting now;
    struct arena keep, scratch;
};

struct tally *tally_new(struct search *search, const struct names *names, struct faultloads *fl,
                        struct summary *out)
{
    struct tally *t = mem_zero(sizeof *t);
    t->search = search;
    t->names = names;
    t->fl = fl;
    t->out = out;
    return t;
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    vec_deinit(&t->failures);
    map_deinit(&t->own);
    map_deinit(&t->met);
    vec_deinit(&t->now.heads);
    map_deinit(&t->now.at);
    map_deinit(&t->now.failed);
    arena_deinit(&t->keep);
    arena_deinit(&t->scratch);
    mem_free(t);
}

/* ---- tries ---- */

static uint64_t element_key(const struct element *e)
{
    return hash_mix(hash_mix(e->service, e->interface), (uint64_t)e->payload << 32 | e->before);
}

/* The same for all tries of a call, and of its callers. */
static uint64_t call_key(const struct tally *t, uid u)
{
    if (u == UID_NONE)
        return 1;
    const struct element *e = uid_element(t->names, u);
    uint64_t key = hash_mix(call_key(t, uid_parent(t->names, u)), element_key(e));
    uint64_t n = e->n == N_ANY ? 0 : e->n;
    while (n > 0 && !map_get(&t->own, hash_mix(key, n)))
        n--;
    return hash_mix(key, n);
}

/* Any run shows which calls are tries of others: those that are never seen after a success of the
 * equal sibling before them. */
static void learn_tries(struct tally *t, const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i], *before = NULL;
        const struct element *e = uid_element(t->names, c->uid);
        if (e->n == 0 || e->n == N_ANY || map_get(&t->met, c->uid))
            continue;
        for (uint32_t k = 0; k < trace->calls.n && !before; k++) {
            const struct call *other = &trace->calls.at[k];
            const struct element *x = uid_element(t->names, other->uid);
            if (other->parent == c->parent && x->n + 1 == e->n && element_key(x) == element_key(e))
                before = other;
        }
        if (before && !outcome_ok(before->seen))
            continue;
        uint64_t key = hash_mix(call_key(t, uid_parent(t->names, c->uid)), element_key(e));
        map_set(&t->met, c->uid, 1);
        map_set(&t->own, hash_mix(key, e->n), 1);
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

/* The place with this key; NULL: there is none. */
static struct place *place_of(const struct failure *x, uint64_t key)
{
    for (uint32_t i = 0; i < x->n_places; i++)
        if (x->places[i].key == key)
            return &x->places[i];
    return NULL;
}

/* The place of x that hides what happens at this call: itself or, of those given up, one above. */
static struct place *covering(const struct tally *t, const struct failure *x, uid u)
{
    struct place *at = place_of(x, call_key(t, u));
    while (!at && (u = uid_parent(t->names, u)) != UID_NONE) {
        at = place_of(x, call_key(t, u));
        if (at && !at->always)
            at = NULL;
    }
    return at;
}

/* Did this call fail because of a fault below it? */
static bool passes_on(const struct tally *t, const struct failure *x, const struct call *c)
{
    bool below = false;
    for (uint32_t i = 0; i < x->n_hits && !below; i++)
        below = x->hits[i].call != c->uid && uid_contains(t->names, c->uid, x->hits[i].call);
    return below && !outcome_ok(c->seen);
}

static void find_places(const struct tally *t, struct failure *x, const struct trace *trace)
{
    for (uint32_t i = 0; i < x->n_hits; i++) {
        uint64_t key = call_key(t, x->hits[i].call);
        struct place *p = place_of(x, key);
        if (!p) {
            p = &x->places[x->n_places++];
            *p = (struct place){.key = key, .call = x->hits[i].call, .always = true, .same = true};
        }
        p->same = p->same && (p->hits == 0 || p->last == x->hits[i].mode);
        p->last = x->hits[i].mode;
        p->hits++;
    }
    for (uint32_t i = 1; i < trace->calls.n; i++) { /* the tries */
        const struct call *c = &trace->calls.at[i];
        struct place *p = place_of(x, call_key(t, c->uid));
        if (!p)
            continue;
        if (p->tries++ == 0 && passes_on(t, x, c))
            p->call = c->uid;
        p->hits += c->mode == MODE_NONE && passes_on(t, x, c);
        p->always = p->always && (c->mode != MODE_NONE || !outcome_ok(c->seen));
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_places; i++) { /* those that another one hides are dropped */
        uid above = uid_parent(t->names, x->places[i].call);
        x->places[n] = x->places[i];
        n += !covering(t, x, above);
    }
    x->n_places = n;
    for (uint32_t i = 0; i < n; i++)
        x->mask |= 1ull << (x->places[i].key & 63);
}

static struct failure failure_of(const struct tally *t, const struct run *run, struct arena *a)
{
    struct failure x = {.faultload = run->faultload,
                        .why = run->verdict.why,
                        .status = run->verdict.status,
                        .shrunk = run->purpose == RUN_SHRINK,
                        .kind = finding_kind_of(run->flags)};
    find_hits(&run->trace, a, &x);
    x.places = arena_alloc(a, (x.n_hits + 1) * sizeof *x.places);
    find_places(t, &x, &run->trace);
    return x;
}

/* ---- the same? ---- */

/* A key of its symptom and places. */
static uint64_t failure_key(const struct failure *x)
{
    uint64_t key = hash_slice(slice_of(x->why));
    for (uint32_t i = 0; i < x->n_places; i++)
        key += hash_mix(x->places[i].key, 1);
    return key;
}

/* Keys of the hits at the places of `head` and below them (NULL: of all): the faults, and what
 * their callers saw of them. False: all hits are there. */
static bool hit_keys(const struct tally *t, const struct failure *x, const struct failure *head,
                     uint64_t *faults, uint64_t *seen)
{
    bool part = false;
    *faults = hash_slice(slice_of(x->why)) + 1;
    *seen = *faults + 1;
    for (uint32_t i = 0; i < x->n_hits; i++) {
        const struct hit *h = &x->hits[i];
        if (head && !covering(t, head, h->call)) {
            part = true;
            continue;
        }
        *faults += h->again ? 0 : hash_mix(hash_mix(h->point, h->mode), 2);
        *seen += h->told ? 0 : hash_mix(hash_mix(h->top, h->way), 3);
    }
    return part;
}

/* Has x all that `head` has, which is enough to fail in the same way? */
static bool contains(const struct tally *t, const struct sorting *s, const struct failure *x,
                     const struct failure *head)
{
    uint64_t faults, seen;
    if (strcmp(head->why, x->why) != 0)
        return false;
    if (faultload_within(t->fl, head->faultload, x->faultload))
        return true;
    if (head->mask & ~x->mask)
        return false;
    for (uint32_t i = 0; i < head->n_places; i++) {
        const struct place *p = place_of(x, head->places[i].key);
        if (!p || (head->places[i].always && !p->always))
            return false;
    }
    return !hit_keys(t, x, head, &faults, &seen) || map_get(&s->failed, faults) ||
           map_get(&s->failed, seen);
}

/* The group that it belongs to, or UINT32_MAX. */
static uint32_t group_of(const struct tally *t, const struct sorting *s, const struct failure *x)
{
    const uint32_t *same = map_get(&s->at, failure_key(x));
    if (same)
        return *same;
    for (uint32_t i = 0; i < s->heads.n; i++)
        if (contains(t, s, x, &t->failures.at[s->heads.at[i]]))
            return i;
    return UINT32_MAX;
}

/* ---- as they come ---- */

bool tally_is_new(struct tally *t, const struct run *run)
{
    arena_reset(&t->scratch);
    struct failure x = failure_of(t, run, &t->scratch);
    return group_of(t, &t->now, &x) == UINT32_MAX;
}

uint64_t tally_findings(const struct tally *t)
{
    return t->now.heads.n;
}

/* A run that failed; `happened`: the faults of it that fired. */
static void add_failure(struct tally *t, const struct run *run, faultload happened)
{
    struct sorting *s = &t->now;
    struct failure x = failure_of(t, run, &t->keep);
    uint64_t faults, seen;
    x.faultload = happened;
    x.number = run->number;
    bool is_new = group_of(t, s, &x) == UINT32_MAX;
    if (is_new && run->verdict.detail)
        x.detail = arena_copy(&t->keep, run->verdict.detail, strlen(run->verdict.detail));
    (void)hit_keys(t, &x, NULL, &faults, &seen);
    map_set(&s->failed, faults, 1);
    map_set(&s->failed, seen, 1);
    vec_push(&t->failures, x);
    if (!is_new || s->heads.n >= FINDINGS_MAX + FINDINGS_MORE)
        return;
    /* a group of its own, to which those belong that contain it */
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->heads.n; i++)
        if (!contains(t, s, &t->failures.at[s->heads.at[i]], &x))
            s->heads.at[n++] = s->heads.at[i];
    s->heads.n = n;
    vec_push(&s->heads, t->failures.n - 1);
    map_clear(&s->at);
    for (uint32_t i = 0; i < s->heads.n; i++)
        map_set(&s->at, failure_key(&t->failures.at[s->heads.at[i]]), i);
}

void tally_run(struct tally *t, const struct run *run)
{
    uint32_t n;
    const struct search_run *r = &search_runs(t->search, &n)[n - 1];
    bool baseline_repeat = r->purpose == FOR_BASELINE && t->out->runs_by_size.n > 0;
    if (r->fired && !baseline_repeat && r->purpose != FOR_AUDIT) {
        uint32_t size = faultload_size(t->fl, r->faultload);
        while (t->out->runs_by_size.n <= size)
            vec_push(&t->out->runs_by_size, 0);
        t->out->runs_by_size.at[size]++;
        summary_count(t->out, run->verdict.status, run->verdict.pass);
    }
    learn_tries(t, &run->trace);
    if (run->verdict.pass)
        return;
    if (r->happened == FAULTLOAD_EMPTY && r->purpose != FOR_BASELINE)
        t->by_itself++; /* there is nothing to blame, nor to replay */
    else
        t->out->failed_runs++;
    if (r->happened != FAULTLOAD_EMPTY)
        add_failure(t, run, r->happened);
}

void tally_smaller(struct tally *t, const struct run *run)
{
    uint32_t fired = 0;
    for (uint32_t i = 0; i < run->trace.calls.n; i++)
        fired += run->trace.calls.at[i].mode != MODE_NONE;
    if (!run->verdict.pass && fired >= faultload_size(t->fl, run->faultload))
        add_failure(t, run, run->faultload);
}

/* ---- findings made of failures: small ones first, so that a larger one is only news when none
 * within it failed in the same way. What comes of it does not depend on the order of the runs ---- */

/* What is kept while findings are made. */
struct making {
    struct tally *t;
    struct sorting sorting;
    struct map counted;  /* faults of the failures so far */
    struct map combined; /* finding and the last modes at its places */
};

/* Hits below its places. */
static uint32_t hidden_hits(const struct tally *t, const struct failure *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_hits; i++)
        n += !place_of(x, call_key(t, x->hits[i].call));
    return n;
}

/* Of two faultloads, does a come first in the order of their texts? Lower modes come first. */
static bool text_precedes(const struct tally *t, faultload a, faultload b)
{
    struct buf x = BUF_INIT(1 << 16), y = BUF_INIT(1 << 16);
    faultload_print(t->names, t->fl, a, &x);
    faultload_print(t->names, t->fl, b, &y);
    bool before = strcmp(buf_text(&x), buf_text(&y)) < 0;
    buf_deinit(&x);
    buf_deinit(&y);
    return before;
}

/* Of two faultloads at the same points, does a come first? It must not depend on which of them was
 * run first: with several runs at a time that is chance. */
static bool precedes(const struct tally *t, faultload a, faultload b)
{
    uid first = UID_NONE; /* the point by whose modes they differ */
    for (faultload at = a; at != FAULTLOAD_EMPTY; at = t->fl->rows.at[at].rest) {
        struct fault fault = t->fl->rows.at[at].last;
        mode other = faultload_at(t->fl, b, fault.point);
        if (other == MODE_NONE)
            return text_precedes(t, a, b);
        if (other != fault.mode && (first == UID_NONE || uid_cmp(t->names, fault.point, first) < 0))
            first = fault.point;
    }
    return first != UID_NONE && faultload_at(t->fl, a, first) < faultload_at(t->fl, b, first);
}

/* Which of two of a group stands for it? The smaller one; of equal ones that which fails the call
 * itself rather than something below, and fails less often: one lost reply rather than one at every
 * try, which is more than is needed. */
static bool stands_for(const struct tally *t, const struct failure *a, const struct failure *b)
{
    uint32_t n = faultload_size(t->fl, a->faultload), m = faultload_size(t->fl, b->faultload);
    if (n != m)
        return n < m;
    n = hidden_hits(t, a);
    m = hidden_hits(t, b);
    if (n != m)
        return n < m;
    return a->n_hits != b->n_hits ? a->n_hits < b->n_hits : precedes(t, a->faultload, b->faultload);
}

static void take_head(struct finding *finding, const struct failure *x)
{
    finding->faultload = x->faultload;
    finding->kind = x->kind;
    finding->shrunk = x->shrunk;
    finding->detail = x->detail ? x->detail : finding->detail;
    if (!x->shrunk || !finding->runs)
        finding->number = x->number;
    for (uint32_t i = 0; i < finding->calls.n; i++) {
        const struct place *p = place_of(x, finding->calls.at[i].key);
        struct finding_call *c = &finding->calls.at[i];
        if (!p)
            continue; /* all of a group have the same places */
        c->call = p->call;
        c->last = p->last;
        c->tries = p->tries;
        c->hits = p->hits;
        c->same = p->same;
    }
}

static void add_mode(struct finding_call *c, const struct place *p)
{
    uint32_t at = 0;
    while (at < c->n_modes && c->modes[at].mode < p->last)
        at++;
    if (at < c->n_modes && c->modes[at].mode == p->last)
        return;
    c->more_modes = c->n_modes == FINDING_MODES;
    if (c->more_modes)
        return;
    memmove(&c->modes[at + 1], &c->modes[at], (c->n_modes - at) * sizeof *c->modes);
    c->modes[at].mode = p->last;
    c->modes[at].every_try = p->tries > 1 && p->hits == p->tries;
    c->n_modes++;
}

/* In which modes its calls failed here; what fails now in one mode, now in another, tells nothing
 * of either. */
static void add_modes(struct making *m, uint32_t index, const struct failure *x)
{
    struct finding *finding = &m->t->out->findings.at[index];
    uint64_t key = index;
    for (uint32_t i = 0; i < x->n_places; i++)
        if (!x->places[i].same)
            return;
    for (uint32_t i = 0; i < finding->calls.n; i++) {
        const struct place *p = place_of(x, finding->calls.at[i].key);
        if (!p)
            return;
        add_mode(&finding->calls.at[i], p);
        key = hash_mix(key, p->last);
    }
    finding->combinations += map_count(&m->combined, key) == 1;
}

static uint32_t start_finding(struct making *m, uint32_t index)
{
    const struct failure *x = &m->t->failures.at[index];
    uint32_t at = m->t->out->findings.n;
    vec_push(&m->t->out->findings, (struct finding){.why = x->why});
    struct finding *finding = &vec_last(&m->t->out->findings);
    for (uint32_t i = 0; i < x->n_places; i++)
        vec_push(&finding->calls, (struct finding_call){.key = x->places[i].key});
    take_head(finding, x);
    vec_push(&m->sorting.heads, index);
    map_set(&m->sorting.at, failure_key(x), at);
    return at;
}

/* One at the same places: it stands for the finding, is told with it, or is only counted. */
static void join_finding(struct making *m, uint32_t at, uint32_t index)
{
    const struct tally *t = m->t;
    const struct failure *x = &t->failures.at[index],
                         *head = &t->failures.at[m->sorting.heads.at[at]];
    struct finding *finding = &t->out->findings.at[at];
    faultload alike = x->faultload;
    if (stands_for(t, x, head)) {
        alike = head->faultload;
        m->sorting.heads.at[at] = index;
        take_head(finding, x);
    }
    uint32_t size = faultload_size(t->fl, alike);
    for (uint32_t i = 0; i <= finding->alike.n; i++) {
        faultload told = i ? finding->alike.at[i - 1] : finding->faultload;
        if (faultload_size(t->fl, told) < size && faultload_within(t->fl, told, alike))
            return; /* one that is told is enough to fail so, with something of this left out */
    }
    finding->n_alike++;
    if (finding->alike.n < ALIKE_MAX)
        vec_push(&finding->alike, alike);
}

static void sort_failure(struct making *m, uint32_t index)
{
    const struct tally *t = m->t;
    const struct failure *x = &t->failures.at[index];
    uint64_t faults, seen;
    (void)hit_keys(t, x, NULL, &faults, &seen);
    bool again = map_count(&m->counted, faults) > 1;
    uint32_t at = group_of(t, &m->sorting, x);
    bool first = at == UINT32_MAX;
    if (first && t->out->findings.n == FINDINGS_MAX + FINDINGS_MORE)
        return;
    if (first)
        at = start_finding(m, index);
    bool exact = failure_key(x) == failure_key(&t->failures.at[m->sorting.heads.at[at]]);
    if (exact && !again && !first)
        join_finding(m, at, index);
    if (exact && !again)
        add_modes(m, at, x);
    struct finding *finding = &t->out->findings.at[at];
    uint32_t known = 0;
    while (known < finding->n_statuses && finding->status[known] != x->status)
        known++;
    if (known == finding->n_statuses && known < FINDING_STATUSES)
        finding->status[finding->n_statuses++] = x->status;
    finding->runs += !again && !x->shrunk;
    if (!finding->detail)
        finding->detail = x->detail;
}

void tally_sort(struct tally *t)
{
    struct making m = {.t = t, .sorting.failed = t->now.failed};
    struct summary *out = t->out;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < out->findings.n; i++)
        finding_deinit(&out->findings.at[i]);
    out->findings.n = 0;
    out->more_findings = 0;
    for (uint32_t i = 0; i < t->failures.n; i++)
        if (faultload_size(t->fl, t->failures.at[i].faultload) > largest)
            largest = faultload_size(t->fl, t->failures.at[i].faultload);
    for (uint32_t size = 0; size <= largest; size++)
        for (uint32_t i = 0; i < t->failures.n; i++)
            if (faultload_size(t->fl, t->failures.at[i].faultload) == size)
                sort_failure(&m, i);
    for (; out->findings.n > FINDINGS_MAX; out->findings.n--, out->more_findings++) /* counted */
        finding_deinit(&vec_last(&out->findings));
    vec_deinit(&m.sorting.heads);
    map_deinit(&m.sorting.at);
    map_deinit(&m.counted);
    map_deinit(&m.combined);
}

/* ---- the end ---- */

static const struct {
    enum policy policy;
    const char *name, *why;
} policy_rows[] = {
    {POLICY_DOWNSTREAM, "downstream", "a fault below a call that itself fails cannot happen"},
    {POLICY_EXCLUSION, "exclusion", "the other faults keep the call from being made"},
    {POLICY_INCLUSION, "inclusion", "the call is only made after a failure that does not happen"},
    {POLICY_UNREACHABLE, "unreachability", "the caller itself is not reached"},
    {POLICY_ENCAPSULATION, "encapsulation",
     "every service has seen these outcomes, from the same faults or from errors passed up"},
};

static void add_skip(struct summary *out, const char *name, const char *why, double n)
{
    if (n > 0)
        vec_push(&out->skipped, (struct summary_skip){name, why, n});
}

void tally_finish(struct tally *t)
{
    struct summary *out = t->out;
    struct search_stats stats;
    struct search_space space;
    search_stats(t->search, &stats);
    search_space(t->search, &space);
    out->points = stats.points;
    out->conditional = stats.conditional;
    out->space = space.space;
    out->runs = stats.runs;
    out->repeats = stats.repeats;
    out->audited = stats.audited;
    out->transcripts = stats.transcripts;
    out->queued = stats.queued;
    out->elsewhere = stats.elsewhere;
    if (stats.complete)
        out->stopped = NULL; /* the budget ended just with the search */
    out->suspects = search_suspects(t->search, &out->n_suspects, &out->all_suspects);
    out->skipped.n = 0;
    out->reasons.n = 0;
    reasons_find(out->names, out->suspects, out->n_suspects, &out->reasons);
    out->skipped_known = space.known;
    out->skipped_estimated = space.estimated;
    for (size_t i = 0; i < sizeof policy_rows / sizeof *policy_rows && space.known; i++)
        add_skip(out, policy_rows[i].name, policy_rows[i].why, space.saved[policy_rows[i].policy]);
    if (!space.known)
        add_skip(out, "encapsulation", "seen in another run before its turn came",
                 (double)stats.dropped);
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        add_skip(out, reduction_rows[r].name, reduction_rows[r].assumption,
                 (double)stats.skipped[r]);
    if (t->by_itself && !out->doubt)
        out->doubt = "the scenario also fails when no fault has fired";
    tally_sort(t);
}

bool tally_exhaustive(const struct tally *t)
{
    struct search_stats stats;
    uint32_t n;
    uint64_t suspects, left = 0;
    search_stats(t->search, &stats);
    (void)search_suspects(t->search, &n, &suspects);
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        left += stats.skipped[r];
    return stats.complete && !t->out->stopped && !t->out->broken && !suspects && !left &&
           !stats.elsewhere && !t->by_itself;
}
