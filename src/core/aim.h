/* SPDX-License-Identifier: Apache-2.0
 *
 * aim: what decides, for each call of one run, whether and how it fails. It holds a faultload of
 * exact points, found in constant time, and of services that fail as a whole, and patterns that
 * people write by hand (pattern.h), each with a mode. One that starts at the scenario's own request means just what is called from there.
 * Exact points win over services, these over patterns, earlier patterns over later ones. An aim does not change while a
 * run uses it. */
#ifndef OUTFOX_CORE_AIM_H
#define OUTFOX_CORE_AIM_H

#include "core/fault.h"
#include "core/pattern.h"

struct aim_pattern {
    struct pattern pattern;
    uint32_t fired; /* how many calls it matched */
};

struct aim_service {
    sym service;
    struct service_fault how;
    uint32_t fired; /* how many calls to it were failed */
};

struct aim {
    VEC(mode) exact; /* by uid; MODE_NONE: no fault */
    VEC(uid) set;    /* the uids that are set in exact */
    bool any_n;      /* a point with n = N_ANY is among them */
    VEC(struct aim_service) services;
    VEC(struct aim_pattern) patterns;
};

/* Zero-initialised is an empty one. */
void aim_deinit(struct aim *aim);

/* Replaces all but the patterns. */
void aim_set(struct aim *aim, const struct names *names, const struct faultloads *fl, faultload f);

/* Adds a pattern from its text. One that starts with `request` (the scenario's own; UID_NONE: not
 * known), such as the name of a point in a report, does not mean what is called elsewhere by the
 * same names. */
int aim_add(struct aim *aim, const struct vocabulary *v, uid request, slice text,
            struct err *e) MUST_USE;

/* The mode for this call or MODE_NONE; *by is the point that matched (u itself for a pattern or a
 * service). Flags: enum call_flag. */
mode aim_find(struct aim *aim, struct names *names, uid u, uint8_t flags, uid *by);

#endif
