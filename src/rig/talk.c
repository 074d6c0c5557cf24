/* SPDX-License-Identifier: Apache-2.0
 *
 * Two protocols, each a row: how an operation is written, how its reply is read. Readers see all bytes
 * of a reply each time: those are few, and nothing has to be remembered between them. */
#include "rig/talk.h"

static void broken(struct talk_reply *out)
{
    *out = (struct talk_reply){.kind = TALK_BROKEN};
}

static void more(size_t so_far, struct talk_reply *out)
{
    *out = (struct talk_reply){.kind = so_far > TALK_REPLY_MAX ? TALK_BROKEN : TALK_MORE};
}

/* Cuts a line that ends with \r\n. False: it has not come yet, or (*bad) there can be none. */
static bool line_cut(slice bytes, slice *line, bool *bad)
{
    size_t at = slice_find(bytes, '\n');
    *bad = at < bytes.n && (at == 0 || bytes.p[at - 1] != '\r');
    if (at == bytes.n || *bad)
        return false;
    *line = (slice){bytes.p, at - 1};
    return true;
}

/* ---- Redis ---- */

static void resp_request(const slice *words, uint32_t n, struct buf *out)
{
    buf_addf(out, "*%u\r\n", n);
    for (uint32_t i = 0; i < n; i++) {
        buf_addf(out, "$%zu\r\n", words[i].n);
        buf_add(out, words[i]);
        buf_adds(out, "\r\n");
    }
}

