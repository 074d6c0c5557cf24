/* SPDX-License-Identifier: Apache-2.0
 *
 * What a failure plan would do, in words. */
#include "report/plan.h"

#include <inttypes.h>

#include "plan/connector.h"
#include "plan/injector.h"
#include "plan/series.h"

static void add_ms(struct buf *out, int64_t ns)
{
    buf_add_ns(out, ns / 1000000 * 1000000);
}

void plan_print_trigger(const struct plan *p, const struct plan_trigger *t, struct buf *out)
{
    (void)p;
    slice by = t->of.n ? t->of : SLICE("anybody");
    switch (t->kind) {
    case TRIGGER_TIME:
        add_ms(out, t->at_ns);
        buf_adds(out, " after the start");
        break;
    case TRIGGER_LINE:
        buf_addf(out, "when %.*s prints /%.*s/", SLICE_ARG(by), SLICE_ARG(t->pattern));
        break;
    case TRIGGER_EVENT:
        buf_addf(out, "at the event %.*s%s%.*s", SLICE_ARG(t->event), t->value.n ? " " : "",
                 SLICE_ARG(t->value));
        break;
    case TRIGGER_METRIC:
        buf_addf(out, "when %.*s%s%.*s is %s ", SLICE_ARG(t->metric), t->of.n ? " of " : "",
                 SLICE_ARG(t->of), t->has_above ? "above" : "below");
        plan_add_value(out, t->metric, t->has_above ? t->above : t->below);
        break;
    case TRIGGER_SPAN: buf_addf(out, "at the call %.*s", SLICE_ARG(t->span)); break;
    case TRIGGER_BEGAN: buf_addf(out, "when %.*s has begun", SLICE_ARG(t->other)); break;
    case TRIGGER_ENDED: buf_addf(out, "when %.*s has ended", SLICE_ARG(t->other)); break;
    case TRIGGER_CALL:
        buf_addf(out, "when %.*s is called", SLICE_ARG(t->calls));
        if (t->door.n)
            buf_addf(out, " at %.*s", SLICE_ARG(t->door));
        break;
    case TRIGGER_CONNECTION:
        buf_addf(out, "when somebody connects to %.*s", SLICE_ARG(t->door));
        break;
    case TRIGGER_MANUAL: buf_adds(out, "when outfox plan fire says so"); break;
    }
    if (t->nth > 1)
        buf_addf(out, ", time %u", t->nth);
    if (t->delay_ns) {
        buf_adds(out, ", and ");
        add_ms(out, t->delay_ns);
        buf_adds(out, " more");
    }
    if (t->chance < 1)
        buf_addf(out, ", with a chance of %g", t->chance);
}

/* ---- what would be done ---- */

static void show_event(const struct plan *p, const struct plan_event *e, struct buf *out)
{
    buf_addf(out, "  %-16.*s ", SLICE_ARG(e->name));
    injector_describe(e, out);
    buf_adds(out, ": ");
    plan_print_trigger(p, &e->trigger, out);
    if (e->injector->momentary)
        buf_adds(out, ", once");
    else if (e->duration_ns) {
        buf_adds(out, ", for ");
        add_ms(out, e->duration_ns);
    } else
        buf_adds(out, ", until the run ends");
    if (e->until.n)
        buf_addf(out, ", or until the event %.*s", SLICE_ARG(e->until));
    buf_adds(out, "\n");
    if (e->injector->blast)
        buf_addf(out, "  %-16s touches %s\n", "", e->injector->blast);
    if (e->injector->tools[0])
        buf_addf(out, "  %-16s needs the commands %s\n", "", e->injector->tools);
}

static void show_hosts(const struct plan *p, struct buf *out)
{
    if (p->hosts.n)
        buf_addf(out, "\nhosts: %u\n", p->hosts.n);
    for (uint32_t i = 0; i < p->hosts.n; i++) {
        const struct plan_host *h = &p->hosts.at[i];
        const struct connector *c = h->connector;
        slice at = h->address.n ? h->address : h->pod.n ? h->pod : h->container;
        buf_addf(out, "  %-16.*s %s%s%.*s", SLICE_ARG(h->name), c->name, at.n ? ", " : "",
                 SLICE_ARG(at));
        if (h->port)
            buf_addf(out, " port %u", h->port);
        if (c->wrap)
            buf_addf(out, "; each run has a directory in %.*s there", SLICE_ARG(h->dir));
        buf_adds(out, "\n");
        if (c->tool)
            buf_addf(out, "  %-16s needs the command %s here, and sh, grep and setsid there\n", "",
                     c->tool);
    }
}

