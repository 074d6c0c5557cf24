/* SPDX-License-Identifier: Apache-2.0
 *
 * Services that are started by us, with real ones on loopback: getting ready, failing to, dying,
 * being started again and stopped, and what is said about it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/addr.h"
#include "io/procs.h"
#include "live/services.h"
#include "support/unit.h"

#define MS_NS 1000000LL
#define S_NS  1000000000LL

/* What happens is waited for so long: a busy machine is slow. What must not be waited for takes longer. */
#define PATIENCE_NS (60 * S_NS)

enum { MOST = 4 };

/* --- A campaign with nothing but services ----------------------------------------------------- */

struct world {
    struct loop l;
    struct keeper *k;
    struct client *client;
    struct campaign_config config;
    struct services *s;
    struct addr addr[MOST];
    char logs[64];
    struct timer tick;
    int64_t until_ns;
    bool late;
    int n_ready, n_failed, n_died, n_lost, n_stopped;
    uint32_t died;
    struct err failure;
    char how[512];
};

static int on_expand(void *ctx, uint32_t service, slice text, struct buf *out, struct err *e)
{
    struct world *w = ctx;
    slice mark = SLICE("{port}");
    if (slice_is(text, "{wrong}"))
        return err_set(e, 7, 3, "{wrong} is nothing");
    while (text.n) {
        if (slice_starts(text, mark)) {
            buf_addf(out, "%u", (unsigned)addr_port(&w->addr[service]));
            text = slice_from(text, mark.n);
        } else {
            buf_addc(out, *text.p);
            text = slice_from(text, 1);
        }
    }
    return 0;
}

static const struct addr *on_address(void *ctx, uint32_t service)
{
    return &((struct world *)ctx)->addr[service];
}

static void on_ready(void *ctx)
{
    ((struct world *)ctx)->n_ready++;
}

static void on_failed(void *ctx, const struct err *e)
{
    struct world *w = ctx;
    w->n_failed++;
    w->failure = *e;
}

static void on_died(void *ctx, uint32_t service, const char *how)
{
    struct world *w = ctx;
    w->n_died++;
    w->died = service;
    (void)snprintf(w->how, sizeof w->how, "%s", how);
}

static void on_lost(void *ctx, const struct err *e)
{
    struct world *w = ctx;
    w->n_lost++;
    w->failure = *e;
}

static void on_stopped(void *ctx)
{
    ((struct world *)ctx)->n_stopped++;
}

static int free_port(struct addr *a)
{
    struct err e = {0};
    assert_int_equal(addr_parse(SLICE("127.0.0.1:0"), "test", a, &e), 0);
    int fd = addr_listen(a, false, &e);
    assert_true(fd >= 0);
    return fd;
}

static void world_init(struct world *w)
{
    struct err e = {0};
    memset(w, 0, sizeof *w);
    (void)snprintf(w->logs, sizeof w->logs, "logs-%d/a/b", (int)getpid());
    assert_int_equal(keeper_new(&w->k, &e), 0);
    assert_int_equal(loop_init(&w->l, NULL), 0);
    assert_int_equal(keeper_attach(w->k, &w->l, &e), 0);
    w->client = client_new(&w->l, true);
    w->config.source = "outfox.yaml";
    w->config.logs = slice_of(w->logs);
}

/* The text lives as long as the world. */
static struct service_spec *add(struct world *w, const char *name, const char *command,
                                enum ready_kind ready)
{
    struct service_spec spec = {.name = slice_of(name),
                                .run = slice_of(command),
                                .ready = ready,
                                .ready_method = SLICE("GET"),
                                .ready_target = SLICE("/health"),
                                .ready_ns = PATIENCE_NS,
                                .stop_ns = 3 * S_NS,
                                .line = 12,
                                .col = 5};
    assert_true(w->config.services.n < MOST);
    close(free_port(&w->addr[w->config.services.n]));
    vec_push(&w->config.services, spec);
    return &vec_last(&w->config.services);
}

static int open_services(struct world *w, struct err *e)
{
    struct services_hooks hooks = {.ctx = w,
                                   .expand = on_expand,
                                   .address = on_address,
                                   .ready = on_ready,
                                   .failed = on_failed,
                                   .died = on_died,
                                   .lost = on_lost};
    return services_new(&w->l, w->k, w->client, &w->config, &hooks, &w->s, e);
}

