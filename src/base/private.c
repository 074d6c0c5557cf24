/* SPDX-License-Identifier: Apache-2.0 */
#include "base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHERS = 077 };

int private_open(const char *path, int flags)
{
    struct stat file;
    int fd = open(path, flags | O_CREAT, 0600);
    if (fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_mode & OTHERS &&
        file.st_uid == geteuid())
        (void)fchmod(fd, file.st_mode & 07777 & ~OTHERS);
    return fd;
}

void private_narrow(const char *path)
{
    struct stat file;
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_mode & OTHERS &&
        file.st_uid == geteuid())
        (void)chmod(path, file.st_mode & 07777 & ~OTHERS);
}
