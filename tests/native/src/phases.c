/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions whose states are written down in tests/native/states. Each is given to `task`, as a callback is, so that
 * it has a record. */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "watch.h"

struct job {
    int step, left;
    struct {
        int depth;
    } inner;
    int (*then)(struct job *);
};
struct pair {
    long a, b, c;
};

int global = 1;
const int constant = 1;
static struct job jobs[2];
static jmp_buf jump;

typedef int task_fn(struct job *);
extern void task(task_fn *f);

static int branches(struct job *j)
{
    say("begin");
    if (j->step == 1)
        say("then");
    else
        say("else");
    say("after"); /* after the branch: the state stays */
    if (global)
        say("global");
    if (constant > j->left + rand() % 1)
        return 0; /* does nothing */
    return 1;
}

static int early(struct job *j)
{
    if (j->left > 0) {
        say("early");
        return 1;
    }
    return 2;
}

static int nested(struct job *j)
{
    if (j->inner.depth) {
        say("outer");
        branches(j);
        say("back");
    }
    return 0;
}

static int switches(struct job *j)
{
    switch (j->step) {
    case 0: say("zero"); break;
    case 1:
    case 2: say("one or two"); break;
    case 3: j->left = 0; break;
    default: break;
    }
    return 0;
}

static int loops(struct job *j)
{
    while (j->left > 0) {
        say("loop");
        j->left--;
    }
    for (int i = 0; i < 2; i++)
        say("no state");
    return 0;
}

static int jumps(struct job *j)
{
    int n = 0;
again:
    if (j->left > n) {
        say("again");
        n++;
        goto again;
    }
    return 0;
}

static int computed(struct job *j)
{
    static const void *const to[] = {&&first, &&second};
    goto *to[j->step & 1];
first:
    say("first");
    return 0;
second:
    say("second");
    return 0;
}

static int saves(struct job *j)
{
    if (setjmp(jump)) {
        say("landed");
        return 0;
    }
    if (j->step)
        say("alone"); /* functions that call setjmp are left alone */
    longjmp(jump, 1);
}

#if __has_attribute(musttail)
static int tail(struct job *j)
{
    if (j->step)
        say("tail");
    __attribute__((musttail)) return early(j);
}
#else
static int tail(struct job *j)
{
    if (j->step)
        say("tail");
    return early(j);
}
#endif

static int varied(struct job *j, ...)
{
    va_list args;
    va_start(args, j);
    if (j->step)
        say(va_arg(args, const char *));
    va_end(args);
    return 0;
}

static int calls_varied(struct job *j)
{
    varied(j, "varied");
    say("after varied");
    return 0;
}

static struct pair big(struct job *j, struct pair own)
{
    struct pair p = {1, 2, 3};
    if (own.a)
        say("own"); /* a copy of the function's own: no state variable */
    if (j->step)
        say("big");
    return p;
}

static int calls_big(struct job *j)
{
    return (int)big(j, (struct pair){1, 1, 1}).b;
}

extern void keep(void *p);

static int derived(struct job *j)
{
    long n = (long)j->left * 3 + 1;
    char *room = alloca((size_t)(n & 15) + 1);
    int is = n > 3;
    keep(room);
    for (int i = 0; i < 1; i++)
        if (is)
            say("derived");
    return 0;
}

static int asserts(struct job *j)
{
    if (j->step > 100)
        abort(); /* only the end follows: no state, and what follows is none either */
    say("fine");
    return 0;
}

static int quiet(struct job *j)
{
    if (j->step)
        printf("a line of a log\n"); /* only said */
    return 0;
}

/* varied and big need eight states or somebody who registers them */
extern void keep(void *p);

int main(void)
{
    static task_fn *const all[] = {branches,  early,    nested,  switches, loops,
                                   jumps,     computed, saves,   tail,     calls_varied,
                                   calls_big, derived,  asserts, quiet};
    keep((void *)varied);
    keep((void *)big);
    task(branches), task(early), task(nested), task(switches), task(loops), task(jumps);
    task(computed), task(saves), task(tail), task(calls_varied), task(calls_big), task(derived);
    task(asserts), task(quiet);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        jobs[0] = (struct job){.step = 1, .left = 2, .inner = {1}};
        printf("-- %u\n", i);
        all[i](&jobs[0]);
        say("main");
    }
    return 0;
}
