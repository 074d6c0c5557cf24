/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox sites, outfox states: what programs hold that were built with outfox cc. */
#include "cmd/native.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/index.h"
#include "report/native.h"

enum { SOURCE_BYTES_MOST = 16 << 20 };

/* What the options say. */
struct wish {
    struct native_filter filter;
    struct native_options options;
    VEC(struct native_registrar) registrars;
};

static int read_kind(struct wish *w, const char *value, struct err *e)
{
    size_t n = 0;
    while (native_kinds[n] && strcmp(native_kinds[n], value) != 0)
        n++;
    w->filter.kind = native_kinds[n];
    if (native_kinds[n])
        return 0;
    return err_set(e, 0, 0,
                   "--kind is call, origin, descriptor, stream, path or memory, not \"%s\"%s",
                   value, err_hint(slice_of(value), native_kinds, n).text);
}

static int read_setting(struct wish *w, const struct setting *s, struct err *e)
{
    struct native_registrar registrar;
    uint64_t depth;
    if (strcmp(s->name, "only") == 0) {
        w->filter.only = slice_of(s->value);
    } else if (strcmp(s->name, "kind") == 0) {
        return read_kind(w, s->value, e);
    } else if (strcmp(s->name, "registrar") == 0) {
        if (native_registrar_parse(slice_of(s->value), &registrar, e))
            return -1;
        vec_push(&w->registrars, registrar);
    } else if (strcmp(s->name, "depth") == 0) {
        if (!slice_to_u64(slice_of(s->value), NATIVE_DEPTH_MAX, &depth))
            return err_set(e, 0, 0, "--depth is a number from 0 to %d, not \"%s\"",
                           NATIVE_DEPTH_MAX, s->value);
        w->options.depth = (uint32_t)depth;
    }
    return 0;
}

static int read_wish(const struct args *args, struct wish *w, struct err *e)
{
    *w = (struct wish){.options.depth = NATIVE_DEPTH};
    for (uint32_t i = 0; i < args->settings.n; i++)
        if (read_setting(w, &args->settings.at[i], e))
            return -1;
    w->options.registrars = w->registrars.at;
    w->options.n_registrars = w->registrars.n;
    if (args->json && args->dot)
        return err_set(e, 0, 0, "--json and --dot do not go together: choose one");
    return 0;
}

/* ---- sources ---- */

/* Files that were looked for, by the names that records have. */
struct sources {
    struct arena arena;
    struct intern names;
    VEC(slice) text; /* p NULL: it was not found */
    VEC(const char *) dirs;
};

/* Records name files as the compiler was told: from where it ran, which often is above the program. */
static void sources_init(struct sources *s, const struct args *args)
{
    *s = (struct sources){0};
    vec_push(&s->dirs, "");
    for (uint32_t i = 0; i < args->n_positional; i++) {
        char *path = realpath(args->positional[i], NULL);
        slice dir = path ? slice_of(path) : (slice){NULL, 0};
        while (dir.n > 1) {
            while (dir.n && dir.p[dir.n - 1] != '/')
                dir.n--;
            if (dir.n > 1)
                vec_push(&s->dirs, arena_copy(&s->arena, dir.p, dir.n));
            dir.n = dir.n ? dir.n - 1 : 0;
        }
        mem_free(path);
    }
}

static void sources_deinit(struct sources *s)
{
    vec_deinit(&s->text);
    vec_deinit(&s->dirs);
    intern_deinit(&s->names);
    arena_deinit(&s->arena);
}

static slice read_source(struct sources *s, slice name)
{
    bool whole = name.n && name.p[0] == '/';
    for (uint32_t i = 0; i < (whole ? 1 : s->dirs.n) && name.n; i++) {
        struct buf text = BUF_INIT(SOURCE_BYTES_MOST);
        const char *path = arena_printf(&s->arena, "%s%.*s", s->dirs.at[i], SLICE_ARG(name));
        struct stat is; /* nothing that would make us wait */
        int failed = stat(path, &is) || !S_ISREG(is.st_mode) || file_read(path, &text);
        slice kept = failed || text.full ? (slice){NULL, 0} : buf_keep(&text, &s->arena);
        buf_deinit(&text);
        if (!failed)
            return kept;
    }
    return (slice){NULL, 0};
}

static slice source_of(void *ctx, slice name)
{
    struct sources *s = ctx;
    uint32_t id = intern_put(&s->names, name);
    if (id == INTERN_NONE)
        return (slice){NULL, 0};
    if (id == s->text.n)
        vec_push(&s->text, read_source(s, name));
    return s->text.at[id];
}

/* ---- the verbs ---- */

struct binaries {
    struct native at[POSITIONAL_MAX];
    uint32_t n;
};

static void binaries_free(struct binaries *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        native_free(&b->at[i]);
}

static int binaries_read(const struct args *args, const struct wish *w, struct binaries *b,
                         struct err *e)
{
    for (b->n = 0; b->n < args->n_positional;) {
        struct native *next = &b->at[b->n++];
        if (native_read(args->positional[b->n - 1], &w->options, next, e))
            return -1;
    }
    return 0;
}

/* Prints into `out` what the verb is about. */
typedef void printer(const struct args *args, const struct wish *w, const struct binaries *b,
                     struct buf *out);

static int carry_out(const struct args *args, printer *print)
{
    struct wish w;
    struct binaries b = {.n = 0};
    struct err e = {0};
    struct buf out = BUF_INIT(SIZE_MAX);
    int code = EXIT_OK;
    if (read_wish(args, &w, &e) || binaries_read(args, &w, &b, &e))
        code = cmd_fail(&e);
    else
        print(args, &w, &b, &out);
    cmd_print(&out, stdout);
    binaries_free(&b);
    vec_deinit(&w.registrars);
    return code;
}

static void print_sites(const struct args *args, const struct wish *w, const struct binaries *b,
                        struct buf *out)
{
    if (args->json)
        report_sites_json(b->at, b->n, &w->filter, out);
    else
        report_sites(b->at, b->n, &w->filter, style_for(STDOUT_FILENO, args->color), out);
}

static void print_states(const struct args *args, const struct wish *w, const struct binaries *b,
                         struct buf *out)
{
    struct sources s;
    struct native_sources sources = {source_of, &s};
    if (args->json) {
        report_states_json(b->at, b->n, w->filter.only, out);
    } else if (args->dot) {
        report_states_dot(b->at, b->n, w->filter.only, out);
    } else {
        sources_init(&s, args);
        report_states(b->at, b->n, w->filter.only, &sources, style_for(STDOUT_FILENO, args->color),
                      out);
        sources_deinit(&s);
    }
}

int cmd_sites(const struct args *args)
{
    return carry_out(args, print_sites);
}

int cmd_states(const struct args *args)
{
    return carry_out(args, print_states);
}
