/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests to the control address. Each is one row of a table.
 *
 * 1. Who knows the key of a run may ask about it, and that is its test alone: the key is random,
 *    and a page of the web that reaches this address by a browser is sent away.
 * 2. Tests ask in a loop: a request leaves nothing behind. The words of a pattern go into names of
 *    its own, together with those of the calls that it is held against, and not into the
 *    campaign's.
 * 3. An answer is whole JSON: faults that would not fit into it are left out, and counted.
 * 4. Hushed calls are neither counted nor looked at: they prepare a test, or look at what came of
 *    it. The first call of a trace is the command itself. */
#include "live/control.h"

#include "base/str.h"
#include "core/pattern.h"
#include "data/json.h"
#include "report/escape.h"

enum { CONNECTIONS_MAX = 1000 };

struct question {
    struct track_run *run;
    const struct trace *trace;
    const struct names *names;
    const struct vocabulary *words; /* of the campaign */
    bool has_pattern;
    struct pattern pattern;
    struct names own; /* for the pattern, and for `uids` */
    VEC(uid) uids;    /* of the calls, in `own` */
};

/* ---- text ---- */

/* Names come from requests, sentences quote them: whatever it is, it becomes valid UTF-8. */
static void add_text(struct json_out *j, const char *key, slice text)
{
    struct buf line = BUF_INIT(CONTROL_ANSWER_MAX);
    escape_line(text, &line);
    json_take(j, key, &line);
    buf_deinit(&line);
}

static uint16_t refuse(struct buf *out, uint16_t status, const char *sentence)
{
    struct json_out j = json_out(out, JSON_SPACED);
    json_map(&j, NULL);
    add_text(&j, "error", slice_of(sentence));
    json_map_end(&j);
    buf_addc(out, '\n');
    return status;
}

/* ---- patterns ---- */

static int read_pattern(struct question *q, slice query, struct err *e)
{
    struct buf text = BUF_INIT(CONTROL_PATTERN_MAX);
    slice key = SLICE("pattern=");
    if (slice_starts(query, key))
        query = slice_from(query, key.n);
    int failed = 0;
    if (!percent_decode(query, true, &text))
        failed =
            err_set(e, 0, 0, "the pattern is not percent-encoded: two hex digits must follow a %%");
    else if (text.full)
        failed = err_set(e, 0, 0, "the pattern is too long: at most %d bytes", CONTROL_PATTERN_MAX);
    if (!failed && slice_trim(buf_slice(&text)).n) {
        q->has_pattern = true;
        struct vocabulary words = *q->words;
        words.names = &q->own;
        failed = pattern_parse(&q->pattern, &words, PATTERN_CALLS, buf_slice(&text), e);
    }
    /* the calls by names of our own; a call's path is that of its parent and one element */
    for (uint32_t i = 0; q->has_pattern && !failed && i < q->trace->calls.n; i++) {
        const struct call *c = &q->trace->calls.at[i];
        struct element el = *uid_element(q->names, c->uid);
        uid above = c->parent == CALL_NONE ? UID_NONE : q->uids.at[c->parent];
        el.service = names_sym(&q->own, names_text(q->names, el.service));
        el.interface = names_sym(&q->own, names_text(q->names, el.interface));
        vec_push(&q->uids, names_uid(&q->own, above, names_element(&q->own, el)));
    }
    buf_deinit(&text);
    return failed;
}

static bool is_meant(const struct question *q, uint32_t i)
{
    const struct call *c = &q->trace->calls.at[i];
    if (c->flags & CALL_HUSHED)
        return false;
    if (!q->has_pattern)
        return true;
    return (q->pattern.mode == MODE_NONE || q->pattern.mode == c->mode) &&
           pattern_matches(&q->pattern, &q->own, q->uids.at[i]);
}

/* ---- answers ---- */

static uint32_t count_calls(const struct question *q, bool failed)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < q->trace->calls.n; i++)
        n += (!failed || q->trace->calls.at[i].mode != MODE_NONE) && is_meant(q, i);
    return n;
}

/* "injected": ..., "count": ..., "faults": [...] */
static void add_faults(const struct question *q, struct json_out *j)
{
    uint32_t n = count_calls(q, true);
    json_bool(j, "injected", n > 0);
    json_uint(j, "count", n);
    json_list(j, "faults");
    for (uint32_t i = 1; i < q->trace->calls.n; i++) {
        const struct call *c = &q->trace->calls.at[i];
        if (c->mode == MODE_NONE || !is_meant(q, i))
            continue;
        struct buf fault = BUF_INIT(CONTROL_ANSWER_MAX);
        struct json_out before = *j;
        size_t n_before = j->to->n;
        uid_print(q->names, c->uid, &fault);
        buf_adds(&fault, " : ");
        mode_print(c->mode, &fault);
        add_text(j, NULL, buf_slice(&fault));
        if (fault.full || j->to->full ||
            j->to->n + 100 >= CONTROL_ANSWER_MAX) { /* and what follows */
            *j = before;
            j->to->n = n_before;
            j->to->full = false;
        }
        buf_deinit(&fault);
    }
    json_list_end(j);
}

