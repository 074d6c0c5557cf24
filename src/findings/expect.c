/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging. Each question is a function that says nothing when all is well, and otherwise writes the
 * sentence and the detail; the first one that has something to say decides. The order is fixed, so
 * equal answers give equal sentences. */
#include "findings/expect.h"

#include <stdio.h>

#include "base/printable.h"
#include "data/json.h"
#include "data/node.h"
#include "data/secret.h"

enum { VALUE_MAX = 120 }; /* bytes of a value in a sentence */

/* ---- words: whatever a service sent may stand in them, so all of it is bounded, one line, and
 * UTF-8 ---- */

/* How a character is printed: as it is, escaped (in quotes), or as '?'. */
static slice print_of(slice one, bool quoted, char room[8])
{
    uint8_t c = (uint8_t)one.p[0];
    bool control = c < 0x20 || c == 0x7f;
    if (!control && !(quoted && (c == '"' || c == '\\')))
        return one;
    if (!quoted)
        return SLICE("?");
    if (c == '\n')
        return SLICE("\\n");
    int n = control ? snprintf(room, 8, "\\u%04x", (unsigned)c) : snprintf(room, 8, "\\%c", c);
    return (slice){room, (size_t)n};
}

static void add_characters(struct buf *out, slice text, size_t most, bool quoted)
{
    size_t end = out->n + most;
    while (text.n) {
        char room[8];
        const char *at = text.p;
        slice one = glyph_take(&text).bytes;
        slice print = one.p == at ? print_of(one, quoted, room) : SLICE("?"); /* no UTF-8 */
        if (out->n + print.n > end) {
            buf_adds(out, "...");
            return;
        }
        buf_add(out, print);
    }
}

void expect_add_brief(struct buf *out, slice text, size_t most)
{
    add_characters(out, text, most, false);
}

/* The same in quotes. Bytes that are no UTF-8 become '?'. */
static void add_quoted(struct buf *out, slice text, size_t most)
{
    buf_addc(out, '"');
    add_characters(out, text, most, true);
    buf_addc(out, '"');
}

/* ---- statuses ---- */

/* "200, 201 or 404", "2xx", "gRPC 0" */
static void add_statuses(struct buf *out, const struct expect_status *status, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct expect_status *s = &status[i];
        buf_adds(out, i == 0 ? "" : i + 1 == n ? " or " : ", ");
        if (s->grpc)
            buf_adds(out, "gRPC ");
        if (!s->grpc && s->low % 100 == 0 && s->high == s->low + 99)
            buf_addf(out, "%uxx", (unsigned)s->low / 100);
        else if (s->low == s->high)
            buf_addf(out, "%u", (unsigned)s->low);
        else
            buf_addf(out, "%u to %u", (unsigned)s->low, (unsigned)s->high);
    }
}

/* ---- values ---- */

static void add_node(struct buf *out, const struct node *value, size_t most)
{
    struct buf text = BUF_INIT(most + 8); /* more than is shown: so it is seen that there is more */
    node_print(value, &text);
    expect_add_brief(out, buf_slice(&text), most);
    buf_deinit(&text);
}

static void mask(struct buf *text)
{
    struct buf masked = BUF_INIT(text->max);
    secret_mask(buf_slice(text), &masked);
    buf_clear(text);
    buf_add(text, buf_slice(&masked));
    buf_deinit(&masked);
}

/* Takes secrets out of both; what `why` says from `from` on is one as a whole (0: nothing is). */
static void hide(struct buf *why, struct buf *detail, size_t from)
{
    if (from) {
        why->n = from;
        buf_adds(why, " is not as expected");
        if (!slice_starts(buf_slice(detail), SLICE("there is no"))) {
            buf_clear(detail);
            buf_adds(detail, "it is " SECRET);
        }
    }
    mask(why);
    mask(detail);
}

/* ---- questions ---- */

