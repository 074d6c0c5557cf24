/* SPDX-License-Identifier: Apache-2.0
 *
 * tway: what the reduction t-way knows, see reduce_tway.c; and covering arrays. */
#ifndef OUTFOX_SEARCH_TWAY_INT_H
#define OUTFOX_SEARCH_TWAY_INT_H

#include "base/index.h"
#include "search/frontier.h"

enum { TWAY_MAX = 4 };
#define TWAY_ANY   UINT32_MAX       /* a group: of no fault at all, */
#define TWAY_MIXED (UINT32_MAX - 1) /* of faults that are not all of one */

struct tway {
    enum { TWAY_SINGLES, TWAY_ROWS, TWAY_CHECKED } phase;
    VEC(struct tway_group {
        VEC(uint32_t) factors; /* calls of one handler */
        bool doubt;            /* some value is in doubt */
    })
    groups;
    VEC(struct tway_factor {
        uid point;
        uint32_t group;
        VEC(uint32_t) values; /* besides that it does not fail */
        struct tway_plan {
            faultload row;
            label label;
        } planned; /* by the row that is looked at */
    })
    factors;
    VEC(struct tway_value {
        uint32_t factor;
        label label;
        struct fault fault; /* at the factor's point or below it, that brings it about */
        bool doubt;         /* once it did not fire where it was planned */
        VEC(uint64_t) runs; /* a bit for each run of the phases after the first: it fired */
    })
    values;
    struct map baseline;   /* point -> signature without it, folded, */
    struct map usual;      /* and its label, in the run without faults */
    struct map factor_of;  /* point -> factor */
    struct map outcome_of; /* (point, label) -> value */
    struct map value_of;   /* single fault that is absorbed -> value */
    struct tway_memo {
        faultload faultload;
        uint32_t group;
    } memo; /* the group of the last faultload that was asked for */
    uint32_t n_runs;

    VEC(struct tway_call {
        uint32_t node; /* the prefix before the call */
        uid call;
        faultload causes; /* faults that lead there */
        uint64_t modes;   /* a bit for each that waits */
    })
    calls;
    VEC(struct frontier_item) waiting; /* what no mode gives, and calls that only faults bring */
    uint64_t n_waiting;                /* modes of `calls` */
};

/* reduce_tway.c: what becomes of causes with one fault more, or of a faultload? */
enum tway_answer { TWAY_RUN, TWAY_WAIT, TWAY_SKIP };
enum tway_answer tway_ask_more(struct search *s, faultload causes, struct fault fault);
enum tway_answer tway_ask(struct search *s, faultload f);

/* Only faults at calls that are made without faults can be combined. */
bool tway_may_be_factors(const struct search *s, faultload causes, struct fault fault);
void tway_observe(struct search *s, faultload planned, const struct trace *trace, bool duplicate);

/* Would this row show no transcript that was not seen? Then it is not to be run. */
bool tway_row_shows_nothing(struct search *s, faultload row);
void tway_doubt(struct search *s, faultload f); /* it is not run */

/* The frontier is empty: moves on to the next phase. True when that queued something. */
bool tway_advance(struct search *s);
void tway_deinit(struct tway *t);

/* covering.c: rows of a covering array of strength t over factors with n_values[i] values each,
 * without the rows that have at most one value other than 0. Calls row() with each, at times with
 * the same one twice; false, without a call, when any such array would have over a million rows. */
typedef void covering_row(void *ctx, const uint32_t *values);
bool covering_array(const uint32_t *n_values, uint32_t n, uint32_t t, covering_row *row,
                    void *ctx) MUST_USE;

#endif
