/* SPDX-License-Identifier: Apache-2.0
 *
 * Hosts: other places where nodes and clients of a run are. How commands get there is a connector's
 * (plan/connector.h); here they are opened, used and cleared.
 *
 *   taken --> ward starts --> up --> closing: the ward's input ends --> cleared
 *                 |            `--- the ward ends by itself: the host is lost, and the run broken
 *                 `-- ends: it cannot be reached
 *
 * 1. A ward's undo kills all that carries the run's mark there, and removes the run's directory. It
 *    runs when the ward's input ends, so also when we are killed or the connection is cut; the
 *    journal has it too, as a command line that makes a connection of its own.
 * 2. Nothing of a run is on a host after hosts_close, or the run says so. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "lab/lab_int.h"

#define OPEN_WITHIN_NS  SECONDS(30)
#define CLOSE_WITHIN_NS SECONDS(30)
#define SIGNAL_NS       SECONDS(20)
#define SIGNAL_LEASE_S  30

struct lab_host *host_at(struct lab *lab, int32_t host)
{
    return plan_is_far(lab->plan, host) ? &lab->hosts[host] : NULL;
}

/* ---- texts ---- */

static slice wrap(struct lab_host *h, const struct connect_call *c)
{
    struct lab *lab = h->lab;
    struct buf b = BUF_INIT(2 * CONNECT_TEXT_MAX);
    int status = connector_wrap(c, &b);
    slice line = status ? (slice){0} : slice_copy(&lab->arena, buf_slice(&b));
    buf_deinit(&b);
    return line;
}

static slice program(struct lab_host *h)
{
    return slice_of(file_program(&h->lab->arena));
}

slice host_wrap(struct lab_host *h, enum connect_kind kind, slice command, slice undo,
                uint32_t lease_s)
{
    struct connect_call c = {.host = h->plan,
                             .kind = kind,
                             .command = command,
                             .undo = undo,
                             .mark = h->mark,
                             .lease_s = lease_s,
                             .control = kind == CONNECT_UNDO ? SLICE("") : h->lab->control,
                             .program = program(h)};
    return wrap(h, &c);
}

slice host_setting(struct lab_host *h, slice dir, const struct text_pair *env, uint32_t n_env,
                   slice command)
{
    struct buf b = BUF_INIT(CONNECT_TEXT_MAX + 1);
    buf_adds(&b, "cd ");
    buf_add_shell(&b, h->dir);
    buf_adds(&b, " 2>/dev/null || cd /\n"); /* an undo may come when it is gone */
    if (dir.n) {
        buf_adds(&b, "mkdir -p ");
        buf_add_shell(&b, dir);
        buf_adds(&b, " && cd ");
        buf_add_shell(&b, dir);
        buf_adds(&b, " || exit 1\n");
    }
    for (uint32_t i = 0; i < n_env; i++) {
        bool here = slice_is(env[i].name, "OUTFOX_HISTORY") || /* files of this machine */
                    slice_is(env[i].name, "OUTFOX_SOCKET");
        if (here)
            continue;
        buf_addf(&b, "export %.*s=", SLICE_ARG(env[i].name));
        if (slice_is(env[i].name, "OUTFOX_BIN")) /* an agent says so itself */
            buf_adds(&b, "\"${OUTFOX_AGENT:-outfox}\"");
        else
            buf_add_shell(&b, slice_is(env[i].name, "OUTFOX_DIR") ? h->dir : env[i].value);
        buf_addc(&b, '\n');
    }
    buf_add(&b, command);
    return buf_keep(&b, &h->lab->arena);
}

/* ---- commands there ---- */

struct voice *host_voice(struct lab_host *h, slice line, int log_fd,
                         const struct voice_events *events, void *user)
{
    struct arena a = {0};
    struct process_spec spec = {
        .command = slice_copy(&a, line).p, .dir = slice_copy(&a, h->lab->plan->dir).p, .fed = true};
    struct voice *v = voice_start(h->lab->keeper, &spec, log_fd, events, user);
    arena_deinit(&a);
    return v;
}

