/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of contracts.
 *
 *   contract_rule    the file to rules; which one speaks about these faults: precision and
 *                    composition
 *   contract_then    what a rule says: does it hold, how is it written, and how a behaviour would be
 *   contract_judge   what a run shows, its behaviour, and what is said of it
 *   contract_propose rules from behaviours: as few as say it all; a contract as a file, and a file
 *                    changed where behaviour changed
 *
 * Texts, bodies and counts of effects are kept once, in a pool, and compared by their numbers. */
#ifndef OUTFOX_CONTRACT_CONTRACT_INT_H
#define OUTFOX_CONTRACT_CONTRACT_INT_H

#include "base/index.h"
#include "contract/contract.h"
#include "judge/mask.h"

enum {
    RULES_MAX = 2000,   /* of a file */
    ENTRIES_MAX = 64,   /* calls of a rule, and faults of a run that are looked at */
    SEEN_MAX = 1 << 18, /* runs that are remembered */
    THEN_TEXT_MAX = 16 << 10,
};

/* ---- rules ---- */

/* A call that fails, as a rule names it, and how precisely it does. */
struct contract_entry {
    struct pattern pattern;
    uint32_t rank;
    uint32_t length; /* of the path, and of what stands before a `*` */
    slice text;
};

struct contract_status {
    enum outcome_kind kind;
    uint32_t low, high;
};

struct contract_value {
    slice pointer;
    const struct node *value;
};

struct contract_count {
    struct pattern calls;
    slice text;
    uint32_t n;
};

enum contract_effects { EFFECTS_ANY, EFFECTS_NONE, EFFECTS_SAME, EFFECTS_COUNTS };

struct contract_then {
    bool unaffected, propagates;
    VEC(struct contract_status) status; /* any of; none: any */
    VEC(struct contract_value) json;    /* all of */
    const struct node *body;            /* NULL: any */
    enum contract_effects effects;
    VEC(struct contract_count) counts;
    uint32_t text; /* how it is written, in the pool: equal numbers say the same */
    uint32_t line, col;
};

struct contract_rule {
    VEC(struct contract_entry) fails;
    struct contract_then then;
    uint32_t line, col;
    uint64_t used;      /* by runs */
    const char *decide; /* of one that is proposed: what a human must decide; NULL: nothing */
};

/* ---- behaviour ---- */

struct behaviour {
    outcome status;
    uint32_t body;    /* in the pool; INTERN_NONE: not known */
    uint32_t asked;   /* of a command, in the pool: struct asked; INTERN_NONE: not known */
    uint32_t effects; /* in the pool: struct effect_counts, sorted */
    bool pass;        /* the scenario's expectation held */
    bool ended;       /* it did not hang, and no service died */
};

/* A request of a command. */
struct asked {
    uid request;
    outcome status;
    uint32_t body; /* in the pool; INTERN_NONE: not known */
};

/* How often calls of a service's interface had an effect. */
struct effect_counts {
    uid group; /* an element of its own, without a path */
    uint32_t n;
};

struct seen {
    uint32_t first, n; /* of the contract's faults */
    uid again; /* a further try of a call that failed, which was not failed; UID_NONE: none */
    struct behaviour behaviour;
};

struct usual_effect {
    uid group;
    uint32_t low, high;
};

/* Calls that had an effect, each once. */
struct effects_had {
    struct effect_had {
        uid call, group;
        uint32_t once; /* what it is recognised by when it is repeated; 0: nothing */
    } * at;
    uint32_t n, cap;
};

/* What is usual without faults. */
struct usual {
    bool known;
    outcome status;
    struct mask answer;         /* not learned from what a command prints ... */
    struct usual_answers asked; /* ... but from what its own requests are answered */
    uint32_t runs;              /* that these were learned from */
    struct trace trace;         /* of the first run */
    VEC(struct usual_effect) effects;
    struct effects_had calls;
};

