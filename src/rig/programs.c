/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs are found by what the file names, by what its nodes start (the first word that is a
 * program), and by the trials themselves, in which each says where it lies. */
#include "rig/programs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { INLINED_MOST = 8 }; /* functions at one address */

struct program {
    struct native native;
    struct native_symbols *symbols; /* opened when they are needed first */
    uint8_t *enabled, *muted;
};

struct programs {
    const struct trials *trials;
    struct native_options options;
    VEC(struct native_registrar) registrars;
    VEC(struct program *) all;
};

struct programs *programs_new(const struct trials *t)
{
    struct programs *p = mem_zero(sizeof *p);
    p->trials = t;
    for (uint32_t i = 0; i < t->registrars.n; i++) {
        const struct trials_registrar *r = &t->registrars.at[i];
        vec_push(&p->registrars, (struct native_registrar){r->function, r->argument, r->kind});
    }
    p->options = (struct native_options){p->registrars.at, p->registrars.n, t->depth};
    return p;
}

static void program_free(struct program *one)
{
    native_free(&one->native);
    native_symbols_free(one->symbols);
    mem_free(one->enabled);
    mem_free(one->muted);
    mem_free(one);
}

void programs_free(struct programs *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->all.n; i++)
        program_free(p->all.at[i]);
    vec_deinit(&p->all);
    vec_deinit(&p->registrars);
    mem_free(p);
}

uint32_t programs_n(const struct programs *p)
{
    return p->all.n;
}

const struct native *programs_at(const struct programs *p, uint32_t i)
{
    return &p->all.at[i]->native;
}

/* ---- reading them ---- */

static int32_t find(const struct programs *p, uint64_t id)
{
    for (uint32_t i = 0; i < p->all.n; i++)
        if (p->all.at[i]->native.id == id)
            return (int32_t)i;
    return -1;
}

/* States count in functions that belong to tasks; sites that the file leaves out are mute. */
static void decide(const struct programs *p, struct program *one)
{
    const struct native *n = &one->native;
    one->enabled = mem_zero(n->functions.n + 1);
    one->muted = mem_zero(n->sites.n + 1);
    for (uint32_t i = 0; i < n->functions.n; i++)
        one->enabled[i] = n->functions.at[i].task != NATIVE_NONE;
    for (uint32_t i = 0; i < n->sites.n; i++) {
        const struct native_site *s = &n->sites.at[i];
        one->muted[i] = !trials_site_wanted(p->trials, s->file, s->function, s->callee);
    }
}

static int read_one(struct programs *p, const char *path, struct err *e)
{
    struct program *one = mem_zero(sizeof *one);
    if (native_read(path, &p->options, &one->native, e)) {
        program_free(one);
        return -1;
    }
    if (find(p, one->native.id) >= 0) {
        program_free(one);
        return 0;
    }
    if (p->all.n == OUTFOX_MODULES) {
        program_free(one);
        return err_set(e, 0, 0, "there are more than %d instrumented programs and libraries",
                       OUTFOX_MODULES);
    }
    decide(p, one);
    vec_push(&p->all, one);
    return 0;
}

/* The program that a command starts, as far as can be told without a shell. */
static bool started_by(const struct trials *t, slice command, char path[PATH_MAX])
{
    slice word;
    while (slice_word(&command, &word)) {
        if (slice_is(word, "exec") || slice_is(word, "env") || slice_is(word, "nice") ||
            slice_find(word, '=') < word.n)
            continue;
        struct buf name = BUF_INIT(PATH_MAX);
        bool found = false;
        if (word.p[0] != '/')
            buf_addf(&name, "%.*s/", SLICE_ARG(t->dir));
        buf_add(&name, word);
        found = slice_find(word, '/') < word.n && access(buf_text(&name), X_OK) == 0 &&
                realpath(buf_text(&name), path);
        buf_deinit(&name);
        return found;
    }
    return false;
}

/* As functions of the system want it; empty: it is longer than paths can be. */
static void path_of(slice text, char path[PATH_MAX])
{
    path[0] = 0;
    if (text.n >= PATH_MAX)
        return;
    memcpy(path, text.p, text.n);
    path[text.n] = 0;
}

