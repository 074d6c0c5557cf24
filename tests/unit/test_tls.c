/* SPDX-License-Identifier: Apache-2.0
 *
 * io/tls: real handshakes and transfers between two sessions in one process, over non-blocking
 * sockets; and with sessions of plain OpenSSL as the peer where ours would be too well-behaved. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "io/addr.h"
#include "io/sys.h"
#include "io/tls.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { ROUNDS = 200 * 1000, WAIT_MS = 10 * 1000 };

/* ---- files ---- */

static char folder[] = "/tmp/outfox-tls-XXXXXX";

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void write_key(const char *path, EVP_PKEY *key, const char *passphrase)
{
    FILE *f = fopen(path, "w");
    int n = passphrase ? (int)strlen(passphrase) : 0;
    assert_non_null(f);
    assert_int_equal(PEM_write_PrivateKey(f, key, passphrase ? EVP_aes_128_cbc() : NULL,
                                          (const unsigned char *)passphrase, n, NULL, NULL),
                     1);
    assert_int_equal(fclose(f), 0);
}

static void append_cert(const char *path, X509 *cert)
{
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    assert_int_equal(PEM_write_X509(f, cert), 1);
    assert_int_equal(fclose(f), 0);
}

static void add_extension(X509 *x, int nid, const char *value)
{
    X509_EXTENSION *one = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    assert_non_null(one);
    assert_int_equal(X509_add_ext(x, one, -1), 1);
    X509_EXTENSION_free(one);
}

/* A certificate for `name` of the authority `by` (NULL: of its own), from days to days from now. */
static X509 *make_cert(const char *name, EVP_PKEY *key, X509 *by, EVP_PKEY *by_key, int from,
                       int to)
{
    X509 *x = X509_new();
    assert_non_null(x);
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1 + rand());
    X509_gmtime_adj(X509_getm_notBefore(x), from * 86400L);
    X509_gmtime_adj(X509_getm_notAfter(x), to * 86400L);
    X509_NAME_add_entry_by_NID(X509_get_subject_name(x), NID_commonName, MBSTRING_UTF8,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(by ? by : x));
    X509_set_pubkey(x, key);
    add_extension(x, NID_basic_constraints, by ? "critical,CA:FALSE" : "critical,CA:TRUE");
    char names[100];
    snprintf(names, sizeof names, "DNS:%s", name);
    if (by)
        add_extension(x, NID_subject_alt_name, names);
    assert_true(X509_sign(x, by_key ? by_key : key, EVP_sha256()) > 0);
    return x;
}

/* An authority in ca.pem; what it vouches for in NAME.pem and NAME.key; see make_files. */
static void make_member(const char *name, X509 *ca, EVP_PKEY *ca_key, int from, int to)
{
    char cert[100], key_file[100], both[100];
    snprintf(cert, sizeof cert, "%s.pem", name);
    snprintf(key_file, sizeof key_file, "%s.key", name);
    snprintf(both, sizeof both, "%s.both", name);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = make_cert(name, key, ca, ca_key, from, to);
    append_cert(cert, x);
    append_cert(cert, ca);
    write_key(key_file, key, NULL);
    write_key(both, key, NULL);
    append_cert(both, x);
    X509_free(x);
    EVP_PKEY_free(key);
}

static int make_files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    EVP_PKEY *key = EVP_EC_gen("P-256"), *other = EVP_EC_gen("P-256");
    EVP_PKEY *rsa = EVP_RSA_gen(2048), *weak = EVP_RSA_gen(512);
    X509 *ca = make_cert("authority", key, NULL, NULL, -1, 10);
    X509 *unknown = make_cert("unknown authority", other, NULL, NULL, -1, 10);
    X509 *small = make_cert("small", weak, ca, key, -1, 10);
    append_cert("ca.pem", ca);
    append_cert("unknown-ca.pem", unknown);
    append_cert("small.pem", small);
    write_key("small.key", weak, NULL);
    make_member("service", ca, key, -1, 10);
    make_member("client", ca, key, -1, 10);
    make_member("expired", ca, key, -10, -1);
    make_member("stranger", unknown, other, -1, 10);
    write_key("other.key", other, NULL);
    write_key("rsa.key", rsa, NULL);
    write_key("locked.key", key, "secret");
    write_text("empty.pem", "");
    write_text("noise.pem", "this is no PEM\n");
    write_text("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    X509_free(ca);
    X509_free(unknown);
    X509_free(small);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other);
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(weak);
    return 0;
}

static int remove_files(void **state)
{
    static const char *const names[] = {
        "ca.pem",       "unknown-ca.pem", "service.pem",  "service.key",   "service.both",
        "client.pem",   "client.key",     "client.both",  "expired.pem",   "expired.key",
        "expired.both", "stranger.pem",   "stranger.key", "stranger.both", "other.key",
        "rsa.key",      "locked.key",     "empty.pem",    "noise.pem",     "broken.pem",
        "small.pem",    "small.key",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++)
        assert_int_equal(unlink(names[i]), 0);
    return chdir("/") || rmdir(folder) ? -1 : 0; /* nothing else was left behind */
}

/* ---- contexts ---- */

static struct tls_context *server(const char *cert, const char *key, const char *client_ca)
{
    struct err e = {.line = 0};
    struct tls_context *ctx = tls_server(cert, key, client_ca, "box.example", &e);
    if (!ctx)
        fail_msg("%s", e.text);
    return ctx;
}

static struct tls_context *client(struct tls_client_options o)
{
    struct err e = {.line = 0};
    struct tls_context *ctx = tls_client(&o, &e);
    if (!ctx)
        fail_msg("%s", e.text);
    return ctx;
}

