/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the runtime: says what sites tell it, and does what the environment asks for.
 *   FAIL=read        each call of read fails, with the first error of its site
 *   SHORT=read       each is asked for one less than it was */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outfox/abi.h"

int outfox_on = 1;
__thread const struct outfox_state *outfox_now;

static const char *text(const int32_t *at)
{
    return (const char *)at + *at;
}

static int asked(const char *variable, const char *callee)
{
    const char *wanted = getenv(variable);
    return wanted && strcmp(wanted, callee) == 0;
}

int outfox_hook(const struct outfox_site *s, long subject, unsigned long *count, const void *caller,
                long *value)
{
    const char *callee = text(&s->callee);
    if (getenv("TELL"))
        fprintf(
            stderr,
            "site %s:%u:%u %s %s kind=%d subject=%d/%ld count=%ld caller=%d value=%d errors=%d\n",
            text(&s->file), s->line, s->column, text(&s->function), callee, s->kind, s->subject,
            s->subject == OUTFOX_SUBJECT_STREAM ? subject != 0 : subject, count ? (long)*count : -1,
            caller != NULL, s->value, s->errors);
    if (asked("SHORT", callee) && count && *count > 1)
        --*count;
    if (!asked("FAIL", callee))
        return 0;
    if (s->result == OUTFOX_RESULT_ERRNO)
        errno = s->error[0].number;
    *value = s->result == OUTFOX_RESULT_NUMBER ? s->error[0].number : s->value;
    return 1;
}

/* The module's constructor, as the runtime has one. */
extern const struct outfox_site __start_outfox_sites[] __attribute__((weak, visibility("hidden"))),
    __stop_outfox_sites[] __attribute__((weak, visibility("hidden")));

__attribute__((constructor)) static void count(void)
{
    if (getenv("TELL"))
        fprintf(stderr, "sites %d\n", (int)(__stop_outfox_sites - __start_outfox_sites));
}
