/* SPDX-License-Identifier: Apache-2.0
 *
 * The first outfox.yaml of a system, from what is known of it: told on the command line, or read
 * from a docker-compose file. It has comments that teach, and passes the checks of config.h.
 *
 *   starter_new -> starter_add_service, ..., starter_compose, in any order -> starter_text */
#ifndef OUTFOX_CONFIG_STARTER_H
#define OUTFOX_CONFIG_STARTER_H

#include "base/err.h"
#include "base/vec.h"
#include "data/keys.h"

struct starter_service {
    slice name;
    slice host;     /* empty: 127.0.0.1 */
    uint16_t port;  /* 0: not known */
    slice run;      /* empty: it runs already */
    uint16_t proxy; /* where its proxy listens; 0: at any port */
    slice why_not;  /* why it is left out, for people; empty: it is not */
    VEC(slice) notes;
    struct text_pairs env; /* of one that is started */
};

struct starter {
    struct arena arena;
    VEC(struct starter_service) services;
    VEC(struct starter_scenario {
        bool command;
        slice text;
    })
    scenarios;
    slice origin; /* the compose file; empty: none */
    slice schema; /* file of the JSON Schema, beside the written one; empty: none */
};

struct starter *starter_new(void);
void starter_free(struct starter *s);

/* NAME=PORT or NAME=HOST:PORT. 0, or -1 with *e. */
int starter_add_service(struct starter *s, slice text, struct err *e) MUST_USE;

/* NAME=COMMAND: the service is started by Outfox. */
int starter_add_run(struct starter *s, slice text, struct err *e) MUST_USE;

/* A request or a command as it is written in the file. */
void starter_add_scenario(struct starter *s, bool command, slice text);

/* Adds the services of a docker-compose file. 0, or -1 with *e. */
int starter_compose(struct starter *s, const char *path, struct err *e) MUST_USE;
int starter_compose_text(struct starter *s, slice text, struct err *e) MUST_USE;

/* The file. 0, or -1 with *e: what was told does not make a configuration. */
int starter_text(const struct starter *s, struct buf *out, struct err *e) MUST_USE;

#endif
