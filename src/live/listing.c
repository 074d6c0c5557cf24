/* SPDX-License-Identifier: Apache-2.0
 *
 * A listing: a loop of its own with one command, and a pipe for its stdout. stderr goes where that of all
 * commands goes, so that warnings of a runner do not become tests. Who prints more than
 * LISTING_BYTES_MAX is not read any more. */
#include "live/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "config/placeholder.h"
#include "config/suite.h"
#include "data/junit.h"
#include "io/sys.h"
#include "live/command.h"

struct listing {
    struct campaign_config *config;
    struct arena arena;
    struct loop loop;
    uv_poll_t poll;     /* of */
    int fd;             /* our end of the pipe; -1: it is closed */
    struct buf printed; /* what came out of it */
    struct texts tests;
    struct err *e;
    bool failed;
};

static int fail(struct listing *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All of them are about the key `suite`. */
static int fail(struct listing *l, const char *format, ...)
{
    struct buf text = BUF_INIT(sizeof l->e->text - 1);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    err_set(l->e, l->config->suite.line, l->config->suite.col, "%s", buf_text(&text));
    buf_deinit(&text);
    return -1;
}

/* ---- the pipe ---- */

static void output_close(struct listing *l)
{
    if (l->fd < 0)
        return;
    uv_close((uv_handle_t *)&l->poll, NULL); /* before the descriptor, which others may get */
    sys_close(l->fd);
    l->fd = -1;
}

/* Takes what is there. */
static void output_read(struct listing *l)
{
    while (l->fd >= 0) {
        ssize_t got = sys_read(l->fd, l->loop.read_bytes, LOOP_READ_BYTES);
        if (got == -EAGAIN)
            return;
        if (got > 0)
            buf_add(&l->printed, (slice){l->loop.read_bytes, (size_t)got});
        if (got <= 0 || l->printed.full)
            output_close(l);
    }
}

static void on_output(uv_poll_t *h, int status, int events)
{
    struct listing *l = OWNER(h, struct listing, poll);
    (void)events;
    loop_batch(&l->loop);
    if (status < 0)
        output_close(l);
    output_read(l);
}

/* The other end, or -1 with errno. */
static int output_open(struct listing *l)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    int code = uv_poll_init(&l->loop.uv, &l->poll, ends[0]); /* makes this end non-blocking */
    if (code) {
        sys_close(ends[0]);
    } else {
        l->fd = ends[0];
        code = uv_poll_start(&l->poll, UV_READABLE, on_output);
    }
    if (!code)
        return ends[1];
    output_close(l);
    sys_close(ends[1]);
    errno = -code;
    return -1;
}

/* ---- the command ---- */

/* The end of what was printed, in one line. */
static slice last_words(slice text, struct buf *out)
{
    enum { WORDS_MOST = 250 };
    text = slice_trim(text);
    if (text.n > WORDS_MOST) {
        text = slice_from(text, text.n - WORDS_MOST);
        buf_adds(out, "...");
    }
    for (size_t i = 0; i < text.n; i++)
        buf_addc(out, text.p[i] == '\n' || text.p[i] == '\t' || !text.p[i] ? ' ' : text.p[i]);
    return buf_slice(out);
}

static void on_done(void *user, const struct command_result *result)
{
    struct listing *l = user;
    const struct suite_spec *s = &l->config->suite;
    output_read(l); /* what it left behind was killed: nothing more comes */
    output_close(l);
    struct buf said = BUF_INIT(1000), within = BUF_INIT(100);
    slice printed = buf_slice(&l->printed);
    slice why = last_words(slice_trim(result->output).n ? result->output : printed, &said);
    const char *colon = why.n ? ": " : ", and says nothing";
    buf_add_ns(&within, s->list_ns);
    l->failed = true;
    if (result->error)
        fail(l, "`list` of the suite cannot be run: %s", result->error);
    else if (l->printed.full)
        fail(l, "`list` of the suite printed more than %d MiB: let it print tests alone",
             LISTING_BYTES_MAX >> 20);
    else if (result->timed_out)
        fail(l,
             "`list` of the suite did not end within %s: make it faster, or raise "
             "`list-within`%s%.*s",
             buf_text(&within), why.n ? "; it said: " : "", SLICE_ARG(why));
    else if (result->signal)
        fail(l, "`list` of the suite was ended by signal %d%s%.*s", result->signal, colon,
             SLICE_ARG(why));
    else if (result->exit_code)
        fail(l, "`list` of the suite failed with exit code %d%s%.*s", result->exit_code, colon,
             SLICE_ARG(why));
    else
        l->failed = false;
    buf_deinit(&said);
    buf_deinit(&within);
    loop_stop(&l->loop);
}

