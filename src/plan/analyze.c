/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges a run: what each expectation of the plan says of what clients and nodes did. One function
 * per kind of expectation; it says whether it holds and writes what was seen, in words.
 *
 * What is compared with reference runs must not fail by chance. So a slowdown counts only where the
 * whole 95 % interval of the factor is above the limit (compare.h).
 *
 * 1. Equal runs, references and seeds give equal answers, to the byte.
 * 2. Only operations that ended within what was measured count: from from_ns to before to_ns.
 * 3. Where there is nothing to judge by, an expectation does not hold. Silence is no success.
 * 4. A reference run that is broken is compared with nothing. */
#include "plan/result.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/index.h"
#include "plan/analyze_int.h"

enum {
    LINE_BYTES_MAX = 80, /* of a line that is quoted */
    ID_DIGITS = 8,       /* hex digits in a row that no word has */
    GROUP_DIGITS = 4,    /* and in the later parts of a UUID */
};

/* To be used as a VEC. */
struct times {
    int64_t *at;
    uint32_t n, cap;
};

static judge judge_availability, judge_lost, judge_gap, judge_recovery, judge_latency,
    judge_slowdown, judge_new_lines, judge_alive, judge_command;

static const struct {
    judge *judge;
    bool counts; /* operations or lines, of which only the first ones are kept */
} judges[] = {
    [EXPECT_AVAILABILITY] = {judge_availability, true},
    [EXPECT_LOST] = {judge_lost, true},
    [EXPECT_GAP] = {judge_gap, true},
    [EXPECT_RECOVERY] = {judge_recovery, true},
    [EXPECT_LATENCY] = {judge_latency, true},
    [EXPECT_SLOWDOWN] = {judge_slowdown, true},
    [EXPECT_NEW_LINES] = {judge_new_lines, true},
    [EXPECT_ALIVE] = {judge_alive, false},
    [EXPECT_COMMAND] = {judge_command, false},
    [EXPECT_METRIC] = {analyze_metric, false},
};

/* ---- words ---- */

void analyze_add_time(struct buf *out, int64_t ns)
{
    if (ns < 0) {
        buf_addc(out, '-');
        ns = -ns;
    }
    int64_t step = ns >= SECONDS(1) ? MS(1) : ns >= MS(1) ? 1000 : 1;
    ns = (ns + step / 2) / step * step;
    if (ns == 0)
        buf_adds(out, "0s");
    else
        buf_add_ns(out, ns);
}

/* The text, or its first bytes, with no character cut in two. */
static void add_short(struct buf *out, slice text)
{
    size_t n = text.n;
    if (n > LINE_BYTES_MAX) {
        n = LINE_BYTES_MAX;
        while (n > 0 && ((uint8_t)text.p[n] & 0xc0) == 0x80)
            n--;
    }
    buf_add(out, (slice){text.p, n});
    if (n < text.n)
        buf_adds(out, "...");
}

/* ---- operations ---- */

static bool is_counted(const struct plan_run *r, const struct plan_op *op, int32_t client)
{
    return op->at_ns >= r->from_ns && op->at_ns < r->to_ns &&
           (client == PLAN_NONE || op->client == (uint32_t)client);
}

static uint32_t count_ops(const struct scene *s, uint32_t *failed)
{
    uint32_t n = 0;
    *failed = 0;
    for (uint32_t i = 0; i < s->run->ops.n; i++) {
        const struct plan_op *op = &s->run->ops.at[i];
        if (!is_counted(s->run, op, s->expect->client))
            continue;
        n++;
        *failed += !op->ok;
    }
    return n;
}

/* The first success from operation *i on, which *i then is; NULL: there is none. */
static const struct plan_op *next_success(const struct scene *s, uint32_t *i)
{
    for (; *i < s->run->ops.n; ++*i) {
        const struct plan_op *op = &s->run->ops.at[*i];
        if (op->ok && is_counted(s->run, op, s->expect->client))
            return op;
    }
    return NULL;
}

