/* SPDX-License-Identifier: Apache-2.0
 *
 * Certificates of our own: for a test, made at the start, whose key never leaves the process; or one
 * that is kept in a file. It has signed itself and is no authority, so that clients who trust it trust nothing else by that. It has no keyUsage:
 * OpenSSL before 3 does not accept one that signed itself without the right to sign. */
#ifndef OUTFOX_IO_CERT_H
#define OUTFOX_IO_CERT_H

#include <openssl/x509.h>
#include <stdbool.h>

/* Can a certificate be for this? An address in numbers, a host name, "" or NULL. */
bool cert_name_valid(const char *name);

enum { CERT_TEST_DAYS = 30, CERT_KEPT_DAYS = 3650 };

/* A certificate for localhost, 127.0.0.1, ::1 and `name`, and its key, both the caller's. NULL:
 * OpenSSL's queue of errors says why. */
X509 *cert_generate(const char *name, int days, EVP_PKEY **key);

/* Makes one that lasts, and writes it with its key into a file for its owner alone, as PEM. 0, or
 * errno. */
int cert_keep(const char *path, const char *name);

/* As PEM, readable by all, into a new file that then takes the place of the old one: a reader sees a
 * whole certificate. 0, or errno. */
int cert_write(X509 *cert, const char *path);

#endif
