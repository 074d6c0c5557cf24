/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of `outfox proxy`: from the command line, from a file, or both. Both say the
 * same things by the same functions, and what is said later wins:
 *
 *   config_new -> config_load, config_set, config_add_proxy, proxy_set, config_add_fault,
 *                 in any order
 *              -> config_finish -> rulebook_inherit, rulebook_start -> it is used -> config_free
 *
 * 1. From config_finish on it does not change, but for the tallies of its rules.
 * 2. Addresses are not resolved here, and files are not opened but for the configuration itself.
 * 3. All text in it is NUL-terminated and lives as long as it does. */
#ifndef OUTFOX_PROXY_CONFIG_H
#define OUTFOX_PROXY_CONFIG_H

#include "base/err.h"
#include "base/vec.h"
#include "core/interface.h"
#include "data/node.h"
#include "proxy/rule.h"

enum { PROXIES_MAX = 1000, WORKERS_MAX = 256, NORMALISE_MAX = 100 };

struct addr;

/* What bounds the proxy: sizes, numbers and waits. Each is a row of limits.list, with its default
 * and the range in which it may be set (--limit NAME=VALUE, `limits:` in the file). */
struct limits {
#define LIMIT(id, name, kind, standard, least, most, doc) int64_t id;
#include "proxy/limits.list"
#undef LIMIT
};

extern const struct limits limits_default;

/* 0, or -1 for an unknown name, a value that is none, or one out of range. */
int limits_set(struct limits *limits, slice name, slice value, struct err *e) MUST_USE;

/* One line per limit: its name, its value here, and what it is. */
void limits_print(const struct limits *limits, struct buf *out);

struct proxy_spec {
    slice service;
    slice listen, to;      /* without http://, https:// and tcp:// */
    const struct addr *at; /* in place of `to`, where it is resolved already; outlives this */
    bool listen_tls, to_tls;
    bool tcp, to_tcp; /* connections are passed on, whatever they say; `to` was written so, too */
    const char *cert, *key, *test_cert, *client_ca; /* of the listener; NULL: none */
    const char *to_ca, *to_cert, *to_key, *to_name; /* towards the service; NULL: none */
    slice host;   /* Host and :authority that the service gets; empty: the caller's */
    slice caller; /* who alone was given this address, for messages; empty: anybody */
    bool insecure;
    bool http1; /* TLS clients are offered HTTP/1.1 alone */
    struct rules rules;
    uint32_t line, col; /* in the file; 0: from the command line */
};

/* A rule as it was given; config_finish reads it. */
struct fault_source {
    slice text;
    uint32_t proxy; /* whose it is; UINT32_MAX: its SERVICE says so */
    const struct node *id, *body, *message, *headers; /* beside it; NULL: not there */
    uint32_t line, col;
};

struct proxy_config {
    struct arena arena;
    VEC(struct proxy_spec) proxies;
    const char *log; /* NULL: none; "-": standard output */
    uint32_t workers;
    uint64_t seed;
    bool identify_payload;
    bool fault_header;
    const struct tls_terms *terms; /* how messages name settings; NULL: as `outfox proxy` does */
    bool fresh; /* a campaign's: a connection carries one call, see http/link.h */
    struct rewrite *normalise;
    struct limits limits;
    struct rulebook book; /* all rules, in order: those of the file come first */

    const char *source; /* the file; NULL: none */
    uint32_t n_normalise;
    VEC(struct fault_source) faults;
};

struct proxy_config *config_new(void);
void config_free(struct proxy_config *config);

/* Adds what the file says. 0, or -1 with file, line and column. */
int config_load(struct proxy_config *config, const char *path, struct err *e) MUST_USE;

/* The same from nodes, which must live as long as the configuration: in config->arena, say. */
int config_read(struct proxy_config *config, const struct node *root, struct err *e) MUST_USE;

/* log FILE, workers N, seed N, fault-header on|off, identify payload[=on|off], and, each time one
 * more, limits NAME=VALUE and normalise RULE. */
bool config_is_key(slice key);
int config_set(struct proxy_config *config, slice key, slice value, struct err *e) MUST_USE;

/* A proxy with nothing set but its name, "service"; returns its index, or -1 when there are too
 * many. */
int config_add_proxy(struct proxy_config *config, struct err *e) MUST_USE;

/* service, listen, to, cert, key, test-cert, client-ca, http1, to-ca, to-cert, to-key, to-name,
 * insecure.
 */
int proxy_set(struct proxy_config *config, uint32_t proxy, slice key, slice value,
              struct err *e) MUST_USE;

/* A rule whose SERVICE says which proxy it is for; it may be left out where there is one proxy. */
void config_add_fault(struct proxy_config *config, slice text);

/* Puts an error to a place of the file, or leaves it where it is when line is 0. */
int config_fail_at(const struct proxy_config *config, uint32_t line, uint32_t col,
                   const struct err *inner, struct err *e);

/* Checks the whole and makes the rules. */
int config_finish(struct proxy_config *config, struct err *e) MUST_USE;

#endif
