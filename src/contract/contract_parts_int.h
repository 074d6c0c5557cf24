/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of contracts ask of each other; contract_int.h says which file does what. */
#ifndef OUTFOX_CONTRACT_CONTRACT_PARTS_INT_H
#define OUTFOX_CONTRACT_CONTRACT_PARTS_INT_H

#include "contract/contract_int.h"

/* ---- contract_load.c ---- */

/* Reads one rule. It is empty before, and to be freed after an error, too. */
int rule_load(struct contract *c, const struct node *item, struct contract_rule *out,
              struct err *e) MUST_USE;
int then_load(struct contract *c, const struct node *value, bool usual, struct contract_then *out,
              struct err *e) MUST_USE;
void rule_deinit(struct contract_rule *r);
void then_deinit(struct contract_then *t);

/* ---- contract_rule.c ---- */

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
void entry_rank(const struct names *names, struct contract_entry *entry);

/* Do both name the same calls? */
bool rule_same_calls(const struct contract_rule *a, const struct contract_rule *b);

/* ---- contract_then.c ---- */

/* All faults of a run, and those that matter: what is left of them by a resolution. */
struct faulty {
    const struct fault *all, *left;
    uint32_t n, n_left;
};

/* Does it hold? If not, *detail says what was seen instead. */
bool then_holds(struct contract *c, const struct contract_then *then, const struct behaviour *b,
                const struct faulty *f, struct buf *detail);
bool unaffected_holds(struct contract *c, const struct behaviour *b, const struct fault *faults,
                      uint32_t n, struct buf *detail);

/* As it is written in a file. */
void then_print(const struct contract *c, const struct contract_then *then, struct buf *out);

/* A scalar of a file, in quotes where it needs them; flow: within [] or {}. */
void yaml_print(slice text, bool flow, struct buf *out);

/* The answer, compared with that without faults. */
enum alike answer_alike(const struct contract *c, const struct behaviour *b);

/* A body as JSON; NULL: it is none. */
const struct node *contract_json(struct contract *c, uint32_t body);

/* ---- contract_seen.c ---- */

/* What this run shows; *faults: those that fired, at most ENTRIES_MAX. */
void behaviour_of(struct contract *c, const struct run *run, struct behaviour *out,
                  struct fault faults[ENTRIES_MAX], uint32_t *n);

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

/* How this behaviour would be declared. `propagates` instead of a status where wanted and true;
 * *decide: what a human must decide, or NULL. False: it cannot be declared. */
bool behaviour_print(struct contract *c, const struct behaviour *b, const struct fault *faults,
                     uint32_t n, bool propagates, struct buf *out, const char **decide);

#endif