static void errand_free(struct errand *r)
{
    for (struct errand **at = &r->lab->errands; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    if (r->command)
        command_cancel(r->command);
    mem_free(r);
}

static void on_errand(void *user, const struct command_result *result)
{
    struct errand *r = user;
    (void)result;
    r->command = NULL;
    errand_free(r);
}

void host_signal(struct lab_host *h, pid_t group, int signal)
{
    struct lab *lab = h->lab;
    if (!group)
        return;
    slice text = slice_of(arena_printf(&lab->arena, "kill -s %d -- -%d", signal, (int)group));
    text = host_wrap(h, CONNECT_RUN, text, SLICE(""), SIGNAL_LEASE_S);
    struct command_request request = {.text = text, .dir = lab->plan->dir, .timeout_ns = SIGNAL_NS};
    struct errand *r = mem_zero(sizeof *r);
    r->lab = lab;
    r->next = lab->errands;
    lab->errands = r;
    r->command = command_start(lab->keeper, &request, on_errand, r);
}

/* ---- open and closed ---- */

static bool is_used(const struct plan *p, int32_t host)
{
    for (uint32_t i = 0; i < p->nodes.n; i++)
        if (p->nodes.at[i].host == host)
            return true;
    for (uint32_t i = 0; i < p->clients.n; i++)
        if (p->clients.at[i].host == host)
            return true;
    for (uint32_t i = 0; i < p->events.n; i++)
        if (p->events.at[i].host == host)
            return true;
    return false;
}

static bool any_used(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->hosts.n; i++)
        if (plan_is_far(lab->plan, (int32_t)i) && is_used(lab->plan, (int32_t)i))
            return true;
    return false;
}

void hosts_take(struct lab *lab)
{
    struct arena *a = &lab->arena;
    const struct plan *p = lab->plan;
    char path[200];
    const char *tmp = getenv("TMPDIR");
    lab->hosts = mem_zero((p->hosts.n + 1) * sizeof *lab->hosts);
    lab->control = (slice){0};
    if (!any_used(lab))
        return;
    for (uint32_t i = 0; i < p->hosts.n; i++) {
        struct lab_host *h = &lab->hosts[i];
        *h = (struct lab_host){.lab = lab, .plan = &p->hosts.at[i]};
        h->mark = slice_of(
            arena_printf(a, "%d-%" PRIx64 "-%u", (int)getpid(), (uint64_t)clock_wall_ns(), i));
        h->dir = slice_of(
            arena_printf(a, "%.*s/outfox-%.*s", SLICE_ARG(h->plan->dir), SLICE_ARG(h->mark)));
    }
    /* Sockets have short names: not where the run's directory is. */
    (void)snprintf(path, sizeof path, "%s/outfox-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (mkdtemp(path))
        lab->control = slice_of(arena_copy(a, path, strlen(path)));
}

static bool all_up(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->hosts.n; i++)
        if (lab->hosts[i].ward && !lab->hosts[i].up)
            return false;
    return true;
}

static bool all_closed(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->hosts.n; i++)
        if (lab->hosts[i].ward)
            return false;
    return true;
}

static void on_up(void *user, pid_t pid)
{
    struct lab_host *h = user;
    (void)pid;
    h->up = true;
    loop_stop(&h->lab->loop);
}

static void on_ward_ended(void *user, int status, const char *why)
{
    struct lab_host *h = user;
    struct lab *lab = h->lab;
    const char *remedy = connector_remedy(slice_of(why));
    h->ward = NULL;
    /* What was never up has undone what it had begun. */
    if (h->journalled && (h->closing ? status == 0 : !h->up)) {
        journal_end(lab->journal, h->id);
        undoer_ended(lab->undoer, h->id);
        h->journalled = false;
    }
    /* Whatever else was said of this run comes from that. */
    if (!h->closing || (WIFEXITED(status) && WEXITSTATUS(status) == CONNECT_LOST))
        lab->run->broken = slice_of(
            arena_printf(&lab->run->arena, "the host %.*s %s: %s%s%s", SLICE_ARG(h->plan->name),
                         h->up ? "is lost" : "cannot be reached",
                         *why ? why : "its connection has ended", *remedy ? "; " : "", remedy));
    h->up = false;
    loop_stop(&lab->loop);
}

static const struct voice_events ward_events = {on_up, NULL, on_ward_ended};

