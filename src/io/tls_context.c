/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: what all sessions of a listener, or of an upstream, have in common.
 *
 * 1. A context does not change once it is made, so threads share it. It lives as long as its owner
 *    or a session needs it: a reload replaces contexts under open connections.
 * 2. Every file is read once, as a whole and up to a bound, then parsed in memory: one file may
 *    hold certificate and key, and may be a pipe.
 * 3. Nothing ever asks for a passphrase: there may be no terminal. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "io/tls_int.h"

enum { FILE_MAX_BYTES = 4 << 20 };

/* ---- files ---- */

/* A PEM file. */
struct pem {
    const char *what, *path; /* "--cert", "server.pem" */
    struct buf text;
};

static int pem_read(struct pem *p, const char *what, const char *path, struct err *e)
{
    *p = (struct pem){.what = what, .path = path, .text = BUF_INIT(FILE_MAX_BYTES)};
    FILE *f = fopen(path, "rbe");
    if (!f)
        return err_set(e, 0, 0, "%s: \"%s\" cannot be opened: %s", what, path, strerror(errno));
    char part[4096];
    size_t n;
    errno = 0;
    while (!p->text.full && (n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(&p->text, (slice){part, n});
    int code = ferror(f) ? errno : 0;
    (void)fclose(f);
    if (code)
        return err_set(e, 0, 0, "%s: \"%s\" cannot be read: %s", what, path, strerror(code));
    if (p->text.full)
        return err_set(e, 0, 0, "%s: \"%s\" has more than %d MiB; is it the right file?", what,
                       path, FILE_MAX_BYTES >> 20);
    return 0;
}

/* To be freed. */
static BIO *pem_bio(const struct pem *p)
{
    BIO *b = BIO_new_mem_buf(buf_text(&p->text), (int)p->text.n);
    if (!b)
        mem_oom();
    return b;
}

static int no_passphrase(char *to, int n, int writing, void *user)
{
    (void)to, (void)n, (void)writing, (void)user;
    return -1;
}

/* The next certificate, to be freed. NULL: there is none, or it is broken; pem_end knows. */
static X509 *next_cert(BIO *b)
{
    return PEM_read_bio_X509_AUX(b, NULL, no_passphrase, NULL);
}

/* After the last certificate: 0, or -1 when something was broken or there was none. */
static int pem_end(const struct pem *p, int n_certs, struct err *e)
{
    unsigned long code = ERR_peek_last_error();
    bool ended = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
    const char *reason = tls_reason();
    if (!ended)
        return err_set(e, 0, 0, "%s: certificate %d in \"%s\" is broken: %s", p->what, n_certs + 1,
                       p->path, reason);
    if (n_certs == 0)
        return err_set(e, 0, 0,
                       "%s: \"%s\" holds no certificate; it must be in PEM form (-----BEGIN "
                       "CERTIFICATE-----)",
                       p->what, p->path);
    return 0;
}

static EVP_PKEY *read_key(const struct pem *p, struct err *e)
{
    BIO *b = pem_bio(p);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(b, NULL, no_passphrase, NULL);
    BIO_free(b);
    ERR_clear_error();
    if (key)
        return key;
    if (strstr(buf_text(&p->text), "ENCRYPTED"))
        (void)err_set(e, 0, 0,
                      "%s: the key in \"%s\" needs a passphrase, and nobody can be asked for it; "
                      "`openssl pkey -in FILE -out NEW` writes one without",
                      p->what, p->path);
    else
        (void)err_set(e, 0, 0,
                      "%s: \"%s\" holds no private key; it must be in PEM form (-----BEGIN PRIVATE "
                      "KEY-----)",
                      p->what, p->path);
    return NULL;
}

/* ---- what a context is made of ---- */

/* The first certificate of the file is ours, those that follow lead to its authority. */
static int use_chain(SSL_CTX *ssl, const struct pem *p, struct err *e)
{
    BIO *b = pem_bio(p);
    X509 *cert;
    int n = 0;
    bool ok = true;
    for (; ok && (cert = next_cert(b)); n++) {
        ok = n == 0 ? SSL_CTX_use_certificate(ssl, cert) == 1
                    : SSL_CTX_add1_chain_cert(ssl, cert) == 1;
        X509_free(cert);
    }
    BIO_free(b);
    if (!ok)
        return err_set(e, 0, 0, "%s: a certificate in \"%s\" cannot be used: %s", p->what, p->path,
                       tls_reason());
    return pem_end(p, n, e);
}

static int use_key(SSL_CTX *ssl, const struct pem *p, const char *cert, struct err *e)
{
    EVP_PKEY *key = read_key(p, e);
    if (!key)
        return -1;
    int fits = X509_check_private_key(SSL_CTX_get0_certificate(ssl), key);
    int ok = fits && SSL_CTX_use_PrivateKey(ssl, key);
    EVP_PKEY_free(key);
    if (ok)
        return 0;
    const char *reason = tls_reason();
    if (!fits)
        return err_set(e, 0, 0,
                       "%s: the key in \"%s\" does not belong to the certificate in \"%s\"; give "
                       "the key that this certificate was made with",
                       p->what, p->path, cert);
    return err_set(e, 0, 0, "%s: the key in \"%s\" cannot be used: %s", p->what, p->path, reason);
}

/* key NULL: it is in the file of cert. */
static int use_files(SSL_CTX *ssl, const char *cert_what, const char *cert, const char *key_what,
                     const char *key, struct err *e)
{
    struct pem c = {0}, k = {0};
    int result = pem_read(&c, cert_what, cert, e);
    if (!result)
        result = use_chain(ssl, &c, e);
    if (!result && key)
        result = pem_read(&k, key_what, key, e);
    if (!result)
        result = use_key(ssl, key ? &k : &c, cert, e);
    buf_deinit(&c.text);
    buf_deinit(&k.text);
    return result;
}

/* Who vouches for the peer; `ask`: clients are told whose certificates are wanted. */
static int use_authorities(SSL_CTX *ssl, const char *what, const char *path, bool ask,
                           struct err *e)
{
    struct pem p;
    X509 *cert;
    int n = 0, ok = 1, result = pem_read(&p, what, path, e);
    if (!result) {
        BIO *b = pem_bio(&p);
        for (; ok && (cert = next_cert(b)); n++) {
            ok = X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), cert) &&
                 (!ask || SSL_CTX_add_client_CA(ssl, cert));
            X509_free(cert);
        }
        BIO_free(b);
        result = ok ? pem_end(&p, n, e)
                    : err_set(e, 0, 0, "%s: a certificate in \"%s\" cannot be used: %s", what, path,
                              tls_reason());
    }
    buf_deinit(&p.text);
    /* people give the service's own certificate as well as its authority's */
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ssl), X509_V_FLAG_PARTIAL_CHAIN);
    return result;
}

