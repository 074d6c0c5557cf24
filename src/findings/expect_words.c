/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of sentences. Whatever a service sent may stand in them, so all of it is bounded, one
 * line, and UTF-8. */
#include <stdio.h>

#include "data/secret.h"
#include "findings/expect_int.h"

/* ---- text ---- */

/* The length of the character at the front of s, 1 to 4; 0: it is none of UTF-8. */
static size_t character(slice s)
{
    static const struct {
        uint8_t mask, lead, n;
        uint32_t least;
    } rows[] = {
        {0x80, 0, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    uint8_t first = (uint8_t)s.p[0];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if ((first & rows[i].mask) != rows[i].lead || s.n < rows[i].n)
            continue;
        uint32_t code = first & (uint8_t)~rows[i].mask;
        for (size_t k = 1; k < rows[i].n; k++) {
            if ((s.p[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (s.p[k] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code < 0xe000;
        return code < rows[i].least || surrogate || code > 0x10ffff ? 0 : rows[i].n;
    }
    return 0;
}

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

/* One character off *text; false: it does not fit below `end`. */
static bool add_character(struct buf *out, slice *text, size_t end, bool quoted)
{
    char room[8];
    size_t n = character(*text);
    slice one = {n ? text->p : "?", n ? n : 1};
    slice print = print_of(one, quoted, room);
    if (out->n + print.n > end)
        return false;
    buf_add(out, print);
    *text = slice_from(*text, one.n);
    return true;
}

static void add_characters(struct buf *out, slice text, size_t most, bool quoted)
{
    size_t end = out->n + most;
    while (text.n)
        if (!add_character(out, &text, end, quoted)) {
            buf_adds(out, "...");
            return;
        }
}

void expect_add_brief(struct buf *out, slice text, size_t most)
{
    add_characters(out, text, most, false);
}

void expect_add_quoted(struct buf *out, slice text, size_t most)
{
    buf_addc(out, '"');
    add_characters(out, text, most, true);
    buf_addc(out, '"');
}

/* ---- statuses ---- */

static void add_status(struct buf *out, const struct expect_status *s)
{
    if (s->grpc)
        buf_adds(out, "gRPC ");
    if (!s->grpc && s->low % 100 == 0 && s->high == s->low + 99)
        buf_addf(out, "%uxx", (unsigned)s->low / 100);
    else if (s->low == s->high)
        buf_addf(out, "%u", (unsigned)s->low);
    else
        buf_addf(out, "%u to %u", (unsigned)s->low, (unsigned)s->high);
}

void expect_add_statuses(struct buf *out, const struct expect_status *status, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_adds(out, i + 1 == n ? " or " : ", ");
        add_status(out, &status[i]);
    }
}

void expect_add_outcome(struct buf *out, outcome o)
{
    if (outcome_kind(o) == OUT_GRPC)
        buf_addf(out, "gRPC %u", (unsigned)outcome_code(o));
    else
        outcome_print(o, out);
}

/* ---- values ---- */

void expect_add_node(struct buf *out, const struct node *value, size_t most)
{
    struct buf text = BUF_INIT(most + 8); /* more than is shown: so it is seen that there is more */
    node_print(value, &text);
    expect_add_brief(out, buf_slice(&text), most);
    buf_deinit(&text);
}

static int add_piece(const char *p, size_t n, void *user)
{
    struct buf *out = user;
    buf_add(out, (slice){p, n});
    return out->full ? -1 : 0; /* ends it: a large value is not printed in full */
}

void expect_add_json(struct buf *out, const json_t *value, size_t most)
{
    struct buf text = BUF_INIT(most + 8);
    (void)json_dump_callback(value, add_piece, &text, JSON_ENCODE_ANY | JSON_SORT_KEYS);
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

void expect_hide(struct buf *why, struct buf *detail, size_t from)
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
