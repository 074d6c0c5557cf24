/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls have side effects: what users say of them, else what their interface is called.
 *
 * Of HTTP the method tells, but for questions that are too long for a URL: POST /search, POST
 * /shipping-costs. Of gRPC the method's name does, by its first word: GetUser reads,
 * Getaway does not. A name that goes on with "And" or "Or" and something that writes, such as
 * GetOrCreate, is no read. */
#include "judge/judge.h"

struct kind {
    const char *word;
    enum effect effect;
};

static const struct kind methods[] = {
    {"GET", EFFECT_READ},          {"HEAD", EFFECT_READ},   {"OPTIONS", EFFECT_READ},
    {"TRACE", EFFECT_READ},        {"QUERY", EFFECT_READ},  {"SEARCH", EFFECT_READ},
    {"PROPFIND", EFFECT_READ},     {"REPORT", EFFECT_READ}, {"PUT", EFFECT_IDEMPOTENT},
    {"DELETE", EFFECT_IDEMPOTENT},
};

/* First words of gRPC methods. An update may add to what is there, so it is not among them. */
static const struct kind verbs[] = {
    {"Get", EFFECT_READ},
    {"List", EFFECT_READ},
    {"Find", EFFECT_READ},
    {"Search", EFFECT_READ},
    {"Read", EFFECT_READ},
    {"Query", EFFECT_READ},
    {"Fetch", EFFECT_READ},
    {"Check", EFFECT_READ},
    {"Describe", EFFECT_READ},
    {"Watch", EFFECT_READ},
    {"Count", EFFECT_READ},
    {"Lookup", EFFECT_READ},
    {"Has", EFFECT_READ},
    {"Is", EFFECT_READ},
    {"Exists", EFFECT_READ},
    {"Validate", EFFECT_READ},
    {"Verify", EFFECT_READ},
    {"Calculate", EFFECT_READ},
    {"Compute", EFFECT_READ},
    {"Estimate", EFFECT_READ},
    {"Preview", EFFECT_READ},
    {"View", EFFECT_READ},
    {"Show", EFFECT_READ},
    {"Retrieve", EFFECT_READ},
    {"Scan", EFFECT_READ},
    {"Select", EFFECT_READ},
    {"Peek", EFFECT_READ},
    {"Resolve", EFFECT_READ},
    {"Convert", EFFECT_READ},
    {"Compare", EFFECT_READ},
    {"Ping", EFFECT_READ},
    {"Health", EFFECT_READ},
    {"Status", EFFECT_READ},
    {"Set", EFFECT_IDEMPOTENT},
    {"Put", EFFECT_IDEMPOTENT},
    {"Delete", EFFECT_IDEMPOTENT},
    {"Replace", EFFECT_IDEMPOTENT},
    {"Upsert", EFFECT_IDEMPOTENT},
    {"Ensure", EFFECT_IDEMPOTENT},
    {"Cancel", EFFECT_IDEMPOTENT},
    {"Void", EFFECT_IDEMPOTENT},
    {"Abort", EFFECT_IDEMPOTENT},
    {"Rollback", EFFECT_IDEMPOTENT},
    {"Revoke", EFFECT_IDEMPOTENT},

    {"Login", EFFECT_READ},
};

/* What may stand before the verb. */
static const char *const batches[] = {"Batch", "Bulk", "Multi", "Stream"};

/* What reads, by its first word, and does not. */
static const char *const writes[] = {"CheckIn", "CheckOut"};

/* ---- names of gRPC methods ---- */

/* Does the name begin with this word (its first letter in either case)? */
static bool starts_word(slice name, const char *word)
{
    slice w = slice_of(word);
    if (name.n < w.n || (name.p[0] | 0x20) != (w.p[0] | 0x20) ||
        memcmp(name.p + 1, w.p + 1, w.n - 1) != 0)
        return false;
    return name.n == w.n || !is_lower(name.p[w.n]);
}

