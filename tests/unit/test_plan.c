/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls an aim fails: patterns with wildcards, exact points, and who wins. */
#include <stdio.h>
#include <time.h>

#include "core/aim.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct world {
    struct names names;
    struct faultloads fl;
    struct aim aim;
};

static void world_init(struct world *w)
{
    names_init(&w->names);
    faultloads_init(&w->fl);
    w->aim = (struct aim){0};
}

static void world_deinit(struct world *w)
{
    aim_deinit(&w->aim);
    faultloads_deinit(&w->fl);
    names_deinit(&w->names);
}

static void add(struct world *w, const char *pattern)
{
    struct err e = {0};
    if (aim_add(&w->aim, ANY_VOCABULARY(&w->names), UID_NONE, slice_of(pattern), &e))
        fail_msg("%s: %s", pattern, e.text);
}

static void set(struct world *w, const char *text)
{
    struct err e = {0};
    faultload f = FAULTLOAD_EMPTY;
    if (faultload_parse(&w->names, &w->fl, slice_of(text), &f, &e))
        fail_msg("%s: %s", text, e.text);
    aim_set(&w->aim, &w->names, &w->fl, f);
}

static uid point(struct world *w, const char *text)
{
    struct err e = {0};
    uid u = UID_NONE;
    if (uid_parse(&w->names, slice_of(text), &u, &e))
        fail_msg("%s: %s", text, e.text);
    return u;
}

static void expect(struct world *w, const char *call, const char *mode_text, const char *by_text)
{
    struct buf text = BUF_INIT(100);
    uid u = point(w, call), by = UID_NONE;
    mode_print(aim_find(&w->aim, &w->names, u, 0, &by), &text);
    if (strcmp(buf_text(&text), mode_text) != 0)
        fail_msg("%s: %s, not %s", call, buf_text(&text), mode_text);
    assert_int_equal(by, point(w, by_text));
    buf_deinit(&text);
}