static void start(struct world *w)
{
    struct err e = {0};
    int rc = open_services(w, &e);
    assert_string_equal(e.text, "");
    assert_int_equal(rc, 0);
    services_start(w->s);
    assert_int_equal(w->n_ready + w->n_failed, 0);
}

static void world_deinit(struct world *w)
{
    services_free(w->s);
    client_free(w->client);
    keeper_free(w->k);
    loop_deinit(&w->l);
    for (uint32_t i = 0; i < w->config.services.n; i++)
        vec_deinit(&w->config.services.at[i].env);
    vec_deinit(&w->config.services);
}

static bool over(const struct world *w)
{
    return w->n_ready || w->n_failed || w->n_died || w->n_lost || w->n_stopped;
}

static void on_tick(struct timer *t)
{
    struct world *w = OWNER(t, struct world, tick);
    w->late = w->l.now_ns > w->until_ns;
    if (w->late || over(w))
        loop_stop(&w->l);
    else
        timer_start(&w->l, &w->tick, w->l.now_ns + 2 * MS_NS);
}

/* Runs until some hook is called; false: none was. */
static bool run(struct world *w, int64_t ns)
{
    w->n_ready = w->n_failed = w->n_died = w->n_lost = w->n_stopped = 0;
    w->until_ns = clock_ns() + ns;
    w->tick.fire = on_tick;
    timer_start(&w->l, &w->tick, clock_ns() + MS_NS);
    loop_run(&w->l);
    return !w->late;
}

static void run_ready(struct world *w)
{
    bool told = run(w, 2 * PATIENCE_NS);
    assert_string_equal(w->failure.text, "");
    assert_true(told);
    assert_int_equal(w->n_ready, 1);
    assert_int_equal(w->n_died, 0);
}

static void run_failed(struct world *w)
{
    assert_true(run(w, 2 * PATIENCE_NS));
    assert_int_equal(w->n_failed, 1);
    assert_int_equal(w->n_ready, 0);
    assert_int_equal(w->n_died, 0);
}

