/* SPDX-License-Identifier: Apache-2.0
 *
 * The vDSO: the page of code by which the kernel lets processes read clocks without a system call. All
 * 64-bit processes of a machine have the same image, each a copy of its own as soon as it is changed.
 *
 * 1. Parsing is pure: any bytes may be handed in, and nothing outside of them is read.
 * 2. Offsets are from the beginning of the image, which is also where it is mapped. */
#ifndef OUTFOX_HARM_VDSO_H
#define OUTFOX_HARM_VDSO_H

#include <sys/types.h>

#include "base/err.h"
#include "harm/stub.h"

enum { VDSO_BYTES_MOST = 64 * 1024, VDSO_WORD = 8 };

struct vdso {
    const uint8_t *image; /* whole pages */
    uint32_t n;
    uint32_t entry[STUB_ENTRIES]; /* of the functions that stubs stand for; whole words are there */
    uint32_t spare;               /* behind it nothing is needed while programs run */
    uint32_t syscall;             /* an instruction that makes a system call; 0: there is none */
};

/* Finds all that in an image: 0, or -1 with *e. */
int vdso_parse(const uint8_t *image, size_t n, struct vdso *out, struct err *e) MUST_USE;

/* The image of this process, that is, of this machine. */
int vdso_own(struct vdso *out, struct err *e) MUST_USE;

/* Where a process has its image; 0: it has none, is gone, or may not be looked at (errno). */
uint64_t vdso_base(pid_t pid);

/* The same for one that is to be changed: 0 with *e. */
uint64_t vdso_want(pid_t pid, struct err *e);

#endif
