/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading is a recursive descent over the bytes, one function per kind of value.
 *
 * 1. Recursion is bounded by JSON_DEPTH_MAX, memory by JSON_NODES_MAX and the size of the input.
 * 2. Every step looks at a byte only after it knows that there is one. */
#include "data/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/printable.h"

/* ======== reading ======== */

enum { KEYS_FEW = 16 }; /* up to here comparing each with each is the cheapest */

struct parser {
    struct arena *arena;
    const char *at, *end;
    uint32_t depth, nodes;
    VEC(struct node_pair) open; /* what was read of the lists and maps around, the innermost last */
};

static int parse_value(struct parser *p, const struct node **out);

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static bool take(struct parser *p, char c)
{
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

/* ---- strings ---- */

static int hex4(const char *p, uint32_t *out)
{
    uint64_t number = 0;
    bool ok = slice_to_hex((slice){p, 4}, &number);
    *out = (uint32_t)number;
    return ok ? 0 : -1;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* The \u.... (or a pair of them) at *from; moves on behind it. */
static int unescape_unicode(const char **from, const char *end, uint32_t *out)
{
    uint32_t low;
    if (end - *from < 6 || hex4(*from + 2, out))
        return -1;
    *from += 6;
    if (*out >= 0xdc00 && *out < 0xe000)
        return -1;
    if (*out < 0xd800 || *out >= 0xe000)
        return 0;
    if (end - *from < 6 || (*from)[0] != '\\' || (*from)[1] != 'u' || hex4(*from + 2, &low) ||
        low < 0xdc00 || low >= 0xe000)
        return -1;
    *from += 6;
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return 0;
}

/* What stands between the quotes, with its escapes resolved: never longer than it was. */
static int unescape(struct arena *a, slice raw, slice *out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *text = arena_alloc(a, raw.n + 1), *to = text;
    const char *from = raw.p, *end = raw.p + raw.n;
    while (from < end) {
        uint32_t c;
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        if (end - from >= 2 && from[1] == 'u') {
            if (unescape_unicode(&from, end, &c))
                return -1;
            to = put_utf8(to, c);
            continue;
        }
        const char *known = end - from >= 2 && from[1] ? strchr(letters, from[1]) : NULL;
        if (!known)
            return -1;
        *to++ = meant[known - letters];
        from += 2;
    }
    *to = 0;
    *out = (slice){text, (size_t)(to - text)};
    return 0;
}

static int parse_string(struct parser *p, slice *out)
{
    if (!take(p, '"'))
        return -1;
    const char *start = p->at;
    bool escapes = false;
    while (p->at < p->end && *p->at != '"') {
        if ((unsigned char)*p->at < 0x20)
            return -1;
        if (*p->at > 0 && *p->at != '\\') { /* ASCII, as nearly all is */
            p->at++;
            continue;
        }
        if (*p->at == '\\') {
            escapes = true;
            p->at++;
            if (p->at == p->end)
                return -1;
        }
        slice rest = {p->at, (size_t)(p->end - p->at)};
        if (glyph_take(&rest).bytes.p != p->at) /* no UTF-8: another stands for it */
            return -1;
        p->at = rest.p;
    }
    slice raw = {start, (size_t)(p->at - start)};
    if (!take(p, '"'))
        return -1;
    *out = raw;
    return escapes ? unescape(p->arena, raw, out) : 0;
}

/* ---- numbers and words ---- */

static bool take_digits(struct parser *p)
{
    const char *start = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return p->at > start;
}

static int parse_number(struct parser *p, const struct node **out)
{
    enum { FEW = 15 };
    const char *start = p->at;
    take(p, '-');
    if (!take(p, '0') && !take_digits(p))
        return -1;
    const char *whole = p->at;
    if (take(p, '.') && !take_digits(p))
        return -1;
    if (take(p, 'e') || take(p, 'E')) {
        if (!take(p, '+'))
            take(p, '-');
        if (!take_digits(p))
            return -1;
    }
    struct node *node = arena_zero(p->arena, sizeof *node);
    node->type = NODE_NUM;
    node->text = (slice){start, (size_t)(p->at - start)};
    if (p->at == whole && node->text.n <= FEW) { /* so few digits that a double holds the number */
        bool minus = *start == '-';
        int64_t number = 0;
        for (const char *digit = start + minus; digit < whole; digit++)
            number = number * 10 + (*digit - '0');
        node->num = minus ? -(double)number : (double)number;
    } else {
        char room[64];
        bool fits = node->text.n < sizeof room;
        char *text = fits ? room : arena_alloc(p->arena, node->text.n + 1);
        memcpy(text, start, node->text.n);
        text[node->text.n] = 0;
        node->num = strtod(text, NULL);
    }
    *out = node;
    return isfinite(node->num) ? 0 : -1;
}

static int parse_word(struct parser *p, const struct node **out)
{
    static const struct {
        slice word;
        const struct node *node;
    } words[] = {{{"null", 4}, &node_null}, {{"true", 4}, &node_true}, {{"false", 5}, &node_false}};
    slice rest = {p->at, (size_t)(p->end - p->at)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_starts(rest, words[i].word)) {
            p->at += words[i].word.n;
            *out = words[i].node;
            return 0;
        }
    return -1;
}

/* ---- lists and maps ---- */

static bool key_is(const void *owner, uint32_t id, const void *key)
{
    const struct node *map = owner;
    return slice_eq(map->map[id].key, *(const slice *)key);
}

static bool keys_differ(const struct node *map)
{
    struct index seen = {0};
    bool differ = true;
    for (uint32_t i = 0; i < map->n && differ; i++) {
        if (map->n <= KEYS_FEW) {
            for (uint32_t k = 0; k < i; k++)
                differ &= !slice_eq(map->map[k].key, map->map[i].key);
            continue;
        }
        uint64_t hash = hash_slice(map->map[i].key);
        differ = index_get(&seen, hash, key_is, map, &map->map[i].key) == INDEX_NONE;
        if (differ)
            index_put(&seen, hash, i);
    }
    index_deinit(&seen);
    return differ;
}

/* A list or a map, behind its bracket. */
static int parse_items(struct parser *p, bool map, const struct node **out)
{
    const uint32_t first = p->open.n;
    p->at++;
    skip_blanks(p);
    if (!take(p, map ? '}' : ']')) {
        do {
            struct node_pair item = {.value = NULL};
            skip_blanks(p);
            if (map && parse_string(p, &item.key))
                return -1;
            skip_blanks(p);
            if ((map && !take(p, ':')) || parse_value(p, &item.value))
                return -1;
            vec_push(&p->open, item);
            skip_blanks(p);
        } while (take(p, ','));
        if (!take(p, map ? '}' : ']'))
            return -1;
    }
    const uint32_t n = p->open.n - first;
    struct node *node = map ? node_map(p->arena, n) : node_list(p->arena, n);
    for (uint32_t i = 0; i < n; i++)
        if (map)
            node->map[i] = p->open.at[first + i];
        else
            node->list[i] = p->open.at[first + i].value;
    p->open.n = first;
    node_seal(node);
    *out = node;
    return map && !keys_differ(node) ? -1 : 0;
}

static int parse_value(struct parser *p, const struct node **out)
{
    int status;
    slice text;
    skip_blanks(p);
    if (p->at == p->end || p->depth == JSON_DEPTH_MAX || ++p->nodes > JSON_NODES_MAX)
        return -1;
    p->depth++;
    switch (*p->at) {
    case '{':
    case '[': status = parse_items(p, *p->at == '{', out); break;
    case '"':
        status = parse_string(p, &text);
        if (status == 0)
            *out = node_str(p->arena, text);
        break;
    case 'n':
    case 't':
    case 'f': status = parse_word(p, out); break;
    default: status = parse_number(p, out); break;
    }
    p->depth--;
    return status;
}

int node_parse_json(struct arena *a, slice bytes, const struct node **out)
{
    struct parser p = {.arena = a, .at = bytes.p, .end = bytes.p + bytes.n};
    const struct node *value;
    if (bytes.n == 0 || bytes.n > JSON_BYTES_MAX)
        return -1;
    int status = parse_value(&p, &value);
    skip_blanks(&p);
    vec_deinit(&p.open);
    if (status || p.at != p.end)
        return -1;
    *out = value;
    return 0;
}

/* ======== writing ======== */

/* Brief: \n and its like for the control characters that have one. */
static void add_string(struct buf *out, slice s, bool brief)
{
    static const char letters[] = "\b\f\n\r\t", names[] = "bfnrt";
    size_t plain = 0; /* from here to i nothing needs a backslash */
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        printable_json((slice){s.p + plain, i - plain}, out);
        const char *letter = brief && c ? strchr(letters, c) : NULL;
        if (letter)
            buf_addf(out, "\\%c", names[letter - letters]);
        else if (c < 0x20)
            buf_addf(out, brief ? "\\u%04X" : "\\u%04x", (unsigned)c);
        else
            buf_addf(out, "\\%c", c);
        plain = i + 1;
    }
    if (plain < s.n)
        printable_json(slice_from(s, plain), out);
    buf_addc(out, '"');
}

void buf_add_json_string(struct buf *out, slice s)
{
    add_string(out, s, false);
}

/* The shortest text that is read back to the same number. */
static void add_number(struct buf *out, const struct node *number)
{
    slice exact = node_digits(number);
    double num = number->num;
    char text[64];
    if (exact.n) {
        buf_add(out, exact);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, num);
        if (!islessgreater(strtod(text, NULL), num))
            break;
    }
    if (fabs(num) < 1e17 && !islessgreater(num, floor(num)))
        snprintf(text, sizeof text, "%lld", (long long)num);
    buf_adds(out, text);
}