static void add_times(struct times *out, const struct plan_run *r, int32_t client)
{
    for (uint32_t i = 0; i < r->ops.n; i++)
        if (r->ops.at[i].ok && is_counted(r, &r->ops.at[i], client))
            vec_push(out, r->ops.at[i].took_ns);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_times(struct times *t)
{
    if (t->n)
        qsort(t->at, t->n, sizeof *t->at, compare_times);
}

/* ---- expectations of operations ---- */

static bool judge_availability(const struct scene *s, struct buf *seen)
{
    uint32_t failed, n = count_ops(s, &failed), ok = n - failed;
    if (n == 0) {
        buf_adds(seen, "no operation ended");
        return false;
    }
    /* Rounded down: 100 % is said only where nothing failed. */
    uint32_t hundredths = (uint32_t)((uint64_t)ok * 10000 / n);
    buf_addf(seen, "%u", hundredths / 100);
    if (hundredths % 100)
        buf_addf(seen, ".%02u", hundredths % 100);
    buf_addf(seen, " %% of %u %s", n, plural(n, "operation", "operations"));
    if (failed)
        buf_addf(seen, ", %u failed", failed);
    return 100.0 * ok / n >= s->expect->number;
}

static bool judge_lost(const struct scene *s, struct buf *seen)
{
    uint32_t failed, n = count_ops(s, &failed);
    if (n == 0) {
        buf_adds(seen, "no operation ended");
        return false;
    }
    buf_addf(seen, "%u of %u %s failed", failed, n, plural(n, "operation", "operations"));
    return failed <= s->expect->number;
}

static bool judge_gap(const struct scene *s, struct buf *seen)
{
    int64_t since = s->run->from_ns, from = since, to = since;
    const struct plan_op *op;
    uint32_t i = 0;
    do {
        op = next_success(s, &i);
        int64_t end = op ? op->at_ns : s->run->to_ns;
        if (end - since > to - from) {
            from = since;
            to = end;
        }
        since = end;
        i++;
    } while (op);
    buf_adds(seen, "longest time without a success: ");
    analyze_add_time(seen, to - from);
    buf_adds(seen, ", from ");
    analyze_add_time(seen, from);
    buf_adds(seen, " to ");
    analyze_add_time(seen, to);
    return to - from <= s->expect->most_ns;
}

static bool judge_recovery(const struct scene *s, struct buf *seen)
{
    int64_t end = INT64_MIN;
    for (uint32_t i = 0; i < s->run->spells.n; i++) {
        const struct plan_spell *spell = &s->run->spells.at[i];
        if (!spell->failed.n && spell->end_ns > end)
            end = spell->end_ns;
    }
    if (end == INT64_MIN) {
        buf_adds(seen, "no fault");
        return true;
    }
    if (end >= s->run->to_ns) {
        buf_adds(seen, "the last fault lasted until the end of the run");
        return false;
    }
    /* One that was under way when the fault ended may owe its success to what was before. */
    const struct plan_op *op;
    for (uint32_t i = 0; (op = next_success(s, &i)) && op->at_ns - op->took_ns < end; i++)
        ;
    if (!op) {
        buf_adds(seen, "no success after the last fault, which ended at ");
        analyze_add_time(seen, end);
        return false;
    }
    buf_adds(seen, "first success ");
    analyze_add_time(seen, op->at_ns - end);
    buf_adds(seen, " after the last fault, which ended at ");
    analyze_add_time(seen, end);
    return op->at_ns - end <= s->expect->most_ns;
}

static bool judge_latency(const struct scene *s, struct buf *seen)
{
    struct times times = {0};
    int64_t took = INT64_MAX;
    add_times(&times, s->run, s->expect->client);
    sort_times(&times);
    if (times.n) {
        took = plan_percentile(times.at, times.n, s->expect->percentile);
        buf_addf(seen, "p%g of %u %s is ", s->expect->percentile, times.n,
                 plural(times.n, "operation", "operations"));
        analyze_add_time(seen, took);
    } else {
        buf_adds(seen, "no operation succeeded");
    }
    bool holds = times.n && took <= s->expect->most_ns;
    vec_deinit(&times);
    return holds;
}

/* ---- comparison with the references ---- */

bool analyze_compare(const struct scene *s, struct plan_values *a, struct plan_values *b,
                     double least, struct buf *seen)
{
    struct plan_comparison c;
    double percentile = s->expect->percentile;
    plan_compare(a, b, percentile, least, hash_mix(s->plan->seed, s->run->number), &c);
    buf_addf(seen, "p%g is %.2f times the reference (95 %%: %.2f to %.2f), effect size %.2f (%s)",
             percentile, c.factor, c.low, c.high, c.delta, c.effect);
    return c.low <= s->expect->number;
}

static void add_took(struct plan_values *out, const struct plan_run *r, int32_t client)
{
    for (uint32_t i = 0; i < r->ops.n; i++)
        if (r->ops.at[i].ok && is_counted(r, &r->ops.at[i], client))
            vec_push(out, (double)r->ops.at[i].took_ns);
}

static bool judge_slowdown(const struct scene *s, struct buf *seen)
{
    struct plan_values run = {0}, reference = {0};
    bool holds = false;
    if (s->run->reference) {
        buf_adds(seen, "is a reference");
        return true;
    }
    add_took(&run, s->run, s->expect->client);
    for (uint32_t i = 0; i < s->n_references; i++)
        if (!s->references[i]->broken.n)
            add_took(&reference, s->references[i], s->expect->client);
    uint32_t fewer = run.n < reference.n ? run.n : reference.n;
    if (fewer < PLAN_COMPARE_LEAST)
        buf_addf(seen, "too few operations to compare (%u%s; at least %d)", fewer,
                 run.n <= reference.n ? "" : " in the references", PLAN_COMPARE_LEAST);
    else
        holds = analyze_compare(s, &run, &reference, 1, seen);
    vec_deinit(&run);
    vec_deinit(&reference);
    return holds;
}

/* ---- lines ---- */

static size_t hex_digits(slice text)
{
    size_t n = 0;
    while (n < text.n && hex_digit(text.p[n]) >= 0)
        n++;
    return n;
}

/* How much of the beginning of a text is a number or an id; 0: nothing. */
static size_t variable_bytes(slice text)
{
    size_t n = hex_digits(text);
    if (n < ID_DIGITS) {
        for (n = 0; n < text.n && is_digit(text.p[n]); n++)
            ;
        return n;
    }
    while (n < text.n && text.p[n] == '-') {
        size_t more = hex_digits(slice_from(text, n + 1));
        if (more < GROUP_DIGITS)
            break;
        n += 1 + more;
    }
    return n;
}

/* Keeps the shape of a line; true: it is a new one. */
static bool put_shape(struct intern *shapes, struct arena *scratch, slice text)
{
    uint32_t known = shapes->text.n;
    arena_reset(scratch);
    return intern_put_in(shapes, &shapes->arena, plan_line_shape(scratch, text)) == known;
}

static void add_printer(const struct plan *p, const struct plan_line *line, struct buf *out)
{
    if (line->node >= 0 && (uint32_t)line->node < p->nodes.n)
        buf_add(out, p->nodes.at[line->node].name);
    else if (line->client >= 0 && (uint32_t)line->client < p->clients.n)
        buf_add(out, p->clients.at[line->client].name);
    else
        return;
    buf_adds(out, ": ");
}

static bool judge_new_lines(const struct scene *s, struct buf *seen)
{
    struct intern shapes = {0};
    struct arena scratch = {0};
    const struct plan_line *first = NULL;
    uint32_t n = 0;
    if (s->run->reference) {
        buf_adds(seen, "is a reference");
        return true;
    }
    for (uint32_t i = 0; i < s->n_references; i++)
        for (uint32_t k = 0; !s->references[i]->broken.n && k < s->references[i]->lines.n; k++)
            (void)put_shape(&shapes, &scratch, s->references[i]->lines.at[k].text);
    for (uint32_t i = 0; i < s->run->lines.n; i++) {
        const struct plan_line *line = &s->run->lines.at[i];
        if (!regex_found(s->expect->regex, line->text) || !put_shape(&shapes, &scratch, line->text))
            continue;
        first = n++ ? first : line;
    }
    if (first) {
        buf_addf(seen, "%u %s: ", n, plural(n, "new line", "new lines, the first"));
        add_printer(s->plan, first, seen);
        add_short(seen, first->text);
    } else {
        buf_adds(seen, "no new line");
    }
    arena_deinit(&scratch);
    intern_deinit(&shapes);
    return n <= s->expect->number;
}

/* ---- nodes and commands ---- */

static bool judge_alive(const struct scene *s, struct buf *seen)
{
    if (s->run->deaths.n == 0) {
        buf_adds(seen, "no node ended");
        return true;
    }
    const struct plan_death *death = &s->run->deaths.at[0];
    if (death->node < s->plan->nodes.n)
        buf_add(seen, s->plan->nodes.at[death->node].name);
    if (WIFSIGNALED(death->status))
        buf_addf(seen, " was killed by signal %d at ", WTERMSIG(death->status));
    else
        buf_addf(seen, " ended with exit code %d at ", WEXITSTATUS(death->status));
    analyze_add_time(seen, death->at_ns);
    if (s->run->deaths.n > 1)
        buf_addf(seen, ", and %u more", s->run->deaths.n - 1);
    return false;
}

static bool judge_command(const struct scene *s, struct buf *seen)
{
    for (uint32_t i = 0; i < s->run->checks.n; i++) {
        const struct plan_check *check = &s->run->checks.at[i];
        if (check->expect != s->index)
            continue;
        if (check->said.n)
            buf_add(seen, check->said);
        else
            buf_adds(seen, check->holds ? "succeeded" : "failed");
        return check->holds;
    }
    buf_adds(seen, "was not run");
    return false;
}

/* ---- public ---- */

void plan_run_free(struct plan_run *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->spells.n; i++)
        vec_deinit(&r->spells.at[i].nodes);
    vec_deinit(&r->ops);
    vec_deinit(&r->spells);
    vec_deinit(&r->deaths);
    vec_deinit(&r->lines);
    vec_deinit(&r->answers);
    vec_deinit(&r->checks);
    vec_deinit(&r->tails);
    vec_deinit(&r->sources);
    plan_measures_deinit(&r->measures);
    arena_deinit(&r->arena);
    mem_free(r);
}

