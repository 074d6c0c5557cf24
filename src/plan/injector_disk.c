/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of a node's own disk (harm/disk.h): what they may say, and their commands. Which disk it is
 * they learn from OUTFOX_DISK. */
#include <errno.h>
#include <inttypes.h>

#include "plan/injector.h"
#include "plan/plan_int.h"

enum {
    READ = 1,
    WRITE = 2,
    SYNC = 4,
    OPEN = 8,
    CHANGE = 16,
    EVERY = 31,
};

const char *const plan_operations[] = {"all", "read", "write", "sync", "open", "change", NULL};

/* Errors that a disk may give, and the operations that may get them: no program can be blamed for
 * what its manual does not say. */
static const struct {
    const char *name;
    int number;
    unsigned legal;
} errors[] = {
    {"EIO", EIO, EVERY},
    {"ENOSPC", ENOSPC, WRITE | SYNC | OPEN | CHANGE},
    {"EDQUOT", EDQUOT, WRITE | SYNC | OPEN | CHANGE},
    {"EROFS", EROFS, OPEN | CHANGE},
    {"EACCES", EACCES, OPEN | CHANGE},
    {"EPERM", EPERM, WRITE | OPEN | CHANGE},
    {"EFBIG", EFBIG, WRITE},
    {"ENOMEM", ENOMEM, OPEN | CHANGE},
    {"ENFILE", ENFILE, OPEN},
    {"ETIMEDOUT", ETIMEDOUT, EVERY},
};

/* The row of the fault's error, which is EIO where none is named; or -1. */
static int error_of(const struct plan_event *ev)
{
    const struct node *named = ev->fault ? node_get(ev->fault, SLICE("error")) : NULL;
    slice name = named ? named->text : SLICE("");
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!name.n || slice_is(name, errors[i].name))
            return (int)i;
    return -1;
}

static unsigned operations_of(const struct plan_event *ev)
{
    return ev->disk.operation ? 1U << (ev->disk.operation - 1) : EVERY;
}

int inject_disk_check(const struct plan *p, const struct plan_event *ev, struct err *e)
{
    bool any = ev->target.kind == TARGET_SET || ev->target.kind == TARGET_ALL;
    if (ev->injector->kind != INJECT_DISK)
        return 0;
    if (ev->path.n && ev->target.names.n)
        return FAIL(e, ev->at, "\"%s\" takes a path or a target, not both", ev->injector->name);
    for (uint32_t i = 0; i < ev->target.nodes.n; i++) {
        const struct plan_node *n = &p->nodes.at[ev->target.nodes.at[i]];
        if (!n->disk.n && (any || ev->target.kind == TARGET_ANY))
            return FAIL(e, ev->target.at,
                        "\"%.*s\" has no disk of its own: add disk: data to the node, and let it "
                        "keep its files in $OUTFOX_DISK",
                        SHORT(n->name));
    }
    int row = error_of(ev);
    if (row < 0) {
        struct buf all = BUF_INIT(300);
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            buf_addf(&all, "%s%s", i ? ", " : "", errors[i].name);
        (void)FAIL(e, ev->at, "\"%.*s\" is no error of a disk: take one of %s",
                   SHORT(node_get(ev->fault, SLICE("error"))->text), buf_text(&all));
        buf_deinit(&all);
        return -1;
    }
    return errors[row].legal & operations_of(ev)
               ? 0
               : FAIL(e, ev->at, "\"%s\" never fails with %s: take EIO",
                      plan_operations[ev->disk.operation], errors[row].name);
}

/* ---- commands ---- */

static void add_operations(const struct plan_event *ev, unsigned legal, struct buf *out)
{
    const char *before = " operations=";
    for (size_t i = 1; plan_operations[i]; i++)
        if (operations_of(ev) & legal & (1U << (i - 1))) {
            buf_addf(out, "%s%s", before, plan_operations[i]);
            before = ",";
        }
}

static void add_file(const struct plan_event *ev, struct buf *out)
{
    struct buf word = BUF_INIT(2000);
    if (!ev->disk.file.n)
        return;
    buf_addf(&word, "file=%.*s", SLICE_ARG(ev->disk.file));
    buf_addc(out, ' ');
    buf_add_shell(out, buf_slice(&word));
    buf_deinit(&word);
}

static void add_slow(const struct plan_event *ev, struct buf *out)
{
    buf_addf(out, " latency=%" PRId64 " jitter=%" PRId64 " bandwidth=%" PRIu64, ev->link.latency_ns,
             ev->link.jitter_ns, ev->link.bandwidth);
    add_operations(ev, EVERY, out);
    add_file(ev, out);
}

static void add_error(const struct plan_event *ev, struct buf *out)
{
    int row = error_of(ev);
    buf_addf(out, " error=%d", errors[row].number);
    if (ev->calls.times)
        buf_addf(out, " times=%u", ev->calls.times);
    add_operations(ev, errors[row].legal, out);
    add_file(ev, out);
}

/* The disk's word for a fault is its name behind "disk-". */
void order_disk(const struct plan_event *ev, int64_t pid, struct inject_order *out)
{
    const char *deed = strchr(ev->injector->name, '-') + 1;
    uint64_t room;
    (void)pid;
    buf_adds(&out->start, "exec \"$OUTFOX_BIN\" harm disk-arm \"$OUTFOX_DISK\" ");
    buf_add_shell(&out->start, ev->name);
    buf_addf(&out->start, " %s", deed);
    if (strcmp(deed, "full") == 0)
        buf_addf(&out->start, " room=%" PRIu64, plan_bytes_of(ev->size, &room) ? room : 0);
    else if (strcmp(deed, "slow") == 0)
        add_slow(ev, &out->start);
    else if (strcmp(deed, "error") == 0)
        add_error(ev, &out->start);
    buf_adds(&out->undo, "exec \"$OUTFOX_BIN\" harm disk-disarm \"$OUTFOX_DISK\" ");
    buf_add_shell(&out->undo, ev->name);
}
