/* SPDX-License-Identifier: Apache-2.0
 *
 * Identities of services: what is part of one, what is not, and what is said where there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/yaml.h"
#include "live/identity.h"
#include "support/unit.h"

static char folder[] = "/tmp/outfox-identity-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static const char *path_of(const char *name)
{
    static char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[300];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* The identity of the service `s`, which the file says this of; kept in *all. */
static const struct identity *take(const char *service, struct identities *all)
{
    struct buf text = BUF_INIT(4000);
    struct err e = {0};
    struct campaign_config *c;
    *all = (struct identities){0};
    buf_addf(&text, "version: 1\nservices: { s: { %s } }\nscenarios: { a: { request: s GET / } }\n",
             service);
    write_file("outfox.yaml", buf_text(&text));
    if (campaign_config_load(path_of("outfox.yaml"), &c, &e))
        fail_msg("%s: %s", service, e.text);
    identities_take(all, c, NULL);
    campaign_config_free(c);
    buf_deinit(&text);
    return &all->list.at[0];
}

/* Is the service, now that its file says this, the one that it was then? The reason why not. */
static const char *changed(const struct identity *was, const char *service)
{
    static char why[400];
    struct identities now;
    struct buf text = BUF_INIT(sizeof why - 1);
    bool same = identity_same(was, take(service, &now), &text);
    (void)snprintf(why, sizeof why, "%s", text.n ? buf_text(&text) : "");
    assert_int_equal(same, why[0] == 0);
    buf_deinit(&text);
    identities_deinit(&now);
    return why;
}

#define SERVER "run: 'python3 -u server.py --port {port}'"

static void test_command(void **state)
{
    struct identities then;
    (void)state;
    write_file("server.py", "print(1)");
    write_file("app.yaml", "a: 1");
    write_file("out.log", "1");
    const struct identity *was = take(SERVER, &then);
    assert_null(was->none);
    assert_string_equal(changed(was, SERVER), "");
    write_file("server.py", "print(2)");
    assert_string_equal(changed(was, SERVER), "server.py has changed");
    write_file("server.py", "print(1)");
    assert_string_equal(changed(was, SERVER), "");
    assert_string_equal(changed(was, "run: 'python3 -u server.py --port {port} --fast'"),
                        "its command has changed");
    assert_string_equal(changed(was, SERVER ", env: { MODE: fast }"), "its command has changed");
    assert_string_equal(changed(was, SERVER ", ready: none, stop-within: 9s"), "");
    identities_deinit(&then);

    /* behind "=", in quotes, after other commands; what is written to is no part of it */
#define LONG                                                                                       \
    "run: 'cd . && X=1 exec python3 \"server.py\" --conf=app.yaml >> out.log 2>&1', port: 4"
    was = take(LONG, &then);
    write_file("out.log", "2");
    assert_string_equal(changed(was, LONG), "");
    write_file("app.yaml", "a: 2");
    assert_string_equal(changed(was, LONG), "app.yaml has changed");
    identities_deinit(&then);
}

static void test_files(void **state)
{
    struct identities then;
    (void)state;
    assert_int_equal(mkdir(path_of("src"), 0700), 0);
    assert_int_equal(mkdir(path_of("src/inner"), 0700), 0);
    assert_int_equal(mkdir(path_of("src/__pycache__"), 0700), 0);
    write_file("src/a.py", "a");
    write_file("src/inner/b.py", "b");
#define LISTED "run: npm start, port: 4, files: [src, 's*.py']"
    const struct identity *was = take(LISTED, &then);
    assert_null(was->none);
    write_file("src/__pycache__/a.pyc", "x");
    write_file("src/.hidden", "x");
    assert_int_equal(symlink("..", path_of("src/round")), 0); /* not followed, not in circles */
    assert_string_equal(changed(was, LISTED), "");
    write_file("src/inner/b.py", "c");
    assert_string_equal(changed(was, LISTED), "src/inner/b.py has changed");
    write_file("src/inner/b.py", "b");
    write_file("src/new.py", "");
    assert_string_equal(changed(was, LISTED), "src/new.py is new");
    assert_int_equal(unlink(path_of("src/new.py")), 0);
    assert_int_equal(unlink(path_of("src/a.py")), 0);
    assert_string_equal(changed(was, LISTED), "src/a.py is gone");
    identities_deinit(&then);

    /* of very many, those that have no part of their own count together */
    for (int i = 0; i < 100; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "src/many%02d", i);
        write_file(name, "x");
    }
    was = take(LISTED, &then);
    assert_int_equal(was->parts.n, IDENTITY_PARTS_MAX);
    assert_string_equal(changed(was, LISTED), "");
    write_file("src/many98", "y");
    assert_string_equal(changed(was, LISTED), "one of the other files has changed");
    identities_deinit(&then);
}

