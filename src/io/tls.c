/* SPDX-License-Identifier: Apache-2.0
 *
 * TLS by OpenSSL, in three parts: the words for what fails, contexts, sessions.
 *
 * A context is what all sessions of a listener, or of an upstream, have in common.
 *
 * 1. It does not change once it is made, so threads share it. It lives as long as its owner or a
 *    session needs it: a reload replaces contexts under open connections.
 * 2. Every file is read once, as a whole and up to a bound, then parsed in memory: one file may
 *    hold certificate and key, and may be a pipe.
 * 3. Nothing ever asks for a passphrase: there may be no terminal.
 *
 * A session is one connection, over a non-blocking socket.
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
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/file.h"
#include "io/cert.h"
#include "io/sys.h"

enum { FILE_MAX_BYTES = 4 << 20, ERROR_BYTES = 512, PIN_BYTES = 32 };

struct tls_context {
    SSL_CTX *ssl;
    BIO_METHOD *bio; /* how sessions reach their socket */
    X509 *generated; /* the test certificate; NULL: there is none */
    char *sni;       /* NULL: none is sent */
    const struct tls_terms *terms;
    bool server;
    bool pinned; /* the service's certificate must have this fingerprint, and nothing else counts */
    unsigned char pin[PIN_BYTES];
    bool http1_only;  /* HTTP/2 is not agreed on */
    atomic_uint refs; /* owners and sessions */
};

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

/* ---- words ---- */

const struct tls_terms tls_options = {
    .authority = "--to-ca",
    .ca = "--to-ca FILE",
    .cert = "--to-cert FILE",
    .key = "--to-key FILE",
    .name = "--to-name NAME",
    .insecure = "--insecure",
    .plain = "write http:// in --to",
    .tls = "write https:// in --to",
};

/* The usual mistakes (a plain connection to a TLS port, an authority that is not known, another name)
 * by OpenSSL's reason, as seen by a server and by a client; NULL, and for all else: OpenSSL's own
 * words. {NAME} stands for a term of struct tls_terms. Of certificates that were not accepted, which
 * have negative numbers here, it is what can be done: the last row where the others say nothing. */
static const struct {
    int reason;
    const char *server, *client;
} rows[] = {
    {SSL_R_HTTP_REQUEST,
     "the client speaks plain HTTP; let it use https://, or listen without https://", NULL},
    {SSL_R_HTTPS_PROXY_REQUEST,
     "the client takes this for an HTTP proxy (CONNECT); let it use https:// and no proxy", NULL},
    {SSL_R_WRONG_VERSION_NUMBER, "the client does not speak TLS (wrong version number)",
     "the service does not speak TLS (wrong version number); {plain}"},
    {SSL_R_UNSUPPORTED_PROTOCOL, "the client does not support TLS 1.2 or later",
     "the service does not support TLS 1.2 or later"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "the client accepts neither TLS 1.2 nor 1.3",
     "the service accepts neither TLS 1.2 nor 1.3"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA,
     "the client does not trust the authority of our certificate; let it trust the file of "
     "--test-cert, or set another certificate with --cert",
     "the service does not trust the authority of our certificate; check {cert}"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
     "the client rejects our certificate; let it trust the file of --test-cert, or set another "
     "certificate with --cert",
     "the service rejects our certificate; check {cert}"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
     "the client rejects our certificate; let it trust the file of --test-cert, or set another "
     "certificate with --cert",
     "the service rejects our certificate; check {cert}"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "the client says that our certificate has expired",
     "the service says that our certificate has expired; renew {cert}"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE,
     "the client shows no certificate; --client-ca asks for one", NULL},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, NULL,
     "the service requires a client certificate; set one with {cert} and {key}"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, NULL,
     "the service aborted the handshake (handshake failure); it may require a client certificate "
     "({cert}) or another name ({name})"},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME, NULL,
     "the service does not know the requested name; set it with {name}"},
    {SSL_R_NO_APPLICATION_PROTOCOL, "the client offers neither h2 nor http/1.1 (ALPN)", NULL},
    {SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, NULL,
     "the service does not speak the protocol that was offered (ALPN)"},
    {SSL_R_NO_SHARED_CIPHER, "no cipher in common", NULL},
    {-X509_V_ERR_HOSTNAME_MISMATCH, NULL,
     "set the name it is for with {name}, or skip verification with {insecure}"},
    {-X509_V_ERR_IP_ADDRESS_MISMATCH, NULL,
     "set the name it is for with {name}, or skip verification with {insecure}"},
    {-X509_V_ERR_CERT_HAS_EXPIRED, NULL, "renew it, or skip verification with {insecure}"},
    {-X509_V_ERR_CERT_NOT_YET_VALID, NULL, "renew it, or skip verification with {insecure}"},
    {-X509_V_ERR_UNSPECIFIED, "the client must show one that --client-ca vouches for",
     "set its authority with {ca}, or skip verification with {insecure}"},
};