static void write_cert(const struct tls_context *ctx, const char *path)
{
    struct err e = {.line = 0};
    if (tls_write_cert(ctx, path, &e))
        fail_msg("%s", e.text);
}

/* ---- pairs ---- */

/* A server's session and a client's, over two ends of a connection. */
struct pair {
    struct tls *s, *c;
    int fd[2]; /* server's, client's */
    int s_result, c_result;
};

static void pair_init(struct pair *p, struct tls_context *s, struct tls_context *c,
                      enum tls_alpn alpn)
{
    *p = (struct pair){.s = NULL};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p->fd), 0);
    p->s = s ? tls_new(s, p->fd[0], ALPN_NONE) : NULL;
    p->c = c ? tls_new(c, p->fd[1], alpn) : NULL;
}

static void pair_deinit(struct pair *p)
{
    tls_free(p->s);
    tls_free(p->c);
    sys_close(p->fd[0]);
    sys_close(p->fd[1]);
    assert_int_equal(ERR_peek_error(), 0);
}

static bool goes_on(int result)
{
    return result == TLS_AGAIN_READ || result == TLS_AGAIN_WRITE;
}

/* Shakes hands until both are done or one has failed and the other has heard of it. */
static void shake(struct pair *p)
{
    p->s_result = p->c_result = TLS_AGAIN_READ;
    for (int i = 0; i < ROUNDS && (goes_on(p->s_result) || goes_on(p->c_result)); i++) {
        if (goes_on(p->c_result))
            p->c_result = tls_handshake(p->c);
        char byte;
        if (p->c_result == 0 && p->s_result == TLS_AGAIN_WRITE) /* makes room for the ticket */
            assert_int_equal(tls_read(p->c, &byte, 1), TLS_AGAIN_READ);
        if (goes_on(p->s_result))
            p->s_result = tls_handshake(p->s);
        assert_int_equal(ERR_peek_error(), 0);
        if ((p->s_result == TLS_FAILED && p->c_result == 0) ||
            (p->c_result == TLS_FAILED && p->s_result == 0))
            return;
    }
    assert_false(goes_on(p->s_result) || goes_on(p->c_result));
}

static void assert_shaken(struct pair *p)
{
    shake(p);
    if (p->s_result || p->c_result)
        fail_msg("server: %s, client: %s", tls_error(p->s), tls_error(p->c));
    assert_string_equal(tls_error(p->s), "");
    assert_string_equal(tls_error(p->c), "");
}

static void assert_says(const struct tls *t, const char *words)
{
    if (!strstr(tls_error(t), words))
        fail_msg("\"%s\" does not say \"%s\"", tls_error(t), words);
}

/* Sends text one way; everything but the transfer has been done. */
static void assert_carries(struct tls *from, struct tls *to, const char *text)
{
    char got[200];
    size_t n = strlen(text), have = 0;
    assert_int_equal(tls_write(from, text, n), n);
    for (int i = 0; i < ROUNDS && have < n; i++) {
        ssize_t one = tls_read(to, got + have, sizeof got - have);
        if (one > 0)
            have += (size_t)one;
        else
            assert_int_equal(one, TLS_AGAIN_READ);
    }
    assert_int_equal(have, n);
    assert_memory_equal(got, text, n);
}

/* ---- handshakes ---- */

static void test_handshake(void **state)
{
    static const enum tls_alpn all[] = {ALPN_NONE, ALPN_H1, ALPN_H2};
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    write_cert(s, "test.pem");
    struct tls_context *c =
        client((struct tls_client_options){.ca = "test.pem", .name = "localhost"});
    for (size_t i = 0; i < LENGTH(all); i++) {
        struct pair p;
        pair_init(&p, s, c, all[i]);
        assert_shaken(&p);
        assert_int_equal(tls_alpn(p.s), all[i]);
        assert_int_equal(tls_alpn(p.c), all[i]);
        assert_carries(p.c, p.s, "GET / HTTP/1.1\r\n\r\n");
        assert_carries(p.s, p.c, "HTTP/1.1 204 No Content\r\n\r\n");
        pair_deinit(&p);
    }
    tls_context_free(s);
    tls_context_free(c);
    assert_int_equal(unlink("test.pem"), 0);
}

/* Nothing is said of nothing. */
static void test_free_null(void **state)
{
    (void)state;
    tls_context_free(NULL);
    tls_free(NULL);
}

/* A reload frees contexts while their connections go on. */
static void test_context_outlived(void **state)
{
    struct pair p;
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    assert_ptr_equal(tls_context_hold(s), s);
    tls_context_free(s);
    pair_init(&p, s, c, ALPN_H2);
    tls_context_free(s);
    tls_context_free(c);
    assert_shaken(&p);
    assert_int_equal(tls_alpn(p.s), ALPN_H2);
    assert_carries(p.s, p.c, "still here");
    pair_deinit(&p);
}

