/* SPDX-License-Identifier: Apache-2.0
 *
 * Connectors: their command lines as text, and the guard by a real shell: whatever is in a command
 * arrives as it was, its exit code comes back, and it ends with its input. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "plan/connector.h"
#include "support/unit.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

static struct connect_call call(const struct plan_host *h, enum connect_kind kind,
                                const char *command)
{
    return (struct connect_call){.host = h,
                                 .kind = kind,
                                 .command = slice_of(command),
                                 .undo = SLICE("it's undone"),
                                 .mark = SLICE("m1"),
                                 .lease_s = 5,
                                 .control = SLICE("/tmp/c d"),
                                 .program = SLICE("/bin/out fox")};
}

static struct plan_host host(const char *via)
{
    return (struct plan_host){.name = SLICE("h"),
                              .connector = connector_find(slice_of(via)),
                              .address = SLICE("10.0.0.1"),
                              .port = 7117,
                              .user = SLICE("me"),
                              .container = SLICE("box"),
                              .pod = SLICE("pod-0"),
                              .space = SLICE("prod"),
                              .key = SLICE("/k 100%"),
                              .known_hosts = SLICE("/known hosts"),
                              .token_file = SLICE("/to ken"),
                              .ca = SLICE("/c a")};
}

/* ---- the command lines ---- */