/* What is judged: an answer or a command, as far as both have it. */
struct subject {
    const struct expect_spec *spec;
    const char *name;    /* "the answer" */
    const char *content; /* what its bytes are called: "the answer", "the output" */
    slice body;
    slice told; /* the same without secrets, to be quoted */
    bool cut;   /* there was more */
    int64_t took_ns;
    const struct client_answer *answer; /* or */
    const struct command_result *command;
    const struct expect_spec *beside; /* of an alternative: what holds for all of them */
    uint32_t held;                    /* how much of what is expected was found */
    struct buf why, detail;           /* what there is to say */
    size_t secret;                    /* from here on `why` tells one; 0: it does not */
};

static const struct expect_status ok_http = {false, 200, 299}, ok_grpc = {true, 0, 0};

static void ask_answer(struct subject *s)
{
    const struct client_answer *a = s->answer;
    if (!a || !a->error)
        return;
    buf_adds(&s->why, outcome_kind(a->seen) == OUT_TIMEOUT ? "there is no answer in time"
                                                           : "there is no answer");
    expect_add_brief(&s->detail, slice_of(a->error), EXPECT_DETAIL_MAX - 3);
}

/* Statuses and exit codes have defaults. With alternatives these are for each of them, unless
 * something is said beside them. */
static bool is_said_elsewhere(const struct subject *s, bool here, bool beside)
{
    return !here && (s->spec->any_of.n > 0 || (s->beside && beside));
}

static void ask_status(struct subject *s)
{
    if (!s->answer ||
        is_said_elsewhere(s, s->spec->status.n > 0, s->beside && s->beside->status.n > 0))
        return;
    outcome seen = s->answer->seen;
    bool grpc = outcome_kind(seen) == OUT_GRPC;
    uint32_t n = s->spec->status.n, code = outcome_code(seen);
    const struct expect_status *status = n ? s->spec->status.at : grpc ? &ok_grpc : &ok_http;
    n = n ? n : 1;
    for (uint32_t i = 0; i < n; i++)
        if (outcome_kind(seen) == (status[i].grpc ? OUT_GRPC : OUT_STATUS) &&
            code >= status[i].low && code <= status[i].high) {
            s->held++;
            return;
        }
    buf_adds(&s->why, "the status is not ");
    add_statuses(&s->why, status, n);
    buf_adds(&s->detail, "status ");
    if (grpc)
        buf_addf(&s->detail, "gRPC %u", (unsigned)code);
    else
        outcome_print(seen, &s->detail);
    if (s->answer->coded) {
        buf_addf(&s->detail, "; %s", s->answer->coded);
    } else if (s->body.n) {
        buf_adds(&s->detail, ": ");
        add_quoted(&s->detail, s->told, VALUE_MAX);
    }
}

static void ask_exit(struct subject *s)
{
    const struct command_result *r = s->command;
    if (!r)
        return;
    if (!r->started) {
        buf_adds(&s->why, "the command cannot be started");
        expect_add_brief(&s->detail, slice_of(r->error ? r->error : ""), EXPECT_DETAIL_MAX - 3);
        return;
    }
    if (r->timed_out) {
        buf_adds(&s->why, "the command does not end in time");
        buf_adds(&s->detail, "killed after ");
        buf_add_ns(&s->detail, s->took_ns);
        return;
    }
    if (is_said_elsewhere(s, s->spec->exit_given, s->beside && s->beside->exit_given))
        return;
    if (r->exit_code >= 0 && (uint32_t)r->exit_code == s->spec->exit) {
        s->held++;
        return;
    }
    buf_addf(&s->why, "the command does not exit with %u", (unsigned)s->spec->exit);
    if (r->exit_code < 0)
        buf_addf(&s->detail, "ended by signal %d", r->signal);
    else
        buf_addf(&s->detail, "exit %d", r->exit_code);
    slice output = slice_trim(s->told);
    if (output.n) { /* the reason mostly stands at the end */
        size_t skip = output.n > VALUE_MAX ? output.n - VALUE_MAX : 0;
        while (skip && skip < output.n && (output.p[skip] & 0xc0) == 0x80)
            skip++; /* not from within a character on */
        buf_adds(&s->detail, skip ? ": ..." : ": ");
        add_quoted(&s->detail, slice_from(output, skip), EXPECT_DETAIL_MAX / 2);
    }
}

