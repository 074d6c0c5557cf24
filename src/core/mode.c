/* SPDX-License-Identifier: Apache-2.0
 *
 * Modes and outcomes: what the rows of mode.list mean, and their text.
 *
 * 1. What mode_print prints, mode_parse reads back as the same number; there is one text per mode.
 * 2. A place of `fields` is filled once and then never changes. Places are filled in order, so a
 *    search may stop at the first empty one. No lock is needed: whoever fills a place first has it,
 *    and whoever comes too late looks at what is there now and goes on. */
#include "core/mode.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"

#define LOST        (1u << 29)
#define LOST_NAME   "lost-reply"
#define FIELD_SHIFT 8 /* argument of `corrupt`: what is done 8 bits | place in fields 16 bits */

const struct mode_row mode_rows[MODE_KINDS] = {
    {"none", ARG_NONE, ACTS, OUT_NONE, AT_ANY, "fails", "No fault.", true},
#define MODE(id, name, argument, act, outcome, at, verb, doc)                                      \
    {name, argument, act, outcome, at, verb, doc, (act) >= ACT_REACHED},
#include "core/mode.list"
#undef MODE
};

/* Outcomes without a code, by kind. */
static const char *const outcome_names[OUT_KINDS] = {
    [OUT_NONE] = "unknown",  [OUT_REFUSED] = "refused", [OUT_RESET] = "reset",
    [OUT_CLOSED] = "closed", [OUT_TIMEOUT] = "timeout", [OUT_CANCELLED] = "cancelled",
};

/* What arguments may be. */
static const struct {
    uint32_t min, max;
    const char *wants;
} arguments[ARG_KINDS] = {
    [ARG_NONE] = {0, 0, "no argument"},
    [ARG_STATUS] = {200, 599, "a final status, from 200 to 599"},
    [ARG_CODE] = {0, 16, "a gRPC code from 0 to 16"},
    [ARG_DURATION] = {1, MODE_ARGUMENT_MAX, "a duration from 1ms to 4h, such as 500ms or 2s"},
    [ARG_CUT] = {1, MODE_ARGUMENT_MAX, "nothing, or a number of bytes from 1 to 16777215"},
    [ARG_RATE] = {1, MODE_ARGUMENT_MAX, "bytes per second, from 1 to 16777215"},
    [ARG_BYTES] = {0, MODE_ARGUMENT_MAX, "a number of bytes from 0 to 16777215"},
    [ARG_CORRUPT] = {0, 0, "one of empty, garbage, remove=FIELD and null=FIELD"},
    [ARG_ERROR] = {0, 13, "an HTTP/2 error code from 0 to 13"},
};

static const char *const corrupt_names[CORRUPT_KINDS] = {"empty", "garbage", "remove", "null"};

/* ---- outcomes ---- */

bool outcome_ok(outcome o)
{
    switch (outcome_kind(o)) {
    case OUT_STATUS: return outcome_code(o) >= 200 && outcome_code(o) < 300;
    case OUT_GRPC:
    case OUT_EXIT: return outcome_code(o) == 0;
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
    case OUT_EXIT: buf_addf(out, "exit:%u", (unsigned)outcome_code(o)); break;
    default: buf_adds(out, outcome_names[outcome_kind(o) % OUT_KINDS]);
    }
}

bool outcome_read(slice text, outcome *out)
{
    enum { CODE_MAX = 0xffffff, WORD_BYTES = 16 };
    uint64_t code;
    slice grpc = SLICE("grpc:"), exit = SLICE("exit:");
    if (slice_to_u64(text, CODE_MAX, &code)) {
        *out = OUTCOME(OUT_STATUS, code);
        return true;
    }
    if (slice_starts(text, grpc) && slice_to_u64(slice_from(text, grpc.n), CODE_MAX, &code)) {
        *out = OUTCOME(OUT_GRPC, code);
        return true;
    }
    if (slice_starts(text, exit) && slice_to_u64(slice_from(text, exit.n), CODE_MAX, &code)) {
        *out = OUTCOME(OUT_EXIT, code);
        return true;
    }
    bool found = false;
    struct buf word = BUF_INIT(WORD_BYTES);
    for (uint32_t kind = 0; kind < OUT_KINDS && !found; kind++) {
        if (kind == OUT_STATUS || kind == OUT_GRPC || kind == OUT_EXIT)
            continue;
        buf_clear(&word);
        *out = OUTCOME(kind, 0);
        outcome_print(*out, &word);
        found = slice_eq(buf_slice(&word), text);
    }
    buf_deinit(&word);
    return found;
}

/* ---- fields ---- */

struct field {
    size_t n;
    char text[];
};

static _Atomic(const struct field *) fields[MODE_FIELDS_MAX];

static struct field *field_new(slice text)
{
    struct field *field = mem_alloc(sizeof *field + text.n);
    field->n = text.n;
    memcpy(field->text, text.p, text.n);
    return field;
}

