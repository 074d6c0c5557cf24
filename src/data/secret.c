/* SPDX-License-Identifier: Apache-2.0 */
#include "data/secret.h"

#include <string.h>

enum { NAME_MAX_BYTES = 100 }; /* a longer word is no name */

/* Words are joined by a dash, see words_of. `line`: the value goes on to the end of the line. */
struct row {
    slice name;
    bool line, shown;
};

#define ROW(name, line)                                                                            \
    {                                                                                              \
        {name, sizeof(name) - 1}, line, false                                                      \
    }

static struct row rows[SECRET_NAMES_MAX] = {
    ROW("authorization", true),  ROW("authorisation", true),
    ROW("cookie", true),         ROW("password", false),
    ROW("passwd", false),        ROW("passphrase", false),
    ROW("pwd", false),           ROW("secret", false),
    ROW("token", false),         ROW("jwt", false),
    ROW("api-key", false),       ROW("apikey", false),
    ROW("access-key", false),    ROW("private-key", false),
    ROW("signing-key", false),   ROW("encryption-key", false),
    ROW("credential", false),    ROW("credentials", false),
    ROW("session-id", false),    ROW("sessionid", false),
    ROW("client-secret", false),
};
static uint32_t n_rows = 21;

/* ---- names ---- */

static bool is_word(char c)
{
    return is_lower(c) || is_upper(c) || is_digit(c);
}

static bool is_in_name(char c)
{
    return is_word(c) || c == '_' || c == '-' || c == '.';
}

/* -words-in-small-letters-, a dash before and behind each. */
static slice words_of(slice name, char room[2 * NAME_MAX_BYTES + 2])
{
    size_t n = 0;
    room[n++] = '-';
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool begins = is_upper(c) && i > 0 && (is_lower(name.p[i - 1]) || is_digit(name.p[i - 1]));
        if ((begins || !is_word(c)) && room[n - 1] != '-')
            room[n++] = '-';
        if (is_word(c))
            room[n++] = is_upper(c) ? (char)(c | 32) : c;
    }
    if (room[n - 1] != '-')
        room[n++] = '-';
    return (slice){room, n};
}

static bool has_words(slice words, slice name)
{
    const char *at = words.p, *end = words.p + words.n;
    while ((at = memmem(at, (size_t)(end - at), name.p, name.n))) {
        if (at[-1] == '-' && at[name.n] == '-')
            return true;
        at++;
    }
    return false;
}

/* NULL: it holds no secret. */
static const struct row *find_row(slice name)
{
    char room[2 * NAME_MAX_BYTES + 2];
    const struct row *found = NULL;
    if (name.n < 2 || name.n > NAME_MAX_BYTES)
        return NULL;
    slice words = words_of(name, room);
    for (uint32_t i = 0; i < n_rows; i++) {
        if (!has_words(words, rows[i].name))
            continue;
        if (rows[i].shown)
            return NULL;
        found = found && found->line ? found : &rows[i];
    }
    return found;
}

bool secret_name(slice name)
{
    return find_row(name) != NULL;
}

bool secret_pointer(slice pointer)
{
    slice part;
    while (slice_cut(&pointer, '/', &part))
        if (secret_name(part))
            return true;
    return false;
}

/* The name stays where it is in the table, so that the last word about it counts. */
static void set_row(slice name, bool shown)
{
    static char texts[SECRET_NAMES_MAX][NAME_MAX_BYTES];
    char room[2 * NAME_MAX_BYTES + 2];
    if (name.n == 0 || name.n > NAME_MAX_BYTES)
        return;
    slice words = words_of(name, room);
    if (words.n < 3 || words.n - 2 > NAME_MAX_BYTES)
        return;
    words = (slice){words.p + 1, words.n - 2};
    for (uint32_t i = 0; i < n_rows; i++)
        if (slice_eq(rows[i].name, words)) {
            rows[i].shown = shown;
            return;
        }
    if (n_rows == SECRET_NAMES_MAX)
        return;
    memcpy(texts[n_rows], words.p, words.n);
    rows[n_rows] = (struct row){.name = {texts[n_rows], words.n}, .shown = shown};
    n_rows++;
}

void secret_hide(slice name)
{
    set_row(name, false);
}

void secret_show(slice name)
{
    set_row(name, true);
}

/* ---- values ---- */

/* Where a text is read, and what has been taken over. */
struct scan {
    slice text;
    size_t at;
    struct buf *out;
    bool json, inside; /* it is JSON, as it seems; a string of it was begun */
    bool escaped;      /* the next byte is, by a backslash */
};

static size_t skip(const struct scan *s, size_t at, const char *set)
{
    while (at < s->text.n && s->text.p[at] && strchr(set, s->text.p[at]))
        at++;
    return at;
}

/* The quote at `at`, behind any number of backslashes (JSON in JSON); where it begins and ends. */
static bool quote_at(const struct scan *s, size_t at, size_t *end, char *quote)
{
    size_t k = skip(s, at, "\\");
    if (k >= s->text.n || (s->text.p[k] != '"' && s->text.p[k] != '\''))
        return false;
    *quote = s->text.p[k];
    *end = k + 1;
    return true;
}

/* Behind the text in quotes that begins at `at`; a quote counts with as many backslashes. In a string
 * of JSON it ends with that at the latest, for quotes may be left open there. */
