/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the runtime in tests of states and origins: `say` prints the state that its thread is in, the hook
 * fails the origin that FAIL names. ENABLE=0: no function's states count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outfox/abi.h"
#include "watch.h"

int outfox_on = 1;
__thread const struct outfox_state *outfox_now;

extern struct outfox_function __start_outfox_functions[] __attribute__((weak)),
    __stop_outfox_functions[] __attribute__((weak));

static const char *text(const int32_t *at)
{
    return (const char *)at + *at;
}

__attribute__((constructor)) static void enable(void)
{
    const char *off = getenv("ENABLE");
    for (struct outfox_function *f = __start_outfox_functions; f < __stop_outfox_functions; f++)
        f->enabled = !(off && *off == '0');
}

int say(const char *what)
{
    const struct outfox_state *s = outfox_now;
    if (!s) {
        printf("%s: nowhere\n", what);
        return 0;
    }
    const struct outfox_function *f =
        (const struct outfox_function *)((const char *)&s->function + s->function);
    printf("%s: %s %u %s\n", what, text(&f->name), s->index, text(&s->variable));
    return 0;
}

int outfox_hook(const struct outfox_site *s, long subject, unsigned long *count, const void *caller,
                long *value)
{
    const char *wanted = getenv("FAIL");
    (void)subject, (void)count;
    if (s->kind != OUTFOX_ORIGIN || !wanted || strcmp(wanted, text(&s->function)) != 0)
        return 0;
    printf("%s fails, %s\n", wanted, caller ? "called from somewhere" : "called from nowhere");
    *value = s->value;
    return 1;
}
