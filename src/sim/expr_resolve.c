/* SPDX-License-Identifier: Apache-2.0
 *
 * References in values and conditions. They are resolved when a file is loaded, so that a name that
 * does not exist is an error of the file and not of a run. */
#include "sim/sim_int.h"

static const char *const answer_fields[ANS_FIELDS] = {
    "status", "body", "ok", "failed", "error", "conn", "timeout", "json", "called"};

struct expr *expr_new(const struct scope *scope, enum expr_op op, uint32_t n)
{
    struct expr *ex = arena_zero(&scope->sim->arena, sizeof *ex);
    ex->op = op;
    ex->n = n;
    ex->part = n ? arena_zero(&scope->sim->arena, n * sizeof *ex->part) : NULL;
    return ex;
}

struct expr *expr_const(const struct scope *scope, const struct node *value)
{
    struct expr *ex = expr_new(scope, EX_CONST, 0);
    ex->constant = value;
    return ex;
}

struct expr *expr_text(const struct scope *scope, slice text)
{
    return expr_const(scope, node_str(&scope->sim->arena, text));
}

static struct expr *expr_ref(const struct scope *scope, struct ref ref)
{
    struct expr *ex = expr_new(scope, EX_REF, 0);
    ex->ref = ref;
    return ex;
}

int expr_fail(const struct source *src, const char *what, slice word)
{
    return err_set(src->err, src->node->line, src->node->col, "%s \"%.*s\"", what, SHORT(word));
}

/* Says that `word` is unknown, and what of the handler's names it may have been meant to be. */
static int fail_name(const struct source *src, slice word)
{
    const struct scope *scope = src->scope;
    const char *words[64];
    size_t n = 0;
    static const char *const general[] = {"payload", "state", "data", "random", "time"};
    static const char *const general_scenario[] = {"status", "body", "faults", "data"};
    const char *const *more = scope->endpoint ? general : general_scenario;
    for (size_t i = 0; i < (scope->endpoint ? 5u : 4u); i++)
        words[n++] = more[i];
    for (uint32_t i = 0; scope->endpoint && i < scope->endpoint->n_slots && n < 64; i++) {
        slice name = scope->endpoint->slot[i].name;
        words[n++] = arena_copy(&scope->sim->arena, name.p, name.n);
    }
    return err_set(src->err, src->node->line, src->node->col, "nothing here is called \"%.*s\"%s",
                   SHORT(word), err_hint(word, words, n).text);
}

static int resolve_state(const struct source *src, uint32_t service, slice name, slice path,
                         struct expr **out)
{
    const struct service *s = &src->scope->sim->service[service];
    uint32_t slot = state_find(s, name);
    if (slot == SLOT_NONE)
        return err_set(src->err, src->node->line, src->node->col,
                       "service \"%.*s\" has no state \"%.*s\": add it with an initial value "
                       "under \"state:\"",
                       SLICE_ARG(s->name), SHORT(name));
    *out =
        expr_ref(src->scope,
                 (struct ref){.kind = REF_STATE, .service = service, .slot = slot, .path = path});
    return 0;
}

static int resolve_answer(const struct source *src, uint32_t slot, slice field, slice path,
                          struct expr **out)
{
    for (enum answer_field f = 0; f < ANS_FIELDS; f++)
        if (slice_is(field, answer_fields[f])) {
            *out =
                expr_ref(src->scope,
                         (struct ref){.kind = REF_ANSWER, .slot = slot, .field = f, .path = path});
            return 0;
        }
    return err_set(
        src->err, src->node->line, src->node->col,
        "an answer has no \"%.*s\"; it has status, body, ok, failed, error, conn, timeout, "
        "json and called%s",
        SHORT(field), err_hint(field, answer_fields, ANS_FIELDS).text);
}

