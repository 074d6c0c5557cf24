// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file of campaigns. They are the whole file, or edits of a good one: which table,
// row and column, and what stands there instead; the sums of all rows are right again afterwards.
// Then it is read as `outfox report` reads it, and as `outfox run --resume` opens it.
//
// What must hold besides not crashing:
// 1. What is refused is refused with a sentence.
// 2. What is accepted is reported to its end, as one JSON document.

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/campaign.h"
#include "campaign/judging.h"
#include "data/yaml.h"
#include "fuzz/json_text.h"
#include "fuzz/must.h"
#include "report/report.h"
#include "sim/sim.h"
#include "store/store_int.h"
#include "support/store_sums.h"

enum { BYTES_MAX = 256 << 10, EDITS_MAX = 8, GOOD_RUNS = 12 };

static char path[256], options[] = "modes: 503 reset\n";

static const char config_text[] = "version: 1\n"
                                  "name: shop\n"
                                  "services:\n"
                                  "  shop:\n"
                                  "    run: shop {port}\n"
                                  "    env: {PAY: '{url:pay}', STOCK: '{url:stock}'}\n"
                                  "  pay: {run: 'pay {port}'}\n"
                                  "  stock: {run: 'stock {port}'}\n"
                                  "scenarios:\n"
                                  "  buy: {request: 'POST {url:shop}/buy'}\n";

static const char system_text[] =
    "system: shop\n"
    "services:\n"
    "  shop:\n"
    "    POST /buy:\n"
    "      - call: pay POST /charge\n"
    "        timeout: 1s\n"
    "        retry: {times: 1, on: failed}\n"
    "        on: {failed: {reply: 503}}\n"
    "      - call: stock GET /stock\n"
    "        timeout: 1s\n"
    "        on: {failed: [{call: stock GET /copy, timeout: 1s, on: {failed: {reply: 500}}}]}\n"
    "      - reply: 200\n"
    "  pay: {POST /charge: {reply: 200, body: {id: 1}}}\n"
    "  stock:\n"
    "    GET /stock: {reply: 200, body: {left: 3}}\n"
    "    GET /copy: {reply: 200, body: {left: 3}}\n"
    "scenarios:\n"
    "  buy:\n"
    "    request: shop POST /buy\n"
    "    expect: [{then: 'status in [200, 503]', say: it fails}]\n";

struct world {
    struct names names;
    struct faultloads faultloads;
    struct arena arena;
    mode modes[2];
    struct search_options search;
};

static void world_init(struct world *w)
{
    struct err e = {0};
    *w = (struct world){0};
    names_init(&w->names);
    faultloads_init(&w->faultloads);
    MUST(mode_parse(SLICE("503"), &w->modes[0], &e) == 0);
    MUST(mode_parse(SLICE("reset"), &w->modes[1], &e) == 0);
    w->search = (struct search_options){.modes = w->modes, .n_modes = 2, .baselines = 2};
}

static void world_deinit(struct world *w)
{
    faultloads_deinit(&w->faultloads);
    names_deinit(&w->names);
    arena_deinit(&w->arena);
}

// ---- a good file ----

static void add_runs(struct world *w, struct sim *sim, struct store *s, uint64_t id)
{
    struct search *search = search_new(&w->names, &w->faultloads, &w->search);
    struct aim aim = {0};
    struct err e = {0};
    faultload f;
    for (uint64_t n = 1; n <= GOOD_RUNS && search_next(search, &f); n++) {
        struct run run = {.number = n, .faultload = f, .wall_ns = 1000, .took_ns = 1000};
        run.purpose = f == FAULTLOAD_EMPTY ? RUN_BASELINE : RUN_SEARCH;
        run.body = SLICE("{\"id\": 1}");
        aim_set(&aim, &w->names, &w->faultloads, f);
        MUST(sim_run(sim, 0, &aim, 0, &run.trace, &run.verdict, NULL, &e) == 0);
        MUST(store_add(s, id, &w->names, &w->faultloads, &run, &e) == 0);
        search_observe(search, f, &run.trace, &run.verdict);
        vec_deinit(&run.trace.calls);
    }
    aim_deinit(&aim);
    search_free(search);
}

static void add_facts(struct world *w, struct store *s, uint64_t id)
{
    static const struct store_fact facts[] = {
        {{"learned", 7}, {"payload auto\n", 13}},
        {{"quiet", 5}, {"50000000", 8}},
        {{"levels", 6}, {"shop 40 state\n", 14}},
        {{"notes", 5}, {"a note\n", 7}},
        {{"blasts", 6}, {"1 3 shop POST /buy > pay POST /charge : 503\twhy\n", 48}},
        {{"hiccups", 7}, {"1 stock was late", 16}},
        {{"doubt", 5}, {"a doubt", 7}},
        {{"ended", 5}, {"1", 1}},
    };
    struct err e = {0};
    struct store_finding finding = {.id = 1, .why = SLICE("it fails"), .state = SLICE("flaky")};
    MUST(faultload_parse(&w->names, &w->faultloads,
                         SLICE("shop POST /buy > pay POST /charge #* : 503"), &finding.faultload,
                         &e) == 0);
    MUST(store_set(s, id, SLICE("options"), slice_of(options), &e) == 0);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        MUST(store_set(s, id, facts[i].name, facts[i].value, &e) == 0);
    MUST(store_set_findings(s, id, &w->names, &w->faultloads, &finding, 1, &e) == 0);
}

