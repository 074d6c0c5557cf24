/* SPDX-License-Identifier: Apache-2.0
 *
 * The options, and how they are read; those of a search also to numbers, and back to words. */
#include "cmd/cmd.h"

#include <stddef.h>
#include <stdlib.h>

#include "cmd/native.h"

/* Which verbs have the options of a search. */
enum { IN_EXPLORE = OPT_SEARCH, IN_ONCE = OPT_SEARCH | OPT_FAULT, IN_CAMPAIGN = OPT_RUN };

/* What becomes of an option: it is put into a member, or kept as a setting for the verb to read. */
#define SETTING          TYPE_SETTING, 0
#define FLAG(member)     TYPE_FLAG, offsetof(struct args, member)
#define TEXT(member)     TYPE_TEXT, offsetof(struct args, member)
#define LIST(member)     TYPE_LIST, offsetof(struct args, member)
#define COUNT(member)    TYPE_COUNT, offsetof(struct args, member)
#define DURATION(member) TYPE_DURATION, offsetof(struct args, member)

const struct option_row option_rows[] = {
    {"scenario", 's', "NAME",
     "choose a scenario; default: all, or the first where only one is used", OPT_SCENARIO,
     TEXT(scenario)},
    {"fault", 'f', "FAULT", "inject a fault, \"CALL : MODE\"; may be repeated", OPT_FAULT,
     LIST(faults)},
    {"listen", 0, "ADDR",
     "listen on HOST:PORT, unix:PATH or https://HOST:PORT; port 0: any free port", OPT_PROXY,
     SETTING},
    {"to", 0, "ADDR", "forward to the service at this address; https:// for TLS", OPT_PROXY,
     SETTING},
    {"service", 0, "NAME", "name of the service in rules and in the log", OPT_PROXY, SETTING},
    {"fault", 'f', "RULE", "add a rule, \"POST /charge #0 : 503\"; may be repeated", OPT_PROXY,
     LIST(faults)},
    {"log", 0, "FILE", "log each call as a line of JSON; - for standard output", OPT_PROXY,
     SETTING},
    {"workers", 0, "N", "number of threads; default 1", OPT_PROXY, SETTING},
    {"cert", 0, "FILE", "certificate of an https listener, in PEM format", OPT_PROXY, SETTING},
    {"key", 0, "FILE", "private key of the certificate; default: in the same file", OPT_PROXY,
     SETTING},
    {"test-cert", 0, "FILE", "create a certificate for localhost and write it to FILE", OPT_PROXY,
     SETTING},
    {"client-ca", 0, "FILE", "require client certificates signed by this authority", OPT_PROXY,
     SETTING},
    {"http1", 0, NULL, "offer TLS clients only HTTP/1.1, for a service without HTTP/2", OPT_PROXY,
     SETTING},
    {"to-ca", 0, "FILE", "authority that signed the service's certificate; default: the system's",
     OPT_PROXY, SETTING},
    {"to-cert", 0, "FILE", "client certificate to present to the service", OPT_PROXY, SETTING},
    {"to-key", 0, "FILE", "private key of the certificate; default: in the same file", OPT_PROXY,
     SETTING},
    {"to-name", 0, "NAME", "name expected in the service's certificate; default: the host of --to",
     OPT_PROXY, SETTING},
    {"insecure", 0, NULL, "do not verify the service's certificate", OPT_PROXY, SETTING},
    {"limit", 0, "NAME=N", "set a limit, such as idle=30s; see below", OPT_PROXY, SETTING},
    {"identify", 0, "payload", "make a hash of the body part of a call's name", OPT_PROXY, SETTING},
    {"normalise", 0, "RULE", "rewrite paths in names, \"REGEX -> TEXT\"; may be repeated",
     OPT_PROXY, SETTING},
    {"no-fault-header", 0, NULL, "do not mark injected answers with x-outfox-fault", OPT_PROXY,
     SETTING},
    {"seed", 0, "N", "seed for rules with a probability; default 0", OPT_PROXY, SETTING},
    {"service", 0, "NAME", "serve only this service; may be repeated; default: all", OPT_SERVE,
     SETTING},
    {"port", 0, "NAME=PORT", "port of a service on 127.0.0.1; default: any free port", OPT_SERVE,
     SETTING},
    {"to", 0, "[CALLER>]CALLEE=URL",
     "address where CALLEE is called, by all or only by CALLER; default: its own", OPT_SERVE,
     SETTING},
    {"propagate", 0, "LIST",
     "headers to pass on with each call, separated by commas; none: no header", OPT_SERVE, SETTING},
    {"control", 0, "PORT", "listen on PORT for POST /reset, GET and DELETE /state?trace=HEX",
     OPT_SERVE, SETTING},
    {"quick", 0, NULL, "take a first look: standard modes, at most 2 faults, retries fail alike",
     OPT_SEARCH, FLAG(quick)},
#define SEARCH_OPTION(ID, id, name, letter, argument, verbs, help)                                 \
    {name, letter, argument, help, IN_##verbs, TYPE_SEARCH, SEARCH_##ID},
#include "search/option.list"
#undef SEARCH_OPTION
    {"oracle", 0, "NAME=SEVERITY",
     "set the severity of an oracle: off, warning or finding; all=off: no oracles", OPT_SEARCH,
     LIST(oracles)},
    {"max-runs", 0, "N", "stop after N runs, repeated ones included", OPT_SEARCH | OPT_DERIVE,
     COUNT(max_runs)},
    {"max-time", 0, "TIME", "stop after this time, such as 30s or 5m", OPT_SEARCH | OPT_DERIVE,
     DURATION(max_time_ns)},
    {"service", 0, "NAME=ADDR",
     "add a service that runs at NAME=PORT or NAME=HOST:PORT; may be repeated", OPT_INIT, SETTING},
    {"run", 0, "NAME=COMMAND",
     "add a service that Outfox starts; {port} in COMMAND becomes its port", OPT_INIT, SETTING},
    {"request", 0, "REQUEST", "add a scenario that sends \"GET {url:NAME}/path\"; may be repeated",
     OPT_INIT, SETTING},
    {"command", 0, "COMMAND", "add a scenario that runs a test command; may be repeated", OPT_INIT,
     SETTING},
    {"compose", 0, "FILE", "take the services from a docker-compose file", OPT_INIT, SETTING},
    {"schema", 0, "NAME", "also write the JSON Schema, with this name, next to the file", OPT_INIT,
     SETTING},
    {"force", 0, NULL, "replace existing files", OPT_INIT, SETTING},
    {"schema", 0, NULL, "print the JSON Schema of outfox.yaml instead", OPT_VALIDATE, FLAG(schema)},
    {"tests", 0, NULL, "list the tests of the suite too, as outfox run does", OPT_VALIDATE,
     FLAG(tests)},
    {"identify", 0, "LEVEL", "how callers are identified: auto (default), state, trace or none",
     OPT_CAMPAIGN, TEXT(identify)},
    {"store", 0, "FILE", "file to store the campaign in; default .outfox/campaign.db", OPT_CAMPAIGN,
     TEXT(store)},
    {"jobs", 'j', "N", "make N runs at a time, if the services pass on the trace context", OPT_RUN,
     COUNT(jobs)},
    {"fail-fast", 0, NULL, "stop at the first finding", OPT_RUN, FLAG(fail_fast)},
    {"resume", 0, NULL, "continue the last campaign", OPT_RUN, FLAG(resume)},
    {"since", 0, "STORE", "build on an earlier campaign: explore what has changed", OPT_RUN,
     TEXT(since)},
    {"contract", 0, NULL, "judge runs with faults only by the contract in resilience/SCENARIO.yaml",
     OPT_CONTRACT, FLAG(contract)},
    {"update", 0, NULL, "update an existing contract where behaviour has changed, and show how",
     OPT_LEARN, FLAG(update)},
    {"json", 0, "FILE", "write one JSON document (docs/json.md); - for standard output", OPT_RUN,
     TEXT(json_file)},
    {"junit", 0, "FILE", "write a JUnit XML report", OPT_RUN | OPT_PLAN_REPORT | OPT_TRIALS_REPORT,
     TEXT(junit)},
    {"markdown", 0, "FILE", "write a Markdown summary, for CI",
     OPT_RUN | OPT_PLAN_REPORT | OPT_TRIALS_REPORT, TEXT(markdown)},
    {"html", 0, "FILE", "write a report for a browser, all in one file",
     OPT_RUN | OPT_PLAN_REPORT | OPT_TRIALS_REPORT, TEXT(html)},
    {"compare", 0, "OLD", "compare with an earlier report, JSON or HTML", OPT_RUN | OPT_PLAN_REPORT,
     TEXT(compare)},
    {"events", 0, "FILE",
     "write events as they happen, one JSON object per line; - for standard output", OPT_WATCH,
     TEXT(events)},
    {"ui", 0, NULL, "serve a live page: watch, pause, stop, replay (docs/ui.md)", OPT_WATCH,
     FLAG(ui)},
    {"listen", 0, "ADDR",
     "address of the page; default: a free port of 127.0.0.1; beyond loopback with a token", OPT_UI,
     TEXT(listen)},
    {"token-file", 0, "FILE",
     "only who knows the token in this file may use the page; else OUTFOX_TOKEN", OPT_UI,
     TEXT(token_file)},
    {"tls-cert", 0, "FILE", "serve the page over TLS, with this certificate in PEM format", OPT_UI,
     TEXT(tls_cert)},
    {"tls-key", 0, "FILE", "private key of the certificate; default: in the same file", OPT_UI,
     TEXT(tls_key)},
    {"json", 0, NULL, "print one JSON document (docs/json.md)", OPT_JSON, FLAG(json)},
    {"quiet", 'q', NULL, "do not show progress on standard error", OPT_SEARCH, FLAG(quiet)},
    {"quiet", 'q', NULL, "do not show progress on standard error", OPT_PLAN | OPT_DERIVE,
     FLAG(quiet)},
    {"reference", 0, NULL, "only the runs without faults: does what is expected hold at all?",
     OPT_PLAN, FLAG(reference)},
    {"schema", 0, NULL, "print the JSON Schema of failure plans instead", OPT_PLAN_CHECK,
     FLAG(schema)},
    {"node", 0, "NAME=COMMAND", "add a process of the system; may be repeated", OPT_PLAN_INIT,
     SETTING},
    {"client", 0, "COMMAND", "add a command that exercises the system; may be repeated",
     OPT_PLAN_INIT, SETTING},
    {"from", 0, "FILE", "take services and scenarios from an outfox.yaml", OPT_PLAN_INIT, SETTING},
    {"compose", 0, "FILE", "pause the containers of a docker-compose file", OPT_PLAN_INIT, SETTING},
    {"force", 0, NULL, "replace an existing file", OPT_PLAN_INIT, SETTING},
    {"listen", 0, "ADDR", "address for plans of other machines; default 127.0.0.1:7700", OPT_AGENT,
     TEXT(listen)},
    {"token-file", 0, "FILE", "file with the token that they must know; default: one is made",
     OPT_AGENT, TEXT(token_file)},
    {"cert", 0, "FILE", "certificate in PEM format; default: one is made", OPT_AGENT,
     TEXT(tls_cert)},
    {"key", 0, "FILE", "private key of the certificate; default: in the same file", OPT_AGENT,
     TEXT(tls_key)},
    {"to-yafi", 0, NULL, "print a plan as a fault model of YAFI", OPT_CONVERT, FLAG(to_yafi)},
    {"system", 0, "PLAN",
     "plan that says how the hosts of the model are started; the new one extends it", OPT_CONVERT,
     TEXT(system)},
    {"policy", 0, "NAME",
     "who chooses the faults: bsrr, random, new-state or exhaustive; may be repeated", OPT_TRIALS,
     SETTING},
    {"seed", 0, "N", "seed of the policies' dice; default: the file's", OPT_TRIALS, SETTING},
    {"until", 0, "TEXT",
     "stop when a trial is suspicious whose line has TEXT in it, with * for anything", OPT_TRIALS,
     SETTING},
    {"max-trials", 0, "N", "stop a policy after N trials", OPT_TRIALS, COUNT(max_runs)},
    {"max-time", 0, "TIME", "stop after this time, such as 30s or 5m", OPT_TRIALS,
     DURATION(max_time_ns)},
    {"jobs", 'j', "N", "make N trials at a time; default: the file's",
     OPT_TRIALS | OPT_TRIALS_REPLAY, COUNT(jobs)},
    {"quiet", 'q', NULL, "do not show progress on standard error", OPT_TRIALS | OPT_TRIALS_REPLAY,
     FLAG(quiet)},
    {"schema", 0, NULL, "print the JSON Schema of files of trials instead", OPT_TRIALS_CHECK,
     FLAG(schema)},
    {"dry-run", 0, NULL, "only show what would be undone", OPT_DOCTOR, FLAG(dry_run)},
    {"dot", 0, NULL, "print a graph for Graphviz", OPT_DEPS | OPT_STATES, FLAG(dot)},
    {"only", 0, "PATTERN", "only sites whose file, function or callee matches; *: anything",
     OPT_SITES, SETTING},
    {"kind", 0, "KIND", "only sites of a kind: call, origin, descriptor, stream, path or memory",
     OPT_SITES, SETTING},
    {"only", 0, "PATTERN", "only tasks whose entry matches; *: anything", OPT_STATES, SETTING},
    {"registrar", 0, "'FUNCTION N KIND'",
     "whose argument N (from 0) is a task of this kind; may be repeated", OPT_STATES, SETTING},
    {"depth", 0, "N", "how many direct calls to follow from a task; default 2", OPT_STATES,
     SETTING},
    {"all", 0, "DIR", "write all pages to this directory", OPT_MAN, TEXT(all)},
    {"color", 0, "WHEN", "auto (default), always or never; respects NO_COLOR", OPT_COMMON,
     TEXT(color)},
    {"help", 'h', NULL, "print this help", OPT_COMMON | OPT_HELP, FLAG(help)},
};

/* Are all words from the first that is no option a command of its own? */
static bool takes_command(const struct verb *verb)
{
    return verb->n_positional == 1 && strstr(verb->positional, "...");
}

enum { OPTIONS = sizeof option_rows / sizeof *option_rows };
const size_t n_options = OPTIONS;

static const struct option_row *find_option(const char *arg, const struct verb *verb)
{
    size_t n = strcspn(arg, "=");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_row *o = &option_rows[i];
        if (!(o->groups & verb->options))
            continue;
        if (strncmp(arg, "--", 2) == 0 && strlen(o->name) == n - 2 &&
            memcmp(arg + 2, o->name, n - 2) == 0)
            return o;
        if (arg[0] == '-' && o->letter && arg[1] == o->letter && !arg[2])
            return o;
    }
    return NULL;
}