/* -1, or digits. */
static bool resp_count(slice text, uint64_t most, int64_t *out)
{
    uint64_t number;
    if (slice_is(text, "-1")) {
        *out = -1;
        return true;
    }
    if (!slice_to_u64(text, most, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

struct resp {
    slice all;
    size_t at;
    uint32_t items;
    bool named; /* the first value is known */
    struct talk_reply *out;
};

/* The value of a reply is the first one in it. */
static void resp_value(struct resp *r, enum talk_kind kind, slice text, bool nothing)
{
    if (r->named)
        return;
    r->named = true;
    r->out->kind = kind;
    r->out->text = text;
    r->out->nothing = nothing;
}

/* What stands behind "$n\r\n". */
static enum talk_kind resp_bulk(struct resp *r, int64_t n)
{
    if (n < 0) {
        resp_value(r, TALK_OK, (slice){0}, true);
        return TALK_OK;
    }
    slice rest = slice_from(r->all, r->at);
    size_t length = (size_t)n;
    if (rest.n < length + 2)
        return TALK_MORE;
    if (rest.p[length] != '\r' || rest.p[length + 1] != '\n')
        return TALK_BROKEN;
    resp_value(r, TALK_OK, (slice){rest.p, length}, false);
    r->at += length + 2;
    return TALK_OK;
}

/* One value, and all that is in it. */
static enum talk_kind resp_read(struct resp *r, uint32_t depth)
{
    slice line, rest = slice_from(r->all, r->at);
    bool bad;
    int64_t n;
    if (depth > TALK_DEPTH_MAX || ++r->items > TALK_ITEMS_MAX)
        return TALK_BROKEN;
    if (!line_cut(rest, &line, &bad))
        return bad ? TALK_BROKEN : TALK_MORE;
    if (!line.n)
        return TALK_BROKEN;
    r->at += line.n + 2;
    slice value = slice_from(line, 1);
    switch (line.p[0]) {
    case '+':
    case ':': resp_value(r, TALK_OK, value, false); return TALK_OK;
    case '-': resp_value(r, depth ? TALK_OK : TALK_ERROR, value, false); return TALK_OK;
    case '$': return resp_count(value, TALK_REPLY_MAX, &n) ? resp_bulk(r, n) : TALK_BROKEN;
    case '*': break;
    default: return TALK_BROKEN;
    }
    if (!resp_count(value, TALK_ITEMS_MAX, &n))
        return TALK_BROKEN;
    enum talk_kind kind = TALK_OK;
    for (int64_t i = 0; i < n && kind == TALK_OK; i++)
        kind = resp_read(r, depth + 1);
    return kind;
}

static void resp_reply(slice bytes, struct talk_reply *out)
{
    struct resp r = {.all = bytes, .out = out};
    *out = (struct talk_reply){.kind = TALK_OK, .nothing = true};
    enum talk_kind kind = resp_read(&r, 0);
    if (kind == TALK_BROKEN || r.at > TALK_REPLY_MAX)
        broken(out);
    else if (kind == TALK_MORE)
        more(bytes.n, out);
    else
        out->used = r.at;
}

/* ---- memcached ---- */

static bool is_storing(slice word)
{
    static const char *const storing[] = {"set", "add", "replace", "append", "prepend"};
    for (size_t i = 0; i < sizeof storing / sizeof *storing; i++)
        if (slice_is(word, storing[i]))
            return true;
    return false;
}

static void memcached_request(const slice *words, uint32_t n, struct buf *out)
{
    if (n == 3 && is_storing(words[0])) {
        buf_addf(out, "%.*s %.*s 0 0 %zu\r\n%.*s\r\n", SLICE_ARG(words[0]), SLICE_ARG(words[1]),
                 words[2].n, SLICE_ARG(words[2]));
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        buf_addf(out, "%s%.*s", i ? " " : "", SLICE_ARG(words[i]));
    buf_adds(out, "\r\n");
}

/* What one line of a reply is. */
static const struct memcached_line {
    const char *word;
    enum talk_kind kind; /* MORE: others follow */
    bool nothing;
} memcached_lines[] = {
    {"STORED", TALK_OK, false},
    {"END", TALK_OK, false},
    {"DELETED", TALK_OK, false},
    {"TOUCHED", TALK_OK, false},
    {"OK", TALK_OK, false},
    {"VERSION", TALK_OK, false},
    {"RESET", TALK_OK, false},
    {"NOT_STORED", TALK_OK, true},
    {"NOT_FOUND", TALK_OK, true},
    {"EXISTS", TALK_OK, true},
    {"STAT", TALK_MORE, false},
    {"VALUE", TALK_MORE, false},
    {"ERROR", TALK_ERROR, false},
    {"CLIENT_ERROR", TALK_ERROR, false},
    {"SERVER_ERROR", TALK_ERROR, false},
};

static const struct memcached_line *memcached_line(slice line)
{
    static const struct memcached_line number = {"", TALK_OK, false};
    slice rest = line, word;
    uint64_t value;
    if (!slice_word(&rest, &word))
        return NULL;
    if (slice_to_u64(word, UINT64_MAX, &value)) /* of incr and decr */
        return &number;
    for (size_t i = 0; i < sizeof memcached_lines / sizeof *memcached_lines; i++)
        if (slice_is(word, memcached_lines[i].word))
            return &memcached_lines[i];
    return NULL;
}

/* Bytes behind "VALUE KEY FLAGS n"; false: that is no such line. */
static bool memcached_bytes(slice line, size_t *out)
{
    slice word = {0};
    uint64_t n;
    for (int i = 0; i < 4; i++)
        if (!slice_word(&line, &word))
            return false;
    if (!slice_to_u64(word, TALK_REPLY_MAX, &n))
        return false;
    *out = (size_t)n;
    return true;
}

static void memcached_reply(slice bytes, struct talk_reply *out)
{
    size_t at = 0, n;
    slice line, value = {0};
    bool bad, found = false;
    for (uint32_t items = 0; items < TALK_ITEMS_MAX; items++) {
        slice rest = slice_from(bytes, at);
        if (!line_cut(rest, &line, &bad)) {
            (bad ? broken(out) : more(bytes.n, out));
            return;
        }
        const struct memcached_line *known = memcached_line(line);
        at += line.n + 2;
        if (!known || at > TALK_REPLY_MAX) {
            broken(out);
            return;
        }
        if (known->kind != TALK_MORE) {
            bool end = slice_is(line, "END");
            *out = (struct talk_reply){.kind = known->kind,
                                       .used = at,
                                       .text = end ? value : line,
                                       .nothing = known->nothing || (end && !found)};
            return;
        }
        found = true;
        if (line.p[0] != 'V')
            continue;
        if (!memcached_bytes(line, &n)) {
            broken(out);
            return;
        }
        if (bytes.n - at < n + 2) {
            more(bytes.n, out);
            return;
        }
        value = value.p ? value : (slice){bytes.p + at, n};
        at += n + 2;
    }
    broken(out);
}

/* ---- all of them ---- */

const struct talk talks[] = {
    {"redis", resp_request, resp_reply},
    {"memcached", memcached_request, memcached_reply},
};
const size_t n_talks = sizeof talks / sizeof *talks;

const struct talk *talk_find(slice name)
{
    for (size_t i = 0; i < n_talks; i++)
        if (slice_is(name, talks[i].name))
            return &talks[i];
    return NULL;
}
