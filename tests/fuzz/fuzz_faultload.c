// SPDX-License-Identifier: Apache-2.0
//
// The texts that people and files give to core/: faults, faultloads, modes, durations, paths and
// rules for them. The input is cut into lines; each line is read as each of them.
//
// 1. What is refused is refused with a sentence.
// 2. What is accepted prints as a text that reads back as the same value, and prints the same
// again.
// 3. A fault that was read from the full name of a call fires at that call.
// 4. An interface is at most two words, so that the name of a call can be read back.
// 5. A mode's text is one word, shorter than MODE_TEXT_MAX. What the caller sees is known exactly
// when the service is not reached, and only such a mode stands behind lost-reply.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/aim.h"
#include "core/interface.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 4096, CALLS_MAX = 16 };

// What the lines of one input are read into.
struct world {
    struct names names;
    struct faultloads faultloads;
    struct aim aim;
    struct rewrite *rules;
    uid call[CALLS_MAX]; // that were named so far
    uint32_t n_calls;
};

static void read_mode(slice text)
{
    mode m, again;
    struct err e = {0};
    struct buf printed = BUF_INIT(MODE_TEXT_MAX - 1);
    if (mode_parse(text, &m, &e)) {
        MUST(e.text[0]);
        return;
    }
    mode_print(m, &printed);
    MUST(!printed.full);
    MUST(mode_parse(buf_slice(&printed), &again, &e) == 0 && m == again);
    slice rest = buf_slice(&printed), word;
    MUST(slice_word(&rest, &word) && rest.n == 0);
    mode plain = mode_without_lost(m);
    MUST(mode_kind(m) < MODE_KINDS && mode_kind(plain) == mode_kind(m) && !mode_lost(plain));
    MUST(mode_reached(plain) == (outcome_kind(mode_outcome(plain)) == OUT_NONE));
    MUST(!mode_lost(m) || (mode_reached(m) && !mode_reached(plain)));
    bool field = mode_kind(m) == MODE_CORRUPT && mode_corrupt(m) >= CORRUPT_REMOVE;
    MUST((mode_field(m).n > 0) == field && mode_field(m).n <= MODE_FIELD_MAX);
    buf_clear(&printed);
    label_print(mode_label(m), &printed);
    MUST(printed.n > 0);
    buf_deinit(&printed);
}

static void read_duration(slice text)
{
    int64_t ns;
    struct buf printed = BUF_INIT(64);
    if (!slice_to_ns(text, &ns))
        return;
    MUST(ns >= 0);
    buf_add_ns(&printed, ns);
    MUST(printed.n > 0);
    buf_deinit(&printed);
}

static void read_faultload(struct world *w, slice text)
{
    faultload f, back;
    struct err e = {0};
    struct buf printed = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16);
    if (faultload_parse(&w->names, &w->faultloads, text, &f, &e)) {
        MUST(e.text[0]);
        return;
    }
    faultload_print(&w->names, &w->faultloads, f, &printed);
    MUST(faultload_parse(&w->names, &w->faultloads, buf_slice(&printed), &back, &e) == 0);
    MUST(faultload_eq(&w->faultloads, f, back));
    faultload_print(&w->names, &w->faultloads, back, &again);
    MUST(slice_eq(buf_slice(&printed), buf_slice(&again)));
    aim_set(&w->aim, &w->names, &w->faultloads, f);
    for (; f != FAULTLOAD_EMPTY; f = w->faultloads.rows.at[f].rest) {
        struct fault fault = w->faultloads.rows.at[f].last;
        uid by;
        struct service_fault how = fault_service(&w->names, fault);
        mode wanted = how.row ? service_fault_mode(how, &w->names, fault.point, 0) : fault.mode;
        MUST(aim_find(&w->aim, &w->names, fault.point, 0, &by) == wanted);
        MUST(by == fault.point);
        if (w->n_calls < CALLS_MAX)
            w->call[w->n_calls++] = fault.point;
    }
    aim_set(&w->aim, &w->names, &w->faultloads, FAULTLOAD_EMPTY);
    buf_deinit(&printed);
    buf_deinit(&again);
}

