/* SPDX-License-Identifier: Apache-2.0
 *
 * pattern: which calls people mean, written by hand.
 *
 *   payment POST /charge                  that call, wherever it comes from
 *   payment                               any call to that service
 *   cart GET *                            any path; /car* would be: any that starts so
 *   * GET *                               any call of this method, to whatever service
 *   checkout * > payment *                what checkout calls of payment, itself
 *   payment > shipping POST /ship         from any interface of payment, however often called
 *   a > * > b POST /x                     below a, however deep
 *   payment POST /charge #1 : reset       the second of equal siblings, failing in this mode
 *
 *   payment : refuse                      every call to that service: it is down,
 *   payment down                          which may be said so; the ways are those of service.h
 *
 * `*` stands for any service, any interface, any part of a path or (in #*) any n; a lone `*`
 * between
 * `>` for any path, also an empty one; a lone service for anything that is called of it. A pattern
 * that does not start at the scenario's own request is taken to start with `* >`. {payload} and
 * ^predecessors match when they are left out.
 *
 * Paths are read as those of calls are named: GET /items/7 means GET /items/[id]. What reports
 * print means what it says, also where a rule of the user's would change it once more. */
#ifndef OUTFOX_CORE_PATTERN_H
#define OUTFOX_CORE_PATTERN_H

#include "base/vec.h"
#include "core/interface.h"
#include "core/mode.h"
#include "core/names.h"
#include "core/service.h"

/* What there is to be named. */
struct vocabulary {
    struct names *names;
    const struct rewrite *rules; /* by which calls are named; NULL: there are none */
    const char *const *services; /* all that there are; none: whatever is named is one */
    uint32_t n_services;
};

/* Every service may be named, and there are no rules. */
#define ANY_VOCABULARY(all_names) (&(const struct vocabulary){.names = (all_names)})

/* Is there such a service? -1 with *e, which says the nearest one. */
int vocabulary_check(const struct vocabulary *v, slice service, struct err *e) MUST_USE;

struct pattern_step {
    struct element element;
    sym written;   /* the interface as it was written, which may be the name of a call too */
    bool any_path; /* a lone `*`; the others mean nothing then */
};

struct pattern {
    VEC(struct pattern_step) steps; /* the first is `*`, unless it was anchored */
    mode mode;                      /* MODE_NONE: not given */
    struct service_fault how;       /* that was said so; mode is that of most calls then */
};

enum pattern_kind {
    PATTERN_FAULT, /* ": MODE" must follow; without #n the first of equal siblings is meant */
    PATTERN_CALLS, /* ": MODE" may follow; without #n all of them are; a lone service is enough */
};

/* Cuts the first fault off `FAULT & FAULT ...`; false: there is none left. */
bool pattern_cut(slice *faults, slice *fault);

/* Reads all of the text. *out is zero-initialised; -1 with *e leaves it to pattern_deinit too. */
int pattern_parse(struct pattern *out, const struct vocabulary *v, enum pattern_kind kind,
                  slice text, struct err *e) MUST_USE;
void pattern_deinit(struct pattern *p);

/* Was a call seen of each service and interface that the pattern names? All that `names` has of
 * elements was. -1 with *e, which says the nearest; 1, with *e too: none of the service at all. */
int pattern_seen(const struct pattern *p, const struct names *names, struct err *e) MUST_USE;

/* A path that begins with `request`, whose own path is one element, begins there and nowhere else.
 */
void pattern_anchor(struct pattern *p, const struct names *names, uid request);

/* Is this call meant? Its mode is not looked at. */
bool pattern_matches(const struct pattern *p, const struct names *names, uid u);

/* Is a call of this interface of this service meant, as far as the last step says? */
bool pattern_names(const struct pattern *p, const struct names *names, slice service,
                   slice interface);

#endif
