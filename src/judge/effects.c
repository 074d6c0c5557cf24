/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls have side effects: what users say of them, else what their interface is called.
 *
 * Of HTTP the method tells, but for questions that are too long for a URL: POST /search, POST
 * /shipping-costs. Of gRPC the method's name does, by its first word: GetUser reads,
 * Getaway does not. A name that goes on with "And" or "Or" and something that writes, such as
 * GetOrCreate, is no read. */
#include "judge/judge_int.h"

static const struct {
    const char *name;
    enum effect effect;
} methods[] = {
    {"GET", EFFECT_READ},          {"HEAD", EFFECT_READ},   {"OPTIONS", EFFECT_READ},
    {"TRACE", EFFECT_READ},        {"QUERY", EFFECT_READ},  {"SEARCH", EFFECT_READ},
    {"PROPFIND", EFFECT_READ},     {"REPORT", EFFECT_READ}, {"PUT", EFFECT_IDEMPOTENT},
    {"DELETE", EFFECT_IDEMPOTENT},
};

/* ---- names of gRPC methods ---- */

/* First words of those that read, and of those that may be repeated. An update may add to what is
 * there, so it is not among them. */
static const char *const reads[] = {
    "Get",     "List",     "Find",     "Search",    "Read",    "Query",    "Fetch",
    "Check",   "Describe", "Watch",    "Count",     "Lookup",  "Has",      "Is",
    "Exists",  "Validate", "Verify",   "Calculate", "Compute", "Estimate", "Preview",
    "View",    "Show",     "Retrieve", "Scan",      "Select",  "Peek",     "Resolve",
    "Convert", "Compare",  "Ping",     "Health",    "Status",  "Login",    NULL};
static const char *const repeatable[] = {"Set",    "Put",  "Delete", "Replace",  "Upsert", "Ensure",
                                         "Cancel", "Void", "Abort",  "Rollback", "Revoke", NULL};

/* Does the name begin with one of these words (its first letter in either case)? How long that is;
 * 0: with none. */
static size_t starts_any(slice name, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (name.n >= n && (name.p[0] | 0x20) == (**words | 0x20) &&
            memcmp(name.p + 1, *words + 1, n - 1) == 0 && (name.n == n || !is_lower(name.p[n])))
            return n;
    }
    return 0;
}

/* GetOrCreate, FindOneAndUpdate: what is behind the And or Or decides. Things that are read
 * together, GetUsersAndGroups, are not told from it by grammar, so it must be a known verb. */
static bool writes_too(slice name)
{
    static const char *const joins[] = {"And", "Or", NULL};
    static const char *const verbs[] = {
        "Create", "Add",       "Insert",    "Update",    "Set",   "Put",     "Delete",
        "Remove", "Increment", "Decrement", "Modify",    "Write", "Reserve", "Store",
        "Save",   "Replace",   "Swap",      "Subscribe", "Lock",  "Reset",   "Mark",
        "Charge", "Commit",    "Send",      "Upsert",    NULL};
    for (size_t i = 1; i < name.n; i++) {
        slice rest = slice_from(name, i);
        size_t join = is_upper(rest.p[0]) ? starts_any(rest, joins) : 0;
        if (join && starts_any(slice_from(rest, join), verbs))
            return true;
    }
    return false;
}

static enum effect grpc_effect(slice name)
{
    static const char *const batches[] = {"Batch", "Bulk", "Multi", "Stream", NULL};
    static const char *const writes[] = {"CheckIn", "CheckOut", NULL}; /* although they "check" */
    size_t batch = starts_any(name, batches);
    if (batch && batch < name.n)
        name = slice_from(name, batch + (name.p[batch] == '_'));
    if (starts_any(name, writes) || writes_too(name))
        return EFFECT_ONCE;
    return starts_any(name, reads)        ? EFFECT_READ
           : starts_any(name, repeatable) ? EFFECT_IDEMPOTENT
                                          : EFFECT_ONCE;
}

