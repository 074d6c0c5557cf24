/* SPDX-License-Identifier: Apache-2.0
 *
 * The contexts of <ucontext.h>. The stack is as large as that of the main thread, since the same
 * functions run on it; the system gives it memory only where it is used. A page without access below
 * it ends a program that needs more. The sanitizer has to be told of every change of stacks. */
#include "base/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include "base/mem.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#elif defined __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER
#endif

#ifdef ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(fake, bottom, size)  (void)(fake)
#define __sanitizer_finish_switch_fiber(fake, bottom, size) (void)(fake)
#endif

enum { STACK_BYTES = 8 << 20, GUARD_BYTES = 1 << 16 };

struct fiber {
    void (*tell)(void *ctx);
    void *ctx;
    bool begun, ended;
    char *stack;
    ucontext_t self, driver;
    void *fake_self, *fake_driver; /* of the sanitizer */
    const void *driver_stack;
    size_t driver_bytes;
};

struct fiber *fiber_new(void (*tell)(void *ctx), void *ctx)
{
    struct fiber *f = mem_zero(sizeof *f);
    f->tell = tell;
    f->ctx = ctx;
    f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (f->stack == MAP_FAILED || mprotect(f->stack, GUARD_BYTES, PROT_NONE))
        mem_oom();
    return f;
}

static _Thread_local struct fiber *beginning; /* contexts can be given numbers, but no pointer */

static void begin(void)
{
    struct fiber *f = beginning;
    __sanitizer_finish_switch_fiber(NULL, &f->driver_stack, &f->driver_bytes);
    f->tell(f->ctx);
    f->ended = true;
    __sanitizer_start_switch_fiber(NULL, f->driver_stack, f->driver_bytes);
    (void)swapcontext(&f->self, &f->driver); /* for good */
}

bool fiber_go(struct fiber *f)
{
    if (f->ended)
        return false;
    if (!f->begun) {
        f->begun = true;
        beginning = f;
        (void)getcontext(&f->self);
        f->self.uc_stack.ss_sp = f->stack + GUARD_BYTES;
        f->self.uc_stack.ss_size = STACK_BYTES - GUARD_BYTES;
        f->self.uc_link = NULL;
        makecontext(&f->self, begin, 0);
    }
    __sanitizer_start_switch_fiber(&f->fake_driver, f->stack + GUARD_BYTES,
                                   STACK_BYTES - GUARD_BYTES);
    (void)swapcontext(&f->driver, &f->self);
    __sanitizer_finish_switch_fiber(f->fake_driver, NULL, NULL);
    return !f->ended;
}

void fiber_wait(struct fiber *f)
{
    __sanitizer_start_switch_fiber(&f->fake_self, f->driver_stack, f->driver_bytes);
    (void)swapcontext(&f->self, &f->driver);
    __sanitizer_finish_switch_fiber(f->fake_self, &f->driver_stack, &f->driver_bytes);
}

void fiber_free(struct fiber *f)
{
    if (!f)
        return;
    (void)munmap(f->stack, STACK_BYTES);
    mem_free(f);
}
