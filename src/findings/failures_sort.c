/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings made of failures: small ones first, so that a larger one is only news when none within
 * it failed in the same way. What comes of it does not depend on the order of the runs. */
#include "findings/failures_int.h"

#include "base/hash.h"

enum { ALIKE_MAX = 256 };

static void add_status(struct finding *finding, outcome status)
{
    for (uint32_t i = 0; i < finding->n_statuses; i++)
        if (finding->status[i] == status)
            return;
    if (finding->n_statuses < FINDING_STATUSES)
        finding->status[finding->n_statuses++] = status;
}

/* What is kept while findings are made. */
struct making {
    struct failures *f;
    struct summary *out;
    struct sorting sorting;
    struct map counted;  /* faults of the failures so far */
    struct map combined; /* finding and the last modes at its places */
};

/* Hits below its places. */
static uint32_t hidden_hits(const struct failures *f, const struct failure *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_hits; i++)
        n += !failure_place(x, failures_call_key(f, x->hits[i].call));
    return n;
}

/* Of two faultloads, does a come first in the order of their texts? Lower modes come first. */
static bool text_precedes(const struct failures *f, faultload a, faultload b)
{
    struct buf x = BUF_INIT(1 << 16), y = BUF_INIT(1 << 16);
    faultload_print(f->names, f->fl, a, &x);
    faultload_print(f->names, f->fl, b, &y);
    bool before = strcmp(buf_text(&x), buf_text(&y)) < 0;
    buf_deinit(&x);
    buf_deinit(&y);
    return before;
}

/* Of two faultloads at the same points, does a come first? It must not depend on which of them was
 * run first: with several runs at a time that is chance. */
static bool precedes(const struct failures *f, faultload a, faultload b)
{
    uid first = UID_NONE; /* the point by whose modes they differ */
    for (faultload at = a; at != FAULTLOAD_EMPTY; at = f->fl->rows.at[at].rest) {
        struct fault fault = f->fl->rows.at[at].last;
        mode other = faultload_at(f->fl, b, fault.point);
        if (other == MODE_NONE)
            return text_precedes(f, a, b);
        if (other != fault.mode && (first == UID_NONE || uid_cmp(f->names, fault.point, first) < 0))
            first = fault.point;
    }
    return first != UID_NONE && faultload_at(f->fl, a, first) < faultload_at(f->fl, b, first);
}

/* Which of two of a group stands for it? The smaller one; of equal ones that which fails the call
 * itself rather than something below, and fails less often: one lost reply rather than one at every
 * try, which is more than is needed. */
static bool stands_for(const struct failures *f, const struct failure *a, const struct failure *b)
{
    uint32_t n = faultload_size(f->fl, a->faultload), m = faultload_size(f->fl, b->faultload);
    if (n != m)
        return n < m;
    n = hidden_hits(f, a);
    m = hidden_hits(f, b);
    if (n != m)
        return n < m;
    return a->n_hits != b->n_hits ? a->n_hits < b->n_hits : precedes(f, a->faultload, b->faultload);
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
        const struct place *p = failure_place(x, finding->calls.at[i].key);
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
    struct finding *finding = &m->out->findings.at[index];
    uint64_t key = index;
    for (uint32_t i = 0; i < x->n_places; i++)
        if (!x->places[i].same)
            return;
    for (uint32_t i = 0; i < finding->calls.n; i++) {
        const struct place *p = failure_place(x, finding->calls.at[i].key);
        if (!p)
            return;
        add_mode(&finding->calls.at[i], p);
        key = hash_mix(key, p->last);
    }
    finding->combinations += map_count(&m->combined, key) == 1;
}

static uint32_t start_finding(struct making *m, uint32_t index)
{
    const struct failure *x = &m->f->list.at[index];
    uint32_t at = m->out->findings.n;
    vec_push(&m->out->findings, (struct finding){.why = x->why});
    struct finding *finding = &vec_last(&m->out->findings);
    for (uint32_t i = 0; i < x->n_places; i++)
        vec_push(&finding->calls, (struct finding_call){.key = x->places[i].key});
    take_head(finding, x);
    vec_push(&m->sorting.heads, index);
    map_set(&m->sorting.at, failure_key(x), at);
    return at;
}

/* Is a faultload that is told enough to fail so, with something of x left out? */
static bool is_told(const struct failures *f, const struct finding *finding, faultload x)
{
    uint32_t size = faultload_size(f->fl, x);
    for (uint32_t i = 0; i <= finding->alike.n; i++) {
        faultload told = i ? finding->alike.at[i - 1] : finding->faultload;
        if (faultload_size(f->fl, told) < size && faultload_within(f->fl, told, x))
            return true;
    }
    return false;
}

/* One at the same places: it stands for the finding, is told with it, or is only counted. */
static void join(struct making *m, uint32_t at, uint32_t index)
{
    struct failures *f = m->f;
    const struct failure *x = &f->list.at[index], *head = &f->list.at[m->sorting.heads.at[at]];
    struct finding *finding = &m->out->findings.at[at];
    faultload alike = x->faultload;
    if (stands_for(f, x, head)) {
        alike = head->faultload;
        m->sorting.heads.at[at] = index;
        take_head(finding, x);
    }
    if (is_told(f, finding, alike))
        return;
    finding->n_alike++;
    if (finding->alike.n < ALIKE_MAX)
        vec_push(&finding->alike, alike);
}

static void sort_one(struct making *m, uint32_t index)
{
    struct failures *f = m->f;
    const struct failure *x = &f->list.at[index];
    uint64_t faults, seen;
    (void)failure_hits(f, x, NULL, &faults, &seen);
    bool again = map_count(&m->counted, faults) > 1;
    uint32_t at = failure_group(f, &m->sorting, x);
    bool first = at == UINT32_MAX;
    if (first && m->out->findings.n == FINDINGS_MAX + FINDINGS_MORE)
        return;
    if (first)
        at = start_finding(m, index);
    bool exact = failure_key(x) == failure_key(&f->list.at[m->sorting.heads.at[at]]);
    if (exact && !again && !first)
        join(m, at, index);
    if (exact && !again)
        add_modes(m, at, x);
    struct finding *finding = &m->out->findings.at[at];
    add_status(finding, x->status);
    finding->runs += !again && !x->shrunk;
    if (!finding->detail)
        finding->detail = x->detail;
}

void failures_sort(struct failures *f, struct summary *out)
{
    struct making m = {.f = f, .out = out, .sorting.failed = f->now.failed};
    uint32_t largest = 0;
    for (uint32_t i = 0; i < out->findings.n; i++)
        finding_deinit(&out->findings.at[i]);
    out->findings.n = 0;
    out->more_findings = 0;
    for (uint32_t i = 0; i < f->list.n; i++)
        if (faultload_size(f->fl, f->list.at[i].faultload) > largest)
            largest = faultload_size(f->fl, f->list.at[i].faultload);
    for (uint32_t size = 0; size <= largest; size++)
        for (uint32_t i = 0; i < f->list.n; i++)
            if (faultload_size(f->fl, f->list.at[i].faultload) == size)
                sort_one(&m, i);
    for (; out->findings.n > FINDINGS_MAX; out->findings.n--, out->more_findings++) /* counted */
        finding_deinit(&vec_last(&out->findings));
    m.sorting.failed = (struct map){0}; /* it is not ours */
    sorting_deinit(&m.sorting);
    map_deinit(&m.counted);
    map_deinit(&m.combined);
}
