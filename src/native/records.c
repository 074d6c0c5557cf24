/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of include/outfox/abi.h, from the sections of a linked file.
 *
 * 1. A record is read only when its first word is the one of this version; what another version's looks like
 *    nobody knows.
 * 2. A text is where its offset leads, in what is loaded from the file, and ends there.
 * 3. The states of a function stand together, so that its record can name the first. */
#include <string.h>

#include "native/native_int.h"

enum { TEXT_MOST = 1 << 16 };

struct reader {
    const struct image *image;
    struct native *native;
    struct section sites, states, functions;
    struct err *e;
};

static int damaged(struct reader *r, const char *what, uint64_t i)
{
    return err_set(
        r->e, 0, 0,
        "its %s %llu makes no sense: the file is damaged, or made by something else than outfox cc",
        what, (unsigned long long)i);
}

/* Is the first word what it should be? */
static int check_magic(struct reader *r, uint32_t magic, uint32_t wanted, const char *what,
                       uint64_t i)
{
    if (magic == wanted)
        return 0;
    if ((magic & ~0xffu) != (wanted & ~0xffu))
        return damaged(r, what, i);
    return err_set(
        r->e, 0, 0,
        "it was built by another version of outfox cc (records of version %u, this outfox reads "
        "version %u): build it again with the outfox cc that belongs to this outfox",
        (unsigned)(magic & 0xff), (unsigned)OUTFOX_ABI);
}

/* ---- texts ---- */

/* The text that is at `offset` from the field at `address`. 0, or -1. */
static int text(struct reader *r, uint64_t address, int32_t offset, slice *out)
{
    slice from = image_at(r->image, address + (uint64_t)(int64_t)offset);
    size_t most = from.n < TEXT_MOST ? from.n : TEXT_MOST;
    const char *end = from.p ? memchr(from.p, 0, most) : NULL;
    if (!end)
        return -1;
    *out = slice_copy(&r->native->arena, (slice){from.p, (size_t)(end - from.p)});
    return 0;
}

#define TEXT(section, record, i, field, out)                                                       \
    text(r, (section).address + (i) * sizeof(record) + offsetof(__typeof__(record), field),        \
         (record).field, out)

/* ---- sites ---- */

static bool plausible(const struct outfox_site *s)
{
    return (s->kind == OUTFOX_CALL || s->kind == OUTFOX_ORIGIN) &&
           s->subject <= OUTFOX_SUBJECT_MEMORY &&
           (s->can & ~(OUTFOX_ERROR | OUTFOX_DELAY | OUTFOX_SHORT)) == 0 &&
           s->result >= OUTFOX_RESULT_ERRNO && s->result <= OUTFOX_RESULT_VALUE &&
           s->errors <= OUTFOX_ERRORS && s->reason <= OUTFOX_REASON_ANNOTATED;
}

static int read_site(struct reader *r, uint64_t i)
{
    struct outfox_site s;
    memcpy(&s, r->sites.bytes.p + i * sizeof s, sizeof s);
    if (check_magic(r, s.magic, OUTFOX_SITE, "site", i))
        return -1;
    struct native_site out = {.line = s.line,
                              .column = s.column,
                              .kind = s.kind,
                              .subject = s.subject,
                              .can = s.can,
                              .result = s.result,
                              .n_errors = s.errors,
                              .reason = s.reason,
                              .value = s.value};
    if (!plausible(&s) || TEXT(r->sites, s, i, file, &out.file) ||
        TEXT(r->sites, s, i, function, &out.function) || TEXT(r->sites, s, i, callee, &out.callee))
        return damaged(r, "site", i);
    for (uint32_t k = 0; k < s.errors; k++)
        out.error[k] = (struct native_error){s.error[k].number, s.error[k].where};
    vec_push(&r->native->sites, out);
    return 0;
}

/* ---- functions and states ---- */

static int read_function(struct reader *r, uint64_t i)
{
    struct outfox_function f;
    memcpy(&f, r->functions.bytes.p + i * sizeof f, sizeof f);
    if (check_magic(r, f.magic, OUTFOX_FUNCTION, "function", i))
        return -1;
    struct native_function out = {.line = f.line,
                                  .flags = f.flags,
                                  .task = NATIVE_NONE,
                                  .depth = NATIVE_NONE,
                                  .caller = NATIVE_NONE};
    if (TEXT(r->functions, f, i, file, &out.file) || TEXT(r->functions, f, i, name, &out.name))
        return damaged(r, "function", i);
    vec_push(&r->native->functions, out);
    return 0;
}

