/* SPDX-License-Identifier: Apache-2.0
 *
 * An ELF image, as far as it is needed: its loaded segment and its dynamic symbols. How many of
 * those there are is written nowhere that every kernel has, so they are read up to the names, or to
 * the end: what is none has no name that is asked for. */
#include "harm/vdso.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "io/sys.h"

struct reading {
    const uint8_t *image;
    uint64_t n;
    uint64_t loaded, dynamic, n_dynamic; /* from the program headers */
    uint64_t symbols, names, n_names;    /* from the dynamic section */
};

static bool get(const struct reading *r, uint64_t at, void *to, uint64_t n)
{
    if (at > r->n || n > r->n - at)
        return false;
    memcpy(to, r->image + at, n);
    return true;
}

static bool read_headers(struct reading *r)
{
    Elf64_Ehdr h;
    Elf64_Phdr p;
    if (!get(r, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        h.e_machine != EM_X86_64 || h.e_phentsize != sizeof p)
        return false;
    for (uint32_t i = 0; i < h.e_phnum; i++) {
        if (h.e_phoff > r->n || !get(r, h.e_phoff + i * sizeof p, &p, sizeof p))
            return false;
        if (p.p_type == PT_LOAD) { /* from the beginning, so that offsets are addresses */
            if (r->loaded || p.p_offset || p.p_vaddr || p.p_filesz > r->n)
                return false;
            r->loaded = p.p_filesz;
        } else if (p.p_type == PT_DYNAMIC) {
            r->dynamic = p.p_offset;
            r->n_dynamic = p.p_filesz / sizeof(Elf64_Dyn);
        }
    }
    return r->loaded && r->dynamic;
}

static bool read_dynamic(struct reading *r)
{
    Elf64_Dyn d;
    for (uint64_t i = 0; i < r->n_dynamic; i++) {
        if (r->dynamic > r->n || !get(r, r->dynamic + i * sizeof d, &d, sizeof d))
            return false;
        if (d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_SYMTAB)
            r->symbols = d.d_un.d_ptr;
        else if (d.d_tag == DT_STRTAB)
            r->names = d.d_un.d_ptr;
        else if (d.d_tag == DT_STRSZ)
            r->n_names = d.d_un.d_val;
    }
    return r->symbols && r->symbols < r->loaded && r->names && r->names < r->loaded &&
           r->n_names <= r->loaded - r->names;
}

static bool is_name(const struct reading *r, uint32_t name, const char *wanted)
{
    size_t n = strlen(wanted) + 1;
    return name < r->n_names && n <= r->n_names - name &&
           memcmp(r->image + r->names + name, wanted, n) == 0;
}

static void read_symbols(const struct reading *r, struct vdso *out)
{
    Elf64_Sym s;
    uint64_t end = r->names > r->symbols ? r->names : r->loaded;
    for (uint64_t at = r->symbols; at + sizeof s <= end && get(r, at, &s, sizeof s);
         at += sizeof s) {
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_size < VDSO_WORD ||
            s.st_value % VDSO_WORD || s.st_value >= r->loaded || s.st_size > r->loaded - s.st_value)
            continue;
        for (uint32_t i = 0; i < STUB_ENTRIES; i++)
            if (is_name(r, s.st_name, stub_entries[i]))
                out->entry[i] = (uint32_t)s.st_value;
    }
}

int vdso_parse(const uint8_t *image, size_t n, struct vdso *out, struct err *e)
{
    static const uint8_t call[] = {0x0f, 0x05};
    struct reading r = {.image = image, .n = n};
    *out = (struct vdso){.image = image, .n = (uint32_t)n};
    if (n > VDSO_BYTES_MOST || !read_headers(&r) || !read_dynamic(&r))
        return err_set(e, 0, 0, "the vDSO of this kernel is none that outfox understands");
    out->spare = (uint32_t)r.loaded;
    read_symbols(&r, out);
    for (uint32_t i = 0; i < STUB_ENTRIES; i++)
        if (!out->entry[i])
            return err_set(e, 0, 0, "the vDSO of this kernel has no function %s", stub_entries[i]);
    for (uint32_t i = 0; i + sizeof call <= r.loaded && !out->syscall; i++)
        if (memcmp(image + i, call, sizeof call) == 0)
            out->syscall = i;
    return 0;
}

/* ---- processes ---- */

int vdso_own(struct vdso *out, struct err *e)
{
    unsigned long long from = 0, to = 0;
    unsigned long base = getauxval(AT_SYSINFO_EHDR);
    char line[512];
    FILE *maps = base ? fopen("/proc/self/maps", "re") : NULL;
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        char *rest;
        from = strtoull(line, &rest, 16);
        to = *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0;
        found = from == base && to > from;
    }
    if (maps)
        (void)fclose(maps);
    if (!found)
        return err_set(e, 0, 0,
                       "this kernel gives programs no vDSO (vdso=0?): their clocks cannot be "
                       "changed");
    return vdso_parse((const uint8_t *)base, (size_t)(to - from), out, e); // NOLINT
}

uint64_t vdso_base(pid_t pid)
{
    Elf64_auxv_t all[64];
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, all, sizeof all);
    if (fd >= 0)
        sys_close(fd);
    for (ssize_t i = 0; i < n / (ssize_t)sizeof *all; i++)
        if (all[i].a_type == AT_SYSINFO_EHDR)
            return all[i].a_un.a_val;
    return 0;
}

uint64_t vdso_want(pid_t pid, struct err *e)
{
    errno = 0;
    uint64_t base = vdso_base(pid);
    if (!base)
        (void)err_set(e, 0, 0,
                      errno ? "the process %d cannot be looked at: %s; needed are root or "
                              "CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE)"
                            : "the process %d has no vDSO: %s",
                      (int)pid, errno ? strerror(errno) : "the kernel gave it none");
    return base;
}
