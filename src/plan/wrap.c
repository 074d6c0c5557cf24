/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of a node are watched where a fault of the plan may be aimed at it, and only those
 * calls that such faults name: others cost nothing. */
#include "plan/wrap.h"

#include "plan/injector.h"

enum { COMMAND_BYTES_MAX = 1 << 20 };

void wrap_state(slice node, struct buf *out)
{
    buf_addf(out, "\"$OUTFOX_DIR\"/.calls-%.*s", SLICE_ARG(node));
}

/* May the event happen to this node? Who has a role is known when it does. */
static bool is_meant(const struct plan_event *e, uint32_t node)
{
    const struct plan_target *t = &e->target;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (t->nodes.at[i] == node)
            return true;
    return t->kind == TARGET_ROLE || t->kind == TARGET_MATCH_TRIGGER ||
           t->kind == TARGET_NOT_TRIGGER;
}

static struct syscall_set calls_of(const struct plan *p, uint32_t node)
{
    struct syscall_set all = {0};
    for (uint32_t i = 0; i < p->events.n; i++)
        for (size_t k = 0;
             is_meant(&p->events.at[i], node) && k < sizeof all.bits / sizeof *all.bits; k++)
            all.bits[k] |= p->events.at[i].calls.calls.bits[k];
    return all;
}

slice wrap_start(const struct plan *p, uint32_t node, struct arena *a)
{
    const struct plan_node *n = &p->nodes.at[node];
    struct syscall_set calls = calls_of(p, node);
    struct buf b = BUF_INIT(COMMAND_BYTES_MAX);
    if (syscall_set_empty(&calls))
        return n->start;
    buf_adds(&b, "command -v \"$OUTFOX_BIN\" >/dev/null 2>&1 || {\n"
                 "  echo \"its system calls can be harmed only where outfox is: put it into a "
                 "directory of the PATH of its host\" >&2\n"
                 "  exit 127; }\n"
                 "exec \"$OUTFOX_BIN\" harm syscalls ");
    wrap_state(n->name, &b);
    for (uint32_t i = 0; i < SYSCALLS; i++)
        if (syscall_set_has(&calls, i))
            buf_addf(&b, " %s", syscall_rows[i].name);
    buf_adds(&b, " -- /bin/sh -c ");
    buf_add_shell(&b, n->start);
    return buf_keep(&b, a);
}
