/* SPDX-License-Identifier: Apache-2.0
 *
 * A prefix is an entry, found by the hash of its path: 64 bits, so that two paths have one entry is as
 * unlikely as everywhere where facts are hashes. Entries are made parents first. */
#include "search/knowledge.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/mem.h"
#include "search/tree.h"

/* Of `next`, which is an element otherwise. */
#define NEXT_UNKNOWN UINT32_MAX
#define NEXT_ENDS    (UINT32_MAX - 1)

/* A way of failing that is new counts as much as so many new transcripts. */
enum { SHAPE_WEIGHT = 16 };

struct entry {
    uint32_t handler;
    uint32_t parent; /* an entry, + 1; 0: this is the empty prefix */
    uint32_t next;   /* what the handler does then */
    uint32_t callee; /* a handler, + 1, that its next call reaches; 0: none did */
    label reply;     /* NEXT_ENDS */
    uint32_t by;     /* who showed it */
    uint32_t faults; /* the fewest with which it was shown */
    uint32_t
        shape; /* NEXT_ENDS, of runs that are kept: a number for the transcript with all failures
                        alike */
    bool shown_again; /* by a run that verifies */
    bool leads;       /* see struct known_edge */
};

struct handler {
    uint64_t root_path;
    sym service;
    uint32_t root;   /* an entry */
    uint32_t reply;  /* the first, + 1 */
    uint32_t client; /* of this scenario; 0: it is a service */
    bool earlier;    /* known of an earlier campaign, */
    bool distrusted;
    bool contradicted;
    bool late;    /* time plays a part in what it does */
    bool reached; /* by a run of this campaign */
    bool leads;
};

struct kept_run {
    faultload faultload;
    uint32_t scenario;
    uint32_t first, n; /* of `shows` */
};

struct knowledge {
    bool stateless, aged;
    struct intern scenarios; /* their numbers start at 1 */
    VEC(uint32_t) client;    /* by scenario: what tree_key says of its own request */
    VEC(struct entry) entries;
    VEC(struct handler) handlers;
    VEC(struct known_reply) replies;
    VEC(struct contradiction) contradictions;
    VEC(struct kept_run) kept;
    VEC(uint32_t) shows;   /* entries at which transcripts end */
    VEC(bool) shape_shown; /* by shape */
    struct map entry_of;   /* path -> entry */
    struct map answers;    /* (root path, outcome) that callers saw of a handler */
    struct map shape_of;   /* hash -> shape */
    struct trace_order order;
    bool leads_known;
    uint64_t news;
};

struct knowledge *knowledge_new(bool stateless)
{
    struct knowledge *k = mem_zero(sizeof *k);
    k->stateless = stateless;
    (void)intern_put(&k->scenarios, SLICE("an earlier campaign")); /* SHOWN_EARLIER */
    vec_push(&k->client, 0);
    return k;
}

void knowledge_free(struct knowledge *k)
{
    if (!k)
        return;
    intern_deinit(&k->scenarios);
    vec_deinit(&k->client);
    vec_deinit(&k->entries);
    vec_deinit(&k->handlers);
    vec_deinit(&k->replies);
    vec_deinit(&k->contradictions);
    vec_deinit(&k->kept);
    vec_deinit(&k->shows);
    vec_deinit(&k->shape_shown);
    map_deinit(&k->entry_of);
    map_deinit(&k->answers);
    map_deinit(&k->shape_of);
    trace_order_deinit(&k->order);
    mem_free(k);
}

uint32_t knowledge_scenario(struct knowledge *k, slice name)
{
    struct buf text = BUF_INIT(1 << 16);
    buf_addf(&text, "scenario %.*s", SLICE_ARG(name)); /* none is called as the first entry */
    uint32_t scenario = intern_put(&k->scenarios, buf_slice(&text));
    buf_deinit(&text);
    while (k->client.n <= scenario)
        vec_push(&k->client, UINT32_MAX);
    return scenario;
}

/* ---- paths ---- */

/* Is it the scenario's own request, or another call that counts as the same? */
static bool is_client(const struct knowledge *k, struct names *names, uint32_t scenario,
                      uid handler)
{
    return uid_parent(names, handler) == UID_NONE ||
           handler_key(names, handler, k->stateless) == k->client.at[scenario];
}