static const char *row_words(int reason, bool server)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (reason == rows[i].reason)
            return server ? rows[i].server : rows[i].client;
    return NULL;
}

/* Of one error in the queue. */
static const char *error_words(unsigned long code, bool server)
{
    return ERR_GET_LIB(code) == ERR_LIB_SSL ? row_words(ERR_GET_REASON(code), server) : NULL;
}

static const char *openssl_words(unsigned long code)
{
    if (ERR_SYSTEM_ERROR(code))
        return strerror(ERR_GET_REASON(code));
    const char *words = ERR_reason_error_string(code);
    return words ? words : "unknown error";
}

/* The first of the queue in OpenSSL's own words; the queue is empty afterwards. */
static const char *tls_reason(void)
{
    unsigned long code = ERR_get_error();
    ERR_clear_error();
    return openssl_words(code);
}

/* A text in which {NAME} stands for a term. */
static void add_words(const struct tls_terms *t, const char *text, struct buf *out)
{
    const struct {
        const char *name, *text;
    } terms[] = {{"ca", t->ca},     {"cert", t->cert},         {"key", t->key},
                 {"name", t->name}, {"insecure", t->insecure}, {"plain", t->plain}};
    slice rest = slice_of(text);
    while (rest.n) {
        size_t open = slice_find(rest, '{');
        buf_add(out, (slice){rest.p, open});
        rest = slice_from(rest, open < rest.n ? open + 1 : open);
        size_t close = slice_find(rest, '}');
        for (size_t i = 0; close < rest.n && i < sizeof terms / sizeof *terms; i++)
            if (slice_is((slice){rest.p, close}, terms[i].name))
                buf_adds(out, terms[i].text);
        rest = slice_from(rest, close < rest.n ? close + 1 : 0);
    }
}

/* What OpenSSL's queue says, for people: the first error that has words of ours, else the first. The
 * queue is empty afterwards. */
static void explain(const struct tls_context *ctx, long verify, struct buf *out)
{
    unsigned long first = ERR_get_error(), code = first;
    while (code && !error_words(code, ctx->server))
        code = ERR_get_error();
    ERR_clear_error();
    code = code ? code : first;
    const char *words = error_words(code, ctx->server);
    if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
        ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        verify = verify == X509_V_OK ? X509_V_ERR_UNSPECIFIED : verify;
        buf_addf(out, "certificate verify failed: %s; ", X509_verify_cert_error_string(verify));
        words = row_words((int)-verify, ctx->server);
        words = words ? words : row_words(-X509_V_ERR_UNSPECIFIED, ctx->server);
    }
    if (words)
        add_words(ctx->terms, words, out);
    else
        buf_adds(out, openssl_words(code));
}

/* ---- files ---- */

/* A PEM file. */
struct pem {
    const char *what, *path; /* "--cert", "server.pem" */
    struct buf text;
};

static int pem_read(struct pem *p, const char *what, const char *path, struct err *e)
{
    *p = (struct pem){.what = what, .path = path, .text = BUF_INIT(FILE_MAX_BYTES)};
    int code = file_read(path, &p->text);
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

enum use { USE_CHAIN, USE_AUTHORITIES, USE_AUTHORITIES_ASKED };

/* USE_CHAIN: the first certificate of the file is ours, those that follow lead to its authority.
 * USE_AUTHORITIES: each vouches for the peer; ASKED: clients are told whose certificates are wanted. */
static int use_certs(SSL_CTX *ssl, enum use use, const struct pem *p, struct err *e)
{
    BIO *b = pem_bio(p);
    X509 *cert;
    int n = 0;
    bool ok = true;
    for (; ok && (cert = PEM_read_bio_X509_AUX(b, NULL, no_passphrase, NULL)); n++) {
        if (use == USE_CHAIN)
            ok = n == 0 ? SSL_CTX_use_certificate(ssl, cert) == 1
                        : SSL_CTX_add1_chain_cert(ssl, cert) == 1;
        else
            ok = X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), cert) &&
                 (use != USE_AUTHORITIES_ASKED || SSL_CTX_add_client_CA(ssl, cert));
        X509_free(cert);
    }
    BIO_free(b);
    unsigned long code = ERR_peek_last_error();
    bool ended = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
    const char *reason = tls_reason();
    if (!ok)
        return err_set(e, 0, 0, "%s: a certificate in \"%s\" cannot be used: %s", p->what, p->path,
                       reason);
    if (!ended)
        return err_set(e, 0, 0, "%s: certificate %d in \"%s\" is broken: %s", p->what, n + 1,
                       p->path, reason);
    if (n == 0)
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
                      "%s: the key in \"%s\" needs a passphrase, which cannot be asked for; "
                      "`openssl pkey -in FILE -out NEW` writes one without",
                      p->what, p->path);
    else
        (void)err_set(e, 0, 0,
                      "%s: \"%s\" holds no private key; it must be in PEM form (-----BEGIN PRIVATE "
                      "KEY-----)",
                      p->what, p->path);
    return NULL;
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
                       "%s: the key in \"%s\" does not match the certificate in \"%s\"; use "
                       "the key that the certificate was made with",
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
        result = use_certs(ssl, USE_CHAIN, &c, e);
    if (!result && key)
        result = pem_read(&k, key_what, key, e);
    if (!result && !key && !strstr(buf_text(&c.text), "PRIVATE KEY-----"))
        result = err_set(e, 0, 0, "%s: \"%s\" holds no private key; name its file with %s",
                         cert_what, cert, key_what);
    if (!result)
        result = use_key(ssl, key ? &k : &c, cert, e);
    buf_deinit(&c.text);
    buf_deinit(&k.text);
    return result;
}

