/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress: what it says, how wide, how often, and what is left of it on the screen. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/progress.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))
#define MS_NS      1000000LL
#define SECOND_NS  1000000000LL
#define UMLAUTS    "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc"

static const struct progress_facts usual = {.runs = 300,
                                            .queued = 100,
                                            .findings = 2,
                                            .elapsed_ns = 65 * SECOND_NS,
                                            .scenario = "checkout",
                                            .phase = "search"};

/* --- Words ------------------------------------------------------------------------------------ */

static void test_left(void **state)
{
    (void)state;
    static const struct {
        struct progress_facts f;
        double rate;
        enum progress_left kind;
        int64_t left_s;
        int percent; /* -1: not known */
    } rows[] = {
        {{.runs = 300, .queued = 100}, 50, LEFT_ABOUT, 2, 75},
        {{.runs = 300}, 50, LEFT_UNKNOWN, 0, -1},
        {{.runs = 9, .queued = 100}, 50, LEFT_UNKNOWN, 0, 8},
        {{.runs = 300, .queued = 100}, 0, LEFT_UNKNOWN, 0, 75},
        {{.runs = 300, .queued = 100}, -1, LEFT_UNKNOWN, 0, 75},
        {{.runs = 300, .queued = 100, .max_runs = 350}, 50, LEFT_ABOUT, 1, 85},
        {{.runs = 300, .queued = 100, .max_runs = 100}, 50, LEFT_ABOUT, 0, 100},
        {{.runs = 0, .queued = 0, .max_runs = 100}, 0, LEFT_UNKNOWN, 0, -1},
        {{.runs = 300, .queued = 1000, .elapsed_ns = 3 * SECOND_NS, .max_time_ns = 10 * SECOND_NS},
         50,
         LEFT_AT_MOST,
         7,
         30},
        {{.runs = 300, .queued = 100, .elapsed_ns = 3 * SECOND_NS, .max_time_ns = 10 * SECOND_NS},
         50,
         LEFT_ABOUT,
         2,
         75},
        {{.runs = 3, .elapsed_ns = 30 * SECOND_NS, .max_time_ns = 10 * SECOND_NS},
         50,
         LEFT_AT_MOST,
         0,
         100},
        {{.runs = 300, .queued = UINT64_MAX}, 1e-3, LEFT_UNKNOWN, 0, 0},
        /* each run finds more to run: the queue is not all, and a bar would go back */
        {{.runs = 300, .queued = 100, .growing = true}, 50, LEFT_AT_LEAST, 2, -1},
        {{.runs = 300, .queued = 100, .growing = true, .max_runs = 350}, 50, LEFT_ABOUT, 1, 85},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int64_t ns = 0;
        assert_int_equal(progress_left(&rows[i].f, rows[i].rate, &ns), rows[i].kind);
        assert_int_equal(ns / SECOND_NS, rows[i].left_s);
        double share = progress_share(&rows[i].f);
        assert_int_equal(share < 0 ? -1 : (int)(share * 100), rows[i].percent);
    }
}

static void expect_line(const struct progress_facts *f, double rate, uint32_t width,
                        const char *text)
{
    struct buf out = BUF_INIT(1000);
    progress_line(f, rate, width, &style_plain, &out);
    assert_string_equal(buf_text(&out), text);
    buf_deinit(&out);
}

static void test_line(void **state)
{
    (void)state;
    expect_line(&usual, 50, 120,
                "checkout  search  [######################--------]  300 runs  100 queued  "
                "2 findings  50/s  1m05s  ~2s left");
    expect_line(&usual, 50, 80,
                "checkout  [#######---]  300 runs  100 queued  2 findings  50/s  1m05s  ~2s left");
    expect_line(&usual, 50, 71,
                "checkout  [######--]  300 runs  100 queued  2 findings  50/s  ~2s left");
    expect_line(&usual, 50, 60, "checkout  300 runs  100 queued  2 findings  50/s  ~2s left");
    expect_line(&usual, 50, 50, "checkout  300 runs  100 queued  2 findings");
    expect_line(&usual, 50, 24, "300 runs  2 findings");
    expect_line(&usual, 50, 10, "300 runs");
    expect_line(&usual, 50, 5, "");
    expect_line(&usual, 50, 0, "");
    struct progress_facts one = {.runs = 1, .findings = 1, .elapsed_ns = 3723 * SECOND_NS};
    expect_line(&one, -1, 80, "1 run  1 finding  1h02m");
    one = (struct progress_facts){.runs = 0, .scenario = "a\033[2Jb\nc", .phase = ""};
    expect_line(&one, 0.25, 80, "a?[2Jb?c  0 runs  0 findings  0.2/s  0s");
}

/* Whatever stands in it, a line has fewer columns than the terminal, and is not cut within a
 * character. */
