/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this room share. A request becomes a struct asking: its route, the values of
 * its path and query. Each handler (answer_*) answers it. */
#ifndef OUTFOX_API_API_INT_H
#define OUTFOX_API_API_INT_H

#include "api/access.h"
#include "api/api.h"
#include "api/feed.h"
#include "api/watch.h"
#include "data/keys.h"
#include "http/server.h"

enum {
    API_BODY_MAX = 16 * 1024,     /* of a request */
    API_DOCUMENT_MAX = 256 << 20, /* of one document */
    API_TEXTS_MAX = 512 << 20,    /* of all that are kept or being sent */
    API_STREAMS = 1024,           /* of events, at once */
    API_OTHERS = 128,             /* connections beside those */
    API_SHELF = 32,               /* documents that are kept */
    API_PIECE = 64 * 1024,        /* of an answer, at once */
};

/* ---- routes: route.c ---- */

enum value {
#define VALUE(name, text, type, about) VALUE_##name,
#define ROUTE(...)
#include "api/route.list"
#undef ROUTE
#undef VALUE
    VALUES
};

struct asking;

struct route {
    const char *id, *method, *path, *query;
    bool open;
    void (*handle)(struct asking *k);
    int kind;
    const char *type, *schema;
    const struct keys *body;
    const char *summary;
};

extern const struct route routes[];
extern const uint32_t n_routes;

/* What values are called, and are. */
struct value_row {
    const char *name;
    bool number;
    const char *about;
};
extern const struct value_row value_rows[VALUES];

struct asked {
    const struct route *route;
    bool given[VALUES];
    slice text[VALUES];
    uint64_t number[VALUES]; /* of those that are numbers */
};

/* Which route a path leads to, with the values in it. 200, 404: there is none; 405: there is one of
 * another method, and *allow has those. Texts are in the arena. */
uint16_t route_find(slice method, slice path, struct arena *a, struct asked *out,
                    const char **allow);

/* The values of the query. 0, or -1 with a sentence. */
int route_query(struct asked *k, slice query, struct arena *a, struct err *e) MUST_USE;

/* A value that a route's query takes: moves on to the next word of `query`. */
bool query_word(slice *query, slice *name, bool *needed);

/* ---- the server ---- */

struct asking {
    struct api *api;
    struct server_request *q;
    struct asked asked;
    struct arena arena; /* lives as long as the question, not the answer */
};

struct shelf;

struct api {
    struct api_options o;
    struct addr at;
    struct access access;
    struct tls_context *tls;
    struct server *server;
    struct watch watch;
    struct feed feed;
    struct shelf *shelf;
    struct buf token, address, openapi;
    uint64_t epoch; /* what this process counts events from, and marks what it prints with */
};

/* ---- answers: answer.c ---- */

/* A sentence as JSON, with this status. */
void answer_error(struct server_request *q, uint16_t status, const char *sentence);
void answer_result(struct server_request *q, enum api_result result, const struct err *e);

/* What every answer says to browsers; `cached`: it may be kept, and asked for again by its mark. */
void answer_fields(struct server_request *q, bool cached);

/* The mark (ETag) of a version; has the client that one? */
struct mark {
    char text[48];
};
struct mark answer_mark(const struct api *a, uint64_t version);
bool answer_known(struct server_request *q, const struct mark *mark);

/* A small text that is made anew each time. */
void answer_text(struct server_request *q, uint16_t status, const char *type, slice text);

/* The same with a mark: 304 where the client has it. */
void answer_marked(struct asking *k, uint64_t version, slice text);

/* ---- handlers ---- */

void answer_page(struct asking *k);
void answer_livez(struct asking *k);
void answer_readyz(struct asking *k);
void answer_metrics(struct asking *k);
void answer_openapi(struct asking *k);
void answer_schema(struct asking *k);
void answer_campaign(struct asking *k);
void answer_events(struct asking *k);
void answer_document(struct asking *k);
void answer_replay(struct asking *k);
void answer_command(struct asking *k);

/* ---- documents that were printed: document.c ---- */

struct shelf *shelf_new(void);
void shelf_free(struct shelf *s); /* accepts NULL */

/* Whoever asks next wants to see what has just changed: no text that is there is good enough. */
void shelf_age(struct shelf *s);

/* ---- commands: command.c ---- */

extern const struct keys no_keys, budget_keys, oracle_keys, replay_keys;

/* What the body of a command says. 0, or -1 with a sentence. */
int command_read(const struct asked *k, slice body, struct arena *a, struct api_command *out,
                 struct err *e) MUST_USE;

/* ---- the state of the campaign, with what the host says of it ---- */

void campaign_print(const struct api *a, struct buf *out);
void metrics_print(const struct api *a, struct buf *out);

#endif
