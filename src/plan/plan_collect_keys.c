/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of collectors: where numbers come from; and what must hold of those that name them. */
#include "base/clock.h"
#include "plan/plan_int.h"
#include "plan/series.h"

enum {
    LINE_BYTES = 2000,  /* of a line that is looked at */
    LINE_NUMBERS = 20,  /* in it */
    VALUE_MARK = '\x01' /* in the place of the value, in a pattern and in a line */
};

static const char place[] = "{value}";

/* ---- reading ---- */

static const struct {
    const char *key;
    enum plan_collect_kind kind;
} kinds[] = {
    {"command", COLLECT_COMMAND},
    {"prometheus", COLLECT_PROMETHEUS},
    {"otlp", COLLECT_OTLP},
    {"file", COLLECT_FILE},
};

static int read_source(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    struct plan_collect *c = into;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (c->found)
        return keys_fail(r, value, "a collector has one of command, prometheus, otlp and file");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].key, key->name) == 0)
            c->kind = kinds[i].kind;
    c->found = true;
    c->source = value->text;
    return c->source.n ? 0 : keys_fail(r, value, "\"%s\" is empty", key->name);
}

/* http://HOST:PORT/PATH into its parts. */
static int read_url(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct plan_collect *c = into;
    slice scheme = SLICE("http://");
    if (read_source(r, key, into, value))
        return -1;
    slice rest = slice_starts(c->source, scheme) ? slice_from(c->source, scheme.n) : SLICE("");
    size_t n = slice_find(rest, '/');
    c->authority = (slice){rest.p, n};
    c->target = n < rest.n ? slice_from(rest, n) : SLICE("/metrics");
    bool good = n > 0;
    for (size_t i = 0; i < rest.n; i++)
        good = good && rest.p[i] > ' ' && rest.p[i] < 0x7f;
    if (!good)
        return keys_fail(
            r, value,
            "\"%s\" must be an address such as http://127.0.0.1:9100/metrics; for others "
            "take command: curl, with keep",
            key->name);
    if (slice_find(c->authority, ':') == n)
        c->authority = slice_of(arena_printf(r->arena, "%.*s:80", SLICE_ARG(c->authority)));
    return 0;
}

static int read_line(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    static const char *const wrong =
        "\"line\" says by {value}, once, where the value stands: \"took {value} ms\"";
    struct plan_collect *c = into;
    struct err inner = {0};
    if (keys_want_scalar(r, key->name, value))
        return -1;
    c->line = value->text;
    const char *at = memmem(c->line.p, c->line.n, place, sizeof place - 1);
    if (!at)
        return keys_fail(r, value, "%s", wrong);
    slice before = {c->line.p, (size_t)(at - c->line.p)};
    slice after = slice_from(c->line, before.n + sizeof place - 1);
    if (memmem(after.p, after.n, place, sizeof place - 1))
        return keys_fail(r, value, "%s", wrong);
    slice pattern = slice_of(
        arena_printf(r->arena, "%.*s%c%.*s", SLICE_ARG(before), VALUE_MARK, SLICE_ARG(after)));
    return regex_parse(pattern, r->arena, &c->regex, &inner)
               ? keys_fail(r, value, "\"%s\": %s", key->name, inner.text)
               : 0;
}

static int read_keep(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct plan_collect *c = into;
    struct err inner = {0};
    const struct regex *regex;
    if (plan_read_names(r, key, &c->keep, value))
        return -1;
    if (c->keep.n > PLAN_KEEP_MAX)
        return keys_fail(r, value, "\"%s\" has at most %d items", key->name, PLAN_KEEP_MAX);
    for (uint32_t i = 0; i < c->keep.n; i++) {
        if (regex_parse(c->keep.at[i], r->arena, &regex, &inner))
            return keys_fail(r, value, "\"%s\": %s", key->name, inner.text);
        vec_push(&c->kept, regex);
    }
    return 0;
}

