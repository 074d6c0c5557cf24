/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads of addresses that linkers may make shorter. The code of a program takes the address of another
 * unit's variable from a table of the linker. Where the relocation is of the newer kind (GOTPCRELX), the
 * linker puts the address itself there if the variable turns out to be near: clang asks for that, the
 * machines of LLVM's C interface do not. So the kind is changed here, in the object.
 *
 *     48 8b 05 <32 bits>    mov  x@GOTPCREL(%rip), %rax     9 -> 42, R_X86_64_REX_GOTPCRELX
 *     ff 15 <32 bits>       call *x@GOTPCREL(%rip)          9 -> 41, R_X86_64_GOTPCRELX
 *
 * 1. Only in these two instructions, told by their bytes. Everything else stays as it is. */
#include <elf.h>

#include "cc.h"

static const Elf64_Shdr *section(slice object, const Elf64_Ehdr *head, uint32_t i)
{
    uint64_t at = head->e_shoff + (uint64_t)i * sizeof(Elf64_Shdr);
    if (i >= head->e_shnum || at % 8 || at + sizeof(Elf64_Shdr) > object.n)
        return NULL;
    const Elf64_Shdr *s = (const void *)(object.p + at);
    bool here = s->sh_type == SHT_NOBITS ||
                (s->sh_offset <= object.n && s->sh_size <= object.n - s->sh_offset);
    return here ? s : NULL;
}

/* What kind of relocation fits the instruction whose last four bytes are at p[0..3]; 0: as it is. */
static uint32_t better_kind(const uint8_t *p, uint64_t before)
{
    bool from_here = before >= 2 && (p[-1] & 0xc7) == 0x05; /* of %rip, 32 bits */
    if (from_here && before >= 3 && p[-2] == 0x8b && (p[-3] & 0xf8) == 0x48)
        return R_X86_64_REX_GOTPCRELX;
    if (before >= 2 && p[-2] == 0xff && (p[-1] == 0x15 || p[-1] == 0x25))
        return R_X86_64_GOTPCRELX;
    return 0;
}

static void relax_section(struct buf *object, const Elf64_Shdr *code, const Elf64_Shdr *relocations)
{
    Elf64_Rela *r = (void *)(object->p + relocations->sh_offset);
    for (uint64_t i = 0; i < relocations->sh_size / sizeof *r; i++) {
        if (ELF64_R_TYPE(r[i].r_info) != R_X86_64_GOTPCREL || r[i].r_addend != -4 ||
            r[i].r_offset > code->sh_size || code->sh_size - r[i].r_offset < 4)
            continue;
        const uint8_t *p = (const uint8_t *)object->p + code->sh_offset + r[i].r_offset;
        uint32_t kind = better_kind(p, r[i].r_offset);
        if (kind)
            r[i].r_info = ELF64_R_INFO(ELF64_R_SYM(r[i].r_info), kind);
    }
}

void unit_relax(struct buf *object)
{
    slice bytes = buf_slice(object);
    const Elf64_Ehdr *head = (const void *)bytes.p;
    if (bytes.n < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_X86_64)
        return;
    for (uint32_t i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = section(bytes, head, i);
        const Elf64_Shdr *code = s ? section(bytes, head, s->sh_info) : NULL;
        if (code && s->sh_type == SHT_RELA && s->sh_offset % 8 == 0 &&
            code->sh_flags & SHF_EXECINSTR && code->sh_type == SHT_PROGBITS)
            relax_section(object, code, s);
    }
}