uint64_t knowledge_root(const struct knowledge *k, struct names *names, uint32_t scenario,
                        uid handler)
{
    bool own = !k->stateless || is_client(k, names, scenario, handler);
    return hash_mix(handler_key(names, handler, k->stateless),
                    own ? hash_slice(intern_text(&k->scenarios, scenario)) : 0);
}

uint64_t knowledge_step(uint64_t path, uint32_t element, label l)
{
    return hash_mix(path, (uint64_t)element << 32 | l);
}

/* ---- learning ---- */

/* A run that is being learned from. */
struct learner {
    struct knowledge *k;
    struct names *names;
    struct faultloads *fl;
    const struct lesson *lesson;
    const struct trace_order *order;
    VEC(struct fault) fired; /* in causal order */
    VEC(uint32_t) shows;
    uint32_t stale; /* handlers so far of which nothing is learned */
};

static struct handler *handler_of(struct knowledge *k, uint32_t entry)
{
    return &k->handlers.at[k->entries.at[entry].handler];
}

/* May what is known of this prefix be used? */
static bool is_used(const struct knowledge *k, const struct entry *e)
{
    const struct handler *h = &k->handlers.at[e->handler];
    bool earlier = e->by == SHOWN_EARLIER && k->aged;
    return !h->contradicted && e->by != SHOWN_BY_NONE && (earlier ? !h->distrusted : !h->late);
}

/* The entry of this path; NEXT_UNKNOWN: there is none, and none is made. */
static uint32_t find_entry(struct learner *l, uint64_t path, struct entry like)
{
    struct knowledge *k = l->k;
    uint32_t at = k->entries.n;
    if (!l->lesson->follow) {
        const uint32_t *known = map_get(&k->entry_of, path);
        return known ? *known : NEXT_UNKNOWN;
    }
    at = map_index(&k->entry_of, path, at);
    if (at == k->entries.n) {
        like.next = NEXT_UNKNOWN;
        like.faults = UINT32_MAX;
        like.by = l->lesson->scenario;
        vec_push(&k->entries, like);
        k->leads_known = false;
    }
    return at;
}

static uint32_t find_root(struct learner *l, uid handler)
{
    struct knowledge *k = l->k;
    uint32_t scenario = l->lesson->scenario;
    uint64_t path = knowledge_root(k, l->names, scenario, handler);
    uint32_t at = find_entry(l, path, (struct entry){.handler = k->handlers.n});
    if (at == NEXT_UNKNOWN)
        return at;
    if (k->entries.at[at].handler == k->handlers.n)
        vec_push(
            &k->handlers,
            (struct handler){.root_path = path,
                             .root = at,
                             .service = uid_element(l->names, handler)->service,
                             .client = is_client(k, l->names, scenario, handler) ? scenario : 0,
                             .earlier = !k->aged});
    struct handler *h = handler_of(k, at);
    if (k->aged && l->lesson->follow && !h->reached) {
        h->reached = true;
        k->leads_known &= !h->distrusted;
    }
    return at;
}

static void contradict(struct learner *l, uint32_t entry, uid handler)
{
    struct handler *h = handler_of(l->k, entry);
    const struct entry *e = &l->k->entries.at[entry];
    if (e->by == l->lesson->scenario || h->contradicted || !is_used(l->k, e))
        return; /* a search knows itself what is unstable within it */
    h->contradicted = true;
    l->k->news++;
    vec_push(&l->k->contradictions, (struct contradiction){.handler = handler,
                                                           .service = h->service,
                                                           .by = e->by,
                                                           .scenario = l->lesson->scenario,
                                                           .faultload = l->lesson->faultload});
    if (e->by == SHOWN_EARLIER && l->k->aged) /* then it is another one than it was */
        knowledge_distrust(l->k, h->service);
}

/* After this prefix the handler makes this call, or ends with this reply. */
static void learn_next(struct learner *l, uint32_t entry, uid handler, uint32_t next, label reply)
{
    if (entry == NEXT_UNKNOWN)
        return;
    struct entry *e = &l->k->entries.at[entry];
    bool known = e->next != NEXT_UNKNOWN && is_used(l->k, e);
    if (known && (e->next != next || e->reply != reply))
        contradict(l, entry, handler);
    if (!l->lesson->follow || known)
        return;
    e->next = next;
    e->reply = reply;
}

