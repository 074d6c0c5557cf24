/* SPDX-License-Identifier: Apache-2.0
 *
 * harm: images of the vDSO, that of this machine and broken ones; the stub, run where it is; control
 * groups as the kernel describes them. What becomes of processes is seen by tests/plan/harm_process. */
#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "harm/cgroup.h"
#include "harm/vdso.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- the image ---- */

/* A small one: headers, three functions, no more. */
struct image {
    Elf64_Ehdr head;
    Elf64_Phdr part[2];
    Elf64_Dyn dynamic[4];
    Elf64_Sym symbol[4];
    char names[64];
    uint8_t code[64] __attribute__((aligned(16)));
};

static void image_make(struct image *m)
{
    uint32_t at = 1;
    *m = (struct image){
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                 .e_machine = EM_X86_64,
                 .e_phoff = offsetof(struct image, part),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 2},
        .part = {{.p_type = PT_LOAD, .p_filesz = sizeof *m},
                 {.p_type = PT_DYNAMIC,
                  .p_offset = offsetof(struct image, dynamic),
                  .p_filesz = sizeof m->dynamic}},
        .dynamic = {{DT_SYMTAB, {offsetof(struct image, symbol)}},
                    {DT_STRTAB, {offsetof(struct image, names)}},
                    {DT_STRSZ, {sizeof m->names}},
                    {DT_NULL, {0}}},
        .code = {0x90, 0x0f, 0x05},
    };
    for (uint32_t i = 0; i < STUB_ENTRIES; i++) {
        m->symbol[i + 1] = (Elf64_Sym){.st_name = at,
                                       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                       .st_value = offsetof(struct image, code) + 16 * i,
                                       .st_size = 16};
        at += (uint32_t)snprintf(m->names + at, sizeof m->names - at, "%s", stub_entries[i]) + 1;
    }
}

static int parse(const struct image *m, struct vdso *v)
{
    struct err e = {0};
    return vdso_parse((const uint8_t *)m, sizeof *m, v, &e);
}

static void test_image(void **state)
{
    struct image m;
    struct vdso v;
    (void)state;
    image_make(&m);
    assert_int_equal(parse(&m, &v), 0);
    for (uint32_t i = 0; i < STUB_ENTRIES; i++)
        assert_int_equal(v.entry[i], offsetof(struct image, code) + 16 * i);
    assert_int_equal(v.spare, sizeof m);
    assert_int_equal(v.syscall, offsetof(struct image, code) + 1);
}

/* Each is broken in one way. */
static void break_it(struct image *m, int how)
{
    image_make(m);
    switch (how) {
    case 0: m->head.e_ident[0] = 'E'; break;
    case 1: m->head.e_ident[EI_CLASS] = ELFCLASS32; break;
    case 2: m->head.e_machine = EM_386; break;
    case 3: m->head.e_phoff = UINT64_MAX - 10; break;
    case 4: m->head.e_phnum = UINT16_MAX; break;
    case 5: m->part[0].p_filesz = sizeof *m + 1; break;
    case 6: m->part[0].p_vaddr = 4096; break;
    case 7: m->part[1].p_offset = UINT64_MAX - 8; break;
    case 8: m->dynamic[0].d_un.d_ptr = UINT64_MAX; break;
    case 9: m->dynamic[1].d_un.d_ptr = sizeof *m; break;
    case 10: m->dynamic[2].d_un.d_val = UINT64_MAX; break;
    case 11: m->dynamic[0].d_tag = DT_NULL; break;
    case 12: m->symbol[2].st_name = UINT32_MAX; break;
    case 13: m->symbol[2].st_value = sizeof *m - 4; break;
    case 14: m->symbol[2].st_size = UINT64_MAX; break;
    case 15: m->symbol[2].st_size = 4; break; /* no room for a jump */
    case 16: m->symbol[2].st_value += 1; break;
    case 17: m->symbol[2].st_info = STT_OBJECT; break;
    case 18: memset(m->names, 'x', sizeof m->names); break; /* names without an end */
    default: m->names[3] ^= 1;
    }
}

static void test_broken(void **state)
{
    struct image m;
    struct vdso v;
    (void)state;
    for (int how = 0; how < 20; how++) {
        break_it(&m, how);
        assert_int_equal(parse(&m, &v), -1);
    }
    for (size_t n = 0; n < sizeof m; n += 7) { /* cut short */
        struct err e = {0};
        image_make(&m);
        uint8_t *part = mem_alloc(n ? n : 1);
        memcpy(part, &m, n);
        assert_int_equal(vdso_parse(part, n, &v, &e), -1);
        mem_free(part);
    }
}

