/* SPDX-License-Identifier: Apache-2.0
 *
 * Which functions are tasks, and what belongs to each: of facts alone, over all units at once.
 *
 *   1. A function is a task when somebody registers it: a row of registrar.list, or of the user's. Who passes
 *      its own parameter on to a registrar is one too: `create_worker(f)` that calls pthread_create.
 *   2. From the tasks direct calls are followed, all at the same pace and so far as the options say, so that
 *      each function belongs to the nearest task. main comes last: what it shares with a callback is the
 *      callback's. What a C++ library puts between its caller and the function that is meant costs no step.
 *   3. Records are told apart by name; of static functions with one name by their lines, files, and order,
 *      which is that of the linker for records and facts alike. */
#include "native/native_int.h"

enum row { ROW_ARGUMENT, ROW_STORED, ROW_LOOP, ROW_WAITS };

static const struct {
    enum row row;
    const char *name;
    uint32_t argument;
    const char *kind;
} rows[] = {
#define REGISTRAR(function, argument, kind) {ROW_ARGUMENT, function, argument, kind},
#define STORED(place, kind)                 {ROW_STORED, place, NATIVE_STORED, kind},
#define LOOP(function)                      {ROW_LOOP, function, 0, "loop"},
#define WAITS(function)                     {ROW_WAITS, function, 0, "loop"},
#include "native/registrar.list"
#undef REGISTRAR
#undef STORED
#undef LOOP
#undef WAITS
};

enum { N_ROWS = sizeof rows / sizeof *rows };

struct finder {
    struct native *native;
    const struct native_options *options;
    struct facts facts;
    struct intern names;
    struct map wrappers;                  /* function and its parameter: index of `why` */
    VEC(slice) why;                       /* of wrappers: kind, then what they call */
    VEC(uint32_t) record_of, next_record; /* first record of a function; next one of the same */
    VEC(uint32_t) first_call, calls;      /* callees, by caller */
    VEC(uint32_t) task_of;                /* of functions */
    VEC(uint32_t) entries; /* of tasks: the function, NATIVE_NONE: only its record is known */
};

/* ---- records and facts ---- */

/* How well a record is that of a static function; 0: not at all. */
static uint32_t likeness(const struct finder *f, const struct native_function *r, uint32_t fact)
{
    const struct fact_function *is = &f->facts.functions.at[fact];
    if (!is->local)
        return 0;
    bool fresh = f->record_of.at[fact] == NATIVE_NONE;
    return 1 + 4 * fresh + 2 * (is->line == r->line) +
           slice_eq(f->facts.units.at[is->unit], r->file);
}

static uint32_t fact_of_record(const struct finder *f, const struct native_function *r,
                               uint32_t first, const uint32_t *next)
{
    uint32_t best = NATIVE_NONE, most = 0;
    for (uint32_t i = next ? first : NATIVE_NONE; i != NATIVE_NONE; i = next[i]) {
        if (!(r->flags & OUTFOX_FUNCTION_LOCAL)) {
            if (!f->facts.functions.at[i].local)
                return i;
            continue;
        }
        uint32_t score = likeness(f, r, i);
        if (score > most) {
            most = score;
            best = i;
        }
    }
    return best;
}

static void link_records(struct finder *f)
{
    VEC(uint32_t) next = {0};
    struct map first = {0};
    uint32_t n = f->facts.functions.n;
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&next, NATIVE_NONE);
        vec_push(&f->record_of, NATIVE_NONE);
    }
    for (uint32_t i = n; i-- > 0;) { /* so that lists are in the order of facts */
        uint32_t name = intern_put(&f->names, f->facts.functions.at[i].name);
        const uint32_t *later = map_get(&first, name);
        next.at[i] = later ? *later : NATIVE_NONE;
        map_set(&first, name, i);
    }
    for (uint32_t i = 0; i < f->native->functions.n; i++) {
        const struct native_function *r = &f->native->functions.at[i];
        const uint32_t *same = map_get(&first, intern_put(&f->names, r->name));
        uint32_t fact = same ? fact_of_record(f, r, *same, next.at) : NATIVE_NONE;
        vec_push(&f->next_record, NATIVE_NONE);
        if (fact != NATIVE_NONE) {
            f->next_record.at[i] = f->record_of.at[fact];
            f->record_of.at[fact] = i;
        }
    }
    vec_deinit(&next);
    map_deinit(&first);
}

/* ---- who registers ---- */

