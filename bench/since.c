/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to build on an earlier campaign: a store of 100,000 different runs of netflix, explored in
 * memory, is opened as `outfox run --since` does it. Works in a directory of its own below the
 * current one. Prints a table, then the same as JSON lines. Exit code 0 whatever the figures. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "campaign/since.h"
#include "figures.h"
#include "store/journal.h"
#include "support/lab.h"

enum { RUNS = 100000 };

static void must(int result, const struct err *e)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench: %s: %s\n", e->source, e->text);
    exit(2);
}

/* Explores, and keeps the journal of a campaign that came to its end. */
static uint64_t write_store(const char *system, const char *path)
{
    struct lab lab;
    struct store *store;
    struct err e = {0};
    struct mode_list modes = {0};
    uint64_t campaign, n = 0, bytes = 0;
    faultload f;
    must(lab_init_file(&lab, system, &e), &e);
    must(mode_list_add(&modes, SLICE("thorough"), &e), &e);
    struct search_options o = lab_options(&lab);
    o.modes = modes.at;
    o.n_modes = modes.n;
    must(store_open(path, STORE_WRITE, &store, &e), &e);
    must(store_begin(store, SLICE("home"), &campaign, &e), &e);
    struct search *search = search_new(&lab.names, &lab.fl, &o);
    struct journal *journal = journal_new(&lab.names, &lab.fl);
    for (; n < RUNS && search_next(search, &f); n++) {
        lab_run(&lab, f);
        search_observe(search, f, &lab.trace, &lab.verdict);
        struct journal_entry entry = {f, &lab.trace, NULL};
        if (!journal_add(journal, &entry))
            exit(2);
        if (!journal_full(journal) && n + 1 < RUNS)
            continue;
        bytes += journal_chunk(journal).n;
        must(journal_keep(store, campaign, n + 1, journal_chunk(journal), &e), &e);
        journal_clear(journal);
    }
    static const char *const facts[] = {"options", "ended", "journal", "identities"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        must(store_set(store, campaign, slice_of(facts[i]), SLICE(""), &e), &e);
    report("since_bytes", "bytes of the journal per run", (double)bytes / (double)n, 0);
    journal_free(journal);
    search_free(search);
    store_close(store);
    lab_deinit(&lab);
    return n;
}

static void open_store(const char *path, uint64_t runs)
{
    struct names names;
    struct faultloads fl;
    struct err e = {0};
    struct since since;
    struct identities nobody = {0};
    static const struct campaign_config config;
    struct since_scenario scenario = {SLICE("home"), ""};
    struct since_options o = {&config, &names, &fl, false, &scenario, 1, &nobody};
    names_init(&names);
    faultloads_init(&fl);
    double before = resident_bytes();
    int64_t start_ns = cpu_ns();
    must(since_open(&since, path, &o, &e), &e);
    report("since_open", "s CPU to open a store of 100,000 runs",
           (double)(cpu_ns() - start_ns) / 1e9, 2);
    report("since_memory", "KiB per 1,000 runs that are known",
           (resident_bytes() - before) / 1024 / (double)runs * 1000, 0);
    if (since.parts.at[0].runs != runs) {
        fprintf(stderr, "bench: %s\n",
                since.parts.at[0].full ? since.parts.at[0].full : "runs are missing");
        exit(2);
    }
    since_free(&since);
    faultloads_deinit(&fl);
    names_deinit(&names);
}

int main(void)
{
    char directory[] = "bench-since-XXXXXX", top[4096], system[5000];
    static const char *const files[] = {"campaign.db", "campaign.db.lock", "campaign.db-wal",
                                        "campaign.db-shm"};
    if (!getcwd(top, sizeof top) || !mkdtemp(directory) || chdir(directory)) {
        perror("bench");
        return 2;
    }
    snprintf(system, sizeof system, "%s/examples/corpus/netflix.yaml", top);
    open_store(files[0], write_store(system, files[0]));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    if (chdir("..") == 0)
        rmdir(directory);
    figures_print();
    return 0;
}
