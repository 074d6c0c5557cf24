/* SPDX-License-Identifier: Apache-2.0 */
#include "report/remarks_int.h"

#include <string.h>

/* How many remarks before it are of the same oracle and severity. */
static uint32_t rank_of(const struct summary *s, uint32_t i)
{
    const struct remark *r = &s->remarks.at[i];
    uint32_t rank = 0;
    for (uint32_t k = 0; k < i; k++)
        rank += s->remarks.at[k].severity == r->severity &&
                strcmp(s->remarks.at[k].oracle, r->oracle) == 0;
    return rank;
}

/* The rank up to which there is room, and how many of that rank still have it. */
struct room {
    uint32_t rank, last;
};

static struct room room_for(const uint32_t *ranks, uint32_t n, uint32_t most)
{
    struct room room = {0, most};
    for (uint32_t taken = 0;; room.rank++) {
        uint32_t here = 0;
        for (uint32_t i = 0; i < n; i++)
            here += ranks[i] == room.rank;
        room.last = most - taken;
        taken += here;
        if (here == 0 || taken >= most)
            return room;
    }
}

void remarks_choose(const struct summary *s, enum severity severity, uint32_t most,
                    struct remarks_shown *out)
{
    VEC(uint32_t) ranks = {0}, at = {0};
    *out = (struct remarks_shown){0};
    for (uint32_t i = 0; i < s->remarks.n; i++)
        if (s->remarks.at[i].severity == severity) {
            vec_push(&ranks, rank_of(s, i));
            vec_push(&at, i);
        }
    struct room room =
        room_for(ranks.at, ranks.n, most < REMARKS_SHOWN_MAX ? most : REMARKS_SHOWN_MAX);
    for (uint32_t i = 0; i < ranks.n; i++) {
        if (ranks.at[i] > room.rank || (ranks.at[i] == room.rank && room.last == 0))
            continue;
        room.last -= ranks.at[i] == room.rank;
        out->number[out->n] = i + 1;
        out->at[out->n++] = at.at[i];
    }
    out->left_out = ranks.n - out->n + (severity == SEVERITY_WARNING ? s->more_remarks : 0);
    vec_deinit(&ranks);
    vec_deinit(&at);
}
