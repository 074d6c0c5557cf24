/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs first and last in each module with a runtime: it tells the runtime of the process which
 * records the module has, and where its code is.
 *
 * 1. The linker makes the bounds of a section whose name could be one of C's; hidden, so that they are
 *    this module's. Without such a section they are NULL.
 * 2. It comes before all other constructors, and after all other destructors. */
#include <link.h>

#include "rt.h"

#define BOUND __attribute__((weak, visibility("hidden")))

extern const struct outfox_site __start_outfox_sites[] BOUND, __stop_outfox_sites[] BOUND;
extern const struct outfox_state __start_outfox_states[] BOUND, __stop_outfox_states[] BOUND;
extern struct outfox_function __start_outfox_functions[] BOUND, __stop_outfox_functions[] BOUND;

/* The beginning of the file in memory; not there if the program's linker script leaves it out. */
extern const ElfW(Ehdr) __ehdr_start BOUND;

/* From the program headers: where the parts of the module are that can be run. */
static void find_code(struct outfox_part *part)
{
    const ElfW(Ehdr) *head = &__ehdr_start;
    if (!head)
        return;
    const char *start = (const char *)head;
    const ElfW(Phdr) *segment = (const void *)(start + head->e_phoff);
    bool is_based = false;
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && segment[i].p_offset == 0) {
            part->bias = (uintptr_t)start - segment[i].p_vaddr;
            is_based = true;
        }
    for (unsigned i = 0; is_based && i < head->e_phnum; i++) {
        if (segment[i].p_type != PT_LOAD || !(segment[i].p_flags & PF_X))
            continue;
        const char *code = (const char *)(part->bias + segment[i].p_vaddr); // NOLINT
        const char *end = code + segment[i].p_memsz;
        part->code = part->code && part->code < code ? part->code : code;
        part->code_end = part->code_end > end ? part->code_end : end;
    }
}

static bool describe(struct outfox_part *part)
{
    *part = (struct outfox_part){.sites = __start_outfox_sites,
                                 .sites_end = __stop_outfox_sites,
                                 .states = __start_outfox_states,
                                 .states_end = __stop_outfox_states,
                                 .functions = __start_outfox_functions,
                                 .functions_end = __stop_outfox_functions};
    if (part->sites == part->sites_end && part->states == part->states_end &&
        part->functions == part->functions_end)
        return false;
    find_code(part);
    return true;
}

__attribute__((constructor(101))) static void come(void)
{
    struct outfox_part part;
    if (describe(&part))
        outfox_module(&part);
}

__attribute__((destructor(101))) static void go(void)
{
    struct outfox_part part;
    if (describe(&part))
        outfox_gone(&part);
}