/* ---- what stands between values ---- */

static void add_line(struct json_out *j)
{
    buf_addc(j->to, '\n');
    for (uint32_t i = 0; i < j->depth; i++)
        buf_adds(j->to, "  ");
}

/* Everything in front of a value; `key` NULL: it has none, or has written it. */
static void add_key(struct json_out *j, const slice *key)
{
    if (j->at == JSON_AT_NEXT)
        buf_adds(j->to, j->style == JSON_SPACED ? ", " : ",");
    if (j->at != JSON_AT_VALUE && j->style == JSON_PRETTY && j->depth)
        add_line(j);
    j->at = JSON_AT_NEXT;
    if (!key)
        return;
    add_string(j->to, *key, j->style == JSON_PRETTY);
    buf_adds(j->to, j->style == JSON_COMPACT ? ":" : ": ");
}

static struct buf *before(struct json_out *j, const char *key)
{
    slice text = slice_of(key ? key : "");
    add_key(j, key ? &text : NULL);
    return j->to;
}

static void add_open(struct json_out *j, const char *key, char bracket)
{
    buf_addc(before(j, key), bracket);
    j->depth++;
    j->at = JSON_AT_FIRST;
}

static void add_close(struct json_out *j, char bracket)
{
    j->depth--;
    if (j->style == JSON_PRETTY && j->at == JSON_AT_NEXT)
        add_line(j);
    buf_addc(j->to, bracket);
    j->at = JSON_AT_NEXT;
}

