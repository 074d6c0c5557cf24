/* SPDX-License-Identifier: Apache-2.0
 *
 * What tls.c, tls_context.c, tls_words.c and cert.c share. */
#ifndef OUTFOX_IO_TLS_INT_H
#define OUTFOX_IO_TLS_INT_H

#include <openssl/ssl.h>
#include <stdatomic.h>

#include "io/tls.h"

struct tls_context {
    SSL_CTX *ssl;
    BIO_METHOD *bio; /* how sessions reach their socket */
    X509 *generated; /* the test certificate; NULL: there is none */
    char *sni;       /* NULL: none is sent */
    const struct tls_terms *terms;
    bool server;
    bool http1_only;  /* HTTP/2 is not agreed on */
    atomic_uint refs; /* owners and sessions */
};

/* tls.c: the socket as OpenSSL sees it, through io/sys. */
BIO_METHOD *tls_bio_method(void);

/* tls_words.c: what OpenSSL's queue of errors says, for people; the queue is empty afterwards. */
void tls_words(const struct tls_context *ctx, long verify, struct buf *out);

/* The same in OpenSSL's own words; "unknown error" when the queue is empty. */
const char *tls_reason(void);

/* tls_words.c: a text in which {NAME} stands for a term. */
void tls_say(const struct tls_terms *t, const char *text, struct buf *out);

/* cert.c: a key and a certificate that it has signed itself, both the caller's. name: NULL, "" or
 * one more host name or address. */
int cert_generate(const char *name, X509 **cert, EVP_PKEY **key, struct err *e) MUST_USE;

#endif