static int use_authorities(SSL_CTX *ssl, enum use use, const char *what, const char *path,
                           struct err *e)
{
    struct pem p;
    int result = pem_read(&p, what, path, e);
    if (!result)
        result = use_certs(ssl, use, &p, e);
    buf_deinit(&p.text);
    /* people give the service's own certificate as well as its authority's */
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ssl), X509_V_FLAG_PARTIAL_CHAIN);
    return result;
}

static int use_generated(struct tls_context *ctx, const char *name, struct err *e)
{
    EVP_PKEY *key = NULL;
    if (!cert_name_valid(name))
        return err_set(e, 0, 0, "cannot make a test certificate for \"%s\": not a host name", name);
    ctx->generated = cert_generate(name, CERT_TEST_DAYS, &key);
    int ok = ctx->generated && SSL_CTX_use_certificate(ctx->ssl, ctx->generated) &&
             SSL_CTX_use_PrivateKey(ctx->ssl, key);
    EVP_PKEY_free(key);
    return ok ? 0 : err_set(e, 0, 0, "cannot make a test certificate: %s", tls_reason());
}

int tls_write_cert(const struct tls_context *ctx, const char *path, struct err *e)
{
    if (!ctx->generated)
        return err_set(e, 0, 0, "--test-cert: no certificate was generated; leave out --cert");
    int code = cert_write(ctx->generated, path);
    if (code)
        return err_set(e, 0, 0, "--test-cert: \"%s\" cannot be written: %s", path, strerror(code));
    return 0;
}

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

static BIO_METHOD *bio_method(void)
{
    /* no BIO_get_new_index: there are about a hundred of them in a process, and reloads go on */
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "outfox");
    if (!m || !BIO_meth_set_read(m, socket_read) || !BIO_meth_set_write(m, socket_write) ||
        !BIO_meth_set_ctrl(m, socket_ctrl))
        mem_oom();
    return m;
}

/* ---- contexts ---- */

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

