/* SPDX-License-Identifier: Apache-2.0
 *
 * Small values that keys of several maps have: how they are read, and what is wrong with others. */
#include "plan/plan_int.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"

#define OFFSET_MOST_NS (HOURS(24) * 365 * 50)

const struct plan_signal plan_signals[PLAN_SIGNALS] = {
    [PLAN_SIGNAL_KILL] = {"KILL", SIGKILL},
    [PLAN_SIGNAL_TERM] = {"TERM", SIGTERM},
    {"HUP", SIGHUP},
    {"INT", SIGINT},
    {"QUIT", SIGQUIT},
    {"ABRT", SIGABRT},
    {"SEGV", SIGSEGV},
    {"BUS", SIGBUS},
    {"ILL", SIGILL},
    {"FPE", SIGFPE},
    {"USR1", SIGUSR1},
    {"USR2", SIGUSR2},
    {"ALRM", SIGALRM},
    {"PIPE", SIGPIPE},
    {"WINCH", SIGWINCH},
};

struct plan_place plan_place_of(const struct node *n)
{
    return (struct plan_place){n->line, n->col};
}

int plan_read_chance(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    return keys_number(r, key->name, value, 0, 1, key_field(key, into));
}

/* A size as head and fallocate take it: K is 1024. */
bool plan_bytes_of(slice text, uint64_t *out)
{
    static const char units[] = "KMG";
    uint32_t shift = 0;
    const char *unit = text.n ? memchr(units, text.p[text.n - 1], 3) : NULL;
    if (unit) {
        text.n--;
        shift = 10 * (uint32_t)(unit - units + 1);
    }
    if (!slice_to_u64(text, 1 << 30, out) || !*out)
        return false;
    *out <<= shift;
    return true;
}

int plan_read_bytes(struct keys_reader *r, const struct key *key, const struct node *value,
                    uint64_t *out)
{
    if (keys_want_scalar(r, key->name, value))
        return -1;
    return plan_bytes_of(value->text, out)
               ? 0
               : keys_fail(r, value, "\"%s\" must be a size such as 4096, 64K, 500M or 2G",
                           key->name);
}

int plan_read_value(struct keys_reader *r, const char *key, const struct node *value, double *out)
{
    uint64_t bytes;
    struct err mine = {0};
    struct keys_reader quiet = {.e = &mine, .arena = r->arena};
    const struct key size = {.name = key};
    if (value->type == NODE_NUM && isfinite(value->num)) {
        *out = value->num;
        return 0;
    }
    if (value->type != NODE_STR || plan_read_bytes(&quiet, &size, value, &bytes))
        return keys_fail(r, value, "\"%s\" must be a number, or a size such as 64M", key);
    *out = (double)bytes;
    return 0;
}

int plan_read_size(struct keys_reader *r, const struct key *key, void *into,
                   const struct node *value)
{
    uint64_t number;
    *(slice *)key_field(key, into) = value->text;
    return plan_read_bytes(r, key, value, &number);
}

int plan_read_rate(struct keys_reader *r, const struct key *key, void *into,
                   const struct node *value)
{
    return plan_read_bytes(r, key, value, key_field(key, into));
}

int plan_read_percent(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    slice digits = value->text;
    uint64_t percent = 0;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    bool good = digits.n > 1 && digits.p[digits.n - 1] == '%';
    digits.n -= good;
    if (!good || !slice_to_u64(digits, 100000, &percent) || !percent)
        return keys_fail(r, value, "\"%s\" must be a share of one processor such as 10%% or 200%%",
                         key->name);
    *(uint32_t *)key_field(key, into) = (uint32_t)percent;
    return 0;
}

int plan_read_offset(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    int64_t *out = key_field(key, into);
    if (keys_want_scalar(r, key->name, value))
        return -1;
    slice text = value->text;
    bool less = slice_starts(text, SLICE("-"));
    text = slice_from(text, less || slice_starts(text, SLICE("+")));
    if (!slice_to_ns(text, out) || !*out || *out > OFFSET_MOST_NS)
        return keys_fail(r, value,
                         "\"%s\" must say how wrong the clock is, such as 2h or -30s, and at most "
                         "50 years (438000h)",
                         key->name);
    *out = less ? -*out : *out;
    return 0;
}

/* A factor, or what it gains in parts of a million. */
int plan_read_drift(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    enum { FASTEST = 100 };
    char number[40];
    if (keys_want_scalar(r, key->name, value))
        return -1;
    slice text = value->text, unit = SLICE("ppm");
    bool parts = text.n > unit.n && slice_eq(slice_from(text, text.n - unit.n), unit);
    text.n -= parts ? unit.n : 0;
    bool good = text.n && text.n < sizeof number;
    char *end = number;
    if (good) {
        memcpy(number, text.p, text.n);
        number[text.n] = 0;
    }
    double speed = good ? strtod(number, &end) : 0;
    speed = parts ? 1 + speed / 1e6 : speed;
    good = good && !*end && speed >= 0 && speed <= FASTEST;
    int64_t ppb = good ? llround((speed - 1) * 1e9) : 0;
    if (!ppb)
        return keys_fail(
            r, value,
            "\"%s\" must say how fast the clock is, such as 0.5 or 2 (from 0 to %d, but "
            "not 1), or what it gains, such as 500ppm or -200ppm",
            key->name, FASTEST);
    *(int64_t *)key_field(key, into) = ppb;
    return 0;
}

int plan_pair_name(struct keys_reader *r, const struct key *key, const struct node_pair *pair,
                   const char *what)
{
    (void)key;
    return keys_name(r, pair->key, pair->line, pair->col, what, false);
}

int plan_check_env(struct keys_reader *r, const struct key *key, void *into,
                   const struct node_pair *pair)
{
    (void)key, (void)into;
    return keys_want_scalar(r, "env", pair->value);
}

/* One name, or a list of them. */
int plan_read_names(struct keys_reader *r, const struct key *key, struct texts *names,
                    const struct node *value)
{
    if (value->type != NODE_LIST) {
        if (keys_want_scalar(r, key->name, value))
            return -1;
        vec_push(names, value->text);
        return 0;
    }
    for (uint32_t i = 0; i < value->n; i++) {
        if (keys_want_scalar(r, key->name, value->list[i]))
            return -1;
        vec_push(names, value->list[i]->text);
    }
    return value->n ? 0 : keys_fail(r, value, "\"%s\" is empty: name a node, or all", key->name);
}
