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
#include "core/trace.h"
#include "data/keys.h"

#define LOST        (1u << 29)
#define LOST_NAME   "lost-reply"
#define FIELD_SHIFT 8 /* argument of `corrupt`: what is done 8 bits | place in fields 16 bits */

const struct mode_row mode_rows[MODE_KINDS] = {
    {"none", ARG_NONE, ACTS, OUT_NONE, AT_ANY, "fails", "No fault."},
#define MODE(id, name, argument, act, outcome, at, verb, doc)                                      \
    {name, argument, act, outcome, at, verb, doc},
#include "core/mode.list"
#undef MODE
};

/* The text of outcomes; where a code follows, what stands before it. */
static const char *const outcome_names[OUT_KINDS] = {
    [OUT_NONE] = "unknown",    [OUT_STATUS] = "",
    [OUT_GRPC] = "grpc:",      [OUT_REFUSED] = "refused",
    [OUT_RESET] = "reset",     [OUT_CLOSED] = "closed",
    [OUT_TIMEOUT] = "timeout", [OUT_CANCELLED] = "cancelled",
    [OUT_EXIT] = "exit:",
};

static bool has_code(enum outcome_kind kind)
{
    return kind == OUT_STATUS || kind == OUT_GRPC || kind == OUT_EXIT;
}

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
    [ARG_CORRUPT] = {0, 0, "one of empty, garbage, remove=FIELD or null=FIELD"},
    [ARG_ERROR] = {0, 13, "an HTTP/2 error code from 0 to 13"},
    [ARG_EVENT] = {0, 0, "the name of an event of the plan"},
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
    buf_adds(out, outcome_names[outcome_kind(o)]);
    if (has_code(outcome_kind(o)))
        buf_addf(out, "%u", (unsigned)outcome_code(o));
}

bool outcome_read(slice text, outcome *out)
{
    for (enum outcome_kind kind = 0; kind < OUT_KINDS; kind++) {
        uint64_t code = 0;
        slice name = slice_of(outcome_names[kind]);
        *out = OUTCOME(kind, 0);
        if (has_code(kind) ? slice_starts(text, name) &&
                                 slice_to_u64(slice_from(text, name.n), 0xffffff, &code)
                           : slice_eq(text, name)) {
            *out |= (outcome)code;
            return true;
        }
    }
    return false;
}

/* ---- fields ---- */

struct field {
    size_t n;
    char text[];
};

static _Atomic(const struct field *) fields[MODE_FIELDS_MAX];