/* A long one: a letter may be a value. */
static bool is_option(const char *arg, const struct verb *verb)
{
    return strncmp(arg, "--", 2) == 0 && find_option(arg, verb);
}

static int set_option(struct args *args, const struct option_row *o, const char *value,
                      struct err *e)
{
    void *field = (char *)args + o->field;
    switch (o->type) {
    case TYPE_FLAG: *(bool *)field = true; return 0;
    case TYPE_TEXT: *(const char **)field = value; return 0;
    case TYPE_LIST: vec_push((struct arg_list *)field, value); return 0;
    case TYPE_SETTING: vec_push(&args->settings, (struct setting){o->name, value}); return 0;
    case TYPE_COUNT:
        if (slice_to_u64(slice_of(value), INT64_MAX, field) && *(uint64_t *)field > 0)
            return 0;
        return err_set(e, 0, 0, "--%s takes a whole number greater than 0, not \"%s\"", o->name,
                       value);
    case TYPE_SEARCH:
        /* read now, so that a mistake is told at once; and again over what the file says */
        args->search[o->field] = value;
        return search_option_read((enum search_option)o->field, slice_of(value),
                                  &(struct mode_list){0}, &(struct search_options){0}, e);
    case TYPE_DURATION:
        if (slice_to_ns(slice_of(value), field) && *(int64_t *)field > 0)
            return 0;
        return err_set(e, 0, 0, "--%s takes a duration such as 30s or 5m, not \"%s\"", o->name,
                       value);
    }
    return 0;
}