/* ---- paths of HTTP ---- */

/* The last word of the last segment that is no parameter: costs of /shipping-costs/[id]. */
static slice last_word(slice path)
{
    size_t end = path.n, start;
    while (end && memchr("]}/", path.p[end - 1], 3)) { /* a parameter, or nothing */
        end--;
        while (end && path.p[end] != '/')
            end--;
    }
    while (end && !is_letter(path.p[end - 1]))
        end--;
    for (start = end; start && is_letter(path.p[start - 1]); start--)
        if (start < end && is_upper(path.p[start]))
            break;
    return (slice){path.p + start, end - start};
}

/* Singular or plural, in either case of the first letter. */
static bool is_one_of(slice word, const char *const *words)
{
    slice singular = {word.p, word.n - (word.n && word.p[word.n - 1] == 's')};
    return word.n && (starts_any(word, words) == word.n ||
                      (singular.n && starts_any(singular, words) == singular.n));
}

static enum effect post_effect(slice path)
{
    /* where a path ends in such a word, POST asks, */
    static const char *const questions[] = {
        "search",       "query",       "graphql",     "lookup",     "find",       "filter",
        "quote",        "price",       "pricing",     "cost",       "rate",       "estimate",
        "calculate",    "compute",     "validate",    "validation", "verify",     "preview",
        "count",        "convert",     "compare",     "suggest",    "suggestion", "recommendation",
        "availability", "eligibility", "calculation", "token",      "introspect", "login",
        "authenticate", NULL};
    /* unless it is told to somebody: /alerts/quote is about a quote */
    static const char *const told_to[] = {"alert",   "notification", "event",  "log",
                                          "audit",   "trace",        "metric", "telemetry",
                                          "message", "mail",         NULL};
    /* where it ends in such a word, it puts an end to one thing, and may do so again. Not: refund,
     * release. Those give back an amount */
    static const char *const endings[] = {"cancel", "void", "abort", "rollback", "revoke", NULL};
    slice last = last_word(path), segment;
    if (!is_one_of(last, questions))
        return is_one_of(last, endings) ? EFFECT_IDEMPOTENT : EFFECT_ONCE;
    while (slice_cut(&path, '/', &segment))
        if (is_one_of(segment, told_to))
            return EFFECT_ONCE;
    return EFFECT_READ;
}

/* ---- all of them ---- */

static enum effect interface_effect(slice interface)
{
    size_t blank = slice_find(interface, ' ');
    if (blank < interface.n) {
        slice method = {interface.p, blank};
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
            if (slice_is(method, methods[i].name))
                return methods[i].effect;
        return slice_is(method, "POST") ? post_effect(slice_from(interface, blank)) : EFFECT_ONCE;
    }
    for (size_t at; (at = slice_find(interface, '/')) < interface.n;)
        interface = slice_from(interface, at + 1);
    return grpc_effect(interface);
}

enum effect effect_of(const struct judge_settings *s, const struct names *names, uid call)
{
    enum effect effect = interface_effect(names_text(names, uid_element(names, call)->interface));
    for (uint32_t i = 0; i < s->reads.n; i++)
        if (pattern_matches(&s->reads.at[i], names, call))
            return EFFECT_READ;
    for (uint32_t i = 0; i < s->idempotent.n; i++)
        if (pattern_matches(&s->idempotent.at[i], names, call))
            return EFFECT_IDEMPOTENT;
    if (effect == EFFECT_READ && effect_listed(s, names, call))
        return EFFECT_ONCE;
    return effect;
}

bool effect_listed(const struct judge_settings *s, const struct names *names, uid call)
{
    for (uint32_t i = 0; i < s->effects.n; i++)
        if (pattern_matches(&s->effects.at[i].calls, names, call))
            return true;
    return false;
}