static void test_patterns(void **state)
{
    static const char shop[] = "shop GET / > cart GET /cart > payment POST /charge";
    static const char shop_again[] = "shop GET / > cart GET /cart > payment POST /charge #1";
    static const char below[] = "shop GET / > payment POST /charge > shipping POST /x";
    static const char below_again[] = "shop GET / > payment POST /charge #3 > shipping POST /x";
    static const char marked[] = "shop GET / > payment POST /charge {0000beef} ^00c0ffee #1";
    static const struct {
        const char *pattern, *call;
        bool matches;
    } rows[] = {
        /* from anywhere */
        {"payment POST /charge", shop, true},
        {"payment POST /charge", "payment POST /charge", true},
        {"payment POST /charge", shop_again, false},
        {"payment POST /charge", below, false}, /* it is the last element that counts */
        {"payment POST /other", shop, false},
        {"payment GET /charge", shop, false},
        {"paymen POST /charge", shop, false},
        /* n */
        {"payment POST /charge #1", shop_again, true},
        {"payment POST /charge #1", shop, false},
        {"payment POST /charge #0", shop, true},
        {"payment POST /charge #*", shop, true},
        {"payment POST /charge #*", shop_again, true},
        {"payment POST /charge #2", shop_again, false},
        /* any service, any interface */
        {"* POST /charge", shop, true},
        {"* POST /x", shop, false},
        {"payment *", shop, true},
        {"payment *", shop_again, false},
        {"payment * #*", shop_again, true},
        {"payment * #1", shop_again, true},
        {"cart *", shop, false},
        {"* *", shop, true},
        {"* *", shop_again, false},
        {"* * #*", shop_again, true},
        {"* * #*", "shop GET /", true},
        /* {payload} and ^predecessors */
        {"payment POST /charge #1", marked, true},
        {"payment POST /charge", marked, false},
        {"payment POST /charge {0000beef} #1", marked, true},
        {"payment POST /charge {0000beee} #1", marked, false},
        {"payment POST /charge ^00c0ffee #1", marked, true},
        {"payment POST /charge ^00c0ffef #1", marked, false},
        {"payment POST /charge {0000beef} ^00c0ffee #1", marked, true},
        {"payment POST /charge {0000beef}", shop, false},
        {"payment POST /charge ^00c0ffee", shop, false},
        /* the origin */
        {"cart GET /cart > payment POST /charge", shop, true},
        {"shop GET / > cart GET /cart > payment POST /charge", shop, true},
        {"shop GET / > payment POST /charge", shop, false}, /* there is cart between them */
        {"cart GET /other > payment POST /charge", shop, false},
        {"cart GET /cart #1 > payment POST /charge", shop, false},
        {"cart * > payment *", shop, true},
        {"* GET /cart > * *", shop, true},
        {"* * > payment POST /charge", shop, true},
        {"* * > payment POST /charge", "payment POST /charge", false}, /* it has no origin */
        {"* * > * * > payment POST /charge", shop, true},
        {"* * > * * > * * > payment POST /charge", shop, false},
        {"payment POST /charge > shipping POST /x", below, true},
        {"payment POST /charge > shipping POST /x", below_again, false},
        {"payment POST /charge #* > shipping POST /x", below_again, true},
        {"payment POST /charge #3 > shipping POST /x", below_again, true},
        /* any path */
        {"* > payment POST /charge", shop, true},
        {"* > payment POST /charge", "payment POST /charge", true},
        {"shop GET / > * > payment POST /charge", shop, true},
        {"shop GET / > * > payment POST /charge", "shop GET / > payment POST /charge", true},
        {"shop GET / > * > cart GET /cart > * > payment POST /charge", shop, true},
        {"shop GET / > * > shop GET / > * > payment POST /charge", shop, false},
        {"other GET / > * > payment POST /charge", shop, false},
        {"* > cart GET /cart > * > * > payment POST /charge", shop, true},
        {"* > * > * > * > payment POST /charge", shop, true},
        {"a GET / > * > b GET / > c GET /", "a GET / > b GET / > x GET / > b GET / > c GET /",
         true},
        {"a GET / > * > b GET / > c GET /", "a GET / > b GET / > x GET / > c GET /", false},
        {"a GET / > b GET / > * > c GET /", "a GET / > b GET / > b GET / > c GET /", true},
        {"a GET / > * > b GET / > * > c GET /", "a GET / > c GET / > b GET / > c GET /", true},
        {"a GET / > * > b GET / > * > c GET /", "b GET / > c GET / > a GET / > c GET /", false},
        {"b GET / > * > b GET / > c GET /", "b GET / > c GET /", false},
        /* a service alone: whatever is called of it, however often */
        {"payment > shipping POST /x", below, true},
        {"payment > shipping POST /x", below_again, true},
        {"payment > shipping POST /x", "shop GET / > payment GET /p > shipping POST /x", true},
        {"payment > shipping POST /x", "payment GET /p #7 > shipping POST /x", true},
        {"payment > shipping POST /x", "payment GET /p {0000beef} ^00c0ffee #7 > shipping POST /x",
         true},
        {"payment > shipping POST /x", "shop GET / > shipping POST /x", false},
        {"payment > shipping POST /x", "payment GET / > cart GET / > shipping POST /x", false},
        {"payment > shipping POST /x", "payment GET / > shipping POST /x #1", false},
        {"payment > shipping POST /x", "shipping POST /x", false},
        {"payment > * > shipping POST /x", "payment GET / > cart GET / > shipping POST /x", true},
        {"payment > cart > shipping POST /x", "payment GET / > cart GET / #1 > shipping POST /x",
         true},
        {"shop > payment > shipping *", below_again, true},
        {"cart > payment > shipping *", below_again, false},
        {"shop GET / > payment > shipping * #*", below_again, true},
        {"payment > payment POST /charge", "payment GET / #1 > payment POST /charge", true},
        {"payment > payment POST /charge", "shop GET / > payment POST /charge", false},
        /* the beginning of an interface or a service */
        {"cart GET *", "shop GET / > cart GET /x/y", true},
        {"cart GET *", "shop GET / > cart GET /x/y #1", false},
        {"cart GET *", "shop GET / > cart POST /x/y", false},
        {"cart GET * #*", "shop GET / > cart GET /x/y #1", true},
        {"cart GET /car*", "cart GET /cars/7", true},
        {"cart GET /car*", "cart GET /car", true},
        {"cart GET /car*", "cart GET /ca", false},
        {"cart GET /car*", "cart GET /scar", false},
        {"cart GET /c*t", "cart GET /cart", true},
        {"cart GET /c*t", "cart GET /cars", false},
        {"cart GET /*/price", "cart GET /items/[id]/price", true},
        {"cart GET /items/7/*", "cart GET /items/[id]/price", true},
        {"cart GET /items/*/7", "cart GET /items/x/[id]", true},
        /* paths as those of calls are */
        {"cart GET /items/7", "cart GET /items/[id]", true},
        {"cart GET /items/7?x=1", "cart GET /items/[id]", true},
        {"cart GET /items/[id]", "cart GET /items/[id]", true},
        {"cart GET /items/seven", "cart GET /items/[id]", false},
        {"cart * /items/7", "cart PUT /items/[id]", true},
        {"cart /items/7", "cart PUT /items/[id]", true},
        {"cart /items/7", "cart PUT /other/items/[id]", false},
        {"mail /post.Office/Send", "mail post.Office/Send", true},
        {"cart GET /items/7 > payment POST /charge/8",
         "cart GET /items/[id] > payment POST /charge/[id]", true},
        /* all that is called of a service */
        {"payment", shop, true},
        {"payment", shop_again, true},
        {"payment", below, false},
        {"cart > payment", shop_again, true},
        {"*", shop_again, true},
        {"pay* POST /charge", shop, true},
        {"pay* POST /charge", "shop GET / > pa POST /charge", false},
        {"pay* > shipping POST /x", below_again, true},
        {"cart GET /c* > payment *", shop, true},
        {"mail post.Office/*", "mail post.Office/Send", true},
        /* gRPC */
        {"mail post.Office/Send", "shop GET / > mail post.Office/Send", true},
        {"mail > db sql.Db/Query", "mail post.Office/Send #1 > db sql.Db/Query", true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (int known = 0; known < 2; known++) { /* the call is known before the pattern, or not */
            struct world w;
            struct buf text = BUF_INIT(1000);
            uid by;
            world_init(&w);
            if (known)
                point(&w, rows[i].call);
            buf_addf(&text, "%s : 503", rows[i].pattern);
            add(&w, buf_text(&text));
            mode m = aim_find(&w.aim, &w.names, point(&w, rows[i].call), 0, &by);
            if (m != (rows[i].matches ? mode_make(MODE_STATUS, 503) : MODE_NONE))
                fail_msg("\"%s\" %s \"%s\"", rows[i].pattern,
                         rows[i].matches ? "does not match" : "matches", rows[i].call);
            assert_int_equal(by, point(&w, rows[i].call));
            assert_int_equal(w.aim.patterns.at[0].fired, rows[i].matches);
            buf_deinit(&text);
            world_deinit(&w);
        }
}

/* A name that was printed is a pattern that matches it. */
static void test_names_are_patterns(void **state)
{
    static const char *const rows[] = {
        "a GET /",
        "a GET / > b p.S/M #2 > c POST /x/[id] {0123abcd}",
        "a GET / > b GET /x {0123abcd} ^0123abcd #1",
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct world w;
        struct buf text = BUF_INIT(1000);
        world_init(&w);
        buf_addf(&text, "%s : lost-reply:503", rows[i]);
        add(&w, buf_text(&text));
        for (size_t k = 0; k < LENGTH(rows); k++)
            expect(&w, rows[k], i == k ? "lost-reply:503" : "none", rows[k]);
        buf_deinit(&text);
        world_deinit(&w);
    }
}

static void test_earlier_wins(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    add(&w, "b GET /x #1 : 501");
    add(&w, "b * #* : 502");
    add(&w, "* * #* : 503");
    add(&w, "b GET /x : 504");
    expect(&w, "a GET / > b GET /x", "502", "a GET / > b GET /x");
    expect(&w, "a GET / > b GET /x #1", "501", "a GET / > b GET /x #1");
    expect(&w, "a GET / > b GET /x #2", "502", "a GET / > b GET /x #2");
    expect(&w, "a GET / > c GET /x", "503", "a GET / > c GET /x");
    const uint32_t fired[] = {1, 2, 1, 0};
    for (size_t i = 0; i < LENGTH(fired); i++)
        assert_int_equal(w.aim.patterns.at[i].fired, fired[i]);
    world_deinit(&w);
}

static void test_exact(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    expect(&w, "a GET / > b GET /x", "none", "a GET / > b GET /x");
    set(&w, "a GET / > b GET /x : 501 & a GET / > c GET / : reset");
    expect(&w, "a GET / > b GET /x", "501", "a GET / > b GET /x");
    expect(&w, "a GET / > b GET /x #1", "none", "a GET / > b GET /x #1");
    expect(&w, "a GET / > c GET /", "reset", "a GET / > c GET /");
    expect(&w, "z GET / > c GET /", "none", "z GET / > c GET /"); /* the whole path counts */
    expect(&w, "a GET / > b GET /x > c GET /", "none", "a GET / > b GET /x > c GET /");
    set(&w, "a GET / > c GET / : 502"); /* takes the place of the others */
    expect(&w, "a GET / > b GET /x", "none", "a GET / > b GET /x");
    expect(&w, "a GET / > c GET /", "502", "a GET / > c GET /");
    set(&w, "none");
    expect(&w, "a GET / > c GET /", "none", "a GET / > c GET /");
    world_deinit(&w);
}

/* Points with #*: for all equal siblings, after those with a number, before patterns. */
static void test_exact_all(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    add(&w, "* * #* : 503");
    set(&w, "a GET / > b GET /x #* : 501 & a GET / > b GET /x #1 : 502");
    expect(&w, "a GET / > b GET /x", "501", "a GET / > b GET /x #*");
    expect(&w, "a GET / > b GET /x #1", "502", "a GET / > b GET /x #1");
    expect(&w, "a GET / > b GET /x #2", "501", "a GET / > b GET /x #*");
    expect(&w, "a GET / > b GET /y", "503", "a GET / > b GET /y");
    expect(&w, "a GET / > b GET /x {0123abcd}", "503", "a GET / > b GET /x {0123abcd}");
    expect(&w, "a GET / #1 > b GET /x", "503", "a GET / #1 > b GET /x");
    assert_int_equal(w.aim.patterns.at[0].fired, 3);
    set(&w, "a GET / > b GET /y : 504"); /* and they are forgotten like the others */
    expect(&w, "a GET / > b GET /x", "503", "a GET / > b GET /x");
    expect(&w, "a GET / > b GET /y", "504", "a GET / > b GET /y");
    world_deinit(&w);
}

/* A service that is down: all calls to it, after exact points, before patterns. */
static void test_services(void **state)
{
    struct world w;
    (void)state;
    world_init(&w);
    add(&w, "* * #* : 503");
    set(&w, "b down & a GET / > b GET /x : 501");
    expect(&w, "a GET / > b GET /x", "501", "a GET / > b GET /x");
    expect(&w, "a GET / > b GET /x #1", "refuse", "a GET / > b GET /x #1");
    expect(&w, "a GET / > c GET / > b p.S/M", "refuse", "a GET / > c GET / > b p.S/M");
    expect(&w, "a GET / > c GET /", "503", "a GET / > c GET /");
    assert_int_equal(w.aim.services.at[0].fired, 2);
    set(&w, "none");
    expect(&w, "a GET / > b GET /x #1", "503", "a GET / > b GET /x #1");
    set(&w, "b slow & c gone");
    expect(&w, "a GET / > b GET /x", "delay:5s", "a GET / > b GET /x");
    expect(&w, "a GET / > c GET /x", "404", "a GET / > c GET /x");
    world_deinit(&w);
    world_init(&w); /* and the same as a pattern */
    add(&w, "b gone");
    add(&w, "a > c* crashing");
    add(&w, "d overloaded:3");
    expect(&w, "a GET / > b GET /x #4", "404", "a GET / > b GET /x #4");
    expect(&w, "a GET / > c2 GET /x", "reset", "a GET / > c2 GET /x");
    uid by, first = point(&w, "a GET / > d GET /0");
    mode m = aim_find(&w.aim, &w.names, first, 0, &by);
    bool both = false;
    for (int i = 0; i < 100 && !both; i++) {
        char text[64];
        snprintf(text, sizeof text, "a GET / > d GET /%d", i);
        both = aim_find(&w.aim, &w.names, point(&w, text), 0, &by) != m;
    }
    assert_true(both);
    world_deinit(&w);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"", "missing"},
        {"  ", "missing"},
        {"503", ""},
        {"payment POST /charge", "missing"},
        {"payment POST /charge :", "mode is missing"},
        {"payment POST /charge : nothing", "unknown mode"},
        {"payment POST /charge : 99", "200 to 599"},
        {"payment POST /charge:503", ""},
        {"down", "missing"},
        {"payment : down", "unknown mode"},
        {": 503", "missing"},
        {"> payment POST /charge : 503", "missing"},
        {"shop > > payment POST /charge : 503", "missing"},
        {"shop GET / > : 503", "missing"},
        {"shop GET / >", "missing"},
        {"shop GET / & payment POST /charge : 503", ""},
        {"payment POST /charge : 503 & cart GET / : 503", "one fault at a time"},
        {"payment POST /charge : 503 500", "one fault at a time"},
        {"payment POST /charge #x : 503", "#x"},
        {"payment POST /charge {*} : 503", "{*}"},
        {"payment POST /charge /other : 503", "/other"},
        {"payment #1 > cart GET / : 503", "interface"},
        {"none", ""},
    };
    struct world w;
    (void)state;
    world_init(&w);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        if (aim_add(&w.aim, ANY_VOCABULARY(&w.names), UID_NONE, slice_of(rows[i].text), &e) == 0)
            fail_msg("\"%s\" is accepted", rows[i].text);
        if (!e.text[0] || !strstr(e.text, rows[i].word))
            fail_msg("\"%s\": %s", rows[i].text, e.text);
    }
    assert_int_equal(w.aim.patterns.n, 0);
    /* what was refused is not in the way */
    add(&w, "payment * : 503");
    expect(&w, "shop GET / > payment POST /charge", "503", "shop GET / > payment POST /charge");
    expect(&w, "shop GET / > cart POST /charge", "none", "shop GET / > cart POST /charge");
    world_deinit(&w);
}