static void test_width(void **state)
{
    (void)state;
    static const char *const names[] = {
        "s", "a-rather-long-name-of-a-scenario-that-nobody-can-read-anyway",
        (UMLAUTS UMLAUTS UMLAUTS UMLAUTS),
        "\xe6\xb5\x8b\xe8\xaf\x95\xe6\xb5\x8b\xe8\xaf\x95\xe6\xb5\x8b\xe8\xaf\x95\xe6\xb5\x8b",
        "half a character \xe6\xb5"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        for (uint32_t width = 0; width < 200; width++) {
            struct progress_facts f = usual;
            struct buf out = BUF_INIT(1000);
            f.scenario = names[i];
            f.runs = UINT64_MAX / 2;
            f.queued = UINT64_MAX / 3;
            progress_line(&f, 12345.6, width, &style_plain, &out);
            uint32_t columns = 0;
            for (size_t k = 0; k < out.n; k++) {
                uint8_t c = (uint8_t)out.p[k];
                columns += c < 0x80 || (c >= 0xc0 && c < 0xe0) ? 1 : c >= 0xe0 ? 2 : 0;
                if (c >= 0xc0)
                    assert_true(k + 1 < out.n && (out.p[k + 1] & 0xc0) == 0x80);
            }
            assert_true(columns < width || columns == 0);
            assert_true(width < 60 || columns >= 20);
            buf_deinit(&out);
        }
    }
}

static void test_colour(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(1000);
    progress_line(&usual, 50, 60, &style_colour, &out);
    assert_string_equal(buf_text(&out),
                        "\033[1mcheckout\033[0m  300 runs  100 queued  \033[31m2 findings\033[0m  "
                        "50/s  \033[2m~2s left\033[0m");
    buf_deinit(&out);
}

static void test_sentence(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(1000);
    progress_sentence(&usual, 50, &out);
    assert_string_equal(buf_text(&out), "checkout: search: 300 runs, 100 queued, 2 findings, "
                                        "50 runs/s, 1m05s, about 2s left");
    buf_clear(&out);
    progress_sentence(&(struct progress_facts){.runs = 1}, -1, &out);
    assert_string_equal(buf_text(&out), "1 run, 0 findings, 0s");
    buf_deinit(&out);
}

/* --- When and where ----------------------------------------------------------------------------
 */

/* A file, and what was written to it. */
struct paper {
    FILE *f;
    char *text;
    size_t n;
};

static size_t lines_of(struct paper *p)
{
    size_t n = 0;
    fflush(p->f);
    for (size_t i = 0; i < p->n; i++)
        n += p->text[i] == '\n';
    return n;
}

static void test_elsewhere(void **state)
{
    (void)state;
    struct paper paper = {0};
    paper.f = open_memstream(&paper.text, &paper.n);
    struct progress *p = progress_new(paper.f, false);
    struct progress_facts f = usual;
    int64_t start = 1000 * SECOND_NS;
    for (int64_t ms = 0; ms < 4990; ms += 10)
        progress_show(p, &f, start + ms * MS_NS);
    assert_int_equal(lines_of(&paper), 0);
    f.runs = 800;
    progress_show(p, &f, start + 5000 * MS_NS);
    assert_int_equal(lines_of(&paper), 1);
    assert_string_equal(paper.text,
                        "checkout: search: 800 runs, 100 queued, 2 findings, "
                        "100 runs/s, 1m05s, at least 1s left\n"); /* 500 more were found */
    progress_note(p, "a note");
    assert_int_equal(lines_of(&paper), 2);
    for (int64_t ms = 5001; ms <= 20000; ms++)
        progress_show(p, &f, start + ms * MS_NS);
    assert_int_equal(lines_of(&paper), 5);
    assert_null(strchr(paper.text, '\033'));
    assert_null(strchr(paper.text, '\r'));
    progress_end(p);
    fclose(paper.f);
    free(paper.text);
}

/* A run that hangs makes the rest look as slow as itself, and not like years. */
static void test_hang(void **state)
{
    (void)state;
    struct paper paper = {0};
    paper.f = open_memstream(&paper.text, &paper.n);
    struct progress *p = progress_new(paper.f, false);
    struct progress_facts f = {.runs = 20, .queued = 8, .scenario = "buy"};
    int64_t start = 1000 * SECOND_NS;
    progress_show(p, &f, start);
    f = (struct progress_facts){.runs = 25, .queued = 3, .scenario = "buy"};
    progress_show(p, &f, start + 5 * SECOND_NS);
    progress_show(p, &f, start + 40 * SECOND_NS);
    progress_show(p, &f, start + 75 * SECOND_NS);
    f = (struct progress_facts){.runs = 26, .queued = 2, .scenario = "buy"};
    progress_show(p, &f, start + 85 * SECOND_NS);
    fflush(paper.f);
    assert_string_equal(paper.text,
                        "buy: 25 runs, 3 queued, 0 findings, 1.0 runs/s, 0s, about 3s left\n"
                        "buy: 25 runs, 3 queued, 0 findings, 0.0 runs/s, 0s, about 1m45s left\n"
                        "buy: 25 runs, 3 queued, 0 findings, 0.0 runs/s, 0s, about 3m30s left\n"
                        "buy: 26 runs, 2 queued, 0 findings, 0.0 runs/s, 0s, about 2m39s left\n");
    progress_end(p);
    fclose(paper.f);
    free(paper.text);
}

