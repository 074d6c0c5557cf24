/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of injectors, and their commands. Commands are for any POSIX shell with coreutils, so
 * that they work wherever the target is. */
#include "plan/injector.h"

#include <inttypes.h>
#include <signal.h>

enum { SCRIPT_BYTES_MAX = 60000 };

static void order_kill(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)e, (void)pid;
    out->signal = SIGKILL;
}

static void order_terminate(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)e, (void)pid;
    out->signal = SIGTERM;
}

/* The group, because a command may have children; it is the node's alone. */
static void order_freeze(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)e;
    buf_addf(&out->start, "kill -s STOP -- -%" PRId64, pid);
    buf_addf(&out->undo, "kill -s CONT -- -%" PRId64 " 2>/dev/null || :", pid);
}

static void order_exec(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    if (pid)
        buf_addf(&out->start, "OUTFOX_PID=%" PRId64 "; export OUTFOX_PID\n", pid);
    buf_add(&out->start, e->start);
    if (pid)
        buf_addf(&out->undo, "OUTFOX_PID=%" PRId64 "; export OUTFOX_PID\n", pid);
    buf_add(&out->undo, e->undo);
}

static void order_cpu(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)pid;
    for (uint32_t i = 0; i < (e->count ? e->count : 1); i++)
        buf_adds(&out->start, "while :; do :; done &\n");
    buf_adds(&out->start, "wait");
}

/* tail keeps what is behind the last newline, and there is none. */
static void order_memory(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)pid;
    buf_addf(&out->start, "(head -c %.*s /dev/zero; exec sleep 1000000) | exec tail -n 1",
             SLICE_ARG(e->size));
}

/* A file that takes the room: all there is, or `size` of it. The root file system is filled only
 * where a size is given: a machine without any room does not only test the system. */
static void order_disk_full(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)pid;
    buf_adds(&out->start, "d=");
    buf_add_shell(&out->start, e->path);
    buf_adds(&out->start, "\nf=$d/.outfox-full\n");
    if (e->size.n)
        buf_addf(&out->start, "exec fallocate -l %.*s \"$f\"", SLICE_ARG(e->size));
    else
        buf_adds(&out->start,
                 "[ \"$(stat -c %d \"$d\")\" != \"$(stat -c %d /)\" ] || {\n"
                 "  echo \"$d is on the root file system: mount one for it, as a tmpfs, or say "
                 "size: how much to fill\" >&2; exit 1; }\n"
                 "cat /dev/zero >\"$f\" 2>/dev/null\n[ -s \"$f\" ]");
    buf_adds(&out->undo, "rm -f ");
    buf_add_shell(&out->undo, e->path);
    buf_adds(&out->undo, "/.outfox-full");
}

/* clang-format off */
const struct injector injectors[] = {
    {"kill", INJECT_PROCESS, INJECT_TARGET, 0, false, "kills", "", NULL,
     "ends the node by SIGKILL; starts it again when the fault ends", order_kill},
    {"terminate", INJECT_PROCESS, INJECT_TARGET, 0, false, "terminates", "", NULL,
     "asks the node to end by SIGTERM; starts it again when the fault ends", order_terminate},
    {"restart", INJECT_PROCESS, INJECT_TARGET, 0, true, "restarts", "", NULL,
     "ends the node by SIGKILL and starts it again at once", order_kill},
    {"freeze", INJECT_SCRIPT, INJECT_TARGET, 0, false, "freezes", "kill", NULL,
     "stops the node by SIGSTOP: its connections stay open, and nothing answers", order_freeze},
    {"cpu", INJECT_HOLD, 0, INJECT_COUNT, false, "keeps the CPU busy", "", "the whole machine",
     "keeps as many processes busy as count says; default 1", order_cpu},
    {"memory", INJECT_HOLD, INJECT_SIZE, 0, false, "takes memory", "head tail sleep", "the whole machine",
     "takes size bytes of memory, such as 500M", order_memory},
    {"disk-full", INJECT_SCRIPT, INJECT_PATH, INJECT_SIZE, false, "fills the disk", "stat cat rm fallocate",
     "all that writes to that file system",
     "takes all the room of the file system of path, or size bytes of it", order_disk_full},
    {"exec", INJECT_SCRIPT, INJECT_START | INJECT_UNDO, INJECT_TARGET, false, "runs a command", "",
     "whatever its command touches", "runs your own command, and another one that undoes it", order_exec},
};
/* clang-format on */
const size_t n_injectors = sizeof injectors / sizeof *injectors;

const struct injector *injector_find(slice name)
{
    for (size_t i = 0; i < n_injectors; i++)
        if (slice_is(name, injectors[i].name))
            return &injectors[i];
    return NULL;
}

void injector_order(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    *out = (struct inject_order){.start = BUF_INIT(SCRIPT_BYTES_MAX),
                                 .undo = BUF_INIT(SCRIPT_BYTES_MAX)};
    e->injector->order(e, pid, out);
}

void inject_order_deinit(struct inject_order *o)
{
    buf_deinit(&o->start);
    buf_deinit(&o->undo);
}

void injector_describe(const struct plan_event *e, struct buf *out)
{
    buf_adds(out, e->injector->verb);
    for (uint32_t i = 0; i < e->target.names.n; i++)
        buf_addf(out, "%s%.*s", i ? ", " : " ", SLICE_ARG(e->target.names.at[i]));
    if (e->path.n)
        buf_addf(out, " of %.*s", SLICE_ARG(e->path));
    if (e->size.n)
        buf_addf(out, " (%.*s)", SLICE_ARG(e->size));
}
