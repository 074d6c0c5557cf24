/* SPDX-License-Identifier: Apache-2.0
 *
 * The checker of clients: differential observability (Legolas, section 5.3). Each client belongs to
 * one node, so what clients see is what nodes do:
 *
 *   others-fail   the fault is in one node, and only clients of others fail
 *   alive-fails   a node says that it is alive, and its clients are not served, up to the end
 *   subset        some clients of a phase complete, some do not
 *   nobody        none does
 *   lasts         a kind of operation is refused from some moment to the end
 *   failures      operations failed, and later ones did not
 *   slow          operations took longer than is usual
 *
 * What failed before the fault was made does not count, nor what fails as often without faults. */
#include "base/hash.h"
#include "trial/judge_int.h"

/* ---- sums ---- */

static struct client_sum sum_up(const struct scene *s, uint32_t at)
{
    const struct trial_client *c = &s->r->clients.at[at];
    const struct usual_client *u = &s->u->clients.at[at];
    int64_t from = s->r->injection.done ? s->r->injection.at_ns : INT64_MIN;
    int64_t slow = s->t->checkers.slow_ns;
    struct client_sum sum = {.node = s->t->phases.at[c->phase].clients.at[c->client].node,
                             .first_ns = -1,
                             .last_ns = -1,
                             .late = c->late};
    slow = slow > 2 * u->took_ns ? slow : 2 * u->took_ns;
    for (uint32_t i = 0; i < c->ops.n; i++) {
        const struct trial_op *op = &c->ops.at[i];
        if (op->at_ns < from || !usual_essential(s->t, op))
            continue;
        sum.ends_failing = !op->ok;
        sum.slow += op->took_ns > slow;
        sum.slowest_ns = op->took_ns > sum.slowest_ns ? op->took_ns : sum.slowest_ns;
        if (op->ok)
            continue;
        sum.failures++;
        sum.first_ns = sum.first_ns < 0 ? op->at_ns - op->took_ns : sum.first_ns;
        sum.last_ns = op->at_ns;
    }
    sum.failures -= sum.failures < u->failures ? sum.failures : u->failures;
    sum.ends_failing &= sum.failures > 0;
    sum.unfinished = c->started && !c->finished && u->finished;
    sum.failing = sum.failures || sum.unfinished;
    return sum;
}

static bool is_gone(const struct scene *s, uint32_t node)
{
    return s->gone >> node & 1;
}

/* What a symptom's clients have in common. Those whose node has ended may well wait for it. */
static void add_facts(const struct scene *s, const struct client_sum *c, struct facts *f)
{
    int64_t fault = s->r->injection.done ? s->r->injection.at_ns : c->first_ns;
    f->most = c->failures > f->most ? c->failures : f->most;
    f->stuck |= c->late && c->unfinished && !is_gone(s, c->node);
    if (c->last_ns - fault > f->lasted_ns)
        f->lasted_ns = c->last_ns - fault;
}

/* Nodes, and what else is known of a symptom, gathered from clients. */
struct gathered {
    uint64_t nodes;
    struct facts facts;
    uint32_t n; /* clients */
    slice said; /* by the first that says something */
};

static void gather(const struct scene *s, uint32_t client, struct gathered *g)
{
    const struct client_sum *c = &s->client[client];
    g->nodes |= UINT64_C(1) << c->node;
    g->n++;
    add_facts(s, c, &g->facts);
    if (!g->said.n)
        g->said = s->r->clients.at[client].said;
}

static void add_gathered(struct scene *s, enum symptom_kind kind, int32_t phase,
                         const struct gathered *g, struct buf *text)
{
    if (g->said.n)
        buf_addf(text, ": %.*s", QUOTED(g->said));
    scene_add(s,
              (struct trial_symptom){.kind = kind,
                                     .nodes = (uint32_t)g->nodes,
                                     .phase = phase,
                                     .text = buf_keep(text, &s->r->arena)},
              &g->facts);
}

/* ---- rules of the paper ---- */

static void judge_others(struct scene *s)
{
    struct gathered g = {0};
    bool has_clients = false, fails = false;
    struct buf text = BUF_INIT(1000);
    if (s->harmed == TRIALS_NONE)
        return;
    for (uint32_t i = 0; i < s->r->clients.n; i++) {
        bool own = s->client[i].node == (uint32_t)s->harmed;
        has_clients |= own && s->r->clients.at[i].started;
        fails |= own && s->client[i].failing;
        if (!own && s->client[i].failing)
            gather(s, i, &g);
    }
    if (!g.n || !has_clients || fails || is_gone(s, (uint32_t)s->harmed))
        return;
    buf_addf(&text, "clients of ");
    scene_names(s, g.nodes, &text);
    buf_addf(&text, " fail, those of %.*s, where the fault was made, do not",
             SLICE_ARG(scene_node(s, (uint32_t)s->harmed)));
    add_gathered(s, SYMPTOM_OTHERS_FAIL, TRIALS_NONE, &g, &text);
}

