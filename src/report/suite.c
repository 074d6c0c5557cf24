/* SPDX-License-Identifier: Apache-2.0
 *
 * What a suite covers, told. The figures are a table with a row for each scenario; what somebody may
 * want to do something about is lists of sentences, which text and Markdown lay out. */
#include "report/suite.h"

#include "report/escape.h"
#include "report/words.h"

enum { ITEMS_SHOWN = 20, SCENARIOS_NAMED = 5, LISTED = 2000, SENTENCE_MAX = 2000, ROWS_MAX = 200 };

bool suite_of(const struct report_source *source, struct suite_coverage *out)
{
    *out = (struct suite_coverage){0};
    if (source->n < 2 || !source->suite)
        return false;
    source->suite(source->ctx, out);
    return true;
}

/* ---- sentences ---- */

struct telling {
    const struct report_source *source;
    const struct suite_coverage *suite;
};

/* Adds "cart, orders and 3 more", from names that come one by one. */
struct names_list {
    struct buf *out;
    uint32_t n, all;
};

static void add_name(struct names_list *l, const char *name)
{
    bool fits = l->all <= SCENARIOS_NAMED || l->n < SCENARIOS_NAMED - 1, last = l->n + 1 == l->all;
    if (fits)
        buf_addf(l->out, "%s%s", !l->n ? "" : last ? " and " : ", ", name);
    else if (last)
        buf_addf(l->out, " and %u more", (unsigned)(l->all - SCENARIOS_NAMED + 1));
    l->n++;
}

static void say_adds_nothing(const struct telling *t, uint32_t i, struct buf *out)
{
    const struct suite_scenario *s = &t->suite->scenarios.at[i];
    const struct summary *summary = t->source->scenarios[i];
    uint64_t wrong = summary_wrong(summary) + summary->more_findings;
    if (!s->adds_nothing)
        return;
    struct names_list by = {out, 0, s->n_shown_by};
    buf_addf(out, "%s: ", summary->scenario);
    for (uint32_t k = 0; k < s->n_shown_by; k++)
        add_name(&by, t->source->scenarios[s->shown_by[k]]->scenario);
    buf_addf(out, "%s %s all of it", s->shown_by_more ? " and others" : "",
             plural(s->n_shown_by, "shows", "show"));
    if (wrong)
        buf_addf(out, "; but it has %llu %s", (unsigned long long)wrong,
                 plural(wrong, "finding", "findings"));
}

static void say_service(const struct telling *t, uint32_t i, struct buf *out)
{
    buf_adds(out, t->suite->services.at[i]);
}

static void say_not_made(const struct telling *t, uint32_t i, struct buf *out)
{
    const struct known_way *w = &t->suite->not_made.at[i];
    buf_addf(out, "%.*s > %.*s", SLICE_ARG(w->caller), SLICE_ARG(w->service));
    if (w->interface.n)
        buf_addf(out, " %.*s", SLICE_ARG(w->interface));
}

static void say_not_failed(const struct telling *t, uint32_t i, struct buf *out)
{
    const struct suite_call *c = &t->suite->calls.at[i];
    struct names_list by = {out, 0, c->scenarios};
    if (c->call.failed)
        return;
    buf_addf(out, "%.*s > %.*s %.*s%s, in ", SLICE_ARG(names_text(c->names, c->call.caller)),
             SLICE_ARG(names_text(c->names, c->call.service)),
             SLICE_ARG(names_text(c->names, c->call.interface)),
             c->call.usual ? "" : " (only after a fault)");
    for (uint32_t k = 0; k < t->source->n; k++)
        if (map_get(&t->suite->scenarios.at[k].shows->call_at, c->key))
            add_name(&by, t->source->scenarios[k]->scenario);
}

/* A list. `say` adds a sentence for each of n things, or nothing where there is nothing to say. */
struct suite_list {
    const char *title;
    uint32_t n;
    void (*say)(const struct telling *t, uint32_t i, struct buf *out);
};

enum { LISTS = 4 };

static void list_all(const struct suite_coverage *s, struct suite_list out[LISTS])
{
    out[0] = (struct suite_list){"scenarios that add nothing to the others", s->scenarios.n,
                                 say_adds_nothing};
    out[1] = (struct suite_list){"services that no scenario reaches", s->services.n, say_service};
    out[2] = (struct suite_list){"calls that the file names and no scenario makes", s->not_made.n,
                                 say_not_made};
    out[3] = (struct suite_list){"calls that were never made to fail", s->calls.n, say_not_failed};
}