/* What each side says of a certificate: NULL when it is to be accepted. */
static void test_verification(void **state)
{
    static const struct {
        struct tls_client_options o;
        const char *cert, *key, *client_words, *server_words;
    } rows[] = {
        {{.ca = "test.pem", .name = "localhost"}, NULL, NULL, NULL, NULL},
        {{.ca = "test.pem", .name = "localhost."}, NULL, NULL, NULL, NULL},
        {{.ca = "test.pem", .name = "127.0.0.1"}, NULL, NULL, NULL, NULL},
        {{.ca = "test.pem", .name = "::1"}, NULL, NULL, NULL, NULL},
        {{.ca = "test.pem", .name = "box.example"}, NULL, NULL, NULL, NULL},
        {{.insecure = true, .name = "elsewhere.example"}, NULL, NULL, NULL, NULL},
        {{.insecure = true}, NULL, NULL, NULL, NULL},
        {{.ca = "test.pem", .name = "elsewhere.example"},
         NULL,
         NULL,
         "certificate verify failed: hostname mismatch; set the name it is for with "
         "--to-name NAME, or skip verification with --insecure",
         "the client rejects our certificate"},
        {{.ca = "test.pem", .name = "127.0.0.2"},
         NULL,
         NULL,
         "IP address mismatch",
         "the client rejects our certificate"},
        {{.name = "localhost"},
         NULL,
         NULL,
         "certificate verify failed: self-signed certificate; set its authority with --to-ca "
         "FILE, or skip verification with --insecure",
         "the client does not trust the authority of our certificate; let it trust the file of "
         "--test-cert"},
        {{.ca = "ca.pem", .name = "service"}, "service.pem", "service.key", NULL, NULL},
        {{.ca = "ca.pem", .name = "service"}, "service.both", NULL, NULL, NULL},
        /* the service's own certificate instead of its authority's */
        {{.ca = "service.both", .name = "service"}, "service.pem", "service.key", NULL, NULL},
        {{.ca = "unknown-ca.pem", .name = "service"},
         "service.pem",
         "service.key",
         "--to-ca FILE",
         "does not trust the authority"},
        {{.ca = "ca.pem", .name = "expired"},
         "expired.pem",
         "expired.key",
         "certificate has expired; renew it",
         "our certificate has expired"},
        {{.ca = "ca.pem", .name = "expired", .insecure = true},
         "expired.pem",
         "expired.key",
         NULL,
         NULL},
    };
    (void)state;
    struct tls_context *generated = server(NULL, NULL, NULL);
    write_cert(generated, "test.pem");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tls_context *own = rows[i].cert ? server(rows[i].cert, rows[i].key, NULL) : NULL;
        struct tls_context *c = client(rows[i].o);
        struct pair p;
        pair_init(&p, own ? own : generated, c, ALPN_H1);
        if (rows[i].client_words) {
            shake(&p);
            assert_int_equal(p.c_result, TLS_FAILED);
            assert_int_equal(p.s_result, TLS_FAILED);
            assert_says(p.c, rows[i].client_words);
            assert_says(p.s, rows[i].server_words);
        } else {
            assert_shaken(&p);
        }
        pair_deinit(&p);
        tls_context_free(own);
        tls_context_free(c);
    }
    tls_context_free(generated);
    assert_int_equal(unlink("test.pem"), 0);
}

/* With TLS 1.3 a client learns only after its handshake that its certificate was refused. */
static void test_client_certificates(void **state)
{
    static const struct {
        const char *cert, *key, *server_words, *client_words;
    } rows[] = {
        {"client.pem", "client.key", NULL, NULL},
        {"client.both", NULL, NULL, NULL},
        {NULL, NULL, "the client shows no certificate; --client-ca asks for one",
         "the service requires a client certificate; set one with --to-cert FILE"},
        {"stranger.pem", "stranger.key", "; the client must show one that --client-ca vouches for",
         "the service does not trust the authority of our certificate; check --to-cert"},
        {"expired.pem", "expired.key", "certificate has expired", "renew --to-cert"},
    };
    (void)state;
    struct tls_context *s = server("service.pem", "service.key", "ca.pem");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tls_context *c = client((struct tls_client_options){
            .ca = "ca.pem", .name = "service", .cert = rows[i].cert, .key = rows[i].key});
        struct pair p;
        char byte;
        pair_init(&p, s, c, ALPN_H1);
        shake(&p);
        assert_int_equal(p.c_result, 0);
        assert_int_equal(p.s_result, rows[i].server_words ? TLS_FAILED : 0);
        if (rows[i].server_words) {
            assert_says(p.s, rows[i].server_words);
            assert_int_equal(tls_read(p.c, &byte, 1), TLS_FAILED);
            assert_says(p.c, rows[i].client_words);
        } else {
            assert_carries(p.c, p.s, "hello");
        }
        pair_deinit(&p);
        tls_context_free(c);
    }
    tls_context_free(s);
}

/* ---- peers that are plain OpenSSL ---- */

/* A client over p->fd[1]; both are to be freed. */
static SSL *raw_client(struct pair *p, SSL_CTX *ctx)
{
    SSL *ssl = SSL_new(ctx);
    assert_non_null(ssl);
    assert_int_equal(SSL_set_fd(ssl, p->fd[1]), 1);
    SSL_set_connect_state(ssl);
    return ssl;
}

static void shake_raw(struct pair *p, SSL *ssl)
{
    int done = -1;
    p->s_result = TLS_AGAIN_READ;
    for (int i = 0; i < ROUNDS && (done != 1 || goes_on(p->s_result)); i++) {
        if (done != 1)
            done = SSL_do_handshake(ssl);
        ERR_clear_error();
        if (goes_on(p->s_result))
            p->s_result = tls_handshake(p->s);
        if (p->s_result == TLS_FAILED)
            return;
    }
    p->c_result = done;
}

static SSL_CTX *raw_context(int version)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    assert_non_null(ctx);
    SSL_CTX_set_security_level(ctx, 0);
    if (version) {
        SSL_CTX_set_min_proto_version(ctx, version);
        SSL_CTX_set_max_proto_version(ctx, version);
    }
    return ctx;
}