/* How often a side effect must be made, as people write it:
 *
 *   payment POST /charge: exactly 1 when status 200, otherwise 0
 *
 * A colon with a blank behind it ends the pattern; a path may have colons of its own. */

enum { COUNT_MAX = 1000000, TEXT_MAX = 4000 };

#define ANY_NUMBER UINT32_MAX

/* ---- reading ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word; a comma is one of its own. At the end an empty one. */
static slice next_word(slice *rest)
{
    *rest = slice_trim(*rest);
    size_t n = 0;
    while (n < rest->n && !is_blank(rest->p[n]) && rest->p[n] != ',')
        n++;
    n += n == 0 && rest->n > 0;
    slice word = {rest->p, n};
    *rest = slice_from(*rest, n);
    return word;
}

static bool take_word(slice *rest, const char *word)
{
    slice ahead = *rest;
    if (!slice_is(next_word(&ahead), word))
        return false;
    *rest = ahead;
    return true;
}

static int refuse_word(slice word, const char *expected, struct err *e)
{
    if (word.n == 0)
        return err_set(e, 0, 0, "expected %s at the end", expected);
    return err_set(e, 0, 0, "expected %s, not \"%.*s\"", expected, SHORT(word));
}

/* Ways to count; the number follows where it decides something. */
static const struct count_word {
    const char *first, *second; /* second: NULL, it is one word */
    bool number, low, high;     /* which bounds the number is; those that it is not are open */
} count_words[] = {
    {"exactly", NULL, true, true, true}, {"at", "least", true, true, false},
    {"at", "most", true, false, true},   {"none", NULL, false, true, true},
    {"any", NULL, false, false, false},
};

/* "[exactly|at least|at most] N", "none" or "any". */
static int parse_count(slice *rest, uint32_t *low, uint32_t *high, struct err *e)
{
    static const char expected[] = "a number, \"exactly N\", \"at least N\", \"at most N\", "
                                   "\"none\" or \"any\"";
    static const struct count_word plain = {.number = true, .low = true, .high = true};
    const struct count_word *found = &plain;
    for (size_t i = 0; i < sizeof count_words / sizeof *count_words && found == &plain; i++) {
        slice ahead = *rest;
        const struct count_word *row = &count_words[i];
        if (!take_word(&ahead, row->first) || (row->second && !take_word(&ahead, row->second)))
            continue;
        found = row;
        *rest = ahead;
    }
    uint64_t n = 0;
    slice word = found->number ? next_word(rest) : (slice){0};
    if (found->number && !slice_to_u64(word, COUNT_MAX, &n))
        return refuse_word(word, found == &plain ? expected : "a number up to 1000000", e);
    *low = found->low ? (uint32_t)n : 0;
    *high = found->high ? (uint32_t)n : ANY_NUMBER;
    return 0;
}

/* What follows the pattern. */
static int parse_counts(slice rest, struct effect_rule *out, struct err *e)
{
    out->counted = true;
    out->else_high = ANY_NUMBER;
    if (parse_count(&rest, &out->low, &out->high, e))
        return -1;
    bool when = take_word(&rest, "when");
    if (when && !take_word(&rest, "status"))
        return refuse_word(next_word(&rest), "\"status\" and the status the client sees", e);
    slice status = when ? next_word(&rest) : (slice){0};
    if (when) {
        bool known = outcome_read(status, &out->when);
        uint32_t code = outcome_code(out->when);
        enum outcome_kind kind = outcome_kind(out->when);
        if (!known || !((kind == OUT_STATUS && code >= 100 && code <= 599) ||
                        (kind == OUT_GRPC && code <= 16)))
            return refuse_word(status, "a status from 100 to 599 or grpc:0 to grpc:16", e);
    }
    bool comma = take_word(&rest, ",");
    slice word = next_word(&rest);
    if (word.n == 0 && !comma)
        return 0;
    if (!slice_is(word, "otherwise"))
        return refuse_word(word, when ? "\"otherwise\"" : "\"when status\"", e);
    if (!when)
        return err_set(e, 0, 0, "\"otherwise\" must follow \"when status\"");
    if (parse_count(&rest, &out->else_low, &out->else_high, e))
        return -1;
    word = next_word(&rest);
    return word.n ? refuse_word(word, "nothing more", e) : 0;
}

