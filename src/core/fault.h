/* SPDX-License-Identifier: Apache-2.0
 *
 * fault: something that fails, and how. faultload: a set of faults on different points. Text:
 *
 *   fault      uid : mode               a call fails
 *              service way              a service fails as a whole (service.h): `payment down`
 *   faultload  fault & fault & ...      the empty one is "none"
 *
 * What fails is a number, whatever it is: the uid of a call, or a path of one element whose
 * interface is the way in which the service fails. A call that can fail has a longer path, so the
 * two cannot be confused, and both are compared, kept, stored and printed like points.
 *
 * A campaign makes millions of faultloads, nearly all of which are an earlier one with one fault
 * more. So they are kept as a tree: a faultload is a number, its row names the faultload that it
 * extends and the fault it adds. The order along the way up is the causal order in which the faults
 * fire; it does not matter for equality. */
#ifndef OUTFOX_CORE_FAULT_H
#define OUTFOX_CORE_FAULT_H

#include "base/hash.h"
#include "base/vec.h"
#include "core/mode.h"
#include "core/names.h"
#include "core/service.h"

struct fault {
    uid point; /* of a call, may be one with n = N_ANY: every equal sibling; or of a service */
    mode mode; /* of a service: `http` of its row */
};

/* Different faults have different numbers. */
static inline uint64_t fault_number(struct fault f)
{
    return (uint64_t)f.point << 32 | f.mode;
}

/* A part of the key of a set of faults: those of all its faults are added up, so that their order
 * does not matter. Different faults have different parts; that two sets have one key is a matter of
 * 64 random bits. */
static inline uint64_t fault_key(struct fault f)
{
    return hash_mix(0, fault_number(f));
}

typedef uint32_t faultload;
#define FAULTLOAD_EMPTY 0u

struct faultload_row {
    faultload rest; /* all but the last fault */
    uint32_t size;
    struct fault last;
};

struct faultloads {
    VEC(struct faultload_row) rows; /* [0] is the empty one */
};

void faultloads_init(struct faultloads *fl);
void faultloads_deinit(struct faultloads *fl);

/* rest with one fault more; its point is not in rest. */
faultload faultload_extend(struct faultloads *fl, faultload rest, struct fault last);

/* Forgets the rows from n on: nobody may know of them. */
void faultloads_cut(struct faultloads *fl, uint32_t n);

static inline uint32_t faultload_size(const struct faultloads *fl, faultload f)
{
    return fl->rows.at[f].size;
}

/* How the service fails; its row is NULL when it is a fault at a call. */
struct service_fault fault_service(const struct names *names, struct fault f);

/* The service fails as a whole in this way. */
struct fault fault_of_service(struct names *names, sym service, struct service_fault how);

/* The mode at this very point, or MODE_NONE. */
mode faultload_at(const struct faultloads *fl, faultload f, uid point);

/* How this call fails: by a fault at it, at it and all its equal siblings, or at its service; or
 * MODE_NONE. *point is the one of the fault; where a service fails as a whole, the call's own.
 * Flags: enum call_flag. */
mode faultload_mode(struct names *names, const struct faultloads *fl, faultload f, uid call,
                    uint8_t flags, uid *point);

/* Does it fail a service as a whole? */
bool faultload_of_services(const struct names *names, const struct faultloads *fl, faultload f);

/* The same faults, in whatever order? */
bool faultload_eq(const struct faultloads *fl, faultload a, faultload b);

/* A number for the set of faults, see fault_key. */
uint64_t faultload_key(const struct faultloads *fl, faultload f);

/* Is every fault of a in b? */
bool faultload_within(const struct faultloads *fl, faultload a, faultload b);

void fault_print(const struct names *names, struct fault f, struct buf *out);
void faultload_print(const struct names *names, const struct faultloads *fl, faultload f,
                     struct buf *out);

/* The text of one fault that is not at a call. 0; 1: it is none such, and *e says nothing; -1: it is
 * of a kind that cannot be injected. */
int fault_parse_other(struct names *names, slice text, struct fault *out, struct err *e) MUST_USE;

/* The canonical text back to a faultload. Two faults at one point or one service are refused. */
int faultload_parse(struct names *names, struct faultloads *fl, slice text, faultload *out,
                    struct err *e) MUST_USE;

#endif