/* Paths that match a pattern of many `*` nearly, in very many ways. */
static void test_many_stars(void **state)
{
    struct world w;
    struct buf text = BUF_INIT(1 << 20);
    uid u = UID_NONE, by;
    struct element el = {0};
    (void)state;
    world_init(&w);
    el.service = names_sym(&w.names, SLICE("a"));
    el.interface = names_sym(&w.names, SLICE("GET /"));
    for (int i = 0; i < 2000; i++)
        u = names_uid(&w.names, u, names_element(&w.names, el));
    buf_adds(&text, "b GET / > ");
    for (int i = 0; i < 300; i++)
        buf_adds(&text, "* > a GET / > ");
    buf_adds(&text, "* > * > * > a GET / : 503");
    add(&w, buf_text(&text));
    clock_t start = clock(); /* of CPU time */
    for (int i = 0; i < 100; i++)
        assert_int_equal(aim_find(&w.aim, &w.names, u, 0, &by), MODE_NONE);
    add(&w, buf_text(&text) + strlen("b GET / > "));
    assert_int_not_equal(aim_find(&w.aim, &w.names, u, 0, &by), MODE_NONE);
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
    buf_deinit(&text);
    world_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),     cmocka_unit_test(test_names_are_patterns),
        cmocka_unit_test(test_earlier_wins), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exact_all),    cmocka_unit_test(test_services),
        cmocka_unit_test(test_errors),       cmocka_unit_test(test_many_stars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
