/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of injectors, and their commands. Commands are for any POSIX shell with coreutils, so
 * that they work wherever the target is. */
#include "plan/injector.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/hash.h"
#include "plan/plan_int.h"
#include "plan/wrap.h"

enum { SCRIPT_BYTES_MAX = 60000 };

static void order_kill(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)pid;
    out->signal = plan_signals[e->signal].number;
}

static void order_terminate(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)e, (void)pid;
    out->signal = SIGTERM;
}

/* The signal for the node's group, then for all below it: a child may have a session of its own, as
 * those of PostgreSQL do. Parents come first, so that none is born meanwhile. */
#define EACH_BELOW(signal)                                                                         \
    "each() { for c in $(cat /proc/$1/task/*/children 2>/dev/null); do kill -s " signal            \
    " $c 2>/dev/null; each $c; done; }\n"

static void order_freeze(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    (void)e;
    buf_addf(&out->start,
             EACH_BELOW("STOP") "kill -s STOP -- -%" PRId64 " || exit\neach %" PRId64 "\n:", pid,
             pid);
    buf_addf(&out->undo,
             EACH_BELOW("CONT") "kill -s CONT -- -%" PRId64 " 2>/dev/null\neach %" PRId64 "\n:",
             pid, pid);
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

/* The node's own disk; or, with a path, a file that takes the room: all there is, or `size` of it. The
 * root file system is filled only where a size is given: a machine without any room does not only
 * test the system. Nobody counts there what meets it: it is taken for met. */
static void order_disk_full(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    if (!e->path.n) {
        order_disk(e, pid, out);
        return;
    }
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
    buf_adds(&out->undo, "/.outfox-full\necho struck 1");
}

/* The node is watched since its start (plan/wrap.h); here it is told what to do with which calls. Where
 * the program is gone, an empty file means that nothing is on. */
static void order_syscall(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    struct syscall_rule rule = e->calls;
    struct buf text = BUF_INIT(SCRIPT_BYTES_MAX);
    (void)pid;
    rule.latency_ns = e->link.latency_ns;
    rule.path = e->path;
    rule.seed = hash_mix(out->seed, hash_slice(out->node));
    syscall_rule_print(&rule, &text);
    buf_adds(&out->start, "f=");
    wrap_state(out->node, &out->start);
    buf_adds(&out->start, "\nexec \"$OUTFOX_BIN\" harm syscalls-arm \"$f\" ");
    buf_add_shell(&out->start, e->name);
    buf_addc(&out->start, ' ');
    buf_add_shell(&out->start, buf_slice(&text));
    buf_adds(&out->undo, "f=");
    wrap_state(out->node, &out->undo);
    buf_adds(&out->undo, "\n[ -e \"$f\" ] || exit 0\n"
                         "command -v \"$OUTFOX_BIN\" >/dev/null 2>&1 || { : >\"$f\"; exit; }\n"
                         "exec \"$OUTFOX_BIN\" harm syscalls-disarm \"$f\" ");
    buf_add_shell(&out->undo, e->name);
    out->start.full = out->start.full || text.full;
    buf_deinit(&text);
}

/* To the node's own process: what is below it hears of it from that. */
static void order_signal(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    buf_addf(&out->start, "kill -s %s %" PRId64, plan_signals[e->signal].name, pid);
}

/* ---- what no shell can (harm/harm.h) ---- */

#define HARM "\"$OUTFOX_BIN\" harm "

static void order_exit(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    buf_addf(&out->start, HARM "exit %" PRId64 " %u", pid, e->code);
}

static void order_clock(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    buf_addf(&out->start, HARM "clock on %" PRId64 " %" PRId64 " %" PRId64, pid, e->clock.offset_ns,
             e->clock.drift_ppb);
    buf_addf(&out->undo, HARM "clock off %" PRId64, pid);
}

static void order_descriptors(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    buf_addf(&out->start, HARM "descriptors on %" PRId64 " %u", pid, e->more);
    buf_addf(&out->undo, HARM "descriptors off %" PRId64, pid);
}

static void order_limit(const struct plan_event *e, int64_t pid, struct inject_order *out)
{
    const struct {
        const char *key;
        uint64_t number;
    } rows[] = {
        {"cpu", e->limit.cpu}, {"memory", e->limit.memory}, {"processes", e->limit.processes}};
    buf_addf(&out->start, HARM "limit on %" PRId64, pid);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number)
            buf_addf(&out->start, " %s=%" PRIu64, rows[i].key, rows[i].number);
    buf_addf(&out->undo, HARM "limit off %" PRId64, pid);
}