static size_t quoted_end(const struct scan *s, size_t at, char quote, size_t backslashes)
{
    bool string = s->json && s->inside;
    size_t before = 0;
    for (; at < s->text.n; at++) {
        char c = s->text.p[at];
        if (c == quote && before <= backslashes)
            return at - before;
        if (string && c == '"' && before % 2 == 0)
            return at;
        before = c == '\\' ? before + 1 : 0;
        if (backslashes == 0 && before == 2)
            before = 0;
    }
    return s->text.n;
}

/* Behind the list or map that begins at `at`. */
static size_t nested_end(const struct scan *s, size_t at)
{
    size_t depth = 0;
    bool quoted = false;
    for (; at < s->text.n; at++) {
        char c = s->text.p[at];
        if (quoted && c == '\\') {
            at++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            depth++;
        } else if (!quoted && (c == '}' || c == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return s->text.n;
}

static void take(struct scan *s, size_t to)
{
    for (size_t i = s->at; i < to; i++) {
        s->inside ^= s->text.p[i] == '"' && !s->escaped;
        s->escaped = s->text.p[i] == '\\' && !s->escaped;
    }
    buf_add(s->out, (slice){s->text.p + s->at, to - s->at});
    s->at = to;
}

static bool is_plain(slice value)
{
    static const char *const plain[] = {"", "null", "true", "false", "{}", "[]", "None"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (slice_is(value, plain[i]))
            return true;
    return false;
}

static void replace(struct scan *s, size_t to, bool json)
{
    slice value = {s->text.p + s->at, to - s->at};
    if (is_plain(value))
        buf_add(s->out, value);
    else
        buf_adds(s->out, json ? "\"" SECRET "\"" : SECRET);
    s->at = to;
    s->escaped = false;
}

/* s->at is where the value begins. json: its name was in quotes. */
static void mask_value(struct scan *s, const struct row *row, bool json)
{
    size_t end;
    char quote;
    bool string = s->json && s->inside; /* it ends with the next quote */
    if (string && s->at < s->text.n && s->text.p[s->at] == '"')
        return;
    if (quote_at(s, s->at, &end, &quote)) {
        size_t backslashes = end - 1 - s->at;
        take(s, end);
        replace(s, quoted_end(s, s->at, quote, backslashes), false);
        return;
    }
    bool line = row->line && !json;
    if (!line && slice_starts(slice_from(s->text, s->at), SLICE(SECRET))) {
        take(s, s->at + sizeof SECRET - 1); /* once is enough */
        return;
    }
    if (!line && !string && s->at < s->text.n &&
        (s->text.p[s->at] == '{' || s->text.p[s->at] == '[')) {
        replace(s, nested_end(s, s->at), json);
        return;
    }
    const char *ends = line ? "\r\n\"\\" : " \t\r\n&;,}])\"'<>\\";
    for (end = s->at; end < s->text.n && !(s->text.p[end] && strchr(ends, s->text.p[end]));)
        end++;
    replace(s, end, json);
}

/* A name, and where it is secret, its value. */
static void mask_name(struct scan *s)
{
    size_t end = s->at, behind = 0;
    char quote = 0;
    while (end < s->text.n && is_in_name(s->text.p[end]))
        end++;
    const struct row *row = find_row((slice){s->text.p + s->at, end - s->at});
    take(s, end);
    if (!row)
        return;
    bool json = quote_at(s, end, &behind, &quote);
    size_t at = skip(s, json ? behind : end, " \t");
    if (at >= s->text.n || (s->text.p[at] != ':' && s->text.p[at] != '='))
        return;
    at = skip(s, at + 1, json ? " \t\r\n" : " \t");
    take(s, at);
    mask_value(s, row, json && quote == '"' && (s->json ? !s->inside : behind == end + 1));
}

/* SCHEME://USER:PASSWORD@ */
static void mask_url(struct scan *s)
{
    size_t colon = 0, at = s->at + 3;
    take(s, at);
    for (; at < s->text.n; at++) {
        char c = s->text.p[at];
        if (colon == at && slice_starts(slice_from(s->text, at), SLICE(SECRET "@")))
            at += sizeof SECRET - 1; /* once is enough */
        else if (c <= ' ' || c > '~' || strchr("/?#=&\"'<>[]{}\\", c))
            return;
        if (c == ':' && !colon)
            colon = at + 1;
        if (s->text.p[at] == '@' && colon) {
            take(s, colon);
            replace(s, at, false);
            return;
        }
    }
}

void secret_mask(slice text, struct buf *out)
{
    struct scan s = {.text = text, .out = out};
    slice start = slice_trim(text);
    s.json = start.n && strchr("{[\"", start.p[0]);
    while (s.at < text.n) {
        size_t left = text.n - s.at;
        if (text.p[s.at] == '\\') {
            /* the letters of an escape (\n, \u000a) are no part of the name behind it */
            size_t n = left > 1 && text.p[s.at + 1] == 'u' ? 6 : 2;
            take(&s, s.at + (n < left ? n : left));
        } else if (is_in_name(text.p[s.at])) {
            mask_name(&s);
        } else if (left > 3 && memcmp(text.p + s.at, "://", 3) == 0) {
            mask_url(&s);
        } else {
            take(&s, s.at + 1);
        }
    }
}

slice secret_masked(struct arena *a, slice text, size_t most)
{
    struct buf out = BUF_INIT(most);
    secret_mask(text, &out);
    slice masked = slice_eq(buf_slice(&out), text) ? text : slice_copy(a, buf_slice(&out));
    buf_deinit(&out);
    return masked;
}
