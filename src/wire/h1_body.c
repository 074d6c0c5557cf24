/* SPDX-License-Identifier: Apache-2.0
 *
 * The body of a message, unwrapped: by length, in chunks, or until the connection ends. Chunks are
 * read strictly: hexadecimal digits, extensions (dropped, and bounded), CRLF, the bytes, CRLF. */
#include "wire/h1_int.h"

enum {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_BYTES,
    CHUNK_CR,
    CHUNK_LF,
    CHUNK_TRAILERS
};
enum { DIGITS_MAX = 15, EXTENSIONS_MAX = 16 * 1024 };

/* One byte of the line before a chunk. */
static enum h1_step size_byte(struct h1_body *b, char c)
{
    int digit = hex_digit(c);
    if (b->state == CHUNK_SIZE && digit >= 0) {
        b->left = b->left * 16 + (unsigned)digit;
        return ++b->digits > DIGITS_MAX ? STEP_BAD : STEP_MORE;
    }
    if (b->state == CHUNK_SIZE_LF) {
        if (c != '\n')
            return STEP_BAD;
        b->state = b->left ? CHUNK_BYTES : CHUNK_TRAILERS;
        b->digits = 0;
        return b->left ? STEP_MORE : STEP_TRAILERS;
    }
    if (b->digits == 0)
        return STEP_BAD;
    if (c == '\r') {
        b->state = CHUNK_SIZE_LF;
        return STEP_MORE;
    }
    if (b->state == CHUNK_SIZE && c != ';')
        return STEP_BAD;
    b->state = CHUNK_EXTENSION;
    bool control = (uint8_t)c < ' ' && c != '\t';
    return control || c == 127 || ++b->extensions > EXTENSIONS_MAX ? STEP_BAD : STEP_MORE;
}

/* One byte of the CRLF behind a chunk. */
static enum h1_step end_byte(struct h1_body *b, char c)
{
    bool cr = b->state == CHUNK_CR;
    b->state = cr ? CHUNK_LF : CHUNK_SIZE;
    return c == (cr ? '\r' : '\n') ? STEP_MORE : STEP_BAD;
}

static enum h1_step take_data(struct h1_body *b, slice *bytes, slice *data)
{
    data->p = bytes->p;
    data->n = bytes->n < b->left ? bytes->n : (size_t)b->left;
    *bytes = slice_from(*bytes, data->n);
    b->left -= data->n;
    return STEP_DATA;
}

static enum h1_step chunk_step(struct h1_body *b, slice *bytes, slice *data)
{
    while (bytes->n) {
        if (b->state == CHUNK_TRAILERS)
            return STEP_TRAILERS;
        if (b->state == CHUNK_BYTES) {
            enum h1_step step = take_data(b, bytes, data);
            if (b->left == 0)
                b->state = CHUNK_CR;
            return step;
        }
        char c = *bytes->p;
        *bytes = slice_from(*bytes, 1);
        enum h1_step step = b->state >= CHUNK_CR ? end_byte(b, c) : size_byte(b, c);
        if (step != STEP_MORE)
            return step;
    }
    return STEP_MORE;
}

enum h1_step h1_body_step(struct h1_body *b, slice *bytes, slice *data)
{
    switch (b->kind) {
    case BODY_NONE: return STEP_END;
    case BODY_LENGTH:
        if (b->left == 0)
            return STEP_END;
        return bytes->n ? take_data(b, bytes, data) : STEP_MORE;
    case BODY_CLOSE:
        if (bytes->n == 0)
            return STEP_MORE;
        *data = *bytes;
        *bytes = slice_from(*bytes, bytes->n);
        return STEP_DATA;
    case BODY_CHUNKED: break;
    }
    return chunk_step(b, bytes, data);
}