static void test_lines(void **state)
{
    static const struct {
        const char *via;
        enum connect_kind kind;
        const char *begins, *ends;
    } rows[] = {
        {"ssh", CONNECT_UNDO, "exec ssh -T -o BatchMode=yes -o StrictHostKeyChecking=yes ",
         " -o UserKnownHostsFile='\"/known hosts\"' -i '/k 100%%' -l 'me' -p 7117 -o "
         "ControlMaster=no -S '/tmp/c d'/h -- '10.0.0.1' 'exec sh -c '\\''a b'\\'''"},
        {"agent", CONNECT_UNDO,
         "exec '/bin/out fox' agent run '10.0.0.1:7117' '/to ken' ca '/c a' ",
         "'exec sh -c '\\''a b'\\'''"},
        {"podman", CONNECT_UNDO, "exec podman exec -i --user 'me' 'box' ", "sh -c 'a b'"},
        {"docker", CONNECT_UNDO, "exec docker exec -i --user 'me' 'box' ", "sh -c 'a b'"},
        {"kubectl", CONNECT_UNDO, "exec kubectl exec -i -q -n 'prod' 'pod-0' -c 'box' -- ",
         "sh -c 'a b'"},
        {"kubectl", CONNECT_RUN, "exec kubectl exec -i -q -n 'prod' 'pod-0' -c 'box' -- sh -c '",
         " outfox m1 5 run 'a b' 'it'\\''s undone' <>'/tmp/c d'/input"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct plan_host h = host(rows[i].via);
        struct connect_call c = call(&h, rows[i].kind, "a b");
        struct buf out = BUF_INIT(1 << 20);
        assert_int_equal(connector_wrap(&c, &out), 0);
        slice line = buf_slice(&out);
        size_t n = strlen(rows[i].ends);
        if (!slice_starts(line, slice_of(rows[i].begins)) || line.n < n ||
            memcmp(line.p + line.n - n, rows[i].ends, n) != 0)
            fail_msg("row %zu: %s", i, buf_text(&out));
        buf_deinit(&out);
    }
}

static void test_too_long(void **state)
{
    (void)state;
    struct plan_host h = host("ssh");
    char *text = malloc(CONNECT_TEXT_MAX + 1);
    memset(text, '\'', CONNECT_TEXT_MAX);
    text[CONNECT_TEXT_MAX] = 0;
    struct connect_call c = call(&h, CONNECT_HOLD, text);
    struct buf out = BUF_INIT(1 << 20);
    assert_int_equal(connector_wrap(&c, &out), -1);
    buf_deinit(&out);
    free(text);
}

/* ---- by a real shell ---- */

/* What the guard prints, run as ssh and podman would: its words are taken apart by one more shell. */
static int run(const struct connect_call *c, const char *shell, const char *input, char *out,
               size_t room)
{
    struct buf line = BUF_INIT(1 << 20), script = BUF_INIT(1 << 20);
    connector_script(c, &script);
    buf_addf(&line, "%s | %s -c ", input, shell);
    buf_add_shell(&line, buf_slice(&script));
    buf_adds(&line, " 2>&1");
    FILE *f = popen(buf_text(&line), "r");
    size_t n = fread(out, 1, room - 1, f);
    out[n] = 0;
    int status = pclose(f);
    buf_deinit(&line);
    buf_deinit(&script);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_hostile_words(void **state)
{
    static const char *const words[] = {"plain",
                                        "it's",
                                        "'",
                                        "''",
                                        "\"",
                                        "$HOME",
                                        "`id`",
                                        "$(id)",
                                        "a\nb",
                                        "\\",
                                        "\\'",
                                        "'\\''",
                                        "-n",
                                        "*",
                                        "&& exit 7",
                                        "; exit 7 #",
                                        "\t x  ",
                                        "!!",
                                        "%s%d",
                                        "~",
                                        "a'b\"c$d`e\\f",
                                        "\xc3\xa4\xff\x01",
                                        "#",
                                        "{a,b}",
                                        "<(x)",
                                        "\\\n",
                                        "'$mark'"};
    static const char *const shells[] = {"sh", "bash"};
    (void)state;
    struct buf text = BUF_INIT(1 << 16), expected = BUF_INIT(1 << 16);
    char out[1 << 14];
    buf_adds(&text, "printf '[%s]'");
    for (size_t i = 0; i < LENGTH(words); i++) {
        buf_addc(&text, ' ');
        buf_add_shell(&text, slice_of(words[i]));
        buf_addf(&expected, "[%s]", words[i]);
    }
    for (size_t k = 0; k < 2 * LENGTH(shells); k++) {
        struct connect_call c = call(NULL, k & 1 ? CONNECT_UNDO : CONNECT_RUN, buf_text(&text));
        assert_int_equal(run(&c, shells[k / 2], "sleep 1", out, sizeof out), 0);
        assert_string_equal(out, buf_text(&expected));
    }
    buf_deinit(&expected);
    buf_deinit(&text);
}

static void test_exit_codes(void **state)
{
    static const struct {
        const char *command;
        int code;
    } rows[] = {{"exit 0", 0}, {"exit 7", 7}, {"kill -9 $$", 137}, {"no-such-command", 127}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char out[4096];
        struct connect_call c = call(NULL, CONNECT_RUN, rows[i].command);
        assert_int_equal(run(&c, "sh", "sleep 1", out, sizeof out), rows[i].code);
    }
}

/* Lasts: its group is said first, is one of its own, and ends with the input; also what has fled. */
static void test_hold(void **state)
{
    (void)state;
    char out[4096];
    struct connect_call c = call(
        NULL, CONNECT_HOLD, "echo $$ $(ps -o pgid= -p $$); setsid sleep 1234.5 & sleep 1234.5");
    int64_t begun = clock_ns();
    (void)run(&c, "sh", "sleep 1", out, sizeof out);
    assert_true(clock_ns() - begun < SECONDS(60));
    int pid, again, group;
    assert_int_equal(sscanf(out, "outfox-on %d\n%d %d", &pid, &again, &group), 3);
    assert_int_equal(pid, again);
    assert_int_equal(pid, group);
    assert_int_equal(system("pgrep -f '^sleep 1234[.]5' >/dev/null"), 1 << 8);
}

/* Nobody says anything for the lease, though the input stays open. */
static void test_silence(void **state)
{
    (void)state;
    char out[4096];
    struct connect_call c = call(NULL, CONNECT_HOLD, "exec sleep 1000");
    int64_t begun = clock_ns();
    c.lease_s = 1;
    assert_int_equal(run(&c, "sh", "sleep 4", out, sizeof out), 143);
    assert_true(clock_ns() - begun >= SECONDS(1));
}

static void test_ward(void **state)
{
    static const struct {
        const char *command, *undo, *said;
        int code;
    } rows[] = {
        {"echo begun", "echo undone", "begun\noutfox-on N\nundone\n", 0},
        {"echo begun", "echo not undone; exit 9", "begun\noutfox-on N\nnot undone\n", 9},
        {"echo no; exit 3", "echo undone", "no\n", 3},
        {"echo begun; exec sleep 1000", "echo undone", "begun\n", 143},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char out[4096], kept[8200] = "";
        struct connect_call c = call(NULL, CONNECT_WARD, rows[i].command);
        c.undo = slice_of(rows[i].undo);
        assert_int_equal(run(&c, "sh", "sleep 1", out, sizeof out), rows[i].code);
        char *at = strstr(out, "outfox-on ");
        if (at) /* its number differs */
            (void)snprintf(kept, sizeof kept, "%.*soutfox-on N%s", (int)(at - out), out,
                           strchr(at, '\n'));
        assert_string_equal(at ? kept : out, rows[i].said);
    }
}

/* What is needed there and is not. */
static void test_no_setsid(void **state)
{
    (void)state;
    char out[4096];
    struct connect_call c = call(NULL, CONNECT_RUN, "echo hi");
    assert_int_equal(run(&c, "PATH=/nowhere /bin/sh", "sleep 0.1", out, sizeof out), 127);
    struct buf line = BUF_INIT(1 << 20);
    connector_script(&c, &line);
    FILE *f = fopen("guard.sh", "w");
    fprintf(f, "sh() { /bin/sh \"$@\"; }\nPATH=/nowhere\n%s\n", buf_text(&line));
    (void)fclose(f);
    f = popen("/bin/sh guard.sh 2>&1", "r");
    out[fread(out, 1, sizeof out - 1, f)] = 0;
    assert_int_equal(pclose(f), 125 << 8);
    assert_non_null(strstr(out, "no command setsid: install util-linux"));
    buf_deinit(&line);
}

/* The sweep ends what carries the mark of the run, and nothing else; it may be run twice. */
static void test_sweep(void **state)
{
    (void)state;
    struct buf sweep = BUF_INIT(4096);
    connector_sweep(SLICE("sweep-9-1"), SLICE("./swept dir"), &sweep);
    assert_int_equal(system("mkdir -p 'swept dir/x'; OUTFOX_MARK=sweep-9-1:7: sleep 2234.5 & "
                            "OUTFOX_MARK=sweep-9-11:7: sleep 3234.5 & sleep 0.2"),
                     0);
    assert_int_equal(system(buf_text(&sweep)), 0);
    assert_int_equal(system(buf_text(&sweep)), 0);
    assert_int_equal(system("pgrep -f '^sleep 2234[.]5' >/dev/null"), 1 << 8);
    assert_int_equal(system("pkill -f '^sleep 3234[.]5'"), 0);
    assert_int_equal(access("swept dir", F_OK), -1);
    buf_deinit(&sweep);
}

static void test_remedies(void **state)
{
    (void)state;
    assert_non_null(
        strstr(connector_remedy(SLICE("Host key verification failed.")), "ssh-keyscan"));
    assert_non_null(
        strstr(connector_remedy(SLICE("me@h: Permission denied (publickey).")), "authorized_keys"));
    assert_string_equal(connector_remedy(SLICE("what is this")), "");
    assert_string_equal(connector_remedy(SLICE("")), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_hostile_words), cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_hold),          cmocka_unit_test(test_silence),
        cmocka_unit_test(test_ward),          cmocka_unit_test(test_no_setsid),
        cmocka_unit_test(test_sweep),         cmocka_unit_test(test_remedies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