/* The function that a state is of: its record is one of ours. */
static int function_of(struct reader *r, uint64_t i, int32_t offset, uint32_t *out)
{
    uint64_t field = r->states.address + i * sizeof(struct outfox_state) +
                     offsetof(struct outfox_state, function);
    uint64_t at = field + (uint64_t)(int64_t)offset - r->functions.address;
    if (at % sizeof(struct outfox_function) ||
        at / sizeof(struct outfox_function) >= r->native->functions.n)
        return -1;
    *out = (uint32_t)(at / sizeof(struct outfox_function));
    return 0;
}

static int read_state(struct reader *r, uint64_t i)
{
    struct outfox_state s;
    memcpy(&s, r->states.bytes.p + i * sizeof s, sizeof s);
    if (check_magic(r, s.magic, OUTFOX_STATE, "state", i))
        return -1;
    struct native_state out = {.line = s.line, .branch = s.branch, .index = s.index};
    if (function_of(r, i, s.function, &out.function) ||
        TEXT(r->states, s, i, variable, &out.variable))
        return damaged(r, "state", i);
    struct native_function *f = &r->native->functions.at[out.function];
    if (f->n_states == 0)
        f->first_state = (uint32_t)i;
    else if (f->first_state + f->n_states != i)
        return damaged(r, "state", i);
    f->n_states++;
    vec_push(&r->native->states, out);
    return 0;
}

/* ---- all ---- */

static int open_section(struct reader *r, const char *name, size_t record, struct section *out)
{
    if (image_section(r->image, name, out, r->e))
        return -1;
    if (out->empty)
        return err_set(r->e, 0, 0,
                       "this file holds debug information only: name the program itself");
    if (out->bytes.n % record || out->bytes.n / record >= NATIVE_NONE)
        return err_set(
            r->e, 0, 0,
            "its section %s is not made of records of this version: build it again with the outfox cc "
            "that belongs to this outfox",
            name);
    return 0;
}

static int read_all(struct reader *r, const struct section *s, size_t record,
                    int (*read_one)(struct reader *r, uint64_t i))
{
    for (uint64_t i = 0; i < s->bytes.n / record; i++)
        if (read_one(r, i))
            return -1;
    return 0;
}

/* The records as the runtime sees them, so that both name the program alike. */
static uint64_t identity(const struct reader *r, struct arena *a)
{
    struct outfox_part part;
    struct outfox_site *sites = arena_alloc(a, r->sites.bytes.n + 1);
    struct outfox_state *states = arena_alloc(a, r->states.bytes.n + 1);
    struct outfox_function *functions = arena_alloc(a, r->functions.bytes.n + 1);
    if (r->sites.bytes.n)
        memcpy(sites, r->sites.bytes.p, r->sites.bytes.n);
    if (r->states.bytes.n)
        memcpy(states, r->states.bytes.p, r->states.bytes.n);
    if (r->functions.bytes.n)
        memcpy(functions, r->functions.bytes.p, r->functions.bytes.n);
    part = (struct outfox_part){.sites = sites,
                                .sites_end = sites + r->native->sites.n,
                                .states = states,
                                .states_end = states + r->native->states.n,
                                .functions = functions,
                                .functions_end = functions + r->native->functions.n};
    return outfox_part_id(&part);
}

int records_read(const struct image *m, struct native *n, struct err *e)
{
    struct reader r = {.image = m, .native = n, .e = e};
    struct arena scratch = {0};
    if (open_section(&r, OUTFOX_SECTION_SITES, sizeof(struct outfox_site), &r.sites) ||
        open_section(&r, OUTFOX_SECTION_FUNCTIONS, sizeof(struct outfox_function), &r.functions) ||
        open_section(&r, OUTFOX_SECTION_STATES, sizeof(struct outfox_state), &r.states))
        return -1;
    if (!r.sites.found && !r.functions.found)
        return err_set(e, 0, 0,
                       "it has no sites: build it with CC=\"outfox cc\" (C++: CXX=\"outfox c++\")");
    if (read_all(&r, &r.sites, sizeof(struct outfox_site), read_site) ||
        read_all(&r, &r.functions, sizeof(struct outfox_function), read_function) ||
        read_all(&r, &r.states, sizeof(struct outfox_state), read_state))
        return -1;
    n->id = identity(&r, &scratch);
    arena_deinit(&scratch);
    return 0;
}
