/* SPDX-License-Identifier: Apache-2.0
 *
 * Oracles about what the client reads in a success.
 *
 * hidden-error: a success that is none.
 *   in words   the body speaks of an error that the fault-free one does not know
 *   by absence the client gets another body, and nothing was asked instead, for an error of a
 *              dependency without which, at other errors, the request fails: at the end
 * lost-value: in a success something is null, empty or missing that never is without faults, and
 *   nothing in the answer says so.
 *
 * 1. Data that another service gave instead may have any text: then only keys count.
 * 2. What is said of a faultload is not said again of larger ones.
 * 3. Whatever else is new or different in the answer, but for numbers, may be what says that a value
 *    was lost: then lost-value is silent. So it never speaks where hidden-error speaks of words.
 * 4. An answer that means "there is none" (404) is no failure, and neither is one that was
 *    spoilt on the way: nobody could know that a value was lost.
 * 5. Of a lost value the call to blame is the one whose failure was absorbed: faults below it show
 *    the same. */
#include <assert.h>
#include <stdio.h>

#include "base/hash.h"
#include "data/json.h"
#include "data/node.h"
#include "judge/oracle_int.h"

/* ---- words of errors in bodies. A body is walked together with the one it is compared with, so
 * that only what is new or has changed counts ---- */

static const struct word error_words[] = {
    {"error", NULL},      {"errors", NULL},   {"exception", NULL}, {"exceptions", NULL},
    {"failed", NULL},     {"failure", NULL},  {"failures", NULL},  {"alert", NULL},
    {"alerts", NULL},     {"cannot", NULL},   {"not", "could"},    {"unavailable", NULL},
    {"available", "not"}, {"timeout", NULL},  {"out", "timed"},    {"traceback", NULL},
    {"stacktrace", NULL}, {"trace", "stack"}, {NULL, NULL},
};

enum { SEARCH_MAX = 1000 }; /* keys of a map among which one is looked for */

struct walk {
    slice was; /* the other body, as text */
    bool values;
    slice key; /* what was found: under which key, if any, and what */
    const struct node *value;
};

static bool text_within(slice text, slice all)
{
    return text.n == 0 || (all.n && memmem(all.p, all.n, text.p, text.n));
}

/* Is there something under a key that says more than "nothing to report"? A number may be a limit
 * or a count, and is none. */
static bool says_something(const struct node *node)
{
    if (!node)
        return false;
    switch (node->type) {
    case NODE_BOOL: return node->boolean;
    case NODE_STR: return node->text.n > 0;
    case NODE_LIST:
    case NODE_MAP: return node->n > 0;
    default: return false;
    }
}

/* Recursion is bounded by what node_parse_json accepts. */
static bool walk_node(struct walk *w, slice key, const struct node *now, const struct node *was)
{
    switch (now->type) {
    case NODE_STR:
        w->key = key;
        w->value = now;
        return w->values && !(was && node_eq(now, was)) && word_find(error_words, now->text) &&
               !text_within(now->text, w->was);
    case NODE_LIST:
        for (uint32_t i = 0; i < now->n; i++) {
            bool known = was && was->type == NODE_LIST && i < was->n;
            if (walk_node(w, key, now->list[i], known ? was->list[i] : NULL))
                return true;
        }
        return false;
    case NODE_MAP:
        for (uint32_t i = 0; i < now->n; i++) {
            const struct node *value = now->map[i].value, *old = NULL;
            bool moved = value->type == NODE_STR && text_within(value->text, w->was);
            w->key = now->map[i].key;
            w->value = value;
            /* what was there: both are mostly of the same shape */
            if (was && was->type == NODE_MAP && i < was->n && slice_eq(was->map[i].key, w->key))
                old = was->map[i].value;
            else if (was && was->type == NODE_MAP && was->n <= SEARCH_MAX)
                old = node_get(was, w->key);
            if (says_something(value) && !says_something(old) && !moved &&
                word_find(error_words, w->key))
                return true;
            if (walk_node(w, now->map[i].key, value, old))
                return true;
        }
        return false;
    default: return false;
    }
}