static void stop(struct world *w)
{
    w->n_stopped = 0;
    services_stop(w->s, on_stopped, w);
    assert_int_equal(w->n_stopped, 0); /* not from within */
    assert_true(run(w, PATIENCE_NS));
    assert_int_equal(w->n_stopped, 1);
    assert_int_equal(w->n_died, 0);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* Below the keeper are the guards, and below them the services. */
static uint32_t n_below(void)
{
    struct procs f = {0};
    uint32_t n = 0;
    procs_read_family(&f, getpid());
    for (uint32_t i = 0; i < f.all.n; i++)
        n += f.all.at[i].marked;
    procs_deinit(&f);
    return n;
}

/* Guards end a moment after what they guard. */
static void assert_nothing_left(void)
{
    for (int i = 0; i < 400 && n_below() > 1; i++)
        (void)poll(NULL, 0, 5);
    assert_int_equal(n_below(), 1);
}

static const char *log_of(struct world *w, const char *name)
{
    static char text[65536];
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s.log", w->logs, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = 0;
    return text;
}

/* Listens and accepts, so that many connections do not fill its queue. */
#define LISTEN                                                                                     \
    "exec python3 -u -c '\n"                                                                       \
    "import socket\n"                                                                              \
    "s = socket.create_server((\"127.0.0.1\", {port}))\n"                                          \
    "print(\"listening\")\n"                                                                       \
    "while True: s.accept()\n'"

/* Answers 503 before it answers 200. */
#define HTTP                                                                                       \
    "exec python3 -u -c '\n"                                                                       \
    "import http.server, os\n"                                                                     \
    "class H(http.server.BaseHTTPRequestHandler):\n"                                               \
    "    protocol_version = \"HTTP/1.1\"\n"                                                        \
    "    n = 0\n"                                                                                  \
    "    def do_GET(self):\n"                                                                      \
    "        H.n += 1\n"                                                                           \
    "        self.send_response(200 if H.n > int(os.environ[\"BAD\"]) else 503)\n"                 \
    "        self.send_header(\"Content-Length\", \"0\")\n"                                        \
    "        self.end_headers()\n"                                                                 \
    "http.server.ThreadingHTTPServer((\"127.0.0.1\", {port}), H).serve_forever()\n'"

/* --- Getting ready ---------------------------------------------------------------------------- */

static void get_ready_and_stop(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "plain", LISTEN, READY_TCP);
    struct service_spec *web = add(&w, "web", HTTP, READY_HTTP);
    vec_push(&web->env, (struct text_pair){SLICE("BAD"), SLICE("2")});
    vec_push(&web->env, (struct text_pair){SLICE("AT"), SLICE("port {port}")});
    (void)add(&w, "quick",
              "echo out; echo err >&2; pwd; setsid sh -c 'echo $$; exec sleep 130' & wait",
              READY_NONE);
    w.config.services.at[2].dir = SLICE("/usr");
    (void)add(&w, "theirs", "", READY_TCP); /* runs already: not ours */
    start(&w);
    run_ready(&w);
    pid_t pid[3];
    struct process_usage usage;
    for (uint32_t i = 0; i < 3; i++) {
        pid[i] = services_pid(w.s, i);
        assert_true(pid[i] > 0);
        assert_int_equal(services_of_pid(w.s, pid[i]), i);
        assert_true(services_usage(w.s, i, &usage));
        assert_true(usage.descriptors >= 3 && usage.descriptors < 100);
        assert_true(usage.memory > 64 * 1024);
    }
    assert_int_equal(services_pid(w.s, 3), 0);
    assert_false(services_usage(w.s, 3, &usage));
    assert_int_equal(services_pid(w.s, 99), 0);
    assert_int_equal(services_of_pid(w.s, getpid()), UINT32_MAX);
    assert_int_equal(services_of_pid(w.s, 1), UINT32_MAX);
    assert_int_equal(services_of_pid(w.s, 0), UINT32_MAX);
    assert_false(run(&w, 100 * MS_NS)); /* no hook is called for nothing */
    int grandchild = 0;
    const char *log = log_of(&w, "quick");
    assert_int_equal(strncmp(log, "out\nerr\n/usr\n", 13), 0);
    grandchild = (int)strtol(log + 13, NULL, 10);
    assert_true(getpgid(grandchild) == grandchild); /* it has left the group */
    assert_int_equal(services_of_pid(w.s, grandchild), 2);
    assert_string_equal(log_of(&w, "plain"), "listening\n");
    stop(&w);
    assert_nothing_left();
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(services_pid(w.s, i), 0);
        assert_int_equal(services_of_pid(w.s, pid[i]), UINT32_MAX);
        struct err e = {0};
        int fd = addr_listen(&w.addr[i], false, &e); /* the port is free again */
        assert_true(fd >= 0);
        close(fd);
    }
    stop(&w); /* of those that are stopped already */
    world_deinit(&w);
}

static void no_services_are_ready_at_once(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "theirs", "", READY_TCP);
    w.config.logs = SLICE("/proc/nothing-is-written-here");
    start(&w);
    run_ready(&w);
    services_restart(w.s, true);
    run_ready(&w);
    stop(&w);
    world_deinit(&w);
}

/* --- Failing ---------------------------------------------------------------------------------- */

static void never_ready(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    struct service_spec *lazy = add(&w, "lazy", "echo thinking; sleep 131", READY_TCP);
    lazy->ready_ns = 300 * MS_NS;
    lazy->port = 7; /* it is told a port */
    int64_t before_ns = clock_ns();
    start(&w);
    run_failed(&w);
    assert_true(clock_ns() - before_ns >= 300 * MS_NS);
    assert_true(clock_ns() - before_ns < PATIENCE_NS);
    assert_string_equal(w.failure.source, "outfox.yaml");
    assert_int_equal(w.failure.line, 12);
    assert_says(w.failure.text, "service lazy is not ready after 300ms (connecting to 127.0.0.1:");
    assert_says(w.failure.text, "Connection refused); check that it listens there; if it only "
                                "needs more time, increase \"ready-within\"; see ");
    assert_says(w.failure.text, "/lazy.log, which ends with: thinking");
    stop(&w);
    assert_nothing_left();
    world_deinit(&w);
}

