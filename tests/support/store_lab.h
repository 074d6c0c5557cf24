/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the store share: a directory of its own for each test, campaigns of the runs of
 * store_case.h, and sentences that must or must not come. */
#ifndef OUTFOX_SUPPORT_STORE_LAB_H
#define OUTFOX_SUPPORT_STORE_LAB_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store_int.h"
#include "support/store_case.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define PATH          "campaign.db"

enum { SKIPPED = 77 };

/* ---- a directory, and what several tests do ---- */

static inline int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static inline int enter(void **state)
{
    static char directory[64];
    snprintf(directory, sizeof directory, "store-XXXXXX");
    *state = mkdtemp(directory);
    return *state ? chdir(directory) : -1;
}

static inline int leave(void **state)
{
    return chdir("..") || nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define GOOD(call)                                                                                 \
    do {                                                                                           \
        struct err e_ = {0}, *e = &e_;                                                             \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s: %s", #call, e->source, e->text);                                     \
    } while (0)

/* The call fails, and says all the words. */
#define BAD(call, ...)                                                                             \
    do {                                                                                           \
        struct err e_ = {0}, *e = &e_;                                                             \
        const char *const words_[] = {__VA_ARGS__};                                                \
        assert_int_equal((call), -1);                                                              \
        for (size_t i_ = 0; i_ < LENGTH(words_); i_++)                                             \
            if (!strstr(e->text, words_[i_]))                                                      \
                fail_msg("\"%s\" is not in: %s: %s", words_[i_], e->source, e->text);              \
    } while (0)

static inline struct store *open_store(enum store_access access)
{
    struct store *s = NULL;
    GOOD(store_open(PATH, access, &s, e));
    return s;
}

static inline void add(struct store *s, uint64_t campaign, uint64_t number)
{
    struct store_world w;
    store_world_init(&w);
    struct run run = store_case_run(&w, number);
    GOOD(store_add(s, campaign, &w.names, &w.fl, &run, e));
    vec_deinit(&run.trace.calls);
    store_world_deinit(&w);
}

/* A file with one campaign of n runs. */
static inline void make_campaign(uint64_t n)
{
    uint64_t campaign;
    struct store *s = open_store(STORE_WRITE);
    GOOD(store_begin(s, SLICE("checkout"), &campaign, e));
    for (uint64_t i = 1; i <= n; i++)
        add(s, campaign, i);
    store_close(s);
}

/* Walks over the runs of a campaign, which must be those of store_case_run from 1 on. */
struct walk {
    struct store_world *world;
    uint64_t n;
    bool differs;
};

static inline bool is_case(const struct store_world *w, const struct run *run)
{
    struct store_world other;
    struct buf found = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20);
    store_world_init(&other);
    struct run same = store_case_run(&other, run->number);
    store_case_print(&other, &same, &wanted);
    store_case_print(w, run, &found);
    bool equal = slice_eq(buf_slice(&found), buf_slice(&wanted));
    buf_deinit(&found);
    buf_deinit(&wanted);
    vec_deinit(&same.trace.calls);
    store_world_deinit(&other);
    return equal;
}

static inline int see_run(void *ctx, const struct run *run, struct err *e)
{
    struct walk *walk = ctx;
    (void)e;
    walk->n++;
    walk->differs |= run->number != walk->n || !is_case(walk->world, run);
    return 0;
}

static inline int walk_runs(struct store *s, uint64_t campaign, struct walk *walk, struct err *e)
{
    struct store_world w;
    store_world_init(&w);
    *walk = (struct walk){.world = &w};
    int result = store_each_run(s, campaign, &w.names, &w.fl, &w.text, see_run, walk, e);
    store_world_deinit(&w);
    walk->world = NULL;
    return result;
}

static inline void expect_runs(struct store *s, slice scenario, uint64_t n)
{
    struct walk walk;
    uint64_t campaign = 0;
    GOOD(store_find(s, scenario, &campaign, e));
    assert_true(campaign > 0);
    GOOD(walk_runs(s, campaign, &walk, e));
    assert_int_equal(walk.n, n);
    assert_false(walk.differs);
}

static inline void edit(const char *sql)
{
    sqlite3 *db = NULL;
    char *said = NULL;
    assert_int_equal(sqlite3_open(PATH, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK)
        fail_msg("%s: %s", sql, said);
    sqlite3_close(db);
}

/* What a child process came to; its own exit code, or -1. */
static inline int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline slice read_file(const char *path, struct arena *a)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    char *p = arena_alloc(a, (size_t)info.st_size);
    assert_int_equal(read(fd, p, (size_t)info.st_size), info.st_size);
    close(fd);
    return (slice){p, (size_t)info.st_size};
}

static inline void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, enter, leave)

#endif
