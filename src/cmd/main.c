/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox: the verbs, their help, and the way in and out. Results go to stdout, everything else to
 * stderr. */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/outlet.h"
#include "cmd/native.h"
#include "cmd/plan.h"
#include "cmd/trials.h"
#include "proxy/config.h"

#ifndef OUTFOX_VERSION
#define OUTFOX_VERSION "unknown"
#endif
#ifndef OUTFOX_COMMIT
#define OUTFOX_COMMIT "unknown"
#endif

const char *const outfox_version = OUTFOX_VERSION, *const outfox_commit = OUTFOX_COMMIT;

void version_json(struct buf *out)
{
    buf_adds(out, "{\n  \"schema_version\": 1,\n  \"version\": \"" OUTFOX_VERSION
                  "\",\n  \"commit\": \"" OUTFOX_COMMIT "\"\n}\n");
}

static int cmd_version(const struct args *args)
{
    struct buf out = BUF_INIT(400);
    if (args && args->json)
        version_json(&out);
    else
        buf_adds(&out, "outfox " OUTFOX_VERSION " (commit " OUTFOX_COMMIT ")\n");
    cmd_print(&out, stdout);
    return EXIT_OK;
}

const struct verb verbs[] = {
    {"run", "[FILE]", 1, "explore a system and find what breaks it: the main job",
     OPT_COMMON | OPT_SCENARIO | OPT_SEARCH | OPT_CAMPAIGN | OPT_RUN | OPT_CONTRACT | OPT_WATCH |
         OPT_UI,
     cmd_run},
    {"replay", "WHAT [FILE]", 2, "run a finding or a faultload again and show what happens",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_CONTRACT, cmd_replay},
    {"learn", "[FILE]", 1, "write a contract from what was seen under faults",
     OPT_COMMON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_LEARN, cmd_learn},
    {"explain", "FAULTLOAD [FILE]", 2, "explain why a faultload was run or skipped",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH | OPT_CAMPAIGN, cmd_explain},
    {"report", "[FILE]", 1, "report on the stored campaign again",
     OPT_COMMON | OPT_SCENARIO | OPT_SEARCH | OPT_CAMPAIGN | OPT_RUN, cmd_report},
    {"ui", "[FILE]", 1, "show the stored campaign in a browser, and replay from there",
     OPT_COMMON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_UI, cmd_ui},
    {"deps", "[FILE]", 1, "show which calls the scenarios depend on",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_DEPS, cmd_deps},
    {"sim explore", "FILE", 1, "explore a simulated system in memory",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH, cmd_sim_explore},
    {"sim run", "FILE", 1, "run a simulated system once, with or without faults",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_FAULT, cmd_sim_run},
    {"sim explain", "FILE FAULTLOAD", 2,
     "explain why a faultload was run, is redundant or cannot happen",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH, cmd_sim_explain},
    {"sim deps", "FILE", 1, "show which calls a simulated scenario depends on",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH | OPT_DEPS, cmd_sim_deps},
    {"sim check", "FILE", 1, "check the file of a simulated system", OPT_COMMON | OPT_JSON,
     cmd_sim_check},
    {"sim serve", "FILE", 1, "serve a simulated system over HTTP", OPT_COMMON | OPT_SERVE,
     cmd_sim_serve},
    {"proxy", "[FILE]", 1, "put a proxy in front of a service and make calls to it fail",
     OPT_COMMON | OPT_JSON | OPT_PROXY, cmd_proxy},
    {"plan run", "FILE", 1,
     "carry out a failure plan: processes, disks, machines harmed on purpose",
     OPT_COMMON | OPT_JSON | OPT_PLAN | OPT_PLAN_REPORT, cmd_plan_run},
    {"plan explore", "FILE", 1, "derive other plans from one, and run them while there is news",
     OPT_COMMON | OPT_JSON | OPT_DERIVE, cmd_plan_explore},
    {"plan init", "[FILE]", 1, "write a first failure plan", OPT_COMMON | OPT_PLAN_INIT,
     cmd_plan_init},
    {"plan convert", "FILE", 1, "turn a fault model of YAFI into a plan, or back",
     OPT_COMMON | OPT_CONVERT, cmd_plan_convert},
    {"plan report", "[RESULT]", 1,
     "print what came of a failure plan again, or compare two results",
     OPT_COMMON | OPT_JSON | OPT_PLAN_REPORT, cmd_plan_report},
    {"plan show", "FILE", 1, "show what a failure plan would do; touches nothing", OPT_COMMON,
     cmd_plan_show},
    {"plan check", "[FILE]", 1, "check a failure plan", OPT_COMMON | OPT_PLAN_CHECK,
     cmd_plan_check},
    {"plan faults", "", 0, "list the faults of failure plans", OPT_COMMON | OPT_JSON,
     cmd_plan_faults},
    {"plan calls", "", 0, "list the system calls that faults of plans can harm",
     OPT_COMMON | OPT_JSON, cmd_plan_calls},
    {"plan fire", "PLAN [EVENT]", 2, "fire an event whose trigger is manual", OPT_COMMON,
     cmd_plan_fire},
    {"plan tell", "LINE...", 1, "in a node or client: tell the run of an event or an operation",
     OPT_COMMON, cmd_plan_tell},
    {"trials run", "FILE", 1, "make faults inside processes, one at a time, guided by their states",
     OPT_COMMON | OPT_JSON | OPT_TRIALS | OPT_TRIALS_REPORT, cmd_trials_run},
    {"trials check", "[FILE]", 1, "check a file of trials and the programs in it",
     OPT_COMMON | OPT_TRIALS_CHECK, cmd_trials_check},
    {"trials report", "NAME", 1, "print what came of trials again",
     OPT_COMMON | OPT_JSON | OPT_TRIALS_REPORT, cmd_trials_report},
    {"trials replay", "FINDING", 1, "make the fault of a finding again, NAME/NUMBER",
     OPT_COMMON | OPT_TRIALS_REPLAY, cmd_trials_replay},
    {"doctor", "", 0, "undo what killed plans have left behind", OPT_COMMON | OPT_DOCTOR,
     cmd_doctor},
    {"agent", "", 0, "run what plans of other machines harm this one with", OPT_COMMON | OPT_AGENT,
     cmd_agent},
    {"cc", "ARGUMENT...", 1, "compile and link C so that its calls can be made to fail", OPT_HELP,
     NULL /* see dispatch */},
    {"c++", "ARGUMENT...", 1, "compile and link C++ so that its calls can be made to fail",
     OPT_HELP, NULL},
    {"init", "[FILE]", 1, "write a first outfox.yaml", OPT_COMMON | OPT_JSON | OPT_INIT, cmd_init},
    {"validate", "[FILE]", 1, "check outfox.yaml", OPT_COMMON | OPT_JSON | OPT_VALIDATE,
     cmd_validate},
    {"fault-injected", "[PATTERN]", 1, "in a test: ask whether a fault was injected in this run",
     OPT_COMMON, cmd_fault_injected},
    {"calls", "[PATTERN]", 1, "in a test: count the calls of this run", OPT_COMMON, cmd_calls},
    {"no-faults", "COMMAND...", 1, "in a test: run a command without faults", OPT_COMMON,
     cmd_no_faults},
    {"sites", "BINARY...", POSITIONAL_MAX,
     "list the calls that can fail in programs built with outfox cc",
     OPT_COMMON | OPT_JSON | OPT_SITES, cmd_sites},
    {"states", "BINARY...", POSITIONAL_MAX,
     "show the tasks of such programs, and the states they go through",
     OPT_COMMON | OPT_JSON | OPT_STATES, cmd_states},
    {"modes", "", 0, "list the ways a call can fail", OPT_COMMON | OPT_JSON, cmd_modes},
    {"oracles", "[NAME]", 1, "list the oracles, or explain one of them", OPT_COMMON | OPT_JSON,
     cmd_oracles},
    {"schema", "[NAME]", 1, "list the JSON Schemas of what outfox prints, or print one", OPT_COMMON,
     cmd_schema},
    {"completion", "SHELL", 1, "print a completion script for bash, zsh or fish", OPT_COMMON,
     cmd_completion},
    {"man", "[PAGE]", 1, "print a manual page", OPT_COMMON | OPT_MAN, cmd_man},
    {"version", "", 0, "print the version", OPT_COMMON | OPT_JSON, cmd_version},
};

