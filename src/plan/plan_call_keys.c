/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of faults of system calls: which calls, and what becomes of them. The error must be one
 * that a correct program has to expect: else the plan would show what never happens. */
#include "base/clock.h"
#include "plan/injector.h"
#include "plan/plan_int.h"

enum { LIST_BYTES_MAX = 330 };

/* The words of `call`: one, or a list of them. */
static uint32_t n_words(const struct node *called)
{
    return called->type == NODE_LIST ? called->n : 1;
}

static const struct node *word_at(const struct node *called, uint32_t i)
{
    return called->type == NODE_LIST ? called->list[i] : called;
}

int plan_read_call(struct keys_reader *r, const struct key *key, void *into,
                   const struct node *value)
{
    struct plan_event *ev = into;
    const char *const *words = syscall_words();
    size_t n = 0;
    if (value->type == NODE_LIST && !value->n)
        return keys_fail(r, value, "\"%s\" is empty: name a system call", key->name);
    while (words[n])
        n++;
    for (uint32_t i = 0; i < n_words(value); i++) {
        const struct node *word = word_at(value, i);
        if (keys_want_scalar(r, key->name, word))
            return -1;
        if (!syscall_set_named(&ev->calls.calls, word->text))
            return keys_fail(r, word,
                             "there is no system call \"%.*s\" that can be harmed; outfox plan "
                             "calls lists them%s",
                             SHORT(word->text), err_hint(word->text, words, n).text);
    }
    ev->called = value;
    return 0;
}

/* The errors of all calls of a set, for a message. */
static void list_errors(const struct syscall_set *calls, struct buf *out)
{
    const char *before = "";
    for (int number = 1; number < 200; number++) {
        bool legal = false;
        for (uint32_t i = 0; i < SYSCALLS; i++)
            legal = legal || (syscall_set_has(calls, i) && syscall_fails(i, number));
        if (!legal)
            continue;
        buf_addf(out, "%s%s", before, syscall_error_name(number));
        before = ", ";
    }
}

/* Takes out of the rule those calls of the word for which `fits` does not hold; false: none is left. */
static bool narrow(struct plan_event *ev, slice word, int error,
                   bool (*fits)(uint32_t id, int error))
{
    struct syscall_set meant = {0};
    bool any = false;
    (void)syscall_set_named(&meant, word);
    for (uint32_t i = 0; i < SYSCALLS; i++) {
        if (!syscall_set_has(&meant, i))
            continue;
        if (fits(i, error))
            any = true;
        else
            ev->calls.calls.bits[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
    return any;
}

static bool may_fail(uint32_t id, int error)
{
    return syscall_fails(id, error) != 0;
}

static bool may_be_short(uint32_t id, int error)
{
    (void)error;
    return syscall_rows[id].moves != MOVES_NONE;
}

int plan_read_error(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct plan_event *ev = into;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    ev->calls.error = syscall_error(value->text);
    for (uint32_t i = 0; ev->called && i < n_words(ev->called); i++) {
        slice word = word_at(ev->called, i)->text;
        struct syscall_set meant = {0};
        struct buf legal = BUF_INIT(LIST_BYTES_MAX);
        if (ev->calls.error && narrow(ev, word, ev->calls.error, may_fail))
            continue;
        (void)syscall_set_named(&meant, word);
        list_errors(&meant, &legal);
        (void)keys_fail(r, value, "%.*s does not fail with \"%.*s\"; it may with %s", SHORT(word),
                        SHORT(value->text), buf_text(&legal));
        buf_deinit(&legal);
        return -1;
    }
    return ev->calls.error ? 0
                           : keys_fail(r, value, "\"%.*s\" is no error of system calls: EIO is one",
                                       SHORT(value->text));
}

/* true: a half. */
int plan_read_short(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct plan_event *ev = into;
    double part = 0.5;
    if (value->type == NODE_NUM)
        part = value->num;
    if ((value->type != NODE_NUM && !(value->type == NODE_BOOL && value->boolean)) ||
        !(part > 0 && part < 1))
        return keys_fail(r, value,
                         "\"%s\" must be true, or how much of the bytes is moved: a number between "
                         "0 and 1",
                         key->name);
    if (ev->calls.error)
        return keys_fail(r, value,
                         "\"error\" and \"short\" exclude each other: a call that fails "
                         "moves no bytes");
    for (uint32_t i = 0; ev->called && i < n_words(ev->called); i++) {
        slice word = word_at(ev->called, i)->text;
        if (!narrow(ev, word, 0, may_be_short))
            return keys_fail(
                r, value,
                "%.*s cannot be short; these can: read, pread64, readv, preadv, write, "
                "pwrite64, writev, pwritev, sendto, recvfrom",
                SHORT(word));
    }
    ev->calls.part = (uint32_t)(part * SYSCALL_MILLION + 0.5);
    ev->calls.part = ev->calls.part ? ev->calls.part : 1;
    return 0;
}

int plan_read_descriptor(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    uint64_t number;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (!slice_to_u64(value->text, INT32_MAX, &number))
        return keys_fail(r, value, "\"%s\" must be the number of a descriptor, such as 7",
                         key->name);
    ((struct plan_event *)into)->calls.fd = (int32_t)number;
    return 0;
}

int plan_read_millionths(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    double chance;
    if (keys_number(r, key->name, value, 0, 1, &chance))
        return -1;
    *(uint32_t *)key_field(key, into) = (uint32_t)(chance * SYSCALL_MILLION + 0.5);
    return 0;
}
