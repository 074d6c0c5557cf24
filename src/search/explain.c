/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a faultload was run, or need not be, or cannot be. The trees predict what the system does
 * under it: starting at the scenario's own request, every handler is followed along its tree, with
 * the outcome of each call either the planned fault's or what the callee's own tree says that it
 * answers. */
#include "search/search_int.h"

/* A prediction under way. */
struct walk {
    const struct search *s;
    faultload f;
    bool details; /* look for the deciding call too */
    VEC(struct walk_fault {
        struct fault fault;
        uint32_t edge; /* that it takes */
    })
    fired;
    VEC(struct walk_handler {
        uid handler;
        uint32_t end; /* of its walk */
    })
    reached;
    uint32_t stop;        /* the edge that nobody has seen, or NODE_NONE, */
    uint32_t stop_prefix; /* and the prefix before it */
    uid stop_handler, stop_call;
    label stop_label;
    bool timing; /* it stopped because the answer may be in time or too late */
};

/* The edge that the call u takes when its service answers with this label: that, or the caller
 * leaves before. A service that makes calls may be in time under some faults and late under others;
 * any other always takes the same time. */
static uint32_t choose_edge(struct walk *w, uint32_t node, uid u, label l)
{
    static const outcome lefts[] = {OUTCOME(OUT_TIMEOUT, 0), OUTCOME(OUT_CANCELLED, 0)};
    const struct tree *tree = &w->s->tree;
    uint32_t element = w->s->names->uids.at[u].element;
    uint32_t edge = tree_find(tree, node, element, l);
    bool in_time = edge != NODE_NONE && tree->nodes.at[edge].state == EDGE_SEEN;
    for (uint32_t i = 0; i < sizeof lefts / sizeof *lefts && w->s->late.happens; i++) {
        uint32_t left = tree_find(tree, node, element, lefts[i]);
        if (left == NODE_NONE || left == edge || tree->nodes.at[left].state != EDGE_SEEN)
            continue;
        if (!in_time)
            return left; /* it never was */
        w->timing |= late_may_be(w->s, left, u, l);
    }
    return edge;
}

/* Follows one handler to its reply; OUT_NONE when its tree does not tell. */
static label follow(struct walk *w, uid handler)
{
    const struct search *s = w->s;
    const struct tree_node *nodes = s->tree.nodes.at;
    uint32_t node = tree_find_root(&s->tree, s->names, handler), at = w->reached.n;
    vec_push(&w->reached, (struct walk_handler){handler, node});
    while (node != NODE_NONE && nodes[node].child != NODE_NONE) {
        uint32_t element = nodes[nodes[node].child].element;
        uid call = names_uid(s->names, handler, element);
        struct fault fault;
        uint8_t flags = call < s->flags.n ? s->flags.at[call] : 0;
        fault.mode = faultload_mode(s->names, s->fl, w->f, call, flags, &fault.point);
        bool served = fault.mode == MODE_NONE || mode_reached(fault.mode);
        label natural = served ? follow(w, call) : OUT_NONE;
        label l = fault.mode == MODE_NONE ? natural : mode_label(fault.mode);
        if (w->stop_handler != UID_NONE)
            return OUT_NONE;
        uint32_t edge = NODE_NONE;
        if (l != OUT_NONE) /* else nobody has seen what it answers */
            edge = served ? choose_edge(w, node, call, l) : tree_find(&s->tree, node, element, l);
        if (w->timing || edge == NODE_NONE || nodes[edge].state != EDGE_SEEN) {
            w->stop = edge;
            w->stop_prefix = l != OUT_NONE ? node : NODE_NONE;
            w->stop_handler = handler;
            w->stop_call = call;
            w->stop_label = l;
            return OUT_NONE;
        }
        if (fault.mode != MODE_NONE)
            vec_push(&w->fired, (struct walk_fault){fault, edge});
        node = w->reached.at[at].end = edge;
    }
    return node == NODE_NONE ? OUT_NONE : nodes[node].reply;
}

/* A point that runs have shown and that this fault fails; UID_NONE: there is none. */
static uid seen_point(const struct search *s, struct fault fault)
{
    const struct element *el = uid_element(s->names, fault.point);
    bool whole = fault_service(s->names, fault).row;
    if (!whole && (search_point(s, fault.point) || el->n != N_ANY))
        return search_point(s, fault.point) ? fault.point : UID_NONE;
    for (uid v = 1; v < s->seen_in.n; v++)
        if (search_point(s, v) && (whole ? uid_element(s->names, v)->service == el->service
                                         : names_uid_all(s->names, v) == fault.point))
            return v;
    return UID_NONE;
}

