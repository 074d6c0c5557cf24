/* SPDX-License-Identifier: Apache-2.0
 *
 * One TLS session over a non-blocking socket.
 *
 * 1. OpenSSL reaches the socket through io/sys alone: its own BIO would raise SIGPIPE and could
 *    not be made to come up short in tests.
 * 2. OpenSSL reads ahead: one system call for many records. What it holds back is known by
 *    tls_pending, which is exact once tls_read has said TLS_AGAIN_READ.
 * 3. OpenSSL's queue of errors is empty before and after every function here, as SSL_get_error
 *    demands.
 * 4. A write is one record. One that must wait is taken up again with the same length, so that its
 *    bytes are the caller's until all of them are on their way, and not a byte longer.
 * 5. The first failure keeps its words; what follows from it does not change them. */
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>

#include "io/sys.h"
#include "io/tls_int.h"

enum { ERROR_BYTES = 512 };

struct tls {
    SSL *ssl;
    struct tls_context *ctx;
    int fd;
    int sys_errno; /* of the call on the socket that failed; 0: none has */
    size_t again;  /* bytes that tls_write has to be given again; 0: none */
    bool eof;      /* the socket has ended */
    bool drained;  /* nothing is held back that could be read */
    struct buf error;
};

/* ---- the socket, as OpenSSL sees it ---- */

/* Tells OpenSSL what became of a call on the socket. */
static int socket_result(BIO *b, struct tls *t, ssize_t result, int retry)
{
    BIO_clear_retry_flags(b);
    if (result >= 0)
        return (int)result;
    if (result == -EAGAIN)
        BIO_set_flags(b, retry | BIO_FLAGS_SHOULD_RETRY);
    else
        t->sys_errno = (int)-result;
    return -1;
}

static int socket_read(BIO *b, char *to, int n)
{
    struct tls *t = BIO_get_data(b);
    ssize_t got = sys_read(t->fd, to, (size_t)n);
    t->eof = got == 0 && n > 0;
    return socket_result(b, t, got, BIO_FLAGS_READ);
}

static int socket_write(BIO *b, const char *from, int n)
{
    struct tls *t = BIO_get_data(b);
    struct iovec piece = {.iov_base = (void *)(uintptr_t)from, .iov_len = (size_t)n};
    return socket_result(b, t, sys_writev(t->fd, &piece, 1), BIO_FLAGS_WRITE);
}

static long socket_ctrl(BIO *b, int what, long number, void *pointer)
{
    (void)number, (void)pointer;
    const struct tls *t = BIO_get_data(b);
    switch (what) {
    case BIO_CTRL_EOF: return t->eof;
    case BIO_CTRL_FLUSH: return 1; /* nothing is held back */
    default: return 0;
    }
}

BIO_METHOD *tls_bio_method(void)
{
    /* no BIO_get_new_index: there are about a hundred of them in a process, and reloads go on */
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "outfox");
    if (!m || !BIO_meth_set_read(m, socket_read) || !BIO_meth_set_write(m, socket_write) ||
        !BIO_meth_set_ctrl(m, socket_ctrl))
        mem_oom();
    return m;
}

/* ---- a session ---- */

static void offer(SSL *ssl, enum tls_alpn alpn)
{
    static const unsigned char h1[] = "\x08http/1.1", h2[] = "\x02h2";
    const unsigned char *list = alpn == ALPN_H2 ? h2 : h1;
    unsigned n = 1U + list[0];
    if (alpn != ALPN_NONE && SSL_set_alpn_protos(ssl, list, n)) /* 0 is success here */
        mem_oom();
}

