/* SPDX-License-Identifier: Apache-2.0 */
#include "api/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/token.h"

/* ---- addresses ---- */

static bool is_127(struct in_addr in)
{
    return ntohl(in.s_addr) >> 24 == 127;
}

bool addr_is_loopback(const struct addr *at)
{
    if (addr_is_unix(at))
        return true;
    if (at->sa.ss_family == AF_INET)
        return is_127(((const struct sockaddr_in *)(const void *)&at->sa)->sin_addr);
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)&at->sa)->sin6_addr);
}

bool addr_from_here(struct addr *at)
{
    struct sockaddr_in *v4 = (void *)&at->sa;
    struct sockaddr_in6 *v6 = (void *)&at->sa;
    if (at->sa.ss_family == AF_INET && v4->sin_addr.s_addr == htonl(INADDR_ANY))
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else if (at->sa.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr))
        v6->sin6_addr = in6addr_loopback;
    else
        return false;
    return true;
}

/* The host of an authority, without port and brackets; empty: it is none. */
static slice host_of(slice authority)
{
    bool brackets = authority.n && authority.p[0] == '[';
    slice host = slice_from(authority, brackets);
    host.n = slice_find(host, brackets ? ']' : ':');
    size_t behind = host.n + (brackets ? 2 : 0);
    if (behind > authority.n)
        return (slice){"", 0};
    slice port = slice_from(authority, behind);
    for (size_t i = 0; i < port.n; i++)
        if (i == 0 ? port.p[i] != ':' : !is_digit(port.p[i]))
            return (slice){"", 0};
    return host;
}

static bool is_loopback_name(slice host)
{
    static const slice below = {".localhost", 10};
    char text[INET6_ADDRSTRLEN];
    struct in_addr in;
    if (slice_eq_nocase(host, SLICE("localhost")) || slice_is(host, "::1") ||
        (host.n > below.n && slice_eq_nocase(slice_from(host, host.n - below.n), below)))
        return true;
    if (!host.n || host.n >= sizeof text)
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = 0;
    return inet_pton(AF_INET, text, &in) == 1 && is_127(in);
}

/* ---- the token ---- */

static bool has_token(const struct access *a, const struct head *h)
{
    slice given = head_get(h, SLICE("authorization")), scheme;
    if (!given.p || !slice_word(&given, &scheme) || !slice_eq_nocase(scheme, SLICE("bearer")))
        return false;
    return token_same(slice_trim(given), a->token);
}

int access_allowed(const struct addr *at, const char *token, struct err *e)
{
    if (token)
        return token_check(slice_of(token), e);
    return addr_is_loopback(at)
               ? 0
               : err_set(e, 0, 0,
                         "%s can be reached from other machines, which needs a token: set "
                         "OUTFOX_TOKEN or --token-file, or listen at 127.0.0.1",
                         at->text);
}

/* ---- requests ---- */

/* Beyond loopback a proxy may do TLS for a server that does none: the page is at https:// then. */
static bool is_own_origin(const struct access *a, slice origin, slice authority)
{
    bool secure = slice_starts(origin, SLICE("https://"));
    slice scheme = secure ? SLICE("https://") : SLICE("http://");
    bool fits = secure ? a->tls || !a->loopback : !a->tls;
    return fits && slice_starts(origin, scheme) && authority.n &&
           slice_eq_nocase(slice_from(origin, scheme.n), authority);
}

uint16_t access_check(const struct access *a, const struct head *h, bool open, bool page,
                      const char **why)
{
    slice host = host_of(h->authority), origin = head_get(h, SLICE("origin"));
    slice site = head_get(h, SLICE("sec-fetch-site"));
    bool named = is_loopback_name(host) || (a->host.n && slice_eq_nocase(host, a->host));
    bool own = !site.p || slice_is(site, "same-origin") || slice_is(site, "none");
    bool link = page && slice_is(head_get(h, SLICE("sec-fetch-mode")), "navigate") &&
                slice_is(head_get(h, SLICE("sec-fetch-dest")), "document");
    if (a->loopback && !named) {
        *why =
            "this server answers to its own address and to localhost alone, not to this Host; to "
            "reach it by other names, listen beyond loopback (--listen), with a token";
        return 403;
    }
    if ((!own && !link) || (origin.p && !is_own_origin(a, origin, h->authority))) {
        *why = "requests from pages of other sites are refused";
        return 403;
    }
    if (a->token.p && !open && !has_token(a, h)) {
        *why = "this needs the token of OUTFOX_TOKEN or --token-file: send Authorization: Bearer "
               "TOKEN, or open the address that outfox has printed";
        return 401;
    }
    return 0;
}
