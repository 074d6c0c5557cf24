// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of a contract. Then runs are judged by it, and the file is updated.
//
// What must hold besides not crashing:
// 1. A file that is refused is refused with a sentence and a place, and one that is accepted has no
//    error.
// 2. Every run has a verdict with a sentence exactly when it does not pass.
// 3. What is proposed for an empty contract declares what was seen; what is updated can be read, or
//    there is an error.

#include <stdint.h>

#include "contract/contract.h"
#include "data/yaml.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 64 << 10 };

static const char *const services[] = {"a", "b", "c"};

static const struct {
    const char *faults, *body;
    uint32_t status;
} runs[] = {
    {"a GET /x > b GET /y : 503", "{\"n\": 1}", 200},
    {"a GET /x > b GET /y : reset", "{\"n\": 2}", 200},
    {"a GET /x > c POST /z : 503", "", 503},
    {"a GET /x > c POST /z : 503 & a GET /x > c POST /z #1 : 503", "text", 500},
    {"a GET /x > b GET /y : 503 & a GET /x > c POST /z : lost-reply:503", "{\"n\": [3]}", 200},
    {"a GET /x > b GET /y > c PUT /w {0000002a} : delay:2s", "{\"n\": 1, \"m\": null}", 404},
};

enum { RUNS = sizeof runs / sizeof *runs };

static void add_call(struct run *r, uid u, mode m)
{
    vec_push(&r->trace.calls, (struct call){.uid = u,
                                            .mode = m,
                                            .fault_point = u,
                                            .seen = m ? mode_outcome(m) : OUTCOME_OK,
                                            .handled = m == MODE_NONE || mode_reached(m),
                                            .reply = OUTCOME_OK});
}

static void add_text(struct names *names, struct run *r, const char *call)
{
    uid u;
    struct err e = {0};
    MUST(!uid_parse(names, slice_of(call), &u, &e));
    add_call(r, u, MODE_NONE);
}

static void make(struct names *names, struct faultloads *fl, uint32_t i, struct run *r)
{
    faultload f = FAULTLOAD_EMPTY;
    struct err e = {0};
    *r = (struct run){.purpose = RUN_SEARCH, .verdict = {true, OUTCOME_OK, "", NULL}};
    add_text(names, r, "a GET /x");
    if (i < RUNS) {
        r->body = slice_of(runs[i].body);
        r->verdict.status = OUTCOME(OUT_STATUS, runs[i].status);
        MUST(!faultload_parse(names, fl, slice_of(runs[i].faults), &f, &e));
    } else {
        r->body = SLICE("{\"n\": 1}");
        add_text(names, r, "a GET /x > b GET /y");
        add_text(names, r, "a GET /x > c POST /z");
    }
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest)
        add_call(r, fl->rows.at[f].last.point, fl->rows.at[f].last.mode);
}

static void show_runs(struct contract *c, struct names *names, struct faultloads *fl, bool all_pass)
{
    struct run r;
    make(names, fl, RUNS, &r);
    contract_learn(c, &r);
    vec_deinit(&r.trace.calls);
    for (uint32_t i = 0; i <= RUNS; i++) {
        make(names, fl, i, &r);
        contract_judge(c, &r);
        MUST(r.verdict.pass == !*r.verdict.why);
        MUST(r.verdict.pass || !all_pass);
        contract_note(c, &r);
        vec_deinit(&r.trace.calls);
    }
}

static void check_learned(const struct contract_options *o, struct contract *c)
{
    struct buf text = BUF_INIT(1 << 20);
    struct arena arena = {0};
    struct err e = {0};
    const struct node *root;
    struct contract *again;
    contract_propose(c, &text);
    MUST(!yaml_parse(buf_slice(&text), &arena, &root, &e));
    MUST(!contract_load(o, root, &again, &e));
    show_runs(again, o->names, (struct faultloads *)(uintptr_t)o->faultloads, true);
    contract_free(again);
    arena_deinit(&arena);
    buf_deinit(&text);
}

static void hear(void *ctx, const char *text)
{
    (void)ctx;
    MUST(*text);
}

static void use(const struct contract_options *o, struct contract *c, slice bytes)
{
    struct buf text = BUF_INIT(1 << 20);
    struct err e = {0};
    struct summary summary = {0};
    show_runs(c, o->names, (struct faultloads *)(uintptr_t)o->faultloads, false);
    contract_remark(c, true, &summary, hear, NULL);
    bool updated = contract_update(c, bytes, &text, &e);
    MUST(updated == !e.text[0]);
    buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    struct names names;
    struct faultloads fl;
    struct arena arena = {0};
    struct err e = {0};
    const struct node *root;
    struct contract *c = NULL, *empty = NULL;
    slice bytes = {(const char *)data, size};
    names_init(&names);
    faultloads_init(&fl);
    struct vocabulary words = {.names = &names, .services = services, .n_services = 3};
    struct contract_options o = {
        .names = &names, .words = &words, .faultloads = &fl, .scenario = "s", .file = "f.yaml"};
    if (!yaml_parse(bytes, &arena, &root, &e)) {
        bool right = contract_load(&o, root, &c, &e) == 0;
        MUST(right == !e.text[0] && (right || (e.line && e.col)));
        if (right)
            use(&o, c, bytes);
    }
    MUST(!contract_load(&o, NULL, &empty, &e));
    show_runs(empty, &names, &fl, false);
    check_learned(&o, empty);
    contract_free(c);
    contract_free(empty);
    faultloads_deinit(&fl);
    names_deinit(&names);
    arena_deinit(&arena);
    return 0;
}