/* A point that no run has shown, or one below another that is to fail. */
static bool plainly_wrong(const struct search *s, faultload f, struct explanation *out)
{
    for (faultload a = f; a != FAULTLOAD_EMPTY; a = s->fl->rows.at[a].rest) {
        out->fault = s->fl->rows.at[a].last;
        if (!seen_point(s, out->fault)) {
            out->kind = EXPLAIN_UNSEEN;
            return true;
        }
        for (faultload b = f; b != FAULTLOAD_EMPTY; b = s->fl->rows.at[b].rest) {
            struct fault above = s->fl->rows.at[b].last;
            if (a == b || mode_reached(above.mode) ||
                !uid_contains(s->names, above.point, out->fault.point))
                continue;
            out->kind = EXPLAIN_IMPOSSIBLE;
            out->policy = POLICY_DOWNSTREAM;
            out->after = above.point;
            out->outcome = mode_label(above.mode);
            return true;
        }
    }
    return false;
}

static uint32_t reached_at(const struct walk *w, uid handler)
{
    uint32_t i = 0;
    while (i < w->reached.n && w->reached.at[i].handler != handler)
        i++;
    return i;
}

/* Is there, at or below this edge, a call of this element? Found by looking at all calls of the
 * element: they are fewer than the nodes below. */
static bool leads_to(const struct tree *tree, uint32_t edge, uint32_t element)
{
    for (uint32_t i = edge + 1; i < tree->nodes.n; i++) {
        if (tree->nodes.at[i].element != element || tree->nodes.at[i].parent == NODE_NONE)
            continue;
        uint32_t up = tree->nodes.at[i].parent;
        while (up > edge)
            up = tree->nodes.at[up].parent;
        if (up == edge)
            return true;
    }
    return false;
}

/* On the way to this node: the last call another outcome of which would have led to the element. */
static void deciding_call(const struct walk *w, uid handler, uint32_t node, uint32_t element,
                          struct explanation *out)
{
    const struct tree *tree = &w->s->tree;
    for (; tree->nodes.at[node].parent != NODE_NONE; node = tree->nodes.at[node].parent) {
        uint32_t other = tree->nodes.at[tree->nodes.at[node].parent].child;
        while (other != NODE_NONE && (other == node || !leads_to(tree, other, element)))
            other = tree->nodes.at[other].sibling;
        if (other == NODE_NONE)
            continue;
        out->after = names_uid(w->s->names, handler, tree->nodes.at[node].element);
        out->outcome = tree->nodes.at[node].label;
        out->run = tree->nodes.at[node].run;
        return;
    }
}

/* The last call before this node that went wrong, or the last at all. */
static void last_failure(const struct walk *w, uid handler, uint32_t node, struct explanation *out)
{
    const struct tree_node *nodes = w->s->tree.nodes.at;
    out->run = nodes[node].run;
    for (; nodes[node].parent != NODE_NONE; node = nodes[node].parent) {
        label l = nodes[node].label;
        bool failed = (l & LABEL_MODE) || !outcome_ok(l);
        if (out->after != UID_NONE && !failed)
            continue;
        out->after = names_uid(w->s->names, handler, nodes[node].element);
        out->outcome = l;
        if (failed)
            return;
    }
}

/* A node of this handler after which it makes this call; NODE_NONE when there is none. */
static uint32_t example_of(const struct search *s, uid handler, uint32_t element)
{
    const struct tree_node *nodes = s->tree.nodes.at;
    uint32_t root = tree_find_root(&s->tree, s->names, handler);
    for (uint32_t i = 1; i < s->tree.nodes.n; i++) {
        if (nodes[i].element != element || nodes[i].parent == NODE_NONE)
            continue;
        uint32_t top = i;
        while (nodes[top].parent != NODE_NONE)
            top = nodes[top].parent;
        if (top == root)
            return nodes[i].parent;
    }
    return NODE_NONE;
}

/* A fault that never fires: whose decision was it? */
static void explain_unfired(const struct walk *w, struct fault fault, struct explanation *out)
{
    const struct search *s = w->s;
    uid missing = fault.point;
    while (uid_parent(s->names, missing) != UID_NONE &&
           reached_at(w, uid_parent(s->names, missing)) == w->reached.n)
        missing = uid_parent(s->names, missing);
    out->kind = EXPLAIN_IMPOSSIBLE;
    out->fault = fault;
    out->handler = uid_parent(s->names, missing);
    uint32_t at = reached_at(w, out->handler);
    bool happy = search_happy(s, missing);
    out->policy = missing != fault.point ? POLICY_UNREACHABLE
                  : happy                ? POLICY_EXCLUSION
                                         : POLICY_INCLUSION;
    if (!w->details || at == w->reached.n)
        return;
    uint32_t element = s->names->uids.at[missing].element;
    if (happy) {
        deciding_call(w, out->handler, w->reached.at[at].end, element, out);
        return;
    }
    uint32_t example = example_of(s, out->handler, element);
    if (example != NODE_NONE)
        last_failure(w, out->handler, example, out);
}

