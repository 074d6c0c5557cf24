/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan.h"

void plan_init(struct plan *plan, struct names *names)
{
    *plan = (struct plan){.star = names_sym(names, SLICE("*"))};
}

void plan_deinit(struct plan *plan)
{
    vec_deinit(&plan->exact);
    vec_deinit(&plan->set);
    vec_deinit(&plan->steps);
    vec_deinit(&plan->patterns);
}

void plan_set(struct plan *plan, const struct names *names, const struct faultloads *fl,
              faultload f)
{
    for (uint32_t i = 0; i < plan->set.n; i++)
        plan->exact.at[plan->set.at[i]] = MODE_NONE;
    plan->set.n = 0;
    plan->any_n = false;
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest) {
        struct fault fault = fl->rows.at[f].last;
        while (plan->exact.n <= fault.point)
            vec_push(&plan->exact, MODE_NONE);
        plan->exact.at[fault.point] = fault.mode;
        vec_push(&plan->set, fault.point);
        plan->any_n |= uid_element(names, fault.point)->n == N_ANY;
    }
}

/* A step that is one word before `>`: `*` is any path, anything else a service, whatever is called
 * of it. */
static bool parse_short_step(struct plan *plan, struct names *names, slice *text)
{
    slice rest = *text, word, next;
    if (!slice_word(&rest, &word))
        return false;
    slice after = rest;
    if (!slice_word(&after, &next) || !slice_is(next, ">"))
        return false;
    struct plan_step step = {.any_path = slice_is(word, "*")};
    if (!step.any_path)
        step.element = (struct element){
            .service = names_sym(names, word), .interface = plan->star, .n = N_ANY};
    vec_push(&plan->steps, step);
    *text = rest;
    return true;
}

static int parse_step(struct plan *plan, struct names *names, slice *text, struct err *e)
{
    struct plan_step step = {0};
    if (parse_short_step(plan, names, text))
        return 0;
    if (element_parse(names, text, &step.element, e))
        return -1;
    vec_push(&plan->steps, step);
    return 0;
}

/* The point that the text is the canonical name of; UID_NONE when it is not one below the request.
 */
static uid exact_point(struct names *names, uid request, slice text)
{
    struct err ignored = {0};
    uid u;
    slice rest = text, word;
    while (slice_word(&rest, &word) && !slice_is(word, ":"))
        if (slice_find(word, '*') < word.n && !slice_is(word, "#*"))
            return UID_NONE;
    if (request == UID_NONE ||
        uid_parse(names, (slice){text.p, (size_t)(word.p - text.p)}, &u, &ignored))
        return UID_NONE;
    for (uid above = uid_parent(names, u); above != UID_NONE; above = uid_parent(names, above))
        if (uid_element(names, above)->n == N_ANY)
            return UID_NONE;
    return u != request && uid_contains(names, request, u) ? u : UID_NONE;
}

int plan_add(struct plan *plan, struct names *names, uid request, slice text, struct err *e)
{
    slice whole = text;
    struct plan_pattern pattern = {.first = plan->steps.n};
    slice word;
    vec_push(&plan->steps, (struct plan_step){.any_path = true});
    do {
        if (parse_step(plan, names, &text, e))
            return -1;
        if (!slice_word(&text, &word))
            return err_set(e, 0, 0, "a fault is written \"CALL : MODE\"; \" : MODE\" is missing");
    } while (slice_is(word, ">"));
    if (!slice_is(word, ":"))
        return err_set(e, 0, 0, "\":\" and a mode were expected, not \"%.*s\"",
                       (int)(word.n < 60 ? word.n : 60), word.p);
    if (!slice_word(&text, &word))
        return err_set(e, 0, 0, "the mode is missing after \":\"");
    if (mode_parse(word, &pattern.mode, e))
        return -1;
    if (slice_trim(text).n)
        return err_set(e, 0, 0, "one fault at a time: give \"%.*s\" as a fault of its own",
                       (int)(text.n < 60 ? text.n : 60), text.p);
    pattern.n = plan->steps.n - pattern.first;
    pattern.exact = exact_point(names, request, whole);
    vec_push(&plan->patterns, pattern);
    return 0;
}

/* Equal, or alike up to a `*` at the end of the pattern. */
static bool text_matches(const struct names *names, sym pattern, sym text)
{
    if (pattern == text)
        return true;
    slice p = names_text(names, pattern);
    return p.n > 0 && p.p[p.n - 1] == '*' &&
           slice_starts(names_text(names, text), (slice){p.p, p.n - 1});
}

static bool element_matches(const struct names *names, const struct element *pattern,
                            const struct element *e)
{
    return text_matches(names, pattern->service, e->service) &&
           text_matches(names, pattern->interface, e->interface) &&
           (!pattern->payload || pattern->payload == e->payload) &&
           (!pattern->before || pattern->before == e->before) &&
           (pattern->n == N_ANY || pattern->n == e->n);
}

/* Does a pattern of n steps match the path u? Read from the last step upwards; when a step does not
 * match, the lowest `*` so far takes one element more. */
static bool path_matches(const struct names *names, const struct plan_step *steps, uint32_t n,
                         uid u)
{
    uint32_t star = UINT32_MAX;
    uid star_u = UID_NONE;
    for (;;) {
        if (n > 0 && steps[n - 1].any_path) {
            star = --n;
            star_u = u;
        } else if (u == UID_NONE) {
            return n == 0;
        } else if (n > 0 && element_matches(names, &steps[n - 1].element, uid_element(names, u))) {
            n--;
            u = uid_parent(names, u);
        } else if (star != UINT32_MAX) {
            u = star_u = uid_parent(names, star_u);
            n = star;
        } else {
            return false;
        }
    }
}

static mode exact_at(const struct plan *plan, uid u)
{
    return u < plan->exact.n ? plan->exact.at[u] : MODE_NONE;
}

mode plan_find(struct plan *plan, struct names *names, uid u, uid *by)
{
    *by = u;
    mode m = exact_at(plan, u);
    if (m != MODE_NONE)
        return m;
    if (plan->any_n) {
        uid all = names_uid_all(names, u);
        m = exact_at(plan, all);
        if (m != MODE_NONE) {
            *by = all;
            return m;
        }
    }
    for (uint32_t i = 0; i < plan->patterns.n; i++) {
        struct plan_pattern *p = &plan->patterns.at[i];
        bool hit = p->exact != UID_NONE ? u == p->exact || names_uid_all(names, u) == p->exact
                                        : path_matches(names, &plan->steps.at[p->first], p->n, u);
        if (hit) {
            p->fired++;
            return p->mode;
        }
    }
    return MODE_NONE;
}
