/* SPDX-License-Identifier: Apache-2.0
 *
 * The test certificate: made at the start, its key never leaves the process. It has signed itself
 * and is no authority, so that clients who trust it trust nothing else by that. It has no keyUsage:
 * OpenSSL before 3 does not accept one that signed itself without the right to sign. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/tls_int.h"

enum { HOUR_S = 3600, DAYS = 30, SERIAL_BITS = 126, PATH_BYTES = 4096 };

/* ---- making ---- */

static const char *const usual_names[] = {"localhost", "127.0.0.1", "::1"};

static const struct {
    int nid;
    const char *value;
} extensions[] = {
    {NID_basic_constraints, "critical,CA:FALSE"},
    {NID_ext_key_usage, "serverAuth"},
    {NID_subject_key_identifier, "hash"},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Letters, digits and what else host names are made of. */
static bool is_host_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._*";
    return name[0] && strlen(name) < 254 && strspn(name, allowed) == strlen(name);
}

/* An address in numbers or a host name. */
static bool add_name(GENERAL_NAMES *names, const char *name)
{
    GENERAL_NAME *g = GENERAL_NAME_new();
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(name);
    ASN1_STRING *value = ip ? ip : ASN1_IA5STRING_new();
    if (!g || !value || (!ip && !ASN1_STRING_set(value, name, -1)))
        mem_oom();
    GENERAL_NAME_set0_value(g, ip ? GEN_IPADD : GEN_DNS, value);
    if (ip || is_host_name(name)) {
        if (!sk_GENERAL_NAME_push(names, g))
            mem_oom();
        return true;
    }
    GENERAL_NAME_free(g);
    return false;
}

static int set_names(X509 *x, const char *name, struct err *e)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    if (!names)
        mem_oom();
    bool usual = false, good = true;
    for (size_t i = 0; i < LENGTH(usual_names); i++) {
        good = add_name(names, usual_names[i]) && good;
        usual = usual || !name || !name[0] || strcmp(name, usual_names[i]) == 0;
    }
    good = (usual || add_name(names, name)) && good;
    int ok = good && X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
    GENERAL_NAMES_free(names);
    if (!good)
        return err_set(e, 0, 0, "a test certificate cannot be for \"%s\": not the name of a host",
                       name);
    return ok ? 0 : err_set(e, 0, 0, "no test certificate: %s", tls_reason());
}

static bool set_extensions(X509 *x)
{
    X509V3_CTX ctx = {0};
    X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
    for (size_t i = 0; i < LENGTH(extensions); i++) {
        X509_EXTENSION *one =
            X509V3_EXT_conf_nid(NULL, &ctx, extensions[i].nid, extensions[i].value);
        int ok = one && X509_add_ext(x, one, -1);
        X509_EXTENSION_free(one);
        if (!ok)
            return false;
    }
    return true;
}

/* Random: two certificates of the same name and number confuse clients. */
static bool set_serial(X509 *x)
{
    BIGNUM *n = BN_new();
    bool ok = n && BN_rand(n, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
              BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x));
    BN_free(n);
    return ok;
}

static bool set_subject(X509 *x)
{
    static const unsigned char organisation[] = "Outfox test certificate", host[] = "localhost";
    X509_NAME *n = X509_get_subject_name(x);
    return X509_NAME_add_entry_by_NID(n, NID_organizationName, MBSTRING_UTF8, organisation, -1, -1,
                                      0) &&
           X509_NAME_add_entry_by_NID(n, NID_commonName, MBSTRING_UTF8, host, -1, -1, 0) &&
           X509_set_issuer_name(x, n);
}

/* Clocks may differ: it is valid since an hour ago. */
static bool set_times(X509 *x)
{
    return X509_gmtime_adj(X509_getm_notBefore(x), -HOUR_S) &&
           X509_gmtime_adj(X509_getm_notAfter(x), (long)DAYS * 24 * HOUR_S);
}

int cert_generate(const char *name, X509 **cert, EVP_PKEY **key, struct err *e)
{
    X509 *x = X509_new();
    EVP_PKEY *k = EVP_EC_gen("P-256");
    bool ok = x && k && X509_set_version(x, X509_VERSION_3) && set_serial(x) && set_subject(x) &&
              set_times(x) && X509_set_pubkey(x, k) && set_extensions(x);
    int result = ok ? set_names(x, name, e) : -1;
    if (!result && !X509_sign(x, k, EVP_sha256()))
        result = -1;
    if (!result) {
        *cert = x;
        *key = k;
        return 0;
    }
    X509_free(x);
    EVP_PKEY_free(k);
    return err_set(e, 0, 0, "no test certificate can be made: %s", tls_reason());
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
    int result = write(fd, text, (size_t)n) == n ? 0 : -errno;
    BIO_free(b);
    return result;
}

/* Into a new file that then takes the place of the old one: who reads sees a whole certificate. */
static int replace_file(const char *path, X509 *cert)
{
    char temporary[PATH_BYTES];
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
        return -ENAMETOOLONG;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = fchmod(fd, 0644) ? -errno : write_pem(fd, cert);
    if (close(fd) && !result)
        result = -errno;
    if (!result && rename(temporary, path))
        result = -errno;
    if (result)
        (void)unlink(temporary);
    return result;
}

/* Pipes and devices, /dev/stdout for one, must not be replaced. */
static int write_into(const char *path, X509 *cert)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = write_pem(fd, cert);
    return close(fd) && !result ? -errno : result;
}

int tls_write_cert(const struct tls_context *ctx, const char *path, struct err *e)
{
    struct stat s;
    if (!ctx->generated)
        return err_set(e, 0, 0, "--test-cert: no certificate was generated; leave out --cert");
    bool special = stat(path, &s) == 0 && !S_ISREG(s.st_mode);
    int code = special ? write_into(path, ctx->generated) : replace_file(path, ctx->generated);
    if (code)
        return err_set(e, 0, 0, "--test-cert: \"%s\" cannot be written: %s", path, strerror(-code));
    return 0;
}