const char *args_behind(const struct verb *verb)
{
    return takes_command(verb) ? "" : " [OPTION]...";
}

/* The option at argv[*i], with its value. */
static int take_option(struct args *args, const struct verb *verb, int argc, char **argv, int *i,
                       struct err *e)
{
    const char *arg = argv[*i];
    const struct option_row *o = find_option(arg, verb);
    const char *equals = strchr(arg, '=');
    const char *value = equals ? equals + 1 : "";
    if (!o) {
        const char *names[OPTIONS];
        size_t n = 0;
        for (size_t k = 0; k < OPTIONS; k++)
            if (option_rows[k].groups & verb->options)
                names[n++] = option_rows[k].name;
        slice word = slice_of(arg + strspn(arg, "-"));
        word.n = slice_find(word, '=');
        const char *near = err_nearest(word, names, n);
        return err_set(e, 0, 0, "unknown option \"%s\"; see outfox help %s%s%s%s", arg, verb->name,
                       near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
    }
    if (!o->argument && equals)
        return err_set(e, 0, 0, "--%s takes no value", o->name);
    if (o->argument && !equals) {
        if (*i + 1 >= argc || is_option(argv[*i + 1], verb)) /* --x=--y if it is meant */
            return err_set(e, 0, 0, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
        value = argv[++*i];
    }
    return set_option(args, o, value, e);
}

int args_parse(struct args *args, const struct verb *verb, int argc, char **argv, struct err *e)
{
    bool only_positional = false;
    *args = (struct args){.color = "auto"};
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i];
        if (!only_positional && strcmp(arg, "--") == 0) {
            only_positional = true;
        } else if (!only_positional && arg[0] == '-' && arg[1]) {
            if (take_option(args, verb, argc, argv, &i, e))
                return -1;
        } else if (takes_command(verb)) {
            args->positional[args->n_positional++] = arg;
            args->command = argv + i;
            break;
        } else if (args->n_positional == verb->n_positional) {
            return err_set(e, 0, 0, "unexpected argument \"%s\"; see outfox help %s", arg,
                           verb->name);
        } else {
            args->positional[args->n_positional++] = arg;
        }
    }
    if (strcmp(args->color, "auto") != 0 && strcmp(args->color, "always") != 0 &&
        strcmp(args->color, "never") != 0)
        return err_set(e, 0, 0, "--color must be auto, always or never, not \"%s\"", args->color);
    slice rest = slice_of(verb->positional), word;
    uint32_t needed = 0;
    while (slice_word(&rest, &word))
        needed += word.p[0] != '[';
    if (!args->help && args->n_positional < needed)
        return err_set(e, 0, 0, "usage: outfox %s %s%s; see outfox help %s", verb->name,
                       verb->positional, args_behind(verb), verb->name);
    return 0;
}

