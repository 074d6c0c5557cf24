/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_file.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"

bool report_to_stdout(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

int report_refuse(const char *option, const char *file, int number)
{
    struct err e = {0};
    err_set(&e, 0, 0, "the report %s cannot be written: %s; give %s another FILE", file,
            number == ENXIO ? "no program reads from this pipe" : strerror(number), option);
    cmd_fail(&e);
    return EXIT_ENVIRONMENT;
}

int report_unwritable(const char *file)
{
    struct stat is;
    char dir[PATH_MAX] = ".";
    const char *slash = strrchr(file, '/');
    size_t n = slash == file ? 1 : slash ? (size_t)(slash - file) : 0;
    if (stat(file, &is) == 0)
        return S_ISDIR(is.st_mode) ? EISDIR : access(file, W_OK) ? errno : 0;
    if (n >= sizeof dir)
        return ENAMETOOLONG;
    memcpy(dir, file, n);
    return access(dir, W_OK | X_OK) ? errno : 0;
}

bool report_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int report_write(const char *file, enum outlet_kind kind, struct buf *text)
{
    int number = 0;
    errno = 0;
    FILE *out = report_to_stdout(file) ? stdout : outlet_open(file, kind);
    if (!out)
        return errno ? errno : EIO;
    if (kind == OUTLET_BYTES)
        number = outlet_raw(out, buf_slice(text));
    else
        cmd_print(text, out);
    if (out == stdout)
        return number; /* of text, main sees what fails */
    bool failed = fflush(out) || ferror(out);
    number = number ? number : errno;
    failed |= fclose(out) != 0;
    return !failed ? 0 : number ? number : EIO;
}
