/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pattern.h"

enum { SERVICES_SHOWN = 300, NEAR_MOST = 1000 }; /* bytes; interfaces of a service */

/* Whoever makes the requests of a scenario that is a command stands in names like a service. */
static const char client[] = "client";

void pattern_deinit(struct pattern *p)
{
    vec_deinit(&p->steps);
}

/* ---- services ---- */

int vocabulary_check(const struct vocabulary *v, slice service, struct err *e)
{
    bool known = v->n_services == 0 || slice_is(service, client);
    for (uint32_t i = 0; i < v->n_services && !known; i++)
        known = slice_glob(service, slice_of(v->services[i]));
    if (known)
        return 0;
    struct hint near = err_hint(service, v->services, v->n_services);
    if (near.text[0])
        return err_set(e, 0, 0, "unknown service \"%.*s\"%s", SHORT(service), near.text);
    struct buf all = BUF_INIT(SERVICES_SHOWN);
    for (uint32_t i = 0; i < v->n_services; i++)
        buf_addf(&all, "%s%s", i ? ", " : "", v->services[i]);
    (void)err_set(e, 0, 0, "unknown service \"%.*s\"; known services: %s%s", SHORT(service),
                  buf_text(&all), all.full ? "..." : "");
    buf_deinit(&all);
    return -1;
}

/* ---- reading ---- */

/* A step that is one word: `*` is any path, anything else a service, whatever is called of it. At
 * the end `*` is any call. */
static bool parse_short_step(struct pattern *p, struct names *names, slice *text)
{
    slice rest = *text, word, next;
    if (!slice_word(&rest, &word) || slice_is(word, ">") || slice_is(word, ":"))
        return false;
    slice after = rest;
    bool more = slice_word(&after, &next);
    bool above = more && slice_is(next, ">");
    if (!above && more && !slice_is(next, ":"))
        return false;
    struct pattern_step step = {.any_path = above && slice_is(word, "*")};
    if (!step.any_path)
        step.element = (struct element){.service = names_sym(names, word),
                                        .interface = names_sym(names, SLICE("*")),
                                        .n = N_ANY};
    step.written = step.element.interface;
    vec_push(&p->steps, step);
    *text = rest;
    return true;
}

static int parse_step(struct pattern *p, const struct vocabulary *v, enum pattern_kind kind,
                      slice *text, struct err *e)
{
    struct pattern_step step = {0};
    const char *start = text->p;
    if (!parse_short_step(p, v->names, text)) {
        if (element_parse(v->names, text, &step.element, e))
            return -1;
        slice read = {start, (size_t)(text->p - start)};
        if (kind == PATTERN_CALLS && slice_find(read, '#') == read.n)
            step.element.n = N_ANY;
        struct buf made = BUF_INIT(1 << 16); /* the interface as those of calls are made */
        step.written = step.element.interface;
        interface_read(names_text(v->names, step.written), v->rules, &made);
        step.element.interface = names_sym(v->names, buf_slice(&made));
        buf_deinit(&made);
        vec_push(&p->steps, step);
    }
    const struct pattern_step *last = &vec_last(&p->steps);
    return last->any_path ? 0 : vocabulary_check(v, names_text(v->names, last->element.service), e);
}

static int parse_mode(struct pattern *p, slice *text, struct err *e)
{
    slice word;
    if (!slice_word(text, &word))
        return err_set(e, 0, 0, "the mode is missing after \":\"");
    if (mode_parse(word, &p->mode, e))
        return -1;
    slice more = slice_trim(*text);
    if (more.n)
        return err_set(e, 0, 0, "one fault at a time: put \" & \" before \"%.*s\"", SHORT(more));
    return 0;
}

bool pattern_cut(slice *faults, slice *fault)
{
    slice rest = *faults, word;
    if (!slice_trim(rest).n)
        return false;
    while (slice_word(&rest, &word) && !slice_is(word, "&"))
        ;
    bool more = slice_is(word, "&");
    size_t end = more ? (size_t)(word.p - faults->p) : faults->n;
    *fault = slice_trim((slice){faults->p, end});
    *faults = more ? rest : (slice){0};
    return true;
}

int pattern_parse(struct pattern *out, const struct vocabulary *v, enum pattern_kind kind,
                  slice text, struct err *e)
{
    slice word, rest = text, before = {0}, last = {0};
    bool has_mode = false;
    for (; slice_word(&rest, &word); last = word) {
        before = last;
        has_mode |= slice_is(word, ":");
    }
    /* "SERVICE down" is "SERVICE : refuse" */
    if (before.n && !slice_is(before, ":"))
        out->how = service_fault_read(last);
    if (out->how.row)
        text.n = (size_t)(last.p - text.p);
    if (kind == PATTERN_FAULT && !out->how.row && last.n && !has_mode)
        return err_set(e, 0, 0,
                       "a fault is written \"CALL : MODE\"; \" : MODE\" is missing in \"%.*s\"",
                       SHORT(text));
    vec_push(&out->steps, (struct pattern_step){.any_path = true});
    do {
        if (parse_step(out, v, kind, &text, e))
            return -1;
        if (!slice_word(&text, &word)) {
            if (out->how.row) {
                out->mode = out->how.row->http;
                return 0;
            }
            return kind == PATTERN_CALLS ? 0 : err_set(e, 0, 0, "a call is missing before \":\"");
        }
    } while (slice_is(word, ">"));
    if (!slice_is(word, ":"))
        return err_set(e, 0, 0, "expected \":\" and a mode, not \"%.*s\"", SHORT(word));
    return parse_mode(out, &text, e);
}