/* All lists, each sentence by `item` after the title of its list. */
static void tell_lists(const struct telling *t, void (*title)(struct buf *out, const char *text),
                       void (*item)(struct buf *out, const char *text), struct buf *out)
{
    struct suite_list lists[LISTS];
    list_all(t->suite, lists);
    for (uint32_t k = 0; k < LISTS; k++) {
        uint32_t told = 0;
        for (uint32_t i = 0; i < lists[k].n; i++) {
            struct buf text = BUF_INIT(SENTENCE_MAX);
            lists[k].say(t, i, &text);
            if (text.n && !told)
                title(out, lists[k].title);
            if (text.n && told < ITEMS_SHOWN)
                item(out, buf_text(&text));
            told += text.n > 0;
            buf_deinit(&text);
        }
        if (told > ITEMS_SHOWN) {
            struct buf text = BUF_INIT(SENTENCE_MAX);
            buf_addf(&text, "... and %u more; --json lists them", (unsigned)(told - ITEMS_SHOWN));
            item(out, buf_text(&text));
            buf_deinit(&text);
        }
    }
}

/* Does any of them leave out what another scenario, or an earlier campaign, has shown? */
static bool is_shared(const struct report_source *source)
{
    for (uint32_t i = 0; i < source->n; i++)
        for (uint32_t k = 0; k < source->scenarios[i]->assumptions.n; k++) {
            slice text = slice_of(source->scenarios[i]->assumptions.at[k]);
            if (slice_starts(text, SLICE("since:")) || slice_starts(text, SLICE("stateless:")))
                return true;
        }
    return false;
}

/* Why this may not be all; "": it is. */
static void say_doubts(const struct telling *t, struct buf *out)
{
    uint32_t early = 0, full = 0;
    for (uint32_t i = 0; i < t->source->n; i++) {
        early += t->source->scenarios[i]->stopped != NULL || t->source->scenarios[i]->broken;
        full += t->suite->scenarios.at[i].shows->left_out > 0;
    }
    if (early)
        buf_addf(out, "%u %s not explored to the end: this is what was seen so far.",
                 (unsigned)early, plural(early, "scenario was", "scenarios were"));
    if (full)
        buf_addf(out, "%s%u %s more than is kept.", early ? " " : "", (unsigned)full,
                 plural(full, "scenario showed", "scenarios showed"));
    if (is_shared(t->source))
        buf_addf(out,
                 "%sWhat was known from elsewhere (since, stateless) was not run again, and is not "
                 "counted: alone, a scenario shows more.",
                 out->n ? " " : "");
}

static void say_totals(const struct telling *t, struct buf *out)
{
    const struct suite_coverage *s = t->suite;
    buf_addf(out, "%u scenarios reach ", (unsigned)t->source->n);
    words_number(s->handlers.n, out);
    buf_adds(out, plural(s->handlers.n, " handler", " handlers"));
    buf_adds(out, " and make ");
    words_number(s->calls.n, out);
    buf_adds(out, plural(s->calls.n, " call", " calls"));
    buf_adds(out, " between services, of which ");
    words_number(s->failed, out);
    buf_adds(out, plural(s->failed, " was made to fail: ", " were made to fail: "));
    words_number((double)s->edges, out);
    buf_adds(out, plural(s->edges, " edge in all", " edges in all"));
}

enum { FIGURES = 5 };

static const char *const figure_titles[FIGURES] = {"calls", "failed", "handlers", "edges",
                                                   "only here"};

static void figures_of(const struct suite_scenario *s, double out[FIGURES])
{
    out[0] = s->shows->calls.n;
    out[1] = coverage_failed(s->shows);
    out[2] = s->shows->handlers.n;
    out[3] = s->shows->edges.items.n;
    out[4] = (double)s->only_edges;
}

/* ---- text ---- */

static void text_title(struct buf *out, const char *text)
{
    buf_addf(out, "  %s\n", text);
}

static void text_item(struct buf *out, const char *text)
{
    buf_addf(out, "    %s\n", text);
}

