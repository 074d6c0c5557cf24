/* SPDX-License-Identifier: Apache-2.0
 *
 * Names: symbols (interned text), elements (what tells a call from its siblings) and uids (the path
 * of elements from the scenario's own request down to a call). All three are numbers that are equal
 * exactly when the things are, so that the hot paths compare and hash integers. Numbers are given
 * out in order of first appearance and mean something only together with their `struct names`; text
 * is the form that outlives a process:
 *
 *   uid      element > element > ...
 *   element  service interface [{payload}] [^predecessors] [#n]
 *
 *   users GET /users/[id]/bookings > bookings GET /bookings/[name] #1
 *
 * The parts are separated by blanks. The interface is `METHOD /path` or `package.Service/Method`;
 * neither it nor a service has further blanks (interface.h makes interfaces and writes them %20).
 * {payload} and ^predecessors are 8 hex digits, left out when they are not part of the name; #n is
 * left out for the first of equal siblings; #* means all of them. */
#ifndef OUTFOX_CORE_NAMES_H
#define OUTFOX_CORE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/index.h"

typedef uint32_t sym;
typedef uint32_t uid;

#define UID_NONE 0u         /* above every path */
#define N_ANY    UINT32_MAX /* all equal siblings */

struct element {
    sym service, interface;
    uint32_t payload; /* hash of what tells its request apart; 0: not part of the name */
    uint32_t before;  /* hash of the siblings that had ended; 0: not part of the name */
    uint32_t n;       /* how many equal siblings came before */
};

struct uid_row {
    uid parent;
    uint32_t element;
    uid all; /* the same with n = N_ANY; 0 until asked for */
};

struct names {
    struct intern syms;
    VEC(struct element) elements;
    VEC(struct uid_row) uids; /* [0] is UID_NONE */
    struct index element_index, uid_index;
};

void names_init(struct names *names);
void names_deinit(struct names *names);

sym names_sym(struct names *names, slice text);
uint32_t names_element(struct names *names, struct element element);
uid names_uid(struct names *names, uid parent, uint32_t element);

/* The uid with the same parent and element but for n = N_ANY. */
uid names_uid_all(struct names *names, uid u);

static inline slice names_text(const struct names *names, sym s)
{
    return names->syms.text.at[s];
}

static inline const struct element *uid_element(const struct names *names, uid u)
{
    return &names->elements.at[names->uids.at[u].element];
}

static inline uid uid_parent(const struct names *names, uid u)
{
    return names->uids.at[u].parent;
}

/* How many elements the path has; 0 for UID_NONE. */
uint32_t uid_depth(const struct names *names, uid u);

/* Equal last elements but for their numbers. */
bool element_alike(const struct names *names, uid a, uid b);

/* Equal paths but for numbers, all the way up: one may be a repetition of the other. */
bool uid_alike(const struct names *names, uid a, uid b);

/* Is a an ancestor of b (or b itself)? */
bool uid_contains(const struct names *names, uid a, uid b);

/* An order that does not depend on the order of appearance: by text, then payload, n and
 * predecessors. */
int element_cmp(const struct names *names, uint32_t a, uint32_t b);
int uid_cmp(const struct names *names, uid a, uid b);

/* A hash of an element that is the same in every process; its predecessors do not count. */
uint64_t element_hash(const struct names *names, const struct element *element);

void element_print(const struct names *names, const struct element *element, struct buf *out);
void uid_print(const struct names *names, uid u, struct buf *out);

/* Canonical text back to a uid. 0, or -1 with *e (whose column counts within the text). */
int uid_parse(struct names *names, slice text, uid *out, struct err *e) MUST_USE;

/* The next word of an element in words of text, see above; used by uid_parse and by patterns.
 * Reads `service interface...` from *text up to a word `>`, `:` or `&`, or the end. */
int element_parse(struct names *names, slice *text, struct element *out, struct err *e) MUST_USE;

#endif