/* Somebody has shown this prefix, now. */
static void show_entry(struct learner *l, uint32_t entry)
{
    if (entry == NEXT_UNKNOWN || !l->lesson->follow)
        return;
    struct entry *e = &l->k->entries.at[entry];
    if (e->by == SHOWN_BY_NONE ||
        (e->by == SHOWN_EARLIER && l->k->aged && handler_of(l->k, entry)->distrusted)) {
        e->by = l->lesson->scenario;
        e->next = NEXT_UNKNOWN;
    }
    if (l->fired.n < e->faults)
        e->faults = l->fired.n;
}

/* A handler that is as it was calls this one, whose answers are not: what it does then is not known,
 * whatever else has failed before. */
static void distrust_callers(struct knowledge *k, uint32_t handler)
{
    for (uint32_t i = 0; i < k->entries.n; i++)
        if (k->entries.at[i].callee == handler + 1)
            handler_of(k, i)->distrusted = true;
    k->leads_known = false;
    k->news++;
}

/* Callers see this of a handler. */
static void learn_answer(struct learner *l, uint32_t root, outcome o)
{
    struct knowledge *k = l->k;
    uint64_t key = hash_mix(handler_of(k, root)->root_path, o);
    bool before = map_get(&k->answers, key);
    if (!before)
        map_set(&k->answers, key, 1);
    if (!before && k->aged)
        distrust_callers(k, k->entries.at[root].handler);
}

/* Is what was seen no news: with as few faults as ever, and neither faster nor slower than ever? */
static bool is_known_reply(const struct knowledge *k, const struct handler *h, outcome o,
                           const struct reply_cause *cause)
{
    bool fewer = true, faster = true, slower = true;
    for (uint32_t i = h->reply; i; i = k->replies.at[i - 1].next) {
        const struct known_reply *known = &k->replies.at[i - 1];
        if (known->outcome != o || known->by == SHOWN_BY_NONE ||
            (known->by == SHOWN_EARLIER && k->aged))
            continue;
        fewer &= cause->n < known->cause.n;
        faster &= cause->ns < known->cause.ns;
        slower &= cause->ns > known->cause.ns;
    }
    return !fewer && !faster && !slower;
}

static void learn_reply(struct learner *l, uint32_t root, const struct call *c, outcome o,
                        uint32_t causes, bool measured)
{
    struct knowledge *k = l->k;
    struct handler *h = handler_of(k, root);
    struct known_reply reply = {.root = h->root_path,
                                .outcome = o,
                                .by = l->lesson->scenario,
                                .scenario = l->lesson->scenario,
                                .next = h->reply,
                                .cause = {.handler = c->uid,
                                          .n = l->fired.n - causes,
                                          .ns = c->end_ns - c->start_ns,
                                          .measured = measured}};
    if (reply.cause.n == 0 ||
        is_known_reply(k, h, o, &reply.cause)) /* 0: it answers so by itself */
        return;
    for (uint32_t i = causes; i < l->fired.n; i++)
        reply.cause.faultload = faultload_extend(l->fl, reply.cause.faultload, l->fired.at[i]);
    vec_push(&k->replies, reply);
    h->reply = k->replies.n;
    k->news++;
}

/* A fault at one call fires once; a lasting one counts once. */
static void fire(struct learner *l, const struct call *c)
{
    for (uint32_t i = 0; i < l->fired.n; i++)
        if (l->fired.at[i].point == c->fault_point)
            return;
    vec_push(&l->fired, (struct fault){c->fault_point, c->mode});
}

static void learn_end(struct learner *l, uint32_t entry, uint64_t shape, bool makes_calls)
{
    struct knowledge *k = l->k;
    if (!l->lesson->keep || entry == NEXT_UNKNOWN || !makes_calls)
        return;
    k->entries.at[entry].shape = map_index(&k->shape_of, shape, k->shape_shown.n);
    if (k->entries.at[entry].shape == k->shape_shown.n)
        vec_push(&k->shape_shown, false);
    vec_push(&l->shows, entry);
}

