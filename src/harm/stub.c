/* SPDX-License-Identifier: Apache-2.0
 *
 * The stub, in the language of the processor. Like what it stands for it may use registers that
 * callers give away (rax, rcx, rdx, rsi, rdi, r8 to r11) and 128 bytes below the stack; a system call
 * keeps all but rax, rcx and r11.
 *
 * Seconds are made nanoseconds since 1970 and back: until 2262. No time before 1970 is shown. */
#include "harm/stub.h"

#if defined(__x86_64__)
/* clang-format off */
__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    ".globl stub_begin, stub_time, stub_day, stub_end\n"
    ".hidden stub_begin, stub_time, stub_day, stub_end\n"

    "stub_begin:\n"                     /* clock_gettime(edi, rsi) */
    "    mov $228, %eax\n"
    "    syscall\n"
    "    test %eax, %eax\n"
    "    jnz 1f\n"
    "    test %edi, %edi\n"             /* CLOCK_REALTIME */
    "    jz 2f\n"
    "    cmp $5, %edi\n"                /* CLOCK_REALTIME_COARSE */
    "    je 2f\n"
    "1:  ret\n"
    "2:  mov $1, %r9d\n"

    "stub_shift:\n"                     /* rsi: seconds, and parts of r9 ns each; returns 0 */
    "    imul $1000000000, (%rsi), %r8\n"
    "    mov 8(%rsi), %rax\n"
    "    imul %r9, %rax\n"
    "    add %rax, %r8\n"
    "    mov %r8, %rax\n"
    "    sub 4f(%rip), %rax\n"          /* since */
    "    imulq 5f(%rip)\n"              /* drift: rdx and rax are the product */
    "    shrd $32, %rdx, %rax\n"
    "    add 3f(%rip), %rax\n"          /* offset */
    "    add %r8, %rax\n"
    "    mov $0, %edx\n"
    "    cmovs %rdx, %rax\n"
    "    mov $1000000000, %r8d\n"
    "    div %r8\n"
    "    mov %rax, (%rsi)\n"
    "    mov %rdx, %rax\n"
    "    xor %edx, %edx\n"
    "    div %r9\n"
    "    mov %rax, 8(%rsi)\n"
    "    xor %eax, %eax\n"
    "    ret\n"

    ".balign 16\n"
    "stub_day:\n"                       /* gettimeofday(rdi, rsi) */
    "    mov $96, %eax\n"
    "    syscall\n"
    "    test %eax, %eax\n"
    "    jnz 1b\n"
    "    test %rdi, %rdi\n"
    "    jz 1b\n"
    "    mov %rdi, %rsi\n"
    "    mov $1000, %r9d\n"
    "    jmp stub_shift\n"

    ".balign 16\n"
    "stub_time:\n"                      /* time(rdi) */
    "    mov %rdi, %r10\n"
    "    mov $5, %edi\n"
    "    lea -24(%rsp), %rsi\n"         /* the call below takes 8 bytes above it */
    "    call stub_begin\n"
    "    mov -24(%rsp), %rax\n"
    "    test %r10, %r10\n"
    "    jz 1b\n"
    "    mov %rax, (%r10)\n"
    "    ret\n"

    ".balign 16\n"                      /* struct stub_clock */
    "3:  .quad 0\n"
    "4:  .quad 0\n"
    "5:  .quad 0\n"
    "    .quad 0\n"
    "stub_end:\n"
    ".popsection\n");
/* clang-format on */

extern const char stub_begin[], stub_day[], stub_time[], stub_end[];

slice stub_code(void)
{
    return (slice){stub_begin, (size_t)(stub_end - stub_begin)};
}

uint32_t stub_entry_at(uint32_t entry)
{
    const char *const at[STUB_ENTRIES] = {stub_begin, stub_day, stub_time};
    return (uint32_t)(at[entry] - stub_begin);
}
#else
slice stub_code(void)
{
    return (slice){0};
}

uint32_t stub_entry_at(uint32_t entry)
{
    (void)entry;
    return 0;
}
#endif

const char *const stub_entries[STUB_ENTRIES] = {"__vdso_clock_gettime", "__vdso_gettimeofday",
                                                "__vdso_time"};
