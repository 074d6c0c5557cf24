/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox proxy: builds the configuration from options and file, runs it until a signal ends it, and
 * says what came of the rules. The signals are taken by this thread alone, one at a time. */
#include "cmd/cmd.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "data/json.h"
#include "proxy/proxy.h"

/* Options whose key in the configuration has another name, or that stand for a value. */
static const struct {
    const char *option, *key, *value; /* value NULL: that of the option */
} renamed[] = {
    {"limit", "limits", NULL},
    {"no-fault-header", "fault-header", "off"},
    {"insecure", "insecure", "on"},
    {"http1", "http1", "on"},
};

static struct proxy_config *build(const struct args *args, struct err *e)
{
    struct proxy_config *config = config_new();
    int proxy = -1; /* the one that the options describe */
    int failed = args->n_positional ? config_load(config, args->positional[0], e) : 0;
    for (uint32_t i = 0; i < args->settings.n && !failed; i++) {
        const char *key = args->settings.at[i].name, *value = args->settings.at[i].value;
        for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
            if (strcmp(renamed[k].option, args->settings.at[i].name) == 0) {
                key = renamed[k].key;
                value = renamed[k].value ? renamed[k].value : value;
            }
        if (config_is_key(slice_of(key))) {
            failed = config_set(config, slice_of(key), slice_of(value), e);
            continue;
        }
        if (proxy < 0)
            proxy = config_add_proxy(config, e);
        failed = proxy < 0 || proxy_set(config, (uint32_t)proxy, slice_of(key), slice_of(value), e);
    }
    for (uint32_t i = 0; i < args->faults.n && !failed; i++)
        config_add_fault(config, slice_of(args->faults.at[i]));
    if (!failed && config->proxies.n == 0)
        failed = err_set(e, 0, 0,
                         "nothing to do: give --listen ADDR and --to ADDR, or a file with "
                         "`proxies`; see outfox help proxy");
    if (!failed && config_finish(config, e) == 0 && plane_check(config, e) == 0)
        return config;
    config_free(config);
    return NULL;
}

static void warn(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "outfox: %s\n", text);
}

/* One line per proxy: where it listens and where it leads. Lines that were printed before are not
 * printed again: after a reload only what is new. */
static void describe(const struct plane *plane, bool json, struct buf *printed)
{
    const struct proxy_config *config = plane_config(plane);
    for (uint32_t i = 0; i < config->proxies.n; i++) {
        struct buf listen = BUF_INIT(512), to = BUF_INIT(512), line = BUF_INIT(2048);
        slice service = config->proxies.at[i].service;
        plane_where(plane, i, &listen, &to);
        if (json) {
            struct json_out j = json_out(&line, JSON_SPACED);
            json_map(&j, NULL);
            json_str(&j, "service", service);
            json_take(&j, "listen", &listen);
            json_take(&j, "to", &to);
            json_map_end(&j);
            buf_addc(&line, '\n');
        } else {
            buf_addf(&line, "%.*s: listening on %s, to %s\n", SLICE_ARG(service), buf_text(&listen),
                     buf_text(&to));
        }
        if (!strstr(buf_text(printed), buf_text(&line))) {
            fputs(buf_text(&line), stdout);
            buf_add(printed, buf_slice(&line));
        }
        buf_deinit(&listen);
        buf_deinit(&to);
        buf_deinit(&line);
    }
    fflush(stdout);
}

static void reload(struct plane *plane, const struct args *args, struct buf *printed)
{
    struct err e = {0};
    struct proxy_config *config = build(args, &e);
    if (config && plane_reload(plane, config, &e) == 0) {
        warn(NULL, "reloaded");
        describe(plane, args->json, printed);
        return;
    }
    if (config)
        config_free(config);
    struct buf text = BUF_INIT(4096);
    err_print(&e, &text);
    fprintf(stderr, "outfox: %s (nothing was changed)\n", buf_text(&text));
    buf_deinit(&text);
}

/* Waits for what ends it, and sees it through. */
static void run(struct plane *plane, const struct args *args, const sigset_t *signals,
                struct buf *printed)
{
    bool stopping = false;
    while (!plane_ended(plane)) {
        struct timespec look = {.tv_nsec = MS(20)};
        int got = stopping ? sigtimedwait(signals, NULL, &look) : sigwaitinfo(signals, NULL);
        if (got == SIGHUP && !stopping) {
            reload(plane, args, printed);
        } else if (got == SIGINT || got == SIGTERM) {
            plane_stop(plane, stopping); /* the second time: at once */
            stopping = true;
        }
    }
}

/* Names the rules that never fired. */
static int report(const struct plane *plane)
{
    const struct proxy_config *config = plane_config(plane);
    int code = EXIT_OK;
    for (uint32_t i = 0; i < config->book.list.n; i++) {
        const struct rule *r = config->book.list.at[i];
        if (rule_count_fired(r))
            continue;
        uint64_t seen = rule_count_seen(r);
        code = EXIT_INCONCLUSIVE;
        fprintf(stderr, "outfox: the rule '%.*s' never fired: ", SLICE_ARG(r->text));
        if (seen == 0)
            fputs("no call matched it\n", stderr);
        else
            fprintf(stderr,
                    "%llu %s matched it, but not its count or probability, or could not be "
                    "faulted that way\n",
                    (unsigned long long)seen, plural(seen, "call", "calls"));
    }
    if (plane_log_failed(plane)) {
        fputs("outfox: the log is incomplete: it could not be written\n", stderr);
        code = EXIT_ENVIRONMENT;
    }
    uint64_t left_out = plane_log_left_out(plane);
    if (left_out) {
        fprintf(stderr, "outfox: %llu %s missing from the log: its reader was too slow\n",
                (unsigned long long)left_out, plural(left_out, "call is", "calls are"));
        code = EXIT_ENVIRONMENT;
    }
    return code;
}

int cmd_proxy(const struct args *args)
{
    struct err e = {0};
    struct plane *plane;
    sigset_t signals;
    struct proxy_config *config = build(args, &e);
    if (!config)
        return cmd_fail(&e);
    struct rlimit limit; /* connections are descriptors: as many as we may have */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* threads inherit it */
    if (plane_start(config, warn, NULL, &plane, &e)) {
        config_free(config);
        cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    struct buf printed = BUF_INIT(1 << 20);
    describe(plane, args->json, &printed);
    run(plane, args, &signals, &printed);
    buf_deinit(&printed);
    int code = report(plane);
    plane_free(plane);
    return code;
}
