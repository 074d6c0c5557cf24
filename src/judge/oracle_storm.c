/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/judge_int.h"

void oracle_storm(const struct view *v)
{
    (void)v;
}

void oracle_storm_end(struct judge *j)
{
    (void)j;
}
