/* SPDX-License-Identifier: Apache-2.0
 *
 * Fault rules: which calls fail, when and how.
 *
 *   [SERVICE] INTERFACE [{PAYLOAD}] [#COUNT] [CONDITION]... : MODE [WITH]...
 *
 *   SERVICE    tells proxies apart; `*` is any
 *   INTERFACE  `GET /users/[id]`, `package.Service/Method`. Method or path may be `*`; a `*` at the
 *              end stands for any rest; a lone `*` for any interface. Paths are normalised like
 *              those of calls, so `/users/42` means `/users/[id]`. `tcp` is a connection
 *              (tunnel_int.h)
 *   {PAYLOAD}  8 hex digits, the hash of the request's body
 *   #COUNT     #2 the third call that the rest matches, #0-2 the first three, #3- from the fourth
 *              on, #* all; with /3 behind it every third
 *   CONDITION  header:NAME  header:NAME=VALUE (a `*` at the end: any rest)  p:0.25  after:10s
 *              for:30s
 *   WITH       body=TEXT  header=NAME:VALUE  message=TEXT  id=NAME
 *
 * VALUE and TEXT may be quoted with ' or ". A lone word is an interface when it has a slash; of two
 * words the first is a method when it is in capitals and the second is `*` or a path.
 *
 * A rulebook owns all rules of a configuration; `struct rules` lists those of one proxy.
 *
 * 1. Every rule counts the calls that it matches, whatever the other rules do; of those whose count
 *    and probability agree the first fires.
 * 2. Probability is a function of (seed, id, count): equal seeds give equal runs.
 * 3. A sealed rule does not change. Only its tally does, by atomic operations, so that threads may
 *    share rules, and successive configurations a tally (rulebook_inherit).
 * 4. Finding a rule allocates nothing. */
#ifndef OUTFOX_PROXY_RULE_H
#define OUTFOX_PROXY_RULE_H

#include "base/err.h"
#include "base/vec.h"
#include "core/interface.h"
#include "core/mode.h"
#include "wire/wire.h"

/* The interface of connections, whatever is said on them. */
#define RULE_TCP "tcp"

/* What is known of a call when its fate is decided. */
struct request_facts {
    slice service, interface; /* as interface_make made it */
    bool health;              /* a gRPC health check: wildcards do not match it */
    uint32_t payload;         /* hash of the body; 0: unknown */
    const struct head *head;
    int64_t now_ns;
};

/* What an injected answer looks like. */
struct rule_dress {
    slice body, message; /* of gRPC: the message */
    bool has_body, has_message;
    struct field *fields;
    uint32_t n_fields;
};

enum { RULE_FIELDS_MAX = 64, RULE_HEADERS_MAX = 16, RULES_MAX = 10000 };

struct rule_header {
    slice name, value;
    bool any;  /* present is enough */
    bool open; /* the value begins so */
};

/* What was counted. Outlives the rule when a later configuration has the same one. */
struct rule_tally {
    _Atomic uint32_t refs;
    _Atomic uint64_t seen, fired;
    int64_t since_ns; /* when the rule came into force; RULE_NOT_YET before */
};

#define RULE_NOT_YET INT64_MIN

struct rule {
    slice id;        /* its id=, else its number as text */
    slice text;      /* as it was written */
    slice service;   /* "*": any */
    uint32_t number; /* in the rulebook, from 1 */
    bool named;      /* has an id= */
    mode mode;
    struct rule_dress dress;

    slice interface;             /* what the interface is, or begins with */
    bool open;                   /* begins with */
    bool any_method;             /* `interface` is the path alone */
    bool one_word;               /* only interfaces without a method (gRPC) */
    bool bare;                   /* no SERVICE was written */
    uint32_t payload;            /* 0: any */
    uint64_t first, last, every; /* counts, from 0; of those each every-th */
    uint32_t chance;             /* of 10^9 */
    int64_t after_ns, for_ns;    /* the window, from tally->since_ns */
    struct rule_header *headers;
    uint32_t n_headers;
    uint64_t salt; /* of the draws for `chance` */
    struct rule_tally *tally;
};

/* Zero-initialised is empty. */
struct rulebook {
    struct arena arena;
    VEC(struct rule *) list;
    const struct rewrite *normalise; /* for the interfaces of rules; may be NULL; not owned */
};

void rulebook_deinit(struct rulebook *book);

/* Adds the rule of this text, copied. The column of an error counts within the text without the
 * blanks around it; one behind its end where something is missing. */
int rule_add(struct rulebook *book, slice text, struct rule **out, struct err *e) MUST_USE;

/* The WITH of a rule that is not sealed; all refuse what the rule has already, what its mode cannot
 * show, and what HTTP cannot carry. */
int rule_set_id(struct rulebook *book, struct rule *rule, slice id, struct err *e) MUST_USE;
int rule_set_body(struct rulebook *book, struct rule *rule, slice body, struct err *e) MUST_USE;
int rule_set_message(struct rulebook *book, struct rule *rule, slice text, struct err *e) MUST_USE;
int rule_add_field(struct rulebook *book, struct rule *rule, slice name, slice value,
                   struct err *e) MUST_USE;

/* Numbers the rules in their order, for good; -1 when two have the same id: *wrong is the second.
 */
int rulebook_seal(struct rulebook *book, uint64_t seed, const struct rule **wrong,
                  struct err *e) MUST_USE;

/* Rules of the sealed `book` that `old` has too (the same service, text and id) go on counting
 * where those are. Threads may be using `old`, none `book`. */
void rulebook_inherit(struct rulebook *book, const struct rulebook *old);

/* The rules come into force; those that were inherited are already. */
void rulebook_start(struct rulebook *book, int64_t now_ns);

/* The rules of one proxy, in order; the rulebook owns them. Zero-initialised is empty. */
struct rules {
    VEC(const struct rule *) list;
    bool needs_payload; /* some rule asks for it */
};

void rules_put(struct rules *rules, const struct rule *rule);
void rules_deinit(struct rules *rules);

/* Would the payload decide about a rule for this call? Counts nothing. */
bool rules_want_payload(const struct rules *rules, const struct request_facts *facts);

/* Counts the call and returns the rule that fires, or NULL. Call it once per call, from any thread.
 */
const struct rule *rules_find(const struct rules *rules, const struct request_facts *facts);

/* The fault was acted out. */
void rule_fired(const struct rule *rule);

uint64_t rule_count_seen(const struct rule *rule);
uint64_t rule_count_fired(const struct rule *rule);

#endif