/* A header that is looked for. */
struct sought {
    slice name, value;
    bool there; /* it is, but with another value: */
    slice seen;
};

static bool is_among(const struct head *h, struct sought *x)
{
    for (uint32_t i = 0; h && i < h->n_fields; i++) {
        if (!slice_eq_nocase(h->fields[i].name, x->name))
            continue;
        if (slice_eq(h->fields[i].value, x->value))
            return true;
        x->there = true;
        x->seen = h->fields[i].value;
    }
    return false;
}

/* The length is not among the fields. */
static bool is_length(const struct head *h, struct sought *x, char digits[DIGITS_MOST])
{
    if (!h || !h->has_length || !slice_eq_nocase(x->name, SLICE("content-length")))
        return false;
    x->there = true;
    x->seen = slice_of_u64(h->length, digits);
    return slice_eq(x->seen, x->value);
}

/* Of several with this name: is one as wanted? Else the last of them is remembered. */
static bool find_header(const struct client_answer *a, struct sought *x, char digits[DIGITS_MOST])
{
    return is_among(a->trailers, x) || is_among(a->head, x) || is_length(a->head, x, digits);
}

static void ask_headers(struct subject *s)
{
    for (uint32_t i = 0; s->answer && i < s->spec->headers.n; i++) {
        char digits[DIGITS_MOST];
        struct sought x = {.name = s->spec->headers.at[i].name,
                           .value = s->spec->headers.at[i].value};
        if (find_header(s->answer, &x, digits)) {
            s->held++;
            continue;
        }
        buf_adds(&s->why, "the header ");
        expect_add_brief(&s->why, x.name, VALUE_MAX);
        s->secret = secret_name(x.name) ? s->why.n : 0;
        buf_adds(&s->why, " is not ");
        add_quoted(&s->why, x.value, VALUE_MAX);
        if (x.there)
            add_quoted(&s->detail, x.seen, VALUE_MAX);
        else
            buf_adds(&s->detail, "there is no such header");
        return;
    }
}

static void tell_body(struct subject *s)
{
    if (s->cut)
        buf_addf(&s->detail, "of which %zu bytes were kept: ", s->body.n);
    if (s->answer && s->answer->coded)
        buf_adds(&s->detail, s->answer->coded);
    else if (s->body.n == 0)
        buf_adds(&s->detail, "it is empty");
    else
        add_quoted(&s->detail, s->told, EXPECT_DETAIL_MAX / 2);
}

static void ask_body(struct subject *s)
{
    bool same = slice_eq(s->body, s->spec->body) && !s->cut;
    s->held += s->spec->has_body && same;
    if (!s->spec->has_body || same)
        return;
    buf_addf(&s->why, "%s is not ", s->content);
    add_quoted(&s->why, s->spec->body, VALUE_MAX);
    tell_body(s);
}

static void ask_contains(struct subject *s)
{
    slice wanted = s->spec->contains;
    bool there = wanted.n && s->body.n && memmem(s->body.p, s->body.n, wanted.p, wanted.n);
    s->held += there;
    if (wanted.n == 0 || there)
        return;
    buf_addf(&s->why, "%s does not contain ", s->content);
    add_quoted(&s->why, wanted, VALUE_MAX);
    tell_body(s);
}

/* The answer as JSON, read once; false, and it is said: it is none. */
static bool read_json(struct subject *s, struct arena *a, const struct node **doc)
{
    if (*doc || (!s->cut && node_parse_json(a, s->body, doc) == 0))
        return true;
    buf_addf(&s->why, s->cut ? "%s is too large to be read as JSON" : "%s is not JSON", s->content);
    tell_body(s);
    return false;
}