static void show_member(slice name, slice command, slice on, struct buf *out)
{
    buf_addf(out, "  %-16.*s %.*s", SLICE_ARG(name), SLICE_ARG(command));
    if (on.n)
        buf_addf(out, "  (on %.*s)", SLICE_ARG(on));
    buf_addc(out, '\n');
}

static void show_collects(const struct plan *p, struct buf *out)
{
    static const char *const kinds[] = {[COLLECT_COMMAND] = "command",
                                        [COLLECT_PROMETHEUS] = "prometheus",
                                        [COLLECT_OTLP] = "otlp",
                                        [COLLECT_FILE] = "file",
                                        [COLLECT_LINE] = "line"};
    if (p->collects.n)
        buf_addf(out, "\ncollectors: %u\n", p->collects.n);
    for (uint32_t i = 0; i < p->collects.n; i++) {
        const struct plan_collect *c = &p->collects.at[i];
        slice source = c->kind == COLLECT_LINE ? c->line : c->source;
        buf_addf(out, "  %-16.*s %s %.*s", SLICE_ARG(c->name), kinds[c->kind], SLICE_ARG(source));
        if (c->kind != COLLECT_LINE && c->kind != COLLECT_OTLP) {
            buf_adds(out, ", every ");
            add_ms(out, c->every_ns);
        }
        buf_addc(out, '\n');
    }
}

void plan_print_show(const struct plan *p, struct buf *out)
{
    int64_t each = p->warmup_ns + p->duration_ns + p->settle_ns;
    uint32_t runs = p->references + (p->events.n ? p->repeats : 0);
    buf_addf(out, "plan %.*s%s%.*s\n", SLICE_ARG(p->name), p->about.n ? ": " : "",
             SLICE_ARG(p->about));
    show_hosts(p, out);
    buf_addf(out, "\nsystem: %u %s\n", p->nodes.n, plural(p->nodes.n, "node", "nodes"));
    for (uint32_t i = 0; i < p->nodes.n; i++)
        show_member(p->nodes.at[i].name, p->nodes.at[i].start, p->nodes.at[i].on, out);
    for (uint32_t i = 0; i < p->doors.n; i++) {
        const struct plan_door *d = &p->doors.at[i];
        buf_addf(out, "  %-16.*s door of %s, %.*s -> %.*s\n", SLICE_ARG(d->name),
                 d->protocol == DOOR_HTTP ? "http" : "tcp", SLICE_ARG(d->listen), SLICE_ARG(d->to));
    }
    if (p->network)
        buf_addf(
            out,
            "  in a network of its own, %u.%u.%u.0/24: needs root (or unshare -Ur) and /dev/net/tun\n",
            p->network >> 24, p->network >> 16 & 255, p->network >> 8 & 255);
    for (uint32_t i = 0; i < p->nodes.n; i++)
        if (p->nodes.at[i].disk.n) {
            buf_adds(out, "  with disks of their own: needs root (or fusermount3) and /dev/fuse\n");
            break;
        }
    buf_addf(out, "\nclients: %u\n", p->clients.n);
    for (uint32_t i = 0; i < p->clients.n; i++)
        show_member(p->clients.at[i].name, p->clients.at[i].command, p->clients.at[i].on, out);
    show_collects(p, out);
    buf_addf(out, "\nfaults: %u, seed %" PRIu64 "\n", p->events.n, p->seed);
    for (uint32_t i = 0; i < p->events.n; i++)
        show_event(p, &p->events.at[i], out);
    buf_addf(out, "\n%u %s without faults, then %u with them: about ", p->references,
             plural(p->references, "run", "runs"), runs - p->references);
    add_ms(out, each * runs);
    buf_adds(out, ", and the time that nodes take to start\n");
}
