/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of the linker as bytes: ELF of 64 bits, little endian, which is what outfox cc makes. Sections are
 * found by their names, memory by the program headers, both where the file says and nowhere else. A section
 * that nothing loads is as good as any other: facts are in one. */
#include <elf.h>
#include <string.h>

#include "native/native_int.h"

static bool get(const struct image *m, uint64_t at, void *to, uint64_t n)
{
    if (at > m->bytes.n || n > m->bytes.n - at)
        return false;
    memcpy(to, m->bytes.p + at, n);
    return true;
}

/* A part of the file; p NULL: not all of it is there. */
static slice part(const struct image *m, uint64_t at, uint64_t n)
{
    if (at > m->bytes.n || n > m->bytes.n - at)
        return (slice){NULL, 0};
    return (slice){m->bytes.p + at, n};
}

/* ---- what it is instead ---- */

static const struct {
    const char *begins;
    const char *says;
} others[] = {
    {"#!", "this is a script: name the program that it starts (libtool keeps that in .libs/)"},
    {"!<arch>\n", "this is an archive: name the program that is linked from it"},
    {"!<thin>\n", "this is an archive: name the program that is linked from it"},
    {"BC\xc0\xde", "this is LLVM bitcode: name the program that is made of it"},
    {"", "this is not a program or shared library (ELF)"},
};

static int refuse_other(slice bytes, struct err *e)
{
    size_t i = 0;
    while (!slice_starts(bytes, slice_of(others[i].begins)))
        i++;
    return err_set(e, 0, 0, "%s", bytes.n ? others[i].says : "the file is empty");
}

static int refuse_kind(const uint8_t *ident, uint16_t type, struct err *e)
{
    if (ident[EI_CLASS] != ELFCLASS64)
        return err_set(e, 0, 0, "this is a program of 32 bits; outfox cc makes those of 64");
    if (ident[EI_DATA] != ELFDATA2LSB)
        return err_set(
            e, 0, 0, "this is a program for a big-endian machine; outfox reads little-endian ones");
    if (type == ET_REL)
        return err_set(e, 0, 0, "this is an object file: name the program that is linked from it");
    if (type == ET_CORE)
        return err_set(e, 0, 0, "this is the memory of a dead process: name its program");
    if (type != ET_EXEC && type != ET_DYN)
        return err_set(e, 0, 0, "this is not a program or shared library");
    return 0;
}

/* ---- headers ---- */

static int cut_short(struct err *e)
{
    return err_set(e, 0, 0, "the file is truncated or damaged: link it again");
}

/* Counts that do not fit into the header are in the first section's. */
static int read_counts(struct image *m, const Elf64_Ehdr *h, uint64_t *names, struct err *e)
{
    Elf64_Shdr first = {0};
    if (h->e_shoff && !get(m, h->e_shoff, &first, sizeof first))
        return cut_short(e);
    m->n_sections = h->e_shnum ? h->e_shnum : first.sh_size;
    m->n_segments = h->e_phnum == PN_XNUM ? first.sh_info : h->e_phnum;
    *names = h->e_shstrndx == SHN_XINDEX ? first.sh_link : h->e_shstrndx;
    if (!h->e_shoff || !m->n_sections)
        return err_set(
            e, 0, 0,
            "it has no sections: something has removed them; name the program as it was linked");
    if (m->n_sections > m->bytes.n / sizeof(Elf64_Shdr) ||
        m->n_segments > m->bytes.n / sizeof(Elf64_Phdr) ||
        !part(m, m->sections, m->n_sections * sizeof(Elf64_Shdr)).p ||
        !part(m, m->segments, m->n_segments * sizeof(Elf64_Phdr)).p)
        return cut_short(e);
    return 0;
}

static bool section_at(const struct image *m, uint64_t i, Elf64_Shdr *out)
{
    return i < m->n_sections && get(m, m->sections + i * sizeof *out, out, sizeof *out);
}

int image_open(struct image *m, slice bytes, struct err *e)
{
    Elf64_Ehdr h;
    Elf64_Shdr names;
    uint64_t names_at = 0;
    *m = (struct image){.bytes = bytes};
    if (!slice_starts(bytes, SLICE(ELFMAG)))
        return refuse_other(bytes, e);
    if (bytes.n < EI_NIDENT + 2 * sizeof(uint16_t))
        return cut_short(e);
    uint16_t type;
    memcpy(&type, bytes.p + EI_NIDENT, sizeof type);
    if (refuse_kind((const uint8_t *)bytes.p, type, e))
        return -1;
    if (!get(m, 0, &h, sizeof h) || (h.e_shoff && h.e_shentsize != sizeof(Elf64_Shdr)) ||
        (h.e_phnum && h.e_phentsize != sizeof(Elf64_Phdr)))
        return cut_short(e);
    m->segments = h.e_phoff;
    m->sections = h.e_shoff;
    if (read_counts(m, &h, &names_at, e))
        return -1;
    if (!section_at(m, names_at, &names))
        return cut_short(e);
    m->names = part(m, names.sh_offset, names.sh_size);
    return m->names.p ? 0 : cut_short(e);
}

/* ---- what is in it ---- */

static bool has_name(const struct image *m, uint64_t at, slice name)
{
    return at < m->names.n && name.n < m->names.n - at && m->names.p[at + name.n] == 0 &&
           memcmp(m->names.p + at, name.p, name.n) == 0;
}

int image_section(const struct image *m, const char *name, struct section *out, struct err *e)
{
    Elf64_Shdr s;
    *out = (struct section){0};
    for (uint64_t i = 0; i < m->n_sections && !out->found; i++) {
        if (!section_at(m, i, &s) || !has_name(m, s.sh_name, slice_of(name)))
            continue;
        out->found = true;
        out->address = s.sh_addr;
        out->empty = s.sh_type == SHT_NOBITS;
        if (out->empty)
            continue;
        out->bytes = part(m, s.sh_offset, s.sh_size);
        if (!out->bytes.p)
            return cut_short(e);
        if (s.sh_flags & SHF_COMPRESSED)
            return err_set(e, 0, 0, "its section %s is compressed: link it without --compress-*",
                           name);
    }
    return 0;
}

slice image_at(const struct image *m, uint64_t address)
{
    for (uint64_t i = 0; i < m->n_segments; i++) {
        Elf64_Phdr p;
        if (!get(m, m->segments + i * sizeof p, &p, sizeof p) || p.p_type != PT_LOAD ||
            address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
            continue;
        uint64_t skipped = address - p.p_vaddr;
        slice all = part(m, p.p_offset, p.p_filesz);
        return all.p ? slice_from(all, skipped) : all;
    }
    return (slice){NULL, 0};
}