static void judge_alive(struct scene *s)
{
    for (uint32_t node = 0; node < s->r->nodes.n; node++) {
        struct gathered g = {0};
        struct buf text = BUF_INIT(1000);
        if (s->r->nodes.at[node].alive != ALIVE_YES || is_gone(s, node))
            continue;
        for (uint32_t i = 0; i < s->r->clients.n; i++) {
            const struct client_sum *c = &s->client[i];
            bool unserved = (c->unfinished && c->late) || (c->ends_failing && c->failures > FEW);
            if (c->node == node && unserved)
                gather(s, i, &g);
        }
        if (!g.n)
            continue;
        buf_addf(&text,
                 "%.*s says that it is alive, and %u of its clients %s not served up to the end",
                 SLICE_ARG(scene_node(s, node)), g.n, plural(g.n, "is", "are"));
        add_gathered(s, SYMPTOM_ALIVE_FAILS, TRIALS_NONE, &g, &text);
    }
}

/* Some clients of a phase do not complete, or all. */
static void judge_phase(struct scene *s, uint32_t phase)
{
    struct gathered g = {0};
    uint32_t started = 0;
    struct buf text = BUF_INIT(1000);
    slice name = s->t->phases.at[phase].name;
    for (uint32_t i = 0; i < s->r->clients.n; i++) {
        if (s->r->clients.at[i].phase != phase || !s->r->clients.at[i].started)
            continue;
        started++;
        if (s->client[i].unfinished)
            gather(s, i, &g);
    }
    if (!g.n)
        return;
    if (g.n < started) {
        buf_addf(&text, "%u of %u clients do not complete %.*s, those of ", g.n, started,
                 SHORT(name));
        scene_names(s, g.nodes, &text);
    } else {
        buf_addf(&text, "no client completes %.*s", SHORT(name));
    }
    add_gathered(s, g.n < started ? SYMPTOM_SUBSET : SYMPTOM_NOBODY, (int32_t)phase, &g, &text);
}

/* ---- effects over time ---- */

/* A kind of operation of a node. */
struct kind {
    uint32_t node;
    slice name;
    int64_t last_ok_ns; /* -1: none */
    uint32_t since, of; /* failures since then; operations since the fault */
    int64_t first_ns;   /* of these failures */
    slice said;
};
struct kinds {
    struct kind *at;
    uint32_t n, cap;
};

static struct kind *kind_of(struct kinds *kinds, uint32_t node, slice name)
{
    for (uint32_t i = 0; i < kinds->n; i++)
        if (kinds->at[i].node == node && slice_eq(kinds->at[i].name, name))
            return &kinds->at[i];
    vec_push(kinds, (struct kind){.node = node, .name = name, .last_ok_ns = -1, .first_ns = -1});
    return &vec_last(kinds);
}

/* Clients of a phase run side by side: first when each kind succeeded last, then what failed since. */
static void add_ops(const struct scene *s, uint32_t client, bool second, struct kinds *kinds)
{
    const struct trial_client *c = &s->r->clients.at[client];
    int64_t from = s->r->injection.done ? s->r->injection.at_ns : INT64_MIN;
    for (uint32_t i = 0; i < c->ops.n; i++) {
        const struct trial_op *op = &c->ops.at[i];
        if (!usual_essential(s->t, op))
            continue;
        struct kind *k = kind_of(kinds, s->client[client].node, op->name);
        if (!second) {
            if (op->ok && op->at_ns > k->last_ok_ns)
                k->last_ok_ns = op->at_ns;
            continue;
        }
        if (op->at_ns < from)
            continue;
        k->of++;
        if (op->ok || op->at_ns <= k->last_ok_ns)
            continue;
        k->since++;
        if (k->first_ns < 0 || op->at_ns < k->first_ns)
            k->first_ns = op->at_ns;
        if (!k->said.n)
            k->said = c->said;
    }
}