struct contract {
    struct contract_options opt;
    struct arena arena; /* what was read */
    struct intern pool;
    uint64_t hash;
    bool empty;
    bool has_when, has_scenario;
    uint32_t when_at, when_col;   /* line and column of its list; 0: it has none */
    struct contract_then without; /* faults; of line 0: not said */
    VEC(struct contract_rule) rules;
    VEC(struct pattern) reads;
    VEC(struct effect_rule) effects;
    struct usual usual;
    VEC(struct fault) faults; /* of what was seen */
    VEC(struct seen) seen;
    struct map broken;   /* key of the faults at one call, alone -> why that is not as declared */
    VEC(uint8_t) effect; /* by uid: enum effect + 1 */
    VEC(const struct node *) parsed; /* bodies as JSON, by their number in the pool */
    struct buf unread;               /* for details that nobody wants to know */
};

/* ---- contract_rule.c ---- */

/* Reads one rule. It is empty before, and to be freed after an error, too. */
int rule_load(struct contract *c, const struct node *item, struct contract_rule *out,
              struct err *e) MUST_USE;
int then_load(struct contract *c, const struct node *value, bool usual, struct contract_then *out,
              struct err *e) MUST_USE;
void rule_deinit(struct contract_rule *r);
void then_deinit(struct contract_then *t);

/* Do both name the same calls? */
bool rule_same_calls(const struct contract_rule *a, const struct contract_rule *b);

struct resolution {
    const struct contract_rule *rule;  /* NULL: not declared */
    const struct contract_rule *other; /* not NULL: says something else and is as precise */
    bool composed;                     /* it follows from rules about fewer faults */
    struct fault left[ENTRIES_MAX];    /* the faults that are not `unaffected` by themselves; of a
                                          call that is not declared: those */
    uint32_t n_left;
};

/* Which rule speaks about these faults? use: it, and what it follows from, counts as used. */
void contract_resolve(struct contract *c, const struct fault *faults, uint32_t n, bool use,
                      struct resolution *out);

/* The faults at the same call as the one at `at`, tries included, as bits; a key of them. */
uint64_t group_of(const struct contract *c, const struct fault *faults, uint32_t n, uint32_t at);
uint64_t group_key(const struct fault *faults, uint32_t n, uint64_t group);

/* ---- contract_then.c ---- */

/* All faults of a run, and those that matter: what is left of them by a resolution. */
struct faulty {
    const struct fault *all, *left;
    uint32_t n, n_left;
};

/* Does it hold? If not, *detail says what was seen instead. */
bool then_holds(struct contract *c, const struct contract_then *then, const struct behaviour *b,
                const struct faulty *f, struct buf *detail);

/* As it is written in a file. */
void then_print(const struct contract_then *then, struct buf *out);

/* A scalar of a file, in quotes where it needs them; flow: within [] or {}. */
void yaml_print(slice text, bool flow, struct buf *out);

/* How this behaviour would be declared. `propagates` instead of a status where wanted and true;
 * *decide: what a human must decide, or NULL. False: it cannot be declared. */
bool behaviour_print(struct contract *c, const struct behaviour *b, const struct fault *faults,
                     uint32_t n, bool propagates, struct buf *out, const char **decide);

/* "503", "exit 1" */
void contract_print_status(outcome o, struct buf *out);

/* ---- contract_judge.c ---- */

/* What a command got of this request; NULL: it did not make it. */
const struct asked *asked_find(const struct contract *c, const struct behaviour *b, uid request);

/* Are the effects those without faults, besides those of the calls that failed, and those that
 * `but` (may be NULL) counts by itself? */
bool effects_same(struct contract *c, const struct behaviour *b, const struct fault *faults,
                  uint32_t n, const struct contract_then *but, struct buf *detail);
const struct effect_counts *effects_list(const struct contract *c, const struct behaviour *b,
                                         uint32_t *n);

/* How often one of them was had. */
uint32_t effects_of(const struct contract *c, const struct behaviour *b, uid group);

/* "cart PUT /carts/[id]" */
void group_print(const struct contract *c, uid group, struct buf *out);

/* ---- contract_propose.c ---- */

/* Is it as the rules say? *composed (may be NULL): no rule speaks of it by itself. */
bool seen_holds(struct contract *c, const struct seen *s, bool *composed);

#endif
