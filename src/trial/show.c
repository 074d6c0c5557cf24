/* SPDX-License-Identifier: Apache-2.0
 *
 * What was understood of a file of trials, for people: outfox trials check. */
#include "trial/trial.h"

static void add_list(const char *name, const struct texts *list, const char *none, struct buf *out)
{
    buf_addf(out, "  %-12s", name);
    for (uint32_t i = 0; i < list->n; i++)
        buf_addf(out, "%s%.*s", i ? ", " : "", SLICE_ARG(list->at[i]));
    buf_addf(out, "%s\n", list->n ? "" : none);
}

static void add_node(const struct trials_node *n, struct buf *out)
{
    static const char *const talks[] = {"by a command", "by PING", "by version"};
    buf_addf(out, "  %-12.*s%.*s\n", SLICE_ARG(n->name), SLICE_ARG(n->start));
    if (n->data.n)
        buf_addf(out, "  %-12sdirectory copied from %.*s\n", "", SLICE_ARG(n->data));
    if (n->alive.command.n || n->alive.talk != TALKS_COMMAND)
        buf_addf(out, "  %-12ssays that it is alive %s\n", "", talks[n->alive.talk]);
    if (!n->harmed)
        buf_addf(out, "  %-12sno fault is made in it\n", "");
}

static void add_client(const struct trials *t, const struct trials_client *c, struct buf *out)
{
    static const char *const talks[] = {"", "redis", "memcached"};
    buf_addf(out, "    %-10.*sof %.*s: ", SLICE_ARG(c->name), SLICE_ARG(t->nodes.at[c->node].name));
    if (c->talk == TALKS_COMMAND) {
        buf_addf(out, "%.*s\n", SLICE_ARG(c->command));
        return;
    }
    buf_addf(out, "%u operations of %s on %u %s: ", c->count, talks[c->talk], c->keys,
             plural(c->keys, "key", "keys"));
    for (uint32_t i = 0; i < c->operations.n; i++)
        buf_addf(out, "%s%.*s", i ? "; " : "", SLICE_ARG(c->operations.at[i]));
    buf_addc(out, '\n');
}

static void add_phase(const struct trials *t, const struct trials_phase *p, struct buf *out)
{
    buf_addf(out, "  %.*s, at most ", SLICE_ARG(p->name));
    buf_add_ns(out, p->within_ns);
    buf_adds(out, p->always ? ", also if an earlier phase failed\n" : "\n");
    for (uint32_t i = 0; i < p->clients.n; i++)
        add_client(t, &p->clients.at[i], out);
}

static void add_what(const struct trials *t, struct buf *out)
{
    buf_adds(out, "faults\n");
    buf_addf(out, "  %-11s", "experiments");
    if (t->acts & OUTFOX_ERROR)
        buf_adds(out, " error");
    if (t->acts & OUTFOX_DELAY) {
        buf_adds(out, " delay ");
        buf_add_ns(out, t->delay_ns);
    }
    buf_adds(out, t->acts & OUTFOX_SHORT ? " short\n" : "\n");
    add_list("policies", &t->policy_names, "", out);
    add_list("essential", &t->essential, "all operations", out);
    buf_addf(out, "  %-12s%u without faults, %u control, %llu for each policy and experiment\n",
             "trials", t->references, t->control, (unsigned long long)t->max_trials);
    buf_addf(out, "  %-12sat most ", "");
    buf_add_ns(out, t->max_time_ns);
    buf_addf(out, ", %u at a time, seed %llu\n", t->parallel, (unsigned long long)t->seed);
}

static void add_checkers(const struct trials_checkers *c, struct buf *out)
{
    const struct {
        const char *name;
        bool on;
    } all[] = {
        {"crash", c->crash}, {"client", c->client}, {"log", c->log}, {"resources", c->resources}};
    buf_adds(out, "checkers\n ");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buf_addf(out, "%s%s", all[i].on ? " " : "", all[i].on ? all[i].name : "");
    buf_addc(out, '\n');
    for (uint32_t i = 0; i < c->invariants.n; i++)
        buf_addf(out, "  invariant   %.*s\n", SLICE_ARG(c->invariants.at[i].name));
}

void trials_print(const struct trials *t, struct buf *out)
{
    buf_addf(out, "trials %.*s\n", SLICE_ARG(t->name));
    if (t->about.n)
        buf_addf(out, "%.*s\n", SLICE_ARG(t->about));
    buf_adds(out, "nodes\n");
    for (uint32_t i = 0; i < t->nodes.n; i++)
        add_node(&t->nodes.at[i], out);
    buf_adds(out, "workload\n");
    for (uint32_t i = 0; i < t->phases.n; i++)
        add_phase(t, &t->phases.at[i], out);
    add_what(t, out);
    add_checkers(&t->checkers, out);
}