/* clang-format off */
static const struct key collect_rows[] = {
    {"name", KEY_TEXT, offsetof(struct plan_collect, name), .needed = "name: NAME", .doc = "what it is called; required"},
    {"command", KEY_OTHER, .read = read_source, .schema = AS_TEXT,
     .doc = "is run again and again, and prints lines metric NAME VALUE, or one number: its metric is the name of the collector"},
    {"prometheus", KEY_OTHER, .read = read_url, .schema = AS_TEXT,
     .doc = "an address that is asked again and again for samples in the text format of Prometheus"},
    {"otlp", KEY_OTHER, .read = read_source, .schema = AS_TEXT,
     .doc = "an address of this machine where services send traces to, by OTLP over HTTP in JSON or protobuf: 127.0.0.1:4318"},
    {"file", KEY_OTHER, .read = read_source, .schema = AS_TEXT, .doc = "lines that are added to this file, as line says"},
    {"line", KEY_OTHER, .read = read_line, .schema = AS_TEXT,
     .doc = "regular expression with {value} where the value stands; without file, of lines that nodes and clients print"},
    {"keep", KEY_OTHER, .read = read_keep,
     .schema = "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]",
     .fallback = "all", .doc = "regular expressions: only metrics in whose names one of them is found; of a command it says that it prints the text format of Prometheus"},
    {"of", KEY_TEXT, offsetof(struct plan_collect, of), .fallback = "its name; of line, who prints",
     .doc = "whose the samples are, a node or a client; of line without file: only what it prints"},
    {"every", KEY_DURATION, offsetof(struct plan_collect, every_ns), .least = 50000000,
     .fallback = "1s", .doc = "how often it is asked, of command, prometheus and file"},
    {"within", KEY_DURATION, offsetof(struct plan_collect, within_ns), .least = 1,
     .fallback = "5s", .doc = "time limit of an answer, of command and prometheus"},
};
const struct keys plan_collect_keys = {"a collector", "collect", KEY_ROWS(collect_rows)};
/* clang-format on */

int plan_read_collect(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct plan *p = into;
    struct plan_collect c = {.at = plan_place_of(value),
                             .kind = COLLECT_LINE,
                             .node = PLAN_NONE,
                             .every_ns = SECONDS(1),
                             .within_ns = SECONDS(5)};
    int status =
        keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &plan_collect_keys, &c, value) ? -1
                                                                                                : 0;
    vec_push(&p->collects, c); /* also after an error: it is freed with the plan */
    return status;
}

/* ---- what must hold ---- */

static bool takes_line(const struct plan_collect *c)
{
    return c->kind == COLLECT_FILE || c->kind == COLLECT_LINE;
}

static bool has_otlp(const struct plan *p)
{
    for (uint32_t i = 0; i < p->collects.n; i++)
        if (p->collects.at[i].kind == COLLECT_OTLP)
            return true;
    return false;
}

static int check_collect(struct plan *p, uint32_t index, struct err *e)
{
    struct plan_collect *c = &p->collects.at[index];
    bool reaches = c->kind == COLLECT_PROMETHEUS || c->kind == COLLECT_OTLP;
    for (uint32_t i = 0; i < index; i++)
        if (slice_eq(p->collects.at[i].name, c->name))
            return FAIL(e, c->at,
                        "another collector is called \"%.*s\": give this one another name",
                        SHORT(c->name));
    if (!c->found && !c->line.n)
        return FAIL(e, c->at, "a collector needs one of command, prometheus, otlp, file and line");
    if (takes_line(c) != (c->line.n > 0))
        return FAIL(e, c->at,
                    takes_line(c) ? "\"file\" needs \"line\": which number of which lines"
                                  : "\"line\" is of a file, or stands alone");
    if (c->keep.n && c->kind != COLLECT_COMMAND && c->kind != COLLECT_PROMETHEUS)
        return FAIL(e, c->at, "\"keep\" is of command and prometheus");
    if (reaches && p->network)
        return FAIL(e, c->at,
                    "\"%s\" does not reach into a network of the plan's own: take command: curl -s "
                    "http://$OUTFOX_IP_NODE:9100/metrics, with keep",
                    c->kind == COLLECT_OTLP ? "otlp" : "prometheus");
    if (!c->of.n)
        return 0;
    if (c->kind == COLLECT_OTLP)
        return FAIL(e, c->at, "\"of\": what services tell of is their own; leave it out");
    c->node = plan_node(p, c->of);
    return c->node != PLAN_NONE || plan_client(p, c->of) != PLAN_NONE
               ? 0
               : FAIL(e, c->at, "\"of\": there is no node and no client \"%.*s\"", SHORT(c->of));
}