static void test_versions(void **state)
{
    static const struct {
        int version;
        const char *words;
    } rows[] = {
        {TLS1_1_VERSION, "the client does not support TLS 1.2 or later"},
        {TLS1_2_VERSION, NULL},
        {TLS1_3_VERSION, NULL},
    };
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct pair p;
        pair_init(&p, s, NULL, ALPN_NONE);
        SSL_CTX *ctx = raw_context(rows[i].version);
        SSL *ssl = raw_client(&p, ctx);
        shake_raw(&p, ssl);
        assert_int_equal(p.s_result, rows[i].words ? TLS_FAILED : 0);
        if (rows[i].words)
            assert_says(p.s, rows[i].words);
        else
            assert_int_equal(SSL_version(ssl), rows[i].version);
        SSL_free(ssl);
        SSL_CTX_free(ctx);
        pair_deinit(&p);
    }
    tls_context_free(s);
}

static void test_alpn_choice(void **state)
{
    static const struct {
        const char *offered;
        enum tls_alpn chosen;
        bool refused;
    } rows[] = {
        {"\x08http/1.1\x02h2", ALPN_H2, false},
        {"\x02h2\x08http/1.1", ALPN_H2, false},
        {"\x06spdy/3\x08http/1.1", ALPN_H1, false},
        {"\x03h2c\x04grpc", ALPN_NONE, true},
    };
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct pair p;
        pair_init(&p, s, NULL, ALPN_NONE);
        SSL_CTX *ctx = raw_context(0);
        SSL *ssl = raw_client(&p, ctx);
        SSL_set_alpn_protos(ssl, (const unsigned char *)rows[i].offered,
                            (unsigned)strlen(rows[i].offered));
        shake_raw(&p, ssl);
        assert_int_equal(p.s_result, rows[i].refused ? TLS_FAILED : 0);
        if (rows[i].refused)
            assert_says(p.s, "the client offers neither h2 nor http/1.1 (ALPN)");
        assert_int_equal(tls_alpn(p.s), rows[i].chosen);
        SSL_free(ssl);
        SSL_CTX_free(ctx);
        pair_deinit(&p);
    }
    tls_context_free(s);
}

/* A server of plain OpenSSL, for our client. */
static SSL *raw_server(struct pair *p, int version, SSL_CTX **ctx)
{
    *ctx = SSL_CTX_new(TLS_server_method());
    assert_non_null(*ctx);
    SSL_CTX_set_max_proto_version(*ctx, version);
    assert_int_equal(SSL_CTX_use_certificate_chain_file(*ctx, "service.pem"), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(*ctx, "service.key", SSL_FILETYPE_PEM), 1);
    SSL *ssl = SSL_new(*ctx);
    assert_non_null(ssl);
    assert_int_equal(SSL_set_fd(ssl, p->fd[0]), 1);
    SSL_set_accept_state(ssl);
    return ssl;
}

/* Our client warns a service that wants to negotiate again, and goes on. */
static void test_no_renegotiation(void **state)
{
    struct pair p;
    SSL_CTX *ctx;
    char byte;
    (void)state;
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, NULL, c, ALPN_NONE);
    SSL *ssl = raw_server(&p, TLS1_2_VERSION, &ctx);
    p.c_result = TLS_AGAIN_READ;
    for (int i = 0; i < ROUNDS && goes_on(p.c_result); i++) {
        p.c_result = tls_handshake(p.c);
        (void)SSL_do_handshake(ssl);
        ERR_clear_error();
    }
    assert_int_equal(p.c_result, 0);
    assert_int_equal(SSL_renegotiate(ssl), 1);
    assert_int_equal(SSL_do_handshake(ssl), 1); /* the request is on its way */
    assert_int_equal(tls_read(p.c, &byte, 1), TLS_AGAIN_READ);
    assert_int_equal(SSL_read(ssl, &byte, 1), -1);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    pair_deinit(&p);
    tls_context_free(c);
}

static SSL_SESSION *ticket;

static int keep_ticket(SSL *ssl, SSL_SESSION *session)
{
    (void)ssl;
    SSL_SESSION_free(ticket);
    ticket = session;
    return 1;
}

/* One connection of a raw client that shows a certificate; true when a session was resumed. */
static bool resumes(struct tls_context *s, SSL_CTX *ctx)
{
    struct pair p;
    char byte;
    pair_init(&p, s, NULL, ALPN_NONE);
    SSL *ssl = raw_client(&p, ctx);
    if (ticket)
        SSL_set_session(ssl, ticket);
    shake_raw(&p, ssl);
    assert_int_equal(p.s_result, 0);
    assert_int_equal(p.c_result, 1);
    assert_int_equal(SSL_read(ssl, &byte, 1), -1); /* the ticket comes behind the handshake */
    ERR_clear_error();
    bool reused = SSL_session_reused(ssl);
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); /* or the ticket is void */
    SSL_free(ssl);
    pair_deinit(&p);
    return reused;
}

static void test_tickets(void **state)
{
    static const char *const client_ca[] = {NULL, "ca.pem"};
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    (void)state;
    for (size_t i = 0; i < LENGTH(client_ca); i++)
        for (size_t j = 0; j < LENGTH(versions); j++) {
            struct tls_context *s = server("service.pem", "service.key", client_ca[i]);
            SSL_CTX *ctx = raw_context(versions[j]);
            assert_int_equal(SSL_CTX_use_certificate_chain_file(ctx, "client.pem"), 1);
            assert_int_equal(SSL_CTX_use_PrivateKey_file(ctx, "client.key", SSL_FILETYPE_PEM), 1);
            SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                                    SSL_SESS_CACHE_NO_INTERNAL_STORE);
            SSL_CTX_sess_set_new_cb(ctx, keep_ticket);
            assert_false(resumes(s, ctx));
            assert_non_null(ticket);
            assert_true(resumes(s, ctx));
            SSL_SESSION_free(ticket);
            ticket = NULL;
            SSL_CTX_free(ctx);
            tls_context_free(s);
        }
}