const struct verb_group verb_groups[] = {
    {"sim", "simulated systems"}, {"plan", "failure plans"}, {"trials", "faults inside processes"}};
const size_t n_verb_groups = sizeof verb_groups / sizeof *verb_groups;

const struct verb_group *verb_group_of(const char *name)
{
    size_t n = strcspn(name, " ");
    for (size_t i = 0; i < n_verb_groups; i++)
        if (slice_is((slice){name, n}, verb_groups[i].name))
            return &verb_groups[i];
    return NULL;
}

enum { VERBS = sizeof verbs / sizeof *verbs };
const size_t n_verbs = VERBS;

static void print_help(FILE *out)
{
    struct buf text = BUF_INIT(1 << 14);
    page_add("outfox", &text);
    buf_adds(&text, "\ncommands:\n");
    for (size_t i = 0; i < VERBS; i++)
        buf_addf(&text, "  %-14s  %s\n", verbs[i].name, verbs[i].about);
    buf_adds(&text, "\nexit codes:\n");
    page_add("exit codes", &text);
    fputs(buf_text(&text), out);
    buf_deinit(&text);
}

static void print_verb_help(const struct verb *v)
{
    struct buf text = BUF_INIT(1 << 16);
    page_add(v->name, &text);
    printf("outfox %s%s%s%s\n\n%s\noptions:\n", v->name, v->positional[0] ? " " : "", v->positional,
           args_behind(v), buf_text(&text));
    args_help(v->options);
    if (v->options & OPT_PROXY) {
        buf_clear(&text);
        limits_print(&limits_default, &text);
        printf("\nlimits and their defaults:\n%s", buf_text(&text));
    }
    buf_deinit(&text);
}