/* It has left one that it called, or was left. */
static void set_late(struct knowledge *k, uint32_t root)
{
    if (root == NEXT_UNKNOWN || handler_of(k, root)->late)
        return;
    handler_of(k, root)->late = true;
    k->news++;
}

/* One handler, those that it calls inside. Returns its root, or NEXT_UNKNOWN. */
static uint32_t learn_handler(struct learner *l, uint32_t handler)
{
    struct knowledge *k = l->k;
    const struct call *h = &l->lesson->trace->calls.at[handler];
    bool stale = l->lesson->stale && l->lesson->stale[handler];
    uint32_t root = stale ? NEXT_UNKNOWN : find_root(l, h->uid);
    uint32_t at = root, first = l->order->first.at[handler], stale_before;
    uint64_t path = knowledge_root(k, l->names, l->lesson->scenario, h->uid), shape = path;
    l->stale += stale;
    show_entry(l, root);
    for (uint32_t i = first; i < l->order->first.at[handler + 1]; i++) {
        uint32_t index = l->order->child.at[i], causes = l->fired.n, callee = NEXT_UNKNOWN;
        const struct call *c = &l->lesson->trace->calls.at[index];
        uint32_t element = l->names->uids.at[c->uid].element;
        bool calls = l->order->first.at[index] < l->order->first.at[index + 1];
        label lab = call_label(c);
        learn_next(l, at, h->uid, element, OUT_NONE);
        stale_before = l->stale;
        if (c->handled)
            callee = learn_handler(l, index);
        if (callee != NEXT_UNKNOWN && l->lesson->follow && c->mode == MODE_NONE)
            learn_answer(l, callee, c->seen);
        /* what a stale handler had a part in may not come about any more */
        if (callee != NEXT_UNKNOWN && calls && l->lesson->follow && l->stale == stale_before) {
            bool late = call_late(c);
            if (c->reply != OUT_NONE && !late)
                learn_reply(l, callee, c, c->reply, causes, c->mode == MODE_NONE);
            if (late && c->mode == MODE_NONE)
                learn_reply(l, callee, c, c->seen, causes, false);
        }
        if (call_late(c)) {
            set_late(k, root);
            set_late(k, callee);
        }
        if (callee != NEXT_UNKNOWN && at != NEXT_UNKNOWN)
            k->entries.at[at].callee = k->entries.at[callee].handler + 1;
        if (c->mode != MODE_NONE)
            fire(l, c);
        bool failed = lab & LABEL_MODE ? !mode_reached(lab & ~LABEL_MODE) : !outcome_ok(lab);
        path = knowledge_step(path, element, lab);
        shape = hash_mix(hash_mix(shape, element), failed ? UINT32_MAX : lab);
        at = at == NEXT_UNKNOWN ? at
                                : find_entry(l, path,
                                             (struct entry){.handler = k->entries.at[at].handler,
                                                            .parent = at + 1});
        show_entry(l, at);
    }
    learn_next(l, at, h->uid, NEXT_ENDS, h->reply);
    learn_end(l, at, hash_mix(shape, h->reply), first < l->order->first.at[handler + 1]);
    return root;
}

void knowledge_learn(struct knowledge *k, struct names *names, struct faultloads *fl,
                     const struct lesson *lesson)
{
    struct learner l = {k, names, fl, lesson, lesson->order, {0}, {0}, 0};
    if (!l.order) {
        trace_order(lesson->trace, names, &k->order);
        l.order = &k->order;
    }
    if (k->client.at[lesson->scenario] == UINT32_MAX)
        k->client.at[lesson->scenario] =
            handler_key(names, lesson->trace->calls.at[0].uid, k->stateless);
    learn_handler(&l, 0);
    if (lesson->keep) {
        vec_push(&k->kept,
                 (struct kept_run){lesson->faultload, lesson->scenario, k->shows.n, l.shows.n});
        for (uint32_t i = 0; i < l.shows.n; i++)
            vec_push(&k->shows, l.shows.at[i]);
    }
    vec_deinit(&l.fired);
    vec_deinit(&l.shows);
}