/* ---- peers that are not even TLS ---- */

static void put(int fd, const char *bytes, size_t n)
{
    struct iovec piece = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
    assert_int_equal(sys_writev(fd, &piece, 1), n);
}

static void test_plain_client(void **state)
{
    static const struct {
        const char *bytes, *words;
    } rows[] = {
        {"GET / HTTP/1.1\r\nhost: x\r\n\r\n", "the client speaks plain HTTP; let it use https://"},
        {"CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n", "takes this for an HTTP proxy"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "the client does not speak TLS"},
        {"", "the client closed the connection during the TLS handshake"},
        {"\x16\x03\x01\x02", "the client closed the connection during the TLS handshake"},
    };
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
        const char *bytes = rows[i / 2].bytes, *words = rows[i / 2].words;
        struct pair p;
        pair_init(&p, s, NULL, ALPN_NONE);
        if (bytes[0])
            put(p.fd[1], bytes, strlen(bytes));
        /* also when it is not there any more to be told */
        assert_int_equal(shutdown(p.fd[1], i % 2 ? SHUT_RDWR : SHUT_WR), 0);
        assert_int_equal(tls_handshake(p.s), TLS_FAILED);
        assert_int_equal(ERR_peek_error(), 0);
        assert_says(p.s, words);
        assert_int_equal(tls_handshake(p.s), TLS_FAILED);
        assert_says(p.s, words); /* the first words stay */
        tls_close(p.s);
        pair_deinit(&p);
    }
    tls_context_free(s);
}

static void test_plain_service(void **state)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    struct pair p;
    (void)state;
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, NULL, c, ALPN_H1);
    assert_int_equal(tls_handshake(p.c), TLS_AGAIN_READ);
    put(p.fd[0], answer, sizeof answer - 1);
    assert_int_equal(tls_handshake(p.c), TLS_FAILED);
    assert_says(p.c,
                "the service does not speak TLS (wrong version number); write http:// in --to");
    pair_deinit(&p);
    tls_context_free(c);
}

/* Noise, and good handshakes with a bit turned over, never do more than fail. */
static void test_noise(void **state)
{
    struct rng r = {7};
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    for (int i = 0; i < 300; i++) {
        struct pair p;
        char hello[2000];
        pair_init(&p, s, c, ALPN_H2);
        assert_int_equal(tls_handshake(p.c), TLS_AGAIN_READ);
        ssize_t n = sys_read(p.fd[0], hello, sizeof hello);
        assert_true(n > 100);
        if (i % 3 == 0)
            for (ssize_t at = 5; at < n; at++)
                hello[at] = (char)rng_next(&r);
        else
            hello[rng_below(&r, (uint32_t)n)] ^= (char)(1U << rng_below(&r, 8));
        put(p.fd[1], hello, (size_t)n);
        shutdown(p.fd[1], SHUT_WR);
        char byte;
        int result = tls_handshake(p.s);
        if (result == TLS_AGAIN_READ) /* it was harmless: ours, but the client knows another one */
            result = tls_handshake(p.s);
        assert_true(result == TLS_FAILED);
        assert_true(tls_error(p.s)[0]);
        assert_true(tls_read(p.s, &byte, 1) < 0);
        assert_true(tls_write(p.s, "x", 1) < 0);
        pair_deinit(&p);
    }
    tls_context_free(s);
    tls_context_free(c);
}

/* ---- transfers ---- */

struct transfer {
    struct tls *from, *to;
    const char *bytes;
    size_t n, put, got;
    struct rng r;
};

/* Puts a piece from a place in memory that it never had before. */
static void put_some(struct transfer *x, size_t *promised)
{
    size_t n = *promised + rng_below(&x->r, 40000) + (*promised == 0);
    if (n > x->n - x->put)
        n = x->n - x->put;
    char *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, x->bytes + x->put, n);
    ssize_t put_now = tls_write(x->from, copy, n);
    free(copy);
    *promised = put_now > 0 ? 0 : n;
    if (put_now > 0)
        x->put += (size_t)put_now;
    else
        assert_true(goes_on((int)put_now));
}

static void get_some(struct transfer *x)
{
    char to[20000];
    ssize_t n = tls_read(x->to, to, 1 + rng_below(&x->r, sizeof to));
    if (n > 0) {
        assert_true(x->got + (size_t)n <= x->put); /* nothing is there that was not said to be */
        assert_memory_equal(to, x->bytes + x->got, (size_t)n);
        x->got += (size_t)n;
    } else {
        assert_int_equal(n, TLS_AGAIN_READ);
        assert_false(tls_pending(x->to));
    }
}

static void transfer(struct tls *from, struct tls *to, const char *bytes, size_t n, uint64_t seed)
{
    struct transfer x = {.from = from, .to = to, .bytes = bytes, .n = n, .r = {seed}};
    size_t promised = 0, rounds = 0;
    while (x.got < n) {
        for (uint32_t i = rng_below(&x.r, 4); i > 0 && x.put < n; i--)
            put_some(&x, &promised);
        for (uint32_t i = rng_below(&x.r, 4); i > 0 && x.got < n; i--)
            get_some(&x);
        assert_true(rounds++ < 10 * n);
    }
}

