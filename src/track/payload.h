/* SPDX-License-Identifier: Apache-2.0
 *
 * Payloads as part of a call's name. A body is read into its fields: of JSON, of forms
 * (application/x-www-form-urlencoded) and of protobuf (gRPC; without a schema, by the numbers of
 * fields) one per leaf, of anything else a single one. By comparing the fault-free runs it is
 * learned, per interface, which fields are stable, and whether those tell calls apart that would
 * otherwise have the same name.
 *
 * 1. A field is left out of the name when it differs between runs at the same place (the values
 *    that equal siblings of one parent have, whichever of them came first), or looks like a moment
 *    near now (seconds, milliseconds, microseconds or nanoseconds since 1970, ISO 8601) or like a
 *    generated id (UUID, ULID, long random hex), or was never seen in a fault-free run.
 * 2. The payload is part of the name of an interface only when, without it, siblings in some
 *    fault-free run would be equal, and what is left of it differs between them and is the same in
 *    all runs. A run where calls are missing agrees with the others when those that it has are
 *    among theirs; what only one of several runs had proves nothing.
 * 3. The target is looked at in the same way, but only where it is asked for (payload_learn).
 * 4. The hash does not depend on the order of keys, nor on how numbers are written. It is never 0.
 */
#ifndef OUTFOX_TRACK_PAYLOAD_H
#define OUTFOX_TRACK_PAYLOAD_H

#include "base/index.h"
#include "base/str.h"
#include "base/vec.h"

enum { PAYLOAD_FIELDS_MAX = 512 }; /* beyond that the rest counts as one field */

struct payload_field {
    uint64_t path;  /* hash of where it is, indexes of lists included */
    uint64_t value; /* hash of what it is */
    bool volatile_; /* looks like a moment or a generated id */
    bool target;    /* of the request's target, not of its body */
};

struct payload {
    VEC(struct payload_field) fields; /* by path */
};

/* now_ns: wall clock. The content type says what the body is; one that is not what it says is one
 * field, and one without a type is JSON if it can be. An empty body has no fields. Messages of gRPC
 * may have their prefix of five bytes or not. *out is zero-initialised or from an earlier call. */
void payload_read(slice content_type, slice body, int64_t now_ns, struct payload *out);
void payload_deinit(struct payload *p);

/* Adds the fields of a request's target: the segments of its path, and what its query holds. What
 * looks like an id is not volatile here: ids are what paths are made of, and runs are compared. */
void payload_read_target(slice target, int64_t now_ns, struct payload *p);

/* ---- learning ---- */

struct payload_rules; /* what was learned, by interface */

struct payload_rules *payload_rules_new(void);
void payload_rules_free(struct payload_rules *r);

/* One call of a fault-free run: `interface` identifies (service, interface), `place` where it was
 * made (its parent's path), `n` its number among siblings of equal (place, interface) in this run.
 * targets: its target may become part of the name, too. */
void payload_learn(struct payload_rules *r, uint32_t run, uint64_t interface, uint64_t place,
                   uint32_t n, const struct payload *p, bool targets);

/* All calls were told. Without a call of two runs that could be compared, looks alone decide. */
void payload_decide(struct payload_rules *r);

/* Is the payload part of the name? */
bool payload_used(const struct payload_rules *r, uint64_t interface);

/* The hash for the name under what was learned; 0 when it is not part of the name, and when there
 * is neither a body nor anything in the target that is. */
uint32_t payload_hash_of(const struct payload_rules *r, uint64_t interface,
                         const struct payload *p);

/* The hash of all fields of the body that do not look volatile, whatever was learned; 0: there is
 * no body. */
uint32_t payload_hash_all(const struct payload *p);

/* To text and back, for the store: what was decided, not what it was learned from. Parsing replaces
 * what was decided before, or changes nothing. */
void payload_rules_print(const struct payload_rules *r, struct buf *out);
int payload_rules_parse(struct payload_rules *r, slice text) MUST_USE; /* -1: malformed */

#endif
