/* SPDX-License-Identifier: Apache-2.0 */
#include "harm/family.h"

#include <stdlib.h>

#include "base/hash.h"

enum { ROUNDS_MOST = 50 };

static int each(pid_t root, family_do *one, void *user, struct err *e)
{
    struct procs all = {0};
    int done = 1, round = 0;
    for (; done > 0 && round < ROUNDS_MOST; round++) {
        done = 0;
        procs_read_family(&all, root);
        for (uint32_t i = 0; done >= 0 && i < all.all.n; i++) {
            const struct proc *p = &all.all.at[i];
            struct proc now;
            if (!p->alive || (root && !p->marked && p->pid != root && p->group != root))
                continue;
            int did = one(user, p, e);
            if (did < 0 && (!proc_read(p->pid, &now) || !now.alive || now.start != p->start)) {
                *e = (struct err){0};
                did = 0;
            }
            done = did < 0 ? -1 : done + did;
        }
    }
    procs_deinit(&all);
    return done > 0 ? err_set(e, 0, 0, "new processes appear faster than they can be reached")
                    : done;
}

int family_each(pid_t root, family_do *one, void *user, struct err *e)
{
    return each(root, one, user, e);
}

int family_everybody(family_do *one, void *user, struct err *e)
{
    return each(0, one, user, e);
}

pid_t family_number(const char *word, struct err *e)
{
    uint64_t pid;
    if (slice_to_u64(slice_of(word), INT32_MAX, &pid) && pid)
        return (pid_t)pid;
    return err_set(e, 0, 0, "\"%.50s\" is no process", word);
}

pid_t family_root(const char *word, struct err *e)
{
    struct proc p;
    pid_t pid = family_number(word, e);
    if (pid > 0 && (!proc_read(pid, &p) || !p.alive))
        return err_set(e, 0, 0, "the process %d is not running (any more)", (int)pid);
    return pid;
}

uint64_t family_tag(pid_t root)
{
    const char *dir = getenv("OUTFOX_DIR");
    uint64_t tag = hash_mix(hash_slice(slice_of(dir ? dir : "")), (uint64_t)root);
    return tag ? tag : 1;
}
