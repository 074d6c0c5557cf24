/* SPDX-License-Identifier: Apache-2.0 */
#include "core/interface.h"

#include <regex.h>

#include "base/str.h"
#include "base/vec.h"

enum { PATH_MAX_BYTES = 8192, WINDOW = 256, STEP = WINDOW / 2, SIZE_LIMIT = 2000, GROUPS_MAX = 50 };

struct rewrite_rule {
    regex_t regex;
    char *text;
};

struct rewrite {
    struct arena arena;
    VEC(struct rewrite_rule) rules;
};

struct rewrite *rewrite_new(void)
{
    return mem_zero(sizeof(struct rewrite));
}

void rewrite_free(struct rewrite *rw)
{
    if (!rw)
        return;
    for (uint32_t i = 0; i < rw->rules.n; i++)
        regfree(&rw->rules.at[i].regex);
    vec_deinit(&rw->rules);
    arena_deinit(&rw->arena);
    mem_free(rw);
}

/* The largest number in {n,m}; *i moves to its end. */
static uint64_t repeat_most(slice pattern, size_t *i)
{
    uint64_t most = 1, number = 0;
    for (++*i; *i < pattern.n && pattern.p[*i] != '}'; ++*i) {
        bool digit = pattern.p[*i] >= '0' && pattern.p[*i] <= '9';
        number = digit && number <= SIZE_LIMIT ? number * 10 + (uint64_t)(pattern.p[*i] - '0') : 0;
        most = number > most ? number : most;
    }
    return most;
}

/* About how large the expression becomes when it is compiled: {n,m} and + copy what they repeat,
 * also nested and stacked. More than SIZE_LIMIT is not counted further. */
/* NOLINTNEXTLINE(readability-function-cognitive-complexity): one pass over one small grammar */
static uint64_t compiled_size(slice pattern)
{
    uint64_t sum[GROUPS_MAX] = {0}, last = 0;
    size_t depth = 0;
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        if (c == '+' || c == '{') {
            last *= c == '+' ? 2 : repeat_most(pattern, &i);
        } else if (c == ')' && depth > 0) {
            last += sum[depth--] + 1;
        } else if (c != '*' && c != '?') {
            sum[depth] += last;
            last = c == '(' ? 0 : 1;
            depth += c == '(';
            i += c == '\\';
            if (depth == GROUPS_MAX)
                return SIZE_LIMIT + 1;
            sum[depth] = c == '(' ? 0 : sum[depth];
        }
        if (c == '[') { /* to its end; a first ] is literal */
            i += i + 1 < pattern.n && pattern.p[i + 1] == '^' ? 2 : 1;
            for (++i; i < pattern.n && pattern.p[i] != ']';)
                ++i;
        }
        if (last + sum[depth] > SIZE_LIMIT)
            return SIZE_LIMIT + 1;
    }
    return last + sum[depth];
}

int rewrite_add(struct rewrite *rw, slice rule, struct err *e)
{
    size_t at = 0;
    while (at + 4 <= rule.n && memcmp(rule.p + at, " -> ", 4) != 0)
        at++;
    if (at + 4 > rule.n)
        return err_set(e, 0, 0, "a rule must have the form \"REGEX -> TEXT\"");
    slice pattern = slice_trim((slice){rule.p, at});
    slice text = slice_trim(slice_from(rule, at + 4));
    if (pattern.n == 0 || pattern.n > 500)
        return err_set(e, 0, 0, "the expression before \" -> \" must have 1 to 500 bytes");
    for (size_t i = 0; i + 1 < pattern.n; i++)
        if (pattern.p[i] == '\\' && pattern.p[i + 1] >= '1' && pattern.p[i + 1] <= '9')
            return err_set(e, 0, 0,
                           "back-references such as \\1 are not supported: they take too long");
    if (compiled_size(pattern) > SIZE_LIMIT)
        return err_set(e, 0, 0, "the repetitions in \"%.*s\" multiply into too large an expression",
                       SLICE_ARG(pattern));
    struct rewrite_rule row;
    int code = regcomp(&row.regex, arena_copy(&rw->arena, pattern.p, pattern.n), REG_EXTENDED);
    if (code) {
        char why[128];
        regerror(code, &row.regex, why, sizeof why);
        return err_set(e, 0, 0, "\"%.*s\" is not a regular expression: %s",
                       (int)(pattern.n < 200 ? pattern.n : 200), pattern.p, why);
    }
    row.text = arena_copy(&rw->arena, text.p, text.n);
    vec_push(&rw->rules, row);
    return 0;
}

