/* SPDX-License-Identifier: Apache-2.0
 *
 * A process ends with an exit code of our choice, as if it had said so itself: `exit PID CODE`. */
#include "harm/family.h"
#include "harm/grip.h"
#include "harm/harm_int.h"
#include "harm/vdso.h"

int harm_exit(int argc, char **argv, struct buf *said, struct err *e)
{
    struct vdso own;
    struct grip g;
    uint64_t code;
    (void)said;
    if (argc != 2 || !slice_to_u64(slice_of(argv[1]), 255, &code))
        return err_set(e, 0, 0, "usage: PID CODE");
    pid_t pid = family_root(argv[0], e);
    if (pid < 0 || vdso_own(&own, e))
        return -1;
    uint64_t base = vdso_want(pid, e);
    if (!base)
        return -1;
    if (!own.syscall)
        return err_set(e, 0, 0, "the vDSO of this kernel makes no system call");
    enum status taken = grip_take(&g, pid, e);
    int status = taken == STATUS_OK     ? grip_exit(&g, base + own.syscall, (int)code, e)
                 : taken == STATUS_NONE ? err_set(e, 0, 0, "the process %d has ended", (int)pid)
                                        : -1;
    (void)grip_end(&g);
    return status;
}
