/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of an exploration:
 *
 *   reference --> sights --> candidate --> run --> all holds --> new sights, pairs --> candidate ...
 *                                          `--> not so --> again --> a finding, as a file
 *
 * 1. What a run shows is only built on where all that is expected held in it.
 * 2. A finding is on the disk before the next candidate is run. */
#include "lab/explore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/json.h"
#include "io/sys.h"
#include "live/command.h"

enum { SEEN_MAX = 5000 };

/* The signal that wants us to stop, where it comes between two runs. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    interrupted = number;
}

/* A run has its own handlers, and takes them away. */
static void watch_signals(void)
{
    struct sigaction a = {.sa_handler = on_interrupt};
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
}

struct explorer {
    const struct plan *plan;
    const struct lab_options *options;
    struct plan_explored *out;
    const char *path;
    int64_t begun_ns;
    struct arena scratch; /* of a run */
    VEC(struct sight) seen;
    uint32_t findings;
};

static void say(const struct explorer *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct explorer *x, const char *format, ...)
{
    struct buf text = BUF_INIT(2000);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    if (x->options->say)
        x->options->say(x->options->user, buf_text(&text));
    buf_deinit(&text);
}

static void on_saw(void *user, const struct sight *s)
{
    struct explorer *x = user;
    if (x->seen.n == SEEN_MAX || (s->kind == SIGHT_CALL && s->nth > x->plan->explore.door_calls))
        return;
    struct sight kept = *s;
    kept.text = slice_copy(&x->scratch, s->text);
    kept.value = slice_copy(&x->scratch, s->value);
    vec_push(&x->seen, kept);
}

static void forget(struct explorer *x)
{
    x->seen.n = 0;
    arena_reset(&x->scratch);
}

static void learn(struct explorer *x, const struct candidate *during)
{
    for (uint32_t i = 0; i < x->seen.n; i++)
        (void)derive_see(x->out->derive, during, &x->seen.at[i]);
    forget(x);
}

/* ---- files ---- */

static bool write_all(const char *path, slice text)
{
    int fd = file_make_directories(path)
                 ? -1
                 : file_open_private(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool written = f && fwrite(text.p, 1, text.n, f) == text.n;
    return f && fclose(f) == 0 && written;
}

static const char *path_of(struct explorer *x, const char *name)
{
    return arena_printf(&x->out->arena, "%s/%.*s/%s", x->options->dir, SLICE_ARG(x->plan->name),
                        name);
}

/* ---- one candidate ---- */

static slice names_of(struct explorer *x, const struct plan *p)
{
    struct buf text = BUF_INIT(4000);
    for (uint32_t i = 0; i < p->events.n; i++)
        buf_addf(&text, "%s%.*s", i ? " and " : "", SLICE_ARG(p->events.at[i].name));
    return buf_keep(&text, &x->out->arena);
}

/* What did not hold, and what was seen of the first of it. */
static void read_answers(struct explorer *x, const struct plan *p, const struct plan_run *r,
                         struct plan_trial *t)
{
    struct buf names = BUF_INIT(2000);
    for (uint32_t i = 0; i < r->answers.n; i++) {
        const struct plan_answer *a = &r->answers.at[i];
        slice name = plan_expect_called(&p->expects.at[a->expect]);
        if (a->holds)
            continue;
        if (!names.n)
            t->seen = slice_of(
                arena_printf(&x->out->arena, "%.*s: %.*s", SLICE_ARG(name), SLICE_ARG(a->seen)));
        buf_addf(&names, "%s%u %.*s", names.n ? ", " : "", a->expect, SLICE_ARG(name));
    }
    t->expects = buf_keep(&names, &x->out->arena);
}

static slice why_unsure(const struct plan_result *r)
{
    for (uint32_t i = 0; i < r->runs.n; i++) {
        if (r->runs.at[i]->broken.n)
            return r->runs.at[i]->broken;
        for (uint32_t k = 0; k < r->runs.at[i]->spells.n; k++)
            if (r->runs.at[i]->spells.at[k].failed.n)
                return r->runs.at[i]->spells.at[k].failed;
    }
    return SLICE("it was not carried out");
}

/* Runs the plan of a candidate once. False: nothing could be started, or somebody wants to stop. */
static bool run_once(struct explorer *x, const struct plan *p, struct plan_trial *t, struct err *e)
{
    struct plan_result r;
    struct lab_options o = {
        .dir = arena_printf(&x->out->arena, "%s/%.*s/explore", x->options->dir, SLICE_ARG(p->name)),
        .references = x->out->reference.runs.at,
        .n_references = x->out->reference.runs.n,
        .saw = on_saw,
        .user = x};
    int status = lab_run(p, &o, &r, e);
    enum plan_verdict verdict = status ? PLAN_UNSURE : plan_verdict(&r);
    watch_signals();
    x->out->signal = status ? 0 : r.signal ? r.signal : (int)interrupted;
    if (!status && !r.signal) {
        t->runs++;
        x->out->runs++;
        if (verdict == PLAN_VIOLATED && !t->violated++)
            read_answers(x, p, vec_last(&r.runs), t);
        if (verdict == PLAN_UNSURE && t->runs == 1)
            t->seen = slice_copy(&x->out->arena, why_unsure(&r));
        t->verdict = t->violated ? PLAN_VIOLATED : verdict;
    }
    plan_result_deinit(&r);
    return !status && !x->out->signal;
}

/* The finding as a plan of its own: what this one says, with these events. */
static slice write_finding(struct explorer *x, const struct plan_trial *t)
{
    char base[PATH_MAX], name[40];
    struct buf text = BUF_INIT(1 << 20);
    struct json_out j = json_out(&text, JSON_PRETTY);
    (void)snprintf(name, sizeof name, "finding-%u.yaml", ++x->findings);
    const char *path = path_of(x, name);
    if (!realpath(x->path, base))
        return SLICE("");
    json_map(&j, NULL);
    json_str(&j, "plan",
             slice_of(arena_printf(&x->out->arena, "%.*s-finding-%u", SLICE_ARG(x->plan->name),
                                   x->findings)));
    json_text(&j, "extends", base);
    json_str(&j, "about", t->candidate->why);
    json_node(&j, "events", t->candidate->events);
    json_map_end(&j);
    buf_addc(&text, '\n');
    bool written = write_all(path, buf_slice(&text));
    buf_deinit(&text);
    return written ? slice_of(path) : SLICE("");
}

static int32_t alike(const struct plan_explored *out, const struct plan_trial *t)
{
    for (uint32_t i = 0; i < out->trials.n; i++) {
        const struct plan_trial *other = &out->trials.at[i];
        if (other->verdict == PLAN_VIOLATED && other->like == PLAN_NONE &&
            slice_eq(other->expects, t->expects) &&
            slice_eq(node_at(other->candidate->events, SLICE("0/fault/type"))->text,
                     node_at(t->candidate->events, SLICE("0/fault/type"))->text) &&
            other->candidate->faults == t->candidate->faults)
            return (int32_t)i;
    }
    return PLAN_NONE;
}

static void say_trial(const struct explorer *x, const struct plan_trial *t)
{
    static const char *const verdicts[] = {
        [PLAN_HOLDS] = "holds", [PLAN_VIOLATED] = "NOT AS EXPECTED", [PLAN_UNSURE] = "not sure"};
    struct derive_count n = derive_count(x->out->derive);
    say(x, "%u of %u: %.*s, %.*s: %s", x->out->trials.n + 1, n.candidates, SLICE_ARG(t->what),
        SLICE_ARG(t->candidate->why), verdicts[t->verdict]);
}

/* False: the exploration is over. */
static bool try_candidate(struct explorer *x, const struct candidate *c, struct err *e)
{
    struct plan p;
    struct plan_trial t = {.candidate = c, .like = PLAN_NONE};
    bool on = !plan_with_events(&p, x->plan, c->events, e);
    p.repeats = 1;
    if (!on) { /* such as a trigger after the end of the run */
        plan_free(&p);
        e->text[0] = 0;
        return true;
    }
    t.what = names_of(x, &p);
    on = run_once(x, &p, &t, e);
    if (on && t.verdict == PLAN_HOLDS) {
        learn(x, c);
        derive_held(x->out->derive, c);
    }
    for (uint32_t i = 0; on && t.violated && i < x->plan->explore.repeat; i++)
        on = run_once(x, &p, &t, e);
    forget(x);
    plan_free(&p);
    if (!t.runs)
        return false;
    if (t.violated) {
        t.like = alike(x->out, &t);
        t.file = write_finding(x, &t);
    }
    say_trial(x, &t);
    vec_push(&x->out->trials, t);
    return on;
}

/* ---- what others derive ---- */

#define DERIVE_WITHIN_NS SECONDS(60)

/* What a command of `explore` reads: the plan, and what was seen of it. */
static void write_reference(const struct explorer *x, struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    const struct plan *p = x->plan;
    json_map(&j, NULL);
    json_node(&j, "plan", p->root);
    json_str(&j, "dir", vec_last(&x->out->reference.runs)->dir);
    json_list(&j, "seen");
    for (uint32_t i = 0; i < x->seen.n; i++) {
        const struct sight *s = &x->seen.at[i];
        json_map(&j, NULL);
        static const char *const kinds[] = {[SIGHT_LINE] = "line",
                                            [SIGHT_EVENT] = "event",
                                            [SIGHT_SPAN] = "call",
                                            [SIGHT_CALL] = "call at a door"};
        bool call = s->kind == SIGHT_CALL;
        json_text(&j, "kind", kinds[s->kind]);
        json_str(&j, "of",
                 call                     ? s->value
                 : s->node != PLAN_NONE   ? p->nodes.at[s->node].name
                 : s->client != PLAN_NONE ? p->clients.at[s->client].name
                                          : SLICE(""));
        json_str(&j, "text", s->text);
        if (call)
            json_uint(&j, "nth", s->nth);
        else if (s->value.n)
            json_str(&j, "value", s->value);
        json_map_end(&j);
    }
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}

struct asked {
    struct loop *loop;
    bool over;
    slice wrong; /* empty: it ended with success */
    struct arena *arena;
};

static void on_derived(void *user, const struct command_result *r)
{
    struct asked *a = user;
    a->over = true;
    if (!r->started || r->exit_code)
        a->wrong = slice_of(arena_printf(
            a->arena, "%s%.*s", r->timed_out ? "it did not end within 60 s: " : "it failed: ",
            SLICE_ARG(r->error ? slice_of(r->error) : slice_last_line(r->output))));
    loop_stop(a->loop);
}

/* Runs it with a process keeper and a loop of its own: no run is under way. */
static int run_apart(struct explorer *x, slice text, const char *input, int out_fd, struct err *e)
{
    struct keeper *keeper = NULL;
    struct loop loop;
    struct asked asked = {.loop = &loop, .arena = &x->out->arena};
    struct command_request r = {
        .text = slice_of(arena_printf(&x->out->arena, "exec <%s\n%.*s", input, SLICE_ARG(text))),
        .dir = x->plan->dir,
        .env = x->plan->env.at,
        .n_env = x->plan->env.n,
        .timeout_ns = DERIVE_WITHIN_NS,
        .apart = true,
        .stdout_fd = out_fd};
    if (keeper_new(&keeper, e))
        return -1;
    int code = loop_init(&loop, NULL);
    if (code)
        return err_set(e, 0, 0, "there can be no event loop: %s", strerror(-code));
    int status = keeper_attach(keeper, &loop, e);
    if (!status) {
        (void)command_start(keeper, &r, on_derived, &asked);
        while (!asked.over)
            loop_run(&loop);
    }
    keeper_free(keeper);
    loop_deinit(&loop);
    return status          ? -1
           : asked.wrong.n ? err_set(e, 0, 0, "the command of \"explore\", %.*s: %.*s", SHORT(text),
                                     SLICE_ARG(asked.wrong))
                           : 0;
}

static int ask_one(struct explorer *x, slice text, const char *input, struct err *e)
{
    const char *path = path_of(x, "derived.json");
    struct buf said = BUF_INIT(JSON_BYTES_MAX);
    char who[200];
    int fd = file_open_private(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, 0, 0, "%s cannot be written: %s", path, strerror(errno));
    int status = run_apart(x, text, input, fd, e);
    sys_close(fd);
    (void)snprintf(who, sizeof who, "%.*s", SHORT(text));
    if (!status && file_read(path, &said))
        status = err_set(e, 0, 0, "%s cannot be read", path);
    if (!status)
        status = derive_take(x->out->derive, buf_slice(&said), who, e);
    buf_deinit(&said);
    return status;
}

static int ask_commands(struct explorer *x, struct err *e)
{
    const struct texts *commands = &x->plan->explore.commands;
    struct buf text = BUF_INIT(JSON_BYTES_MAX), word = BUF_INIT(2 * PATH_MAX);
    char full[PATH_MAX];
    const char *path = path_of(x, "reference.json");
    int status = 0;
    if (!commands->n)
        return 0;
    write_reference(x, &text);
    if (!write_all(path, buf_slice(&text)) || !realpath(path, full))
        status = err_set(e, 0, 0, "%s cannot be written: %s", path, strerror(errno));
    else
        buf_add_shell(&word, slice_of(full));
    for (uint32_t i = 0; i < commands->n && !status; i++)
        status = ask_one(x, commands->at[i], buf_text(&word), e);
    buf_deinit(&text);
    buf_deinit(&word);
    return status;
}

/* ---- the whole ---- */

static enum explore_end explore(struct explorer *x, struct err *e)
{
    const struct plan_explore *limits = &x->plan->explore;
    const struct candidate *c;
    while ((c = derive_next(x->out->derive))) {
        if (interrupted) {
            x->out->signal = (int)interrupted;
            return EXPLORE_SIGNAL;
        }
        if (x->out->runs >= limits->max_runs)
            return EXPLORE_RUNS;
        if (clock_ns() - x->begun_ns >= limits->max_time_ns)
            return EXPLORE_TIME;
        if (!try_candidate(x, c, e))
            return EXPLORE_SIGNAL;
    }
    return EXPLORE_ALL;
}

int lab_explore(const struct plan *p, const char *path, const struct lab_options *o,
                struct plan_explored *out, struct err *e)
{
    struct explorer x = {.plan = p, .options = o, .out = out, .path = path, .begun_ns = clock_ns()};
    struct lab_options reference = *o;
    interrupted = 0;
    watch_signals();
    *out = (struct plan_explored){.plan = p, .derive = derive_new(p)};
    reference.reference_only = true;
    reference.saw = on_saw;
    reference.user = &x;
    reference.say = NULL;
    say(&x, "reference, about %gs",
        (double)(p->warmup_ns + p->duration_ns + p->settle_ns) * p->references / 1e9);
    int status = lab_run(p, &reference, &out->reference, e);
    watch_signals();
    out->signal = status ? 0 : out->reference.signal;
    if (!status) {
        bool well = plan_verdict(&out->reference) == PLAN_HOLDS;
        status = well ? ask_commands(&x, e) : 0;
        learn(&x, NULL);
        out->end = out->signal ? EXPLORE_SIGNAL : !well ? EXPLORE_SICK : EXPLORE_ALL;
        if (well && !status)
            out->end = explore(&x, e);
        status = e->text[0] ? -1 : status;
    }
    arena_deinit(&x.scratch);
    vec_deinit(&x.seen);
    out->took_ns = clock_ns() - x.begun_ns;
    return status;
}
