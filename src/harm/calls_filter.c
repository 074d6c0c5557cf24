/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of calls, by the headers of this machine, and the filter made of them. */
#include <linux/audit.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "harm/calls_int.h"

/* What some machines, or older headers, do not have. */
#define LACKED (-1)
#ifndef SYS_open
#define SYS_open LACKED
#endif
#ifndef SYS_creat
#define SYS_creat LACKED
#endif
#ifndef SYS_stat
#define SYS_stat LACKED
#endif
#ifndef SYS_lstat
#define SYS_lstat LACKED
#endif
#ifndef SYS_access
#define SYS_access LACKED
#endif
#ifndef SYS_readlink
#define SYS_readlink LACKED
#endif
#ifndef SYS_rename
#define SYS_rename LACKED
#endif
#ifndef SYS_renameat
#define SYS_renameat LACKED
#endif
#ifndef SYS_link
#define SYS_link LACKED
#endif
#ifndef SYS_unlink
#define SYS_unlink LACKED
#endif
#ifndef SYS_rmdir
#define SYS_rmdir LACKED
#endif
#ifndef SYS_mkdir
#define SYS_mkdir LACKED
#endif
#ifndef SYS_pipe
#define SYS_pipe LACKED
#endif
#ifndef SYS_fork
#define SYS_fork LACKED
#endif
#ifndef SYS_vfork
#define SYS_vfork LACKED
#endif
#ifndef SYS_poll
#define SYS_poll LACKED
#endif
#ifndef SYS_select
#define SYS_select LACKED
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait LACKED
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 LACKED
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 LACKED
#endif
#ifndef SYS_openat2
#define SYS_openat2 LACKED
#endif

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#else
#define ARCH 0 /* no call is ever of it: nothing is harmed */
#endif

static const int numbers[SYSCALLS] = {
#define SYSCALL(name, group, fd, dir, path, paths, moves, errors) SYS_##name,
#include "plan/syscalls.list"
#undef SYSCALL
};

int calls_number(enum syscall_id id)
{
    return ARCH ? numbers[id] : LACKED;
}

enum syscall_id calls_of_number(int number)
{
    uint32_t id = 0;
    while (id < SYSCALLS && (numbers[id] != number || number < 0))
        id++;
    return (enum syscall_id)id;
}

/* Calls of another kind of program (32 bits, x32) pass: their numbers mean something else. */
uint32_t calls_filter(const struct syscall_set *calls, struct sock_filter out[CALLS_FILTER_MAX])
{
    uint32_t n = 0, wanted = 0;
    for (uint32_t i = 0; i < SYSCALLS; i++)
        wanted += syscall_set_has(calls, i) && calls_number(i) >= 0;
    out[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    out[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)ARCH, 1, 0);
    out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    out[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (uint32_t i = 0, left = wanted; i < SYSCALLS; i++) {
        if (!syscall_set_has(calls, i) || calls_number(i) < 0)
            continue;
        out[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                (uint32_t)calls_number(i), (uint8_t)left, 0);
        left--;
    }
    out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    return n;
}
