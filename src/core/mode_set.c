/* SPDX-License-Identifier: Apache-2.0 */
#include "core/mode_set.h"

#include "core/trace.h"

const struct mode_set mode_sets[MODE_SETS] = {
    [SET_ERRORS] = {"errors", "500, 502, 503, 504, grpc:13, grpc:14, grpc:4",
                    "Error answers alone: cheap, and blind to what is not answered."},
    [SET_STANDARD] = {"standard", "503, grpc:14, reset, lost-reply:503, lost-reply:grpc:14, hold",
                      "One of each class: an error, a broken connection, a lost reply, no answer."},
    [SET_THOROUGH] =
        {"thorough",
         "500, 502, 503, 504, 429, grpc:13, grpc:14, grpc:4, grpc:2, grpc:8, reset, close, reset:1, "
         "rst-stream:7, goaway, corrupt:empty, corrupt:garbage, duplicate, lost-reply:503, "
         "lost-reply:grpc:14, lost-reply:reset, hold, lost-reply:hold",
         "All that real networks and services do: many runs."},
};

/* The name of a set that this may have been meant for; NULL: none. */
static const char *nearest_set(slice word)
{
    const char *names[MODE_SETS];
    for (size_t i = 0; i < MODE_SETS; i++)
        names[i] = mode_sets[i].name;
    return err_nearest(word, names, MODE_SETS);
}

/* Where it is in the list; list->n: it is not. */
static uint32_t place_of(const struct mode_list *list, mode m)
{
    uint32_t i = 0;
    while (i < list->n && list->at[i] != m)
        i++;
    return i;
}

static int add_mode(struct mode_list *list, slice word, bool named, struct err *e)
{
    mode m;
    if (mode_parse(word, &m, e))
        return -1;
    uint32_t i = place_of(list, m);
    if (i == MODE_LIST_MAX)
        return err_set(e, 0, 0, "there are more than %d modes", MODE_LIST_MAX);
    if (named && i < list->n && list->named >> i & 1)
        return err_set(e, 0, 0, "mode \"%.*s\" is there twice", SLICE_ARG(word));
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
    const char *near = nearest_set(word);
    if (!near)
        return err_set(e, 0, 0, "%s", wrong.text);
    return err_set(e, 0, 0, "there is no set of modes \"%.*s\"; did you mean \"%s\"?",
                   SLICE_ARG(word), near);
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
