/* SPDX-License-Identifier: Apache-2.0
 *
 * What nodes use: processor time, memory, threads and descriptors of a node's process and of all
 * below it, added up.
 *
 * 1. Looking costs at most a twentieth of our time: where it takes long, it is done less often.
 * 2. Of a process that has ended since the last look, what it used in between is lost. */
#include "io/procs.h"
#include "lab/collect_int.h"
#include "plan/series.h"

#define LOOK_NS MS(250)
enum { COST_PART = 20, PROCESSES_MOST = 500 /* of a node */ };

struct used {
    pid_t pid;
    uint64_t start;
    int64_t cpu_ns;
};

struct node_measure {
    VEC(struct used) used; /* at the last look */
    int64_t looked_ns;     /* 0: not yet, since it was started */
    pid_t guard;
};

struct measure {
    struct lab *lab;
    struct timer next;
    struct procs below;
    struct node_measure *nodes;
};

/* What a process has used since the last look. */
static int64_t used_since(const struct node_measure *m, pid_t pid, const struct proc_usage *now)
{
    for (uint32_t i = 0; i < m->used.n; i++)
        if (m->used.at[i].pid == pid && m->used.at[i].start == now->start)
            return now->cpu_ns - m->used.at[i].cpu_ns;
    return now->cpu_ns; /* it is new */
}

static void node_look(struct measure *all, uint32_t index)
{
    struct lab *lab = all->lab;
    struct node_measure *m = &all->nodes[index], next = {0};
    struct proc_usage sum = {0}, one;
    next.guard = lab->nodes[index].voice ? voice_guard(lab->nodes[index].voice) : 0;
    next.looked_ns = clock_ns();
    if (next.guard && !procs_read_below(&all->below, next.guard))
        procs_read_family(&all->below, next.guard);
    for (uint32_t i = 0; next.guard && i < all->below.all.n && next.used.n < PROCESSES_MOST; i++) {
        pid_t pid = all->below.all.at[i].pid;
        if (!all->below.all.at[i].marked || !proc_usage(pid, &one))
            continue;
        sum.cpu_ns += used_since(m, pid, &one);
        sum.memory += one.memory;
        sum.threads += one.threads;
        sum.descriptors += one.descriptors;
        vec_push(&next.used, (struct used){pid, one.start, one.cpu_ns});
    }
    bool again = m->looked_ns && m->guard == next.guard && next.looked_ns > m->looked_ns;
    const double values[] = {
        [PROCESS_CPU] = again ? (double)sum.cpu_ns / (double)(next.looked_ns - m->looked_ns) : 0,
        [PROCESS_MEMORY] = (double)sum.memory,
        [PROCESS_THREADS] = sum.threads,
        [PROCESS_DESCRIPTORS] = sum.descriptors};
    bool any = next.used.n > 0;
    vec_deinit(&m->used);
    *m = any ? next : (struct node_measure){0};
    for (int i = any ? 0 : PROCESS_DESCRIPTORS + 1; i <= PROCESS_DESCRIPTORS; i++)
        if (i != PROCESS_CPU || again)
            lab_sample(lab, slice_of(plan_process_metrics[i]), lab->plan->nodes.at[index].name,
                       (int32_t)index, values[i]);
}

static void on_next(struct timer *t)
{
    struct measure *m = OWNER(t, struct measure, next);
    int64_t begun = clock_ns();
    for (uint32_t i = 0; i < m->lab->plan->nodes.n; i++)
        if (!m->lab->nodes[i].seat.host)
            node_look(m, i);
    int64_t now = clock_ns(), rest = (now - begun) * COST_PART;
    timer_start(&m->lab->loop, &m->next, rest > LOOK_NS ? now + rest : begun + LOOK_NS);
}

struct measure *measure_start(struct lab *lab)
{
    struct measure *m = mem_zero(sizeof *m);
    m->lab = lab;
    m->nodes = mem_zero((lab->plan->nodes.n + 1) * sizeof *m->nodes);
    m->next.fire = on_next;
    timer_start(&lab->loop, &m->next, lab->loop.now_ns);
    return m;
}

void measure_stop(struct measure *m)
{
    if (!m)
        return;
    timer_stop(&m->lab->loop, &m->next);
    for (uint32_t i = 0; i < m->lab->plan->nodes.n; i++)
        vec_deinit(&m->nodes[i].used);
    mem_free(m->nodes);
    procs_deinit(&m->below);
    mem_free(m);
}