/* Known to whoever clears the host if we cannot. */
static int host_journal(struct lab_host *h, slice sweep, struct err *e)
{
    struct lab *lab = h->lab;
    struct buf undo = BUF_INIT(UNDO_TEXT_MAX), what = BUF_INIT(300);
    slice line = host_wrap(h, CONNECT_UNDO, sweep, SLICE(""), 0);
    h->id = lab->next_id++;
    buf_adds(&undo, "rm -rf ");
    buf_add_shell(&undo, lab->control);
    buf_addc(&undo, '\n');
    buf_add(&undo, line);
    buf_addf(&what, "runs on the host %.*s", SLICE_ARG(h->plan->name));
    int status =
        journal_begin(lab->journal, h->id, "host", buf_text(&what), buf_text(&undo), 0, e) ||
                undoer_begin(lab->undoer, h->id, buf_text(&undo), 0, e)
            ? -1
            : 0;
    h->journalled = status == 0;
    buf_deinit(&undo);
    buf_deinit(&what);
    return status;
}

static int host_open(struct lab_host *h, struct err *e)
{
    struct buf b = BUF_INIT(2000);
    connector_sweep(h->mark, h->dir, &b);
    slice sweep = buf_keep(&b, &h->lab->arena);
    if (host_journal(h, sweep, e))
        return -1;
    struct connect_call c = {.host = h->plan,
                             .kind = CONNECT_WARD,
                             .undo = sweep,
                             .mark = h->mark,
                             .lease_s = CONNECT_LEASE_S,
                             .control = h->lab->control,
                             .opens = true,
                             .program = program(h)};
    struct buf make = BUF_INIT(2000);
    buf_adds(&make, "mkdir -m 700 ");
    buf_add_shell(&make, h->dir);
    c.command = buf_keep(&make, &h->lab->arena);
    h->ward = host_voice(h, wrap(h, &c), -1, &ward_events, h);
    return 0;
}

int hosts_open(struct lab *lab, struct err *e)
{
    const struct plan *p = lab->plan;
    if (!any_used(lab))
        return 0;
    char *input = arena_printf(&lab->arena, "%.*s/input", SLICE_ARG(lab->control));
    if (!lab->control.n || mkfifo(input, 0600))
        return err_set(e, 0, 0, "there can be no directory for connections in /tmp: %s",
                       strerror(errno));
    for (uint32_t i = 0; i < p->hosts.n; i++)
        if (plan_is_far(p, (int32_t)i) && is_used(p, (int32_t)i) && host_open(&lab->hosts[i], e))
            return -1;
    bool up = lab_wait(lab, all_up, OPEN_WITHIN_NS);
    if (lab->run->broken.n || lab->signal)
        return -1;
    for (uint32_t i = 0; i < p->hosts.n && !up; i++)
        if (lab->hosts[i].ward && !lab->hosts[i].up)
            return err_set(e, 0, 0,
                           "the host %.*s does not answer within %d s: is it up, and does "
                           "its login shell run commands?",
                           SLICE_ARG(lab->hosts[i].plan->name), (int)(OPEN_WITHIN_NS / SECONDS(1)));
    return up ? 0 : -1;
}

int hosts_close(struct lab *lab, struct err *e)
{
    const struct plan *p = lab->plan;
    int status = 0;
    if (!lab->hosts || !lab->control.n)
        return 0;
    for (uint32_t i = 0; i < p->hosts.n; i++) {
        struct lab_host *h = &lab->hosts[i];
        h->closing = true;
        if (h->ward)
            voice_end(h->ward);
    }
    (void)lab_outlast(lab, all_closed, CLOSE_WITHIN_NS);
    while (lab->errands)
        errand_free(lab->errands);
    for (uint32_t i = 0; i < p->hosts.n; i++) {
        struct lab_host *h = &lab->hosts[i];
        if (h->ward)
            voice_abandon(h->ward);
        h->ward = NULL;
        if (h->journalled && !lab->run->broken.n)
            status =
                err_set(e, 0, 0, "the host %.*s could not be cleared; outfox doctor tries again",
                        SLICE_ARG(h->plan->name));
    }
    (void)unlink(arena_printf(&lab->arena, "%.*s/input", SLICE_ARG(lab->control)));
    (void)rmdir(arena_printf(&lab->arena, "%.*s", SLICE_ARG(lab->control)));
    return status;
}