static void never_well(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    struct service_spec *web = add(&w, "web", HTTP, READY_HTTP);
    vec_push(&web->env, (struct text_pair){SLICE("BAD"), SLICE("1000000")});
    web->ready_ns = 2 * S_NS;
    web->port = 7;
    start(&w);
    run_failed(&w);
    assert_says(w.failure.text, "service web is not ready after 2s (GET /health answers 503); "
                                "increase \"ready-within\" to give it more time; see ");
    world_deinit(&w);
}

/* Accepts connections, and says nothing: the deadline holds while it is waited for, and comes before
 * that of a question. A busy machine may be slow, but not each time. */
static void never_answers(void **state)
{
    enum { TRIES = 10 };
    (void)state;
    int64_t took_ns = INT64_MAX;
    for (int i = 0; i < TRIES && took_ns >= 1800 * MS_NS; i++) {
        struct world w;
        world_init(&w);
        add(&w, "mute", LISTEN, READY_HTTP)->ready_ns = S_NS;
        int64_t before_ns = clock_ns();
        start(&w);
        run_failed(&w);
        took_ns = clock_ns() - before_ns;
        assert_says(w.failure.text, "service mute is not ready after 1s");
        world_deinit(&w);
    }
    assert_true(took_ns < 1800 * MS_NS);
}

static void dies_at_once(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "other", LISTEN, READY_TCP);
    (void)add(&w, "dead", "echo one; echo; echo two; printf 'three \\033[31m'; exit 3", READY_TCP);
    start(&w);
    run_failed(&w);
    assert_says(w.failure.text, "service dead ended before it was ready (exit code 3); see logs-");
    assert_says(w.failure.text, "/dead.log, which ends with: one | two | three ?[31m");
    assert_false(run(&w, 300 * MS_NS)); /* said once; the other one getting ready is no news */
    stop(&w);
    assert_nothing_left();
    world_deinit(&w);
}

static void goes_to_the_background(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "daemon", "setsid sleep 132 & exit 0", READY_TCP);
    start(&w);
    run_failed(&w);
    assert_says(w.failure.text, "(exit code 0): a service must stay in the foreground");
    assert_nothing_left(); /* also without stopping */
    world_deinit(&w);
}

static void port_in_use(void **state)
{
    (void)state;
    struct world w;
    char wanted[200];
    world_init(&w);
    (void)add(&w, "late", LISTEN, READY_TCP);
    int fd = free_port(&w.addr[0]);
    start(&w);
    run_failed(&w);
    (void)snprintf(
        wanted, sizeof wanted,
        "service late cannot listen on 127.0.0.1:%u, which is in use by process %d (test_services)",
        (unsigned)addr_port(&w.addr[0]), (int)getpid());
    assert_says(w.failure.text, wanted);
    assert_string_equal(log_of(&w, "late"), ""); /* it was not started */
    close(fd);
    memset(&w.failure, 0, sizeof w.failure);
    services_restart(w.s, false); /* now it can */
    run_ready(&w);
    world_deinit(&w);
}

static void cannot_be_started(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    add(&w, "lost", LISTEN, READY_TCP)->dir = SLICE("/no/such/place");
    start(&w);
    run_failed(&w);
    assert_says(w.failure.text, "service lost cannot be started: its directory /no/such/place "
                                "cannot be entered: No such file or directory");
    world_deinit(&w);

    world_init(&w);
    (void)add(&w, "wrong", "{wrong}", READY_TCP);
    memset(&w.failure, 0, sizeof w.failure);
    start(&w);
    run_failed(&w);
    assert_string_equal(w.failure.text, "{wrong} is nothing");
    world_deinit(&w);
}

