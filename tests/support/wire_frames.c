/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wire_frames.h"

#include <stdlib.h>

#include "base/vec.h"
#include "support/wire_text.h"

enum { TYPE_FRAME = 98, TYPE_BYTES = 99, FIELDS_MAX = 1024, BLOCK_MAX = 1 << 20 };

static const char *const types[] = {"DATA", "HEADERS", "PRIORITY", "RST_STREAM",    "SETTINGS",
                                    "PUSH", "PING",    "GOAWAY",   "WINDOW_UPDATE", "CONTINUATION"};
enum { N_TYPES = sizeof types / sizeof *types };

static const char *const codes[] = {"NO_ERROR",
                                    "PROTOCOL_ERROR",
                                    "INTERNAL_ERROR",
                                    "FLOW_CONTROL_ERROR",
                                    "SETTINGS_TIMEOUT",
                                    "STREAM_CLOSED",
                                    "FRAME_SIZE_ERROR",
                                    "REFUSED_STREAM",
                                    "CANCEL",
                                    "COMPRESSION_ERROR",
                                    "CONNECT_ERROR",
                                    "ENHANCE_YOUR_CALM",
                                    "INADEQUATE_SECURITY",
                                    "HTTP_1_1_REQUIRED"};
enum { N_CODES = sizeof codes / sizeof *codes };

/* ---- to bytes ---- */

/* What a line says. */
struct frame_line {
    uint32_t type, flags, stream, number, last, split, pad;
    uint32_t raw; /* of FRAME: its type */
    bool more;
    slice parts; /* behind the first bar */
};

void frame_writer_init(struct frame_writer *w)
{
    *w = (struct frame_writer){0};
    if (nghttp2_hd_deflate_new(&w->deflater, 4096) != 0)
        mem_oom();
}

void frame_writer_deinit(struct frame_writer *w)
{
    nghttp2_hd_deflate_del(w->deflater);
}

static int word_in(slice word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (slice_is(word, words[i]))
            return i;
    return -1;
}

