/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared library with sites of its own. */
#include <sys/stat.h>
#include <unistd.h>

extern __thread int per_thread;
__thread int per_thread = 5;

__attribute__((visibility("default"))) long size_of(const char *path)
{
    struct stat s;
    return stat(path, &s) || access(path, R_OK) ? -1 : (long)s.st_size + per_thread;
}