static struct tls_context *context_new(const SSL_METHOD *method, bool server)
{
    struct tls_context *ctx = mem_zero(sizeof *ctx);
    atomic_init(&ctx->refs, 1);
    ctx->server = server;
    ctx->terms = &tls_options;
    ctx->bio = bio_method();
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

static struct tls_context *server_new(void)
{
    static const unsigned char id[] = "outfox";
    struct tls_context *ctx = context_new(TLS_server_method(), true);
    SSL_CTX_set_alpn_select_cb(ctx->ssl, choose, ctx);
    /* without it tickets of clients that have shown a certificate are refused */
    if (!SSL_CTX_set_session_id_context(ctx->ssl, id, sizeof id - 1) ||
        !SSL_CTX_set_num_tickets(ctx->ssl, 1))
        mem_oom();
    return ctx;
}

struct tls_context *tls_server(const char *cert, const char *key, const char *client_ca,
                               const char *name, struct err *e)
{
    struct tls_context *ctx = server_new();
    int result =
        cert ? use_files(ctx->ssl, "--cert", cert, "--key", key, e) : use_generated(ctx, name, e);
    if (!result && client_ca) {
        result = use_authorities(ctx->ssl, USE_AUTHORITIES_ASKED, "--client-ca", client_ca, e);
        SSL_CTX_set_verify(ctx->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return finished(ctx, result);
}

struct tls_context *tls_page(const char *cert, const char *key, struct err *e)
{
    struct tls_context *ctx = server_new();
    return finished(ctx, use_files(ctx->ssl, "--tls-cert", cert, "--tls-key", key, e));
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
        return err_set(
            e, 0, 0,
            "there is no name to verify the service's certificate for; set one with %s, or "
            "skip verification with %s",
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
        return err_set(e, 0, 0, "\"%s\" is not a host name; set one with %s", copy,
                       ctx->terms->name);
    return 0;
}

/* ---- fingerprints ---- */

static bool fingerprint_of(const X509 *cert, unsigned char out[PIN_BYTES])
{
    unsigned n = PIN_BYTES;
    return cert && X509_digest(cert, EVP_sha256(), out, &n) && n == PIN_BYTES;
}

static void fingerprint_print(const unsigned char pin[PIN_BYTES], char out[TLS_FINGERPRINT_MAX])
{
    for (size_t i = 0; i < PIN_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", pin[i]);
}

bool tls_fingerprint(const struct tls_context *ctx, char out[TLS_FINGERPRINT_MAX])
{
    unsigned char pin[PIN_BYTES];
    if (!fingerprint_of(SSL_CTX_get0_certificate(ctx->ssl), pin))
        return false;
    fingerprint_print(pin, out);
    return true;
}

static int use_pin(struct tls_context *ctx, const char *pin, struct err *e)
{
    size_t n = strlen(pin);
    bool good = n == 2 * sizeof ctx->pin;
    for (size_t i = 0; good && i < n; i++) {
        int digit = hex_digit(pin[i]);
        good = digit >= 0;
        ctx->pin[i / 2] = (unsigned char)(ctx->pin[i / 2] << 4 | (digit & 15));
    }
    ctx->pinned = true;
    return good ? 0
                : err_set(e, 0, 0,
                          "\"%.80s\" is no fingerprint: write the 64 hex digits of SHA-256", pin);
}

/* Does the peer show the certificate that is pinned? Else the words for it are kept. */
static bool pin_fits(struct tls *t)
{
    unsigned char seen[PIN_BYTES];
    char text[TLS_FINGERPRINT_MAX] = "";
    X509 *cert = SSL_get1_peer_certificate(t->ssl);
    bool known = fingerprint_of(cert, seen);
    X509_free(cert);
    if (known && !memcmp(seen, t->ctx->pin, sizeof seen))
        return true;
    if (known)
        fingerprint_print(seen, text);
    if (!t->error.n)
        buf_addf(&t->error,
                 "its certificate is another one, with the fingerprint %s; where it is to be "
                 "trusted, write that",
                 text);
    return false;
}

struct tls_context *tls_client(const struct tls_client_options *o, struct err *e)
{
    struct tls_context *ctx = context_new(TLS_client_method(), false);
    if (o->terms)
        ctx->terms = o->terms;
    int result = o->pin ? use_pin(ctx, o->pin, e) : use_name(ctx, o->name, o->insecure, e);
    if (!result && o->ca)
        result = use_authorities(ctx->ssl, USE_AUTHORITIES, ctx->terms->authority, o->ca, e);
    else if (!result && !o->insecure && !o->pin)
        (void)SSL_CTX_set_default_verify_paths(ctx->ssl); /* none: verifying says so */
    if (!result && o->cert)
        result = use_files(ctx->ssl, "--to-cert", o->cert, "--to-key", o->key, e);
    SSL_CTX_set_verify(ctx->ssl, o->insecure || o->pin ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    return finished(ctx, result);
}

/* ---- a session ---- */

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
        static const unsigned char h1[] = "\x08http/1.1", h2[] = "\x02h2";
        const unsigned char *offered = alpn == ALPN_H2 ? h2 : h1;
        SSL_set_connect_state(t->ssl);
        if (alpn != ALPN_NONE && SSL_set_alpn_protos(t->ssl, offered, 1U + offered[0]))
            mem_oom(); /* 0 is success here */
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

/* Keeps the words for what has just failed. What OpenSSL says comes first: that the alert which told
 * the peer of it could not be sent is not the cause. */
static int fail(struct tls *t)
{
    bool first = t->error.n == 0;
    if (first && ERR_peek_error())
        explain(t->ctx, SSL_get_verify_result(t->ssl), &t->error);
    else if (first && t->sys_errno)
        buf_adds(&t->error, strerror(t->sys_errno));
    else if (first && t->eof && !SSL_is_init_finished(t->ssl))
        buf_addf(&t->error, "the %s closed the connection during the TLS handshake",
                 t->ctx->server ? "client" : "service");
    else if (first)
        buf_adds(&t->error, "the TLS session is broken");
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
        return t->ctx->pinned && !pin_fits(t) ? fail(t) : 0;
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