static void ask_json(struct subject *s)
{
    struct arena a = {0};
    const struct node *doc = NULL;
    for (uint32_t i = 0; i < s->spec->json.n && s->why.n == 0 && read_json(s, &a, &doc); i++) {
        const struct expect_value *wanted = &s->spec->json.at[i];
        const struct node *seen = pointer_at(doc, wanted->pointer);
        if (seen && node_eq(seen, wanted->value)) {
            s->held++;
            continue;
        }
        buf_adds(&s->why, s->content);
        if (wanted->pointer.n) {
            buf_adds(&s->why, " at ");
            expect_add_brief(&s->why, wanted->pointer, VALUE_MAX);
            s->secret = secret_pointer(wanted->pointer) ? s->why.n : 0;
        }
        buf_adds(&s->why, " is not ");
        add_node(&s->why, wanted->value, VALUE_MAX);
        if (seen)
            add_node(&s->detail, seen, EXPECT_DETAIL_MAX / 2);
        else
            buf_adds(&s->detail, "there is nothing");
    }
    arena_deinit(&a);
}

static void ask_time(struct subject *s)
{
    if (s->spec->within_ns <= 0 || s->took_ns <= s->spec->within_ns)
        return;
    buf_addf(&s->why, "%s took longer than ", s->name);
    buf_add_ns(&s->why, s->spec->within_ns);
    buf_add_ns(&s->detail, s->took_ns);
}

/* ---- conditions ---- */

/* A header as a value; NULL: there is none. One that is a number can be compared as one. */
static const struct node *header_value(const struct subject *s, const struct expect_where *w,
                                       struct arena *a)
{
    char digits[DIGITS_MOST];
    struct sought x = {.name = w->name, .value = {0}};
    const struct node *number;
    bool empty = find_header(s->answer, &x, digits); /* that is what is sought */
    if (!empty && !x.there)
        return NULL;
    slice text = slice_copy(a, empty ? SLICE("") : slice_trim(x.seen));
    if (condition_is_numeric(&w->condition) && node_parse_json(a, text, &number) == 0 &&
        number->type == NODE_NUM)
        return number;
    return node_str(a, text);
}

static void tell_condition(struct subject *s, const struct expect_where *w,
                           const struct node *value)
{
    struct buf refusal = BUF_INIT(VALUE_MAX * 2);
    buf_adds(&s->why, w->about == ABOUT_HEADER ? "the header" : s->content);
    if (w->name.n && w->about != ABOUT_BODY) {
        buf_adds(&s->why, w->about == ABOUT_HEADER ? " " : " at ");
        expect_add_brief(&s->why, w->name, VALUE_MAX);
        bool secret = w->about == ABOUT_HEADER ? secret_name(w->name) : secret_pointer(w->name);
        s->secret = secret ? s->why.n : 0;
    }
    condition_refusal(&w->condition, &refusal);
    buf_addc(&s->why, ' ');
    expect_add_brief(&s->why, buf_slice(&refusal), VALUE_MAX);
    buf_deinit(&refusal);
    if (w->about == ABOUT_BODY)
        tell_body(s);
    else if (value)
        add_node(&s->detail, value, EXPECT_DETAIL_MAX / 2);
    else
        buf_adds(&s->detail,
                 w->about == ABOUT_HEADER ? "there is no such header" : "there is nothing");
}

static void ask_where(struct subject *s)
{
    struct arena a = {0};
    const struct node *doc = NULL;
    for (uint32_t i = 0; i < s->spec->where.n && s->why.n == 0; i++) {
        const struct expect_where *w = &s->spec->where.at[i];
        const struct node *value = NULL;
        if (w->about == ABOUT_JSON && !read_json(s, &a, &doc))
            break;
        if (w->about == ABOUT_JSON)
            value = pointer_at(doc, w->name);
        else if (w->about == ABOUT_BODY)
            value = node_str(&a, s->body);
        else if (s->answer)
            value = header_value(s, w, &a);
        if (condition_holds(&w->condition, value))
            s->held++;
        else
            tell_condition(s, w, value);
    }
    arena_deinit(&a);
}

