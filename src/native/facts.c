/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts (include/outfox/abi.h) as values: the linker has put the text of all units one after the other, and here
 * names become functions, whichever unit defines them.
 *
 * A name means the function of its own unit; one that its unit does not define is the global one of that
 * name, wherever that is. Lines that a damaged file has are passed over: tasks are found by what is left. */
#include "native/native_int.h"

enum { WORDS_MOST = 5 };

/* A line, still as names: facts are resolved when all functions are known. */
struct line {
    enum fact_kind kind;
    uint32_t unit, own, argument;
    slice function, callee;
};

struct reading {
    struct facts *facts;
    struct intern names;
    struct map global; /* name: function */
    struct map own;    /* unit and name: function */
    VEC(struct line) lines;
};

static uint64_t own_key(uint32_t unit, uint32_t name)
{
    return (uint64_t)unit << 32 | name;
}

/* ---- lines ---- */

static void define(struct reading *r, uint32_t unit, slice name, slice line, slice scope)
{
    uint64_t number;
    struct fact_function f = {name, unit, 0, slice_is(scope, "local")};
    uint32_t text = intern_put(&r->names, name);
    if (text == INTERN_NONE || !slice_to_u64(line, UINT32_MAX, &number))
        return;
    f.line = (uint32_t)number;
    uint32_t known =
        f.local ? r->facts->functions.n : map_index(&r->global, text, r->facts->functions.n);
    map_set(&r->own, own_key(unit, text), known);
    if (known == r->facts->functions.n)
        vec_push(&r->facts->functions, f);
}

/* What the words of a line are; 0: nothing, F: function, C: callee or place, A: its argument, O: own. */
static const struct {
    const char *word;
    enum fact_kind kind;
    const char *rest;
} forms[] = {
    {"call", FACT_CALL, "FC"},           {"loop", FACT_LOOP, "FC"},
    {"passed", FACT_PASSED, "xCAF"},     {"stored", FACT_STORED, "CF"},
    {"forwards", FACT_FORWARDS, "FOCA"},
};

static bool take_word(struct line *l, char what, slice word)
{
    uint64_t number = 0;
    if (word.n == 0)
        return false;
    if (what == 'F')
        l->function = word;
    else if (what == 'C')
        l->callee = word;
    else if (what == 'A' || what == 'O') {
        if (!slice_to_u64(word, UINT16_MAX, &number))
            return false;
        *(what == 'A' ? &l->argument : &l->own) = (uint32_t)number;
    }
    return true;
}

static void read_fact(struct reading *r, uint32_t unit, const slice *words, uint32_t n)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct line l = {.kind = forms[i].kind, .unit = unit};
        bool good = slice_is(words[0], forms[i].word) && strlen(forms[i].rest) + 1 == n;
        for (uint32_t k = 1; good && k < n; k++)
            good = take_word(&l, forms[i].rest[k - 1], words[k]);
        if (good)
            vec_push(&r->lines, l);
    }
}

/* Padding between units is zeros. */
static slice without_padding(slice line)
{
    while (line.n && line.p[0] == 0)
        line = slice_from(line, 1);
    return line;
}

static void read_lines(struct reading *r, slice text)
{
    for (slice line; slice_cut(&text, '\n', &line);) {
        slice words[WORDS_MOST], rest = without_padding(line);
        uint32_t n = 0;
        while (n < WORDS_MOST && slice_cut(&rest, '\t', &words[n]))
            n++;
        if (n == 2 && slice_is(words[0], "unit"))
            vec_push(&r->facts->units, words[1]);
        else if (r->facts->units.n == 0)
            continue;
        else if (n == 4 && slice_is(words[0], "function"))
            define(r, r->facts->units.n - 1, words[1], words[2], words[3]);
        else if (n > 0)
            read_fact(r, r->facts->units.n - 1, words, n);
    }
}

/* ---- names ---- */

static uint32_t resolve(struct reading *r, uint32_t unit, slice name)
{
    uint32_t text = intern_put(&r->names, name);
    const uint32_t *own = text == INTERN_NONE ? NULL : map_get(&r->own, own_key(unit, text));
    if (!own && text != INTERN_NONE)
        own = map_get(&r->global, text);
    return own ? *own : NATIVE_NONE;
}

void facts_read(struct facts *f, slice text)
{
    struct reading r = {.facts = f};
    read_lines(&r, text);
    for (uint32_t i = 0; i < r.lines.n; i++) {
        const struct line *l = &r.lines.at[i];
        struct fact fact = {.kind = l->kind,
                            .function = resolve(&r, l->unit, l->function),
                            .callee = NATIVE_NONE,
                            .to = l->callee,
                            .argument = l->argument,
                            .own = l->own};
        if (l->kind != FACT_STORED)
            fact.callee = resolve(&r, l->unit, l->callee);
        if (fact.function != NATIVE_NONE)
            vec_push(&f->facts, fact);
    }
    vec_deinit(&r.lines);
    map_deinit(&r.global);
    map_deinit(&r.own);
    intern_deinit(&r.names);
}

void facts_deinit(struct facts *f)
{
    vec_deinit(&f->units);
    vec_deinit(&f->functions);
    vec_deinit(&f->facts);
}
