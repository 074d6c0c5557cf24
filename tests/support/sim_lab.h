/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of simulated systems share: a system around one handler, its run under faults, and
 * what it answered and called. */
#ifndef OUTFOX_SUPPORT_SIM_LAB_H
#define OUTFOX_SUPPORT_SIM_LAB_H

#include "data/yaml.h"
#include "sim/sim_int.h"
#include "support/lab.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* What most tests call from the handler that they are about. */
static const char backends[] =
    "  b:\n"
    "    state: { n: 0 }\n"
    "    GET /ok: { reply: 200, body: { v: 1, list: [ { id: 7 }, { id: 8 } ] } }\n"
    "    GET /text: { reply: 200, body: hi }\n"
    "    GET /empty:\n"
    "    GET /status/{s}: { reply: '{s}', body: { s: '{s}' } }\n"
    "    GET /p/{x}: { reply: 200, body: '{x}' }\n"
    "    GET /url: { reply: 200, body: { url: '{url:b}/p/linked' } }\n"
    "    POST /echo: { reply: 200, body: '{payload}' }\n"
    "    POST /count: [ { add: { state.n: 1 } }, { reply: 200, body: '{state.n}' } ]\n"
    "    GET /count: { reply: 200, body: '{state.n}' }\n"
    "    GET /slow: [ { sleep: 5s }, { call: c GET / }, { reply: 200, body: late } ]\n"
    "  c:\n"
    "    GET /: { reply: 200, body: see }\n"
    "    rpc.C/Do: { reply: 'grpc:0', body: done }\n"
    "    rpc.C/Fail: { reply: 'grpc:5' }\n"
    "  ext: external\n"
    "  ext503: { external: 503, latency: 3s }\n";

/* A system whose handler `a GET /` has these steps; `top` are further keys of the file. */
static inline void write_system(struct buf *out, const char *top, const char *steps,
                                const char *expect)
{
    *out = BUF_INIT(YAML_BYTES_MAX);
    buf_addf(out, "system: test\n%s\nservices:\n  a:\n    state: { n: 0, m: { x: 1, y: [ 5 ] } }\n",
             top);
    buf_adds(out, "    GET /: ");
    buf_adds(out, steps);
    buf_addf(out, "\n%sscenarios:\n  s:\n    request: a GET /\n    payload: { id: 42 }\n%s",
             backends, expect);
}

static inline void start(struct lab *lab, const char *top, const char *steps)
{
    struct buf text;
    struct err e = {0};
    write_system(&text, top, steps, "");
    if (lab_init_text(lab, buf_text(&text), &e))
        fail_msg("%s\n%u:%u: %s", steps, (unsigned)e.line, (unsigned)e.col, e.text);
    buf_deinit(&text);
}

/* Takes these faults into the aim: patterns, separated by ";". */
static inline void add_faults(struct lab *lab, const char *faults)
{
    slice rest = slice_of(faults ? faults : ""), fault;
    while (slice_cut(&rest, ';', &fault)) {
        struct err e = {0};
        if (fault.n && aim_add(&lab->aim, ANY_VOCABULARY(&lab->names), UID_NONE, fault, &e))
            fail_msg("%.*s: %s", SLICE_ARG(fault), e.text);
    }
}

/* One run: "STATUS BODY". */
static inline void run(struct lab *lab, uint64_t seed, struct buf *out)
{
    const struct node *body = NULL;
    struct err e = {0};
    if (sim_run(lab->sim, 0, &lab->aim, seed, &lab->trace, &lab->verdict, &body, &e))
        fail_msg("%s", e.text);
    outcome_print(lab->verdict.status, out);
    buf_addc(out, ' ');
    node_print(body, out);
}

/* All calls but the first: "ELEMENT [MODE] START-END SEEN; ", times in milliseconds.
 * An injected failure is there after a microsecond. */
static inline void print_calls(const struct lab *lab, struct buf *out)
{
    for (uint32_t i = 1; i < lab->trace.calls.n; i++) {
        const struct call *c = &lab->trace.calls.at[i];
        element_print(&lab->names, uid_element(&lab->names, c->uid), out);
        if (c->mode != MODE_NONE) {
            buf_adds(out, " [");
            mode_print(c->mode, out);
            buf_addc(out, ']');
        }
        buf_addf(out, " %.10g-%.10g ", (double)c->start_ns / 1e6, (double)c->end_ns / 1e6);
        outcome_print(c->seen, out);
        buf_adds(out, "; ");
    }
}

struct answer_case {
    const char *steps, *faults, *answer;
};

static inline void check_answers(const struct answer_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lab lab;
        struct buf answer = BUF_INIT(1 << 16);
        start(&lab, "data: { three: 3, list: [ x, y, z ], map: { k: [ 1 ] }, nothing: null }",
              cases[i].steps);
        add_faults(&lab, cases[i].faults);
        run(&lab, 1, &answer);
        if (strcmp(buf_text(&answer), cases[i].answer) != 0)
            fail_msg("%s\nwith %s\nanswers %s\nnot     %s", cases[i].steps,
                     cases[i].faults ? cases[i].faults : "no fault", buf_text(&answer),
                     cases[i].answer);
        buf_deinit(&answer);
        lab_deinit(&lab);
    }
}

#define CHECK_ANSWERS(cases) check_answers(cases, LENGTH(cases))

struct calls_case {
    const char *steps, *faults, *calls;
};

static inline void check_calls(const char *top, const struct calls_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lab lab;
        struct buf answer = BUF_INIT(1 << 16), calls = BUF_INIT(1 << 16);
        start(&lab, top, cases[i].steps);
        add_faults(&lab, cases[i].faults);
        run(&lab, 1, &answer);
        print_calls(&lab, &calls);
        if (strcmp(buf_text(&calls), cases[i].calls) != 0)
            fail_msg("%s\nwith %s\ncalls %s\nnot   %s", cases[i].steps,
                     cases[i].faults ? cases[i].faults : "no fault", buf_text(&calls),
                     cases[i].calls);
        buf_deinit(&answer);
        buf_deinit(&calls);
        lab_deinit(&lab);
    }
}

#define CHECK_CALLS(top, cases) check_calls(top, cases, LENGTH(cases))

#endif