/* ---- alternatives ---- */

static void ask_all(struct subject *s);

/* The nearest is the one of which most was found; of equals the first. */
static void ask_any_of(struct subject *s)
{
    enum { LEAST = 40 }; /* bytes for what is said of another one */
    const struct expect_spec *spec = s->spec;
    struct subject tried[ALTERNATIVES_MAX];
    uint32_t near = 0, n = 0;
    bool holds = spec->any_of.n == 0;
    for (; n < spec->any_of.n && n < ALTERNATIVES_MAX && !holds; n++) {
        tried[n] = *s;
        tried[n].spec = &spec->any_of.at[n];
        tried[n].beside = spec;
        tried[n].held = 0;
        ask_all(&tried[n]);
        holds = tried[n].why.n == 0;
        near = tried[n].held > tried[near].held ? n : near;
    }
    if (!holds) {
        buf_addf(&s->why, "no alternative of any-of holds; number %u%s: ", (unsigned)near + 1,
                 tried[near].held ? " is nearest" : ""); /* or nothing of any was found */
        buf_add(&s->why, buf_slice(&tried[near].why));
        expect_add_brief(&s->detail, buf_slice(&tried[near].detail), EXPECT_DETAIL_MAX / 2);
    }
    for (uint32_t i = 0; i < n; i++) {
        /* why the others do not hold, as far as there is room */
        if (!holds && i != near && s->detail.n + LEAST <= EXPECT_DETAIL_MAX) {
            buf_addf(&s->detail, "; number %u: ", (unsigned)i + 1);
            expect_add_brief(&s->detail, buf_slice(&tried[i].why),
                             EXPECT_DETAIL_MAX - s->detail.n - sizeof "...");
        }
        buf_deinit(&tried[i].why);
        buf_deinit(&tried[i].detail);
    }
}

/* ---- the face ---- */

/* Leaves in why and detail what there is to say. */
static void ask_all(struct subject *s)
{
    static void (*const questions[])(struct subject *) = {
        ask_answer,   ask_status, ask_exit,  ask_headers, ask_body,
        ask_contains, ask_json,   ask_where, ask_time,    ask_any_of};
    s->why = BUF_INIT(16 * 1024);
    s->detail = BUF_INIT(EXPECT_DETAIL_MAX);
    for (size_t i = 0; i < sizeof questions / sizeof *questions && s->why.n == 0; i++)
        questions[i](s);
    hide(&s->why, &s->detail, s->secret);
}

static void judge(struct subject *s, struct intern *keep, struct arena *once, struct verdict *out)
{
    s->told = secret_masked(once, s->body, s->body.n * 2);
    ask_all(s);
    out->pass = s->why.n == 0;
    out->why = out->pass ? "" : intern_keep(keep, buf_slice(&s->why));
    out->detail = s->detail.n ? arena_copy(once, s->detail.p, s->detail.n) : NULL;
    buf_deinit(&s->why);
    buf_deinit(&s->detail);
}

void expect_answer(const struct expect_spec *spec, const struct client_answer *a,
                   struct intern *keep, struct arena *once, struct verdict *out)
{
    struct subject s = {.spec = spec,
                        .name = "the answer",
                        .content = "the answer",
                        .body = a->body,
                        .cut = a->cut,
                        .took_ns = a->end_ns - a->start_ns,
                        .answer = a};
    out->status = a->seen;
    judge(&s, keep, once, out);
}

void expect_command(const struct expect_spec *spec, const struct command_result *r,
                    struct intern *keep, struct arena *once, struct verdict *out)
{
    struct subject s = {.spec = spec,
                        .name = "the command",
                        .content = "the output",
                        .body = r->output,
                        .took_ns = r->end_ns - r->start_ns,
                        .command = r};
    out->status = OUTCOME(r->timed_out ? OUT_TIMEOUT : OUT_NONE, 0);
    judge(&s, keep, once, out);
}