void args_deinit(struct args *args)
{
    vec_deinit(&args->faults);
    vec_deinit(&args->oracles);
    vec_deinit(&args->settings);
}

void args_help(uint32_t groups)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_row *o = &option_rows[i];
        if (!(o->groups & groups))
            continue;
        struct buf left = BUF_INIT(64);
        buf_addf(&left, o->letter ? "-%c, " : "    ", o->letter);
        buf_addf(&left, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-22s %s\n", buf_text(&left), o->help);
        buf_deinit(&left);
    }
}

/* ---- the options of a search ---- */

#define QUICK (1u << REDUCE_MODES_ONCE | 1u << REDUCE_RETRIES | 1u << REDUCE_MAX_FAULTS)

int search_args(const struct args *args, uint8_t speaks, struct mode_list *modes,
                struct search_options *out, struct err *e)
{
    if (args->quick) { /* few runs of each kind; any of it can be said otherwise */
        *modes = (struct mode_list){0};
        mode_list_add_set(modes, SET_STANDARD);
        out->modes = modes->at;
        out->assume = QUICK;
        out->max_faults = 2;
        out->t_way = 0;
    }
    for (enum search_option i = 0; i < SEARCH_OPTIONS; i++)
        if (args->search[i] && search_option_read(i, slice_of(args->search[i]), modes, out, e))
            return -1;
    if (out->modes == modes->at) {
        mode_list_fit(modes, speaks);
        out->n_modes = modes->n;
    }
    /* --assume stands in place of what was assumed so far */
    if (args->search[SEARCH_MAX_FAULTS] || (args->search[SEARCH_ASSUME] && args->quick))
        out->assume |= 1u << REDUCE_MAX_FAULTS;
    if (args->search[SEARCH_T_WAY])
        out->assume |= 1u << REDUCE_T_WAY;
    if (out->t_way == 4 && out->n_modes > FOUR_WAY_MODES_MAX)
        return err_set(e, 0, 0,
                       "4-way takes at most %u modes, not %u: any four calls alone would need "
                       "more than a million runs; name fewer modes, or use 3-way",
                       (unsigned)FOUR_WAY_MODES_MAX, (unsigned)out->n_modes);
    if (args->search[SEARCH_AUDIT] && out->audit > 0 && !out->assume && !args->since)
        return err_set(
            e, 0, 0,
            "--audit runs what reductions skip, but none is in use; add --assume, --max-faults or "
            "--t-way");
    return 0;
}