/* The place of this text in the table; false when the table is full. */
static bool field_place(slice text, uint32_t *out)
{
    struct field *mine = NULL;
    for (uint32_t i = 0; i < MODE_FIELDS_MAX; i++) {
        const struct field *there = atomic_load_explicit(&fields[i], memory_order_acquire);
        if (!there && !mine) {
            mine = mem_alloc(sizeof *mine + text.n);
            mine->n = text.n;
            memcpy(mine->text, text.p, text.n);
        }
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

static slice field_text(uint32_t place)
{
    const struct field *field =
        place < MODE_FIELDS_MAX ? atomic_load_explicit(&fields[place], memory_order_acquire) : NULL;
    return field ? (slice){field->text, field->n} : SLICE("");
}

slice mode_field(mode m)
{
    bool has = mode_kind(m) == MODE_CORRUPT && mode_corrupt(m) >= CORRUPT_REMOVE;
    return has ? field_text(mode_argument(m) >> FIELD_SHIFT) : SLICE("");
}

slice mode_event(mode m)
{
    return mode_kind(m) == MODE_EVENT ? field_text(mode_argument(m)) : SLICE("");
}

/* ---- modes ---- */

mode mode_make(enum mode_kind kind, uint32_t argument)
{
    return MODE_OF(kind, argument & MODE_ARGUMENT_MAX);
}

int64_t mode_delay_ns(mode m)
{
    return mode_rows[mode_kind(m)].argument == ARG_DURATION ? MS(mode_argument(m)) : 0;
}

enum mode_act mode_act(mode m)
{
    const struct mode_row *row = &mode_rows[mode_kind(m)];
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
    enum outcome_kind kind = mode_rows[mode_kind(m)].outcome;
    if (mode_act(m) >= ACT_REACHED)
        return OUTCOME(OUT_NONE, 0);
    return OUTCOME(kind, kind == OUT_STATUS || kind == OUT_GRPC ? mode_argument(m) : 0);
}

label mode_label(mode m)
{
    bool own = mode_reached(m) || mode_rows[mode_kind(m)].at == AT_HTTP2;
    return own ? LABEL_MODE | m : mode_outcome(m);
}

/* ---- text ---- */

void mode_print(mode m, struct buf *out)
{
    const struct mode_row *row = &mode_rows[mode_kind(m)];
    uint32_t argument = mode_argument(m);
    if (mode_lost(m))
        buf_adds(out, LOST_NAME ":");
    if (row->argument == ARG_STATUS) {
        buf_addf(out, "%u", (unsigned)argument);
        return;
    }
    buf_adds(out, row->name);
    if (row->argument == ARG_NONE || (row->argument == ARG_CUT && !argument))
        return;
    if (row->argument == ARG_DURATION) {
        bool seconds = argument % 1000 == 0;
        buf_addf(out, seconds ? ":%us" : ":%ums", (unsigned)(seconds ? argument / 1000 : argument));
    } else if (row->argument == ARG_CORRUPT) {
        bool field = mode_corrupt(m) >= CORRUPT_REMOVE;
        buf_addf(out, ":%s%s", corrupt_names[mode_corrupt(m)], field ? "=" : "");
        buf_add(out, mode_field(m));
    } else if (row->argument == ARG_EVENT) {
        buf_addc(out, ':');
        buf_add(out, mode_event(m));
    } else {
        buf_addf(out, ":%u", (unsigned)argument);
    }
}

void label_print(label l, struct buf *out)
{
    if (l & LABEL_MODE)
        mode_print(l & ~LABEL_MODE, out);
    else
        outcome_print(l, out);
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
            return err_set(
                e, 0, 0,
                "\"corrupt:%s=\" needs a field such as total or items/0/id: 1 to %d bytes "
                "without spaces, names or indexes separated by \"/\"",
                corrupt_names[what], MODE_FIELD_MAX);
        if (!field_place(field, &place))
            return err_set(e, 0, 0, "more than %d different fields in modes \"corrupt\"",
                           MODE_FIELDS_MAX);
    }
    *out = mode_make(MODE_CORRUPT, place << FIELD_SHIFT | what);
    return 0;
}

static int parse_event(slice name, mode *out, struct err *e)
{
    uint32_t place;
    if (!name_valid(name, true))
        return err_set(e, 0, 0, "mode \"event\" takes %s, such as event:kill-stock",
                       arguments[ARG_EVENT].wants);
    if (!field_place(name, &place))
        return err_set(e, 0, 0, "more than %d different fields and events in modes",
                       MODE_FIELDS_MAX);
    *out = mode_make(MODE_EVENT, place);
    return 0;
}

/* The text of an argument; without one `given` is false. */
static int parse_argument(enum mode_kind kind, slice arg, bool given, mode *out, struct err *e)
{
    enum mode_argument argument = mode_rows[kind].argument;
    uint64_t number = 0;
    int64_t ns = 0;
    bool valid = argument == ARG_NONE || argument == ARG_CUT;
    if (argument == ARG_CORRUPT)
        return parse_corrupt(arg, out, e);
    if (argument == ARG_EVENT)
        return parse_event(arg, out, e);
    if (given) {
        valid = argument == ARG_DURATION ? slice_to_ns(arg, &ns)
                                         : slice_to_u64(arg, UINT64_MAX, &number);
        if (argument == ARG_DURATION)
            number = (uint64_t)(ns / MS(1));
        valid &= argument != ARG_NONE && number >= arguments[argument].min &&
                 number <= arguments[argument].max;
    }
    if (!valid)
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
    const char *words[MODE_KINDS];
    for (size_t i = 1; i < MODE_KINDS; i++)
        words[i] = mode_rows[i].name;
    words[0] = LOST_NAME;
    size_t blank = slice_find(text, ' ');
    name.n = slice_find((slice){text.p, blank}, ':');
    const char *near = err_nearest(name, words, MODE_KINDS);
    slice value = slice_trim(slice_from(text, blank));
    if (near && value.n && slice_is(name, near)) /* "delay 2s" */
        return err_set(e, 0, 0,
                       "mode \"%.*s\": put a colon between the name and its value: \"%s:%.*s\"",
                       SHORT(text), near, SHORT(value));
    return err_set(e, 0, 0, "unknown mode \"%.*s\"; `outfox modes` lists them%s", SHORT(text),
                   err_hint(name, words, MODE_KINDS).text);
}

int mode_parse(slice text, mode *out, struct err *e)
{
    *out = MODE_NONE;
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
                       "\"" LOST_NAME ":\" needs a mode that keeps the request from the service, "
                       "such as 503 or reset");
    *out |= LOST;
    return 0;
}