/* That of this machine, where it is one that we know. */
static void test_own(void **state)
{
    struct vdso v;
    struct err e = {0};
    (void)state;
    if (!stub_code().n)
        skip();
    assert_int_equal(vdso_own(&v, &e), 0);
    assert_true(v.n % 4096 == 0 && v.spare < v.n && v.n - v.spare >= stub_code().n);
    assert_true(v.syscall && v.entry[0] != v.entry[1] && v.entry[1] != v.entry[2]);
    assert_int_equal(vdso_base(getpid()), (uint64_t)(uintptr_t)v.image);
    assert_int_equal(vdso_base(0), 0);
}

static void test_stub(void **state)
{
    (void)state;
    slice code = stub_code();
    if (!code.n)
        skip();
    assert_true(code.n % STUB_ALIGN == 0 && code.n < 512);
    for (uint32_t i = 0; i < STUB_ENTRIES; i++)
        assert_true(stub_entry_at(i) % STUB_ALIGN == 0 &&
                    stub_entry_at(i) < code.n - sizeof(struct stub_clock));
    for (size_t i = code.n - sizeof(struct stub_clock); i < code.n; i++)
        assert_int_equal(code.p[i], 0); /* a clock that is right, of nobody */
}

/* ---- control groups ---- */

#define FIRST                                                                                      \
    "24 1 0:21 / /sys rw - sysfs sysfs rw\n"                                                       \
    "33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"         \
    "34 30 0:30 / /sys/fs/cgroup/with\\040blank rw - cgroup cgroup rw,memory\n"                    \
    "35 30 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
#define SECOND    "35 30 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
#define CONTAINER "35 30 0:31 /docker/abc /sys/fs/cgroup ro - cgroup cgroup rw,pids\n"

static void test_cgroups(void **state)
{
    static const struct {
        const char *mounts, *groups, *controller, *dir; /* dir NULL: there is none */
        bool second;
    } cases[] = {
        {FIRST, "3:cpu,cpuacct:/a/b\n0::/\n", "cpu", "/sys/fs/cgroup/cpu,cpuacct/a/b", false},
        {FIRST, "3:cpu,cpuacct:/\n0::/\n", "cpu", "/sys/fs/cgroup/cpu,cpuacct", false},
        {FIRST, "4:memory:/x\n", "memory", "/sys/fs/cgroup/with blank/x", false},
        {FIRST, "4:memory:/x\n0::/user.slice\n", "pids", "/sys/fs/cgroup/unified/user.slice", true},
        {FIRST, "4:memory:/x\n", "pids", NULL, false},
        {SECOND, "0::/system.slice/a:b\n", "cpu", "/sys/fs/cgroup/system.slice/a:b", true},
        {SECOND, "", "cpu", NULL, false},
        {CONTAINER, "7:pids:/docker/abc\n", "pids", "/sys/fs/cgroup", false},
        {CONTAINER, "7:pids:/docker/abc/in\n", "pids", "/sys/fs/cgroup/in", false},
        {CONTAINER, "7:pids:/\n", "pids", "/sys/fs/cgroup", false},
        {CONTAINER, "7:pids:/docker/abc/../../../x\n", "pids", NULL, false},
        {"", "0::/\n", "cpu", NULL, false},
        {"35 30 0:31 / \n- cgroup2\n\n", "0::/\n", "cpu", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct cgroup g;
        bool found = cgroup_find(slice_of(cases[i].mounts), slice_of(cases[i].groups),
                                 cases[i].controller, &g);
        assert_int_equal(found, cases[i].dir != NULL);
        if (found) {
            assert_string_equal(g.dir, cases[i].dir);
            assert_int_equal(g.second, cases[i].second);
        }
    }
}

static void test_up(void **state)
{
    char dir[100] = "/sys/fs/cgroup/a/b";
    (void)state;
    assert_true(cgroup_up(dir, "/sys/fs/cgroup"));
    assert_string_equal(dir, "/sys/fs/cgroup/a");
    assert_true(cgroup_up(dir, "/sys/fs/cgroup"));
    assert_string_equal(dir, "/sys/fs/cgroup");
    assert_false(cgroup_up(dir, "/sys/fs/cgroup"));
    assert_false(cgroup_up(dir, "/other"));
    assert_true(cgroup_has(SLICE("cpuset cpu io\n"), ' ', "cpu"));
    assert_true(cgroup_has(SLICE("memory io\n"), ' ', "io"));
    assert_false(cgroup_has(SLICE("cpuset"), ' ', "cpu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image), cmocka_unit_test(test_broken),  cmocka_unit_test(test_own),
        cmocka_unit_test(test_stub),  cmocka_unit_test(test_cgroups), cmocka_unit_test(test_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