/* Everything fires and every edge was seen: which run showed the last fault's edge, and how? */
static void explain_redundant(const struct walk *w, struct explanation *out)
{
    const struct search *s = w->s;
    out->kind = EXPLAIN_REDUNDANT;
    if (w->fired.n == 0)
        return;
    struct walk_fault last = w->fired.at[0]; /* the one whose edge was seen last decides */
    for (uint32_t i = 1; i < w->fired.n; i++)
        if (s->tree.nodes.at[w->fired.at[i].edge].run >= s->tree.nodes.at[last.edge].run)
            last = w->fired.at[i];
    out->fault = last.fault;
    out->run = s->tree.nodes.at[last.edge].run;
    out->handler = uid_parent(s->names, last.fault.point);
    out->policy = POLICY_PROPAGATION;
    /* or was that very call, or one that counts as the same, failed there? */
    for (faultload f = s->runs.at[out->run].faultload; f != FAULTLOAD_EMPTY;
         f = s->fl->rows.at[f].rest) {
        uid point = s->fl->rows.at[f].last.point;
        bool same_handler = tree_key(&s->tree, s->names, uid_parent(s->names, point)) ==
                            tree_key(&s->tree, s->names, out->handler);
        const struct element *a = uid_element(s->names, point);
        const struct element *b = uid_element(s->names, last.fault.point);
        if (same_handler && a->service == b->service && a->interface == b->interface &&
            (a->n == b->n || a->n == N_ANY || b->n == N_ANY))
            out->policy = POLICY_ENCAPSULATION;
    }
}

/* Nobody has seen what comes now: because of time, of a reduction, or because it is still open. */
static void explain_stopped(const struct walk *w, struct explanation *out)
{
    const struct search *s = w->s;
    const struct tree_node *edge = &s->tree.nodes.at[w->stop];
    uint8_t left_out = s->tree.nodes.at[w->stop_prefix].left_out;
    enum reduction why = REDUCTIONS;
    if (left_out && (w->stop == NODE_NONE || edge->state == EDGE_NEW))
        why = (enum reduction)(left_out - 1); /* skipped, and not kept */
    else if (w->stop != NODE_NONE && edge->state == EDGE_SKIPPED)
        why = (enum reduction)edge->why;
    else if (outcome_ok(w->stop_label) && ASSUMES(s, REDUCE_T_WAY))
        why = REDUCE_T_WAY; /* the rows had a further fault here */
    else if (w->stop_label == OUT_NONE && ASSUMES(s, REDUCE_RETRIES))
        why = REDUCE_RETRIES; /* a try that was never let through */
    bool timing = w->timing || edge->state == EDGE_MISSED || edge->state == EDGE_LATE ||
                  edge->state == EDGE_UNKNOWN;
    out->kind = timing ? EXPLAIN_TIMING : why != REDUCTIONS ? EXPLAIN_REDUCED : EXPLAIN_OPEN;
    if (why != REDUCTIONS)
        out->reduction = reduction_rows[why].name;
    out->handler = w->stop_handler;
    out->outcome = w->stop_label;
    out->after = w->stop_call;
}

static void explain_walk(struct walk *w, struct explanation *out)
{
    const struct search *s = w->s;
    follow(w, s->tree.nodes.n > 1 ? s->tree.nodes.at[1].element : UID_NONE);
    if (w->stop_handler != UID_NONE) {
        explain_stopped(w, out);
        return;
    }
    for (faultload f = w->f; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        struct fault fault = s->fl->rows.at[f].last;
        bool whole = fault_service(s->names, fault).row, fired = false;
        for (uint32_t i = 0; i < w->fired.n; i++)
            fired |= w->fired.at[i].fault.point == fault.point ||
                     (whole && uid_element(s->names, w->fired.at[i].fault.point)->service ==
                                   uid_element(s->names, fault.point)->service);
        if (!fired && whole)
            fault.point = seen_point(s, fault); /* one of the calls that it would fail */
        if (!fired) {
            explain_unfired(w, fault, out);
            return;
        }
    }
    explain_redundant(w, out);
}

void explain_predict(const struct search *s, faultload f, bool details, struct explanation *out)
{
    *out = (struct explanation){.run = UINT32_MAX};
    struct walk w = {.s = s, .f = f, .details = details};
    if (!plainly_wrong(s, f, out))
        explain_walk(&w, out);
    vec_deinit(&w.fired);
    vec_deinit(&w.reached);
}