static void no_place_for_logs(void **state)
{
    (void)state;
    struct world w;
    struct err e = {0};
    char file[64], below[128];
    (void)snprintf(file, sizeof file, "file-%d", (int)getpid());
    (void)snprintf(below, sizeof below, "%s/logs", file);
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    world_init(&w);
    (void)add(&w, "one", LISTEN, READY_TCP);
    w.config.logs = slice_of(below);
    assert_int_equal(open_services(&w, &e), -1);
    assert_says(e.text, "the directory for log files, file-");
    assert_says(e.text, "cannot be created: Not a directory");
    e = (struct err){0};
    w.config.logs = slice_of(file);
    assert_int_equal(open_services(&w, &e), -1);
    assert_says(e.text, "Not a directory");
    /* a directory is where the file should be */
    (void)snprintf(below, sizeof below, "dir-%d", (int)getpid());
    (void)mkdir(below, 0700);
    w.config.logs = slice_of(below);
    (void)snprintf(below + strlen(below) + 1, 40, "dir-%d/one.log", (int)getpid());
    (void)mkdir(below + strlen(below) + 1, 0700);
    e = (struct err){0};
    assert_int_equal(open_services(&w, &e), -1);
    assert_says(e.text, "service one cannot use its log file dir-");
    assert_says(e.text, "Is a directory");
    (void)rmdir(below + strlen(below) + 1);
    (void)rmdir(below);
    (void)unlink(file);
    world_deinit(&w);
}

static void keeper_killed(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "one", LISTEN, READY_TCP);
    start(&w);
    struct procs f = {0};
    procs_read_family(&f, getpid());
    for (uint32_t i = 0; i < f.all.n; i++)
        if (f.all.at[i].marked)
            (void)kill(f.all.at[i].pid, SIGKILL);
    procs_deinit(&f);
    run_failed(&w);
    assert_says(w.failure.text, "service one cannot be started: the process of outfox that starts "
                                "others was killed");
    stop(&w);
    world_deinit(&w);
}

/* --- Dying, and starting again ---------------------------------------------------------------- */

/* Somebody kills a helper process of ours: that says nothing about the service. */
static void is_lost_with_its_guard(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "payment", LISTEN, READY_TCP);
    start(&w);
    run_ready(&w);
    assert_int_equal(kill(process_parent(services_pid(w.s, 0)), SIGKILL), 0);
    assert_true(run(&w, PATIENCE_NS));
    assert_int_equal(w.n_lost, 1);
    assert_int_equal(w.n_died, 0);
    assert_says(w.failure.text, "service payment is lost: the process of outfox that watches over "
                                "it was killed");
    world_deinit(&w);
}

/* While others are not ready yet, the start fails: nobody must wait for ever. */
static void is_lost_before_all_are_ready(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "payment", LISTEN, READY_TCP);
    (void)add(&w, "slow", "exec sleep 600", READY_TCP);
    start(&w);
    do
        assert_false(run(&w, 500 * MS_NS));
    while (services_pid(w.s, 0) == 0);
    assert_int_equal(kill(process_parent(services_pid(w.s, 0)), SIGKILL), 0);
    assert_true(run(&w, PATIENCE_NS));
    assert_int_equal(w.n_failed, 1);
    assert_says(w.failure.text, "service payment ended before");
    world_deinit(&w);
}

static void dies_and_is_started_again(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "alive", LISTEN, READY_TCP);
    (void)add(&w, "payment", LISTEN, READY_TCP);
    start(&w);
    run_ready(&w);
    pid_t alive = services_pid(w.s, 0), payment = services_pid(w.s, 1);
    assert_int_equal(kill(payment, SIGSEGV), 0);
    assert_true(run(&w, PATIENCE_NS));
    assert_int_equal(w.n_died, 1);
    assert_int_equal(w.died, 1);
    assert_says(w.how, "payment died (signal 11, segmentation fault); see logs-");
    assert_says(w.how, "/payment.log");
    assert_int_equal(services_pid(w.s, 1), 0);
    assert_false(run(&w, 100 * MS_NS)); /* not started again before it is asked for */
    services_restart(w.s, false);
    run_ready(&w);
    assert_int_equal(services_pid(w.s, 0), alive);
    assert_int_not_equal(services_pid(w.s, 1), payment);
    assert_string_equal(log_of(&w, "payment"),
                        "listening\n--- started again by outfox ---\nlistening\n");
    services_restart(w.s, false); /* nothing to do */
    run_ready(&w);
    assert_int_equal(services_pid(w.s, 0), alive);
    services_restart(w.s, true);
    run_ready(&w);
    assert_int_not_equal(services_pid(w.s, 0), alive);
    world_deinit(&w);
}

