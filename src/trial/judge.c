/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of judging a trial, the checkers of nodes, and the table of rulings. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "trial/judge_int.h"

/* ---- rulings: what a symptom means ---- */

static bool always(const struct scene *s, const struct facts *f)
{
    (void)s, (void)f;
    return true;
}

static bool gave_up(const struct scene *s, const struct facts *f)
{
    (void)s;
    return f->code_is_clean && !f->silent;
}

/* The node with the fault has ended, and who asks is refused. */
static bool missing(const struct scene *s, const struct facts *f)
{
    return s->harmed != TRIALS_NONE && s->gone >> s->harmed & 1 && !f->stuck;
}

static bool few(const struct scene *s, const struct facts *f)
{
    (void)s;
    return f->most <= FEW && !f->stuck;
}

static int64_t delay_of(const struct scene *s)
{
    return s->r->order.act == OUTFOX_DELAY ? s->r->order.delay_ns : 0;
}

static bool waited(const struct scene *s, const struct facts *f)
{
    return delay_of(s) && !f->partial;
}

/* What does not need the delayed call goes on, what fails waits for it without need. */
static bool held_up(const struct scene *s, const struct facts *f)
{
    return delay_of(s) && f->partial;
}

static bool short_time(const struct scene *s, const struct facts *f)
{
    return !delay_of(s) && f->lasted_ns <= s->t->checkers.slow_ns;
}

static const struct ruling {
    enum symptom_kind kind;
    bool (*holds)(const struct scene *s, const struct facts *f);
    bool suspicious;
    const char *when, *why;
} rulings[] = {
    {SYMPTOM_CRASH, always, true, "always", "no fault may end a program by a signal"},
    {SYMPTOM_INVARIANT, always, true, "always", "invariants hold whatever happens"},
    {SYMPTOM_NOT_BACK, always, true, "always", "what it left behind keeps the node from starting"},
    {SYMPTOM_EXIT_OTHER, always, true, "always", "a fault in one node ends another one"},
    {SYMPTOM_LASTS, missing, false, "the node with the fault has ended, nobody hangs",
     "a node is missing, and who asks is told so"},
    {SYMPTOM_LASTS, always, true, "else", "a single fault has an effect without an end"},
    {SYMPTOM_OTHERS_FAIL, missing, false, "the node with the fault has ended, nobody hangs",
     "a node is missing, and who asks is told so"},
    {SYMPTOM_OTHERS_FAIL, few, false, "at most 2 operations of a client, nobody hangs",
     "the operations under way were refused, the next ones succeeded"},
    {SYMPTOM_OTHERS_FAIL, always, true, "else",
     "the node with the fault serves its clients, and others suffer"},
    {SYMPTOM_ALIVE_FAILS, missing, false, "the node with the fault has ended, nobody hangs",
     "a node is missing, and who asks is told so"},
    {SYMPTOM_ALIVE_FAILS, always, true, "else",
     "who watches the node sees nothing, and its clients are not served"},
    {SYMPTOM_SUBSET, missing, false, "the node with the fault has ended, nobody hangs",
     "its clients have lost their node"},
    {SYMPTOM_SUBSET, few, false, "at most 2 operations of a client, nobody hangs",
     "clients gave up when their operation was refused"},
    {SYMPTOM_SUBSET, always, true, "else", "part of the service is broken, and part works"},
    {SYMPTOM_NOBODY, missing, false, "the node with the fault has ended, nobody hangs",
     "a node is missing, and who asks is told so"},
    {SYMPTOM_NOBODY, few, false, "at most 2 operations of a client, nobody hangs",
     "clients gave up when their operation was refused"},
    {SYMPTOM_NOBODY, always, true, "else", "a single fault ends the service for everybody"},
    {SYMPTOM_EXIT, gave_up, false,
     "an exit code that is clean, after a new warning or error in its log",
     "it gave up cleanly: it says why, and can be started again"},
    {SYMPTOM_EXIT, always, true, "else",
     "it ended without saying why, or not with a clean exit code"},
    {SYMPTOM_HUNG, always, true, "always", "something in it waits for what never comes"},
    {SYMPTOM_THREADS, always, true, "always", "threads are left over"},
    {SYMPTOM_DESCRIPTORS, always, true, "always", "descriptors are left over"},
    {SYMPTOM_FAILURES, missing, false, "the node with the fault has ended, nobody hangs",
     "a node is missing, and who asks is told so"},
    {SYMPTOM_FAILURES, held_up, true,
     "the fault is a delay, and other operations of the node succeeded meanwhile",
     "one part of the node holds up another that still works"},
    {SYMPTOM_FAILURES, few, false, "at most 2 operations of a client",
     "the operations under way were refused, the next ones succeeded"},
    {SYMPTOM_FAILURES, waited, false, "the fault is a delay, and nothing succeeded meanwhile",
     "the node waited as long as the delay lasted"},
    {SYMPTOM_FAILURES, short_time, false,
     "the fault is no delay, and the last failure comes within `slow` of it",
     "it recovered at once"},
    {SYMPTOM_FAILURES, always, true, "else", "a single fault makes an outage, or one of a part"},
    {SYMPTOM_SLOW, always, false, "always", "it is slow and not wrong"},
    {SYMPTOM_LOG, always, false, "always", "a node that was harmed should say so"},
};