/* Large amounts, both ways, through full socket buffers, in chunks of every awkward size. */
static void test_transfer(void **state)
{
    static const struct {
        size_t chunk, n;
        const char *name;
    } rows[] = {
        {0, 3000000, "all"}, {1, 5000, "1"},         {2, 9000, "2"},
        {5, 40000, "5"},     {1000, 300000, "1000"}, {16384, 2000000, "16384"},
    };
    enum { MOST = 3000000 };
    char *bytes = malloc(MOST);
    struct rng r = {7};
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (char)rng_next(&r);
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct pair p;
        int small = 4096;
        pair_init(&p, s, c, ALPN_H2);
        for (int j = 0; j < 2; j++)
            setsockopt(p.fd[j], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        sys_chunk = rows[i].chunk;
        assert_shaken(&p);
        transfer(p.c, p.s, bytes, rows[i].n, i);
        transfer(p.s, p.c, bytes, rows[i].n, i + 100);
        sys_chunk = 0;
        pair_deinit(&p);
    }
    tls_context_free(s);
    tls_context_free(c);
    free(bytes);
}

static void test_empty_transfers(void **state)
{
    struct pair p;
    char byte;
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, s, c, ALPN_NONE);
    assert_shaken(&p);
    assert_int_equal(tls_write(p.c, "", 0), 0);
    assert_int_equal(tls_read(p.s, &byte, 0), 0);
    assert_int_equal(tls_read(p.s, &byte, 1), TLS_AGAIN_READ);
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

/* What OpenSSL holds back no event of the socket tells of: tls_pending must. */
static void test_pending(void **state)
{
    struct pair p;
    char to[8];
    size_t got = 0;
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, s, c, ALPN_NONE);
    assert_shaken(&p);
    assert_int_equal(tls_read(p.s, to, sizeof to), TLS_AGAIN_READ);
    assert_false(tls_pending(p.s));
    for (int i = 0; i < 3; i++)
        assert_int_equal(tls_write(p.c, "0123456789", 10), 10); /* three records */
    while (got < 30) {
        ssize_t n = tls_read(p.s, to, sizeof to);
        assert_true(n > 0);
        got += (size_t)n;
        struct pollfd poll_in = {.fd = p.fd[0], .events = POLLIN};
        bool readable = poll(&poll_in, 1, 0) == 1;
        assert_true(readable || tls_pending(p.s) || got == 30);
    }
    assert_false(tls_pending(p.s));
    assert_int_equal(tls_read(p.s, to, sizeof to), TLS_AGAIN_READ);
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

/* Half a record is nothing that could be read: who waits for it must not spin. */
static void test_pending_half_a_record(void **state)
{
    struct pair p;
    char record[200], to[20];
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, s, c, ALPN_NONE);
    assert_shaken(&p);
    assert_int_equal(tls_write(p.c, "0123456789", 10), 10);
    ssize_t n = sys_read(p.fd[0], record, sizeof record);
    assert_true(n > 20);
    put(p.fd[1], record, 15);
    assert_int_equal(tls_read(p.s, to, sizeof to), TLS_AGAIN_READ);
    assert_false(tls_pending(p.s));
    put(p.fd[1], record + 15, (size_t)n - 15);
    assert_int_equal(tls_read(p.s, to, sizeof to), 10);
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

/* Bytes that came together with the end of the handshake are pending. */
static void test_pending_after_handshake(void **state)
{
    struct pair p;
    char to[20];
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, s, c, ALPN_NONE);
    assert_int_equal(tls_handshake(p.c), TLS_AGAIN_READ);
    assert_int_equal(tls_handshake(p.s), TLS_AGAIN_READ);
    assert_int_equal(tls_handshake(p.c), 0);
    assert_int_equal(tls_write(p.c, "early", 5), 5);
    assert_int_equal(tls_handshake(p.s), 0);
    struct pollfd poll_in = {.fd = p.fd[0], .events = POLLIN};
    assert_true(tls_pending(p.s) || poll(&poll_in, 1, 0) == 1);
    assert_int_equal(tls_read(p.s, to, sizeof to), 5);
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

/* ---- ends ---- */

static void test_close_notify(void **state)
{
    struct pair p;
    char to[20];
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, s, c, ALPN_NONE);
    assert_shaken(&p);
    assert_int_equal(tls_write(p.c, "last", 4), 4);
    tls_close(p.c);
    assert_int_equal(tls_read(p.s, to, sizeof to), 4);
    assert_int_equal(tls_read(p.s, to, sizeof to), TLS_CLOSED);
    assert_int_equal(tls_read(p.s, to, sizeof to), TLS_CLOSED);
    assert_carries(p.s, p.c, "the other direction goes on");
    tls_close(p.s);
    assert_int_equal(tls_read(p.c, to, sizeof to), TLS_CLOSED);
    assert_string_equal(tls_error(p.s), "");
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

/* Many programs just close. */
static void test_end_without_close_notify(void **state)
{
    (void)state;
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    for (int i = 0; i < 2; i++) {
        struct pair p;
        char to[20];
        pair_init(&p, s, c, ALPN_NONE);
        assert_shaken(&p);
        assert_int_equal(tls_write(p.c, "last", 4), 4);
        if (i == 1)
            put(p.fd[1], "\x17\x03\x03", 3); /* and in the midst of a record */
        assert_int_equal(shutdown(p.fd[1], SHUT_WR), 0);
        assert_int_equal(tls_read(p.s, to, sizeof to), 4);
        assert_int_equal(tls_read(p.s, to, sizeof to), TLS_CLOSED);
        assert_int_equal(tls_read(p.s, to, sizeof to), TLS_CLOSED);
        assert_false(tls_pending(p.s));
        pair_deinit(&p);
    }
    tls_context_free(s);
    tls_context_free(c);
}