/* The place of this text in the table; false when the table is full. */
static bool field_place(slice text, uint32_t *out)
{
    struct field *mine = NULL;
    for (uint32_t i = 0; i < MODE_FIELDS_MAX; i++) {
        const struct field *there = atomic_load_explicit(&fields[i], memory_order_acquire);
        if (!there && !mine)
            mine = field_new(text);
        *out = i;
        if (!there && atomic_compare_exchange_strong_explicit(
                          &fields[i], &there, mine, memory_order_release, memory_order_acquire))
            return true;
        if (slice_eq((slice){there->text, there->n}, text)) {
            mem_free(mine);
            return true;
        }
    }
    mem_free(mine);
    return false;
}

/* A path of keys and indexes with single slashes between, as one word. */
static bool field_valid(slice text)
{
    if (text.n == 0 || text.n > MODE_FIELD_MAX)
        return false;
    bool empty = true; /* the part since the last slash */
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c <= ' ' || c == 0x7f || (c == '/' && empty))
            return false;
        empty = c == '/';
    }
    return !empty;
}

enum mode_corrupt mode_corrupt(mode m)
{
    return (enum mode_corrupt)((mode_argument(m) & 0xff) % CORRUPT_KINDS);
}

slice mode_field(mode m)
{
    uint32_t place = mode_argument(m) >> FIELD_SHIFT;
    if (mode_kind(m) != MODE_CORRUPT || mode_corrupt(m) < CORRUPT_REMOVE ||
        place >= MODE_FIELDS_MAX)
        return SLICE("");
    const struct field *field = atomic_load_explicit(&fields[place], memory_order_acquire);
    return field ? (slice){field->text, field->n} : SLICE("");
}

/* ---- modes ---- */

mode mode_make(enum mode_kind kind, uint32_t argument)
{
    return (mode)kind << 24 | (argument & MODE_ARGUMENT_MAX);
}

int64_t mode_delay_ns(mode m)
{
    return mode_rows[mode_kind(m) % MODE_KINDS].argument == ARG_DURATION ? MS(mode_argument(m)) : 0;
}

enum mode_act mode_act(mode m)
{
    const struct mode_row *row = &mode_rows[mode_kind(m) % MODE_KINDS];
    return row->argument == ARG_CUT && mode_argument(m) > 0 ? ACT_CUT : row->act;
}

bool mode_waits(mode m)
{
    enum mode_act act = mode_act(m);
    return act == ACT_HOLD || act == ACT_DELAY || act == ACT_LATE || act == ACT_PACE;
}

bool mode_lost(mode m)
{
    return m & LOST;
}

mode mode_without_lost(mode m)
{
    return m & ~LOST;
}

bool mode_reached(mode m)
{
    return mode_lost(m) || mode_act(m) >= ACT_REACHED;
}

outcome mode_outcome(mode m)
{
    enum outcome_kind kind = mode_rows[mode_kind(m) % MODE_KINDS].outcome;
    if (mode_act(m) >= ACT_REACHED)
        return OUTCOME(OUT_NONE, 0);
    return OUTCOME(kind, kind == OUT_STATUS || kind == OUT_GRPC ? mode_argument(m) : 0);
}

label mode_label(mode m)
{
    bool own = mode_reached(m) || mode_rows[mode_kind(m) % MODE_KINDS].at == AT_HTTP2;
    return own ? LABEL_MODE | m : mode_outcome(m);
}

/* ---- text ---- */

static void print_corrupt(mode m, struct buf *out)
{
    enum mode_corrupt what = mode_corrupt(m);
    buf_addf(out, ":%s", corrupt_names[what]);
    if (what >= CORRUPT_REMOVE) {
        buf_addc(out, '=');
        buf_add(out, mode_field(m));
    }
}

static void print_duration(uint32_t ms, struct buf *out)
{
    buf_addf(out, ms % 1000 ? ":%ums" : ":%us", (unsigned)(ms % 1000 ? ms : ms / 1000));
}

