/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that read a configuration share. A key of the file is a row of a table
 * (data/keys.h); maps are read by their rows, what must hold between keys is checked behind that. */
#ifndef OUTFOX_CONFIG_CONFIG_INT_H
#define OUTFOX_CONFIG_CONFIG_INT_H

#include "config/config.h"

/* Text whose placeholders are checked when all services are known. */
struct conf_text {
    slice text;
    const char *key;
    bool own; /* it belongs to a service: {port} means something */
    uint32_t line, col;
};

/* The context of the rows' functions (struct keys_reader). */
struct conf_reader {
    struct campaign_config *c;
    bool any_name; /* services are not known: every NAME is one */
    bool own;      /* what is read belongs to a service: {port} means something */
    VEC(struct conf_text) texts;
    VEC(const struct node *) requests; /* of each scenario; NULL: a command */
    const struct node *ignore;
};

/* ---- config_keys.c ---- */

extern const struct keys config_keys;

/* A path of the file as it is opened. */
slice conf_path(struct campaign_config *c, slice path);

/* What can stand in a request line behind the method: visible ASCII that starts with a slash. */
bool conf_target_ok(slice target);

/* A method that is nearly a known one is a mistake; others may be the service's own. */
int conf_method(struct keys_reader *r, const struct node *at, slice method) MUST_USE;

/* Texts that become paths, and commands and variables, in which there are placeholders. */
key_read as_path, as_command;
key_pair as_variable;

/* A service with nothing set but its name. */
struct service_spec conf_service(const struct campaign_config *c, const struct node_pair *pair);

/* ---- config_events.c ---- */

/* Reads the plan that is named, if any. 0, or -1 with *e: of that file, or of the key. */
int config_load_plan(struct campaign_config *c, struct err *e) MUST_USE;

/* ---- config_scenario.c ---- */

extern const struct keys scenario_keys;
key_pair conf_scenario;

/* A scenario with nothing set but its name; and the map that says the rest. */
struct scenario_spec conf_scenario_new(const struct campaign_config *c, slice name, uint32_t line,
                                       uint32_t col);
int conf_scenario_read(struct keys_reader *r, struct scenario_spec *s,
                       const struct node *map) MUST_USE;

/* ---- config_suite.c ---- */

extern const struct keys suite_keys;
key_read conf_suite;

/* ---- config.c ---- */

/* Expands ${ENV} in all texts below a node; the new nodes are in `a`. NULL: an error. */
const struct node *conf_env(const struct node *root, struct arena *a, struct err *e);

#endif
