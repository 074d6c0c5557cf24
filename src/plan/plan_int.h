/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this room share. */
#ifndef OUTFOX_PLAN_PLAN_INT_H
#define OUTFOX_PLAN_PLAN_INT_H

#include "plan/plan.h"

extern const struct keys plan_keys, plan_fault_keys, plan_event_keys, plan_expect_keys,
    plan_explore_keys;
key_read plan_read_event, plan_read_expect, plan_read_collect;
extern const struct keys plan_host_keys, plan_collect_keys;
key_pair plan_read_host;

extern const struct keys plan_door_keys;
key_pair plan_read_door;

/* What must hold of doors, and of the fault and the trigger of an event at one: also fills in which
 * door that is. */
int plan_check_doors(struct plan *p, struct err *e) MUST_USE;
int plan_check_at_door(struct plan *p, struct plan_event *ev, struct err *e) MUST_USE;

/* May it fire on a node? Its door is known. */
bool plan_trigger_has_node(const struct plan *p, const struct plan_trigger *t);

/* What must hold of hosts, and of who is on them: also fills in which host that is. */
int plan_check_hosts(struct plan *p, struct err *e) MUST_USE;

/* The same of collectors, and of who is named as the one whose samples are meant. */
int plan_check_collects(struct plan *p, struct err *e) MUST_USE;
int plan_check_metric(struct plan *p, slice metric, slice of, struct plan_place at,
                      struct err *e) MUST_USE;
int plan_check_spans(const struct plan *p, struct plan_place at, struct err *e) MUST_USE;

/* Faults of disks (injector_disk.c): what must hold of one, and its commands. */
int inject_disk_check(const struct plan *p, const struct plan_event *ev, struct err *e) MUST_USE;
struct inject_order;
void order_disk(const struct plan_event *ev, int64_t pid, struct inject_order *out);
extern const char *const plan_operations[]; /* all, read, write ... */

#define FAIL(e, at, ...) err_set(e, (at).line, (at).col, __VA_ARGS__)

/* The end of a message about a name that nothing has. */
#define HINT(list, wanted, out)                                                                    \
    do {                                                                                           \
        const char *names_[PLAN_EVENTS_MAX] = {0};                                                 \
        uint32_t n_ = 0;                                                                           \
        for (uint32_t i_ = 0; i_ < (list).n && n_ < PLAN_EVENTS_MAX; i_++)                         \
            names_[n_++] = arena_copy(&p->arena, (list).at[i_].name.p, (list).at[i_].name.n);      \
        *(out) = err_hint(wanted, names_, n_);                                                     \
    } while (0)

/* Fills in what `explore` does not say; 0, or -1 with *e. */
int plan_explore_defaults(struct plan *p, struct err *e) MUST_USE;

#define AS_NUMBER "\"type\": \"number\""
#define AS_TEXT   "\"type\": \"string\""

/* The file `file` with what the plan that it extends has (extend.c). */
const struct node *plan_extend(struct arena *a, const struct node *base, const struct node *file);

/* ---- values that keys of several maps have (plan_values.c) ---- */

struct plan_place plan_place_of(const struct node *n);

/* A size such as 64K; K is 1024. */
bool plan_bytes_of(slice text, uint64_t *out) MUST_USE;
int plan_read_bytes(struct keys_reader *r, const struct key *key, const struct node *value,
                    uint64_t *out) MUST_USE;

/* One name, or a list of them. */
int plan_read_names(struct keys_reader *r, const struct key *key, struct texts *names,
                    const struct node *value) MUST_USE;

/* A number, or a size such as 64M. */
int plan_read_value(struct keys_reader *r, const char *key, const struct node *value,
                    double *out) MUST_USE;
#define AS_VALUE "\"type\": [\"string\", \"number\"]"

/* For rows: a double from 0 to 1; a size, as it is written; a size, as a number. */
key_read plan_read_chance, plan_read_size, plan_read_rate;

/* For rows of faults of system calls (plan_call_keys.c); the call comes before error and short. */
key_read plan_read_call, plan_read_error, plan_read_short, plan_read_descriptor,
    plan_read_millionths;
/* Calls as people write them, as those of calls are named; a mode. */
key_read plan_read_calls, plan_read_mode;

/* "10%"; how wrong a clock is, "-30s" or "+2h"; how fast it is, 1.5 or "500ppm". */
key_read plan_read_percent, plan_read_offset, plan_read_drift;

/* Signals, by their names; the first is what kill sends where none is named. */
struct plan_signal {
    const char *name;
    int number;
};
enum { PLAN_SIGNALS = 15, PLAN_SIGNAL_KILL = 0, PLAN_SIGNAL_TERM };
extern const struct plan_signal plan_signals[PLAN_SIGNALS];

int plan_pair_name(struct keys_reader *r, const struct key *key, const struct node_pair *pair,
                   const char *what) MUST_USE;
key_pair plan_check_env;

#endif