void search_explain(const struct search *s, faultload f, struct explanation *out)
{
    uint32_t run = 0;
    while (run < s->runs.n &&
           !(s->runs.at[run].fired && faultload_eq(s->fl, s->runs.at[run].faultload, f)))
        run++;
    if (run < s->runs.n)
        *out = (struct explanation){.kind = EXPLAIN_RUN, .run = run};
    else
        explain_predict(s, f, true, out);
    if (out->run != UINT32_MAX)
        out->run_faultload = s->runs.at[out->run].faultload;
}

/* ---- what people mean ---- */

/* What people mean who write a faultload by hand, or copy the name of a call from a report: the
 * points that were seen and match. */

struct points {
    VEC(uid) list;
};

/* `#*` is a point of its own; what is at most one of several siblings is one each. */
static void find_points(const struct search *s, const struct pattern *p, struct points *out)
{
    struct names *names = s->names;
    bool all = p->steps.at[p->steps.n - 1].element.n == N_ANY;
    uint32_t n = names->uids.n; /* asking for `all` makes more of them */
    for (uid u = 1; u < n; u++) {
        if (!search_point(s, u) || !pattern_matches(p, names, u))
            continue;
        uid point = all ? names_uid_all(names, u) : u;
        bool known = false;
        for (uint32_t i = 0; i < out->list.n && !known; i++)
            known = out->list.at[i] == point;
        if (!known)
            vec_push(&out->list, point);
    }
}

/* The points of one fault. A full name that was not seen, of calls that were, is a point as well:
 * it is explained that nobody saw it. */
static int read_points(const struct search *s, const struct vocabulary *v, uid request, slice text,
                       mode *m, struct points *out, struct err *e)
{
    struct pattern p = {0};
    struct fault other;
    uid point;
    int kind = fault_parse_other(s->names, text, &other, e);
    int status = kind < 0 ? -1 : pattern_parse(&p, v, PATTERN_FAULT, text, e);
    if (!status)
        status = pattern_seen(&p, s->names, e) ? -1 : 0;
    if (!status && !kind) {
        *m = other.mode;
        vec_push(&out->list, other.point);
    } else if (!status) {
        *m = p.mode;
        pattern_anchor(&p, s->names, request);
        find_points(s, &p, out);
    }
    pattern_deinit(&p);
    if (status || out->list.n)
        return status;
    slice rest = text, word = {0};
    while (slice_word(&rest, &word) && !slice_is(word, ":"))
        ;
    if (uid_parse(s->names, (slice){text.p, (size_t)(word.p - text.p)}, &point, e))
        return -1;
    vec_push(&out->list, point);
    return 0;
}

/* Each of the faultloads with each of the points. */
static int combine(const struct search *s, const struct points *points, mode m,
                   faultload out[MEANT_MAX], uint32_t *n, struct err *e)
{
    faultload all[MEANT_MAX];
    uint32_t made = 0;
    for (uint32_t i = 0; i < *n; i++)
        for (uint32_t k = 0; k < points->list.n; k++) {
            uid point = points->list.at[k];
            if (faultload_at(s->fl, out[i], point) != MODE_NONE)
                continue; /* it can fail in only one way at a time */
            if (made == MEANT_MAX)
                return err_set(e, 0, 0,
                               "this matches more than %d combinations of calls; name the "
                               "callers, as in \"CALLER > CALL : MODE\"",
                               MEANT_MAX);
            all[made++] = faultload_extend(s->fl, out[i], (struct fault){point, m});
        }
    if (!made)
        return err_set(e, 0, 0,
                       "two faults at one call: a call can fail in only one way at a time");
    memcpy(out, all, made * sizeof *all);
    *n = made;
    return 0;
}

int search_meant(const struct search *s, const struct vocabulary *v, uid request, slice text,
                 faultload out[MEANT_MAX], uint32_t *n, struct err *e)
{
    slice fault;
    int status = 0;
    *n = 1;
    out[0] = FAULTLOAD_EMPTY;
    text = slice_trim(text);
    if (slice_is(text, "none"))
        return 0;
    if (!text.n)
        return err_set(e, 0, 0, "write a faultload as \"CALL : MODE\" or \"none\"");
    while (!status && pattern_cut(&text, &fault)) {
        struct points points = {0};
        mode m = MODE_NONE;
        status = read_points(s, v, request, fault, &m, &points, e);
        if (!status)
            status = combine(s, &points, m, out, n, e);
        vec_deinit(&points.list);
    }
    return status;
}
