/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to bytes. A head is written in one piece, its size counted first. */
#include "wire/h1_int.h"

#include <stdio.h>

static const struct {
    uint16_t status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {418, "I'm a teapot"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
};

const char *h1_reason(uint16_t status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

/* Writes into room that is known to suffice. */
struct pen {
    char *at;
};

static void put(struct pen *pen, slice s)
{
    if (s.n)
        memcpy(pen->at, s.p, s.n);
    pen->at += s.n;
}

static void put_field(struct pen *pen, slice name, slice value)
{
    put(pen, name);
    put(pen, SLICE(": "));
    put(pen, value);
    put(pen, SLICE("\r\n"));
}

static void put_number(struct pen *pen, uint64_t number)
{
    char digits[DIGITS_MOST];
    put(pen, slice_of_u64(number, digits));
}

static void put_start_line(struct pen *pen, const struct head *h)
{
    if (h->status) {
        put(pen, SLICE("HTTP/1.1 "));
        put_number(pen, h->status);
        put(pen, SLICE(" "));
        put(pen, h->reason.n ? h->reason : slice_of(h1_reason(h->status)));
        put(pen, SLICE("\r\n"));
        return;
    }
    put(pen, h->method);
    put(pen, SLICE(" "));
    put(pen, h->target);
    put(pen, SLICE(" HTTP/1.1\r\n"));
    put_field(pen, SLICE("Host"), h->authority);
}

static void put_connection(struct pen *pen, const struct head *h, const struct h1_style *style)
{
    if (h->te)
        put(pen, SLICE("TE: trailers\r\nConnection: TE\r\n"));
    if (h->upgrade.n) {
        put(pen, SLICE("Connection: upgrade\r\n"));
        put_field(pen, SLICE("Upgrade"), h->upgrade);
    } else if (style->close) {
        put(pen, SLICE("Connection: close\r\n"));
    } else if (style->keep_alive) {
        put(pen, SLICE("Connection: keep-alive\r\n"));
    }
}

static void put_head(struct pen *pen, const struct head *h, const struct h1_style *style)
{
    put_start_line(pen, h);
    for (uint32_t i = 0; i < h->n_fields; i++)
        put_field(pen, h->fields[i].name, h->fields[i].value);
    if (h->expects)
        put(pen, SLICE("Expect: 100-continue\r\n"));
    if (style->chunked) {
        put(pen, SLICE("Transfer-Encoding: chunked\r\n"));
    } else if (h->has_length && h->status != 204 && (h->status == 0 || h->status >= 200)) {
        put(pen, SLICE("Content-Length: "));
        put_number(pen, h->length);
        put(pen, SLICE("\r\n"));
    }
    put_connection(pen, h, style);
    put(pen, SLICE("\r\n"));
}

/* No less than what put_head writes. */
static size_t head_room(const struct head *h)
{
    size_t n = 256 + h->method.n + h->target.n + h->authority.n + h->reason.n + h->upgrade.n;
    for (uint32_t i = 0; i < h->n_fields; i++)
        n += h->fields[i].name.n + h->fields[i].value.n + 4;
    return n;
}

void h1_print_head(struct chain *out, const struct head *h, const struct h1_style *style)
{
    size_t room = head_room(h);
    struct pen pen;
    if (room <= BLOCK_BYTES) {
        pen.at = chain_room(out, room);
        const char *start = pen.at;
        put_head(&pen, h, style);
        chain_added(out, (size_t)(pen.at - start));
        return;
    }
    char *bytes = mem_alloc(room);
    pen.at = bytes;
    put_head(&pen, h, style);
    chain_add(out, (slice){bytes, (size_t)(pen.at - bytes)});
    mem_free(bytes);
}

void h1_print_last_chunk(struct chain *out, const struct head *trailers)
{
    chain_adds(out, "0\r\n");
    for (uint32_t i = 0; trailers && i < trailers->n_fields; i++) {
        chain_add(out, trailers->fields[i].name);
        chain_adds(out, ": ");
        chain_add(out, trailers->fields[i].value);
        chain_adds(out, "\r\n");
    }
    chain_adds(out, "\r\n");
}

void h1_print_chunk(struct chain *out, slice bytes)
{
    char *room = chain_room(out, 24);
    chain_added(out, (size_t)snprintf(room, 24, "%zx\r\n", bytes.n));
    chain_add(out, bytes);
    chain_adds(out, "\r\n");
}
