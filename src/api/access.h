/* SPDX-License-Identifier: Apache-2.0
 *
 * access: who may ask? Pure: a head of a request, and what is known of the address and the token.
 *
 * 1. At a loopback address the Host must be a name of loopback, or the address itself: a name of the
 *    web that was made to lead here (DNS rebinding) is refused. Beyond loopback nobody knows by which
 *    names we are called, and the token stands for that.
 * 2. A browser that says where a request comes from (Origin, Sec-Fetch-Site) must say: from here.
 *    Only the page may be reached by a link of another site, as long as that makes it the page of
 *    the window.
 * 3. Where there is a token, all but what is open needs it. It is compared in constant time. */
#ifndef OUTFOX_API_ACCESS_H
#define OUTFOX_API_ACCESS_H

#include "base/err.h"
#include "io/addr.h"
#include "wire/message.h"

struct access {
    bool loopback, tls;
    slice host;  /* as the address was written, without port; empty: it was not */
    slice token; /* p NULL: none */
};

/* 0, or the status with a sentence: 403, 401. open: it shows nothing; page: it is the page. */
uint16_t access_check(const struct access *a, const struct head *h, bool open, bool page,
                      const char **why);

/* May one listen there with this token (NULL: none)? 0, or -1 with the cause and the remedy. */
int access_allowed(const struct addr *at, const char *token, struct err *e) MUST_USE;

bool addr_is_loopback(const struct addr *at);

/* Every address of this machine (0.0.0.0, ::) becomes the loopback one; false: it is another. */
bool addr_from_here(struct addr *at);

#endif
