// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an instrumented program.
//
// 1. What is read is consistent: indices lead somewhere, states stand together, tasks have entries.
// 2. What is not read is refused with a sentence.
// 3. Whatever names say, it is printed in lines that are UTF-8.
//
// The first byte says whether the rest is a whole file, or facts for a program of a few functions: in files few
// changes get as far as these.

#include <stdint.h>

#include "base/printable.h"
#include "fuzz/must.h"
#include "native/native_int.h"
#include "report/native.h"

enum { BYTES_MAX = 1 << 18 };

static const struct native_registrar registrars[] = {{{"reg*", 4}, 1, {"thread", 6}},
                                                     {{"table", 5}, NATIVE_STORED, {"handler", 7}}};
static const struct native_options options = {registrars, 2, 2};

static void check(const struct native *n)
{
    struct native_filter all = {{NULL, 0}, NULL};
    struct buf out = BUF_INIT(SIZE_MAX);
    uint32_t states = 0;
    for (uint32_t i = 0; i < n->functions.n; i++) {
        const struct native_function *f = &n->functions.at[i];
        MUST((f->task == NATIVE_NONE) == (f->depth == NATIVE_NONE));
        MUST(f->task == NATIVE_NONE || (f->task < n->tasks.n && f->depth <= options.depth));
        MUST(f->caller == NATIVE_NONE || f->caller < n->functions.n);
        for (uint32_t k = 0; k < f->n_states; k++)
            MUST(n->states.at[f->first_state + k].function == i);
        states += f->n_states;
    }
    MUST(states == n->states.n);
    for (uint32_t i = 0; i < n->tasks.n; i++)
        MUST(n->tasks.at[i].function == NATIVE_NONE ||
             n->functions.at[n->tasks.at[i].function].task == i);
    report_sites(n, 1, &all, &style_plain, &out);
    report_sites_json(n, 1, &all, &out);
    report_states(n, 1, all.only, NULL, &style_plain, &out);
    report_states_json(n, 1, all.only, &out);
    report_states_dot(n, 1, all.only, &out);
    MUST(text_is_utf8(buf_slice(&out)));
    buf_deinit(&out);
}

static void check_facts(slice text)
{
    static const char *const names[] = {"main", "a", "b", "_ZSt1c"};
    struct native n = {0};
    for (uint32_t i = 0; i < 2 * sizeof names / sizeof *names; i++)
        vec_push(&n.functions, (struct native_function){.file = SLICE("u"),
                                                        .name = slice_of(names[i / 2]),
                                                        .flags = i % 2 ? OUTFOX_FUNCTION_LOCAL : 0,
                                                        .task = NATIVE_NONE,
                                                        .depth = NATIVE_NONE,
                                                        .caller = NATIVE_NONE});
    tasks_find(&n, text, &options);
    check(&n);
    native_free(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct native n;
    struct err e = {0};
    if (size < 1 || size > BYTES_MAX)
        return 0;
    char *copy = mem_alloc(size - 1 ? size - 1 : 1); /* exactly as long, for the sanitizer */
    memcpy(copy, data + 1, size - 1);
    if (data[0] % 2) {
        check_facts((slice){copy, size - 1});
    } else {
        if (native_parse((slice){copy, size - 1}, &options, &n, &e))
            MUST(e.text[0]);
        else
            check(&n);
        native_free(&n);
    }
    mem_free(copy);
    return 0;
}