static void test_version(void **state)
{
    struct identities then;
    (void)state;
    const struct identity *was = take("address: localhost:80, version: 1.10", &then);
    assert_string_equal(was->version, "1.10");
    assert_string_equal(changed(was, "address: localhost:81, version: 1.10"), "");
    assert_string_equal(changed(was, "address: localhost:80, version: 1.1"),
                        "version 1.10 became 1.1");
    assert_string_equal(changed(was, "run: python3 server.py, port: 4"),
                        "it had a version then, and has none now");
    assert_string_equal(changed(NULL, "address: localhost:80, version: 1"), "it is new");
    identities_deinit(&then);
}

/* Where nothing is known, it is never the same, whatever it was. */
static void test_none(void **state)
{
    static const struct {
        const char *service, *why;
    } rows[] = {
        {"address: localhost:80",
         "it is already running, so nobody knows which version it is; set `version`"},
        {"run: npm start, port: 4", "its command names no file of its own; name what it is made of "
                                    "(`files`), or set `version`"},
        {"run: /bin/sh -c x, port: 4", "its command names no file of its own; name what it is made "
                                       "of (`files`), or set `version`"},
        {"run: x, port: 4, files: [nothing*]",
         "there is no file nothing*; correct `files`, or set `version`"},
        {"run: x, port: 4, files: [dangling]", "dangling is a link that leads nowhere: No such "
                                               "file or directory; correct `files`, or set "
                                               "`version`"},
        {"run: x, port: 4, files: [/dev/null]", "/dev/null is not a regular file; leave it out of "
                                                "`files`, or set `version`"},
    };
    (void)state;
    (void)!symlink("nowhere", path_of("dangling"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct identities then;
        const struct identity *was = take(rows[i].service, &then);
        assert_non_null(was->none);
        assert_string_equal(was->none, rows[i].why);
        assert_string_equal(changed(was, rows[i].service), rows[i].why);
        identities_deinit(&then);
    }
    if (geteuid() != 0) { /* root reads everything */
        struct identities then;
        write_file("closed", "x");
        assert_int_equal(chmod(path_of("closed"), 0), 0);
        assert_string_equal(take("run: x, port: 4, files: [closed]", &then)->none,
                            "cannot read closed: Permission denied; make it readable, or set "
                            "`version`");
        identities_deinit(&then);
    }
}

static void test_simulated(void **state)
{
    static const char file[] = "services:\n  s: { GET /: { reply: 200 } }\n"
                               "  t: { GET /: { reply: %s } }\n%s";
    static const struct {
        const char *reply, *more;
        bool s, t; /* are they the same? */
    } rows[] = {{"200", "", true, true},
                {"200", "scenarios: {}\nmodes: [500]", true, true},
                {"404", "", true, false},
                {"200", "data: { a: 1 }", false, false}};
    struct arena arena = {0};
    struct identities then = {0};
    struct service_spec services[2] = {{.name = SLICE("s")}, {.name = SLICE("t")}};
    struct campaign_config c = {.services = {services, 2, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf text = BUF_INIT(4000), why = BUF_INIT(400);
        struct identities now = {0}, *into = i ? &now : &then;
        const struct node *root;
        struct err e = {0};
        buf_addf(&text, file, rows[i].reply, rows[i].more);
        assert_int_equal(yaml_parse(buf_slice(&text), &arena, &root, &e), 0);
        identities_take(into, &c, root);
        assert_int_equal(identity_same(&then.list.at[0], &into->list.at[0], &why), rows[i].s);
        buf_clear(&why);
        assert_int_equal(identity_same(&then.list.at[1], &into->list.at[1], &why), rows[i].t);
        identities_deinit(&now);
        buf_deinit(&text);
        buf_deinit(&why);
    }
    identities_deinit(&then);
    arena_deinit(&arena);
}

/* What is kept is read back as the same; what is damaged is refused. */
static void test_text(void **state)
{
    static const char *const damaged[] = {"s", "s part", "s part x y", "s part 12", "s what 1"};
    struct identities one, back = {0};
    struct buf text = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16);
    (void)state;
    (void)take(SERVER, &one);
    identities_print(&one, &text);
    assert_true(identities_parse(&back, buf_slice(&text)));
    identities_print(&back, &again);
    assert_string_equal(buf_text(&text), buf_text(&again));
    assert_true(identity_same(&one.list.at[0], &back.list.at[0], &again));
    assert_non_null(identities_find(&back, SLICE("s")));
    assert_null(identities_find(&back, SLICE("t")));
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct identities x = {0};
        assert_false(identities_parse(&x, slice_of(damaged[i])));
        identities_deinit(&x);
    }
    identities_deinit(&one);
    identities_deinit(&back);
    buf_deinit(&text);
    buf_deinit(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),   cmocka_unit_test(test_files),
        cmocka_unit_test(test_version),   cmocka_unit_test(test_none),
        cmocka_unit_test(test_simulated), cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
