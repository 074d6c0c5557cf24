/* SPDX-License-Identifier: Apache-2.0 */
#include "base/look.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"

#define NEAR_NS HOURS(40 * 24)

enum { HEX_LONG = 16, ULID_LENGTH = 26, UUID_LENGTH = 36 };

/* Of a number that counts since 1970: seconds, milliseconds, microseconds, nanoseconds. */
static const int64_t unit_ns[] = {SECONDS(1), MS(1), 1000, 1};

static bool is_near(int64_t ns, int64_t now_ns)
{
    int64_t apart;
    return !__builtin_sub_overflow(ns, now_ns, &apart) && apart > -NEAR_NS && apart < NEAR_NS;
}

bool look_integer(int64_t number, int64_t now_ns)
{
    int64_t ns;
    for (size_t i = 0; i < sizeof unit_ns / sizeof *unit_ns; i++)
        if (number > 0 && !__builtin_mul_overflow(number, unit_ns[i], &ns) && is_near(ns, now_ns))
            return true;
    return false;
}

bool look_real(double number, int64_t now_ns)
{
    for (size_t i = 0; i < sizeof unit_ns / sizeof *unit_ns; i++)
        if (number > 0 && fabs(number * (double)unit_ns[i] - (double)now_ns) < (double)NEAR_NS)
            return true;
    return false;
}

/* How many digits s starts with. */
static size_t digits_of(slice s)
{
    size_t n = 0;
    while (n < s.n && is_digit(s.p[n]))
        n++;
    return n;
}

/* 2024-02-29T12:30 and what may follow; a date alone is more likely a parameter. The zone does not
 * matter to what is near. */
static bool look_iso(slice s, int64_t now_ns)
{
    static const char form[] = "dddd-dd-ddTdd:dd";
    static const uint8_t at[] = {0, 5, 8, 11, 14}, width[] = {4, 2, 2, 2, 2};
    uint64_t part[5];
    if (s.n < sizeof form - 1)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++) {
        char c = s.p[i];
        bool fits = form[i] == 'd'   ? is_digit(c)
                    : form[i] == 'T' ? c == 'T' || c == 't' || c == ' '
                                     : c == form[i];
        if (!fits)
            return false;
    }
    for (size_t i = 0; i < 5; i++)
        if (!slice_to_u64((slice){s.p + at[i], width[i]}, 9999, &part[i]))
            return false;
    struct tm tm = {.tm_year = (int)part[0] - 1900,
                    .tm_mon = (int)part[1] - 1,
                    .tm_mday = (int)part[2],
                    .tm_hour = (int)part[3],
                    .tm_min = (int)part[4]};
    int64_t ns;
    return !__builtin_mul_overflow((int64_t)timegm(&tm), unit_ns[0], &ns) && is_near(ns, now_ns);
}

/* Digits and letters of one case, both of them: neither a number nor a word. `dashes` are passed
 * over. */
static bool look_hex(slice s, bool dashes)
{
    size_t digits = 0, lower = 0, upper = 0, other = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (is_digit(c))
            digits++;
        else if (c >= 'a' && c <= 'f')
            lower++;
        else if (c >= 'A' && c <= 'F')
            upper++;
        else if (c != '-' || !dashes)
            other++;
    }
    return s.n >= HEX_LONG && other == 0 && digits > 0 && (lower > 0) != (upper > 0);
}

static bool look_uuid(slice s)
{
    if (s.n != UUID_LENGTH)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if ((s.p[i] == '-') != dash)
            return false;
    }
    return look_hex(s, true);
}

/* 26 digits of Crockford's base 32; the first ten are milliseconds since 1970. */
static bool look_ulid(slice s, int64_t now_ns)
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    uint64_t ms = 0;
    if (s.n != ULID_LENGTH)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] | 0x20) : s.p[i];
        const char *found = memchr(alphabet, c, sizeof alphabet - 1);
        if (!found)
            return false;
        if (i < 10)
            ms = ms << 5 | (uint64_t)(found - alphabet);
    }
    int64_t ns;
    return ms <= INT64_MAX && !__builtin_mul_overflow((int64_t)ms, unit_ns[1], &ns) &&
           is_near(ns, now_ns);
}

bool look_moment(slice text, int64_t now_ns)
{
    uint64_t number;
    text = slice_trim(text);
    size_t whole = digits_of(text); /* 1700000000, 1700000000.25 */
    if (whole < text.n &&
        (text.p[whole] != '.' || digits_of(slice_from(text, whole + 1)) + whole + 1 < text.n))
        return look_iso(text, now_ns);
    return slice_to_u64((slice){text.p, whole}, INT64_MAX, &number) &&
           look_integer((int64_t)number, now_ns);
}

bool look_id(slice text, int64_t now_ns)
{
    text = slice_trim(text);
    return look_hex(text, false) || look_uuid(text) || look_ulid(text, now_ns);
}