/* Of the names, which tests of a suite have long ones of. */
static int text_width(const struct report_source *source)
{
    enum { LEAST = 20, MOST = 60 };
    size_t width = LEAST;
    for (uint32_t i = 0; i < source->n && i < ROWS_MAX; i++) {
        size_t n = strlen(source->scenarios[i]->scenario);
        width = n > width && n <= MOST ? n : width;
    }
    return (int)width;
}

void suite_text(const struct report_source *source, const struct style *st, struct buf *out)
{
    struct suite_coverage s;
    struct telling t = {source, &s};
    struct buf doubts = BUF_INIT(SENTENCE_MAX);
    if (!suite_of(source, &s))
        return;
    buf_addf(out, "\n%sSUITE%s  ", st->bold, st->off);
    say_totals(&t, out);
    int width = text_width(source);
    buf_addf(out, "\n  %-*s", width, "scenario");
    for (uint32_t k = 0; k < FIGURES; k++)
        buf_addf(out, " %9s", figure_titles[k]);
    for (uint32_t i = 0; i < s.scenarios.n && i < ROWS_MAX; i++) {
        double figures[FIGURES];
        figures_of(&s.scenarios.at[i], figures);
        buf_addf(out, "\n  %-*s", width, source->scenarios[i]->scenario);
        for (uint32_t k = 0; k < FIGURES; k++) {
            struct buf text = BUF_INIT(64);
            words_number(figures[k], &text);
            buf_addf(out, " %9s", buf_text(&text));
            buf_deinit(&text);
        }
    }
    if (s.scenarios.n > ROWS_MAX)
        buf_addf(out, "\n  ... and %u more; --json lists them",
                 (unsigned)(s.scenarios.n - ROWS_MAX));
    buf_addc(out, '\n');
    tell_lists(&t, text_title, text_item, out);
    say_doubts(&t, &doubts);
    if (doubts.n)
        buf_addf(out, "  %s\n", buf_text(&doubts));
    buf_deinit(&doubts);
    suite_coverage_deinit(&s);
}

/* ---- Markdown ---- */

static void add_sentence(slice text, struct buf *out)
{
    escape_markdown(text, out);
}

#define put(out, ...) escape_addf(out, add_sentence, __VA_ARGS__)

static void markdown_title(struct buf *out, const char *text)
{
    put(out, "\n%s:\n\n", text);
}

static void markdown_item(struct buf *out, const char *text)
{
    put(out, "- %s\n", text);
}

void suite_markdown(const struct report_source *source, struct buf *out)
{
    struct suite_coverage s;
    struct telling t = {source, &s};
    struct buf text = BUF_INIT(SENTENCE_MAX);
    if (!suite_of(source, &s))
        return;
    say_totals(&t, &text);
    put(out, "## Suite\n\n%s.\n\n", buf_text(&text));
    buf_adds(out, "| scenario |");
    for (uint32_t k = 0; k < FIGURES; k++)
        put(out, " %s |", figure_titles[k]);
    buf_adds(out, "\n|---|--:|--:|--:|--:|--:|\n");
    for (uint32_t i = 0; i < s.scenarios.n && i < ROWS_MAX; i++) {
        double figures[FIGURES];
        figures_of(&s.scenarios.at[i], figures);
        put(out, "| %s |", source->scenarios[i]->scenario);
        for (uint32_t k = 0; k < FIGURES; k++) {
            buf_addc(out, ' ');
            words_number(figures[k], out);
            buf_adds(out, " |");
        }
        buf_addc(out, '\n');
    }
    if (s.scenarios.n > ROWS_MAX)
        buf_addf(out, "| ... and %u more | | | | | |\n", (unsigned)(s.scenarios.n - ROWS_MAX));
    tell_lists(&t, markdown_title, markdown_item, out);
    buf_clear(&text);
    say_doubts(&t, &text);
    if (text.n)
        put(out, "\n%s\n", buf_text(&text));
    buf_addc(out, '\n');
    buf_deinit(&text);
    suite_coverage_deinit(&s);
}

/* ---- JSON ---- */