static bool starts_any(slice name, const char *const *words, size_t n, size_t *length)
{
    for (size_t i = 0; i < n; i++)
        if (starts_word(name, words[i])) {
            *length = strlen(words[i]);
            return true;
        }
    return false;
}

static enum effect verb_effect(slice name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (starts_word(name, verbs[i].word))
            return verbs[i].effect;
    return EFFECT_ONCE;
}

/* GetOrCreate, FindOneAndUpdate: what is behind the And or Or decides. Things that are read
 * together, GetUsersAndGroups, are not told from it by grammar, so it must be a known verb. */
static bool writes_too(slice name)
{
    static const char *const words[] = {"And", "Or"};
    static const char *const more[] = {"Create",  "Add",    "Insert",    "Update",    "Set",
                                       "Put",     "Delete", "Remove",    "Increment", "Decrement",
                                       "Modify",  "Write",  "Reserve",   "Store",     "Save",
                                       "Replace", "Swap",   "Subscribe", "Lock",      "Reset",
                                       "Mark",    "Charge", "Commit",    "Send",      "Upsert"};
    size_t length;
    for (size_t i = 1; i < name.n; i++) {
        slice rest = slice_from(name, i);
        if (is_upper(rest.p[0]) && starts_any(rest, words, 2, &length)) {
            rest = slice_from(rest, length);
            if (rest.n && starts_any(rest, more, sizeof more / sizeof *more, &length))
                return true;
        }
    }
    return false;
}

static enum effect grpc_effect(slice name)
{
    size_t length;
    if (starts_any(name, batches, sizeof batches / sizeof *batches, &length) && length < name.n)
        name = slice_from(name, length + (name.p[length] == '_'));
    if (starts_any(name, writes, sizeof writes / sizeof *writes, &length) || writes_too(name))
        return EFFECT_ONCE;
    return verb_effect(name);
}

/* ---- paths of HTTP ---- */

/* Where a path ends in such a word, POST asks. */
static const char *const questions[] = {
    "search",       "query",       "graphql",     "lookup",     "find",       "filter",
    "quote",        "price",       "pricing",     "cost",       "rate",       "estimate",
    "calculate",    "compute",     "validate",    "validation", "verify",     "preview",
    "count",        "convert",     "compare",     "suggest",    "suggestion", "recommendation",
    "availability", "eligibility", "calculation", "token",      "introspect", "login",
    "authenticate"};

/* Where it ends in such a word, it puts an end to one thing, and may do so again. Not: refund,
 * release. Those give back an amount. */
static const char *const endings[] = {"cancel", "void", "abort", "rollback", "revoke"};

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

/* Unless it is told to somebody: /alerts/quote is about a quote. */
static const char *const told_to[] = {"alert", "notification", "event",     "log",     "audit",
                                      "trace", "metric",       "telemetry", "message", "mail"};

/* Singular or plural, in either case of the first letter. */
static bool is_one_of(slice word, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++) {
        size_t n = strlen(words[i]);
        if ((word.n == n || (word.n == n + 1 && word.p[n] == 's')) &&
            starts_word((slice){word.p, n}, words[i]))
            return true;
    }
    return false;
}

static bool is_question(slice path)
{
    slice segment;
    if (!is_one_of(last_word(path), questions, sizeof questions / sizeof *questions))
        return false;
    while (slice_cut(&path, '/', &segment))
        if (is_one_of(segment, told_to, sizeof told_to / sizeof *told_to))
            return false;
    return true;
}

static enum effect post_effect(slice path)
{
    if (is_question(path))
        return EFFECT_READ;
    bool ends = is_one_of(last_word(path), endings, sizeof endings / sizeof *endings);
    return ends ? EFFECT_IDEMPOTENT : EFFECT_ONCE;
}

/* ---- all of them ---- */

static enum effect interface_effect(slice interface)
{
    size_t blank = slice_find(interface, ' ');
    if (blank < interface.n) {
        slice method = {interface.p, blank};
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
            if (slice_is(method, methods[i].word))
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