void knowledge_forget(struct knowledge *k, uint32_t scenario)
{
    for (uint32_t i = 0; i < k->entries.n; i++) {
        struct entry *e = &k->entries.at[i];
        if (e->by != scenario)
            continue;
        e->by = SHOWN_BY_NONE;
        e->next = NEXT_UNKNOWN;
        e->faults = UINT32_MAX;
    }
    for (uint32_t i = 0; i < k->replies.n; i++)
        if (k->replies.at[i].by == scenario)
            k->replies.at[i].by = SHOWN_BY_NONE;
    k->leads_known = false;
    k->news++;
}

uint64_t knowledge_news(const struct knowledge *k)
{
    return k->news;
}

const struct contradiction *knowledge_contradictions(const struct knowledge *k, uint32_t *n)
{
    *n = k->contradictions.n;
    return k->contradictions.at;
}

/* ---- trust ---- */

void knowledge_age(struct knowledge *k)
{
    for (uint32_t i = 0; i < k->entries.n; i++)
        k->entries.at[i].by = SHOWN_EARLIER;
    for (uint32_t i = 0; i < k->replies.n; i++)
        k->replies.at[i].by = SHOWN_EARLIER;
    for (uint32_t i = 0; i < k->handlers.n; i++)
        k->handlers.at[i].reached = false;
    k->contradictions.n = 0;
    k->aged = true;
}

void knowledge_distrust(struct knowledge *k, sym service)
{
    for (uint32_t i = 0; i < k->handlers.n; i++)
        k->handlers.at[i].distrusted |= k->handlers.at[i].service == service;
    k->leads_known = false;
}

void knowledge_distrust_client(struct knowledge *k, uint32_t scenario)
{
    for (uint32_t i = 0; i < k->handlers.n; i++)
        k->handlers.at[i].distrusted |= k->handlers.at[i].client == scenario;
    k->leads_known = false;
}

void knowledge_stats(const struct knowledge *k, struct knowledge_stats *out)
{
    *out = (struct knowledge_stats){0};
    for (uint32_t i = 0; i < k->handlers.n; i++) {
        const struct handler *h = &k->handlers.at[i];
        out->handlers += h->earlier;
        out->trusted_handlers += h->earlier && !h->distrusted && !h->contradicted;
    }
    for (uint32_t i = 0; i < k->entries.n; i++) {
        const struct entry *e = &k->entries.at[i];
        const struct handler *h = &k->handlers.at[e->handler];
        bool edge = e->parent != 0 && h->earlier;
        out->edges += edge;
        out->trusted_edges += edge && !h->distrusted && !h->contradicted;
    }
}

bool knowledge_knows(const struct knowledge *k, sym service)
{
    for (uint32_t i = 0; i < k->handlers.n; i++)
        if (k->handlers.at[i].service == service && k->handlers.at[i].earlier)
            return true;
    return false;
}

/* ---- asking ---- */

/* From which prefixes, and from which handlers, does a way lead to a handler that is to be explored
 * anew and was not reached? Through handlers that call each other it takes several rounds. */
static void find_leads(struct knowledge *k)
{
    bool more = true;
    k->leads_known = true;
    for (uint32_t i = 0; i < k->handlers.n; i++)
        k->handlers.at[i].leads =
            k->aged && k->handlers.at[i].distrusted && !k->handlers.at[i].reached;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < k->entries.n; i++) {
            uint32_t callee = k->entries.at[i].callee;
            k->entries.at[i].leads = callee && k->handlers.at[callee - 1].leads;
        }
        for (uint32_t i = k->entries.n; i-- > 0;)
            if (k->entries.at[i].parent)
                k->entries.at[k->entries.at[i].parent - 1].leads |= k->entries.at[i].leads;
        for (uint32_t i = 0; i < k->handlers.n; i++) {
            struct handler *h = &k->handlers.at[i];
            more |= !h->leads && k->entries.at[h->root].leads;
            h->leads |= k->entries.at[h->root].leads;
        }
    }
}

bool knowledge_edge(struct knowledge *k, uint64_t path, struct known_edge *out)
{
    const uint32_t *at = map_get(&k->entry_of, path);
    if (!at || !is_used(k, &k->entries.at[*at]))
        return false;
    if (!k->leads_known)
        find_leads(k);
    const struct entry *e = &k->entries.at[*at];
    *out = (struct known_edge){e->by, e->faults, e->leads};
    return true;
}

