/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that read a configuration share. A key of the file is a row of conf_keys
 * (config_keys.c): where it stands, how its value is read, and what is said of it in the schema and
 * in the manual. Maps are read by their rows; what must hold between keys is checked behind that.
 */
#ifndef OUTFOX_CONFIG_CONFIG_INT_H
#define OUTFOX_CONFIG_CONFIG_INT_H

#include "config/config.h"

/* In which map a key stands. */
enum conf_place {
    IN_FILE,
    IN_SIMULATE,
    IN_SERVICE,
    IN_SCENARIO,
    IN_EXPECT,
    IN_SEARCH,
    IN_IDENTIFY,
    IN_JUDGE,
    IN_SECRETS,
    CONF_PLACES
};

/* How a value is read; of each there is a function in config_values.c and a fragment of the schema.
 */
enum conf_type {
    CONF_TEXT,
    CONF_PATH,    /* text that becomes a path */
    CONF_COMMAND, /* text with placeholders */
    CONF_SWITCH,  /* on and off */
    CONF_U16,     /* numbers from `least` to `most` */
    CONF_U32,
    CONF_U64,
    CONF_DURATION, /* of at least `least` ns */
    CONF_WORD,     /* an index of `words` */
    CONF_WORDS,    /* a list of them, by `read` */
    CONF_TEXTS,    /* a list of texts */
    CONF_ENV,      /* a map of variables, with placeholders in their values */
    CONF_FIELDS,   /* a map of header fields */
    CONF_MAP,      /* the map `inner` */
    CONF_OTHER,    /* by `read` alone */
    CONF_TYPES
};

struct conf_reader;
struct conf_key;

typedef int conf_read(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value);

struct conf_key {
    enum conf_place place;
    const char *name;
    enum conf_type type;
    size_t field; /* in the struct of its place */
    uint64_t least, most;
    enum conf_place inner;          /* CONF_MAP */
    const char *(*words)(size_t i); /* all that it can be; NULL behind the last */
    conf_read *read;    /* CONF_OTHER, CONF_WORDS; else checks the value that was read, if given */
    const char *schema; /* CONF_OTHER without words: members of the schema of its value */
    const char *fallback; /* what holds without it, for people; "": nothing */
    const char *doc;
};

extern const struct conf_key conf_keys[];
extern const size_t conf_key_count;

/* "a service", for messages. */
extern const char *const conf_place_names[CONF_PLACES];

/* Text whose placeholders are checked when all services are known. */
struct conf_text {
    slice text;
    const char *key;
    bool own; /* it belongs to a service: {port} means something */
    uint32_t line, col;
};

struct conf_reader {
    struct campaign_config *c;
    struct err *e;
    bool any_name; /* services are not known: every NAME is one */
    VEC(struct conf_text) texts;
    VEC(const struct node *) requests; /* of each scenario; NULL: a command */
    const struct node *ignore;
};

/* ---- config_values.c ---- */

/* Sets the error at the place of the value; returns -1. */
int conf_fail(struct conf_reader *r, const struct node *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is it this type; is it text, a number, true or false? 0 or -1. */
int conf_want(struct conf_reader *r, const char *key, const struct node *value,
              enum node_type type) MUST_USE;
int conf_want_scalar(struct conf_reader *r, const char *key, const struct node *value) MUST_USE;

/* Reads a map by the rows of its place into the struct of that place. */
int conf_map(struct conf_reader *r, enum conf_place place, void *into,
             const struct node *map) MUST_USE;

/* The place of a text among the words of a key; an error when it is none of them. */
int conf_word(struct conf_reader *r, const struct conf_key *key, const struct node *value,
              uint32_t *out) MUST_USE;

int conf_duration(struct conf_reader *r, const char *key, const struct node *value,
                  int64_t *out) MUST_USE;

/* A path of the file as it is opened. */
slice conf_path(struct conf_reader *r, slice path);

/* A name of services and scenarios: letters, digits, - and _. */
bool conf_name_ok(slice name);
int conf_name(struct conf_reader *r, const struct node_pair *pair, const char *what) MUST_USE;

/* What can stand in a request line behind the method: visible ASCII that starts with a slash. */
bool conf_target_ok(slice target);
bool conf_token_ok(slice token); /* RFC 9110: methods, names of fields */

/* A method that is nearly a known one is a mistake; others may be the service's own. */
int conf_method(struct conf_reader *r, const struct node *at, slice method) MUST_USE;

/* ---- config_service.c, config_scenario.c ---- */

/* A service with nothing set but its name. */
struct service_spec conf_service(const struct conf_reader *r, const struct node_pair *pair);

conf_read conf_services, conf_simulate, conf_host_header, conf_address, conf_host, conf_ready;
/* Is this what a judge can read, and do its patterns name services of the configuration (where none
 * is known, any)? What is wrong with it is in *e. */
int conf_judge_check(const struct campaign_config *c, const struct node *judge,
                     struct err *e) MUST_USE;

conf_read conf_scenarios, conf_request, conf_body;

/* ---- config_expect.c ---- */

conf_read conf_status, conf_json, conf_body_expected, conf_where, conf_exit, conf_any_of;

/* Does what is expected go with a command, or with a request? `map`: as it is in the file, or NULL.
 */
int conf_expect_check(struct conf_reader *r, const struct node *map, bool command) MUST_USE;

/* Which keys go with a request, which with a command. */
struct conf_fit {
    const char *key;
    bool command;
};
int conf_fits(struct conf_reader *r, const struct node *map, bool command,
              const struct conf_fit *fits, size_t n) MUST_USE;

/* ---- config_check.c: what can be said only of the whole ---- */

int conf_finish(struct conf_reader *r) MUST_USE;

/* ---- config_env.c ---- */

/* Expands ${ENV} in all texts below a node; the new nodes are in `a`. `value` gives a variable's
 * value, or NULL. */
const struct node *conf_env(const struct node *root, struct arena *a,
                            const char *(*value)(const char *name), struct err *e);

#endif
