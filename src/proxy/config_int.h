/* SPDX-License-Identifier: Apache-2.0
 *
 * What config.c (keys and checks) and config_load.c (the file) share. */
#ifndef OUTFOX_PROXY_CONFIG_INT_H
#define OUTFOX_PROXY_CONFIG_INT_H

#include "proxy/config.h"

/* How the file writes what config_set takes. */
enum key_shape {
    SHAPE_ONE,  /* a value */
    SHAPE_LIST, /* a list of values, each set by itself */
    SHAPE_MAP,  /* a map, each pair set as NAME=VALUE */
};

/* A key of the whole configuration. */
struct config_key {
    const char *name;
    enum key_shape shape;
    int (*set)(struct proxy_config *config, slice value, struct err *e);
};

enum { CONFIG_KEYS = 7, PROXY_KEYS = 13 };

extern const struct config_key config_keys[CONFIG_KEYS];

/* The names of what proxy_set takes. */
extern const char *const proxy_key_names[PROXY_KEYS];

/* `on` and `off`, also as true and false. */
int switch_read(const char *key, slice value, bool *out, struct err *e) MUST_USE;

/* "unknown key ..." with the nearest of the names. */
int key_unknown(slice key, const char *what, const char *const *names, size_t n, struct err *e);

/* Puts an error to a place of the file, or leaves it where it is when line is 0. */
int config_fail_at(const struct proxy_config *config, uint32_t line, uint32_t col,
                   const struct err *inner, struct err *e);

/* Do the keys about TLS fit each other and the addresses? */
int proxy_tls_check(const struct proxy_spec *spec, struct err *e) MUST_USE;

/* Adds id, body, message and headers of a fault's map to its rule. */
int fault_with(struct proxy_config *config, struct rule *rule, const struct node *with,
               struct err *e) MUST_USE;

#endif