struct tls *tls_new(struct tls_context *ctx, int fd, enum tls_alpn alpn)
{
    struct tls *t = mem_zero(sizeof *t);
    t->error = BUF_INIT(ERROR_BYTES);
    t->fd = fd;
    t->ctx = tls_context_hold(ctx);
    t->ssl = SSL_new(ctx->ssl);
    BIO *b = BIO_new(ctx->bio);
    if (!t->ssl || !b)
        mem_oom();
    BIO_set_data(b, t);
    BIO_set_init(b, 1);
    SSL_set_bio(t->ssl, b, b);
    if (ctx->server) {
        SSL_set_accept_state(t->ssl);
    } else {
        SSL_set_connect_state(t->ssl);
        offer(t->ssl, alpn);
        if (ctx->sni && !SSL_set_tlsext_host_name(t->ssl, ctx->sni))
            mem_oom();
    }
    ERR_clear_error();
    return t;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    SSL_free(t->ssl);
    ERR_clear_error();
    tls_context_free(t->ctx);
    buf_deinit(&t->error);
    mem_free(t);
}

/* The words for what has just failed. What OpenSSL says comes first: that the alert which told the
 * peer of it could not be sent is not the cause. */
static void set_error(struct tls *t)
{
    if (ERR_peek_error())
        tls_words(t->ctx, SSL_get_verify_result(t->ssl), &t->error);
    else if (t->sys_errno)
        buf_adds(&t->error, strerror(t->sys_errno));
    else if (t->eof && !SSL_is_init_finished(t->ssl))
        buf_addf(&t->error, "the %s closed the connection during the TLS handshake",
                 t->ctx->server ? "client" : "service");
    else
        buf_adds(&t->error, "the TLS session is broken");
}

static int fail(struct tls *t)
{
    if (t->error.n == 0)
        set_error(t);
    ERR_clear_error();
    return TLS_FAILED;
}

/* What the result <= 0 of a function of OpenSSL means. */
static int unfinished(struct tls *t, int result)
{
    switch (SSL_get_error(t->ssl, result)) {
    case SSL_ERROR_WANT_READ: return TLS_AGAIN_READ;
    case SSL_ERROR_WANT_WRITE: return TLS_AGAIN_WRITE;
    case SSL_ERROR_ZERO_RETURN: return TLS_CLOSED;
    default: return fail(t);
    }
}

int tls_handshake(struct tls *t)
{
    ERR_clear_error();
    int done = SSL_do_handshake(t->ssl);
    if (done == 1)
        return 0;
    int result = unfinished(t, done);
    if (result != TLS_CLOSED)
        return result;
    t->eof = true; /* close_notify in the midst of a handshake is no better */
    return fail(t);
}

enum tls_alpn tls_alpn(const struct tls *t)
{
    const unsigned char *name = NULL;
    unsigned n = 0;
    SSL_get0_alpn_selected(t->ssl, &name, &n);
    slice s = {(const char *)name, n};
    return slice_is(s, "h2") ? ALPN_H2 : slice_is(s, "http/1.1") ? ALPN_H1 : ALPN_NONE;
}

ssize_t tls_read(struct tls *t, char *to, size_t n)
{
    size_t got = 0;
    if (n == 0)
        return 0;
    ERR_clear_error();
    int done = SSL_read_ex(t->ssl, to, n, &got);
    t->drained = done <= 0;
    return done > 0 ? (ssize_t)got : unfinished(t, done);
}

ssize_t tls_write(struct tls *t, const char *from, size_t n)
{
    size_t put = 0;
    if (n == 0)
        return 0;
    assert(n >= t->again);
    if (t->again)
        n = t->again;
    else if (n > SSL3_RT_MAX_PLAIN_LENGTH)
        n = SSL3_RT_MAX_PLAIN_LENGTH;
    ERR_clear_error();
    int done = SSL_write_ex(t->ssl, from, n, &put);
    t->again = done > 0 ? 0 : n;
    return done > 0 ? (ssize_t)put : unfinished(t, done);
}

bool tls_pending(const struct tls *t)
{
    return !t->drained && SSL_has_pending(t->ssl);
}

void tls_close(struct tls *t)
{
    if (!t->error.n && SSL_is_init_finished(t->ssl))
        (void)SSL_shutdown(t->ssl);
    ERR_clear_error();
}

const char *tls_error(const struct tls *t)
{
    return buf_text(&t->error);
}