/* For a sentence: one line, no half characters. */
static void quote(const struct buf *text, struct body_error *out)
{
    static const char more[] = "...";
    slice s = buf_slice(text);
    size_t n = s.n, room = BODY_QUOTE_MAX - sizeof more;
    if (n > room)
        for (n = room; n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        out->quote[i] = (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? ' ' : s.p[i];
    memcpy(out->quote + n, n < s.n ? more : "", n < s.n ? sizeof more : 1);
}

bool body_find_error(const struct mask *was, slice now, bool values, struct body_error *out)
{
    struct arena a = {0};
    struct walk w = {.was = was->body, .values = values};
    struct buf text = BUF_INIT(BODY_QUOTE_MAX * 2);
    const struct node *root;
    if (!word_find(error_words, now))
        return false;
    if (!was->json || node_parse_json(&a, now, &root)) {
        /* texts: the first word of errors that the other does not have at all */
        const struct word *found =
            values ? word_find(error_words, mask_apply_text(was, &a, now)) : NULL;
        struct word same[] = {found ? *found : (struct word){NULL, NULL}, {NULL, NULL}};
        if (found && !word_find(same, was->body))
            buf_addf(&text, "%s%s%s", found->before ? found->before : "", found->before ? " " : "",
                     found->word);
    } else if (walk_node(&w, (slice){NULL, 0}, mask_apply(was, &a, (slice){0}, root), was->json)) {
        if (w.key.n) {
            buf_add_json_string(&text, w.key);
            buf_adds(&text, ": ");
        }
        node_print(w.value, &text);
    }
    bool found = text.n > 0;
    if (found)
        quote(&text, out);
    buf_deinit(&text);
    arena_deinit(&a);
    return found;
}

/* ---- the fault to blame ---- */

/* The last fault below a request: those before it were needed for its call to be made, or the
 * faultload is not the smallest. CALL_NONE: there is none. */
static uint32_t request_fault(const struct view *v, const struct request *r)
{
    uint32_t i = v->n;
    while (i-- > 1)
        if (v->calls[i].mode != MODE_NONE && view_below(v, r->call, i))
            return i;
    return CALL_NONE;
}

/* Did a service that is not asked without faults, whatever the numbers of calls, give something to
 * this request? */
static bool request_elsewhere(const struct view *v, const struct request *r)
{
    const struct trace *calm = &v->judge->calm.trace;
    for (uint32_t i = r->call + 1; i < v->n; i++) {
        if (v->twin.at[i] != CALL_NONE || call_failed(&v->calls[i]) || !view_below(v, r->call, i))
            continue;
        uint32_t k = 0;
        while (k < calm->calls.n && !uid_alike(v->names, calm->calls.at[k].uid, v->calls[i].uid))
            k++;
        if (k == calm->calls.n)
            return true;
    }
    return false;
}

/* ---- hidden-error, in words ---- */

void oracle_hidden(const struct view *v)
{
    struct judge *j = v->judge;
    for (uint32_t i = 0; i < v->requests.n; i++) {
        const struct request *r = &v->requests.at[i];
        struct body_error error;
        if (r->body.n == 0 || !outcome_ok(r->status) || !r->usual || !outcome_ok(r->usual->status))
            continue;
        bool values = !request_elsewhere(v, r);
        uint32_t at = request_fault(v, r);
        if (at == CALL_NONE)
            continue;
        /* most runs of a campaign end with one of a few bodies: what was found is remembered */
        uint64_t hash = hash_slice(r->body);
        hash = hash_mix(hash, (uint64_t)r->usual->request << 1 | values) | 1;
        struct body_memory *m = &j->bodies[hash % BODIES_REMEMBERED];
        if (m->hash != hash)
            *m = (struct body_memory){hash,
                                      body_find_error(&r->usual->mask, r->body, values, &error)};
        if (!m->speaks || request_alike(r) != ALIKE_OTHER ||
            remark_smaller(j, ORACLE_HIDDEN_ERROR, v->run->faultload))
            continue;
        const struct call *c = &v->calls[at];
        if (!remark_due(v, ORACLE_HIDDEN_ERROR, c->uid) ||
            !body_find_error(&r->usual->mask, r->body, values, &error))
            continue;
        struct witness witness[] = {{at, "failed"}, {r->call, "answered with success"}};
        remark_write(v, ORACLE_HIDDEN_ERROR, c->uid, witness, 2,
                     "the client gets %s although %s %s; only the body mentions an error: %s",
                     say_outcome(j, r->status), say_name(j, c->uid),
                     call_failed(c) ? "failed" : "did not answer as it should", error.quote);
    }
}

/* ---- hidden-error, by absence ---- */

static enum contrast hidden_side(const struct judge *j, const struct reaction *r)
{
    if (!r->ok)
        return CONTRAST_SHOWS;
    bool silent = r->instead == UID_NONE && reaction_alike(j, r) == ALIKE_OTHER;
    return silent ? CONTRAST_SILENT : CONTRAST_NEITHER;
}

static void tell_absent(struct judge *j, const struct reaction *hidden,
                        const struct reaction *shown)
{
    remark_conclude(j, ORACLE_HIDDEN_ERROR, hidden->group, hidden,
                    "the client gets %s with a different body when %s answers %s, but %s when the "
                    "latter answers %s: something it needs is missing, and nothing says so",
                    say_outcome(j, hidden->status), say_name(j, hidden->call),
                    say_outcome(j, hidden->label), say_outcome(j, shown->status),
                    say_outcome(j, shown->label));
}

void oracle_hidden_end(struct judge *j)
{
    remarks_drop_larger(j, ORACLE_HIDDEN_ERROR);
    contrast_find(j, hidden_side, tell_absent);
}

enum { LOST_SHOWN = 3, LOST_TEXT_MAX = 400 };

/* ---- lost-value ---- */

/* What became of an answer. */
struct losses {
    const struct texts *optional;
    struct buf path;  /* so far */
    struct buf what;  /* "/total is null, /items is empty" */
    struct buf where; /* "/total, /items" */
    uint32_t n;
    bool told; /* something in the answer may say so */
};

static void lose(struct losses *l, const char *how)
{
    if (pointers_mean(l->optional, buf_slice(&l->path)) || l->n++ >= LOST_SHOWN)
        return;
    slice path = l->path.n ? buf_slice(&l->path) : SLICE("the answer");
    const char *comma = l->what.n ? ", " : "";
    buf_addf(&l->what, "%s%.*s %s", comma, SLICE_ARG(path), how);
    buf_addf(&l->where, "%s%.*s", comma, SLICE_ARG(l->path.n ? path : SLICE("\"\"")));
}

static void find_losses(struct losses *l, const struct node *was, const struct node *now);

static void find_at(struct losses *l, slice key, const struct node *was, const struct node *now)
{
    size_t n = l->path.n;
    pointer_add(&l->path, key);
    find_losses(l, was, now);
    l->path.n = n;
}

static void find_losses(struct losses *l, const struct node *was, const struct node *now)
{
    if (node_is_blank(was) || node_is_blank(now)) {
        l->told |= !node_is_blank(now);
        if (!node_is_blank(was))
            lose(l, !now ? "is missing" : now->type == NODE_NULL ? "is null" : "is empty");
        return;
    }
    assert(was && now); /* what is not there is blank */
    if (was->type == NODE_LIST && now->type == NODE_LIST && now->n < was->n) {
        char how[64]; /* which of them are left is not known */
        snprintf(how, sizeof how, "has %u of %u elements", (unsigned)now->n, (unsigned)was->n);
        lose(l, how);
    } else if (was->type == NODE_LIST && now->type == NODE_LIST) {
        l->told |= now->n > was->n;
        for (uint32_t i = 0; i < was->n; i++)
            find_at(l, SLICE("*"), was->list[i], now->list[i]);
    } else if (was->type == NODE_MAP && now->type == NODE_MAP) {
        for (uint32_t i = 0; i < was->n; i++)
            find_at(l, was->map[i].key, was->map[i].value, node_get(now, was->map[i].key));
        for (uint32_t i = 0; i < now->n; i++)
            if (!node_get(was, now->map[i].key))
                find_at(l, now->map[i].key, NULL, now->map[i].value);
    } else {
        bool numbers = was->type == NODE_NUM && now->type == NODE_NUM;
        l->told |= !numbers && !node_eq(was, now);
    }
}

/* Is something lost in silence? */
static bool find_in_body(struct losses *l, const struct mask *m, slice body)
{
    struct arena a = {0};
    const struct node *now = NULL;
    l->path.n = l->what.n = l->where.n = l->n = 0;
    l->told = false;
    if (m->json && body.n && node_parse_json(&a, body, &now) == 0)
        find_losses(l, m->json, mask_apply(m, &a, (slice){0}, now));
    else if (m->body.n && body.n == 0 && mask_compare(m, body) == ALIKE_OTHER)
        lose(l, "is empty");
    arena_deinit(&a);
    return l->n && l->what.n && !l->told;
}

static struct losses losses_new(const struct judge *j)
{
    return (struct losses){.optional = &j->set->optional,
                           .path = BUF_INIT(LOST_TEXT_MAX),
                           .what = BUF_INIT(LOST_TEXT_MAX),
                           .where = BUF_INIT(LOST_TEXT_MAX)};
}

static void losses_deinit(struct losses *l)
{
    buf_deinit(&l->path);
    buf_deinit(&l->what);
    buf_deinit(&l->where);
}

/* ---- lost-value: whose fault? ---- */

/* Does an answer mean that there is no such thing? */
static bool means_none(outcome o)
{
    return o == OUTCOME(OUT_STATUS, 404) || o == OUTCOME(OUT_STATUS, 410) ||
           o == OUTCOME(OUT_GRPC, 5);
}

/* Did a call of this request find nothing that finds something without faults? */
static bool request_found_none(const struct view *v, const struct request *r)
{
    const struct trace *calm = &v->judge->calm.trace;
    for (uint32_t i = r->call + 1; i < v->n; i++) {
        uint32_t twin = v->twin.at[i];
        if (twin != CALL_NONE && means_none(v->calls[i].seen) &&
            !means_none(calm->calls.at[twin].seen) && view_below(v, r->call, i))
            return true;
    }
    return false;
}

/* The call to blame; CALL_NONE: nobody. It is the one whose failure its caller has absorbed: above
 * it all is well. If it is made without faults, too, no other fault was needed for it; so if
 * another call found nothing, that may be why, and is no failure. */
static uint32_t blamed(const struct view *v, const struct request *r)
{
    uint32_t at = request_fault(v, r);
    if (at == CALL_NONE || !call_failed(&v->calls[at]) ||
        (v->twin.at[at] != CALL_NONE && request_found_none(v, r)))
        return CALL_NONE;
    uint32_t handler = v->calls[at].parent;
    while (handler != r->call && handler != CALL_NONE && call_failed(&v->calls[handler])) {
        at = handler;
        handler = v->calls[at].parent;
    }
    return means_none(v->calls[at].seen) || request_elsewhere(v, r) ? CALL_NONE : at;
}

void oracle_lost(const struct view *v)
{
    struct judge *j = v->judge;
    if (v->run->flags & (RUN_HUNG | RUN_CRASHED | RUN_OUTLIVED))
        return;
    for (uint32_t i = 0; i < v->requests.n; i++) {
        const struct request *r = &v->requests.at[i];
        if (!r->told || !r->usual || !outcome_ok(r->status) || r->status != r->usual->status ||
            request_alike(r) != ALIKE_OTHER)
            continue;
        uint32_t at = blamed(v, r);
        if (at == CALL_NONE || remark_smaller(j, ORACLE_LOST_VALUE, v->run->faultload))
            continue;
        struct losses l = losses_new(j);
        uid call = v->calls[at].uid;
        if (find_in_body(&l, &r->usual->mask, r->body) && remark_due(v, ORACLE_LOST_VALUE, call)) {
            struct lost lost = {judge_path(j, call), r->usual->request,
                                intern_put(&j->pool, r->body)};
            uint32_t k = 0;
            while (k < j->lost.n && j->lost.at[k].path != lost.path)
                k++;
            if (k == j->lost.n)
                vec_push(&j->lost, lost);
            j->lost.at[k] = lost;
            struct witness witness[] = {{at, "failed"}, {r->call, "answered with success"}};
            remark_write(
                v, ORACLE_LOST_VALUE, call, witness, 2,
                "the client gets %s although %s failed: %s%s, unlike without faults, and nothing "
                "in the answer says why. If that is intended, set judge: { optional: [ %s ] }",
                say_outcome(j, r->status), say_name(j, call), buf_text(&l.what),
                l.n > LOST_SHOWN ? " and more" : "", buf_text(&l.where));
        }
        losses_deinit(&l);
    }
}

/* ---- lost-value, at the end ---- */

void oracle_lost_end(struct judge *j)
{
    remarks_drop_larger(j, ORACLE_LOST_VALUE);
    for (struct remark *r = NULL; (r = remark_next(j, ORACLE_LOST_VALUE, r));) {
        uid path = judge_path(j, r->evidence[0].call);
        uint32_t i = 0;
        while (i < j->lost.n && j->lost.at[i].path != path)
            i++;
        /* later runs without faults may have shown that it is missing at times */
        bool lost = i < j->lost.n && j->lost.at[i].body != INTERN_NONE;
        const struct usual_answer *usual =
            lost ? answers_find(&j->calm.usual, j->lost.at[i].request) : NULL;
        struct losses l = losses_new(j);
        lost = usual && find_in_body(&l, &usual->mask, intern_text(&j->pool, j->lost.at[i].body));
        losses_deinit(&l);
        /* has hidden-error something to say of this call? it knows more: that it is needed */
        for (uint32_t k = 0; k < j->said.n + j->late.n && lost; k++) {
            const struct remark *h = k < j->said.n ? &j->said.at[k] : &j->late.at[k - j->said.n];
            lost = !h->why || h->oracle != oracle_rows[ORACLE_HIDDEN_ERROR].name ||
                   !h->n_evidence || judge_path(j, h->evidence[0].call) != path;
        }
        if (!lost)
            r->why = NULL;
    }
}
