/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's file, from its path to tasks. It is mapped, not read: programs with debug information are large,
 * and little of them is needed. */
#include "native/native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/native_int.h"

/* The sections by which debuggers find lines: in the file itself, or by a name of another. */
static bool has_lines(const struct image *m)
{
    static const char *const names[] = {".debug_line", ".zdebug_line", ".gnu_debuglink"};
    struct err ignored = {0};
    struct section s;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (image_section(m, names[i], &s, &ignored) == 0 && s.found && !s.empty)
            return true;
    return false;
}

int native_parse(slice bytes, const struct native_options *o, struct native *out, struct err *e)
{
    struct image image;
    struct section facts;
    *out = (struct native){0};
    if (image_open(&image, bytes, e) || records_read(&image, out, e) ||
        image_section(&image, OUTFOX_SECTION_FACTS, &facts, e))
        return -1;
    out->has_lines = has_lines(&image);
    out->has_facts = facts.found && facts.bytes.n;
    tasks_find(out, facts.bytes, o);
    return 0;
}

/* The bytes of a regular file; p NULL and errno: they cannot be had. */
static slice map_file(const char *path)
{
    slice none = {NULL, 0}, empty = {"", 0};
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return none;
    void *p = MAP_FAILED;
    int problem = fstat(fd, &is)        ? errno
                  : S_ISDIR(is.st_mode) ? EISDIR
                  : S_ISREG(is.st_mode) ? 0
                                        : EINVAL;
    if (!problem && is.st_size) {
        p = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        problem = p == MAP_FAILED ? errno : 0;
    }
    close(fd);
    errno = problem;
    if (problem)
        return none;
    return is.st_size ? (slice){p, (size_t)is.st_size} : empty;
}

int native_read(const char *path, const struct native_options *o, struct native *out, struct err *e)
{
    slice bytes = map_file(path);
    *out = (struct native){0};
    snprintf(e->source, sizeof e->source, "%s", path);
    if (!bytes.p)
        return err_set(e, 0, 0, "cannot be read: %s", strerror(errno));
    int status = native_parse(bytes, o, out, e);
    if (bytes.n)
        munmap((void *)(uintptr_t)bytes.p, bytes.n);
    out->path = slice_copy(&out->arena, slice_of(path));
    return status;
}

void native_free(struct native *n)
{
    vec_deinit(&n->sites);
    vec_deinit(&n->functions);
    vec_deinit(&n->states);
    vec_deinit(&n->tasks);
    arena_deinit(&n->arena);
}