void plan_result_deinit(struct plan_result *r)
{
    for (uint32_t i = 0; i < r->runs.n; i++)
        plan_run_free(r->runs.at[i]);
    vec_deinit(&r->runs);
}

void plan_analyze(const struct plan *p, struct plan_run *r, struct plan_run *const *references,
                  uint32_t n)
{
    r->answers.n = 0;
    for (uint32_t i = 0; i < p->expects.n; i++) {
        const struct scene s = {p, &p->expects.at[i], i, r, references, n};
        struct buf seen = BUF_INIT(SEEN_BYTES_MAX);
        bool holds = judges[s.expect->kind].judge(&s, &seen);
        if (r->truncated && judges[s.expect->kind].counts)
            buf_adds(&seen, " (of what was kept; there was more)");
        vec_push(&r->answers, (struct plan_answer){i, holds, buf_keep(&seen, &r->arena)});
    }
}

bool plan_run_holds(const struct plan_run *r)
{
    bool holds = r->broken.n == 0;
    for (uint32_t i = 0; i < r->answers.n; i++)
        holds = holds && r->answers.at[i].holds;
    for (uint32_t i = 0; i < r->spells.n; i++)
        holds = holds && r->spells.at[i].failed.n == 0;
    return holds;
}

slice plan_line_shape(struct arena *a, slice text)
{
    char *shape = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        size_t skip = variable_bytes(slice_from(text, i));
        shape[n++] = skip ? '#' : text.p[i];
        i += skip ? skip : 1;
    }
    shape[n] = 0;
    return (slice){shape, n};
}
