/* SPDX-License-Identifier: Apache-2.0
 *
 * Records as bytes: what is in the journal, in snapshots and on the wire is the same, so one reader
 * serves all three. A sum tells a record from the torn end of a file. */
#include "kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t sum_of(const struct record *r)
{
    const unsigned char *p = (const unsigned char *)r + sizeof r->sum;
    size_t n = record_size(r) - sizeof r->sum;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 16777619u;
    return h;
}

size_t record_size(const struct record *r)
{
    return RECORD_HEAD + r->klen + r->vlen;
}

void record_make(struct record *r, enum op op, const char *key, const char *value)
{
    size_t klen = strnlen(key, MAX_KEY), vlen = strnlen(value, MAX_VALUE);
    memset(r, 0, sizeof *r);
    r->op = (uint8_t)op;
    r->klen = (uint8_t)klen;
    r->vlen = (uint16_t)vlen;
    memcpy(r->data, key, klen);
    memcpy(r->data + klen, value, vlen);
}

void record_seal(struct record *r)
{
    r->sum = sum_of(r);
}

int record_read(const char *bytes, size_t n, struct record *out)
{
    if (n < RECORD_HEAD)
        return 0;
    memset(out, 0, sizeof *out);
    memcpy(out, bytes, RECORD_HEAD);
    if (out->klen > MAX_KEY || out->vlen > MAX_VALUE || out->op < OP_SET || out->op > OP_BEAT)
        return -1;
    size_t size = record_size(out);
    if (n < size)
        return 0;
    memcpy(out, bytes, size);
    return out->sum == sum_of(out) ? (int)size : -1;
}

int bytes_add(struct bytes *b, const void *data, size_t n)
{
    if (b->n + n > b->room) {
        size_t room = (b->n + n) * 2 + 1024;
        char *more = realloc(b->data, room);
        if (!more)
            return -1;
        b->data = more;
        b->room = room;
    }
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
    return 0;
}

int bytes_print(struct bytes *b, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line)
        return -1;
    return bytes_add(b, line, (size_t)n);
}
