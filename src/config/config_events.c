/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of a failure plan as faults of calls: `plan` names the file, and a mode event:NAME an event
 * in it. What triggers it there, and how often, counts for nothing here: the call does. Its nodes are
 * services that we start, of the same name. */
#include "config/config.h"
#include "config/config_int.h"
#include "plan/injector.h"

/* Can it be carried out without the network, the nodes and the roles of a plan? */
static const char *unfit(const struct plan_event *ev)
{
    switch (ev->injector->kind) {
    case INJECT_PROCESS:
    case INJECT_SCRIPT:
    case INJECT_HOLD: break;
    case INJECT_DISK:
        if (ev->path.n)
            break;
        return "is about a disk that outfox plan run makes";
    default: return "is about a network that outfox plan run makes";
    }
    if (ev->called)
        return "needs a node whose system calls are watched from its start, as outfox plan run does";
    switch (ev->target.kind) {
    case TARGET_NONE:
    case TARGET_ALL:
    case TARGET_SET:
    case TARGET_MATCH_TRIGGER: break;
    default:
        return "has a target that only outfox plan run finds; name services, all or match_trigger";
    }
    return ev->host != PLAN_NONE ? "happens on a host of its plan" : NULL;
}

static int check_targets(const struct campaign_config *c, const struct plan_event *ev,
                         struct err *e)
{
    for (uint32_t i = 0; i < ev->target.nodes.n; i++) {
        slice name = c->plan->nodes.at[ev->target.nodes.at[i]].name;
        uint32_t service = config_service(c, name);
        if (service == UINT32_MAX || !c->services.at[service].run.n)
            return err_set(e, 0, 0,
                           "the event \"%.*s\" harms \"%.*s\", which is no service that outfox "
                           "starts: nodes of the plan are services of the same name, with `run`",
                           SHORT(ev->name), SHORT(name));
    }
    return 0;
}

static int check_mode(const struct campaign_config *c, slice name, struct err *e)
{
    if (!c->plan)
        return err_set(e, 0, 0,
                       "mode \"event:%.*s\" needs a plan that says what happens: add plan: FILE",
                       SHORT(name));
    int32_t found = plan_event(c->plan, name);
    if (found == PLAN_NONE)
        return err_set(
            e, 0, 0,
            "mode \"event:%.*s\": %.*s has no event of this name; outfox plan show lists "
            "them",
            SHORT(name), SHORT(c->plan_file));
    const struct plan_event *ev = &c->plan->events.at[found];
    const char *why = unfit(ev);
    if (why)
        return err_set(e, 0, 0, "mode \"event:%.*s\": this event %s", SHORT(name), why);
    return check_targets(c, ev, e);
}

int config_check_modes(const struct campaign_config *c, const mode *modes, uint32_t n,
                       struct err *e)
{
    for (uint32_t i = 0; i < n; i++)
        if (mode_event(modes[i]).n && check_mode(c, mode_event(modes[i]), e))
            return -1;
    return 0;
}

int config_load_plan(struct campaign_config *c, struct err *e)
{
    struct err inner = {0};
    if (!c->plan_file.n)
        return 0;
    if (c->simulate.n)
        return err_set(e, 0, 0,
                       "\"plan\" harms processes, and a simulated system has none: leave "
                       "out one of them");
    c->plan = mem_zero(sizeof *c->plan);
    if (plan_load(c->plan, c->plan_file.p, &inner) == 0)
        return 0;
    *e = inner;
    return -1;
}