const struct known_reply *knowledge_replies(const struct knowledge *k, uint32_t *n)
{
    *n = k->replies.n;
    return k->replies.at;
}

uint32_t knowledge_first_reply(const struct knowledge *k, uint64_t root)
{
    const uint32_t *at = map_get(&k->entry_of, root);
    return at ? k->handlers.at[k->entries.at[*at].handler].reply : 0;
}

bool knowledge_trusts_reply(const struct knowledge *k, struct names *names,
                            const struct faultloads *fl, const struct known_reply *reply)
{
    faultload f = reply->cause.faultload;
    for (uint32_t i = 0; i < reply->cause.n; i++, f = fl->rows.at[f].rest) {
        uid u = fl->rows.at[f].last.point;
        do {
            u = uid_parent(names, u);
            const uint32_t *at =
                map_get(&k->entry_of, knowledge_root(k, names, reply->scenario, u));
            const struct handler *h = at ? &k->handlers.at[k->entries.at[*at].handler] : NULL;
            if (!h || h->contradicted || reply->by == SHOWN_BY_NONE ||
                (reply->by == SHOWN_EARLIER && h->distrusted))
                return false;
        } while (u != reply->cause.handler);
    }
    return true;
}

/* ---- verifying ---- */

/* Is this transcript worth a run that shows it again? Those of handlers that are explored anew are
 * shown anyway. */
static bool worth_showing(const struct knowledge *k, const struct entry *e)
{
    const struct handler *h = &k->handlers.at[e->handler];
    return !h->distrusted && !h->contradicted && !e->shown_again;
}

static uint32_t gain_of(const struct knowledge *k, const struct kept_run *run)
{
    uint32_t gain = 0;
    for (uint32_t i = run->first; i < run->first + run->n; i++) {
        const struct entry *e = &k->entries.at[k->shows.at[i]];
        if (worth_showing(k, e))
            gain += 1 + (k->shape_shown.at[e->shape] ? 0 : SHAPE_WEIGHT);
    }
    return gain;
}

static void show_again(struct knowledge *k, const struct kept_run *run)
{
    for (uint32_t i = run->first; i < run->first + run->n; i++) {
        k->entries.at[k->shows.at[i]].shown_again = true;
        k->shape_shown.at[k->entries.at[k->shows.at[i]].shape] = true;
    }
}

/* Greedy: always the run that shows most of what no other does. What a run gains only becomes less
 * while others are chosen, so a run is looked at again only when no other seems better. */
uint32_t knowledge_verify(struct knowledge *k, uint32_t scenario, uint32_t most, faultload *out)
{
    uint32_t n = 0, best = 0;
    VEC(struct bucket { VEC(uint32_t) runs; }) by_gain = {0};
    for (uint32_t i = 0; i < k->kept.n; i++)
        if (k->kept.at[i].scenario == scenario && k->kept.at[i].faultload == FAULTLOAD_EMPTY)
            show_again(k, &k->kept.at[i]); /* every campaign begins with it */
    for (uint32_t i = k->kept.n; i-- > 0;) {
        uint32_t gain = k->kept.at[i].scenario == scenario ? gain_of(k, &k->kept.at[i]) : 0;
        while (by_gain.n <= gain)
            vec_push(&by_gain, (struct bucket){0});
        if (gain)
            vec_push(&by_gain.at[gain].runs, i); /* the earliest run is taken out first */
        best = gain > best ? gain : best;
    }
    for (; best > 0 && n < most; best--)
        while (by_gain.at[best].runs.n && n < most) {
            uint32_t i = by_gain.at[best].runs.at[--by_gain.at[best].runs.n];
            uint32_t gain = gain_of(k, &k->kept.at[i]);
            if (gain < best) {
                if (gain)
                    vec_push(&by_gain.at[gain].runs, i);
                continue;
            }
            show_again(k, &k->kept.at[i]);
            out[n++] = k->kept.at[i].faultload;
        }
    for (uint32_t i = 0; i < by_gain.n; i++)
        vec_deinit(&by_gain.at[i].runs);
    vec_deinit(&by_gain);
    return n;
}