bool trial_ruling(uint32_t row, struct ruling_row *out)
{
    if (row >= sizeof rulings / sizeof *rulings)
        return false;
    const struct ruling *r = &rulings[row];
    *out = (struct ruling_row){r->kind, r->suspicious, r->when, r->why};
    return true;
}

void scene_add(struct scene *s, struct trial_symptom symptom, const struct facts *facts)
{
    const struct ruling *r = rulings;
    while (r->kind != symptom.kind || !r->holds(s, facts))
        r++;
    symptom.suspicious = r->suspicious;
    symptom.why = r->why;
    vec_push(&s->r->symptoms, symptom);
}

void scene_names(const struct scene *s, uint64_t nodes, struct buf *out)
{
    const char *comma = "";
    for (uint32_t i = 0; i < s->t->nodes.n; i++) {
        if (!(nodes >> i & 1))
            continue;
        buf_addf(out, "%s%.*s", comma, SLICE_ARG(scene_node(s, i)));
        comma = ", ";
    }
}

/* ---- log ---- */

/* The first new warning or error of each node, and how many more. */
static void judge_log(struct scene *s)
{
    for (uint32_t i = 0; i < s->r->nodes.n; i++) {
        const struct trial_node *n = &s->r->nodes.at[i];
        uint32_t found = 0;
        slice first = {0};
        for (uint32_t k = 0; k < n->lines.n; k++) {
            slice line = n->lines.at[k].text;
            if (!usual_counts(s->t, line) || map_get(&s->u->lines, usual_shape(line)))
                continue;
            first = found++ ? first : line;
        }
        if (!found)
            continue;
        s->logged |= UINT64_C(1) << i;
        const struct facts none = {0};
        scene_add(s,
                  (struct trial_symptom){
                      .kind = SYMPTOM_LOG,
                      .nodes = 1u << i,
                      .phase = TRIALS_NONE,
                      .shape = usual_shape(first),
                      .text = slice_of(arena_printf(
                          &s->r->arena, found > 1 ? "%.*s: %.*s (and %u more)" : "%.*s: %.*s",
                          SLICE_ARG(scene_node(s, i)), SHORT(first), found - 1))},
                  &none);
    }
}

/* ---- crash ---- */

static bool is_clean(const struct scene *s, int code)
{
    const struct texts *codes = &s->t->checkers.clean;
    uint64_t one;
    for (uint32_t i = 0; i < codes->n; i++)
        if (slice_to_u64(codes->at[i], 255, &one) && (int)one == code)
            return true;
    return !codes->n && code <= 125;
}

static void add_end(struct scene *s, uint32_t node, enum symptom_kind kind, slice text,
                    const struct facts *f)
{
    scene_add(s,
              (struct trial_symptom){.kind = kind,
                                     .nodes = 1u << node,
                                     .phase = TRIALS_NONE,
                                     .shape = (uint64_t)s->r->nodes.at[node].status,
                                     .text = text},
              f);
}

/* 128 + n is how /bin/sh tells of a child that signal n has ended. */
static int signal_of(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status);
    int code = WEXITSTATUS(status);
    return code > 128 && code < 128 + 65 ? code - 128 : 0;
}

static void judge_end(struct scene *s, uint32_t node)
{
    const struct trial_node *n = &s->r->nodes.at[node];
    slice name = scene_node(s, node);
    int number = signal_of(n->status), code = WEXITSTATUS(n->status);
    struct facts f = {.code_is_clean = is_clean(s, code),
                      .silent = s->t->checkers.log && !(s->logged >> node & 1)};
    struct buf text = BUF_INIT(500);
    if (number)
        buf_addf(&text, "%.*s was ended by SIG%s", SLICE_ARG(name),
                 sigabbrev_np(number) ? sigabbrev_np(number) : "?");
    else
        buf_addf(&text, "%.*s ended with exit code %d%s", SLICE_ARG(name), code,
                 f.silent ? ", and had logged nothing new" : "");
    add_end(s, node,
            number                       ? SYMPTOM_CRASH
            : (int32_t)node == s->harmed ? SYMPTOM_EXIT
                                         : SYMPTOM_EXIT_OTHER,
            buf_keep(&text, &s->r->arena), &f);
    if (n->back == BACK_NOT)
        add_end(s, node, SYMPTOM_NOT_BACK,
                slice_of(arena_printf(&s->r->arena, "%.*s does not become ready again",
                                      SLICE_ARG(name))),
                &f);
}

static void judge_ends(struct scene *s)
{
    const struct facts none = {0};
    for (uint32_t i = 0; i < s->r->nodes.n; i++) {
        const struct trial_node *n = &s->r->nodes.at[i];
        if (n->ended)
            judge_end(s, i);
        if (n->hung && !s->u->nodes.at[i].hung)
            add_end(s, i, SYMPTOM_HUNG,
                    slice_of(arena_printf(&s->r->arena, "%.*s had to be killed at the end",
                                          SLICE_ARG(scene_node(s, i)))),
                    &none);
    }
}