/* Is a pattern about any site at all? */
static bool pattern_used(const struct programs *p, const struct trials_pattern *pattern)
{
    struct buf name = BUF_INIT(4000);
    bool used = false;
    for (uint32_t i = 0; i < p->all.n && !used; i++) {
        const struct native *n = &p->all.at[i]->native;
        for (uint32_t k = 0; k < n->sites.n && !used; k++) {
            const struct native_site *s = &n->sites.at[k];
            buf_clear(&name);
            buf_addf(&name, "%.*s:%.*s:%.*s", SLICE_ARG(s->file), SLICE_ARG(s->function),
                     SLICE_ARG(s->callee));
            used = slice_glob(pattern->text, buf_slice(&name));
        }
    }
    buf_deinit(&name);
    return used;
}

static int check_patterns(const struct programs *p, const char *key,
                          const struct trials_pattern *patterns, uint32_t n, struct err *e)
{
    for (uint32_t i = 0; i < n; i++)
        if (!pattern_used(p, &patterns[i]))
            return err_set(e, 0, 0,
                           "%s: \"%.*s\" is no site of these programs; it is "
                           "FILE:FUNCTION:CALLEE as outfox sites prints them, with * for anything",
                           key, SLICE_ARG(patterns[i].text));
    return 0;
}

int programs_read(struct programs *p, struct err *e)
{
    const struct trials *t = p->trials;
    char path[PATH_MAX];
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct trials_node *n = &t->nodes.at[i];
        struct err ignored = {0};
        for (uint32_t k = 0; k < n->binary.n; k++) {
            struct buf name = BUF_INIT(PATH_MAX);
            if (n->binary.at[k].p[0] != '/')
                buf_addf(&name, "%.*s/", SLICE_ARG(t->dir));
            buf_add(&name, n->binary.at[k]);
            int status = read_one(p, buf_text(&name), e);
            buf_deinit(&name);
            if (status)
                return -1;
        }
        if (!n->binary.n && started_by(t, n->start, path) && read_one(p, path, &ignored))
            continue; /* a script, or a tool: what it runs is met in the first trial */
    }
    if (!p->all.n)
        return 0;
    return check_patterns(p, "only", t->only.at, t->only.n, e) ||
                   check_patterns(p, "except", t->except.at, t->except.n, e)
               ? -1
               : 0;
}

/* ---- to the shared file, and back ---- */

static uint8_t *seen_of(const struct native *n, uint32_t module, struct arena *a,
                        bool (*knows)(void *user, uint64_t state), void *user)
{
    uint8_t *seen = arena_zero(a, (size_t)n->states.n * OUTFOX_NODES + 1);
    for (uint32_t node = 0; node < OUTFOX_NODES; node++)
        for (uint32_t s = 0; s < n->states.n; s++)
            seen[(size_t)node * n->states.n + s] = knows(user, OUTFOX_STATE_KEY(node, module, s));
    return seen;
}

void programs_share(const struct programs *p, struct arena *a,
                    bool (*knows)(void *user, uint64_t state), void *user, struct share_spec *out)
{
    struct share_module *to = arena_zero(a, (p->all.n + 1) * sizeof *to);
    for (uint32_t i = 0; i < p->all.n; i++) {
        const struct program *one = p->all.at[i];
        const struct native *n = &one->native;
        to[i] = (struct share_module){.id = n->id,
                                      .path = n->path,
                                      .sites = n->sites.n,
                                      .states = n->states.n,
                                      .functions = n->functions.n,
                                      .enabled = one->enabled,
                                      .muted = one->muted};
        if (knows)
            to[i].seen = seen_of(n, i, a, knows, user);
    }
    out->modules = to;
    out->n_modules = p->all.n;
}

static void renumber(uint16_t *module, const uint16_t *number)
{
    if (*module != UINT16_MAX)
        *module = number[*module];
}

