/* SPDX-License-Identifier: Apache-2.0
 *
 * What OpenSSL says when TLS fails, in words that name the remedy. The usual mistakes (a plain
 * connection to a TLS port, an authority that is not known, another name) have a row here; for all
 * else OpenSSL's own words must do. */
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include "io/tls_int.h"

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

/* By OpenSSL's reason, as seen by a server and by a client; NULL: OpenSSL's own words. {NAME}
 * stands for a term of struct tls_terms. */
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
    {SSL_R_UNSUPPORTED_PROTOCOL, "the client speaks no TLS of 1.2 or later",
     "the service speaks no TLS of 1.2 or later"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "the client refuses our versions of TLS, 1.2 and 1.3",
     "the service refuses our versions of TLS, 1.2 and 1.3"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA,
     "the client does not know the authority of our certificate; let it trust the file of "
     "--test-cert, or give another certificate with --cert",
     "the service does not know the authority of our certificate; check {cert}"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
     "the client refuses our certificate; let it trust the file of --test-cert, or give another "
     "certificate with --cert",
     "the service refuses our certificate; check {cert}"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
     "the client refuses our certificate; let it trust the file of --test-cert, or give another "
     "certificate with --cert",
     "the service refuses our certificate; check {cert}"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "the client says that our certificate has expired",
     "the service says that our certificate has expired; renew {cert}"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE,
     "the client shows no certificate; --client-ca asks for one", NULL},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, NULL,
     "the service asks for a certificate; give one with {cert} and {key}"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, NULL,
     "the service broke the handshake off (handshake failure); it may ask for a certificate "
     "({cert}) or for another name ({name})"},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME, NULL,
     "the service does not know the name that was asked for; give it with {name}"},
    {SSL_R_NO_APPLICATION_PROTOCOL, "the client offers neither h2 nor http/1.1 (ALPN)", NULL},
    {SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, NULL,
     "the service does not speak the protocol that was offered (ALPN)"},
    {SSL_R_NO_SHARED_CIPHER, "no cipher that both sides know", NULL},
};

#define N_ROWS (sizeof rows / sizeof *rows)

static const char *row_words(unsigned long code, bool server)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == rows[i].reason)
            return server ? rows[i].server : rows[i].client;
    return NULL;
}

/* What can be done about a service's certificate that was not accepted. */
static const char *verify_remedy(long code)
{
    switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "give the name that it is for with {name}, or do not verify: {insecure}";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return "renew it, or do not verify: {insecure}";
    default: return "give its authority with {ca}, or do not verify: {insecure}";
    }
}

static const char *term_of(const struct tls_terms *t, slice name)
{
    const struct {
        const char *name, *text;
    } terms[] = {{"ca", t->ca},     {"cert", t->cert},         {"key", t->key},
                 {"name", t->name}, {"insecure", t->insecure}, {"plain", t->plain}};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (slice_is(name, terms[i].name))
            return terms[i].text;
    return "";
}

void tls_say(const struct tls_terms *t, const char *text, struct buf *out)
{
    slice rest = slice_of(text);
    while (rest.n) {
        size_t open = slice_find(rest, '{');
        buf_add(out, (slice){rest.p, open});
        rest = slice_from(rest, open < rest.n ? open + 1 : open);
        size_t close = slice_find(rest, '}');
        if (close < rest.n) {
            buf_adds(out, term_of(t, (slice){rest.p, close}));
            rest = slice_from(rest, close + 1);
        }
    }
}

static void verify_words(const struct tls_context *ctx, long code, struct buf *out)
{
    if (code == X509_V_OK)
        code = X509_V_ERR_UNSPECIFIED;
    buf_addf(out, "certificate verify failed: %s; ", X509_verify_cert_error_string(code));
    tls_say(ctx->terms,
            ctx->server ? "the client must show one that --client-ca vouches for"
                        : verify_remedy(code),
            out);
}

/* One of the queue: the first that has words of ours, else the first. */
static unsigned long take_error(bool server)
{
    unsigned long first = ERR_get_error(), code = first;
    while (code && !row_words(code, server))
        code = ERR_get_error();
    ERR_clear_error();
    return code ? code : first;
}

static const char *own_words(unsigned long code)
{
    if (ERR_SYSTEM_ERROR(code))
        return strerror(ERR_GET_REASON(code));
    const char *words = ERR_reason_error_string(code);
    return words ? words : "unknown error";
}

const char *tls_reason(void)
{
    unsigned long code = ERR_get_error();
    ERR_clear_error();
    return own_words(code);
}

void tls_words(const struct tls_context *ctx, long verify, struct buf *out)
{
    unsigned long code = take_error(ctx->server);
    const char *words = row_words(code, ctx->server);
    if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        verify_words(ctx, verify, out);
    else if (words)
        tls_say(ctx->terms, words, out);
    else
        buf_adds(out, own_words(code));
}