int effect_rule_parse(const struct vocabulary *v, slice text, struct effect_rule *out,
                      struct err *e)
{
    text = slice_trim(text);
    *out = (struct effect_rule){.when = OUT_NONE, .high = ANY_NUMBER, .else_high = ANY_NUMBER};
    if (text.n > TEXT_MAX)
        return err_set(e, 0, 0, "a side effect must not exceed %d bytes", TEXT_MAX);
    if (!text.p)
        text = SLICE("");
    if (memchr(text.p, 0, text.n))
        return err_set(e, 0, 0, "a side effect must not contain NUL bytes");
    size_t end = 0; /* of the pattern: a colon that ends a word, and then the text or a blank */
    while (end < text.n && (text.p[end] != ':' || (end + 1 < text.n && !is_blank(text.p[end + 1]))))
        end++;
    out->text = mem_alloc(text.n + 1);
    memcpy(out->text, text.p, text.n);
    out->text[text.n] = 0;
    if (pattern_parse(&out->calls, v, PATTERN_CALLS, (slice){text.p, end}, e) ||
        (end < text.n && parse_counts(slice_from(text, end + 1), out, e))) {
        effect_rule_deinit(out);
        return -1;
    }
    return 0;
}

void effect_rule_deinit(struct effect_rule *r)
{
    pattern_deinit(&r->calls);
    mem_free(r->text);
    r->text = NULL;
}

/* Without quotes YAML reads `payment POST /charge: exactly 1` as a map of one pair. */
int effect_rule_load(const struct node *node, const struct vocabulary *v, struct effect_rule *out,
                     struct err *e)
{
    struct err inner = {0};
    bool pair = node->type == NODE_MAP && node->n == 1;
    const struct node *value = pair ? node->map[0].value : node;
    *out = (struct effect_rule){0};
    if (value->type != NODE_STR && !(pair && value->type == NODE_NUM))
        return err_set(e, node->line, node->col,
                       "a side effect must be \"SERVICE METHOD /path\" or \"SERVICE METHOD "
                       "/path: exactly 1 when status 200, otherwise 0\", not %s",
                       node_type_name(value->type));
    struct buf text = BUF_INIT(2 * TEXT_MAX);
    if (pair)
        buf_addf(&text, "%.*s: ", SLICE_ARG(node->map[0].key));
    buf_add(&text, value->text);
    int status = effect_rule_parse(v, buf_slice(&text), out, &inner);
    buf_deinit(&text);
    if (status)
        return err_set(e, node->line, node->col, "%s", inner.text);
    out->line = node->line;
    out->col = node->col;
    return 0;
}

/* ---- checking ---- */

struct effect_bounds effect_rule_bounds(const struct effect_rule *r, outcome status)
{
    /* how a command ended does not say what its requests were answered with */
    if (!r->counted || (r->when != OUT_NONE && outcome_kind(status) == OUT_EXIT))
        return (struct effect_bounds){0, ANY_NUMBER};
    if (r->when != OUT_NONE && r->when != status)
        return (struct effect_bounds){r->else_low, r->else_high};
    return (struct effect_bounds){r->low, r->high};
}

bool effect_rule_check(const struct effect_rule *r, const struct names *names,
                       const struct trace *trace, outcome status, uint32_t *counted)
{
    *counted = 0;
    if (!r->counted)
        return true;
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        *counted += call_done(c) && pattern_matches(&r->calls, names, c->uid);
    }
    struct effect_bounds bounds = effect_rule_bounds(r, status);
    return *counted >= bounds.low && *counted <= bounds.high;
}
