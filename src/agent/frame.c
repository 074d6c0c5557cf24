/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/frame.h"

#include "base/token.h"

static const struct {
    enum frame_kind kind;
    uint32_t most;
} rows[] = {
    {FRAME_HELLO, 2 + TOKEN_MOST},
    {FRAME_RUN, FRAME_RUN_MAX},
    {FRAME_INPUT, FRAME_PIECE_MAX},
    {FRAME_END, 0},
    {FRAME_OUTPUT, FRAME_PIECE_MAX},
    {FRAME_ERRORS, FRAME_PIECE_MAX},
    {FRAME_CODE, 4},
    {FRAME_REFUSED, FRAME_REFUSED_MAX},
};

static uint32_t most_of(char kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((char)rows[i].kind == kind)
            return rows[i].most;
    return 0;
}

static uint32_t number(const char *p, size_t n)
{
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++)
        all = all << 8 | (uint8_t)p[i];
    return all;
}

/* Moves bytes from *in until there are n. */
static bool have(struct frames *f, size_t n, slice *in)
{
    size_t more = n > f->bytes.n ? n - f->bytes.n : 0;
    if (more > in->n)
        more = in->n;
    if (more)
        buf_add(&f->bytes, (slice){in->p, more});
    *in = slice_from(*in, more);
    return f->bytes.n >= n;
}

enum frame_step frames_take(struct frames *f, const char *may, slice *in, struct frame *out)
{
    const char *p = f->bytes.p;
    f->bytes.max = FRAME_HEAD + FRAME_RUN_MAX;
    if (f->bytes.n >= FRAME_HEAD && f->bytes.n == FRAME_HEAD + number(p + 1, 4))
        buf_clear(&f->bytes); /* it was given */
    if (!have(f, FRAME_HEAD, in))
        return FRAME_MORE;
    p = f->bytes.p;
    uint32_t n = number(p + 1, 4);
    if (!p[0] || !strchr(may, p[0]) || n > most_of(p[0]))
        return FRAME_WRONG;
    if (!have(f, FRAME_HEAD + n, in))
        return FRAME_MORE;
    *out = (struct frame){(enum frame_kind)f->bytes.p[0], {f->bytes.p + FRAME_HEAD, n}};
    return FRAME_WHOLE;
}

void frames_deinit(struct frames *f)
{
    buf_deinit(&f->bytes);
}

static void add_head(struct chain *out, enum frame_kind kind, size_t n)
{
    char head[FRAME_HEAD] = {(char)kind, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};
    chain_add(out, (slice){head, sizeof head});
}

void frame_add(struct chain *out, enum frame_kind kind, slice bytes)
{
    size_t most = most_of((char)kind);
    do {
        size_t n = bytes.n < most ? bytes.n : most;
        add_head(out, kind, n);
        chain_add(out, (slice){bytes.p, n});
        bytes = slice_from(bytes, n);
    } while (bytes.n && most);
}

void frame_add_hello(struct chain *out, slice token)
{
    char version[] = {(char)(FRAME_VERSION >> 8), (char)FRAME_VERSION};
    add_head(out, FRAME_HELLO, sizeof version + token.n);
    chain_add(out, (slice){version, sizeof version});
    chain_add(out, token);
}

void frame_add_code(struct chain *out, int code)
{
    char bytes[] = {(char)(code >> 24), (char)(code >> 16), (char)(code >> 8), (char)code};
    frame_add(out, FRAME_CODE, (slice){bytes, sizeof bytes});
}

bool frame_read_hello(slice bytes, uint32_t *version, slice *token)
{
    if (bytes.n < 2)
        return false;
    *version = number(bytes.p, 2);
    *token = slice_from(bytes, 2);
    return true;
}

bool frame_read_code(slice bytes, int *code)
{
    if (bytes.n != 4)
        return false;
    *code = (int)(number(bytes.p, 4) & 0xff);
    return true;
}
