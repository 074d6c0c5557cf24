/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that find errors, and such as only look like it. tests/native/states says which are which. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outfox/abi.h"
#include "watch.h"

struct thing {
    int kind, size, n;
    struct thing *next;
    char name[8];
};

static struct thing one = {1, 4, 0, NULL, "one"};

/* Finds it itself, and says so. */
__attribute__((noinline)) int checks(struct thing *t)
{
    if (t->kind > 7) {
        fprintf(stderr, "checks: unknown kind %d\n", t->kind);
        return -1;
    }
    t->n++;
    return 0;
}

/* Sets errno. */
__attribute__((noinline)) int sets_errno(struct thing *t)
{
    if (t->size > 100) {
        errno = ENOSPC;
        return -1;
    }
    return t->size;
}

/* Its caller ends the program. */
__attribute__((noinline)) static struct thing *makes(struct thing *from)
{
    if (from->n > 1000)
        return NULL;
    struct thing *t = malloc(sizeof *t);
    if (t)
        *t = *from;
    return t;
}

/* A number that its caller takes for an error. */
__attribute__((noinline)) static int code(struct thing *t)
{
    if (t->kind == 9) {
        fprintf(stderr, "code: nine\n");
        return 3;
    }
    t->n += 2;
    return 0;
}

/* Only passes on what a call returned. */
__attribute__((noinline)) int passes_on(struct thing *t)
{
    if (write(1, "", 0) < 0) {
        fprintf(stderr, "cannot write\n");
        return -1;
    }
    return t->kind;
}

/* Nobody looks at what it returns. */
__attribute__((noinline)) int ignored(struct thing *t)
{
    if (t->kind > 7) {
        fprintf(stderr, "ignored\n");
        return -1;
    }
    return t->n;
}

/* When it fails it does what its caller relies on. */
__attribute__((noinline)) int replies(struct thing *t)
{
    if (t->kind > 7) {
        fprintf(stderr, "replies\n");
        t->n = -1;
        return -1;
    }
    return 0;
}

__attribute__((noinline)) struct thing *find_thing(struct thing *t, int kind)
{
    for (; t; t = t->next)
        if (t->kind == kind)
            return t;
    fprintf(stderr, "no such thing\n");
    return NULL;
}

static int by_kind(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    if (x->kind < y->kind)
        return -1;
    return x->kind > y->kind;
}

static void sorts(struct thing *all, int (*by)(const void *, const void *))
{
    qsort(all, 2, sizeof *all, by);
}

__attribute__((noinline)) static int is_big(const struct thing *t)
{
    if (t->size > 100)
        return -1;
    return 0;
}

OUTFOX_MAY_FAIL __attribute__((noinline)) int may_fail(struct thing *t)
{
    return t->size * 2;
}

OUTFOX_MUST_NOT __attribute__((noinline)) int must_not(struct thing *t)
{
    if (t->kind > 7) {
        fprintf(stderr, "must not\n");
        return -1;
    }
    return 0;
}

int main(void)
{
    struct thing *t = makes(&one), all[2] = {one, one};
    if (!t) {
        printf("makes: failed\n");
        return 1;
    }
    if (checks(t) < 0)
        printf("checks: failed\n");
    if (sets_errno(t) < 0)
        printf("sets_errno: failed\n");
    if (code(t) == 3) {
        printf("code: failed\n");
        exit(1);
    }
    if (passes_on(t) < 0 || replies(t) < 0 || must_not(t) < 0)
        printf("failed\n");
    ignored(t);
    if (!find_thing(t, 1))
        fprintf(stderr, "not found\n");
    if (is_big(t))
        fprintf(stderr, "big\n");
    if (may_fail(t) < 0)
        printf("may_fail: failed\n");
    sorts(all, by_kind);
    printf("done\n");
    free(t);
    return 0;
}