// The name of a call as it is printed, given as a fault, fires at that call: below the scenario's
// own request, and when that is not known.
static void check_pattern(struct world *w, uid u)
{
    uid request = u, by;
    while (uid_parent(&w->names, request) != UID_NONE)
        request = uid_parent(&w->names, request);
    struct buf text = BUF_INIT(1 << 16);
    fault_print(&w->names, (struct fault){u, mode_make(MODE_STATUS, 500)}, &text);
    for (int known = 0; known < 2; known++) {
        struct aim aim;
        struct err e = {0};
        aim = (struct aim){0};
        MUST(aim_add(&aim, ANY_VOCABULARY(&w->names), known ? request : UID_NONE, buf_slice(&text),
                     &e) == 0);
        MUST(aim_find(&aim, &w->names, u, 0, &by) == mode_make(MODE_STATUS, 500) && by == u);
        MUST(aim.patterns.at[0].fired == 1);
        aim_deinit(&aim);
    }
    buf_deinit(&text);
}

static void read_pattern(struct world *w, slice text)
{
    struct err e = {0};
    uid by;
    uint32_t before = w->aim.patterns.n;
    if (aim_add(&w->aim, ANY_VOCABULARY(&w->names), UID_NONE, text, &e)) {
        MUST(e.text[0]);
        MUST(w->aim.patterns.n == before);
        return;
    }
    MUST(w->aim.patterns.n == before + 1);
    for (uint32_t i = 0; i < w->n_calls; i++) {
        mode m = aim_find(&w->aim, &w->names, w->call[i], 0, &by);
        MUST(by == w->call[i]);
        MUST(m == MODE_NONE || mode_kind(m) < MODE_KINDS);
    }
}

static bool is_word(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] | 32) < 'a' || (s.p[i] | 32) > 'z')
            return false;
    return s.n > 0;
}

static void check_interface(struct world *w, slice method, slice path)
{
    struct buf text = BUF_INIT(1 << 16);
    struct err e = {0};
    slice rest, word;
    uint32_t words = 0;
    interface_make(method, path, w->rules, &text);
    for (rest = buf_slice(&text); slice_word(&rest, &word);)
        words++;
    MUST(words == (method.n ? 2 : 1));
    if (is_word(method) && path.n && path.p[0] == '/') { // the name of a call to it reads back
        struct element element = {.service = names_sym(&w->names, SLICE("s")),
                                  .interface = names_sym(&w->names, buf_slice(&text))};
        uid u = names_uid(&w->names, UID_NONE, names_element(&w->names, element)), back;
        buf_clear(&text);
        uid_print(&w->names, u, &text);
        MUST(uid_parse(&w->names, buf_slice(&text), &back, &e) == 0 && back == u);
    }
    buf_deinit(&text);
}

static void read_path(struct world *w, slice line)
{
    slice method, rest = line;
    slice_word(&rest, &method);
    check_interface(w, SLICE(""), line);
    check_interface(w, method, slice_trim(rest));
    struct err e = {0};
    if (rewrite_add(w->rules, line, &e))
        MUST(e.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    struct world w = {.rules = rewrite_new()};
    names_init(&w.names);
    faultloads_init(&w.faultloads);
    w.aim = (struct aim){0};
    slice rest = {(const char *)data, size}, line;
    while (slice_cut(&rest, '\n', &line)) {
        read_mode(line);
        read_duration(line);
        read_faultload(&w, line);
        read_pattern(&w, line);
        read_path(&w, line);
    }
    for (uint32_t i = 0; i < w.n_calls; i++)
        check_pattern(&w, w.call[i]);
    for (uint32_t i = 1; i < w.n_calls; i++)
        MUST((uid_cmp(&w.names, w.call[i - 1], w.call[i]) == 0) == (w.call[i - 1] == w.call[i]));
    rewrite_free(w.rules);
    aim_deinit(&w.aim);
    faultloads_deinit(&w.faultloads);
    names_deinit(&w.names);
    return 0;
}
