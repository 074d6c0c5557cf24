/* SPDX-License-Identifier: Apache-2.0
 *
 * Disks of nodes: each is a process of its own (harm/disk.h) that lasts as long as the run, whatever
 * becomes of its node.
 *
 *   taken --> starts --> up --> closing: its input ends --> unmounted
 *                |        `--- it ends by itself: the disk is lost, and the run broken
 *                `-- ends: it cannot be mounted
 *
 * 1. That it is to be unmounted is in the journal, and known to the undoer, before it is mounted.
 * 2. We never touch what is mounted: a disk that hangs would be us hanging. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/file.h"
#include "lab/lab_int.h"

#define OPEN_WITHIN_NS  SECONDS(30)
#define CLOSE_WITHIN_NS SECONDS(30)
#define UNDO_WITHIN_NS  SECONDS(10)

static const struct plan_node *plan_of(const struct lab_disk *d)
{
    return &d->node->lab->plan->nodes.at[d->node->index];
}

void disks_take(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        const struct plan_node *p = &lab->plan->nodes.at[i];
        struct lab_disk *d = &lab->nodes[i].disk;
        d->node = &lab->nodes[i];
        if (p->disk.n)
            d->mount = slice_of(arena_printf(&lab->arena, "%.*s/%.*s/%.*s", SLICE_ARG(lab->dir),
                                             SLICE_ARG(p->name), SLICE_ARG(p->disk)));
    }
}

/* The node says to its disk which process it is, before it becomes that. */
slice disk_start(struct lab_node *n, slice command)
{
    struct buf b = BUF_INIT(1 << 20);
    if (!n->disk.mount.n)
        return command;
    buf_adds(&b, "\"$OUTFOX_BIN\" harm disk-node \"$OUTFOX_DISK\" $$ || exit 1\n");
    buf_add(&b, command);
    return buf_keep(&b, &n->lab->arena);
}

/* ---- opened ---- */

static bool none_starting(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].disk.voice && !lab->nodes[i].disk.up)
            return false;
    return true;
}

static bool none_left(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].disk.voice || lab->nodes[i].disk.command)
            return false;
    return true;
}

static void on_up(void *user, pid_t pid)
{
    struct lab_disk *d = user;
    (void)pid;
    d->up = true;
    loop_stop(&d->node->lab->loop);
}

static void on_ended(void *user, int status, const char *why)
{
    struct lab_disk *d = user;
    struct lab *lab = d->node->lab;
    const char *name = arena_printf(&lab->run->arena, "%.*s", SLICE_ARG(plan_of(d)->name));
    d->voice = NULL;
    if (d->closing && status == 0) {
        journal_end(lab->journal, d->id);
        undoer_ended(lab->undoer, d->id);
        d->journalled = false;
    }
    if (!d->closing && WIFSIGNALED(status) && d->up) /* whatever else fails now comes from that */
        lab->run->broken = slice_of(arena_printf(
            &lab->run->arena, "the disk of %s is gone: its process was ended by signal %d", name,
            WTERMSIG(status)));
    else if (!d->closing)
        lab->run->broken = slice_of(arena_printf(&lab->run->arena, "the disk of %s %s: %s", name,
                                                 d->up ? "is gone" : "cannot be had",
                                                 *why ? why : "its process has ended"));
    loop_stop(&lab->loop);
}

static const struct voice_events events = {on_up, NULL, on_ended};

/* Known to whoever unmounts it if we cannot. */
static int disk_journal(struct lab_disk *d, const char *program, struct err *e)
{
    struct lab *lab = d->node->lab;
    struct buf undo = BUF_INIT(UNDO_TEXT_MAX), what = BUF_INIT(300);
    buf_add_shell(&undo, slice_of(program));
    buf_adds(&undo, " harm disk-unmount ");
    buf_add_shell(&undo, d->mount);
    buf_addf(&what, "mounts the disk of %.*s", SLICE_ARG(plan_of(d)->name));
    d->id = lab->next_id++;
    int status =
        journal_begin(lab->journal, d->id, "disk", buf_text(&what), buf_text(&undo), 0, e) ||
                undoer_begin(lab->undoer, d->id, buf_text(&undo), 0, e)
            ? -1
            : 0;
    d->journalled = status == 0;
    d->undo = buf_keep(&undo, &lab->arena);
    buf_deinit(&what);
    return status;
}

static int disk_open(struct lab_disk *d, struct err *e)
{
    struct lab *lab = d->node->lab;
    struct arena a = {0};
    struct buf command = BUF_INIT(20000);
    const char *program = file_program(&a);
    int status = disk_journal(d, program, e);
    if (!status && file_make_directories(arena_printf(&a, "%.*s", SLICE_ARG(d->mount))))
        status = err_set(e, 0, 0, "%.*s cannot be made: %s", SHORT(d->mount), strerror(errno));
    if (!status) {
        buf_adds(&command, "exec ");
        buf_add_shell(&command, slice_of(program));
        buf_adds(&command, " harm disk ");
        buf_add_shell(&command, d->mount);
        struct process_spec spec = {
            .command = buf_text(&command), .dir = slice_copy(&a, lab->dir).p, .fed = true};
        d->voice = voice_start(lab->keeper, &spec, -1, &events, d);
    }
    buf_deinit(&command);
    arena_deinit(&a);
    return status;
}

int disks_open(struct lab *lab, struct err *e)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].disk.mount.n && disk_open(&lab->nodes[i].disk, e))
            return -1;
    bool up = lab_wait(lab, none_starting, OPEN_WITHIN_NS);
    if (lab->run->broken.n || lab->signal)
        return -1;
    return up ? 0
              : err_set(e, 0, 0, "a disk is not there within %d s: is the machine overloaded?",
                        (int)(OPEN_WITHIN_NS / SECONDS(1)));
}

/* ---- closed ---- */

static void on_undone(void *user, const struct command_result *r)
{
    struct lab_disk *d = user;
    struct lab *lab = d->node->lab;
    d->command = NULL;
    if (r->started && r->exit_code == 0) {
        journal_end(lab->journal, d->id);
        undoer_ended(lab->undoer, d->id);
        d->journalled = false;
    }
    loop_stop(&lab->loop);
}

/* Where its process could not do so itself. */
static void unmount(struct lab_disk *d)
{
    struct command_request r = {.text = d->undo, .dir = SLICE("/"), .timeout_ns = UNDO_WITHIN_NS};
    d->command = command_start(d->node->lab->keeper, &r, on_undone, d);
}

int disks_close(struct lab *lab, struct err *e)
{
    int status = 0;
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        struct lab_disk *d = &lab->nodes[i].disk;
        d->closing = true;
        if (d->voice)
            voice_end(d->voice);
    }
    (void)lab_outlast(lab, none_left, CLOSE_WITHIN_NS);
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        struct lab_disk *d = &lab->nodes[i].disk;
        if (d->voice)
            voice_abandon(d->voice);
        d->voice = NULL;
        if (d->journalled)
            unmount(d);
    }
    (void)lab_outlast(lab, none_left, CLOSE_WITHIN_NS);
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        struct lab_disk *d = &lab->nodes[i].disk;
        if (d->command)
            command_cancel(d->command);
        d->command = NULL;
        if (d->journalled)
            status = err_set(e, 0, 0,
                             "the disk of %.*s could not be unmounted; outfox doctor tries again",
                             SLICE_ARG(plan_of(d)->name));
    }
    return status;
}
