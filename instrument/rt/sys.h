/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls, without the C library: a program may have functions of its own by the names of libc's,
 * with sites in them; and errno stays as it is.
 *
 * 1. What is returned is the kernel's answer: an error is -errno. */
#ifndef OUTFOX_RT_SYS_H
#define OUTFOX_RT_SYS_H

#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result = number;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else
#error "the runtime knows the system calls of x86-64 and aarch64"
#endif

#define SYS1(n, a)             sys_call(n, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b)          sys_call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c)       sys_call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d)    sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS5(n, a, b, c, d, e) sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS6(n, a, b, c, d, e, f)                                                                  \
    sys_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
