/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that can fail, of several kinds: variadic ones, a pointer as result, a lock, a count. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int locked(int fd)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &l) == 0 && fcntl(fd, F_GETFD) >= 0;
}

static int store(const char *path, const char *text)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0640);
    if (fd < 0 || !locked(fd))
        return -1;
    ssize_t n = write(fd, text, strlen(text));
    if (n != (ssize_t)strlen(text) || fdatasync(fd)) {
        printf("not stored: %zd %s\n", n, strerror(errno));
        close(fd);
        return -1;
    }
    return close(fd);
}

static void *run(void *path)
{
    static int result;
    result = store(path, "twelve bytes");
    return &result;
}

int main(int argc, char **argv)
{
    void *result;
    pthread_t thread;
    char back[40] = "";
    if (argc < 2 || pthread_create(&thread, NULL, run, argv[1]))
        return 2;
    pthread_join(thread, &result);
    FILE *f = fopen(argv[1], "r");
    if (!f)
        return 3;
    int got = fgets(back, sizeof back, f) != NULL;
    fclose(f);
    printf("%d %d %s\n", *(int *)result, got, back);
    return 0;
}
