/* SPDX-License-Identifier: Apache-2.0
 *
 * What a compiler must cope with, and instrumentation with it: inline assembler, switches, jumps to labels that
 * are values, alloca, variable arrays, setjmp, an ifunc, weak names, a function of the program with the
 * name of one of the system, vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;

static int ours(void)
{
    return 7;
}
static int (*resolve(void))(void)
{
    return ours;
}
int chosen(void) __attribute__((ifunc("resolve")));
int not_there(void) __attribute__((weak));

/* The system has one, too; this one never fails. */
int fsync(int fd)
{
    return fd * 2;
}

static long counted(int n, ...)
{
    va_list l;
    long sum = 0;
    va_start(l, n);
    while (n--)
        sum += va_arg(l, int);
    va_end(l);
    return sum;
}

static int labels(int which)
{
    static void *const to[] = {&&one, &&two};
    goto *to[which];
one:
    return 1;
two:
    return 2;
}

typedef float four __attribute__((vector_size(16)));

int main(void)
{
    int in = 4, out = 0;
    four v = {1, 2, 3, 4};
    char name[in * 4];
    __asm__ volatile("leal 3(%1), %0" : "=r"(out) : "r"(in));
    memset(name, 0, sizeof name);
    snprintf(name, sizeof name, "n%d", in);
    v = v * v;
    if (setjmp(back) == 0)
        longjmp(back, 1);
    printf("%d %d %d %ld %d %s %d %.0f %d\n", out, chosen(), fsync(4), counted(3, 1, 2, 3),
           labels(1), name, not_there ? not_there() : 0, (double)v[3], (int)lseek(0, 0, 9));
    return 0;
}