static void remove_file(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[300];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void write_file(const void *bytes, size_t n)
{
    remove_file();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

// The bytes of a good file; made once.
static slice good_file(void)
{
    static slice bytes;
    struct world w;
    struct err e = {0};
    struct store *s;
    struct sim *sim;
    const struct node *root;
    struct stat file;
    uint64_t id;
    if (bytes.p)
        return bytes;
    snprintf(path, sizeof path, "%s/outfox-fuzz-%ld.db",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".", (long)getpid());
    atexit(remove_file);
    remove_file();
    world_init(&w);
    MUST(yaml_parse(slice_of(system_text), &w.arena, &root, &e) == 0);
    MUST(sim_load(root, &w.names, &sim, &e) == 0);
    MUST(store_open(path, STORE_WRITE, &s, &e) == 0);
    MUST(store_begin(s, SLICE("buy"), &id, &e) == 0);
    add_runs(&w, sim, s, id);
    add_facts(&w, s, id);
    store_close(s);
    sim_free(sim);
    world_deinit(&w);
    int fd = open(path, O_RDONLY);
    MUST(fd >= 0 && fstat(fd, &file) == 0);
    char *p = malloc((size_t)file.st_size);
    MUST(p && read(fd, p, (size_t)file.st_size) == file.st_size);
    close(fd);
    bytes = (slice){p, (size_t)file.st_size};
    return bytes;
}

// ---- edits ----

static const struct table {
    const char *name, *key, *columns[17];
} tables[] = {
    {"campaign", "id", {"id", "scenario", "began_ns"}},
    {"fact", "campaign, name", {"campaign", "name", "value"}},
    {"point", "id", {"id", "campaign", "parent", "element"}},
    {"run",
     "campaign, number",
     {"campaign", "number", "previous", "purpose", "flags", "faultload", "pass", "status", "why",
      "detail", "event", "body", "wall_ns", "took_ns", "calls"}},
    {"call",
     "campaign, run, n",
     {"campaign", "run", "n", "parent", "point", "mode", "fault_point", "seen", "handled", "reply",
      "flags", "start_ns", "end_ns", "request", "key", "answer"}},
    {"finding", "campaign, id", {"campaign", "id", "state", "why", "faultload"}},
};

static const int64_t numbers[] = {0,          1,         2,         3,         7,
                                  -1,         INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
                                  UINT32_MAX, 1LL << 53, 1LL << 62, 1LL << 31, 1000000000000};

static const char *const words[] = {
    "",
    "hushed",
    "open",
    "exempt",
    "http",
    "grpc",
    "503",
    "reset",
    "grpc:14",
    "delay:9s",
    "timeout",
    "exit:1",
    "baseline",
    "search",
    "confirm",
    "audit",
    "none",
    "hung",
    "contract",
    "crashed",
    "unexpected",
    "hushed exempt http2 open",
    "cancelled",
    "lost-reply:502",
    "ambiguous",
    "64",
    "128",
    "4294967295",
    "shop POST /buy #*",
    "pay POST /charge #1",
    "shop POST /buy > pay POST /charge : 503",
    "shop POST /buy > pay POST /charge #* : reset & shop POST /buy > stock GET /stock : 503"};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static uint8_t take(slice *in)
{
    if (!in->n)
        return 0;
    uint8_t c = (uint8_t)in->p[0];
    *in = slice_from(*in, 1);
    return c;
}

static void bind_value(sqlite3_stmt *stmt, slice *in)
{
    uint8_t kind = take(in), n = take(in);
    slice text = {in->p, n < in->n ? n : in->n};
    switch (kind % 5) {
    case 0: sqlite3_bind_null(stmt, 1); break;
    case 1: sqlite3_bind_int64(stmt, 1, numbers[n % LENGTH(numbers)]); break;
    case 2: sqlite3_bind_text(stmt, 1, words[n % LENGTH(words)], -1, SQLITE_STATIC); break;
    default:
        if (kind % 5 == 3)
            sqlite3_bind_text(stmt, 1, text.p, (int)text.n, SQLITE_STATIC);
        else
            sqlite3_bind_blob(stmt, 1, text.p, (int)text.n, SQLITE_STATIC);
        *in = slice_from(*in, text.n);
    }
}

// What another row has there, something else, or nothing: the row is removed.
static void edit_once(sqlite3 *db, slice *in)
{
    const struct table *t = &tables[take(in) % LENGTH(tables)];
    uint32_t columns = 0, row = take(in), what = take(in);
    char sql[512], what_sql[256], set[128] = "?1";
    sqlite3_stmt *stmt = NULL;
    while (columns < LENGTH(t->columns) && t->columns[columns])
        columns++;
    const char *column = t->columns[what % columns];
    uint8_t how = take(in);
    if (how % 8 == 0)
        snprintf(set, sizeof set, "(SELECT %s FROM %s LIMIT 1 OFFSET %u)", column, t->name,
                 (unsigned)take(in));
    if (how % 8 == 1)
        snprintf(set, sizeof set, "%s + ?1", column);
    if (how % 8 == 2)
        snprintf(what_sql, sizeof what_sql, "DELETE FROM %s", t->name);
    else
        snprintf(what_sql, sizeof what_sql, "UPDATE %s SET %s = %s", t->name, column, set);
    snprintf(sql, sizeof sql, "%s WHERE (%s) IN (SELECT %s FROM %s LIMIT 1 OFFSET %u)", what_sql,
             t->key, t->key, t->name, (unsigned)row);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        if (sqlite3_bind_parameter_count(stmt))
            bind_value(stmt, in);
        sqlite3_step(stmt);
    }
    sqlite3_finalize(stmt);
}

static void edit(slice in)
{
    sqlite3 *db = NULL;
    slice good = good_file();
    write_file(good.p, good.n);
    MUST(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
    for (uint32_t i = 0; i < EDITS_MAX && in.n; i++)
        edit_once(db, &in);
    store_sums(db);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

// ---- reading ----

struct telling {
    struct store *store;
    struct world *world;
    struct campaign *campaign;
    struct arena run;
};

static int run_of(void *ctx, uint32_t scenario, faultload f, struct run *out)
{
    struct telling *t = ctx;
    struct err e = {0};
    (void)scenario;
    return campaign_run_of(t->campaign, f, &t->run, out, &e) ? 1 : 0;
}

static void report(struct telling *t)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    const struct summary *summary = campaign_finish(t->campaign);
    struct report_source source = {
        .system = "shop", .file = "f", .version = "1", .n = 1, .scenarios = &summary, .ctx = t};
    source.run_of = run_of;
    report_text(&source, style_for(1, "never"), &out);
    report_junit(&source, &out);
    buf_clear(&out);
    report_campaign_json(&source, &out);
    MUST(json_text_whole(buf_slice(&out)) && buf_text(&out)[0] == '{');
    buf_deinit(&out);
}

static void read_store(struct world *w, struct store *s, const struct campaign_config *config,
                       const struct judging *judging)
{
    struct err e = {0};
    struct store_finding finding;
    struct campaign_options o = {.config = config,
                                 .names = &w->names,
                                 .faultloads = &w->faultloads,
                                 .search = w->search,
                                 .judging = judging,
                                 .store = s,
                                 .options = options};
    struct telling t = {.store = s, .world = w, .campaign = campaign_new(&o)};
    int status = campaign_restore(t.campaign, &e);
    MUST((status >= 0 && status != STATUS_OTHER) || e.text[0]);
    if (status == 0) {
        struct summary *summary = campaign_summary(t.campaign);
        summary->system = "shop";
        summary->scenario = "buy";
        summary->file = "f";
        summary->modes = w->modes;
        summary->n_modes = w->search.n_modes;
        summary->order = "x";
        summary->ids = summary->replay = "";
        report(&t);
        e = (struct err){0};
        status = store_finding(s, 1, 1, &w->names, &w->faultloads, &w->arena, &finding, &e);
        MUST(status >= 0 || e.text[0]);
    }
    campaign_free(t.campaign);
    arena_deinit(&t.run);
}

static void read_file(enum store_access access)
{
    struct world w;
    struct campaign_config *config;
    struct judging judging;
    struct store *s;
    struct err e = {0};
    world_init(&w);
    MUST(campaign_config_parse(slice_of(config_text), "f.yaml", &config, &e) == 0);
    MUST(judging_open(&judging, NULL, NULL, 0, ANY_VOCABULARY(&w.names), &e) == 0);
    judging_wire_config(&judging, config);
    int status = store_open(path, access, &s, &e);
    MUST(status == 0 || e.text[0]);
    if (status == 0)
        read_store(&w, s, config, &judging);
    store_close(s);
    judging_close(&judging);
    campaign_config_free(config);
    world_deinit(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice in = {(const char *)data, size};
    if (size > BYTES_MAX || size < 1)
        return 0;
    good_file(); // says where the file is
    if (slice_starts(in, SLICE("SQLite format 3")))
        write_file(in.p, in.n);
    else
        edit(in);
    read_file(data[size - 1] & 1 ? STORE_WRITE : STORE_READ);
    return 0;
}
