/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a side effect must be made, as people write it:
 *
 *   payment POST /charge: exactly 1 when status 200, otherwise 0
 *
 * A colon with a blank behind it ends the pattern; a path may have colons of its own. */
#include "core/outcome.h"
#include "judge/judge_int.h"

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
        return err_set(e, 0, 0, "%s is missing at the end", expected);
    return err_set(e, 0, 0, "%s was expected, not \"%.*s\"", expected, SHORT(word));
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

static int parse_status(slice *rest, outcome *out, struct err *e)
{
    slice word;
    if (!take_word(rest, "status"))
        return refuse_word(next_word(rest), "\"status\" and what the client sees", e);
    word = next_word(rest);
    bool known = outcome_read(word, out);
    uint32_t code = outcome_code(*out);
    if (known && outcome_kind(*out) == OUT_STATUS && code >= 100 && code <= 599)
        return 0;
    if (known && outcome_kind(*out) == OUT_GRPC && code <= 16)
        return 0;
    return refuse_word(word, "a status from 100 to 599 or grpc:0 to grpc:16", e);
}

/* What follows the pattern. */
static int parse_counts(slice rest, struct effect_rule *out, struct err *e)
{
    out->counted = true;
    out->else_high = ANY_NUMBER;
    if (parse_count(&rest, &out->low, &out->high, e))
        return -1;
    bool when = take_word(&rest, "when");
    if (when && parse_status(&rest, &out->when, e))
        return -1;
    bool comma = take_word(&rest, ",");
    slice word = next_word(&rest);
    if (word.n == 0 && !comma)
        return 0;
    if (!slice_is(word, "otherwise"))
        return refuse_word(word, when ? "\"otherwise\"" : "\"when status\"", e);
    if (!when)
        return err_set(e, 0, 0, "\"otherwise\" needs a \"when status\" before it");
    if (parse_count(&rest, &out->else_low, &out->else_high, e))
        return -1;
    word = next_word(&rest);
    return word.n ? refuse_word(word, "nothing more", e) : 0;
}

/* Where the pattern ends: a colon that ends a word, and then the text or a blank. */
static size_t pattern_end(slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ':' && (i + 1 == text.n || is_blank(text.p[i + 1])))
            return i;
    return text.n;
}

int effect_rule_parse(const struct vocabulary *v, slice text, struct effect_rule *out,
                      struct err *e)
{
    text = slice_trim(text);
    *out = (struct effect_rule){.when = OUT_NONE, .high = ANY_NUMBER, .else_high = ANY_NUMBER};
    if (text.n > TEXT_MAX)
        return err_set(e, 0, 0, "a side effect is written in at most %d bytes", TEXT_MAX);
    if (memchr(text.p ? text.p : "", 0, text.n))
        return err_set(e, 0, 0, "a side effect has no NUL bytes");
    size_t end = pattern_end(text);
    out->text = mem_alloc(text.n + 1);
    memcpy(out->text, text.p ? text.p : "", text.n);
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
                       "a side effect is written \"SERVICE METHOD /path\" or \"SERVICE METHOD "
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

/* ---- printing ---- */

static void print_count(uint32_t low, uint32_t high, struct buf *out)
{
    if (high == 0 || (low == 0 && high == ANY_NUMBER))
        buf_adds(out, high ? "any" : "none");
    else
        buf_addf(out, "%s %u",
                 low == high          ? "exactly"
                 : high == ANY_NUMBER ? "at least"
                                      : "at most",
                 (unsigned)(high == ANY_NUMBER ? low : high));
}

void effect_rule_print(const struct effect_rule *r, struct buf *out)
{
    slice text = slice_of(r->text), words = {text.p, pattern_end(text)}, word;
    for (bool more = false; slice_word(&words, &word); more = true) {
        buf_adds(out, more ? " " : "");
        buf_add(out, word);
    }
    if (!r->counted)
        return;
    buf_adds(out, ": ");
    print_count(r->low, r->high, out);
    if (r->when == OUT_NONE)
        return;
    buf_adds(out, " when status ");
    outcome_print(r->when, out);
    if (r->else_low == 0 && r->else_high == ANY_NUMBER)
        return;
    buf_adds(out, ", otherwise ");
    print_count(r->else_low, r->else_high, out);
}

/* ---- checking ---- */

static bool other_case(const struct effect_rule *r, outcome status)
{
    return r->when != OUT_NONE && r->when != status;
}

/* How a command ended does not say what its requests were answered with. */
static bool unknown_case(const struct effect_rule *r, outcome status)
{
    return !r->counted || (r->when != OUT_NONE && outcome_kind(status) == OUT_EXIT);
}

uint32_t effect_rule_low(const struct effect_rule *r, outcome status)
{
    return unknown_case(r, status) ? 0 : other_case(r, status) ? r->else_low : r->low;
}

uint32_t effect_rule_high(const struct effect_rule *r, outcome status)
{
    return unknown_case(r, status) ? ANY_NUMBER : other_case(r, status) ? r->else_high : r->high;
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
    return *counted >= effect_rule_low(r, status) && *counted <= effect_rule_high(r, status);
}
