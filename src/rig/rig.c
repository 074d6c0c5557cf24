/* SPDX-License-Identifier: Apache-2.0
 *
 * One loop, one keeper, and as many slots as trials may be made at a time. */
#include "rig/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "io/sys.h"
#include "rig/folder.h"
#include "rig/rig_int.h"

static void on_signal(uv_signal_t *handle, int number)
{
    struct rig *rig = handle->loop->data;
    if (rig->signal) /* twice: at once. The keeper sees to what is left */
        _exit(128 + number);
    rig->signal = number;
    for (uint32_t i = 0; i < rig->n_slots; i++)
        if (!rig->slots[i].over)
            slot_wake(&rig->slots[i]);
}

/* The directory of the results, which is ours alone from now on. */
static int open_dir(struct rig *rig, struct err *e)
{
    char path[PATH_MAX + 16], base[PATH_MAX];
    const char *dir = rig->options->dir;
    (void)snprintf(path, sizeof path, "%s/lock", dir);
    if (file_make_directories(path) || !realpath(dir, base))
        return err_set(e, 0, 0, "the directory %s cannot be made: %s", dir, strerror(errno));
    rig->dir = slice_of(arena_copy(&rig->arena, base, strlen(base)));
    rig->lock = file_open_private(path, O_RDWR | O_CREAT | O_CLOEXEC);
    if (rig->lock < 0)
        return err_set(e, 0, 0, "%s cannot be written: %s", path, strerror(errno));
    if (flock(rig->lock, LOCK_EX | LOCK_NB))
        return err_set(e, 0, 0,
                       "trials of this name are under way: another outfox holds %s; wait for its "
                       "end, or give these another name",
                       path);
    return 0;
}

static void run_slots(struct rig *rig)
{
    rig->slots = mem_zero(rig->n_slots * sizeof *rig->slots);
    rig->n_live = rig->n_slots;
    rig->began_ns = clock_ns();
    for (uint32_t i = 0; i < rig->n_slots; i++) {
        struct slot *s = &rig->slots[i];
        s->rig = rig;
        s->number = i;
        s->fiber = fiber_new(slot_tell, s);
        slot_wake(s);
    }
    while (rig->n_live)
        loop_run(&rig->loop);
    for (uint32_t i = 0; i < rig->n_slots; i++) {
        turn_stop(&rig->loop, &rig->slots[i].turn);
        fiber_free(rig->slots[i].fiber);
        arena_deinit(&rig->slots[i].arena);
    }
    mem_free(rig->slots);
}

static enum status run_loop(struct rig *rig, struct err *e)
{
    int code = loop_init(&rig->loop, NULL);
    if (code)
        return err_set(e, 0, 0, "there can be no event loop: %s", strerror(-code));
    rig->loop.uv.data = rig;
    (void)uv_signal_init(&rig->loop.uv, &rig->on_int);
    (void)uv_signal_init(&rig->loop.uv, &rig->on_term);
    (void)uv_signal_start(&rig->on_int, on_signal, SIGINT);
    (void)uv_signal_start(&rig->on_term, on_signal, SIGTERM);
    enum status status = keeper_attach(rig->keeper, &rig->loop, e) ? STATUS_FAILED : STATUS_OK;
    if (status == STATUS_OK)
        run_slots(rig);
    uv_close((uv_handle_t *)&rig->on_int, NULL);
    uv_close((uv_handle_t *)&rig->on_term, NULL);
    keeper_free(rig->keeper);
    rig->keeper = NULL;
    loop_deinit(&rig->loop);
    return status == STATUS_OK && rig->signal ? STATUS_INTERRUPTED : status;
}

enum status rig_run(const struct trials *t, struct agenda *agenda, struct programs *programs,
                    const struct rig_options *o, int *signal, struct err *e)
{
    struct rig rig = {.trials = t,
                      .agenda = agenda,
                      .programs = programs,
                      .options = o,
                      .n_slots = t->parallel ? t->parallel : 1,
                      .lock = -1};
    enum status status = STATUS_FAILED;
    rig.next_port = (uint16_t)(20000 + getpid() % 11000);
    *signal = 0;
    if (open_dir(&rig, e) == 0 && keeper_new(&rig.keeper, e) == 0) {
        (void)keeper_clear_up();
        (void)share_clear_up(o->memory);
        status = run_loop(&rig, e);
        *signal = rig.signal;
    }
    keeper_free(rig.keeper);
    if (rig.lock >= 0)
        sys_close(rig.lock);
    arena_deinit(&rig.arena);
    return status;
}