/* One that was ready dies while another is started. */
static void dies_in_a_round(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "short", "sleep 0.2; exit 4", READY_NONE);
    (void)add(&w, "slow", "sleep 133", READY_TCP);
    start(&w);
    run_failed(&w);
    assert_says(w.failure.text, "service short ended before all were ready (exit code 4)");
    world_deinit(&w);
}

/* The shell ends at once, its child takes its time, and gets it. */
static void stops_in_peace(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    (void)add(&w, "polite",
              "sh -c 'trap \"sleep 0.3; echo bye; exit 0\" TERM; echo on; "
              "while :; do sleep 0.05; done'; true",
              READY_NONE);
    start(&w);
    run_ready(&w);
    for (int i = 0; i < 100 && !log_of(&w, "polite")[0]; i++)
        (void)poll(NULL, 0, 10);
    stop(&w);
    assert_says(log_of(&w, "polite"), "bye\n"); /* the shell's own words may stand before it */
    assert_nothing_left();
    world_deinit(&w);
}

static void stops_by_force(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    add(&w, "deaf", "trap '' TERM; echo on; while :; do sleep 0.05; done", READY_NONE)->stop_ns =
        200 * MS_NS;
    start(&w);
    run_ready(&w);
    for (int i = 0; i < 100 && !log_of(&w, "deaf")[0]; i++)
        (void)poll(NULL, 0, 10);
    int64_t before_ns = clock_ns();
    services_restart(w.s, true);
    run_ready(&w);
    assert_true(clock_ns() - before_ns >= 200 * MS_NS);
    before_ns = clock_ns();
    stop(&w); /* perhaps before the shell has come to its trap */
    assert_true(clock_ns() - before_ns < PATIENCE_NS);
    assert_nothing_left();
    world_deinit(&w);
}

static int n_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void many_rounds_leave_nothing(void **state)
{
    (void)state;
    struct world w;
    int before = 0;
    world_init(&w);
    (void)add(&w, "a", "exec sleep 134", READY_NONE);
    (void)add(&w, "b", "setsid sleep 135 & exec sleep 136", READY_NONE);
    start(&w);
    run_ready(&w);
    for (int i = 0; i < 50; i++) {
        services_restart(w.s, true);
        if (i % 5 == 0)
            services_restart(w.s, true); /* while that is under way */
        run_ready(&w);
        if (i == 0)
            before = n_descriptors();
    }
    assert_int_equal(n_descriptors(), before);
    stop(&w);
    assert_nothing_left();
    world_deinit(&w);
}

static void freed_at_any_time(void **state)
{
    (void)state;
    for (int ms = 0; ms < 120; ms += 7) {
        struct world w;
        world_init(&w);
        (void)add(&w, "tcp", LISTEN, READY_TCP);
        struct service_spec *web = add(&w, "web", HTTP, READY_HTTP);
        vec_push(&web->env, (struct text_pair){SLICE("BAD"), SLICE("5")});
        start(&w);
        if (ms)
            (void)run(&w, ms * MS_NS);
        if (ms % 2)
            services_stop(w.s, on_stopped, &w);
        world_deinit(&w);
        assert_int_equal(n_below(), 0);
    }
}

static void clean(void)
{
    char command[100];
    (void)snprintf(command, sizeof command, "rm -rf logs-%d", (int)getpid());
    (void)!system(command); /* NOLINT */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get_ready_and_stop),
        cmocka_unit_test(no_services_are_ready_at_once),
        cmocka_unit_test(never_ready),
        cmocka_unit_test(never_well),
        cmocka_unit_test(never_answers),
        cmocka_unit_test(dies_at_once),
        cmocka_unit_test(goes_to_the_background),
        cmocka_unit_test(port_in_use),
        cmocka_unit_test(cannot_be_started),
        cmocka_unit_test(no_place_for_logs),
        cmocka_unit_test(keeper_killed),
        cmocka_unit_test(is_lost_with_its_guard),
        cmocka_unit_test(is_lost_before_all_are_ready),
        cmocka_unit_test(dies_and_is_started_again),
        cmocka_unit_test(dies_in_a_round),
        cmocka_unit_test(stops_in_peace),
        cmocka_unit_test(stops_by_force),
        cmocka_unit_test(many_rounds_leave_nothing),
        cmocka_unit_test(freed_at_any_time),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    clean();
    return failed;
}
