/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_words.h"

struct vocabulary config_vocabulary(const struct campaign_config *c, struct names *names,
                                    const struct rewrite *rules, struct arena *a)
{
    const char **services = arena_zero(a, (c->services.n + 1) * sizeof *services);
    struct vocabulary v = {.names = names, .rules = rules, .services = services};
    for (uint32_t i = 0; i < c->services.n; i++)
        if (!(c->simulate.n && c->services.at[i].run.n)) /* that is the simulator */
            services[v.n_services++] = c->services.at[i].name.p;
    return v;
}

struct rewrite *config_rules(const struct campaign_config *c)
{
    struct rewrite *rules = rewrite_new();
    struct err ignored = {0};
    for (uint32_t i = 0; i < c->identify.normalise.n; i++)
        (void)!rewrite_add(rules, c->identify.normalise.at[i], &ignored);
    return rules;
}
