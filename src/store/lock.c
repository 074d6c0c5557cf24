/* SPDX-License-Identifier: Apache-2.0
 *
 * The writer's lock: a lock of the system (fcntl) on the file PATH.lock, which stays behind, empty.
 *
 * 1. The lock goes with the process, however it ends, and its children do not have it: a service
 *    that outlives a killed campaign does not keep the next one out.
 * 2. It can be asked who has it.
 * 3. Such a lock belongs to the process, not to a descriptor: a second descriptor would be let in,
 *    and closing it would drop the lock. So those that this process holds are listed, and a second
 *    is refused before it is taken. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store_int.h"

struct held {
    int lock;
    pid_t process; /* the list is inherited, the locks are not */
    dev_t device;
    ino_t file;
};

static VEC(struct held) all_held;
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;

static int refuse(struct store *s, pid_t pid, struct err *e)
{
    char who[64] = "another process";
    if (pid > 0)
        snprintf(who, sizeof who, "process %ld", (long)pid);
    return store_refused(
        s, e,
        "%s is writing to it; wait until it has finished, stop it, or name another with --store",
        who);
}

static int failed(struct store *s, const char *what, struct err *e)
{
    return store_refused(s, e, "%s (%s); make its directory writable, or name another with --store",
                         what, strerror(errno));
}

static bool is_held(const struct stat *file)
{
    for (uint32_t i = 0; i < all_held.n; i++)
        if (all_held.at[i].process == getpid() && all_held.at[i].device == file->st_dev &&
            all_held.at[i].file == file->st_ino)
            return true;
    return false;
}

/* `name` is the file of the lock. */
static int take_lock(struct store *s, const char *name, struct err *e)
{
    struct stat file;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (stat(name, &file) == 0 && is_held(&file)) /* before it is opened, see 3 */
        return refuse(s, getpid(), e);
    int fd = file_open_private(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return failed(s, "it cannot be written", e);
    if (fcntl(fd, F_SETLK, &lock) == 0 && fstat(fd, &file) == 0) {
        vec_push(&all_held, (struct held){fd, getpid(), file.st_dev, file.st_ino});
        s->lock = fd;
        return 0;
    }
    int result;
    if (errno == EACCES || errno == EAGAIN) {
        /* who keeps us out? */
        bool known = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        result = refuse(s, known ? lock.l_pid : 0, e);
    } else {
        result = failed(s, "it cannot be locked against other writers", e);
    }
    close(fd);
    return result;
}

int lock_take(struct store *s, struct err *e)
{
    struct buf name = BUF_INIT(STORE_TEXT_MAX);
    buf_addf(&name, "%s.lock", s->path);
    pthread_mutex_lock(&all_mutex);
    int result = take_lock(s, buf_text(&name), e);
    pthread_mutex_unlock(&all_mutex);
    buf_deinit(&name);
    return result;
}

void lock_drop(struct store *s)
{
    if (s->lock < 0)
        return;
    pthread_mutex_lock(&all_mutex);
    for (uint32_t i = 0; i < all_held.n; i++)
        if (all_held.at[i].lock == s->lock)
            all_held.at[i--] = all_held.at[--all_held.n];
    if (all_held.n == 0)
        vec_deinit(&all_held);
    close(s->lock);
    s->lock = -1;
    pthread_mutex_unlock(&all_mutex);
}