/* How many words of argv this name is; 0: it is not there. */
static int name_words(const char *name, int argc, char **argv)
{
    slice rest = slice_of(name), word;
    int n = 0;
    for (; slice_word(&rest, &word); n++)
        if (n == argc || !slice_is(word, argv[n]))
            return 0;
    return n;
}

/* The verb that argv starts with, and of how many words it is. */
static const struct verb *find_verb(int argc, char **argv, int *words)
{
    for (const struct verb *v = verbs; v < verbs + VERBS; v++) {
        *words = name_words(v->name, argc, argv);
        if (*words || (v->run == cmd_no_faults && (*words = name_words("hush", argc, argv))))
            return v; /* hush: what no-faults was called before 0.9 */
    }
    for (const struct verb *v = verbs; argc > 1 && v < verbs + VERBS; v++)
        if (v->run == cmd_trials_run && strcmp(argv[0], "trials") == 0) { /* trials FILE */
            *words = 1;
            return v;
        }
    return NULL;
}

static int unknown_verb(int argc, char **argv)
{
    struct buf given = BUF_INIT(200);
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    for (int i = 0; i < argc && i < 2 && argv[i][0] != '-'; i++)
        buf_addf(&given, "%s%s", i ? " " : "", argv[i]);
    fprintf(stderr, "outfox: there is no command \"%s\"; outfox help lists them%s\n",
            given.n ? buf_text(&given) : argv[0], err_hint(buf_slice(&given), names, VERBS).text);
    buf_deinit(&given);
    return EXIT_USAGE;
}

/* A group without one of its verbs. */
static int incomplete_verb(const char *group)
{
    struct buf text = BUF_INIT(1000);
    const struct verb *last = NULL;
    for (const struct verb *v = verbs; v < verbs + VERBS; v++) {
        if (verb_group_of(v->name) != verb_group_of(group))
            continue;
        if (last)
            buf_addf(&text, "%s%s", text.n ? ", " : "", last->name);
        last = v;
    }
    fprintf(stderr, "outfox: %s needs a command: %s or %s; see outfox help\n", group,
            buf_text(&text), last ? last->name : "");
    buf_deinit(&text);
    return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
    int words = 0;
    const struct verb *v = argc ? find_verb(argc, argv, &words) : NULL;
    bool general =
        argc == 0 || (argc == 1 && (verb_group_of(argv[0]) || strcmp(argv[0], "help") == 0));
    if (v && words == argc)
        print_verb_help(v);
    else if (general)
        print_help(stdout);
    else
        return unknown_verb(argc, argv);
    return EXIT_OK;
}

static bool asks_for_help(const char *arg)
{
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

void cmd_print(struct buf *text, FILE *out)
{
    (void)fwrite(buf_text(text), 1, text->n, out); /* main sees what fails */
    buf_deinit(text);
}

int cmd_fail(const struct err *e)
{
    struct buf text = BUF_INIT(4096);
    err_print(e, &text);
    fprintf(stderr, "outfox: %s\n", buf_text(&text));
    buf_deinit(&text);
    return EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
    struct args args;
    struct err e = {0};
    int words, code = EXIT_OK;
    if (argc == 0) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[0], "help") == 0)
        return help(argc - 1, argv + 1);
    bool group = verb_group_of(argv[0]) && !strchr(argv[0], ' ');
    if (asks_for_help(argv[0]) || (argc == 2 && group && asks_for_help(argv[1])))
        return help(0, NULL);
    if (argc == 1 && group)
        return incomplete_verb(argv[0]);
    if (strcmp(argv[0], "--version") == 0)
        return cmd_version(NULL);
    if (strcmp(argv[0], "harm") == 0)
        return cmd_harm(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[0], "agent") == 0 && strcmp(argv[1], "run") == 0)
        return cmd_agent_run(argc - 2, argv + 2);
    const struct verb *v = find_verb(argc, argv, &words);
    if (!v)
        return unknown_verb(argc, argv);
    if (!v->run && !(argc == 2 && asks_for_help(argv[1])))
        return cmd_cc(argc, argv); /* its options are those of compilers */
    if (args_parse(&args, v, argc - words, argv + words, &e))
        code = cmd_fail(&e);
    else if (args.help)
        print_verb_help(v);
    else
        code = v->run(&args);
    args_deinit(&args);
    return code;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, reported below */
    outlet_init();
    int code = dispatch(argc - 1, argv + 1);
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "outfox: the result cannot be written: %s\n",
                errno ? strerror(errno) : "write error");
        return EXIT_ENVIRONMENT;
    }
    return code;
}
