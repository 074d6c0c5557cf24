/* SPDX-License-Identifier: Apache-2.0
 *
 * TLS 1.2 and 1.3 with OpenSSL 3: contexts for listeners and for upstreams, and one session over a
 * non-blocking socket. */
#ifndef OUTFOX_IO_TLS_H
#define OUTFOX_IO_TLS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct tls_context; /* immutable once made; shared by threads */
struct tls;         /* one session; belongs to one thread */

enum tls_alpn { ALPN_NONE, ALPN_H1 = 1, ALPN_H2 = 2 };

/* For a listener. cert and key: PEM files (key NULL: in the file of cert). With cert NULL a test
 * certificate is generated for localhost, 127.0.0.1, ::1 and `name` (NULL: no more), and kept in
 * memory. client_ca: clients must show a certificate that it vouches for; NULL: they need none.
 * ALPN: h2 and http/1.1, in this order; a client that offers others alone is refused. NULL with the
 * cause and the remedy when a file cannot be used. */
struct tls_context *tls_server(const char *cert, const char *key, const char *client_ca,
                               const char *name, struct err *e) MUST_USE;

/* The same for the page of a campaign: messages name its options, --tls-cert and --tls-key. */
struct tls_context *tls_page(const char *cert, const char *key, struct err *e) MUST_USE;

/* Writes the certificate of a generated context as PEM, for clients to trust: at once or not at
 * all, readable by all. 0, or -1 with the cause. */
int tls_write_cert(const struct tls_context *ctx, const char *path, struct err *e) MUST_USE;

/* How messages name what helps: options of a command, or keys of a file. */
struct tls_terms {
    const char *authority; /* the name of `ca` alone: "--to-ca" */
    const char *ca, *cert, *key, *name, *insecure;
    const char *plain, *tls; /* how to speak without TLS, and with it: "write http:// in --to" */
};

extern const struct tls_terms tls_options; /* of `outfox proxy` */

struct tls_client_options {
    const struct tls_terms *terms; /* lives as long as the context; NULL: tls_options */
    const char *ca;                /* PEM file of authorities; NULL: those of the system */
    const char *cert, *key; /* client certificate; NULL: none, or the key in the file of cert */
    const char *name;       /* host name or address to verify, and SNI when it is a name */
    bool insecure;          /* do not verify; name may be NULL then */
    const char
        *pin; /* the fingerprint of its certificate, which is all that counts then; NULL: none */
};

/* For an upstream. Verification is on unless `insecure`. NULL with the cause and the remedy. */
struct tls_context *tls_client(const struct tls_client_options *o, struct err *e) MUST_USE;

/* A listener's: HTTP/2 is not offered. Before it is used. */
void tls_http1_only(struct tls_context *ctx);

/* The SHA-256 of a listener's certificate, in hex digits. False: it has none. */
enum { TLS_FINGERPRINT_MAX = 65 };
bool tls_fingerprint(const struct tls_context *ctx, char out[TLS_FINGERPRINT_MAX]);

/* One more owner; returns ctx. */
struct tls_context *tls_context_hold(struct tls_context *ctx);

/* An owner is done with it; sessions that go on keep what they need of it. Accepts NULL. */
void tls_context_free(struct tls_context *ctx);

/* A session over fd, which stays the caller's. A client offers only `alpn`, or nothing; a server
 * ignores it. */
struct tls *tls_new(struct tls_context *ctx, int fd, enum tls_alpn alpn);
void tls_free(struct tls *t);

/* Results below 0 of the following. AGAIN: call again when the socket can be read (or written). */
enum { TLS_AGAIN_READ = -1, TLS_AGAIN_WRITE = -2, TLS_CLOSED = -3, TLS_FAILED = -4 };

/* 0 when done, TLS_AGAIN_*, or TLS_FAILED: see tls_error. */
int tls_handshake(struct tls *t) MUST_USE;

/* What was agreed on; ALPN_NONE: the peer does not know of ALPN. */
enum tls_alpn tls_alpn(const struct tls *t);

/* Bytes, or one of the above. TLS_CLOSED: close_notify, or the end of the connection without one.
 */
ssize_t tls_read(struct tls *t, char *to, size_t n) MUST_USE;

/* Bytes, maybe fewer than n, or one of the above. After TLS_AGAIN_* the same bytes must come again,
 * from anywhere in memory and with more behind them if there are more by now. */
ssize_t tls_write(struct tls *t, const char *from, size_t n) MUST_USE;

/* Bytes came from the socket that were not yet read: no event of the socket will tell of them.
 * False after tls_read has said TLS_AGAIN_*, so nobody spins. */
bool tls_pending(const struct tls *t);

/* Sends close_notify, as far as it goes without waiting. */
void tls_close(struct tls *t);

/* Why it failed, for people, with the remedy where one is known: "certificate verify failed:
 * self-signed certificate; ...". "" as long as nothing has failed. */
const char *tls_error(const struct tls *t);

#endif