int plan_check_collects(struct plan *p, struct err *e)
{
    for (uint32_t i = 0; i < p->collects.n; i++)
        if (check_collect(p, i, e))
            return -1;
    return 0;
}

int plan_check_metric(struct plan *p, slice metric, slice of, struct plan_place at, struct err *e)
{
    bool known = !of.n || has_otlp(p) || plan_client(p, of) != PLAN_NONE;
    int32_t node = plan_node(p, of);
    for (uint32_t i = 0; i < p->collects.n; i++)
        known = known || slice_eq(p->collects.at[i].name, of);
    if (!known && node == PLAN_NONE)
        return FAIL(e, at, "\"of\": there is no node, no client and no collector \"%.*s\"",
                    SHORT(of));
    if (plan_process_unit(metric) && node != PLAN_NONE && plan_is_far(p, p->nodes.at[node].host) &&
        !p->collects.n)
        return FAIL(e, at,
                    "\"%.*s\" of a node is only known on this machine: on its host it can print "
                    "\"metric %.*s VALUE\" itself, under another name",
                    SHORT(metric), SHORT(metric));
    return 0;
}

int plan_check_spans(const struct plan *p, struct plan_place at, struct err *e)
{
    return has_otlp(p) ? 0
                       : FAIL(e, at,
                              "\"span\" needs traces: add collect: [{ name: traces, otlp: "
                              "127.0.0.1:4318 }], and let services export there");
}

/* ---- values ---- */

bool plan_collect_keeps(const struct plan_collect *c, slice name)
{
    for (uint32_t i = 0; i < c->kept.n; i++)
        if (regex_found(c->kept.at[i], name))
            return true;
    return c->kept.n == 0;
}

/* Bytes of the number that begins here; 0: none does. */
static size_t number_bytes(slice text)
{
    size_t n = 0, digits;
    if (n < text.n && (text.p[n] == '-' || text.p[n] == '+'))
        n++;
    for (digits = n; n < text.n && is_digit(text.p[n]); n++)
        ;
    if (n == digits)
        return 0;
    if (n + 1 < text.n && text.p[n] == '.' && is_digit(text.p[n + 1]))
        for (n++; n < text.n && is_digit(text.p[n]); n++)
            ;
    return n;
}

bool plan_collect_line(const struct plan_collect *c, slice text, double *out)
{
    uint32_t numbers = 0;
    bool found = false;
    struct buf marked = BUF_INIT(LINE_BYTES + 1);
    text.n = text.n < LINE_BYTES ? text.n : LINE_BYTES;
    for (size_t i = 0, n; i < text.n && !found && numbers < LINE_NUMBERS; i += n ? n : 1) {
        n = number_bytes(slice_from(text, i));
        if (!n)
            continue;
        numbers++;
        buf_clear(&marked);
        buf_add(&marked, (slice){text.p, i});
        buf_addc(&marked, VALUE_MARK);
        buf_add(&marked, slice_from(text, i + n));
        found =
            regex_found(c->regex, buf_slice(&marked)) && slice_to_real((slice){text.p + i, n}, out);
    }
    buf_deinit(&marked);
    return found;
}