static bool all_digits(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static bool is_uuid(slice s)
{
    if (s.n != 36)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.p[i] != '-' : hex_digit(s.p[i]) < 0)
            return false;
    }
    return true;
}

static bool is_seen(char c)
{
    return (uint8_t)c > 0x20 && c != 0x7f;
}

static void add_segments(slice path, struct buf *out)
{
    slice part;
    bool first = true;
    while (slice_cut(&path, '/', &part)) {
        if (!first)
            buf_addc(out, '/');
        first = false;
        if (all_digits(part))
            buf_adds(out, "[id]");
        else if (is_uuid(part))
            buf_adds(out, "[uuid]");
        else
            percent_encode(part, is_seen, out);
    }
}

/* The first match in the path from `at` on that begins within STEP bytes; false: there is none. An
 * expression may look to the end of what it sees from every byte on, so it sees a window; a larger
 * one only while its match is cut off by the window's end. */
static bool find_match(const struct rewrite_rule *rule, slice path, size_t at, regmatch_t *match)
{
    for (size_t n = WINDOW;; n *= 2) {
        bool more = n < path.n - at;
        regoff_t seen = (regoff_t)(more ? n : path.n - at);
        int flags = REG_STARTEND | (at ? REG_NOTBOL : 0) | (more ? REG_NOTEOL : 0);
        *match = (regmatch_t){0, seen};
        if (regexec(&rule->regex, path.p + at, 1, match, flags) || (more && match->rm_so >= STEP))
            return false;
        if (!more || match->rm_eo < seen)
            return true;
    }
}

/* Time is in proportion to the length of the path: see find_match. */
static void apply_rule(const struct rewrite_rule *rule, struct buf *text)
{
    struct buf result = BUF_INIT(PATH_MAX_BYTES);
    slice path = buf_slice(text);
    for (size_t at = 0; at < path.n;) {
        regmatch_t match;
        bool found = find_match(rule, path, at, &match);
        size_t before = found ? (size_t)match.rm_so : path.n - at > WINDOW ? STEP : path.n - at;
        buf_add(&result, (slice){path.p + at, before});
        at += before;
        if (!found)
            continue;
        percent_encode(slice_of(rule->text), is_seen, &result);
        if (match.rm_eo > match.rm_so)
            at += (size_t)(match.rm_eo - match.rm_so);
        else if (at < path.n) /* an empty match: step over one byte */
            buf_addc(&result, path.p[at++]);
    }
    buf_deinit(text);
    *text = result;
}

static void make(slice method, slice path, const struct rewrite *rules, struct buf *out)
{
    if (method.n) {
        percent_encode(method, is_seen, out);
        buf_addc(out, ' ');
    }
    path.n = slice_find(path, '?');
    if (path.n == 0)
        path = SLICE("/");
    struct buf text = BUF_INIT(PATH_MAX_BYTES);
    add_segments(path, &text);
    for (uint32_t i = 0; rules && i < rules->rules.n; i++)
        apply_rule(&rules->rules.at[i], &text);
    if (text.n == 0 || (method.n && buf_text(&text)[0] != '/'))
        buf_addc(out, '/'); /* whatever came of it, it is read back as a path */
    buf_add(out, buf_slice(&text));
    buf_deinit(&text);
}

void interface_read(slice text, const struct rewrite *rules, struct buf *out)
{
    slice method = {0}, path = SLICE(""), word;
    while (slice_word(&text, &word)) {
        method = path;
        path = word;
    }
    if (!method.n && path.n && path.p[0] == '/')
        method = SLICE("*");
    path.n = slice_find(path, '?');
    size_t star = slice_find(path, '*'), stem = star;
    while (star < path.n && stem > 0 && path.p[stem - 1] != '/')
        stem--;
    if (stem || !path.n)
        make(method, (slice){path.p, stem}, method.n ? rules : NULL, out);
    else if (method.n)
        buf_addf(out, "%.*s ", SLICE_ARG(method));
    if (stem < path.n)
        add_segments(slice_from(path, stem), out);
}

void interface_make(slice method, slice path, const struct rewrite *rules, struct buf *out)
{
    struct buf text = BUF_INIT(1 << 16);
    make(method, path, rules, &text);
    slice rest = buf_slice(&text);
    if (memchr(">:&#{^*", rest.p[0], 7)) { /* would be read back as something else */
        percent_add(out, rest.p[0]);
        rest = slice_from(rest, 1);
    }
    buf_add(out, rest);
    buf_deinit(&text);
}