void search_describe(const struct search_options *options, struct arena *arena, struct summary *out)
{
    bool told = out->assumptions.n > 0;
    out->modes = options->modes;
    out->n_modes = options->n_modes;
    out->order = order_rows[options->order].name;
    out->seed = options->seed;
    out->quick = (options->assume & QUICK) == QUICK;
    out->shard = options->shard;
    out->shards = options->shards;
    for (enum reduction r = 0; r < REDUCTIONS && !told; r++) {
        if (!(options->assume >> r & 1))
            continue;
        struct buf text = BUF_INIT(1000);
        buf_addf(&text, "%s", reduction_rows[r].name);
        if (r == REDUCE_MAX_FAULTS)
            buf_addf(&text, " %u", (unsigned)options->max_faults);
        if (r == REDUCE_T_WAY)
            buf_addf(&text, " %u", (unsigned)options->t_way);
        buf_addf(&text, ": %s", reduction_rows[r].assumption);
        vec_push(&out->assumptions, arena_copy(arena, text.p, text.n));
        buf_deinit(&text);
    }
}

uint64_t search_seed(const struct args *args)
{
    const char *text = args->search[SEARCH_SEED];
    uint64_t seed = 0;
    return text && slice_to_u64(slice_of(text), INT64_MAX, &seed) ? seed : 0;
}