#define NO_PACKET     "no packet went that way while it was on"
#define NO_DISK       "nothing was done to the disk that it could touch while it was on"
#define AT_DOOR       "whoever uses the door"
#define NO_CONNECTION "nothing that it could meet happened at the door while it was on"

/* clang-format off */
const struct injector injectors[] = {
    {"kill", INJECT_PROCESS, "target", "signal", false, "kills", "", NULL,
     "ends the node by SIGKILL, or by signal; starts it again when the fault ends", NULL, order_kill},
    {"terminate", INJECT_PROCESS, "target", "", false, "terminates", "", NULL,
     "asks the node to end by SIGTERM; starts it again when the fault ends", NULL, order_terminate},
    {"restart", INJECT_PROCESS, "target", "", true, "restarts", "", NULL,
     "ends the node by SIGKILL and starts it again at once", NULL, order_kill},
    {"exit", INJECT_PROCESS, "target", "code", false, "ends", "", NULL,
     "the node's process ends with the exit code; it is started again when the fault ends", NULL, order_exit},
    {"signal", INJECT_SCRIPT, "target signal", "", true, "signals", "kill", NULL,
     "sends the node's process a signal that it is to survive, such as HUP", NULL, order_signal},
    {"freeze", INJECT_SCRIPT, "target", "", false, "freezes", "kill cat", NULL,
     "stops the node by SIGSTOP: its connections stay open, and nothing answers", NULL, order_freeze},
    {"clock", INJECT_SCRIPT, "target", "(offset drift)", false, "changes the clock of", "", NULL,
     "the node's time of day jumps by offset, and goes faster or slower by drift", NULL, order_clock},
    {"descriptors", INJECT_SCRIPT, "target", "more", false, "takes descriptors from", "", NULL,
     "each process of the node can open more files and connections than it has, and no others; default 0", NULL,
     order_descriptors},
    {"limit", INJECT_SCRIPT, "target", "(cpu memory processes)", false, "limits", "", NULL,
     "gives the node less processor time, memory or processes", NULL, order_limit},
    {"cpu", INJECT_HOLD, "", "count on", false, "keeps the CPU busy", "", "the whole machine",
     "keeps as many processes busy as count says; default 1", NULL, order_cpu},
    {"memory", INJECT_HOLD, "size", "on", false, "takes memory", "head tail sleep", "the whole machine",
     "takes size bytes of memory, such as 500M", NULL, order_memory},
    {"disk-full", INJECT_DISK, "", "(target path) size on", false, "fills the disk", "",
     "with path, all that writes to that file system",
     "leaves no room, or size bytes, on the node's own disk; with path it takes all the room of that file system, or size bytes", NO_DISK, order_disk_full},
    {"disk-slow", INJECT_DISK, "target", "(latency bandwidth) jitter operation file", false, "slows the disk of", "", NULL,
     "lets operations on the node's own disk wait, or few bytes per second through", NO_DISK, order_disk},
    {"disk-error", INJECT_DISK, "target", "error operation file times", false, "breaks the disk of", "", NULL,
     "fails operations on the node's own disk", NO_DISK, order_disk},
    {"disk-read-only", INJECT_DISK, "target", "", false, "lets nothing be written to the disk of", "", NULL,
     "fails all that changes the node's own disk, with EROFS", NO_DISK, order_disk},
    {"disk-lost-sync", INJECT_DISK, "target", "", false, "loses syncs of the disk of", "", NULL,
     "says of every sync of the node's own disk that it was made; a node that ends meanwhile finds the disk as it was before", NO_DISK, order_disk},
    {"partition", INJECT_LINK, "target", "from direction", false, "cuts off", "", NULL,
     "drops all packets between the node and others: both ways, or one way only", NO_PACKET, NULL},
    {"reset", INJECT_LINK, "target", "from", false, "resets connections of", "", NULL,
     "resets TCP connections between the node and others at their next packet, and refuses new ones", NO_PACKET, NULL},
    {"link", INJECT_LINK, "target", "from direction (latency jitter loss bandwidth)", false,
     "makes the link bad of", "", NULL,
     "delays packets between the node and others, loses some, or lets few through", NO_PACKET, NULL},
    {"dns", INJECT_NAMES, "", "target from lookup (answer latency)", false, "spoils lookups by", "", NULL,
     "answers lookups of names wrongly, late or not at all: those of the target, or of the members that from names",
     "no name was looked up while it was on", NULL},
    {"syscall", INJECT_SCRIPT, "target call", "path descriptor nth times chance (error latency short)", false,
     "harms system calls of", "", NULL,
     "lets system calls of the node fail, come late, or move a part of their bytes", "no such call was made while it was on", order_syscall},
    {"tcp", INJECT_DOOR, "door", "direction pause nth every (latency jitter bandwidth slice slow-close)",
     false, "makes connections worse at", "", AT_DOOR,
     "delays bytes of connections at a door, lets few of them through, or cuts them into slices", NO_CONNECTION, NULL},
    {"tcp-hold", INJECT_DOOR, "door", "direction nth every", false, "holds what is said at", "", AT_DOOR,
     "keeps all that is said on connections at a door until it is over, as a partition does", NO_CONNECTION, NULL},
    {"tcp-reset", INJECT_DOOR, "door", "nth every", false, "resets connections at", "", AT_DOOR,
     "resets the open connections at a door, and new ones as they come", NO_CONNECTION, NULL},
    {"tcp-limit", INJECT_DOOR, "door bytes", "direction nth every", false, "closes connections at", "", AT_DOOR,
     "closes connections at a door after so many bytes", NO_CONNECTION, NULL},
    {"tcp-down", INJECT_DOOR, "door", "", false, "refuses connections at", "", AT_DOOR,
     "resets the open connections at a door, and refuses new ones", NULL, NULL},
    {"http", INJECT_DOOR, "door mode", "calls nth every chance", false, "fails calls at", "", AT_DOOR,
     "fails calls at a door of http as mode says", "no such call came while it was on", NULL},
    {"exec", INJECT_SCRIPT, "start undo", "target on", false, "runs a command", "",
     "whatever its command touches", "runs your own command, and another one that undoes it", NULL, order_exec},
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

/* ---- which keys a fault has ---- */

/* The next word, without brackets; empty: there is none. */
static slice next_word(const char **at, bool *bracket)
{
    const char *p = *at;
    while (*p == ' ' || *p == '(' || *p == ')') {
        *bracket = *p == '(' || (*bracket && *p != ')');
        p++;
    }
    size_t n = strcspn(p, " ()");
    *at = p + n;
    return (slice){p, n};
}

static bool has_word(const char *words, slice word)
{
    bool bracket = false;
    for (slice w; (w = next_word(&words, &bracket)).n;)
        if (slice_eq(w, word))
            return true;
    return false;
}

bool injector_aims(const struct injector *in)
{
    return has_word(in->needs, SLICE("target")) || has_word(in->may, SLICE("target"));
}

bool injector_at_door(const struct injector *in)
{
    return in->kind == INJECT_DOOR;
}

/* What the key is about: its row's sentence, behind "of such faults: ". */
static const char *about(slice key)
{
    const char *doc = keys_find(&plan_fault_keys, key)->doc, *colon = strstr(doc, ": ");
    return colon ? colon + 2 : doc;
}

static int check_given(const struct plan_event *ev, struct err *e)
{
    const struct injector *in = ev->injector;
    for (uint32_t i = 0; i < ev->fault->n; i++) {
        const struct node_pair *pair = &ev->fault->map[i];
        bool target = slice_is(pair->key, "target");
        if (slice_is(pair->key, "type") || has_word(in->needs, pair->key) ||
            has_word(in->may, pair->key))
            continue;
        if (target)
            return err_set(e, pair->line, pair->col, "\"%s\" has no target: it harms %s", in->name,
                           in->blast);
        return err_set(e, pair->line, pair->col, "\"%s\" does not take \"%.*s\"", in->name,
                       SHORT(pair->key));
    }
    return 0;
}

int injector_check(const struct plan_event *ev, struct err *e)
{
    const struct injector *in = ev->injector;
    const char *needs = in->needs, *may = in->may;
    bool bracket = false, wanted = false, found = false;
    if (check_given(ev, e))
        return -1;
    for (slice w; (w = next_word(&needs, &bracket)).n;)
        if (!node_get(ev->fault, w))
            return err_set(e, ev->at.line, ev->at.col, "\"%s\" needs \"%.*s\": %s", in->name,
                           SLICE_ARG(w), about(w));
    for (slice w; (w = next_word(&may, &bracket)).n;) {
        wanted = wanted || bracket;
        found = found || (bracket && node_get(ev->fault, w));
    }
    if (!wanted || found)
        return 0;
    const char *one = strchr(in->may, '(') + 1;
    return err_set(e, ev->at.line, ev->at.col, "\"%s\" needs one of %.*s", in->name,
                   (int)strcspn(one, ")"), one);
}

void injector_order(const struct plan_event *e, int64_t pid, slice node, uint64_t seed,
                    struct inject_order *out)
{
    *out = (struct inject_order){.start = BUF_INIT(SCRIPT_BYTES_MAX),
                                 .undo = BUF_INIT(SCRIPT_BYTES_MAX),
                                 .node = node,
                                 .seed = seed};
    if (e->injector->order)
        e->injector->order(e, pid, out);
}

void inject_order_settle(struct inject_order *o, slice dir, const struct text_pair *env,
                         uint32_t n_env)
{
    struct buf all = BUF_INIT(SCRIPT_BYTES_MAX);
    buf_adds(&all, "cd ");
    buf_add_shell(&all, dir);
    buf_adds(&all, " || exit 1\n");
    for (uint32_t i = 0; i < n_env; i++) {
        buf_addf(&all, "export %.*s=", SLICE_ARG(env[i].name));
        buf_add_shell(&all, env[i].value);
        buf_addc(&all, '\n');
    }
    buf_add(&all, buf_slice(&o->undo));
    buf_deinit(&o->undo);
    o->undo = all;
}

void inject_order_deinit(struct inject_order *o)
{
    buf_deinit(&o->start);
    buf_deinit(&o->undo);
}

/* ---- the event in words ---- */

static void add_value(struct buf *out, const struct node *value)
{
    if (value->type != NODE_LIST)
        buf_add(out, value->text);
    for (uint32_t i = 0; value->type == NODE_LIST && i < value->n; i++)
        buf_addf(out, "%s%.*s", i ? ", " : "", SLICE_ARG(value->list[i]->text));
}

void injector_describe(const struct plan_event *e, struct buf *out)
{
    static const char *const apart[] = {"type", "target", "door", "start", "undo"};
    const char *before = " (";
    const struct node *target =
        node_get(e->fault, injector_at_door(e->injector) ? SLICE("door") : SLICE("target"));
    buf_adds(out, e->injector->verb);
    if (target) {
        buf_addc(out, ' ');
        add_value(out, target);
    }
    for (uint32_t i = 0; i < e->fault->n; i++) {
        const struct node_pair *pair = &e->fault->map[i];
        bool said = false;
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            said = said || slice_is(pair->key, apart[k]);
        if (said)
            continue;
        buf_addf(out, "%s%.*s ", before, SLICE_ARG(pair->key));
        add_value(out, pair->value);
        before = ", ";
    }
    if (before[0] == ',')
        buf_addc(out, ')');
}