static void add_calls(const struct question *q, struct json_out *j)
{
    json_uint(j, "calls", count_calls(q, false));
}

static void add_hushed(const struct question *q, struct json_out *j)
{
    json_bool(j, "hushed", q->run->blocks > 0);
}

static void add_run(const struct question *q, struct json_out *j)
{
    struct buf run = BUF_INIT(16);
    buf_addf(&run, "%016llx", (unsigned long long)q->run->secret);
    json_int(j, "schema_version", 1);
    json_take(j, "run", &run);
    add_hushed(q, j);
    add_calls(q, j);
    add_faults(q, j);
    buf_deinit(&run);
}

/* ---- requests ---- */

static const struct control_row {
    const char *what, *method;
    bool pattern; /* takes one */
    void (*add)(const struct question *q, struct json_out *j);
    bool (*change)(struct track_run *r); /* before that, or NULL */
    const char *refusal;                 /* when it cannot be changed */
} rows[] = {
    {"", "GET", false, add_run, NULL, NULL},
    {"injected", "GET", true, add_faults, NULL, NULL},
    {"calls", "GET", true, add_calls, NULL, NULL},
    {"no-faults", "GET", false, add_hushed, NULL, NULL},
    {"no-faults", "POST", false, add_hushed, track_hush,
     "too many blocks are open; end each with DELETE"},
    {"no-faults", "DELETE", false, add_hushed, track_unhush, "no block is open; POST begins one"},
};

static uint16_t answer(const struct control_row *row, struct track_run *run,
                       const struct vocabulary *words, slice query, struct buf *out)
{
    struct question q = {
        .run = run, .trace = &run->all.trace, .names = words->names, .words = words};
    struct err e = {0};
    uint16_t status = 200;
    names_init(&q.own);
    if (query.n && !row->pattern) {
        status = refuse(out, 400, "this address takes no pattern; use /injected or /calls");
    } else if (query.n && read_pattern(&q, query, &e)) {
        status = refuse(out, 400, e.text);
    } else if (row->change && !row->change(run)) {
        status = refuse(out, 409, row->refusal);
    } else {
        struct json_out j = json_out(out, JSON_SPACED);
        json_map(&j, NULL);
        row->add(&q, &j);
        json_map_end(&j);
        buf_addc(out, '\n');
    }
    pattern_deinit(&q.pattern);
    names_deinit(&q.own);
    vec_deinit(&q.uids);
    return status;
}

uint16_t control_answer(const struct tracker *t, const struct vocabulary *words,
                        const struct head *head, struct buf *out)
{
    slice prefix = SLICE("/runs/"), query = head->target, path, key, what;
    uint64_t number = 0;
    bool other = false; /* there is a row of another method */
    if (!head_is_local(head))
        return refuse(
            out, 403,
            "requests from pages of other hosts are refused; send no Origin, and the Host "
            "of OUTFOX_CONTROL");
    slice_cut(&query, '?', &path);
    what = slice_starts(path, prefix) ? slice_from(path, prefix.n) : (slice){"", 0};
    slice_cut(&what, '/', &key);
    struct track_run *run = slice_to_hex(key, &number) ? track_find_secret(t, number) : NULL;
    if (!run)
        return refuse(out, 404, "no such run is under way; use /runs/$OUTFOX_RUN");
    if (slice_is(what, "hush")) /* what it was called before 0.9 */
        what = SLICE("no-faults");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool same = slice_is(what, rows[i].what);
        if (same && slice_is(head->method, rows[i].method))
            return answer(&rows[i], run, words, query, out);
        other |= same;
    }
    if (other)
        return refuse(out, 405,
                      "this address does not support this method; see docs/predicates.md");
    return refuse(out, 404, "no such address; a run has /injected, /calls and /no-faults");
}

/* ---- the server ---- */

static void on_request(struct server_request *q)
{
    const struct control *c = q->ctx;
    struct buf text = BUF_INIT(CONTROL_ANSWER_MAX);
    uint16_t status = control_answer(c->tracker, c->words, q->head, &text);
    server_answer(q, status, "application/json", buf_slice(&text));
    buf_deinit(&text);
}

int control_open(struct control *c, struct loop *loop, struct err *e)
{
    static const struct server_route all = {.path = "*", .handle = on_request};
    struct server_options o = {
        .loop = loop, .routes = &all, .n_routes = 1, .ctx = c, .connections = CONNECTIONS_MAX};
    return addr_parse(SLICE("127.0.0.1:0"), "control", &c->at, e) ||
                   server_new(&o, &c->at, &c->server, e)
               ? -1
               : 0;
}

void control_close(struct control *c)
{
    server_free(c->server);
    c->server = NULL;
}
