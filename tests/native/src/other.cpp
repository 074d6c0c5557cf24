// SPDX-License-Identifier: Apache-2.0
//
// Another unit with the same template: it is in the program once, and so are its sites.
#include <unistd.h>
#include <fcntl.h>

template <class T> T take(int fd)
{
    T value{};
    return read(fd, &value, sizeof value) < 0 ? T(-1) : value;
}

int use(const char *path)
{
    int fd = open(path, O_RDONLY), got = take<int>(fd) + take<char>(fd);
    close(fd);
    return got;
}