/* ---- matching ---- */

static bool text_matches(const struct names *names, sym pattern, slice text)
{
    slice p = names_text(names, pattern);
    return p.p == text.p || slice_glob(p, text); /* texts are kept once */
}

static bool step_names(const struct names *names, const struct pattern_step *step, slice service,
                       slice interface)
{
    const struct element *el = &step->element;
    if (!text_matches(names, el->service, service))
        return false;
    if (text_matches(names, el->interface, interface))
        return true;
    /* as it was written: the name in a report; of gRPC also as it is sent, with a slash before it */
    slice written = names_text(names, step->written);
    return step->written != el->interface &&
           (text_matches(names, step->written, interface) ||
            (written.n && written.p[0] == '/' && slice_glob(slice_from(written, 1), interface)));
}

static bool step_matches(const struct names *names, const struct pattern_step *step,
                         const struct element *e)
{
    const struct element *pattern = &step->element;
    return (!pattern->payload || pattern->payload == e->payload) &&
           (!pattern->before || pattern->before == e->before) &&
           (pattern->n == N_ANY || pattern->n == e->n) &&
           step_names(names, step, names_text(names, e->service), names_text(names, e->interface));
}

bool pattern_names(const struct pattern *p, const struct names *names, slice service,
                   slice interface)
{
    return step_names(names, &p->steps.at[p->steps.n - 1], service, interface);
}

/* No call was seen of this interface: which one of the service was meant? */
static int refuse_unseen(const struct pattern_step *step, const struct names *names, struct err *e)
{
    slice service = names_text(names, step->element.service);
    slice interface = names_text(names, step->element.interface);
    const char *seen[NEAR_MOST] = {0}; /* the interfaces of the service, each once */
    uint32_t n = 0;
    for (uint32_t i = 0; i < names->elements.n && n < NEAR_MOST; i++) {
        const struct element *el = &names->elements.at[i];
        const char *text = names_text(names, el->interface).p;
        bool known = !text_matches(names, step->element.service, names_text(names, el->service));
        for (uint32_t k = 0; k < n && !known; k++)
            known = seen[k] == text; /* texts are kept once */
        if (!known)
            seen[n++] = text;
    }
    const char *near = err_nearest(interface, seen, n);
    if (near)
        return err_set(e, 0, 0, "no call %.*s %.*s was seen; did you mean \"%.*s %s\"?",
                       SLICE_ARG(service), SLICE_ARG(interface), SLICE_ARG(service), near);
    if (n == 0) {
        (void)err_set(e, 0, 0, "no call %.*s %.*s was seen", SLICE_ARG(service),
                      SLICE_ARG(interface));
        return 1;
    }
    struct buf all = BUF_INIT(SERVICES_SHOWN);
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&all, "%s%s", i ? ", " : "", seen[i]);
    (void)err_set(e, 0, 0, "no call %.*s %.*s was seen; calls seen to %.*s: %s%s",
                  SLICE_ARG(service), SLICE_ARG(interface), SLICE_ARG(service), buf_text(&all),
                  all.full ? "..." : "");
    buf_deinit(&all);
    return -1;
}

int pattern_seen(const struct pattern *p, const struct names *names, struct err *e)
{
    for (uint32_t i = 0; i < p->steps.n; i++) {
        const struct pattern_step *step = &p->steps.at[i];
        bool seen = step->any_path;
        for (uint32_t k = 0; k < names->elements.n && !seen; k++) {
            const struct element *el = &names->elements.at[k];
            seen = step_names(names, step, names_text(names, el->service),
                              names_text(names, el->interface));
        }
        if (!seen)
            return refuse_unseen(step, names, e);
    }
    return 0;
}

void pattern_anchor(struct pattern *p, const struct names *names, uid request)
{
    struct pattern_step *steps = p->steps.at;
    if (request == UID_NONE || p->steps.n < 3 || steps[1].any_path ||
        !step_matches(names, &steps[1], uid_element(names, request)))
        return;
    memmove(&steps[0], &steps[1], --p->steps.n * sizeof *steps);
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
        } else if (n > 0 && step_matches(names, &steps[n - 1], uid_element(names, u))) {
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