/* The kind of what is the argument of this function, or is kept in this place; p NULL: nothing of ours. */
static slice kind_of_name(const struct finder *f, enum row row, slice name, uint32_t argument)
{
    const struct native_options *o = f->options;
    for (uint32_t i = 0; i < o->n_registrars && row <= ROW_STORED; i++)
        if (o->registrars[i].argument == (row == ROW_STORED ? NATIVE_STORED : argument) &&
            slice_glob(o->registrars[i].function, name))
            return o->registrars[i].kind;
    for (uint32_t i = 0; i < N_ROWS; i++)
        if (rows[i].row == row && (row != ROW_ARGUMENT || rows[i].argument == argument) &&
            slice_glob(slice_of(rows[i].name), name))
            return slice_of(rows[i].kind);
    return (slice){NULL, 0};
}

static uint64_t parameter_key(uint32_t function, uint32_t argument)
{
    return (uint64_t)function << 32 | argument;
}

/* Why a function that is this argument is a task: "thread (pthread_create)"; p NULL: it is none. */
static slice why_argument(const struct finder *f, const struct fact *x)
{
    struct arena *a = &f->native->arena;
    slice kind = kind_of_name(f, ROW_ARGUMENT, x->to, x->argument);
    if (kind.p)
        return slice_of(arena_printf(a, "%.*s (%.*s)", SLICE_ARG(kind), SLICE_ARG(x->to)));
    const uint32_t *wrapper = x->callee == NATIVE_NONE
                                  ? NULL
                                  : map_get(&f->wrappers, parameter_key(x->callee, x->argument));
    return wrapper ? f->why.at[*wrapper] : kind;
}

/* Who passes a parameter on to a registrar, or to another of these, until no more are found. */
static void find_wrappers(struct finder *f)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < f->facts.facts.n; i++) {
            const struct fact *x = &f->facts.facts.at[i];
            uint64_t key = parameter_key(x->function, x->own);
            slice why = {NULL, 0};
            if (x->kind == FACT_FORWARDS && !map_get(&f->wrappers, key))
                why = why_argument(f, x);
            if (!why.p)
                continue;
            map_set(&f->wrappers, key, f->why.n);
            vec_push(&f->why, why);
            more = true;
        }
    }
}

/* ---- tasks ---- */

static void add_task(struct finder *f, uint32_t function, uint32_t record, slice why)
{
    struct native *n = f->native;
    struct native_task t = {.function = record, .why = why};
    if (function != NATIVE_NONE) {
        const struct fact_function *is = &f->facts.functions.at[function];
        if (f->task_of.at[function] != NATIVE_NONE)
            return;
        f->task_of.at[function] = n->tasks.n;
        t.name = slice_copy(&n->arena, is->name);
        t.file = slice_copy(&n->arena, f->facts.units.at[is->unit]);
        t.line = is->line;
    }
    if (record != NATIVE_NONE) {
        const struct native_function *r = &n->functions.at[record];
        t.name = r->name;
        t.file = r->file;
        t.line = r->line ? r->line : t.line;
    }
    vec_push(&f->entries, function);
    vec_push(&n->tasks, t);
}

static void add_function(struct finder *f, uint32_t function, slice why)
{
    add_task(f, function, f->record_of.at[function], why);
}

/* Facts know main by its name; without them its record says so. */
static void add_main(struct finder *f)
{
    for (uint32_t i = 0; i < f->facts.functions.n; i++)
        if (!f->facts.functions.at[i].local && slice_is(f->facts.functions.at[i].name, "main"))
            add_function(f, i, SLICE("main"));
    for (uint32_t i = 0; i < f->native->functions.n && f->native->tasks.n == 0; i++)
        if (f->native->functions.at[i].flags & OUTFOX_FUNCTION_MAIN)
            add_task(f, NATIVE_NONE, i, SLICE("main"));
}

static void add_registered(struct finder *f)
{
    for (uint32_t i = 0; i < f->facts.facts.n; i++) {
        const struct fact *x = &f->facts.facts.at[i];
        slice why = {NULL, 0}, kind = {NULL, 0};
        if (x->kind == FACT_PASSED)
            why = why_argument(f, x);
        else if (x->kind == FACT_STORED)
            kind = kind_of_name(f, ROW_STORED, x->to, 0);
        else if (x->kind == FACT_LOOP)
            kind = kind_of_name(f, ROW_LOOP, x->to, 0);
        else if (x->kind == FACT_CALL && x->callee == NATIVE_NONE)
            kind = kind_of_name(f, ROW_WAITS, x->to, 0);
        if (kind.p)
            why = slice_of(
                arena_printf(&f->native->arena, "%.*s (%.*s)", SLICE_ARG(kind), SLICE_ARG(x->to)));
        if (why.p)
            add_function(f, x->function, why);
    }
}

/* ---- what belongs to them ---- */

