/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples as programs print them for others: the text format of Prometheus, of which OpenMetrics is
 * a dialect. Bytes of strangers: what is no sample is passed over and counted. */
#ifndef OUTFOX_DATA_EXPOSITION_H
#define OUTFOX_DATA_EXPOSITION_H

#include "base/str.h"

enum {
    EXPOSITION_NAME_MAX = 200
}; /* bytes of a name with its labels; longer ones are passed over */

/* The text that is left; `passed`: lines that were no samples, and no comments. */
struct exposition {
    slice rest;
    uint32_t passed;
};

struct exposition_sample {
    slice name; /* with its labels, as written: up{job="web"} */
    double value;
};

/* The next sample with a finite value; false: there is none any more. */
bool exposition_next(struct exposition *x, struct exposition_sample *out) MUST_USE;

/* "metric NAME VALUE", a line that nodes, clients and commands may print. */
bool exposition_line(slice line, struct exposition_sample *out) MUST_USE;

#endif
