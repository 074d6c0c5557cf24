/* SPDX-License-Identifier: Apache-2.0
 *
 * What a judge has to know of a system besides its runs: what users say about it (key `judge` of a
 * file, --oracle), and who can call whom. */
#ifndef OUTFOX_CAMPAIGN_JUDGING_H
#define OUTFOX_CAMPAIGN_JUDGING_H

#include "config/config.h"
#include "judge/judge.h"
#include "sim/sim.h"

struct judging {
    struct judge_settings settings;
    VEC(struct judge_wire) wires;
};

/* map: of the key `judge`, or NULL. oracles: NAME=SEVERITY each, as given on the command line. */
int judging_open(struct judging *x, const struct node *map, const char *const *oracles, uint32_t n,
                 const struct vocabulary *v, struct err *e) MUST_USE;
void judging_close(struct judging *x);

/* The services of a simulated system call whom its file says. */
void judging_wire_sim(struct judging *x, const struct sim *sim);

/* Services call those whose {url:NAME} or {addr:NAME} they were given. */
void judging_wire_config(struct judging *x, const struct campaign_config *config);

#endif
