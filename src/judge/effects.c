/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls have side effects, and how often they must be made. */
#include "judge/judge.h"

void effect_rule_deinit(struct effect_rule *r)
{
    pattern_deinit(&r->calls);
}

int effect_rule_parse(struct names *names, slice text, struct effect_rule *out, struct err *e)
{
    return pattern_parse(&out->calls, names, PATTERN_CALLS, text, e);
}

enum effect effect_of(const struct judge_settings *s, const struct names *names, uid call)
{
    slice interface = names_text(names, uid_element(names, call)->interface);
    (void)s;
    return slice_starts(interface, SLICE("GET ")) ? EFFECT_READ : EFFECT_ONCE;
}
