/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases of tests/wire, one test each. A case is played with its bytes whole, byte by byte and
 * cut at random; every time
 *
 * 1. the events, the bytes out and the end are what the case says;
 * 2. a message that was accepted and is passed on in HTTP/1.1 reads back as that message, alone:
 *    nothing can be smuggled through. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/unit.h"
#include "support/wire_frames.h"
#include "support/wire_play.h"
#include "support/wire_text.h"

enum { SEEDS = 6, TEXT_MAX = 16 << 20 };

static const char *const finishes[] = {"not", "close", "reset"};

/* Says where two texts part, both in full. */
static void check_text(const struct wire_case *c, uint64_t cuts, const char *what, slice expected,
                       slice got)
{
    if (slice_eq(expected, got))
        return;
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_addf(&text, "%s: %s (cuts %llu)\n--- expected\n", c->name, what, (unsigned long long)cuts);
    text_escape(expected, &text);
    buf_adds(&text, "\n--- got\n");
    text_escape(got, &text);
    print_error("%s\n", buf_text(&text));
    buf_deinit(&text);
    fail();
}

static void check_bytes_out(const struct wire_play *p, uint64_t cuts)
{
    const struct wire_case *c = p->given;
    struct buf expected = BUF_INIT(TEXT_MAX);
    buf_add(&expected, c->out);
    if (c->refused.n) {
        const char *why = p->wire->error ? p->wire->error : "";
        buf_addf(&expected, "HTTP/1.1 %.*s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n",
                 SLICE_ARG(c->refused), strlen(why) + 1);
        buf_addf(&expected, "Connection: close\r\n\r\n%s\n", why);
    }
    check_text(c, cuts, "bytes out", buf_slice(&expected), buf_slice(&p->out));
    buf_deinit(&expected);
}

static void check_out(const struct wire_play *p, uint64_t cuts)
{
    const struct wire_case *c = p->given;
    struct buf frames = BUF_INIT(TEXT_MAX);
    if (!c->h2) {
        check_bytes_out(p, cuts);
        return;
    }
    if (!frames_read(buf_slice(&p->out), !c->server, c->all, &frames))
        buf_adds(&frames, "and something that is no frame\n");
    check_text(c, cuts, "frames out", c->out, buf_slice(&frames));
    buf_deinit(&frames);
}

static void check_end(const struct wire_play *p, uint64_t cuts)
{
    const struct wire_case *c = p->given;
    const struct wire *w = p->wire;
    check_text(c, cuts, "finish", slice_of(finishes[c->finish]), slice_of(finishes[w->finish]));
    slice error = w->error ? slice_of(w->error) : (slice){0};
    if (!slice_is(c->error, "*") || !error.n)
        check_text(c, cuts, "error", c->error, error);
    char open[32], expected[32];
    snprintf(open, sizeof open, "%u", w->n_streams);
    snprintf(expected, sizeof expected, "%u", c->open);
    check_text(c, cuts, "open streams", slice_of(expected), slice_of(open));
    if (c->reading.n)
        check_text(c, cuts, "reading", c->reading, slice_of(wire_reads(w) ? "yes" : "no"));
}

/* What was passed on is read again by a wire of its own. */
static void check_read_back(const struct wire_case *c, uint64_t cuts, const struct played *s,
                            slice bytes)
{
    struct wire_case again;
    struct wire_play p;
    struct buf first = BUF_INIT(TEXT_MAX), second = BUF_INIT(TEXT_MAX);
    wire_case_init(&again);
    again.server = c->server;
    again.name = c->name;
    if (!c->server) {
        again.on_end = (slice){0};
        vec_push(&again.steps,
                 (struct wire_step){STEP_ACT, s->head_only ? SLICE("request HEAD / a end")
                                                           : SLICE("request GET / a end")});
    }
    vec_push(&again.steps, (struct wire_step){STEP_FEED, bytes});
    wire_play(&p, &again, cuts);
    struct played whole = *s;
    if (whole.head->has_length)
        whole.trailers = NULL; /* HTTP/1.1 has no place for them */
    played_print(&whole, &first);
    for (uint32_t i = 0; i < p.streams.n; i++)
        played_print(p.streams.at[i], &second);
    check_text(c, cuts, "read back", buf_slice(&first), buf_slice(&second));
    check_text(c, cuts, "error when read back", (slice){0},
               p.wire->error ? slice_of(p.wire->error) : (slice){0});
    wire_play_deinit(&p);
    wire_case_deinit(&again);
    buf_deinit(&first);
    buf_deinit(&second);
}

static void check_passing_on(const struct wire_play *p, uint64_t cuts)
{
    struct buf all = BUF_INIT(TEXT_MAX);
    for (uint32_t i = 0; i < p->streams.n; i++) {
        const struct played *s = p->streams.at[i];
        struct buf bytes = BUF_INIT(TEXT_MAX);
        if (!s->complete || (s->tunnel && !p->given->server))
            continue;
        played_pass_on(s, &bytes);
        check_read_back(p->given, cuts, s, buf_slice(&bytes));
        buf_add(&all, buf_slice(&bytes));
        buf_deinit(&bytes);
    }
    if (p->given->passed.p)
        check_text(p->given, cuts, "passed on", p->given->passed, buf_slice(&all));
    buf_deinit(&all);
}

static void test_case(void **state)
{
    const struct wire_case *c = *state;
    for (uint64_t cuts = 0; cuts < 2 + SEEDS; cuts++) {
        struct wire_play p;
        wire_play(&p, c, cuts);
        check_text(c, cuts, "events", c->events, buf_slice(&p.events));
        check_out(&p, cuts);
        check_end(&p, cuts);
        check_passing_on(&p, cuts);
        wire_play_deinit(&p);
    }
}

/* A folder without cases must not pass. */
static void test_there_are_cases(void **state)
{
    const struct wire_cases *cases = *state;
    assert_true(cases->list.n >= 150);
}

static int load_all(struct wire_cases *cases)
{
    const char *top = getenv("TOP");
    char pattern[4096];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/tests/wire/*.case", top ? top : ".");
    if (glob(pattern, 0, NULL, &files) != 0)
        return 0;
    int status = 0;
    for (size_t i = 0; status == 0 && i < files.gl_pathc; i++) {
        struct err e = {0};
        status = wire_cases_load(cases, files.gl_pathv[i], &e);
        if (status) {
            struct buf text = BUF_INIT(2048);
            err_print(&e, &text);
            fprintf(stderr, "%s\n", buf_text(&text));
            buf_deinit(&text);
        }
    }
    globfree(&files);
    return status;
}

int main(int argc, char **argv)
{
    struct wire_cases cases = {0};
    VEC(struct CMUnitTest) tests = {0};
    if (load_all(&cases))
        return 1;
    const struct CMUnitTest first = {"there are cases", test_there_are_cases, NULL, NULL, &cases};
    vec_push(&tests, first);
    for (uint32_t i = 0; i < cases.list.n; i++) {
        struct wire_case *c = &cases.list.at[i];
        if (argc > 1 && !strstr(c->name, argv[1]))
            continue;
        const struct CMUnitTest one = {c->name, test_case, NULL, NULL, c};
        vec_push(&tests, one);
    }
    int failed = _cmocka_run_group_tests("wire", tests.at, tests.n, NULL, NULL);
    vec_deinit(&tests);
    wire_cases_deinit(&cases);
    return failed;
}
