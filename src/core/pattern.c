/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pattern.h"

void pattern_deinit(struct pattern *p)
{
    vec_deinit(&p->steps);
}

/* ---- reading ---- */

/* A step that is one word: `*` is any path, anything else a service, whatever is called of it.
 * Before `>`; of calls also at the end, where `*` is any call. */
static bool parse_short_step(struct pattern *p, struct names *names, enum pattern_kind kind,
                             slice *text)
{
    slice rest = *text, word, next;
    if (!slice_word(&rest, &word) || slice_is(word, ">") || slice_is(word, ":"))
        return false;
    slice after = rest;
    bool more = slice_word(&after, &next);
    bool above = more && slice_is(next, ">");
    bool last = kind == PATTERN_CALLS && (!more || slice_is(next, ":"));
    if (!above && !last)
        return false;
    struct pattern_step step = {.any_path = above && slice_is(word, "*")};
    if (!step.any_path)
        step.element = (struct element){.service = names_sym(names, word),
                                        .interface = names_sym(names, SLICE("*")),
                                        .n = N_ANY};
    vec_push(&p->steps, step);
    *text = rest;
    return true;
}

static int parse_step(struct pattern *p, struct names *names, enum pattern_kind kind, slice *text,
                      struct err *e)
{
    struct pattern_step step = {0};
    const char *start = text->p;
    if (parse_short_step(p, names, kind, text))
        return 0;
    if (element_parse(names, text, &step.element, e))
        return -1;
    slice read = {start, (size_t)(text->p - start)};
    if (kind == PATTERN_CALLS && slice_find(read, '#') == read.n)
        step.element.n = N_ANY;
    vec_push(&p->steps, step);
    return 0;
}

static int parse_mode(struct pattern *p, slice *text, struct err *e)
{
    slice word;
    if (!slice_word(text, &word))
        return err_set(e, 0, 0, "the mode is missing after \":\"");
    if (mode_parse(word, &p->mode, e))
        return -1;
    if (slice_trim(*text).n)
        return err_set(e, 0, 0, "one fault at a time: give \"%.*s\" as a fault of its own",
                       (int)(text->n < 60 ? text->n : 60), text->p);
    return 0;
}

int pattern_parse(struct pattern *out, struct names *names, enum pattern_kind kind, slice text,
                  struct err *e)
{
    slice word;
    vec_push(&out->steps, (struct pattern_step){.any_path = true});
    do {
        if (parse_step(out, names, kind, &text, e))
            return -1;
        if (!slice_word(&text, &word)) {
            if (kind == PATTERN_CALLS)
                return 0;
            return err_set(e, 0, 0, "a fault is written \"CALL : MODE\"; \" : MODE\" is missing");
        }
    } while (slice_is(word, ">"));
    if (!slice_is(word, ":"))
        return err_set(e, 0, 0, "\":\" and a mode were expected, not \"%.*s\"",
                       (int)(word.n < 60 ? word.n : 60), word.p);
    return parse_mode(out, &text, e);
}

/* ---- matching ---- */

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

/* Read from the last step upwards; when a step does not match, the lowest `*` so far takes one
 * element more. */
bool pattern_matches(const struct pattern *p, const struct names *names, uid u)
{
    const struct pattern_step *steps = p->steps.at;
    uint32_t n = p->steps.n, star = UINT32_MAX;
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
