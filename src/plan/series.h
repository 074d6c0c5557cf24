/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers over time: what was measured in a run, of whom. Bounded: what is beyond is counted. */
#ifndef OUTFOX_PLAN_SERIES_H
#define OUTFOX_PLAN_SERIES_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

enum {
    PLAN_SERIES_MAX = 200,
    PLAN_SAMPLES_MAX = 20000, /* of a series */
    PLAN_METRIC_BYTES = 200,  /* of a name, and of whose it is */
};

struct plan_sample {
    int64_t at_ns;
    double value;
};

struct plan_series {
    slice name, of; /* what; whose: a node, a client, a collector, "SERVICE CALL" of spans */
    VEC(struct plan_sample) samples; /* in the order of time */
    double last;                     /* value of the last one that came, kept or not */
    uint64_t left_out;               /* samples that came when it was full */
};

/* All of a run. Zero-initialised is empty. */
struct plan_measures {
    struct arena arena;
    VEC(struct plan_series) list;
    uint64_t left_out; /* samples of series for which there was no room */
};

/* One more sample. The series and, in *before, its value before this one (of the first one: no
 * number); NULL: there is no room. Names are cut to PLAN_METRIC_BYTES. */
const struct plan_series *plan_measure(struct plan_measures *m, slice name, slice of, int64_t at_ns,
                                       double value, double *before);
void plan_measures_deinit(struct plan_measures *m);

/* What is measured of each node by itself: the unit of such a name; NULL: it is none of them. */
const char *plan_process_unit(slice name);
extern const char *const plan_process_metrics[]; /* up to NULL; in the order of enum */
enum plan_process_metric { PROCESS_CPU, PROCESS_MEMORY, PROCESS_THREADS, PROCESS_DESCRIPTORS };

/* A value with what people need of it: 12.3M of memory, else up to four digits. */
void plan_add_value(struct buf *out, slice name, double value);

/* At most 2 * slots samples: of each slot of time the least and the most, where they were. All of
 * them where there are no more. From from_ns to to_ns alone. *out is emptied first. */
struct plan_samples {
    struct plan_sample *at;
    uint32_t n, cap;
};
void plan_series_thin(const struct plan_series *s, int64_t from_ns, int64_t to_ns, uint32_t slots,
                      struct plan_samples *out);

#endif
