// SPDX-License-Identifier: Apache-2.0
//
// Tasks of facts as text: who is one, why, and which functions belong to it.
#include "support/unit.h"

#include "native/native_int.h"

/* Functions that have records, in the order of their facts: "name", or "name:line" of a static one. */
static void add_record(struct native *n, slice word)
{
    slice name, line = {NULL, 0};
    struct native_function f = {
        .task = NATIVE_NONE, .caller = NATIVE_NONE, .depth = NATIVE_NONE, .file = SLICE("a.c")};
    uint64_t number = 0;
    assert_true(slice_cut(&word, ':', &name));
    if (slice_cut(&word, ':', &line)) {
        assert_true(slice_to_u64(line, 1000, &number));
        f.flags = OUTFOX_FUNCTION_LOCAL;
    }
    f.name = name;
    f.line = (uint32_t)number;
    vec_push(&n->functions, f);
}

/* "main<main> worker<thread (pthread_create)> | load=1+1": tasks, then records with task and depth. */
static void print(const struct native *n, struct buf *out)
{
    for (uint32_t i = 0; i < n->tasks.n; i++)
        buf_addf(out, "%.*s<%.*s> ", SLICE_ARG(n->tasks.at[i].name), SLICE_ARG(n->tasks.at[i].why));
    buf_adds(out, "|");
    for (uint32_t i = 0; i < n->functions.n; i++) {
        const struct native_function *f = &n->functions.at[i];
        if (f->task == NATIVE_NONE)
            buf_addf(out, " %.*s=-", SLICE_ARG(f->name));
        else
            buf_addf(out, " %.*s=%u+%u", SLICE_ARG(f->name), (unsigned)f->task, (unsigned)f->depth);
    }
}

static void check_with(const char *registrar, uint32_t depth, const char *records,
                       const char *facts, const char *wanted)
{
    struct native n = {0};
    struct native_registrar one;
    struct native_options o = {&one, registrar != NULL, depth};
    struct err e = {0};
    struct buf got = BUF_INIT(1 << 16);
    slice words = slice_of(records), word;
    if (registrar)
        assert_int_equal(native_registrar_parse(slice_of(registrar), &one, &e), 0);
    while (slice_word(&words, &word))
        add_record(&n, word);
    tasks_find(&n, slice_of(facts), &o);
    print(&n, &got);
    assert_string_equal(buf_text(&got), wanted);
    buf_deinit(&got);
    native_free(&n);
}

static void check(const char *records, const char *facts, const char *wanted)
{
    check_with(NULL, NATIVE_DEPTH, records, facts, wanted);
}

#define DEFINES(name) "function\t" name "\t1\tglobal\n"
#define HIDES(name)   "function\t" name "\t1\tlocal\n"
#define CALLS(a, b)   "call\t" a "\t" b "\n"

static void nothing_is_no_task(void **state)
{
    (void)state;
    check("", "", "|");
    check("work", "unit\ta.c\n" DEFINES("work"), "| work=-");
}

static void who_is_registered_is_a_task(void **state)
{
    (void)state;
    check("main work",
          "unit\ta.c\n" DEFINES("main") DEFINES("work") "passed\tmain\tpthread_create\t2\twork\n",
          "main<main> work<thread (pthread_create)> | main=0+0 work=1+0");
    /* another argument, or a comparator, says nothing */
    check("work",
          "unit\ta.c\n" DEFINES("work") "passed\tmain\tpthread_create\t3\twork\n"
                                        "passed\tmain\tqsort\t3\twork\n",
          "| work=-");
    /* in another unit than the one that defines it, and without a record of its own */
    check("main",
          "unit\ta.c\n" DEFINES("main") "passed\tmain\taeCreateFileEvent\t3\taccepted\n"
                                        "unit\tb.c\n" DEFINES("accepted"),
          "main<main> accepted<callback (aeCreateFileEvent)> | main=0+0");
    /* as functions of libraries that nobody here defines */
    check("", "unit\ta.c\npassed\tmain\tatexit\t0\tfree\n", "|");
}

static void places_keep_tasks(void **state)
{
    (void)state;
    check("stop", "unit\ta.c\n" DEFINES("stop") "stored\tsigaction.sa_handler\tstop\n",
          "stop<signal (sigaction.sa_handler)> | stop=0+0");
    check("get", "unit\ta.c\n" DEFINES("get") "stored\tcommands\tget\n", "| get=-");
    check_with("commands stored handler", 2, "get",
               "unit\ta.c\n" DEFINES("get") "stored\tcommands\tget\n",
               "get<handler (commands)> | get=0+0");
}

