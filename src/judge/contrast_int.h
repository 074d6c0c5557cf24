/* SPDX-License-Identifier: Apache-2.0
 *
 * contrast: of one dependency, an error answer that is passed over in silence, and another one, no
 * graver, that is not. Then the silence is not meant.
 *
 * Only error answers are compared, and by how grave they are: 503 says that the work was not begun,
 * 502 and 504 that it may have been, 500 that it went wrong. Who passes over the former and not
 * the latter may have a reason. */
#ifndef OUTFOX_JUDGE_CONTRAST_INT_H
#define OUTFOX_JUDGE_CONTRAST_INT_H

#include "judge/judge_int.h"

struct contrast {
    /* Is the failure passed over in silence? Does it show? (Neither is possible.) */
    bool (*silent)(const struct judge *j, const struct reaction *r);
    bool (*shows)(const struct judge *j, const struct reaction *r);
    void (*tell)(struct judge *j, const struct reaction *silent, const struct reaction *shows);
};

/* Tells once of every dependency for which there are both. Only reactions to lasting failures
 * (every try failed) are shown to the functions. */
void contrast_find(struct judge *j, const struct contrast *c);

#endif