/* ---- sets and lists ---- */

const struct mode_set mode_sets[MODE_SETS] = {
    [SET_ERRORS] = {"errors", "500, 502, 503, 504, grpc:13, grpc:14, grpc:4",
                    "Error answers only: cheap, but blind to calls that get no answer."},
    [SET_STANDARD] = {"standard", "503, grpc:14, reset, lost-reply:503, lost-reply:grpc:14, hold",
                      "One of each class: an error, a broken connection, a lost reply, no answer."},
    [SET_THOROUGH] =
        {"thorough",
         "500, 502, 503, 504, 429, grpc:13, grpc:14, grpc:4, grpc:2, grpc:8, reset, close, reset:1, "
         "rst-stream:7, goaway, corrupt:empty, corrupt:garbage, duplicate, lost-reply:503, "
         "lost-reply:grpc:14, lost-reply:reset, hold, lost-reply:hold",
         "Everything that real networks and services do: many runs."},
    /* its overload and hang are no modes of their own: at one call they are 503 or delay:5s */
    [SET_INTELLIFT] = {"intellift", "503, grpc:14, delay:5s, 404, grpc:12, reset",
                       "The fault types of IntelliFT: abort, delay and hang, disconnect, crash."},
};

static int add_mode(struct mode_list *list, slice word, bool named, struct err *e)
{
    mode m;
    if (mode_parse(word, &m, e))
        return -1;
    uint32_t i = 0;
    while (i < list->n && list->at[i] != m)
        i++;
    if (i == MODE_LIST_MAX)
        return err_set(e, 0, 0, "more than %d modes are listed", MODE_LIST_MAX);
    if (named && i < list->n && list->named >> i & 1)
        return err_set(e, 0, 0, "mode \"%.*s\" is listed twice", SLICE_ARG(word));
    list->n += i == list->n;
    list->at[i] = m;
    list->named |= (uint64_t)named << i;
    return 0;
}

static int add_set(struct mode_list *list, const struct mode_set *set, struct err *e)
{
    slice rest = slice_of(set->modes), word;
    while (slice_cut(&rest, ',', &word))
        if (add_mode(list, slice_trim(word), false, e))
            return -1;
    return 0;
}

int mode_list_add(struct mode_list *list, slice word, struct err *e)
{
    word = slice_trim(word);
    for (size_t i = 0; i < MODE_SETS; i++)
        if (slice_is(word, mode_sets[i].name))
            return add_set(list, &mode_sets[i], e);
    struct err wrong = {0};
    if (add_mode(list, word, true, &wrong) == 0)
        return 0;
    const char *names[MODE_SETS];
    for (size_t i = 0; i < MODE_SETS; i++)
        names[i] = mode_sets[i].name;
    const char *near = err_nearest(word, names, MODE_SETS);
    if (!near)
        return err_set(e, 0, 0, "%s", wrong.text);
    return err_set(e, 0, 0, "unknown set of modes \"%.*s\"; did you mean \"%s\"?", SLICE_ARG(word),
                   near);
}

void mode_list_add_set(struct mode_list *list, enum mode_set_id set)
{
    struct err full = {0};
    int failed = add_set(list, &mode_sets[set], &full);
    (void)failed; /* its texts are right, and there is room */
}

void mode_list_fit(struct mode_list *list, uint8_t flags)
{
    struct mode_list out = {0};
    for (uint32_t i = 0; i < list->n; i++) {
        bool named = list->named >> i & 1;
        if (!named && !call_flags_take(flags, list->at[i]))
            continue;
        if (named)
            out.named |= UINT64_C(1) << out.n;
        out.at[out.n++] = list->at[i];
    }
    *list = out;
}