/* A terminal of our own: what is written to `slave` is read from `master`. */
struct tty {
    int master;
    FILE *slave;
    char got[16384];
    size_t n;
};

static bool tty_open(struct tty *t, unsigned short columns)
{
    *t = (struct tty){.master = posix_openpt(O_RDWR | O_NOCTTY)};
    if (t->master < 0 || grantpt(t->master) || unlockpt(t->master))
        return false;
    int fd = open(ptsname(t->master), O_RDWR | O_NOCTTY);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    if (fd < 0 || ioctl(fd, TIOCSWINSZ, &size))
        return false;
    t->slave = fdopen(fd, "w");
    return true;
}

static void tty_read(struct tty *t)
{
    fflush(t->slave);
    fcntl(t->master, F_SETFL, O_NONBLOCK);
    ssize_t got;
    while ((got = read(t->master, t->got + t->n, sizeof t->got - 1 - t->n)) > 0)
        t->n += (size_t)got;
    t->got[t->n] = 0;
}

/* What a terminal shows after the bytes: lines, of which the last one is under the cursor. */
static void screen_of(const char *bytes, char *out)
{
    char *line = out, *at = out;
    for (const char *p = bytes; *p; p++) {
        if (*p == '\r') {
            at = line;
        } else if (*p == '\n') {
            at = line + strlen(line);
            *at++ = '\n';
            *at = 0;
            line = at;
        } else if (strncmp(p, "\033[K", 3) == 0) {
            *at = 0;
            p += 2;
        } else if (*p == '\033') {
            p = strchr(p, 'm'); /* colours */
            assert_non_null(p);
        } else {
            if (*at == 0)
                at[1] = 0;
            *at++ = *p;
        }
    }
}

static void test_terminal(void **state)
{
    (void)state;
    struct tty t;
    static char screen[16384];
    if (!tty_open(&t, 60))
        fail_msg("there is no terminal to be had");
    struct progress *p = progress_new(t.slave, true);
    struct progress_facts f = usual;
    int64_t now = 1000 * SECOND_NS;
    for (int i = 0; i < 1000; i++) { /* one second */
        f.runs++;
        progress_show(p, &f, now + i * MS_NS);
    }
    tty_read(&t);
    int drawn = 0;
    for (size_t i = 0; i < t.n; i++)
        drawn += t.got[i] == '\r';
    assert_int_equal(drawn, 10);
    screen_of(t.got, screen);
    assert_null(strchr(screen, '\n'));
    assert_non_null(strstr(screen, "1201 runs"));
    assert_true(strlen(screen) < 60);
    progress_note(p, "a finding");
    f.runs = 2;
    progress_show(p, &f, now + 2 * SECOND_NS);
    tty_read(&t);
    screen_of(t.got, screen);
    assert_true(strncmp(screen, "a finding\ncheckout", 18) == 0);
    assert_null(strstr(screen, "1201"));
    assert_non_null(strstr(screen, "  2 runs"));
    progress_end(p);
    tty_read(&t);
    screen_of(t.got, screen);
    assert_string_equal(screen, "a finding\n");
    fclose(t.slave);
    close(t.master);
    progress_end(NULL);
}

/* Who looks more often than runs are noted does not take that for a standstill. */
static void test_pace(void **state)
{
    struct pace p = {0};
    (void)state;
    pace_note(&p, 100, 50, SECONDS(1));
    pace_note(&p, 200, 50, SECONDS(2));
    assert_float_equal((float)pace_rate(&p, 200, SECONDS(2)), 100.0F, 1e-4F);
    assert_float_equal((float)pace_rate(&p, 208, SECONDS(2) + MS(80)), 100.0F, 1e-4F);
    assert_float_equal((float)pace_rate(&p, 200, SECONDS(4)), 0.5F, 1e-4F);
}

int main(void)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace),      cmocka_unit_test(test_left),
        cmocka_unit_test(test_line),      cmocka_unit_test(test_width),
        cmocka_unit_test(test_colour),    cmocka_unit_test(test_sentence),
        cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_hang),
        cmocka_unit_test(test_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