/* Addresses of nobody. */
static slice expanded(struct listing *l, slice text)
{
    static const char *const nobody[] = {[PLACEHOLDER_PORT] = "1",
                                         [PLACEHOLDER_HOST] = "127.0.0.1",
                                         [PLACEHOLDER_ADDRESS] = "127.0.0.1:1",
                                         [PLACEHOLDER_URL] = "http://127.0.0.1:1"};
    struct buf out = BUF_INIT(1 << 22);
    struct placeholder p;
    slice literal;
    while (placeholder_next(&text, &literal, &p)) {
        buf_add(&out, literal);
        if (p.kind == PLACEHOLDER_TEXT)
            buf_add(&out, p.text);
        else if (p.kind != PLACEHOLDER_NONE && p.kind != PLACEHOLDER_WRONG)
            buf_adds(&out, nobody[p.kind]);
    }
    return buf_keep(&out, &l->arena);
}

static int run_command(struct listing *l, struct keeper *k)
{
    const struct suite_spec *s = &l->config->suite;
    uint32_t n = s->each.env.n;
    struct text_pair *env = arena_alloc(&l->arena, (n + 1) * sizeof *env);
    for (uint32_t i = 0; i < n; i++)
        env[i] = (struct text_pair){s->each.env.at[i].name, expanded(l, s->each.env.at[i].value)};
    int out = output_open(l);
    if (out < 0)
        return fail(l, "the output of `list` cannot be read: %s", strerror(errno));
    struct command_request r = {.text = expanded(l, s->list),
                                .dir = s->each.dir,
                                .env = env,
                                .n_env = n,
                                .timeout_ns = s->list_ns,
                                .apart = true,
                                .stdout_fd = out};
    (void)command_start(k, &r, on_done, l);
    sys_close(out);
    loop_run(&l->loop);
    return l->failed ? -1 : 0;
}

static int ask_runner(struct listing *l)
{
    struct keeper *k = NULL;
    if (keeper_new(&k, l->e))
        return -1;
    int code = loop_init(&l->loop, NULL);
    if (code) {
        keeper_free(k);
        return fail(l, "`list` of the suite cannot be run: %s", strerror(-code));
    }
    int status = keeper_attach(k, &l->loop, l->e) || run_command(l, k) ? -1 : 0;
    keeper_free(k);
    loop_deinit(&l->loop);
    return status;
}

/* ---- what it printed, and reports ---- */

static int read_report(struct listing *l, const char *name, slice xml)
{
    struct err inner = {0};
    struct buf where = BUF_INIT(50);
    if (junit_read(xml, TESTS_MAX, &l->arena, &l->tests, &inner) == 0)
        return 0;
    if (inner.line)
        buf_addf(&where, ", line %u", (unsigned)inner.line);
    fail(l, "`junit` of the suite: %s%s: %s", name, buf_text(&where), inner.text);
    buf_deinit(&where);
    return -1;
}

static int read_file(struct listing *l, const char *path)
{
    struct buf xml = BUF_INIT((size_t)JUNIT_BYTES_MAX + 1);
    int number = file_read(path, &xml);
    int status =
        number ? fail(l, "`junit` of the suite: %s cannot be read: %s", path, strerror(number))
               : read_report(l, path, buf_slice(&xml));
    buf_deinit(&xml);
    return status;
}

/* In the order of their names. */
static int read_files(struct listing *l)
{
    const char *pattern = l->config->suite.junit.p;
    glob_t found = {0};
    int status = 0;
    if (glob(pattern, 0, NULL, &found) != 0 || !found.gl_pathc)
        status = fail(l, "`junit` of the suite: there is no file %s; %s", pattern,
                      l->config->suite.list.n
                          ? "does `list` write its reports elsewhere?"
                          : "run the tests once, or add `list` with a command that does");
    for (size_t i = 0; i < found.gl_pathc && !status; i++)
        status = read_file(l, found.gl_pathv[i]);
    globfree(&found);
    return status;
}

static int read_tests(struct listing *l)
{
    const struct suite_spec *s = &l->config->suite;
    slice printed = buf_slice(&l->printed);
    if (s->junit.n && !slice_is(s->junit, "-"))
        return read_files(l);
    if (s->junit.n)
        return read_report(l, "what `list` printed", printed);
    suite_lines(printed, &l->tests);
    return 0;
}

int listing_add(struct campaign_config *c, struct err *e)
{
    struct listing l = {.config = c, .fd = -1, .printed = BUF_INIT(LISTING_BYTES_MAX), .e = e};
    int status = (c->suite.list.n && ask_runner(&l)) || read_tests(&l) ? -1 : 0;
    if (!status && !l.tests.n)
        status = fail(&l, c->suite.junit.n ? "the reports of the suite have no test in them"
                                           : "`list` of the suite printed nothing: it must print "
                                             "the tests to stdout, one in each line");
    if (!status)
        status = suite_add(c, &l.tests, e);
    if (status && !e->source[0])
        (void)snprintf(e->source, sizeof e->source, "%.*s", (int)sizeof e->source - 1, c->source);
    buf_deinit(&l.printed);
    vec_deinit(&l.tests);
    arena_deinit(&l.arena);
    return status;
}
