/* SPDX-License-Identifier: Apache-2.0
 *
 * What users say about their system, for the oracles. */
#include "judge/judge.h"

void judge_settings_init(struct judge_settings *s)
{
    *s = (struct judge_settings){0};
    for (uint32_t i = 0; i < ORACLES; i++)
        s->severity[i] = oracle_rows[i].severity;
}

void judge_settings_deinit(struct judge_settings *s)
{
    vec_deinit(&s->reads);
    vec_deinit(&s->idempotent);
    vec_deinit(&s->effects);
    vec_deinit(&s->undo);
}

int judge_settings_load(const struct node *map, struct names *names, struct judge_settings *out,
                        struct err *e)
{
    (void)map;
    (void)names;
    (void)out;
    (void)e;
    return 0;
}

int judge_settings_set(struct judge_settings *s, slice text, struct err *e)
{
    (void)s;
    (void)text;
    return err_set(e, 0, 0, "not yet");
}