void mode_print(mode m, struct buf *out)
{
    const struct mode_row *row = &mode_rows[mode_kind(m) % MODE_KINDS];
    if (mode_lost(m))
        buf_adds(out, LOST_NAME ":");
    if (row->argument != ARG_STATUS)
        buf_adds(out, row->name);
    switch (row->argument) {
    case ARG_NONE: break;
    case ARG_STATUS: buf_addf(out, "%u", (unsigned)mode_argument(m)); break;
    case ARG_DURATION: print_duration(mode_argument(m), out); break;
    case ARG_CORRUPT: print_corrupt(m, out); break;
    case ARG_CUT:
        if (mode_argument(m) > 0)
            buf_addf(out, ":%u", (unsigned)mode_argument(m));
        break;
    case ARG_CODE:
    case ARG_RATE:
    case ARG_BYTES:
    case ARG_ERROR: buf_addf(out, ":%u", (unsigned)mode_argument(m)); break;
    case ARG_KINDS: break;
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
    size_t blank = slice_find(text, ' ');
    slice name = {text.p, slice_find((slice){text.p, blank}, ':')};
    const char *near = err_nearest(name, words, MODE_KINDS);
    slice value = slice_trim(slice_from(text, blank));
    if (near && value.n && slice_is(name, near)) /* "delay 2s" */
        return err_set(e, 0, 0,
                       "mode \"%.*s\": put a colon between the name and its value: \"%s:%.*s\"",
                       SHORT(text), near, SHORT(value));
    return err_set(e, 0, 0, "there is no mode \"%.*s\"; `outfox modes` lists them%s", SHORT(text),
                   err_hint(name, words, MODE_KINDS).text);
}

/* empty, garbage, remove=FIELD or null=FIELD. */
static int parse_corrupt(slice arg, mode *out, struct err *e)
{
    size_t equals = slice_find(arg, '=');
    uint32_t what = 0, place = 0;
    while (what < CORRUPT_KINDS && !slice_is((slice){arg.p, equals}, corrupt_names[what]))
        what++;
    if (what == CORRUPT_KINDS || (what < CORRUPT_REMOVE && equals < arg.n))
        return err_set(e, 0, 0, "mode \"corrupt\" takes %s", arguments[ARG_CORRUPT].wants);
    if (what >= CORRUPT_REMOVE) {
        slice field = equals < arg.n ? slice_from(arg, equals + 1) : SLICE("");
        if (!field_valid(field))
            return err_set(e, 0, 0,
                           "after \"corrupt:%s=\" comes a field such as total or items/0/id: 1 to "
                           "%d bytes without blanks, names or indexes with \"/\" between",
                           corrupt_names[what], MODE_FIELD_MAX);
        if (!field_place(field, &place))
            return err_set(e, 0, 0, "there are more than %d different fields in modes \"corrupt\"",
                           MODE_FIELDS_MAX);
    }
    *out = mode_make(MODE_CORRUPT, place << FIELD_SHIFT | what);
    return 0;
}

/* The number that the text of an argument stands for; false when it is none that may be there. */
static bool read_argument(enum mode_argument kind, slice arg, bool given, uint64_t *number)
{
    int64_t ns;
    *number = 0;
    if (!given)
        return kind == ARG_NONE || kind == ARG_CUT;
    if (kind == ARG_DURATION) {
        if (!slice_to_ns(arg, &ns))
            return false;
        *number = (uint64_t)(ns / MS(1));
    } else if (kind == ARG_NONE || !slice_to_u64(arg, UINT64_MAX, number)) {
        return false;
    }
    return *number >= arguments[kind].min && *number <= arguments[kind].max;
}

static int parse_argument(enum mode_kind kind, slice arg, bool given, mode *out, struct err *e)
{
    uint64_t number;
    enum mode_argument argument = mode_rows[kind].argument;
    if (argument == ARG_CORRUPT)
        return parse_corrupt(arg, out, e);
    if (!read_argument(argument, arg, given, &number))
        return err_set(e, 0, 0, "mode \"%s\" takes %s", mode_rows[kind].name,
                       arguments[argument].wants);
    *out = mode_make(kind, (uint32_t)number);
    return 0;
}

static int parse_plain(slice text, mode *out, struct err *e)
{
    uint64_t status;
    if (slice_to_u64(text, UINT32_MAX, &status))
        return parse_argument(MODE_STATUS, text, true, out, e);
    size_t colon = slice_find(text, ':');
    slice name = {text.p, colon};
    slice arg = colon < text.n ? slice_from(text, colon + 1) : SLICE("");
    for (enum mode_kind kind = MODE_STATUS; kind < MODE_KINDS; kind++)
        if (slice_is(name, mode_rows[kind].name))
            return parse_argument(kind, arg, colon < text.n, out, e);
    return unknown_mode(text, e);
}

int mode_parse(slice text, mode *out, struct err *e)
{
    text = slice_trim(text);
    if (slice_is(text, LOST_NAME))
        return err_set(e, 0, 0,
                       "mode \"" LOST_NAME
                       "\" takes what the caller sees instead of the reply, for "
                       "example " LOST_NAME ":503 or " LOST_NAME ":reset");
    if (!slice_starts(text, SLICE(LOST_NAME ":")))
        return parse_plain(text, out, e);
    text = slice_trim(slice_from(text, sizeof LOST_NAME));
    bool twice = slice_starts(text, SLICE(LOST_NAME));
    if (!twice && parse_plain(text, out, e))
        return -1;
    if (twice || mode_reached(*out))
        return err_set(e, 0, 0,
                       "after " LOST_NAME ": comes a mode that keeps the request from the service, "
                       "such as 503 or reset");
    *out |= LOST;
    return 0;
}
