/* SPDX-License-Identifier: Apache-2.0
 *
 * The service behind the proxies in the benchmark of HTTP/2 without TLS. Every request gets the
 * same small answer once it has ended: JSON, or, to content-type application/grpc, one message and
 * the trailer grpc-status 0. libnghttp2 does the protocol; all that one read brings about leaves in
 * as few writes as possible. */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "serve.h"

enum { IN_BYTES = 65536, OUT_BYTES = 65536, STREAMS = 1000 };

struct conn {
    int fd;
    nghttp2_session *session;
    size_t filled, gone; /* of `out`: bytes to be sent, and how many of them were */
    const uint8_t *rest; /* what the session gave and `out` had no room for */
    size_t rest_bytes;
    uint8_t out[OUT_BYTES];
};

struct answer {
    const char *body;
    size_t bytes;
    bool trailer;
};

static struct answer json = {"{\"ok\":true}\n", 12, false};
static struct answer grpc = {"\0\0\0\0\x0c\x0a\x0ahello back", 17, true};

#define FIELD(name, value)                                                                         \
    {                                                                                              \
        (uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1,             \
            sizeof(value) - 1, NGHTTP2_NV_FLAG_NONE                                                \
    }

static const nghttp2_nv json_head[] = {FIELD(":status", "200"), FIELD("server", "origin"),
                                       FIELD("content-type", "application/json"),
                                       FIELD("content-length", "12")};
static const nghttp2_nv grpc_head[] = {FIELD(":status", "200"), FIELD("server", "origin"),
                                       FIELD("content-type", "application/grpc")};
static const nghttp2_nv grpc_trailer[] = {FIELD("grpc-status", "0")};

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *conn)
{
    const struct answer *answer = source->ptr;
    (void)conn;
    if (room < answer->bytes) /* frames are never that small here */
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    memcpy(to, answer->body, answer->bytes);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (answer->trailer) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (nghttp2_submit_trailer(session, stream, grpc_trailer, 1))
            return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return (ssize_t)answer->bytes;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *conn)
{
    static const char wanted[] = "content-type", type[] = "application/grpc";
    (void)flags, (void)conn;
    if (name_bytes == sizeof wanted - 1 && memcmp(name, wanted, name_bytes) == 0 &&
        value_bytes >= sizeof type - 1 && memcmp(value, type, sizeof type - 1) == 0)
        return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, &grpc);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *conn)
{
    int32_t stream = frame->hd.stream_id;
    (void)conn;
    if ((frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct answer *answer = nghttp2_session_get_stream_user_data(session, stream);
    nghttp2_data_provider body = {{.ptr = answer ? answer : &json}, read_body};
    return answer ? nghttp2_submit_response(session, stream, grpc_head, 3, &body)
                  : nghttp2_submit_response(session, stream, json_head, 4, &body);
}

/* Moves what the session has to say into the buffer, as far as there is room. */
static bool fill(struct conn *c)
{
    for (;;) {
        if (!c->rest_bytes) {
            ssize_t n = nghttp2_session_mem_send(c->session, &c->rest);
            if (n <= 0)
                return n == 0;
            c->rest_bytes = (size_t)n;
        }
        size_t room = OUT_BYTES - c->filled, n = c->rest_bytes < room ? c->rest_bytes : room;
        memcpy(c->out + c->filled, c->rest, n);
        c->filled += n;
        c->rest += n;
        c->rest_bytes -= n;
        if (c->rest_bytes)
            return true;
    }
}

/* False: the connection is broken. *blocked: the peer takes nothing more at the moment. */
static bool flush(struct conn *c, bool *blocked)
{
    *blocked = false;
    for (;;) {
        if (!fill(c))
            return false;
        if (c->gone == c->filled)
            return true;
        ssize_t n = send(c->fd, c->out + c->gone, c->filled - c->gone, MSG_NOSIGNAL);
        if (n < 0) {
            *blocked = errno == EAGAIN;
            return *blocked;
        }
        c->gone += (size_t)n;
        if (c->gone == c->filled)
            c->gone = c->filled = 0;
    }
}

static bool ready(void *conn)
{
    static uint8_t in[IN_BYTES];
    struct conn *c = conn;
    bool blocked;
    for (;;) {
        if (!flush(c, &blocked))
            return false;
        if (blocked)
            return true;
        ssize_t n = recv(c->fd, in, IN_BYTES, 0);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        if (nghttp2_session_mem_recv(c->session, in, (size_t)n) != n)
            return false;
        if (n < IN_BYTES)
            return flush(c, &blocked);
    }
}

static void close_conn(void *conn)
{
    struct conn *c = conn;
    nghttp2_session_del(c->session);
    free(c);
}

static void *open_conn(int fd)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_settings_entry streams = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS};
    struct conn *c = calloc(1, sizeof *c);
    if (!c || nghttp2_session_callbacks_new(&callbacks))
        goto fail;
    c->fd = fd;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    if (nghttp2_session_server_new(&c->session, callbacks, c) ||
        nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, &streams, 1))
        goto fail;
    nghttp2_session_callbacks_del(callbacks);
    return c;
fail:
    nghttp2_session_callbacks_del(callbacks);
    if (c)
        close_conn(c);
    return NULL;
}

int main(void)
{
    return serve(&(struct service){open_conn, ready, close_conn});
}
