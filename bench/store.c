/* SPDX-License-Identifier: Apache-2.0
 *
 * What the store costs: CPU time per run of eight calls that is added and read, early and late in a
 * long campaign, and how much memory that takes. Works in a directory of its own below the current
 * one. Prints a table, then the same as JSON lines. Exit code 0 whatever the figures. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "figures.h"
#include "store/store.h"

enum { CALLS = 8, RUNS = 100000, EARLY = 10000 };

static void must(int result, const struct err *e)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench: %s: %s\n", e->source, e->text);
    exit(2);
}

/* A binary tree of services; two of the calls fail. */
static struct run make_run(struct names *names, struct faultloads *fl)
{
    struct run run = {.purpose = RUN_SEARCH, .verdict = {.pass = true, .status = OUTCOME_OK}};
    run.verdict.why = "";
    run.body = SLICE("{\"orders\": [{\"id\": 1, \"total\": 12.5, \"state\": \"paid\"}]}");
    for (uint32_t i = 0; i < CALLS; i++) {
        char text[64];
        struct call c = {.parent = i ? (i - 1) / 2 : CALL_NONE, .seen = OUTCOME_OK};
        c.reply = OUTCOME_OK;
        c.handled = true;
        c.flags = CALL_HTTP;
        struct element element = {0};
        snprintf(text, sizeof text, "service-%u", (unsigned)i);
        element.service = names_sym(names, slice_of(text));
        snprintf(text, sizeof text, "GET /things/[id]/part-%u", (unsigned)i);
        element.interface = names_sym(names, slice_of(text));
        c.uid = names_uid(names, i ? run.trace.calls.at[c.parent].uid : UID_NONE,
                          names_element(names, element));
        if (i >= CALLS - 2) {
            c.mode = mode_make(MODE_STATUS, 500 + i % 4);
            c.seen = mode_outcome(c.mode);
            c.fault_point = c.uid;
            run.faultload = faultload_extend(fl, run.faultload, (struct fault){c.uid, c.mode});
        }
        vec_push(&run.trace.calls, c);
    }
    return run;
}

static void add_runs(struct store *s, uint64_t campaign, const struct names *names,
                     const struct faultloads *fl, struct run *run, uint64_t until)
{
    struct err e = {0};
    while (run->number < until) {
        run->number++;
        run->wall_ns = clock_wall_ns();
        run->took_ns = 2000000;
        for (uint32_t i = 0; i < CALLS; i++) {
            run->trace.calls.at[i].start_ns = clock_ns();
            run->trace.calls.at[i].end_ns = run->trace.calls.at[i].start_ns + 100000 - i;
        }
        must(store_add(s, campaign, names, fl, run, &e), &e);
    }
}

static int see(void *ctx, const struct run *run, struct err *e)
{
    uint64_t *n = ctx;
    (void)e;
    *n += run->trace.calls.n == CALLS;
    return 0;
}

static void measure_reading(const char *path)
{
    struct err e = {0};
    struct store *s;
    struct names names;
    struct faultloads fl;
    struct arena keep = {0};
    uint64_t campaign, n = 0;
    names_init(&names);
    faultloads_init(&fl);
    must(store_open(path, STORE_READ, &s, &e), &e);
    must(store_find(s, SLICE("checkout"), &campaign, &e), &e);
    int64_t start_ns = cpu_ns();
    must(store_each_run(s, campaign, &names, &fl, &keep, see, &n, &e), &e);
    report("store_read", "us CPU per run of 8 calls read",
           (double)(cpu_ns() - start_ns) / 1e3 / (double)n, 0);
    store_close(s);
    arena_deinit(&keep);
    faultloads_deinit(&fl);
    names_deinit(&names);
}

static void measure_adding(const char *path)
{
    struct err e = {0};
    struct store *s;
    struct names names;
    struct faultloads fl;
    uint64_t campaign;
    names_init(&names);
    faultloads_init(&fl);
    must(store_open(path, STORE_WRITE, &s, &e), &e);
    must(store_begin(s, SLICE("checkout"), &campaign, &e), &e);
    struct run run = make_run(&names, &fl);
    int64_t start_ns = cpu_ns();
    add_runs(s, campaign, &names, &fl, &run, EARLY);
    int64_t early_ns = cpu_ns();
    double early_kib = resident_bytes() / 1024;
    add_runs(s, campaign, &names, &fl, &run, RUNS - EARLY);
    int64_t late_ns = cpu_ns();
    add_runs(s, campaign, &names, &fl, &run, RUNS);
    int64_t end_ns = cpu_ns();
    report("store_early", "us CPU per run of 8 calls added, the first 10,000",
           (double)(early_ns - start_ns) / 1e3 / EARLY, 60);
    report("store_late", "us CPU per run of 8 calls added, the last 10,000 of 100,000",
           (double)(end_ns - late_ns) / 1e3 / EARLY, 60);
    report("store_growth", "KiB of memory more after 100,000 runs than after 10,000",
           resident_bytes() / 1024 - early_kib, 1024);
    store_close(s);
    vec_deinit(&run.trace.calls);
    faultloads_deinit(&fl);
    names_deinit(&names);
}

int main(void)
{
    char directory[] = "bench-store-XXXXXX";
    static const char *const files[] = {"campaign.db", "campaign.db.lock", "campaign.db-wal",
                                        "campaign.db-shm"};
    if (!mkdtemp(directory) || chdir(directory)) {
        perror("bench");
        return 2;
    }
    measure_adding(files[0]);
    measure_reading(files[0]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    if (chdir("..") || rmdir(directory))
        perror("bench");
    figures_print();
    return 0;
}