static void collect_calls(struct finder *f)
{
    uint32_t n = f->facts.functions.n, all = 0;
    for (uint32_t i = 0; i < n + 2; i++)
        vec_push(&f->first_call, 0);
    for (uint32_t i = 0; i < f->facts.facts.n; i++) {
        const struct fact *x = &f->facts.facts.at[i];
        if (x->kind != FACT_CALL || x->callee == NATIVE_NONE)
            continue;
        f->first_call.at[x->function + 2]++;
        vec_push(&f->calls, 0);
        all++;
    }
    for (uint32_t i = 2; i < n + 2; i++)
        f->first_call.at[i] += f->first_call.at[i - 1];
    for (uint32_t i = 0; i < f->facts.facts.n && all; i++) {
        const struct fact *x = &f->facts.facts.at[i];
        if (x->kind == FACT_CALL && x->callee != NATIVE_NONE)
            f->calls.at[f->first_call.at[x->function + 1]++] = x->callee;
    }
}

/* Is it of the C++ library? Its templates stand between std::thread and what the thread runs. */
static bool is_glue(slice name)
{
    static const char *const begins[] = {"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (slice_starts(name, slice_of(begins[i])))
            return true;
    return false;
}

static void take(struct finder *f, uint32_t function, uint32_t from, uint32_t task, uint32_t depth)
{
    uint32_t caller = from == NATIVE_NONE ? NATIVE_NONE : f->record_of.at[from];
    f->task_of.at[function] = task;
    for (uint32_t r = f->record_of.at[function]; r != NATIVE_NONE; r = f->next_record.at[r]) {
        f->native->functions.at[r].task = task;
        f->native->functions.at[r].depth = depth;
        f->native->functions.at[r].caller = caller;
    }
}

typedef VEC(uint32_t) functions;

/* Goes on from functions that are `depth` calls away; those one call further go to *next. Glue is in
 * this very round, behind the others. */
static void follow(struct finder *f, functions *now, functions *next, uint32_t depth)
{
    for (uint32_t i = 0; i < now->n; i++) {
        uint32_t from = now->at[i];
        for (uint32_t k = f->first_call.at[from]; k < f->first_call.at[from + 1]; k++) {
            uint32_t to = f->calls.at[k];
            bool free = is_glue(f->facts.functions.at[to].name) ||
                        is_glue(f->facts.functions.at[from].name);
            if (f->task_of.at[to] != NATIVE_NONE || (!free && depth == f->options->depth))
                continue;
            take(f, to, from, f->task_of.at[from], free ? depth : depth + 1);
            if (free)
                vec_push(now, to);
            else
                vec_push(next, to);
        }
    }
}

static void spread(struct finder *f)
{
    functions now = {0}, next = {0};
    for (uint32_t i = 0; i < f->entries.n; i++) { /* main is the first task, and the last to take */
        uint32_t task = (i + 1) % f->entries.n, entry = f->entries.at[task];
        if (entry == NATIVE_NONE) {
            f->native->functions.at[f->native->tasks.at[task].function].task = task;
            f->native->functions.at[f->native->tasks.at[task].function].depth = 0;
            continue;
        }
        take(f, entry, NATIVE_NONE, task, 0);
        vec_push(&now, entry);
    }
    for (uint32_t depth = 0; now.n; depth++) {
        follow(f, &now, &next, depth);
        functions done = now;
        now = next;
        next = done;
        next.n = 0;
    }
    vec_deinit(&now);
    vec_deinit(&next);
}

void tasks_find(struct native *n, slice facts, const struct native_options *o)
{
    struct finder f = {.native = n, .options = o};
    facts_read(&f.facts, facts);
    link_records(&f);
    for (uint32_t i = 0; i < f.facts.functions.n; i++)
        vec_push(&f.task_of, NATIVE_NONE);
    find_wrappers(&f);
    add_main(&f);
    add_registered(&f);
    collect_calls(&f);
    spread(&f);
    facts_deinit(&f.facts);
    intern_deinit(&f.names);
    map_deinit(&f.wrappers);
    vec_deinit(&f.why);
    vec_deinit(&f.record_of);
    vec_deinit(&f.next_record);
    vec_deinit(&f.first_call);
    vec_deinit(&f.calls);
    vec_deinit(&f.task_of);
    vec_deinit(&f.entries);
}

int native_registrar_parse(slice text, struct native_registrar *out, struct err *e)
{
    slice argument = {0}, more;
    uint64_t number = 0;
    *out = (struct native_registrar){.argument = NATIVE_STORED};
    if (!slice_word(&text, &out->function) || !slice_word(&text, &argument) ||
        !slice_word(&text, &out->kind) || slice_word(&text, &more) ||
        (!slice_is(argument, "stored") && !slice_to_u64(argument, 64, &number)))
        return err_set(
            e, 0, 0,
            "a registrar is a function, the argument (from 0) that is registered there, and a word for "
            "what is: \"event_new 3 callback\"; or a place, the word stored, and such a word");
    if (!slice_is(argument, "stored"))
        out->argument = (uint32_t)number;
    return 0;
}