static bool read_number(slice word, uint32_t *out)
{
    uint64_t value;
    if (!slice_to_u64(word, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

/* `name=number` */
static bool read_setting(slice word, struct frame_line *f)
{
    const struct {
        const char *name;
        uint32_t *to;
    } rows[] = {{"last", &f->last}, {"split", &f->split}, {"pad", &f->pad},
                {"type", &f->raw},  {"flags", &f->flags}, {"stream", &f->stream}};
    size_t at = slice_find(word, '=');
    for (size_t i = 0; at < word.n && i < sizeof rows / sizeof *rows; i++)
        if (slice_is((slice){word.p, at}, rows[i].name))
            return read_number(slice_from(word, at + 1), rows[i].to);
    return false;
}

static bool read_word(slice word, struct frame_line *f)
{
    int code = word_in(word, codes, N_CODES);
    if (slice_is(word, "end") || slice_is(word, "ack"))
        f->flags |= NGHTTP2_FLAG_END_STREAM; /* the same bit as ACK */
    else if (slice_is(word, "more"))
        f->more = true;
    else if (code >= 0)
        f->number = (uint32_t)code;
    else
        return read_number(word, &f->number) || read_setting(word, f);
    return true;
}

static bool read_line(struct frame_writer *w, slice line, struct frame_line *f)
{
    slice front, word;
    *f = (struct frame_line){0};
    if (!text_cut_bar(&line, &front) || !slice_word(&front, &word))
        return false;
    f->parts = line;
    int type = word_in(word, types, N_TYPES);
    f->type = type >= 0                 ? (uint32_t)type
              : slice_is(word, "FRAME") ? TYPE_FRAME
              : slice_is(word, "BYTES") ? TYPE_BYTES
                                        : UINT32_MAX;
    if (f->type == UINT32_MAX)
        return false;
    if (f->type < N_TYPES && f->type != NGHTTP2_SETTINGS) {
        if (!slice_word(&front, &word))
            return false;
        if (slice_is(word, "+"))
            f->stream = w->stream ? w->stream + 2 : 1;
        else if (slice_is(word, "."))
            f->stream = w->stream;
        else if (!read_number(word, &f->stream))
            return false;
    }
    while (slice_word(&front, &word))
        if (!read_word(word, f))
            return false;
    if (f->stream)
        w->stream = f->stream;
    return true;
}

static void put_u32(struct buf *out, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_addc(out, (char)(v >> shift & 255));
}

static void put_frame(struct buf *out, uint32_t type, uint32_t flags, uint32_t stream, slice bytes)
{
    put_u32(out, (uint32_t)bytes.n << 8 | (type & 255));
    buf_addc(out, (char)flags);
    put_u32(out, stream);
    buf_add(out, bytes);
}

static uint8_t *bytes_of(struct arena *a, slice text, size_t *n)
{
    struct buf bytes = BUF_INIT(BLOCK_MAX);
    if (!text_unescape(text, &bytes))
        bytes.n = 0;
    uint8_t *copy = (uint8_t *)arena_copy(a, buf_text(&bytes), bytes.n);
    *n = bytes.n;
    buf_deinit(&bytes);
    return copy;
}

struct block {
    struct arena arena;
    nghttp2_nv nv[FIELDS_MAX];
    size_t n;
};

static void add_field(struct block *b, slice name, slice value)
{
    if (b->n == FIELDS_MAX)
        return;
    nghttp2_nv *nv = &b->nv[b->n++];
    *nv = (nghttp2_nv){0};
    nv->name = bytes_of(&b->arena, name, &nv->namelen);
    nv->value = bytes_of(&b->arena, value, &nv->valuelen);
}

/* `name: value`, or `@METHOD authority path` for what every request has. */
static bool add_part(struct block *b, slice part)
{
    slice name, value, rest = part;
    if (part.n == 0 || part.p[0] != '@') {
        if (!text_cut_name(part, &name, &value))
            return false;
        add_field(b, name, value);
        return true;
    }
    if (!slice_word(&rest, &value))
        return false;
    add_field(b, SLICE(":method"), slice_from(value, 1));
    add_field(b, SLICE(":scheme"), SLICE("http"));
    if (!slice_word(&rest, &value))
        return false;
    add_field(b, SLICE(":authority"), value);
    add_field(b, SLICE(":path"), slice_trim(rest));
    return true;
}

/* Fields to a block of HPACK. */
static bool write_block(struct frame_writer *w, slice parts, struct buf *block)
{
    struct block *b = mem_zero(sizeof *b);
    slice part;
    bool well = true;
    while (well && text_cut_bar(&parts, &part))
        well = add_part(b, part);
    size_t room = nghttp2_hd_deflate_bound(w->deflater, b->nv, b->n);
    uint8_t *bytes = arena_alloc(&b->arena, room + 1);
    ssize_t length = nghttp2_hd_deflate_hd(w->deflater, bytes, room, b->nv, b->n);
    if (length > 0)
        buf_add(block, (slice){(char *)bytes, (size_t)length});
    arena_deinit(&b->arena);
    mem_free(b);
    return well && length >= 0;
}

/* HEADERS or CONTINUATION, in one frame or several. */
static bool write_headers(struct frame_writer *w, const struct frame_line *f, struct buf *out)
{
    struct buf block = BUF_INIT(BLOCK_MAX);
    bool well = write_block(w, f->parts, &block);
    slice rest = buf_slice(&block);
    uint32_t type = f->type, flags = f->flags;
    do {
        slice piece = rest;
        if (f->split && piece.n > f->split)
            piece.n = f->split;
        rest = slice_from(rest, piece.n);
        if (rest.n == 0 && !f->more)
            flags |= NGHTTP2_FLAG_END_HEADERS;
        put_frame(out, type, flags, f->stream, piece);
        type = NGHTTP2_CONTINUATION;
        flags = 0;
    } while (rest.n);
    buf_deinit(&block);
    return well;
}

/* `0x3=100 ...` as the payload of SETTINGS. */
static bool write_settings(slice words, struct buf *payload)
{
    slice word;
    while (slice_word(&words, &word)) {
        size_t at = slice_find(word, '=');
        uint32_t value;
        if (at != 3 || !slice_starts(word, SLICE("0x")) ||
            !read_number(slice_from(word, 4), &value))
            return false;
        buf_addc(payload, 0);
        buf_addc(payload, (char)(word.p[2] - '0'));
        put_u32(payload, value);
    }
    return true;
}

static bool write_payload(const struct frame_line *f, struct buf *payload)
{
    struct buf text = BUF_INIT(BLOCK_MAX);
    bool well = !f->parts.p || text_unescape(slice_trim(f->parts), &text);
    if (f->type == NGHTTP2_SETTINGS) {
        well = write_settings(buf_slice(&text), payload);
    } else {
        if (f->pad)
            buf_addc(payload, (char)f->pad);
        if (f->type == NGHTTP2_GOAWAY)
            put_u32(payload, f->last);
        if (f->type == NGHTTP2_GOAWAY || f->type == NGHTTP2_RST_STREAM ||
            f->type == NGHTTP2_WINDOW_UPDATE)
            put_u32(payload, f->number);
        buf_add(payload, buf_slice(&text));
        for (uint32_t i = 0; i < f->pad; i++)
            buf_addc(payload, 0);
    }
    buf_deinit(&text);
    return well;
}

bool frame_write(struct frame_writer *w, slice line, struct buf *out)
{
    struct frame_line f;
    if (!read_line(w, line, &f))
        return false;
    if (f.type == NGHTTP2_HEADERS || f.type == NGHTTP2_CONTINUATION)
        return write_headers(w, &f, out);
    if (f.type == NGHTTP2_DATA && f.pad)
        f.flags |= NGHTTP2_FLAG_PADDED;
    struct buf payload = BUF_INIT(BLOCK_MAX);
    bool well = write_payload(&f, &payload);
    if (f.type == TYPE_BYTES)
        buf_add(out, buf_slice(&payload));
    else
        put_frame(out, f.type == TYPE_FRAME ? f.raw : f.type, f.flags, f.stream,
                  buf_slice(&payload));
    buf_deinit(&payload);
    return well;
}

/* ---- to text ---- */

struct frame {
    uint32_t stream, type, flags, order;
    struct buf text;
};

struct frame_reader {
    nghttp2_hd_inflater *inflater;
    VEC(struct frame) frames;
};

static uint32_t get_u32(slice s, size_t at)
{
    uint32_t v = 0;
    for (size_t i = at; i < at + 4; i++)
        v = v << 8 | (i < s.n ? (uint8_t)s.p[i] : 0);
    return v;
}

static bool read_block(nghttp2_hd_inflater *inflater, slice block, bool last, struct buf *text)
{
    const uint8_t *at = (const uint8_t *)block.p;
    size_t left = block.n;
    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(inflater, &nv, &flags, at, left, last);
        if (used < 0)
            return false;
        at += used;
        left -= (size_t)used;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            buf_adds(text, " | ");
            buf_add(text, (slice){(char *)nv.name, nv.namelen});
            buf_adds(text, ": ");
            buf_add(text, (slice){(char *)nv.value, nv.valuelen});
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) {
            nghttp2_hd_inflate_end_headers(inflater);
            return true;
        }
        if (!(flags & NGHTTP2_HD_INFLATE_EMIT) && left == 0)
            return !last;
    }
}

/* The frame that this one goes on, or NULL: DATA behind DATA, CONTINUATION behind HEADERS. */
static struct frame *gone_on(struct frame_reader *r, uint32_t type, uint32_t stream)
{
    for (uint32_t i = r->frames.n; i-- > 0;) {
        struct frame *f = &r->frames.at[i];
        if (f->stream != stream || f->type == NGHTTP2_WINDOW_UPDATE)
            continue;
        bool more = type == NGHTTP2_DATA ? f->type == NGHTTP2_DATA && !(f->flags & 1)
                                         : type == NGHTTP2_CONTINUATION;
        return more ? f : NULL;
    }
    return NULL;
}

static void read_payload(struct frame *f, slice payload)
{
    struct buf *text = &f->text;
    uint32_t code = get_u32(payload, f->type == NGHTTP2_GOAWAY ? 4 : 0);
    if (f->type == NGHTTP2_GOAWAY)
        buf_addf(text, " last=%u", get_u32(payload, 0));
    switch (f->type) {
    case NGHTTP2_GOAWAY:
    case NGHTTP2_RST_STREAM: buf_addf(text, " %s", code < N_CODES ? codes[code] : "?"); break;
    case NGHTTP2_WINDOW_UPDATE: buf_addf(text, " %u", code); break;
    case NGHTTP2_SETTINGS:
        for (size_t i = 0; i + 6 <= payload.n; i += 6)
            buf_addf(text, " 0x%d=%u", payload.p[i + 1], get_u32(payload, i + 2));
        break;
    default: buf_adds(text, payload.n ? " | " : ""); buf_add(text, payload);
    }
}

static bool read_frame(struct frame_reader *r, uint32_t type, uint32_t flags, uint32_t stream,
                       slice payload)
{
    struct frame *f = gone_on(r, type, stream);
    if (!f) {
        vec_push(&r->frames, (struct frame){stream, type, flags, r->frames.n, BUF_INIT(BLOCK_MAX)});
        f = &vec_last(&r->frames);
    } else {
        f->flags |= flags;
    }
    if (type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION)
        return read_block(r->inflater, payload, flags & NGHTTP2_FLAG_END_HEADERS, &f->text);
    if (type == NGHTTP2_DATA) {
        buf_adds(&f->text, payload.n && f->text.n == 0 ? " | " : "");
        buf_add(&f->text, payload);
    } else {
        read_payload(f, payload);
    }
    return true;
}

static int frame_cmp(const void *a, const void *b)
{
    const struct frame *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void print_frame(const struct frame *f, struct buf *out)
{
    const char *type = f->type < N_TYPES ? types[f->type] : "FRAME";
    buf_adds(out, type);
    if (f->type != NGHTTP2_SETTINGS)
        buf_addf(out, " %u", f->stream);
    if (f->type <= NGHTTP2_HEADERS && f->flags & NGHTTP2_FLAG_END_STREAM)
        buf_adds(out, " end");
    if ((f->type == NGHTTP2_PING || f->type == NGHTTP2_SETTINGS) && f->flags & NGHTTP2_FLAG_ACK)
        buf_adds(out, " ack");
    buf_add(out, buf_slice(&f->text));
    buf_addc(out, '\n');
}

bool frames_read(slice bytes, bool client, bool all, struct buf *out)
{
    struct frame_reader r = {0};
    if (client) {
        if (!slice_starts(bytes, SLICE(FRAMES_PREFACE)))
            return bytes.n == 0;
        bytes = slice_from(bytes, sizeof FRAMES_PREFACE - 1);
    }
    if (nghttp2_hd_inflate_new(&r.inflater) != 0)
        mem_oom();
    bool well = true;
    while (well && bytes.n) {
        size_t n = get_u32(bytes, 0) >> 8;
        well = bytes.n >= 9 + n && read_frame(&r, (uint8_t)bytes.p[3], (uint8_t)bytes.p[4],
                                              get_u32(bytes, 5), (slice){bytes.p + 9, n});
        if (well)
            bytes = slice_from(bytes, 9 + n);
    }
    if (r.frames.n)
        qsort(r.frames.at, r.frames.n, sizeof *r.frames.at, frame_cmp);
    for (uint32_t i = 0; i < r.frames.n; i++) {
        uint32_t type = r.frames.at[i].type;
        if (all || (type != NGHTTP2_SETTINGS && type != NGHTTP2_WINDOW_UPDATE))
            print_frame(&r.frames.at[i], out);
        buf_deinit(&r.frames.at[i].text);
    }
    vec_deinit(&r.frames);
    nghttp2_hd_inflate_del(r.inflater);
    return well;
}