static int use_generated(struct tls_context *ctx, const char *name, struct err *e)
{
    EVP_PKEY *key = NULL;
    if (cert_generate(name, &ctx->generated, &key, e))
        return -1;
    int ok =
        SSL_CTX_use_certificate(ctx->ssl, ctx->generated) && SSL_CTX_use_PrivateKey(ctx->ssl, key);
    EVP_PKEY_free(key);
    return ok ? 0 : err_set(e, 0, 0, "the test certificate cannot be used: %s", tls_reason());
}

/* OpenSSL's callback: chooses among the protocols that a client offers. */
static int choose(SSL *ssl, const unsigned char **out, unsigned char *n,
                  const unsigned char *offered, unsigned n_offered, void *user)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1";
    const struct tls_context *ctx = user;
    unsigned skip = ctx->http1_only ? 3 : 0;
    unsigned char *chosen = NULL;
    (void)ssl;
    if (SSL_select_next_proto(&chosen, n, both + skip, (unsigned)sizeof both - 1 - skip, offered,
                              n_offered) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* ---- contexts ---- */

static struct tls_context *context_new(const SSL_METHOD *method, bool server)
{
    struct tls_context *ctx = mem_zero(sizeof *ctx);
    atomic_init(&ctx->refs, 1);
    ctx->server = server;
    ctx->terms = &tls_options;
    ctx->bio = tls_bio_method();
    ctx->ssl = SSL_CTX_new(method);
    if (!ctx->ssl || !SSL_CTX_set_min_proto_version(ctx->ssl, TLS1_2_VERSION))
        mem_oom();
    SSL_CTX_set_options(ctx->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                      SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ctx->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx->ssl, 1);
    /* sessions are resumed by tickets alone: nothing to lock, nothing that grows */
    SSL_CTX_set_session_cache_mode(ctx->ssl, SSL_SESS_CACHE_OFF);
    return ctx;
}

void tls_http1_only(struct tls_context *ctx)
{
    ctx->http1_only = true;
}

struct tls_context *tls_context_hold(struct tls_context *ctx)
{
    atomic_fetch_add(&ctx->refs, 1);
    return ctx;
}

void tls_context_free(struct tls_context *ctx)
{
    if (!ctx || atomic_fetch_sub(&ctx->refs, 1) > 1)
        return;
    SSL_CTX_free(ctx->ssl);
    BIO_meth_free(ctx->bio);
    X509_free(ctx->generated);
    mem_free(ctx->sni);
    mem_free(ctx);
}

/* The context, or NULL when making it has failed. */
static struct tls_context *finished(struct tls_context *ctx, int result)
{
    ERR_clear_error();
    if (!result)
        return ctx;
    tls_context_free(ctx);
    return NULL;
}

struct tls_context *tls_server(const char *cert, const char *key, const char *client_ca,
                               const char *name, struct err *e)
{
    static const unsigned char id[] = "outfox";
    struct tls_context *ctx = context_new(TLS_server_method(), true);
    SSL_CTX_set_alpn_select_cb(ctx->ssl, choose, ctx);
    /* without it tickets of clients that have shown a certificate are refused */
    if (!SSL_CTX_set_session_id_context(ctx->ssl, id, sizeof id - 1) ||
        !SSL_CTX_set_num_tickets(ctx->ssl, 1))
        mem_oom();
    int result =
        cert ? use_files(ctx->ssl, "--cert", cert, "--key", key, e) : use_generated(ctx, name, e);
    if (!result && client_ca) {
        result = use_authorities(ctx->ssl, "--client-ca", client_ca, true, e);
        SSL_CTX_set_verify(ctx->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return finished(ctx, result);
}

/* Whom the service's certificate must be for, and what it is asked for with. */
static int use_name(struct tls_context *ctx, const char *name, bool insecure, struct err *e)
{
    slice s = slice_of(name ? name : "");
    if (s.n && s.p[s.n - 1] == '.')
        s.n--; /* example.org. is example.org in certificates */
    if (s.n == 0 && insecure)
        return 0;
    if (s.n == 0)
        return err_set(e, 0, 0,
                       "there is no name that the service's certificate could be verified for; "
                       "give one with %s, or do not verify: %s",
                       ctx->terms->name, ctx->terms->insecure);
    char *copy = mem_zero(s.n + 1);
    memcpy(copy, s.p, s.n);
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ctx->ssl);
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, copy)) {
        mem_free(copy); /* SNI is for names alone */
        return 0;
    }
    ctx->sni = copy;
    if (!X509_VERIFY_PARAM_set1_host(param, copy, s.n) || s.n > TLSEXT_MAXLEN_host_name)
        return err_set(e, 0, 0, "\"%s\" is not the name of a host; give one with %s", copy,
                       ctx->terms->name);
    return 0;
}

struct tls_context *tls_client(const struct tls_client_options *o, struct err *e)
{
    struct tls_context *ctx = context_new(TLS_client_method(), false);
    if (o->terms)
        ctx->terms = o->terms;
    int result = use_name(ctx, o->name, o->insecure, e);
    if (!result && o->ca)
        result = use_authorities(ctx->ssl, ctx->terms->authority, o->ca, false, e);
    else if (!result && !o->insecure)
        (void)SSL_CTX_set_default_verify_paths(ctx->ssl); /* none: verifying says so */
    if (!result && o->cert)
        result = use_files(ctx->ssl, "--to-cert", o->cert, "--to-key", o->key, e);
    SSL_CTX_set_verify(ctx->ssl, o->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    return finished(ctx, result);
}
