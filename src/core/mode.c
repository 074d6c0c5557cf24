/* SPDX-License-Identifier: Apache-2.0 */
#include "core/mode.h"

#include <stdio.h>

#define LOST      (1u << 29)
#define LOST_NAME "lost-reply"

const struct mode_row mode_rows[MODE_KINDS] = {
    {"none", ARG_NONE, true, "No fault."},
#define MODE(id, name, argument, reached, doc) {name, argument, reached, doc},
#include "core/mode.list"
#undef MODE
};

#define STATUS(code) ((mode)MODE_STATUS << 24 | (code))
const mode mode_defaults[4] = {STATUS(500), STATUS(502), STATUS(503), STATUS(504)};

/* Outcomes without a code, by kind. */
static const char *const outcome_names[OUT_KINDS] = {
    [OUT_NONE] = "unknown",  [OUT_REFUSED] = "refused", [OUT_RESET] = "reset",
    [OUT_CLOSED] = "closed", [OUT_TIMEOUT] = "timeout",
};

bool outcome_ok(outcome o)
{
    switch (outcome_kind(o)) {
    case OUT_STATUS: return outcome_code(o) >= 200 && outcome_code(o) < 300;
    case OUT_GRPC: return outcome_code(o) == 0;
    default: return false;
    }
}

bool outcome_error(outcome o)
{
    switch (outcome_kind(o)) {
    case OUT_STATUS: return outcome_code(o) >= 500;
    case OUT_GRPC: return outcome_code(o) != 0;
    default: return false;
    }
}

void outcome_print(outcome o, struct buf *out)
{
    switch (outcome_kind(o)) {
    case OUT_STATUS: buf_addf(out, "%u", (unsigned)outcome_code(o)); break;
    case OUT_GRPC: buf_addf(out, "grpc:%u", (unsigned)outcome_code(o)); break;
    default: buf_adds(out, outcome_names[outcome_kind(o) % OUT_KINDS]);
    }
}

mode mode_make(enum mode_kind kind, uint32_t argument)
{
    return (mode)kind << 24 | (argument & 0xffffff);
}

int64_t mode_delay_ns(mode m)
{
    return mode_kind(m) == MODE_DELAY ? (int64_t)mode_argument(m) * 1000000 : 0;
}

bool mode_lost(mode m)
{
    return m & LOST;
}

bool mode_reached(mode m)
{
    return mode_lost(m) || mode_rows[mode_kind(m)].reached;
}

outcome mode_outcome(mode m)
{
    switch (mode_kind(m)) {
    case MODE_STATUS: return OUTCOME(OUT_STATUS, mode_argument(m));
    case MODE_GRPC: return OUTCOME(OUT_GRPC, mode_argument(m));
    case MODE_REFUSE: return OUTCOME(OUT_REFUSED, 0);
    case MODE_RESET: return OUTCOME(OUT_RESET, 0);
    case MODE_CLOSE: return OUTCOME(OUT_CLOSED, 0);
    case MODE_HOLD: return OUTCOME(OUT_TIMEOUT, 0);
    default: return OUTCOME(OUT_NONE, 0);
    }
}

label mode_label(mode m)
{
    return mode_reached(m) ? LABEL_MODE | m : mode_outcome(m);
}

void mode_print(mode m, struct buf *out)
{
    const struct mode_row *row = &mode_rows[mode_kind(m) % MODE_KINDS];
    if (mode_lost(m))
        buf_adds(out, LOST_NAME ":");
    if (row->argument != ARG_STATUS)
        buf_adds(out, row->name);
    if (row->argument == ARG_STATUS)
        buf_addf(out, "%u", (unsigned)mode_argument(m));
    else if (row->argument == ARG_CODE)
        buf_addf(out, ":%u", (unsigned)mode_argument(m));
    else if (row->argument == ARG_DURATION) {
        buf_addc(out, ':');
        buf_addf(out, mode_argument(m) % 1000 ? "%ums" : "%us",
                 (unsigned)(mode_argument(m) % 1000 ? mode_argument(m) : mode_argument(m) / 1000));
    }
}

void label_print(label l, struct buf *out)
{
    if (l & LABEL_MODE)
        mode_print(l & ~LABEL_MODE, out);
    else
        outcome_print(l, out);
}

static int unknown_mode(slice text, struct err *e)
{
    const char *words[MODE_KINDS];
    for (size_t i = 1; i < MODE_KINDS; i++)
        words[i] = mode_rows[i].name;
    words[0] = LOST_NAME;
    slice name = {text.p, slice_find(text, ':')};
    const char *near = err_nearest(name, words, MODE_KINDS);
    return err_set(e, 0, 0, "there is no mode \"%.*s\"%s%s%s; `outfox modes` lists them",
                   (int)(text.n < 60 ? text.n : 60), text.p, near ? " (did you mean \"" : "",
                   near ? near : "", near ? "\"?)" : "");
}

static int parse_argument(enum mode_kind kind, slice arg, bool given, mode *out, struct err *e)
{
    uint64_t number = 0;
    int64_t ns;
    const char *wants = NULL;
    switch (mode_rows[kind].argument) {
    case ARG_NONE:
        if (given)
            wants = "no argument";
        break;
    case ARG_STATUS:
        if (!slice_to_u64(arg, 599, &number) || number < 100)
            wants = "a status from 100 to 599";
        break;
    case ARG_CODE:
        if (!slice_to_u64(arg, 16, &number))
            wants = "a gRPC code from 0 to 16";
        break;
    case ARG_DURATION:
        if (!slice_to_ns(arg, &ns) || ns < 1000000 || ns / 1000000 > 0xffffff)
            wants = "a duration from 1ms to 4h, such as 500ms or 2s";
        else
            number = (uint64_t)(ns / 1000000);
        break;
    }
    if (wants)
        return err_set(e, 0, 0, "mode \"%s\" takes %s", mode_rows[kind].name, wants);
    *out = mode_make(kind, (uint32_t)number);
    return 0;
}

int mode_parse(slice text, mode *out, struct err *e)
{
    uint64_t status;
    text = slice_trim(text);
    if (slice_starts(text, SLICE(LOST_NAME ":"))) {
        text = slice_from(text, sizeof LOST_NAME);
        bool twice = slice_starts(text, SLICE(LOST_NAME));
        if (!twice && mode_parse(text, out, e))
            return -1;
        if (twice || mode_reached(*out))
            return err_set(e, 0, 0, "after " LOST_NAME ": comes a mode that answers, such as 503");
        *out |= LOST;
        return 0;
    }
    if (slice_to_u64(text, UINT32_MAX, &status))
        return parse_argument(MODE_STATUS, text, true, out, e);
    size_t colon = slice_find(text, ':');
    slice name = {text.p, colon};
    slice arg = colon < text.n ? slice_from(text, colon + 1) : (slice){0};
    for (enum mode_kind kind = MODE_STATUS; kind < MODE_KINDS; kind++)
        if (slice_is(name, mode_rows[kind].name))
            return parse_argument(kind, arg, colon < text.n, out, e);
    return unknown_mode(text, e);
}