static int resolve_slot(const struct source *src, slice head, slice tail, slice path,
                        struct expr **out)
{
    const struct endpoint *ep = src->scope->endpoint;
    for (uint32_t i = 0; i < ep->n_slots; i++) {
        if (!slice_eq(ep->slot[i].name, head))
            continue;
        if (ep->slot[i].answer && !tail.p)
            return err_set(
                src->err, src->node->line, src->node->col,
                "\"%.*s\" is an answer: say which part, for example %.*s.ok or %.*s.body",
                SLICE_ARG(head), SLICE_ARG(head), SLICE_ARG(head));
        if (ep->slot[i].answer)
            return resolve_answer(src, i, tail, path, out);
        if (tail.p)
            return err_set(src->err, src->node->line, src->node->col,
                           "\"%.*s\" is a value, not an answer: it has no \".%.*s\"",
                           SLICE_ARG(head), SHORT(tail));
        *out = expr_ref(src->scope, (struct ref){.kind = REF_VALUE, .slot = i, .path = path});
        return 0;
    }
    return fail_name(src, head);
}

/* Names that exist in a scenario's expectations only. */
static int resolve_scenario(const struct source *src, slice head, slice tail, slice path,
                            struct expr **out)
{
    if (slice_is(head, "faults")) {
        struct ref ref = {.kind = REF_FAULTS, .service = UINT32_MAX, .path = path};
        if (tail.p && (ref.service = service_find(src->scope->sim, tail)) == UINT32_MAX)
            return expr_fail(src, "there is no service", tail);
        *out = expr_ref(src->scope, ref);
        return 0;
    }
    slice word, rest = tail;
    uint32_t service = service_find(src->scope->sim, head);
    if (service == UINT32_MAX || !slice_cut(&rest, '.', &word) || !slice_is(word, "state") ||
        !rest.p)
        return fail_name(src, head);
    return resolve_state(src, service, rest, path, out);
}

static int resolve_data(const struct source *src, slice name, slice path, struct expr **out)
{
    const struct node *value = name.p ? node_get(src->scope->sim->data, name) : NULL;
    if (!value)
        return expr_fail(src, "under \"data:\" there is no", name);
    *out = expr_const(src->scope, node_at(value, path));
    return 0;
}

/* References of one word. */
static const struct {
    const char *word;
    enum ref_kind kind;
    bool in_handler; /* or in a scenario */
} plain[] = {
    {"payload", REF_PAYLOAD, true}, {"random", REF_RANDOM, true}, {"time", REF_TIME, true},
    {"status", REF_STATUS, false},  {"body", REF_BODY, false},
};

/* 0, -1 with an error, or 1 when the head is none of those words. */
static int resolve_plain(const struct source *src, slice text, slice head, slice tail, slice path,
                         struct expr **out)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].in_handler != (src->scope->endpoint != NULL) || !slice_is(head, plain[i].word))
            continue;
        if (tail.p)
            return expr_fail(src, "fields are reached with \"/\", not with \".\":", text);
        if (plain[i].kind == REF_RANDOM || plain[i].kind == REF_TIME)
            src->scope->sim->random = true;
        *out = expr_ref(src->scope, (struct ref){.kind = plain[i].kind, .path = path});
        return 0;
    }
    return 1;
}

static int resolve_url(const struct source *src, slice name, struct expr **out)
{
    if (service_find(src->scope->sim, name) == UINT32_MAX)
        return expr_fail(src, "there is no service", name);
    struct buf url = BUF_INIT(4096);
    buf_addf(&url, "http://%.*s", SLICE_ARG(name));
    *out = expr_text(src->scope, slice_copy(&src->scope->sim->arena, buf_slice(&url)));
    buf_deinit(&url);
    return 0;
}

int expr_resolve(const struct source *src, slice text, struct expr **out)
{
    const struct scope *scope = src->scope;
    slice path = text, head, tail;
    if (slice_starts(text, SLICE("url:")))
        return resolve_url(src, slice_from(text, 4), out);
    if (!slice_cut(&path, '/', &tail) || !slice_cut(&tail, '.', &head) || head.n == 0)
        return expr_fail(src, "a name was expected, not", text);
    if (slice_is(head, "data"))
        return resolve_data(src, tail, path, out);
    int found = resolve_plain(src, text, head, tail, path, out);
    if (found != 1)
        return found;
    if (!scope->endpoint)
        return resolve_scenario(src, head, tail, path, out);
    if (slice_is(head, "state") && tail.p)
        return resolve_state(src, scope->service, tail, path, out);
    return resolve_slot(src, head, tail, path, out);
}
