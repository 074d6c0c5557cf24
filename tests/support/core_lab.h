/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of names, modes and faultloads share: names and modes by their text, and at
 * random. */
#ifndef OUTFOX_SUPPORT_CORE_LAB_H
#define OUTFOX_SUPPORT_CORE_LAB_H

#include "base/random.h"
#include "core/fault.h"
#include "core/interface.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static inline uid parse_uid(struct names *names, const char *text)
{
    struct err e = {0};
    uid u = UID_NONE;
    if (uid_parse(names, slice_of(text), &u, &e))
        fail_msg("%s: %s", text, e.text);
    return u;
}

static inline mode parse_mode(const char *text)
{
    struct err e = {0};
    mode m = MODE_NONE;
    if (mode_parse(slice_of(text), &m, &e))
        fail_msg("%s: %s", text, e.text);
    return m;
}

/* ---- random names ---- */

/* A word without blanks that begins with a letter. */
static inline void add_word(struct rng *rng, struct buf *out)
{
    static const char letters[] = "abcxyzABZ019-_.~[]{}()^#*&>:;%/\\\"'=+\x80\xff";
    buf_addc(out, letters[rng_below(rng, 9)]);
    for (uint32_t n = rng_below(rng, 6); n > 0; n--)
        buf_addc(out, letters[rng_below(rng, sizeof letters - 1)]);
}

/* An interface as interface_make makes it, of bytes of all kinds. */
static inline void add_interface(struct rng *rng, struct buf *out)
{
    static const slice methods[] = {{"GET", 3}, {"POST", 4}, {"", 0}};
    static const char bytes[] = "ab01 \t\r\n\x01\x7f\xc3\xa9?#*>:&{}^%/-[]~";
    slice method = methods[rng_below(rng, 3)];
    struct buf path = BUF_INIT(100);
    buf_adds(&path, method.n ? "/" : "pkg.Service/");
    for (uint32_t n = rng_below(rng, 12); n > 0; n--)
        buf_addc(&path, bytes[rng_below(rng, sizeof bytes - 1)]);
    interface_make(method, buf_slice(&path), NULL, out);
    buf_deinit(&path);
}

static inline struct element random_element(struct rng *rng, struct names *names, uint32_t variety)
{
    struct buf text = BUF_INIT(1000);
    struct element el = {0};
    struct rng own = {rng_below(rng, variety)}; /* few different ones, so that they meet again */
    add_word(&own, &text);
    el.service = names_sym(names, buf_slice(&text));
    buf_clear(&text);
    own = (struct rng){rng_below(rng, variety)};
    add_interface(&own, &text);
    el.interface = names_sym(names, buf_slice(&text));
    buf_deinit(&text);
    if (rng_below(rng, 3) == 0)
        el.payload = rng_below(rng, 2) ? 1 + rng_below(rng, 3) : UINT32_MAX - rng_below(rng, 3);
    if (rng_below(rng, 3) == 0)
        el.before = rng_below(rng, 2) ? 1 + rng_below(rng, 3) : UINT32_MAX - rng_below(rng, 3);
    if (rng_below(rng, 3) == 0)
        el.n = rng_below(rng, 2) ? rng_below(rng, 3) : N_ANY - rng_below(rng, 2);
    return el;
}

static inline uid random_uid(struct rng *rng, struct names *names, uint32_t variety)
{
    uid u = UID_NONE;
    for (uint32_t n = 1 + rng_below(rng, 5); n > 0; n--)
        u = names_uid(names, u, names_element(names, random_element(rng, names, variety)));
    return u;
}

static inline mode random_mode(struct rng *rng)
{
    static const char *const texts[] = {"500",
                                        "200",
                                        "599",
                                        "grpc:0",
                                        "grpc:16",
                                        "refuse",
                                        "reset",
                                        "close",
                                        "hold",
                                        "delay:1ms",
                                        "delay:2s",
                                        "delay:1500ms",
                                        "delay:4h",
                                        "lost-reply:503",
                                        "lost-reply:grpc:14",
                                        "lost-reply:hold",
                                        "lost-reply:reset",
                                        "lost-reply:goaway",
                                        "reset:1",
                                        "close:16777215",
                                        "delay-reply:1500ms",
                                        "slow:1",
                                        "truncate:0",
                                        "corrupt:empty",
                                        "corrupt:garbage",
                                        "corrupt:remove=a",
                                        "corrupt:remove=a/b/0",
                                        "corrupt:null=a:b&c>#d=e",
                                        "duplicate",
                                        "rst-stream:13",
                                        "goaway"};
    return parse_mode(texts[rng_below(rng, LENGTH(texts))]);
}

#endif