/* ---- resources, invariants ---- */

static void judge_growth(struct scene *s, uint32_t node, enum symptom_kind kind, uint32_t usual,
                         uint32_t spare, uint32_t seen)
{
    const struct facts none = {0};
    if (!usual || seen <= usual + spare)
        return;
    scene_add(s,
              (struct trial_symptom){
                  .kind = kind,
                  .nodes = 1u << node,
                  .phase = TRIALS_NONE,
                  .text = slice_of(arena_printf(
                      &s->r->arena, "%.*s has %u %s at the end, at most %u without faults",
                      SLICE_ARG(scene_node(s, node)), seen,
                      kind == SYMPTOM_THREADS ? "threads" : "descriptors", usual))},
              &none);
}

static void judge_resources(struct scene *s)
{
    for (uint32_t i = 0; i < s->r->nodes.n; i++) {
        const struct trial_node *n = &s->r->nodes.at[i];
        const struct usual_node *u = &s->u->nodes.at[i];
        if (n->ended)
            continue;
        judge_growth(s, i, SYMPTOM_THREADS, u->threads, s->t->checkers.threads, n->threads);
        judge_growth(s, i, SYMPTOM_DESCRIPTORS, u->descriptors, s->t->checkers.descriptors,
                     n->descriptors);
    }
}

static void judge_invariants(struct scene *s)
{
    const struct facts none = {0};
    for (uint32_t i = 0; i < s->r->invariants.n; i++) {
        const struct trial_invariant *v = &s->r->invariants.at[i];
        slice name = s->t->checkers.invariants.at[i].name;
        if (!v->asked || v->holds)
            continue;
        scene_add(
            s,
            (struct trial_symptom){.kind = SYMPTOM_INVARIANT,
                                   .phase = TRIALS_NONE,
                                   .shape = hash_slice(name),
                                   .text = slice_of(arena_printf(&s->r->arena, "%.*s: %.*s",
                                                                 SHORT(name), QUOTED(v->said)))},
            &none);
    }
}

/* ---- the verdict ---- */

/* The heaviest first, suspicious ones before all others; the order of finding among equals. */
static bool heavier(const struct trial_symptom *a, const struct trial_symptom *b)
{
    return a->suspicious != b->suspicious ? a->suspicious : a->kind < b->kind;
}

static void sort_symptoms(struct trial_result *r)
{
    for (uint32_t i = 1; i < r->symptoms.n; i++) {
        struct trial_symptom x = r->symptoms.at[i];
        uint32_t k = i;
        for (; k && heavier(&x, &r->symptoms.at[k - 1]); k--)
            r->symptoms.at[k] = r->symptoms.at[k - 1];
        r->symptoms.at[k] = x;
    }
}

static void conclude(struct trial_result *r)
{
    bool quiet = r->order.rule == OUTFOX_RULE_NONE && r->order.purpose != TRIAL_EXPLORE;
    const struct trial_symptom *first = r->symptoms.n ? &r->symptoms.at[0] : NULL;
    if (first && first->suspicious && (quiet || r->injection.done)) {
        r->verdict = VERDICT_SUSPICIOUS;
        r->reason = slice_of(first->why);
    } else if (first && first->suspicious) {
        r->verdict = VERDICT_NOT_SURE;
        r->reason = SLICE("something is wrong, and no fault was made");
    } else if (!quiet && !r->injection.done) {
        r->verdict = VERDICT_NOT_INJECTED;
        r->reason = SLICE("the request that was meant did not come");
    } else if (first && first->kind != SYMPTOM_LOG) {
        r->verdict = VERDICT_EXPECTED;
        r->reason = slice_of(first->why);
    } else {
        r->verdict = VERDICT_TOLERATED;
        r->reason = first ? SLICE("only logs show it") : SLICE("nothing shows it");
    }
}

void trial_judge(const struct trials *t, const struct usual *u, struct trial_result *r)
{
    struct scene s = {.t = t, .u = u, .r = r, .harmed = TRIALS_NONE};
    r->symptoms.n = 0;
    if (r->broken.n) {
        r->verdict = VERDICT_NOT_SURE;
        r->reason = r->broken;
        return;
    }
    if (r->injection.done && r->injection.raw.point.node < r->nodes.n)
        s.harmed = r->injection.raw.point.node;
    for (uint32_t i = 0; i < r->nodes.n; i++)
        s.gone |= r->nodes.at[i].ended ? 1u << i : 0;
    if (t->checkers.log)
        judge_log(&s);
    if (t->checkers.crash)
        judge_ends(&s);
    if (t->checkers.resources)
        judge_resources(&s);
    judge_invariants(&s);
    if (t->checkers.client)
        judge_clients(&s);
    sort_symptoms(r);
    conclude(r);
}