/* The other end has gone away: an error, and no SIGPIPE, which would end this process. */
static void test_write_to_nobody(void **state)
{
    struct pair p;
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    pair_init(&p, s, c, ALPN_NONE);
    assert_shaken(&p);
    assert_int_equal(shutdown(p.fd[1], SHUT_RDWR), 0);
    assert_int_equal(tls_write(p.s, "x", 1), TLS_FAILED);
    assert_says(p.s, "Broken pipe");
    tls_close(p.s);
    assert_int_equal(tls_write(p.s, "x", 1), TLS_FAILED);
    assert_says(p.s, "Broken pipe");
    pair_deinit(&p);

    pair_init(&p, s, c, ALPN_NONE);
    assert_shaken(&p);
    assert_int_equal(shutdown(p.fd[1], SHUT_RDWR), 0);
    tls_close(p.s);
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

static void wait_for(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

static void test_reset(void **state)
{
    struct addr a;
    struct err e = {.line = 0};
    struct pair p = {.s = NULL};
    char byte;
    (void)state;
    assert_int_equal(addr_parse(SLICE("127.0.0.1:0"), "", &a, &e), 0);
    int listener = addr_listen(&a, false, &e);
    p.fd[1] = addr_connect(&a);
    wait_for(listener);
    p.fd[0] = sys_accept(listener);
    assert_true(p.fd[0] >= 0 && p.fd[1] >= 0);
    struct tls_context *s = server(NULL, NULL, NULL);
    struct tls_context *c = client((struct tls_client_options){.insecure = true});
    p.s = tls_new(s, p.fd[0], ALPN_NONE);
    p.c = tls_new(c, p.fd[1], ALPN_H1);
    assert_shaken(&p);
    assert_carries(p.s, p.c, "here");
    sys_linger_reset(p.fd[0]);
    sys_close(p.fd[0]);
    wait_for(p.fd[1]);
    assert_int_equal(tls_read(p.c, &byte, 1), TLS_FAILED);
    assert_string_equal(tls_error(p.c), "Connection reset by peer");
    p.fd[0] = listener;
    pair_deinit(&p);
    tls_context_free(s);
    tls_context_free(c);
}

/* ---- the test certificate ---- */

static X509 *read_cert(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    X509 *x = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    assert_non_null(x);
    return x;
}

static void test_certificate(void **state)
{
    int days = 0, seconds = 0;
    (void)state;
    struct tls_context *one = server(NULL, NULL, NULL), *two = server(NULL, NULL, NULL);
    write_cert(one, "test.pem");
    X509 *x = read_cert("test.pem");
    assert_int_equal(X509_check_host(x, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(x, "box.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(x, "a.box.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(x, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(x, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(x, "127.0.0.2", 0), 0);
    assert_int_equal(X509_check_ca(x), 0);
    assert_int_equal(X509_verify(x, X509_get0_pubkey(x)), 1);
    assert_true(X509_cmp_current_time(X509_get0_notBefore(x)) < 0);
    assert_int_equal(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(x), X509_get0_notAfter(x)),
                     1);
    assert_true(days == 30 && seconds >= 3600 && seconds <= 3602);

    write_cert(two, "test.pem"); /* takes the place of the first */
    X509 *y = read_cert("test.pem");
    assert_int_not_equal(ASN1_INTEGER_cmp(X509_get0_serialNumber(x), X509_get0_serialNumber(y)), 0);
    X509_free(x);
    X509_free(y);
    tls_context_free(one);
    tls_context_free(two);
    assert_int_equal(unlink("test.pem"), 0);
}

static void test_certificate_names(void **state)
{
    static const struct {
        const char *name;
        bool good;
    } rows[] = {
        {NULL, true},      {"", true},          {"localhost", true}, {"10.0.0.1", true},
        {"fe80::1", true}, {"*.x.y", true},     {"a_b-c.d", true},   {"a,DNS:b", false},
        {"a b", false},    {"\xc3\xa4", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {.line = 0};
        struct tls_context *ctx = tls_server(NULL, NULL, NULL, rows[i].name, &e);
        assert_int_equal(ctx != NULL, rows[i].good);
        assert_int_equal(e.text[0] == 0, rows[i].good);
        tls_context_free(ctx);
        assert_int_equal(ERR_peek_error(), 0);
    }
}

static void test_write_cert(void **state)
{
    struct stat s;
    struct err e = {.line = 0};
    (void)state;
    struct tls_context *generated = server(NULL, NULL, NULL);
    mode_t old = umask(077);
    write_cert(generated, "test.pem");
    umask(old);
    assert_int_equal(stat("test.pem", &s), 0);
    assert_int_equal(s.st_mode & 07777, 0644);
    assert_int_equal(unlink("test.pem"), 0);

    assert_int_equal(tls_write_cert(generated, "no-such-folder/x", &e), -1);
    assert_non_null(strstr(e.text, "--test-cert: \"no-such-folder/x\" cannot be written: No such"));
    e.text[0] = 0;
    assert_int_equal(tls_write_cert(generated, ".", &e), -1);
    assert_non_null(strstr(e.text, "Is a directory"));

    /* a pipe stays one: /dev/stdout must not be replaced by a file */
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    write_cert(generated, "pipe");
    assert_int_equal(lstat("pipe", &s), 0);
    assert_true(S_ISFIFO(s.st_mode));
    char start[28] = "";
    assert_int_equal(sys_read(reader, start, 27), 27);
    assert_string_equal(start, "-----BEGIN CERTIFICATE-----");
    sys_close(reader);
    assert_int_equal(unlink("pipe"), 0);

    struct tls_context *given = server("service.pem", "service.key", NULL);
    e.text[0] = 0;
    assert_int_equal(tls_write_cert(given, "test.pem", &e), -1);
    assert_non_null(strstr(e.text, "leave out --cert"));
    tls_context_free(given);
    tls_context_free(generated);
}

/* ---- files that cannot be used ---- */

static void test_bad_server_files(void **state)
{
    static const struct {
        const char *cert, *key, *client_ca, *words;
    } rows[] = {
        {"none.pem", "service.key", NULL,
         "--cert: \"none.pem\" cannot be read: No such file or directory"},
        {".", "service.key", NULL, "--cert: \".\" cannot be read: Is a directory"},
        {"empty.pem", "service.key", NULL, "--cert: \"empty.pem\" holds no certificate; it must"},
        {"noise.pem", "service.key", NULL, "holds no certificate"},
        {"service.key", "service.key", NULL, "holds no certificate"},
        {"broken.pem", "service.key", NULL, "--cert: certificate 1 in \"broken.pem\" is broken"},
        {"/dev/zero", "service.key", NULL, "has more than 4 MiB; is it the right file?"},
        {"small.pem", "small.key", NULL, "key too small"},
        {"service.pem", "none.key", NULL, "--key: \"none.key\" cannot be read"},
        {"service.pem", "noise.pem", NULL, "--key: \"noise.pem\" holds no private key"},
        {"service.pem", NULL, NULL,
         "--cert: \"service.pem\" holds no private key; name its file with --key"},
        {"service.pem", "other.key", NULL,
         "--key: the key in \"other.key\" does not match the certificate in \"service.pem\""},
        {"service.pem", "rsa.key", NULL, "does not match the certificate"},
        {"service.pem", "locked.key", NULL,
         "the key in \"locked.key\" needs a passphrase, which cannot be asked for; `openssl"},
        {"service.pem", "service.key", "none.pem", "--client-ca: \"none.pem\" cannot be read"},
        {"service.pem", "service.key", "noise.pem", "--client-ca: \"noise.pem\" holds no cert"},
        {"service.pem", "service.key", "broken.pem",
         "--client-ca: certificate 1 in \"broken.pem\""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {.line = 0};
        assert_null(tls_server(rows[i].cert, rows[i].key, rows[i].client_ca, NULL, &e));
        if (!strstr(e.text, rows[i].words))
            fail_msg("\"%s\" does not say \"%s\"", e.text, rows[i].words);
        assert_int_equal(ERR_peek_error(), 0);
    }
}

static void test_bad_client_options(void **state)
{
    static const struct {
        struct tls_client_options o;
        const char *words;
    } rows[] = {
        {{.name = NULL}, "set one with --to-name NAME, or skip verification with --insecure"},
        {{.name = ""}, "set one with --to-name NAME"},
        {{.name = "x", .ca = "none.pem"}, "--to-ca: \"none.pem\" cannot be read"},
        {{.name = "x", .ca = "noise.pem"}, "--to-ca: \"noise.pem\" holds no certificate"},
        {{.name = "x", .cert = "none.pem"}, "--to-cert: \"none.pem\" cannot be read"},
        {{.name = "x", .cert = "client.pem", .key = "none.key"},
         "--to-key: \"none.key\" cannot be"},
        {{.name = "x", .cert = "client.pem", .key = "other.key"}, "--to-key: the key in"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {.line = 0};
        assert_null(tls_client(&rows[i].o, &e));
        if (!strstr(e.text, rows[i].words))
            fail_msg("\"%s\" does not say \"%s\"", e.text, rows[i].words);
        assert_int_equal(ERR_peek_error(), 0);
    }
}

/* ---- threads ---- */

struct contexts {
    struct tls_context *s, *c;
};

/* cmocka's assertions belong to its own thread: a thread answers NULL when all was well. */
static void *shake_often(void *both)
{
    const struct contexts *x = both;
    for (int i = 0; i < 20; i++) {
        int fd[2], s_result = TLS_AGAIN_READ, c_result = TLS_AGAIN_READ;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
            return both;
        struct tls *s = tls_new(x->s, fd[0], ALPN_NONE), *c = tls_new(x->c, fd[1], ALPN_H2);
        for (int j = 0; j < ROUNDS && (s_result || c_result); j++) {
            c_result = c_result ? tls_handshake(c) : 0;
            s_result = s_result ? tls_handshake(s) : 0;
        }
        bool good = !s_result && !c_result && tls_alpn(s) == ALPN_H2;
        tls_free(s);
        tls_free(c);
        sys_close(fd[0]);
        sys_close(fd[1]);
        if (!good)
            return both;
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    (void)state;
    struct contexts both = {server(NULL, NULL, NULL), NULL};
    write_cert(both.s, "test.pem");
    both.c = client((struct tls_client_options){.ca = "test.pem", .name = "localhost"});
    for (size_t i = 0; i < LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, shake_often, &both), 0);
    for (size_t i = 0; i < LENGTH(threads); i++) {
        void *wrong = &both;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    tls_context_free(both.s);
    tls_context_free(both.c);
    assert_int_equal(unlink("test.pem"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handshake),
        cmocka_unit_test(test_free_null),
        cmocka_unit_test(test_context_outlived),
        cmocka_unit_test(test_verification),
        cmocka_unit_test(test_client_certificates),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_alpn_choice),
        cmocka_unit_test(test_no_renegotiation),
        cmocka_unit_test(test_tickets),
        cmocka_unit_test(test_plain_client),
        cmocka_unit_test(test_plain_service),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_empty_transfers),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_pending_half_a_record),
        cmocka_unit_test(test_pending_after_handshake),
        cmocka_unit_test(test_close_notify),
        cmocka_unit_test(test_end_without_close_notify),
        cmocka_unit_test(test_write_to_nobody),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_certificate_names),
        cmocka_unit_test(test_write_cert),
        cmocka_unit_test(test_bad_server_files),
        cmocka_unit_test(test_bad_client_options),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
