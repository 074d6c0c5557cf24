/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses as places in sources, by libdw: it reads debug information in the file or beside it (build id,
 * debug link) and, where there is none, symbols. Linking it is the price for not reading DWARF ourselves. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include "native/native_int.h"

struct native_symbols {
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr bias; /* what libdw adds to addresses of the file */
    char *paths;    /* where debug information of others is searched: as libdw does */
};

static const Dwfl_Callbacks *callbacks(char **paths)
{
    static Dwfl_Callbacks c;
    c = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                         .find_debuginfo = dwfl_standard_find_debuginfo,
                         .section_address = dwfl_offline_section_address,
                         .debuginfo_path = paths};
    return &c;
}

struct native_symbols *native_symbols_open(const char *path)
{
    struct native_symbols *s = mem_zero(sizeof *s);
    s->dwfl = dwfl_begin(callbacks(&s->paths));
    if (s->dwfl)
        s->module = dwfl_report_offline(s->dwfl, "", path, -1);
    if (!s->module || dwfl_report_end(s->dwfl, NULL, NULL) ||
        !dwfl_module_getelf(s->module, &s->bias)) {
        native_symbols_free(s);
        return NULL;
    }
    return s;
}

void native_symbols_free(struct native_symbols *s)
{
    if (s && s->dwfl)
        dwfl_end(s->dwfl);
    mem_free(s);
}

/* The unit that has the address. Compilers may leave out the table of units by address (clang does): then libdw
 * finds none, or one that other compilers have made, and each is asked. */
static Dwarf_Die *unit_at(struct native_symbols *s, GElf_Addr at, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(s->module, at, bias);
    if (unit && dwarf_haspc(unit, at - *bias) > 0)
        return unit;
    unit = NULL;
    while ((unit = dwfl_module_nextcu(s->module, unit, bias)))
        if (dwarf_haspc(unit, at - *bias) > 0)
            return unit;
    return NULL;
}

static const char *scope_name(Dwarf_Die *scope)
{
    Dwarf_Attribute linkage;
    const char *name = NULL;
    if (dwarf_attr_integrate(scope, DW_AT_linkage_name, &linkage))
        name = dwarf_formstring(&linkage);
    return name ? name : dwarf_diename(scope);
}

static struct native_place place_of(const char *name, const char *file, int line)
{
    struct native_place place = {0};
    if (name)
        place.function = slice_of(name);
    if (file && line > 0) {
        place.file = slice_of(file);
        place.line = (uint32_t)line;
    }
    return place;
}

/* Where a function was inlined: file and line of its call. */
static const char *call_file(Dwarf_Die *unit, Dwarf_Die *inlined, int *line)
{
    Dwarf_Attribute at;
    Dwarf_Word number = 0, file = 0;
    Dwarf_Files *files;
    size_t n;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &at), &number) ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &at), &file) ||
        dwarf_getsrcfiles(unit, &files, &n) || file >= n || number > INT32_MAX)
        return NULL;
    *line = (int)number;
    return dwarf_filesrc(files, file, NULL, NULL);
}

/* The scopes of an address as they stand in the code, innermost first; 0: none. (dwarf_getscopes goes from an
 * inlined function on to where its source is, and not to who has it inlined.) */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr at, Dwarf_Die **out)
{
    Dwarf_Die *first = NULL;
    int n = unit && dwarf_getscopes(unit, at, &first) > 0 ? dwarf_getscopes_die(first, out) : 0;
    mem_free(first);
    return n > 0 ? n : 0;
}

uint32_t native_places(struct native_symbols *s, uint64_t address, struct native_place *out,
                       uint32_t most)
{
    GElf_Addr at = address + s->bias;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_at(s, at, &bias), *scopes = NULL;
    Dwarf_Line *row = unit ? dwarf_getsrc_die(unit, at - bias) : NULL;
    const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
    int line = 0, n_scopes = scopes_at(unit, at - bias, &scopes);
    uint32_t n = 0;
    if (row && dwarf_lineno(row, &line))
        line = 0;
    for (int i = 0; i < n_scopes && n < most; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        out[n++] = place_of(scope_name(&scopes[i]), file, line);
        if (tag == DW_TAG_subprogram)
            break;
        file = call_file(unit, &scopes[i], &line);
    }
    mem_free(scopes);
    if (!n && most)
        out[n++] = place_of(dwfl_module_addrname(s->module, at), file, line);
    return n;
}

struct native_place native_place(struct native_symbols *s, uint64_t address)
{
    struct native_place place = {0};
    (void)native_places(s, address, &place, 1);
    return place;
}

/* ---- names of C++ ---- */

typedef char *demangle_function(const char *name, char *room, size_t *n, int *status);

/* The library of C++ knows, where there is one: what is written in C++ needs it anyway. */
static demangle_function *demangler(void)
{
    static demangle_function *found;
    static bool looked;
    if (!looked) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&found, &symbol, sizeof found); /* C has no cast from objects to functions */
        looked = true;
    }
    return found;
}

enum { MANGLED_MOST = 4096 };

slice native_demangled(slice name, struct arena *a)
{
    int status = -1;
    if (!slice_starts(name, SLICE("_Z")) || name.n > MANGLED_MOST || !demangler())
        return name;
    char *plain = demangler()(arena_copy(a, name.p, name.n), NULL, NULL, &status);
    slice out = status == 0 && plain ? slice_copy(a, slice_of(plain)) : name;
    mem_free(plain);
    return out;
}
