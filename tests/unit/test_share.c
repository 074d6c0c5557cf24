/* SPDX-License-Identifier: Apache-2.0
 *
 * rig/share: the file as processes find it, what they may have written into it,
 * what is left of killed ones; rig/folder: directories copied as they are. */
#include "rig/share.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig/folder.h"
#include "support/unit.h"

static char work[64];

static int make_work(void **state)
{
    (void)state;
    (void)snprintf(work, sizeof work, "/tmp/outfox-share-XXXXXX");
    return mkdtemp(work) ? 0 : -1;
}

static int drop_work(void **state)
{
    (void)state;
    folder_remove(work);
    return access(work, F_OK) == 0 ? -1 : 0;
}

static const uint8_t enabled[] = {1, 0, 1}, muted[] = {0, 1};
static uint8_t seen[5 * OUTFOX_NODES];

static struct share *open_one(void)
{
    static const struct share_module module = {.id = 77,
                                               .path = {"/bin/program", 12},
                                               .sites = 2,
                                               .states = 5,
                                               .functions = 3,
                                               .enabled = enabled,
                                               .muted = muted,
                                               .seen = seen};
    struct share_spec spec = {.modules = &module,
                              .n_modules = 1,
                              .rule = OUTFOX_RULE_POINT,
                              .act = OUTFOX_ERROR,
                              .key = 5,
                              .nth = 3,
                              .error = 28,
                              .nodes = 3};
    struct share *s = NULL;
    struct err e = {0};
    assert_int_equal(share_open(work, &spec, &s, &e), 0);
    return s;
}

/* As a process maps it. */
static struct outfox_trial *map(const struct share *s, size_t *bytes)
{
    struct stat st;
    int fd = open(share_path(s), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    *bytes = (size_t)st.st_size;
    struct outfox_trial *t = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(t != MAP_FAILED);
    (void)close(fd);
    return t;
}

static void test_file(void **state)
{
    size_t bytes;
    (void)state;
    seen[5 * 2 + 1] = 1; /* state 1 of node 2 */
    struct share *s = open_one();
    struct outfox_trial *t = map(s, &bytes);
    assert_true(t->magic == OUTFOX_TRIAL_MAGIC && t->abi == OUTFOX_ABI && t->bytes == bytes);
    assert_true(t->rule == OUTFOX_RULE_POINT && t->key == 5 && t->nth == 3 && t->error == 28);
    assert_true(t->points % 64 == 0 && (t->n_points & (t->n_points - 1)) == 0);
    assert_true(t->points + t->n_points * sizeof(struct outfox_point) <= bytes);
    const struct outfox_module_entry *m = &t->module[0];
    assert_true(m->filled && m->id == 77 && m->enabled && m->muted && m->seen);
    assert_memory_equal((char *)t + m->enabled, enabled, sizeof enabled);
    assert_memory_equal((char *)t + m->muted, muted, sizeof muted);
    assert_memory_equal((char *)t + m->seen, seen, sizeof seen);
    assert_int_equal(t->armed, 0);
    share_arm(s, true);
    assert_int_equal(t->armed, 1);
    (void)munmap(t, bytes);
    share_free(s);
}

/* What is out of bounds is not believed, whatever it is. */
static void test_hostile(void **state)
{
    size_t bytes;
    struct arena a = {0};
    struct share_report r;
    (void)state;
    struct share *s = open_one();
    struct outfox_trial *t = map(s, &bytes);
    struct outfox_point *p = (void *)((char *)t + t->points);
    p[0] =
        (struct outfox_point){.key = 9, .filled = 1, .requests = 4, .state = 4, .caller_module = 0};
    p[1] = (struct outfox_point){.key = 8, .filled = 1, .module = 7}; /* there is none */
    p[2] = (struct outfox_point){.key = 7, .filled = 1, .site = 2};
    p[3] = (struct outfox_point){.key = 6, .filled = 1, .state = 5};
    p[4] = (struct outfox_point){.key = 5, .filled = 1, .state = OUTFOX_NO_STATE, .node = 99};
    p[5] = (struct outfox_point){.key = 4, .filled = 0};
    t->points = 1; /* nobody may: and nobody follows it */
    t->claimed = 1;
    t->injection = (struct outfox_injection){.done = 1, .frames = 4000, .point = p[0]};
    t->injection.frame[0].module = 31;
    share_read(s, &a, &r);
    assert_int_equal(r.n_points, 1);
    assert_int_equal(r.points[0].requests, 4);
    assert_true(r.injected && r.injection.frames == OUTFOX_FRAMES);
    assert_int_equal(r.injection.frame[0].module, OUTFOX_NO_MODULE);
    t->injection.point.site = 1000;
    share_read(s, &a, &r);
    assert_false(r.injected);
    (void)munmap(t, bytes);
    arena_deinit(&a);
    share_free(s);
}

static void test_left(void **state)
{
    (void)state;
    struct share *s = open_one();
    assert_int_equal(share_clear_up(work), 0); /* it lives */
    char path[200];
    (void)snprintf(path, sizeof path, "%s/outfox-trial-1-dead", work);
    (void)close(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    assert_int_equal(share_clear_up(work), 1);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(access(share_path(s), F_OK), 0);
    (void)snprintf(path, sizeof path, "%s", share_path(s));
    share_free(s);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_refused(void **state)
{
    struct share_spec spec = {0};
    struct share *s = NULL;
    struct err e = {0};
    (void)state;
    assert_int_equal(share_open("/nowhere/at/all", &spec, &s, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere/at/all"));
}

static void test_folder(void **state)
{
    char from[100], to[100], path[200], target[20] = "";
    struct err e = {0};
    struct stat st;
    (void)state;
    (void)snprintf(from, sizeof from, "%s/from", work);
    (void)snprintf(to, sizeof to, "%s/to", work);
    (void)snprintf(path, sizeof path, "%s/inner", from);
    assert_true(mkdir(from, 0700) == 0 && mkdir(path, 0700) == 0);
    (void)snprintf(path, sizeof path, "%s/inner/file", from);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_true(write(fd, "hello", 5) == 5 && close(fd) == 0);
    (void)snprintf(path, sizeof path, "%s/link", from);
    assert_int_equal(symlink("inner/file", path), 0);
    assert_int_equal(folder_make(from, to, &e), 0);
    (void)snprintf(path, sizeof path, "%s/inner/file", to);
    assert_true(stat(path, &st) == 0 && st.st_size == 5 && (st.st_mode & 0777) == 0700);
    (void)snprintf(path, sizeof path, "%s/link", to);
    assert_true(readlink(path, target, sizeof target - 1) > 0 && strcmp(target, "inner/file") == 0);
    assert_int_equal(folder_make(from, to, &e), -1); /* it is there */
    folder_remove(to);
    assert_int_not_equal(access(to, F_OK), 0);
    e = (struct err){0};
    assert_int_equal(folder_make("/nowhere", to, &e), -1);
    assert_non_null(strstr(e.text, "/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),    cmocka_unit_test(test_hostile), cmocka_unit_test(test_left),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, make_work, drop_work);
}