/* ---- the face ---- */

void json_map(struct json_out *j, const char *key)
{
    add_open(j, key, '{');
}

void json_map_end(struct json_out *j)
{
    add_close(j, '}');
}

void json_list(struct json_out *j, const char *key)
{
    add_open(j, key, '[');
}

void json_list_end(struct json_out *j)
{
    add_close(j, ']');
}

void json_key(struct json_out *j, slice key)
{
    add_key(j, &key);
    j->at = JSON_AT_VALUE;
}

void json_str(struct json_out *j, const char *key, slice text)
{
    add_string(before(j, key), text, j->style == JSON_PRETTY);
}

void json_text(struct json_out *j, const char *key, const char *text)
{
    if (text)
        json_str(j, key, slice_of(text));
    else
        json_nil(j, key);
}

void json_take(struct json_out *j, const char *key, struct buf *text)
{
    json_str(j, key, buf_slice(text));
    buf_clear(text);
}

void json_int(struct json_out *j, const char *key, int64_t number)
{
    char digits[DIGITS_MOST];
    struct buf *to = before(j, key);
    buf_adds(to, number < 0 ? "-" : ""); /* pages list millions of numbers: no format is read */
    buf_add(to, slice_of_u64(number < 0 ? -(uint64_t)number : (uint64_t)number, digits));
}

void json_uint(struct json_out *j, const char *key, uint64_t number)
{
    char digits[DIGITS_MOST];
    buf_add(before(j, key), slice_of_u64(number, digits));
}

void json_bool(struct json_out *j, const char *key, bool value)
{
    buf_adds(before(j, key), value ? "true" : "false");
}

void json_nil(struct json_out *j, const char *key)
{
    buf_adds(before(j, key), "null");
}

void json_num(struct json_out *j, const char *key, double number)
{
    if (fabs(number) < 9007199254740992.0 && !islessgreater(number, floor(number))) {
        json_int(j, key, (int64_t)number);
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.15g", number);
    size_t digits = strcspn(text, "e");
    buf_add(before(j, key), (slice){text, digits});
    if (text[digits]) /* 1e+20 and 1e-07 are 1e20 and 1e-7 */
        buf_addf(j->to, "e%ld", strtol(text + digits + 1, NULL, 10));
}

void json_node(struct json_out *j, const char *key, const struct node *value)
{
    enum node_type type = value ? value->type : NODE_NULL;
    if (j->to->full)
        return;
    switch (type) {
    case NODE_NULL: json_nil(j, key); break;
    case NODE_BOOL: json_bool(j, key, value->boolean); break;
    case NODE_NUM: add_number(before(j, key), value); break;
    case NODE_STR: json_str(j, key, value->text); break;
    case NODE_LIST:
        json_list(j, key);
        for (uint32_t i = 0; i < value->n; i++)
            json_node(j, NULL, value->list[i]);
        json_list_end(j);
        break;
    case NODE_MAP:
        json_map(j, key);
        for (uint32_t i = 0; i < value->n; i++) {
            json_key(j, value->map[i].key);
            json_node(j, NULL, value->map[i].value);
        }
        json_map_end(j);
        break;
    }
}

void node_print(const struct node *node, struct buf *out)
{
    struct json_out j = json_out(out, JSON_SPACED);
    json_node(&j, NULL, node);
}