static void put_scenario(struct json_out *j, const struct telling *t, uint32_t i)
{
    const struct suite_scenario *s = &t->suite->scenarios.at[i];
    json_map(j, NULL);
    json_text(j, "scenario", t->source->scenarios[i]->scenario);
    json_uint(j, "runs", s->shows->runs);
    json_uint(j, "calls", s->shows->calls.n);
    json_uint(j, "failed_calls", coverage_failed(s->shows));
    json_uint(j, "handlers", s->shows->handlers.n);
    json_uint(j, "edges", s->shows->edges.items.n);
    json_uint(j, "only_calls", s->only_calls);
    json_uint(j, "only_handlers", s->only_handlers);
    json_uint(j, "only_edges", s->only_edges);
    json_bool(j, "adds_nothing", s->adds_nothing);
    json_list(j, "shown_by");
    for (uint32_t k = 0; k < s->n_shown_by; k++)
        json_uint(j, NULL, s->shown_by[k]);
    json_list_end(j);
    json_bool(j, "shown_by_more", s->shown_by_more);
    json_uint(j, "left_out", s->shows->left_out);
    json_map_end(j);
}

/* The places of scenarios that have this call, or handler. */
static void put_places(struct json_out *j, const struct telling *t, bool handler, uint64_t key)
{
    json_list(j, "scenarios");
    for (uint32_t i = 0; i < t->source->n; i++) {
        const struct coverage *c = t->suite->scenarios.at[i].shows;
        if (map_get(handler ? &c->handler_at : &c->call_at, key))
            json_uint(j, NULL, i);
    }
    json_list_end(j);
}

static void put_call(struct json_out *j, const struct telling *t, const struct suite_call *c)
{
    json_map(j, NULL);
    json_str(j, "caller", names_text(c->names, c->call.caller));
    json_str(j, "service", names_text(c->names, c->call.service));
    json_str(j, "interface", names_text(c->names, c->call.interface));
    json_bool(j, "conditional", !c->call.usual);
    json_uint(j, "failed", c->call.failed);
    put_places(j, t, false, c->key);
    json_map_end(j);
}

static void put_handler(struct json_out *j, const struct telling *t, const struct suite_handler *h)
{
    const struct element el = {h->handler.service, h->handler.interface, h->handler.payload, 0, 0};
    struct buf text = BUF_INIT(1 << 16);
    json_map(j, NULL);
    element_print(h->names, &el, &text);
    json_take(j, "handler", &text);
    json_str(j, "service", names_text(h->names, h->handler.service));
    json_uint(j, "edges", h->handler.edges);
    put_places(j, t, true, h->key);
    json_map_end(j);
    buf_deinit(&text);
}

static void put_unreached(struct json_out *j, const struct suite_coverage *s)
{
    json_list(j, "unreached_services");
    for (uint32_t i = 0; i < s->services.n; i++)
        json_text(j, NULL, s->services.at[i]);
    json_list_end(j);
    json_list(j, "unreached_calls");
    for (uint32_t i = 0; i < s->not_made.n && i < LISTED; i++) {
        const struct known_way *w = &s->not_made.at[i];
        json_map(j, NULL);
        json_str(j, "caller", w->caller);
        json_str(j, "service", w->service);
        if (w->interface.n)
            json_str(j, "interface", w->interface);
        else
            json_nil(j, "interface");
        json_map_end(j);
    }
    json_list_end(j);
    json_uint(j, "unreached_calls_total", s->not_made.n);
}

void suite_put(const struct report_source *source, struct json_out *j, const char *key)
{
    struct suite_coverage s;
    struct telling t = {source, &s};
    if (!suite_of(source, &s)) {
        json_nil(j, key);
        return;
    }
    json_map(j, key);
    json_list(j, "scenarios");
    for (uint32_t i = 0; i < s.scenarios.n; i++)
        put_scenario(j, &t, i);
    json_list_end(j);
    json_list(j, "calls");
    for (uint32_t i = 0; i < s.calls.n && i < LISTED; i++)
        put_call(j, &t, &s.calls.at[i]);
    json_list_end(j);
    json_uint(j, "calls_total", s.calls.n);
    json_uint(j, "failed_calls", s.failed);
    json_list(j, "handlers");
    for (uint32_t i = 0; i < s.handlers.n && i < LISTED; i++)
        put_handler(j, &t, &s.handlers.at[i]);
    json_list_end(j);
    json_uint(j, "handlers_total", s.handlers.n);
    json_uint(j, "edges", s.edges);
    put_unreached(j, &s);
    json_map_end(j);
    suite_coverage_deinit(&s);
}
