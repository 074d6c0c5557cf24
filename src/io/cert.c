/* SPDX-License-Identifier: Apache-2.0 */
#include "io/cert.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { HOUR_S = 3600, SERIAL_BITS = 126, PATH_BYTES = 4096, PEM_BYTES_MAX = 16 * 1024 };

/* ---- making ---- */

bool cert_name_valid(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._*";
    ASN1_OCTET_STRING *ip = name ? a2i_IPADDRESS(name) : NULL;
    bool host = !name || (strlen(name) < 254 && strspn(name, allowed) == strlen(name));
    ASN1_OCTET_STRING_free(ip);
    return ip || host;
}

/* An address in numbers or a host name. */
static void add_name(GENERAL_NAMES *names, const char *name)
{
    GENERAL_NAME *g = GENERAL_NAME_new();
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(name);
    ASN1_STRING *value = ip ? ip : ASN1_IA5STRING_new();
    if (!g || !value || (!ip && !ASN1_STRING_set(value, name, -1)))
        mem_oom();
    GENERAL_NAME_set0_value(g, ip ? GEN_IPADD : GEN_DNS, value);
    if (!sk_GENERAL_NAME_push(names, g))
        mem_oom();
}

static bool set_names(X509 *x, const char *name)
{
    static const char *const usual[] = {"localhost", "127.0.0.1", "::1"};
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    if (!names)
        mem_oom();
    bool known = !name || !name[0];
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        add_name(names, usual[i]);
        known = known || strcmp(name, usual[i]) == 0;
    }
    if (!known)
        add_name(names, name);
    bool ok = X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
    GENERAL_NAMES_free(names);
    return ok;
}

static bool set_extensions(X509 *x)
{
    static const struct {
        int nid;
        const char *value;
    } rows[] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_ext_key_usage, "serverAuth"},
        {NID_subject_key_identifier, "hash"},
    };
    X509V3_CTX ctx = {0};
    X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof rows / sizeof *rows; i++) {
        X509_EXTENSION *one = X509V3_EXT_conf_nid(NULL, &ctx, rows[i].nid, rows[i].value);
        ok = one && X509_add_ext(x, one, -1);
        X509_EXTENSION_free(one);
    }
    return ok;
}

X509 *cert_generate(const char *name, int days, EVP_PKEY **key)
{
    static const unsigned char organisation[] = "Outfox test certificate", host[] = "localhost";
    X509 *x = X509_new();
    BIGNUM *serial = BN_new(); /* random: two of the same name and number confuse clients */
    EVP_PKEY *k = EVP_EC_gen("P-256");
    bool ok = x && serial && k && X509_set_version(x, X509_VERSION_3) &&
              BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
              BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(x));
    X509_NAME *n = ok ? X509_get_subject_name(x) : NULL;
    ok = n &&
         X509_NAME_add_entry_by_NID(n, NID_organizationName, MBSTRING_UTF8, organisation, -1, -1,
                                    0) &&
         X509_NAME_add_entry_by_NID(n, NID_commonName, MBSTRING_UTF8, host, -1, -1, 0) &&
         X509_set_issuer_name(x, n) &&
         X509_gmtime_adj(X509_getm_notBefore(x), -HOUR_S) && /* clocks may differ */
         X509_gmtime_adj(X509_getm_notAfter(x), (long)days * 24 * HOUR_S) &&
         X509_set_pubkey(x, k) && set_extensions(x) && set_names(x, name) &&
         X509_sign(x, k, EVP_sha256());
    BN_free(serial);
    if (ok) {
        *key = k;
        return x;
    }
    X509_free(x);
    EVP_PKEY_free(k);
    return NULL;
}

/* ---- writing ---- */

static int write_pem(int fd, X509 *cert)
{
    BIO *b = BIO_new(BIO_s_mem());
    char *text = NULL;
    if (!b || !PEM_write_bio_X509(b, cert))
        mem_oom();
    long n = BIO_get_mem_data(b, &text);
    errno = EIO; /* of a write that came up short */
    int code = write(fd, text, (size_t)n) == n ? 0 : errno;
    BIO_free(b);
    return code;
}

int cert_write(X509 *cert, const char *path)
{
    struct stat s;
    char temporary[PATH_BYTES];
    /* pipes and devices, /dev/stdout for one, must not be replaced */
    bool special = stat(path, &s) == 0 && !S_ISREG(s.st_mode);
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
        return ENAMETOOLONG;
    int fd = special ? open(path, O_WRONLY | O_CLOEXEC) : mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return errno;
    int code = !special && fchmod(fd, 0644) ? errno : write_pem(fd, cert);
    if (close(fd) && !code)
        code = errno;
    if (!special && !code && rename(temporary, path))
        code = errno;
    if (!special && code)
        (void)unlink(temporary);
    return code;
}

int cert_keep(const char *path, const char *name)
{
    struct buf text = BUF_INIT(PEM_BYTES_MAX);
    EVP_PKEY *key = NULL;
    X509 *cert = cert_generate(name, CERT_KEPT_DAYS, &key);
    BIO *b = BIO_new(BIO_s_mem());
    char *p = NULL;
    if (!b)
        mem_oom();
    int code = cert && PEM_write_bio_X509(b, cert) &&
                       PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL)
                   ? 0
                   : EIO;
    long n = BIO_get_mem_data(b, &p);
    buf_add(&text, (slice){p, n > 0 ? (size_t)n : 0});
    code = code ? code : file_replace(path, buf_slice(&text));
    BIO_free(b);
    X509_free(cert);
    EVP_PKEY_free(key);
    buf_deinit(&text);
    return code;
}
