/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

#include <stddef.h>
#include <stdlib.h>

/* Which verbs have the options of a search. */
enum { IN_EXPLORE = OPT_SEARCH, IN_ONCE = OPT_SEARCH | OPT_FAULT, IN_CAMPAIGN = OPT_RUN };

const struct option_row option_rows[] = {
    {"scenario", 's', "NAME", "which scenario; default: the first, of run and report all",
     OPT_SCENARIO, TYPE_TEXT, offsetof(struct args, scenario)},
    {"fault", 'f', "FAULT", "a fault to inject: \"CALL : MODE\"; may be given several times",
     OPT_FAULT, TYPE_LIST, offsetof(struct args, faults)},
    {"listen", 0, "ADDR", "where to listen: HOST:PORT, unix:PATH, https://HOST:PORT; port 0: any",
     OPT_PROXY, TYPE_SETTING, 0},
    {"to", 0, "ADDR", "where the service is; https:// for TLS", OPT_PROXY, TYPE_SETTING, 0},
    {"service", 0, "NAME", "the service's name in rules and in the log", OPT_PROXY, TYPE_SETTING,
     0},
    {"fault", 'f', "RULE", "a rule, \"POST /charge #0 : 503\"; may be given several times",
     OPT_PROXY, TYPE_LIST, offsetof(struct args, faults)},
    {"log", 0, "FILE", "write one line of JSON per call; - is standard output", OPT_PROXY,
     TYPE_SETTING, 0},
    {"workers", 0, "N", "threads that serve; default 1", OPT_PROXY, TYPE_SETTING, 0},
    {"cert", 0, "FILE", "certificate of an https listener, PEM", OPT_PROXY, TYPE_SETTING, 0},
    {"key", 0, "FILE", "its key; default: in the same file", OPT_PROXY, TYPE_SETTING, 0},
    {"test-cert", 0, "FILE", "make a certificate for localhost and write it to FILE", OPT_PROXY,
     TYPE_SETTING, 0},
    {"client-ca", 0, "FILE", "clients must show a certificate of this authority", OPT_PROXY,
     TYPE_SETTING, 0},
    {"http1", 0, NULL, "offer TLS clients HTTP/1.1 alone: for a service without HTTP/2", OPT_PROXY,
     TYPE_SETTING, 0},
    {"to-ca", 0, "FILE", "authority of the service's certificate; default: the system's", OPT_PROXY,
     TYPE_SETTING, 0},
    {"to-cert", 0, "FILE", "certificate to show to the service", OPT_PROXY, TYPE_SETTING, 0},
    {"to-key", 0, "FILE", "its key; default: in the same file", OPT_PROXY, TYPE_SETTING, 0},
    {"to-name", 0, "NAME", "name in the service's certificate; default: the host of --to",
     OPT_PROXY, TYPE_SETTING, 0},
    {"insecure", 0, NULL, "do not verify the service's certificate", OPT_PROXY, TYPE_SETTING, 0},
    {"limit", 0, "NAME=N", "a bound, such as idle=30s; see below", OPT_PROXY, TYPE_SETTING, 0},
    {"identify", 0, "payload", "make the hash of the body part of a call's name", OPT_PROXY,
     TYPE_SETTING, 0},
    {"normalise", 0, "RULE", "\"REGEX -> TEXT\" for paths; may be given several times", OPT_PROXY,
     TYPE_SETTING, 0},
    {"no-fault-header", 0, NULL, "injected answers carry no x-outfox-fault", OPT_PROXY,
     TYPE_SETTING, 0},
    {"seed", 0, "N", "for rules with a probability; default 0", OPT_PROXY, TYPE_SETTING, 0},
    {"service", 0, "NAME", "serve this service; several times for several; default: all", OPT_SERVE,
     TYPE_SETTING, 0},
    {"port", 0, "NAME=PORT", "where a service listens on 127.0.0.1; default: any free port",
     OPT_SERVE, TYPE_SETTING, 0},
    {"to", 0, "[CALLER>]CALLEE=URL", "where a service is called, by all or by one; default: itself",
     OPT_SERVE, TYPE_SETTING, 0},
    {"propagate", 0, "LIST", "headers that go on with each call, with commas; none: no header",
     OPT_SERVE, TYPE_SETTING, 0},
    {"control", 0, "PORT", "listen there for POST /reset, GET and DELETE /state?trace=HEX",
     OPT_SERVE, TYPE_SETTING, 0},
    {"quick", 0, NULL, "a first look: standard modes, at most 2 faults at a time, tries fail alike",
     OPT_SEARCH, TYPE_FLAG, offsetof(struct args, quick)},
#define SEARCH_OPTION(ID, id, name, letter, argument, verbs, help)                                 \
    {name, letter, argument, help, IN_##verbs, TYPE_SEARCH, SEARCH_##ID},
#include "search/option.list"
#undef SEARCH_OPTION
    {"oracle", 0, "NAME=SEVERITY", "off, warning or finding; all=off: none; see outfox oracles",
     OPT_SEARCH, TYPE_LIST, offsetof(struct args, oracles)},
    {"max-runs", 0, "N", "stop after N runs, repeats included", OPT_SEARCH, TYPE_COUNT,
     offsetof(struct args, max_runs)},
    {"max-time", 0, "TIME", "stop after this time, such as 30s or 5m", OPT_SEARCH, TYPE_DURATION,
     offsetof(struct args, max_time_ns)},
    {"service", 0, "NAME=ADDR",
     "a service: NAME=PORT or NAME=HOST:PORT; may be given several times", OPT_INIT, TYPE_SETTING,
     0},
    {"run", 0, "NAME=COMMAND", "Outfox starts the service with this command; {port} is its port",
     OPT_INIT, TYPE_SETTING, 0},
    {"request", 0, "REQUEST", "a scenario: \"GET {url:NAME}/path\"; may be given several times",
     OPT_INIT, TYPE_SETTING, 0},
    {"command", 0, "COMMAND", "a scenario: a test command; may be given several times", OPT_INIT,
     TYPE_SETTING, 0},
    {"compose", 0, "FILE", "take the services from a docker-compose file", OPT_INIT, TYPE_SETTING,
     0},
    {"schema", 0, "NAME", "also write the JSON Schema, under this name beside the file", OPT_INIT,
     TYPE_SETTING, 0},
    {"force", 0, NULL, "replace files that are there", OPT_INIT, TYPE_SETTING, 0},
    {"schema", 0, NULL, "print the JSON Schema of the file instead", OPT_VALIDATE, TYPE_FLAG,
     offsetof(struct args, schema)},
    {"identify", 0, "LEVEL", "how callers are known: auto (default), state, trace or none",
     OPT_CAMPAIGN, TYPE_TEXT, offsetof(struct args, identify)},
    {"store", 0, "FILE", "where the campaign is kept; default .outfox/campaign.db", OPT_CAMPAIGN,
     TYPE_TEXT, offsetof(struct args, store)},
    {"jobs", 'j', "N", "runs at a time, where the services pass the trace context on", OPT_RUN,
     TYPE_COUNT, offsetof(struct args, jobs)},
    {"fail-fast", 0, NULL, "stop at the first finding", OPT_RUN, TYPE_FLAG,
     offsetof(struct args, fail_fast)},
    {"resume", 0, NULL, "go on where the last campaign was", OPT_RUN, TYPE_FLAG,
     offsetof(struct args, resume)},
    {"contract", 0, NULL, "judge by what resilience/SCENARIO.yaml says of faults, and nothing else",
     OPT_CONTRACT, TYPE_FLAG, offsetof(struct args, contract)},
    {"update", 0, NULL, "change what changed in a contract that is there, and show it", OPT_LEARN,
     TYPE_FLAG, offsetof(struct args, update)},
    {"json", 0, "FILE", "write one JSON document (docs/json.md); - is standard output", OPT_RUN,
     TYPE_TEXT, offsetof(struct args, json_file)},
    {"junit", 0, "FILE", "write a JUnit XML report", OPT_RUN, TYPE_TEXT,
     offsetof(struct args, junit)},
    {"markdown", 0, "FILE", "write a summary in Markdown, for CI", OPT_RUN, TYPE_TEXT,
     offsetof(struct args, markdown)},
    {"events", 0, "FILE", "write what happens as it happens, a JSON object per line; - is stdout",
     OPT_WATCH, TYPE_TEXT, offsetof(struct args, events)},
    {"json", 0, NULL, "print one JSON document (docs/json.md)", OPT_JSON, TYPE_FLAG,
     offsetof(struct args, json)},
    {"quiet", 'q', NULL, "no progress on standard error", OPT_SEARCH, TYPE_FLAG,
     offsetof(struct args, quiet)},
    {"dot", 0, NULL, "print a graph for Graphviz", OPT_DEPS, TYPE_FLAG, offsetof(struct args, dot)},
    {"all", 0, "DIR", "write all pages into this directory", OPT_MAN, TYPE_TEXT,
     offsetof(struct args, all)},
    {"color", 0, "WHEN", "auto (default), always or never; NO_COLOR is respected", OPT_COMMON,
     TYPE_TEXT, offsetof(struct args, color)},
    {"help", 'h', NULL, "this text", OPT_COMMON, TYPE_FLAG, offsetof(struct args, help)},
};

/* Are all words from the first that is no option a command of its own? */
static bool takes_command(const struct verb *verb)
{
    return strstr(verb->positional, "...") != NULL;
}

enum { OPTIONS = sizeof option_rows / sizeof *option_rows };
const size_t n_options = OPTIONS;

static int unknown_option(const char *arg, const struct verb *verb, struct err *e)
{
    const char *names[OPTIONS];
    size_t n = 0;
    for (size_t i = 0; i < OPTIONS; i++)
        if (option_rows[i].groups & verb->options)
            names[n++] = option_rows[i].name;
    slice word = slice_of(arg + strspn(arg, "-"));
    word.n = slice_find(word, '=');
    const char *near = err_nearest(word, names, n);
    return err_set(e, 0, 0, "unknown option \"%s\"%s%s%s; see outfox help %s", arg,
                   near ? "; did you mean --" : "", near ? near : "", near ? "?" : "", verb->name);
}

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

static int set_count(uint64_t *field, const struct option_row *o, const char *value, struct err *e)
{
    if (slice_to_u64(slice_of(value), INT64_MAX, field) && *field > 0)
        return 0;
    return err_set(e, 0, 0, "--%s takes a whole number above 0, not \"%s\"", o->name, value);
}

/* Read now, so that a mistake is told at once; and again over what the file says (search_args). */
static int set_search(struct args *args, enum search_option option, const char *value,
                      struct err *e)
{
    struct search_options ignored = {0};
    struct mode_list modes;
    args->search[option] = value;
    return search_option_read(option, slice_of(value), &modes, &ignored, e);
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
    case TYPE_COUNT: return set_count(field, o, value, e);
    case TYPE_SEARCH: return set_search(args, (enum search_option)o->field, value, e);
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

static int check_args(const struct args *args, const struct verb *verb, struct err *e)
{
    static const char *const colors[] = {"auto", "always", "never"};
    bool known = false;
    for (size_t i = 0; i < 3; i++)
        known |= strcmp(args->color, colors[i]) == 0;
    if (!known)
        return err_set(e, 0, 0, "--color is auto, always or never, not \"%s\"", args->color);
    slice rest = slice_of(verb->positional), word;
    uint32_t needed = 0;
    while (slice_word(&rest, &word))
        needed += word.p[0] != '[';
    if (!args->help && args->n_positional < needed)
        return err_set(e, 0, 0, "usage: outfox %s %s%s; see outfox help %s", verb->name,
                       verb->positional, args_behind(verb), verb->name);
    return 0;
}

/* The option at argv[*i], with its value. */
static int take_option(struct args *args, const struct verb *verb, int argc, char **argv, int *i,
                       struct err *e)
{
    const char *arg = argv[*i];
    const struct option_row *o = find_option(arg, verb);
    const char *equals = strchr(arg, '=');
    const char *value = equals ? equals + 1 : "";
    if (!o)
        return unknown_option(arg, verb, e);
    if (!o->argument && equals)
        return err_set(e, 0, 0, "--%s takes no value", o->name);
    if (o->argument && !equals) {
        if (*i + 1 >= argc)
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
            return err_set(e, 0, 0, "\"%s\" is one argument too many; see outfox help %s", arg,
                           verb->name);
        } else {
            args->positional[args->n_positional++] = arg;
        }
    }
    return check_args(args, verb, e);
}

void args_deinit(struct args *args)
{
    vec_deinit(&args->faults);
    vec_deinit(&args->oracles);
    vec_deinit(&args->settings);
}

void args_help(uint32_t groups, FILE *out)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option_row *o = &option_rows[i];
        if (!(o->groups & groups))
            continue;
        struct buf left = BUF_INIT(64);
        buf_addf(&left, o->letter ? "-%c, " : "    ", o->letter);
        buf_addf(&left, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        fprintf(out, "  %-22s %s\n", buf_text(&left), o->help);
        buf_deinit(&left);
    }
}
