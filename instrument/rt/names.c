/* SPDX-License-Identifier: Apache-2.0
 *
 * The symbols of the ABI. All modules of a process shall have one runtime, though each brings one.
 *
 * 1. The data are unique symbols: the dynamic linker gives all modules the same ones, also those that are
 *    loaded with RTLD_LOCAL, and does not unload the module that they are in. C has no words for them.
 * 2. Functions cannot be unique. So those that a module calls are its own, which nobody else sees, and go
 *    on to the functions in a table that is unique. Their frames do not show in backtraces. */
#include "rt.h"

struct names {
    int (*hook)(const struct outfox_site *, long, unsigned long *, const void *, long *);
    void (*module)(const struct outfox_part *);
    void (*gone)(const struct outfox_part *);
};
extern const struct names outfox_rt1_names;

__asm__(".pushsection .bss.outfox_rt1_on,\"aw\",%nobits\n"
        ".balign 64\n"
        ".globl outfox_rt1_on\n"
        ".type outfox_rt1_on,%gnu_unique_object\n"
        ".size outfox_rt1_on,4\n"
        "outfox_rt1_on: .zero 64\n" /* the line of the cache is never written to */
        ".popsection\n"
        ".pushsection .tbss.outfox_rt1_now,\"awT\",%nobits\n"
        ".balign 8\n"
        ".globl outfox_rt1_now\n"
        ".type outfox_rt1_now,%gnu_unique_object\n"
        ".size outfox_rt1_now,8\n"
        "outfox_rt1_now: .zero 8\n"
        ".popsection\n"
        ".pushsection .data.rel.ro.outfox_rt1_names,\"aw\",%progbits\n"
        ".balign 8\n"
        ".globl outfox_rt1_names\n"
        ".type outfox_rt1_names,%gnu_unique_object\n"
        ".size outfox_rt1_names,24\n"
        "outfox_rt1_names: .8byte rt_hook, rt_module, rt_gone\n"
        ".popsection\n");

int outfox_hook(const struct outfox_site *site, long subject, unsigned long *count,
                const void *caller, long *value)
{
    return outfox_rt1_names.hook(site, subject, count, caller, value);
}

void outfox_module(const struct outfox_part *part)
{
    outfox_rt1_names.module(part);
}

void outfox_gone(const struct outfox_part *part)
{
    outfox_rt1_names.gone(part);
}