static void users_add_registrars(void **state)
{
    (void)state;
    struct native_registrar r;
    struct err e = {0};
    check_with("my_loop_* 1 callback", 2, "work",
               "unit\ta.c\n" DEFINES("work") "passed\tx\tmy_loop_add\t1\twork\n",
               "work<callback (my_loop_add)> | work=0+0");
    assert_int_equal(native_registrar_parse(SLICE("  f\t0 job "), &r, &e), 0);
    assert_true(slice_is(r.function, "f") && r.argument == 0 && slice_is(r.kind, "job"));
    static const char *const wrong[] = {"", "f", "f 0", "f x y", "f -1 y", "f 65 y", "f 0 y z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(native_registrar_parse(slice_of(wrong[i]), &r, &(struct err){0}), -1);
}

/* memcached: create_worker(f, arg) { pthread_create(&t, &a, f, arg) } */
static void wrappers_register(void **state)
{
    (void)state;
    check("work",
          "unit\ta.c\n" DEFINES("work") "passed\tinit\tstart\t0\twork\nunit\tb.c\n" DEFINES("start")
              DEFINES(
                  "begin") "forwards\tstart\t0\tbegin\t1\nforwards\tbegin\t1\tpthread_create\t2\n",
          "work<thread (pthread_create)> | work=0+0");
    /* the other parameter; and a static function of the same name in another unit */
    check("work",
          "unit\ta.c\n" DEFINES("work")
              HIDES("start") "passed\tinit\tstart\t0\twork\n"
                             "unit\tb.c\n" HIDES("start") "forwards\tstart\t0\tpthread_create\t2\n",
          "| work=-");
    check("work",
          "unit\ta.c\n" DEFINES("work") DEFINES("start") "forwards\tstart\t0\tpthread_create\t2\n"
                                                         "passed\tinit\tstart\t1\twork\n",
          "| work=-");
}

static void loops_are_tasks(void **state)
{
    (void)state;
    check("turn", "unit\ta.c\n" DEFINES("turn") "loop\tturn\tio_uring_wait_cqe\n",
          "turn<loop (io_uring_wait_cqe)> | turn=0+0");
    check("turn", "unit\ta.c\n" DEFINES("turn") CALLS("turn", "io_uring_wait_cqe"), "| turn=-");
    check("turn", "unit\ta.c\n" DEFINES("turn") "loop\tturn\tpoll\n", "| turn=-");
    check("turn", "unit\ta.c\n" DEFINES("turn") CALLS("turn", "epoll_wait"),
          "turn<loop (epoll_wait)> | turn=0+0");
    /* one that the program defines itself is another */
    check("turn", "unit\ta.c\n" DEFINES("turn") HIDES("epoll_wait") CALLS("turn", "epoll_wait"),
          "| turn=-");
}

static void calls_are_followed_so_far(void **state)
{
    (void)state;
    static const char chain[] = "unit\ta.c\n" DEFINES("main") DEFINES("a") DEFINES("b") DEFINES("c")
        CALLS("main", "a") CALLS("a", "b") CALLS("b", "c") CALLS("c", "a");
    check("main a b c", chain, "main<main> | main=0+0 a=0+1 b=0+2 c=-");
    check_with(NULL, 0, "main a b c", chain, "main<main> | main=0+0 a=- b=- c=-");
    check_with(NULL, 9, "main a b c", chain, "main<main> | main=0+0 a=0+1 b=0+2 c=0+3");
}

static void the_nearest_task_has_it(void **state)
{
    (void)state;
    static const char facts[] = "unit\ta.c\n" DEFINES("main") DEFINES("work") DEFINES("a")
        DEFINES("b") "passed\tmain\tpthread_create\t2\twork\n" CALLS("main", "a") CALLS("main", "b")
            CALLS("work", "a") CALLS("a", "b");
    /* as near to both: main is the one that gives way; and b is nearer to main */
    check("main work a b", facts,
          "main<main> work<thread (pthread_create)> | main=0+0 work=1+0 a=1+1 b=0+1");
}

static void the_cplusplus_library_costs_nothing(void **state)
{
    (void)state;
    static const char facts[] = "unit\ta.cc\n" DEFINES("_ZNSt6thread11_State_implIXE6_M_runEv") DEFINES(
        "_ZNSt6thread8_InvokerIXEclEv") DEFINES("_ZSt8__invokeIXE") HIDES("_ZZ4mainENKUlvE_clEv")
        DEFINES("_Z4workv") "stored\t_ZTVNSt6thread11_State_implIXEE\t_ZNSt6thread11_State_implIXE6_M_runEv\n" CALLS(
            "_ZNSt6thread11_State_implIXE6_M_runEv", "_ZNSt6thread8_InvokerIXEclEv")
            CALLS("_ZNSt6thread8_InvokerIXEclEv", "_ZSt8__invokeIXE")
                CALLS("_ZSt8__invokeIXE", "_ZZ4mainENKUlvE_clEv")
                    CALLS("_ZZ4mainENKUlvE_clEv", "_Z4workv");
    check_with(NULL, 1, "_ZZ4mainENKUlvE_clEv:1 _Z4workv", facts,
               "_ZNSt6thread11_State_implIXE6_M_runEv<thread (_ZTVNSt6thread11_State_implIXEE)> | "
               "_ZZ4mainENKUlvE_clEv=0+0 _Z4workv=0+1");
}

/* Two units with a static function of one name, one of which is a task. */
static void static_functions_are_told_apart(void **state)
{
    (void)state;
    check("work:1 work:7",
          "unit\ta.c\n" HIDES("work") "unit\tb.c\nfunction\twork\t7\tlocal\n"
                                      "passed\tx\tpthread_create\t2\twork\n",
          "work<thread (pthread_create)> | work=- work=0+0");
    /* nothing but their order tells which is which */
    check("work:1 work:1",
          "unit\ta.h\n" HIDES("work") "unit\tb.h\n" HIDES(
              "work") "passed\tx\tpthread_create\t2\twork\n",
          "work<thread (pthread_create)> | work=- work=0+0");
    /* an inline function of C++ has a record in each unit */
    check("run run",
          "unit\ta.cc\n" DEFINES("run") "unit\tb.cc\n" DEFINES(
              "run") "passed\tx\tpthread_create\t2\trun\n",
          "run<thread (pthread_create)> | run=0+0 run=0+0");
}

static void what_makes_no_sense_is_passed_over(void **state)
{
    (void)state;
    check(
        "work",
        "call\ta\tb\nfunction\tearly\t1\tglobal\nunit\nunit\ta.c\n\n\t\t\nfunction\tx\ty\tglobal\n"
        "future\t1\t2\t3\t4\t5\t6\ncall\t\twork\ncall\twork\npassed\tx\tpthread_create\ttwo\twork\n" DEFINES(
            "work") "passed\tx\tpthread_create\t2\twork",
        "work<thread (pthread_create)> | work=0+0");
}

static void units_may_be_padded(void **state)
{
    (void)state;
    static const char facts[] = "unit\ta.c\nfunction\twork\t1\tglobal\n\0\0\0unit\tb.c\n"
                                "passed\tx\tpthread_create\t2\twork\n\0";
    struct native n = {0};
    struct native_options o = {.depth = 2};
    tasks_find(&n, (slice){facts, sizeof facts}, &o);
    assert_int_equal(n.tasks.n, 1);
    native_free(&n);
}

static void main_needs_no_facts(void **state)
{
    (void)state;
    struct native n = {0};
    struct native_options o = {.depth = 2};
    add_record(&n, SLICE("main"));
    n.functions.at[0].flags = OUTFOX_FUNCTION_MAIN;
    tasks_find(&n, (slice){NULL, 0}, &o);
    assert_int_equal(n.tasks.n, 1);
    assert_int_equal(n.functions.at[0].task, 0);
    native_free(&n);
}

static void names_of_cplusplus(void **state)
{
    (void)state;
    struct arena a = {0};
    slice plain = native_demangled(SLICE("_ZN4shop3addEi"), &a);
    assert_true(slice_is(plain, "shop::add(int)") || slice_is(plain, "_ZN4shop3addEi"));
    assert_true(slice_is(native_demangled(SLICE("serverCron"), &a), "serverCron"));
    assert_true(slice_is(native_demangled(SLICE("_Zwhat"), &a), "_Zwhat"));
    arena_deinit(&a);
}

extern const char __executable_start[]; /* of the linker: where this program is loaded */

static void addresses_are_places(void **state)
{
    (void)state;
    struct native_symbols *s = native_symbols_open("/proc/self/exe");
    assert_non_null(s);
    struct native_place p =
        native_place(s, (uint64_t)((uintptr_t)names_of_cplusplus - (uintptr_t)__executable_start));
    assert_true(slice_is(p.function, "names_of_cplusplus"));
    assert_true(slice_glob(SLICE("*test_native.c"), p.file));
    assert_in_range(p.line, 200, 300);
    p = native_place(s, UINT64_C(1) << 40);
    assert_true(p.line == 0 && p.file.n == 0);
    native_symbols_free(s);
    assert_null(native_symbols_open("/nonexistent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_no_task),
        cmocka_unit_test(who_is_registered_is_a_task),
        cmocka_unit_test(places_keep_tasks),
        cmocka_unit_test(users_add_registrars),
        cmocka_unit_test(wrappers_register),
        cmocka_unit_test(loops_are_tasks),
        cmocka_unit_test(calls_are_followed_so_far),
        cmocka_unit_test(the_nearest_task_has_it),
        cmocka_unit_test(the_cplusplus_library_costs_nothing),
        cmocka_unit_test(static_functions_are_told_apart),
        cmocka_unit_test(what_makes_no_sense_is_passed_over),
        cmocka_unit_test(units_may_be_padded),
        cmocka_unit_test(main_needs_no_facts),
        cmocka_unit_test(names_of_cplusplus),
        cmocka_unit_test(addresses_are_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