static void add_lasting(struct scene *s, const struct kind *k)
{
    struct buf text = BUF_INIT(1000);
    bool usual = true; /* fails without faults, too */
    struct gathered g = {.nodes = UINT64_C(1) << k->node, .said = k->said};
    for (uint32_t i = 0; i < s->r->clients.n; i++) {
        if (s->client[i].node != k->node)
            continue;
        usual &= !s->client[i].failures;
        add_facts(s, &s->client[i], &g.facts);
    }
    if (usual)
        return;
    buf_addf(&text, "%.*s: %.*s%sfails from ", SLICE_ARG(scene_node(s, k->node)), SHORT(k->name),
             k->name.n ? " " : "each operation ");
    buf_add_ns(&text, k->first_ns);
    buf_addf(&text, " to the end, %u times", k->since);
    scene_add(s,
              (struct trial_symptom){.kind = SYMPTOM_LASTS,
                                     .nodes = (uint32_t)g.nodes,
                                     .phase = TRIALS_NONE,
                                     .shape = hash_slice(k->name),
                                     .text = buf_keep(&text, &s->r->arena)},
              &g.facts);
}

/* Bits: nodes that have such a symptom. */
static uint64_t judge_lasting(struct scene *s)
{
    struct kinds kinds = {0};
    uint64_t nodes = 0;
    for (uint32_t second = 0; second < 2; second++)
        for (uint32_t i = 0; i < s->r->clients.n; i++)
            add_ops(s, i, second, &kinds);
    for (uint32_t i = 0; i < kinds.n; i++) {
        const struct kind *k = &kinds.at[i];
        if (k->since < LAST_LEAST || is_gone(s, k->node))
            continue;
        nodes |= UINT64_C(1) << k->node;
        add_lasting(s, k);
    }
    vec_deinit(&kinds);
    return nodes;
}

/* Did something succeed on the node from the first failure to the last one? */
static bool is_partial(const struct scene *s, uint32_t node, int64_t first_ns, int64_t last_ns)
{
    for (uint32_t i = 0; i < s->r->clients.n; i++) {
        const struct trial_client *c = &s->r->clients.at[i];
        for (uint32_t k = 0; k < c->ops.n && s->client[i].node == node; k++) {
            const struct trial_op *op = &c->ops.at[k];
            if (op->ok && op->at_ns - op->took_ns >= first_ns && op->at_ns <= last_ns &&
                usual_essential(s->t, op))
                return true;
        }
    }
    return false;
}

static void judge_failures(struct scene *s, uint32_t node)
{
    struct gathered g = {0};
    struct buf text = BUF_INIT(1000);
    uint32_t failures = 0;
    int64_t first = INT64_MAX, last = -1;
    for (uint32_t i = 0; i < s->r->clients.n; i++) {
        const struct client_sum *c = &s->client[i];
        if (c->node != node || !c->failures)
            continue;
        gather(s, i, &g);
        failures += c->failures;
        first = c->first_ns < first ? c->first_ns : first;
        last = c->last_ns > last ? c->last_ns : last;
    }
    if (!g.n)
        return;
    g.facts.partial = is_partial(s, node, first, last);
    buf_addf(&text, "%u %s on %.*s from ", failures,
             plural(failures, "operation failed", "operations failed"),
             SLICE_ARG(scene_node(s, node)));
    buf_add_ns(&text, first > 0 ? first : 0);
    buf_adds(&text, " to ");
    buf_add_ns(&text, last);
    buf_adds(&text, g.facts.partial ? ", others succeeded meanwhile" : "");
    add_gathered(s, SYMPTOM_FAILURES, TRIALS_NONE, &g, &text);
}

static void judge_slow(struct scene *s, uint32_t node)
{
    struct gathered g = {0};
    struct buf text = BUF_INIT(1000);
    uint32_t slow = 0;
    int64_t slowest = 0;
    for (uint32_t i = 0; i < s->r->clients.n; i++) {
        const struct client_sum *c = &s->client[i];
        if (c->node != node || !c->slow)
            continue;
        gather(s, i, &g);
        slow += c->slow;
        slowest = c->slowest_ns > slowest ? c->slowest_ns : slowest;
    }
    if (!g.n)
        return;
    g.said = (slice){0};
    buf_addf(&text, "%u slow %s on %.*s, the slowest took ", slow,
             plural(slow, "operation", "operations"), SLICE_ARG(scene_node(s, node)));
    buf_add_ns(&text, slowest);
    add_gathered(s, SYMPTOM_SLOW, TRIALS_NONE, &g, &text);
}

void judge_clients(struct scene *s)
{
    s->client = mem_zero((s->r->clients.n + 1) * sizeof *s->client);
    for (uint32_t i = 0; i < s->r->clients.n; i++)
        s->client[i] = sum_up(s, i);
    uint64_t lasting = judge_lasting(s);
    judge_others(s);
    judge_alive(s);
    for (uint32_t i = 0; i < s->t->phases.n; i++)
        judge_phase(s, i);
    for (uint32_t i = 0; i < s->r->nodes.n; i++) {
        if (!(lasting >> i & 1))
            judge_failures(s, i);
        judge_slow(s, i);
    }
    mem_free(s->client);
    s->client = NULL;
}