static void renumber_point(struct outfox_point *p, const uint16_t *number)
{
    renumber(&p->module, number);
    renumber(&p->state_module, number);
    renumber(&p->caller_module, number);
    p->key = outfox_point_key(p);
}

int programs_take(struct programs *p, struct share_report *r, struct err *e)
{
    uint16_t number[OUTFOX_MODULES];
    int met = 0;
    for (uint32_t i = 0; i < r->n_modules; i++) {
        char path[PATH_MAX];
        int32_t at = find(p, r->modules[i].id);
        path_of(r->modules[i].path, path);
        if (at < 0 && read_one(p, path, e))
            return -1;
        met |= at < 0;
        at = find(p, r->modules[i].id);
        if (at < 0)
            return err_set(e, 0, 0,
                           "%s has changed since it was started: build it, then start the trials "
                           "again",
                           path);
        number[i] = (uint16_t)at;
    }
    for (uint32_t i = 0; i < r->n_points; i++)
        renumber_point(&r->points[i], number);
    if (!r->injected)
        return met;
    renumber_point(&r->injection.point, number);
    for (uint32_t i = 0; i < r->injection.frames; i++)
        renumber(&r->injection.frame[i].module, number);
    return met;
}

/* ---- in words ---- */

static slice keep(struct trial_result *r, slice text)
{
    return slice_copy(&r->arena, text);
}

static void tell_state(const struct native *n, uint32_t state, struct trial_result *r)
{
    struct trial_injection *in = &r->injection;
    if (state >= n->states.n)
        return;
    const struct native_state *s = &n->states.at[state];
    const struct native_function *f = &n->functions.at[s->function];
    in->state = (struct trial_place){keep(r, f->name), keep(r, f->file), s->line};
    in->variable = keep(r, s->variable);
    if (f->task == NATIVE_NONE || f->task >= n->tasks.n)
        return;
    const struct native_task *t = &n->tasks.at[f->task];
    in->task = keep(r, t->name);
    in->why = keep(r, t->why);
}

/* A frame is several places where functions were inlined. */
static void tell_frame(const struct programs *p, const struct outfox_frame *f,
                       struct trial_result *r)
{
    struct native_place at[INLINED_MOST] = {{.line = 0}};
    uint32_t n = 1;
    struct program *one = f->module < p->all.n ? p->all.at[f->module] : NULL;
    if (one && !one->symbols) {
        char path[PATH_MAX];
        path_of(one->native.path, path);
        one->symbols = native_symbols_open(path);
    }
    if (one && one->symbols)
        n = native_places(one->symbols, f->address - 1, at, INLINED_MOST);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&r->injection.stack,
                 ((struct trial_place){keep(r, at[i].function), keep(r, at[i].file), at[i].line}));
}

void programs_tell(const struct programs *p, struct trial_result *r)
{
    struct trial_injection *in = &r->injection;
    const struct outfox_point *at = &in->raw.point;
    if (!in->done || at->module >= p->all.n)
        return;
    const struct native *n = &p->all.at[at->module]->native;
    if (at->site >= n->sites.n)
        return;
    const struct native_site *s = &n->sites.at[at->site];
    in->site = (struct trial_place){keep(r, s->function), keep(r, s->file), s->line};
    in->callee = keep(r, s->callee);
    if (at->state != UINT32_MAX && at->state_module < p->all.n)
        tell_state(&p->all.at[at->state_module]->native, at->state, r);
    for (uint32_t i = 0; i < in->raw.frames && i < OUTFOX_FRAMES; i++)
        tell_frame(p, &in->raw.frame[i], r);
    while (in->stack.n && !in->stack.at[in->stack.n - 1].function.n) /* who has called main */
        in->stack.n--;
}

uint32_t programs_errors(void *user, uint32_t module, uint32_t site, int errors[OUTFOX_ERRORS])
{
    const struct programs *p = user;
    if (module >= p->all.n || site >= p->all.at[module]->native.sites.n)
        return 0;
    const struct native_site *s = &p->all.at[module]->native.sites.at[site];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_errors && i < OUTFOX_ERRORS; i++)
        errors[n++] = s->error[i].number;
    return n;
}
