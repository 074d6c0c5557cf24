/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox: the verbs, their help, and the way in and out. Results go to stdout, everything else to
 * stderr. */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/outlet.h"
#include "proxy/limits.h"

#ifndef OUTFOX_VERSION
#define OUTFOX_VERSION "unknown"
#endif

const char *const outfox_version = OUTFOX_VERSION;

static int cmd_version(const struct args *args)
{
    if (args && args->json)
        puts("{\n  \"schema_version\": 1,\n  \"version\": \"" OUTFOX_VERSION "\"\n}");
    else
        puts("outfox " OUTFOX_VERSION);
    return EXIT_OK;
}

static const struct verb verbs[] = {
    {"run", "[FILE]", 1, "find what breaks a system: the main job",
     "Starts the services of the configuration (outfox.yaml, here or in a directory above) with\n"
     "proxies between them, watches each scenario run without faults, then makes every call between\n"
     "the services fail in every way and every combination that can show something new. Each finding\n"
     "is shrunk to the smallest faultload that shows it, confirmed by another run, and printed with\n"
     "the command that replays it. All runs are kept in .outfox/campaign.db: --resume goes on where\n"
     "an interrupted campaign was. Ctrl-C ends it with a report of what is known so far.",
     "  outfox run\n"
     "  outfox run --scenario checkout --max-time 2m --junit report.xml\n"
     "  outfox run --modes 503,reset,lost-reply:503 --max-faults 2 --jobs 4\n"
     "  outfox run --resume\n",
     OPT_COMMON | OPT_SCENARIO | OPT_SEARCH | OPT_CAMPAIGN | OPT_RUN | OPT_CONTRACT, cmd_run},
    {"replay", "WHAT [FILE]", 2, "run one faultload again and show what happens",
     "WHAT is the number of a finding (3, or SCENARIO/3), all for all of them, a faultload as the\n"
     "reports print it (\"CALL : MODE & CALL : MODE\"; patterns with * are allowed), \"SERVICE down\",\n"
     "\"none\", or @FILE with a faultload in it. Prints the tree of calls: what was injected where,\n"
     "what each caller saw, what the client got, and how that differs from the run without faults.\n"
     "The exit code is 1 when something is wrong: a finding shows again.",
     "  outfox replay 1\n"
     "  outfox replay all\n"
     "  outfox replay 'payment POST /charge : 503'\n"
     "  outfox replay 'payment down'\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_CONTRACT, cmd_replay},
    {"learn", "[FILE]", 1, "write down what was seen under faults, as a contract",
     "Writes resilience/SCENARIO.yaml from the stored campaign: what happens when each call fails,\n"
     "with a comment where a human must decide. From then on `outfox run --contract` fails where\n"
     "something is not declared, or is not as declared. With --update a file that is there is\n"
     "changed where behaviour changed, and nowhere else; the difference is shown, and the exit code\n"
     "is 1 when there is one.",
     "  outfox learn\n"
     "  outfox learn --update --scenario checkout\n",
     OPT_COMMON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_LEARN, cmd_learn},
    {"explain", "FAULTLOAD [FILE]", 2, "say why a combination was run or not, from what is stored",
     "Reads the stored campaign and says of one faultload whether it was run; or which run already\n"
     "showed all that it could show; or which decision of which service makes it impossible. Calls\n"
     "are named as in reports; where a name means several, each is explained.",
     "  outfox explain 'users GET /users/[id] > bookings GET /bookings/[id] : 503'\n"
     "  outfox explain 'bookings GET /bookings/7 : 503'\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH | OPT_CAMPAIGN, cmd_explain},
    {"report", "[FILE]", 1, "print the reports of the stored campaign again",
     "Makes the reports of the last campaign from what is stored, without running anything.",
     "  outfox report --markdown summary.md\n",
     OPT_COMMON | OPT_SCENARIO | OPT_SEARCH | OPT_CAMPAIGN | OPT_RUN, cmd_report},
    {"deps", "[FILE]", 1, "say which calls the scenarios depend on, from what is stored",
     "Reads the stored campaign and says of every call between services what becomes of the client's\n"
     "request when it fails: hard (the request fails), soft (absorbed: by a value, by another call,\n"
     "by a retry), conditional (that depends on the mode, or it is only called after a fault) or\n"
     "unknown (it never failed alone). Hard ones, the single points of failure, come first. Then the\n"
     "pairs that are absorbed one at a time but not together, and calls that are made twice.",
     "  outfox deps\n"
     "  outfox deps --scenario checkout --dot | dot -Tsvg >checkout.svg\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_CAMPAIGN | OPT_DEPS, cmd_deps},
    {"sim explore", "FILE", 1, "try every relevant combination of faults on a simulated system",
     "Watches the scenario run without faults, then makes every call between the services fail in\n"
     "every way and every combination that can show something new, and reports which of them "
     "break\n"
     "what the scenario expects. The search is complete: every decision that any service can take\n"
     "because of failed calls is seen. The reductions (--assume, --max-faults, --t-way) trade "
     "that\n"
     "for speed under an assumption each; --audit checks the assumption by sampling.",
     "  outfox sim explore examples/shop/shop.yaml\n"
     "  outfox sim explore examples/corpus/netflix.yaml --assume modes --audit 5\n"
     "  outfox sim explore shop.yaml --modes 503,reset,lost-reply:503 --max-faults 2 --json\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH, cmd_sim_explore},
    {"sim run", "FILE", 1, "run a simulated system once, with or without faults",
     "Runs the scenario once and prints the tree of calls: what was injected where, what each "
     "caller\n"
     "saw, what the client got. A fault is written \"CALL : MODE\"; * stands for any service,\n"
     "interface, path or count:\n"
     "  payment POST /charge : 503        that call, the first time, wherever it comes from\n"
     "  payment POST /charge #* : 503     the same, every time\n"
     "  cart GET /carts/* : 503           a path that starts so\n"
     "  checkout > payment * #* : reset   any call of checkout to payment\n"
     "  * * #* : delay:2s                 every call",
     "  outfox sim run examples/shop/shop.yaml\n"
     "  outfox sim run examples/shop/shop.yaml --fault 'cart GET /carts/ann : 503'\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_FAULT, cmd_sim_run},
    {"sim explain", "FILE FAULTLOAD", 2,
     "say why a combination was run, is redundant or cannot happen",
     "Explores the system, then says of one faultload whether it was run; or which run already "
     "showed\n"
     "all that it could show; or which decision of which service makes it impossible. A faultload "
     "is\n"
     "one or more faults \"CALL : MODE\" joined by \" & \", each call with its full path from the\n"
     "scenario's request, as the reports print them.",
     "  outfox sim explain examples/corpus/cinema-1.yaml \\\n"
     "    'users GET /users/chris_rivers/bookings > bookings GET /bookings/chris_rivers : 503'\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH, cmd_sim_explain},
    {"sim deps", "FILE", 1, "say which calls a simulated scenario depends on",
     "Explores the system, then says of every call between services what becomes of the client's\n"
     "request when it fails, as outfox deps does from a stored campaign.",
     "  outfox sim deps examples/shop/shop.yaml\n"
     "  outfox sim deps examples/corpus/netflix.yaml --dot | dot -Tsvg >netflix.svg\n",
     OPT_COMMON | OPT_JSON | OPT_SCENARIO | OPT_SEARCH | OPT_DEPS, cmd_sim_deps},
    {"sim check", "FILE", 1, "say whether the file of a simulated system is right",
     "Reads the file and checks all that can be known without running it: keys, names, modes,\n"
     "conditions, that every call goes to an endpoint that exists, that calls do not go in a "
     "circle.",
     "  outfox sim check examples/shop/shop.yaml\n", OPT_COMMON | OPT_JSON, cmd_sim_check},
    {"sim serve", "FILE", 1, "run a simulated system as real servers",
     "One listening socket per service on 127.0.0.1, HTTP/1.1, HTTP/2 and gRPC; services call each\n"
     "other over real connections, and time is real. The lines on standard output say where each\n"
     "listens; it serves until SIGTERM or SIGINT comes. With --to, calls go elsewhere: through a\n"
     "proxy, or to the same file served by another process with --service.",
     "  outfox sim serve examples/shop/shop.yaml\n"
     "  outfox sim serve shop.yaml --port checkout=8000 --to payment=http://127.0.0.1:9001\n"
     "  outfox sim serve shop.yaml --service cart --port cart=8002\n",
     OPT_COMMON | OPT_SERVE, cmd_sim_serve},
    {"proxy", "[FILE]", 1, "stand before a service and make calls to it fail",
     "A reverse proxy for HTTP/1.1, HTTP/2, gRPC and TLS that passes calls on, or makes them fail\n"
     "as rules say. One proxy is described by options, several by a YAML file. A rule is written\n"
     "\"INTERFACE [{PAYLOAD}] [#COUNT] [CONDITION]... : MODE\":\n"
     "  POST /charge #0 : 503                  the first POST /charge\n"
     "  GET /users/* #3- : reset               from the fourth on\n"
     "  * #*/3 header:x-user=bob : delay:2s    every third call that carries this header\n"
     "  shop.Cart/Add p:0.1 : grpc:14          one in ten\n"
     "  * after:10s for:30s : hold             in this time\n"
     "The lines on standard output say where it listens. SIGHUP reads the file again, SIGTERM and\n"
     "SIGINT let open calls end and name the rules that never fired (then the exit code is 4).",
     "  outfox proxy --listen 127.0.0.1:8001 --to 127.0.0.1:9001 --fault 'POST /charge #0 : 503'\n"
     "  outfox proxy --listen https://localhost:8443 --test-cert ca.pem --http1 --to 9001\n"
     "  outfox proxy proxies.yaml --log calls.jsonl --workers 2\n",
     OPT_COMMON | OPT_JSON | OPT_PROXY, cmd_proxy},
    {"init", "[FILE]", 1, "write a first configuration of a campaign",
     "Writes outfox.yaml, or FILE (- is standard output), from what it is told or from a\n"
     "docker-compose file: services that publish a port are taken as running, and comments say "
     "which\n"
     "variables must point to a proxy. The file has comments that teach, and passes outfox "
     "validate.",
     "  outfox init --run 'users=python3 users.py {port}' --service bookings=5003 \\\n"
     "    --request 'GET {url:users}/users/ann'\n"
     "  outfox init --compose docker-compose.yml --command 'pytest -q'\n",
     OPT_COMMON | OPT_JSON | OPT_INIT, cmd_init},
    {"validate", "[FILE]", 1, "say whether the configuration of a campaign is right",
     "Reads outfox.yaml, of this directory or of one above it unless a FILE is named, and checks "
     "all\n"
     "that can be known without starting anything: keys, values, names of services, placeholders,\n"
     "modes, environment variables. What is wrong is said with line and column.",
     "  outfox validate\n"
     "  outfox validate --schema >outfox.schema.json\n",
     OPT_COMMON | OPT_JSON | OPT_VALIDATE, cmd_validate},
    {"fault-injected", "[PATTERN]", 1, "within a test: was a fault injected in this run?",
     "For tests that are a scenario's command: asks the campaign that runs the test. Exit code 0: yes,\n"
     "1: no, 2: the pattern is wrong, 3: the campaign does not answer. Prints nothing else. Outside of\n"
     "a campaign the answer is no. PATTERN says at which calls, and in which mode if one follows:\n"
     "  payment                           any call of this service\n"
     "  payment POST /charge              that call, from wherever\n"
     "  checkout > payment POST /charge   from this service\n"
     "  payment POST /charge #1 : 503     the second of equal ones, and only this mode",
     "  outfox fault-injected && expected=503 || expected=200\n"
     "  if outfox fault-injected 'payment POST /charge : 503'; then ...; fi\n",
     OPT_COMMON, cmd_fault_injected},
    {"calls", "[PATTERN]", 1, "within a test: how many calls were made in this run?",
     "For tests that are a scenario's command: prints how many calls between services, and of the test\n"
     "itself, were made so far, or how many of them match PATTERN (see outfox help fault-injected).\n"
     "Those within outfox hush do not count. Exit code 2: the pattern is wrong, 3: there is no\n"
     "campaign, or it does not answer.",
     "  outfox calls\n"
     "  test $(outfox calls 'payment POST /charge') -le 1\n",
     OPT_COMMON, cmd_calls},
    {"hush", "COMMAND...", 1, "within a test: run a command with nothing injected meanwhile",
     "For tests that are a scenario's command: set-up, and assertions that ask the services. Calls\n"
     "that arrive while COMMAND runs are passed on untouched, in all runs alike, and are not points\n"
     "where the campaign injects faults. The exit code is the command's; 3 when the campaign does not\n"
     "answer. Outside of a campaign COMMAND is just run.",
     "  outfox hush curl -sf -X POST $OUTFOX_URL_CARTS/carts/ann\n"
     "  outfox hush sh -c './seed && ./check'\n",
     OPT_COMMON, cmd_hush},
    {"modes", "", 0, "list the ways in which a call can be made to fail",
     "Lists all modes with their arguments. Any mode that answers can also be written\n"
     "lost-reply:MODE: the service gets the request and does its work, then the caller is failed.\n"
     "Sets of modes have names: --modes standard, or `modes: standard` in outfox.yaml.",
     "  outfox modes\n", OPT_COMMON | OPT_JSON, cmd_modes},
    {"oracles", "[NAME]", 1, "list what is looked for without being asked, or explain one of them",
     "Lists the oracles: what each of them says about a system, and how seriously. Change that\n"
     "with --oracle NAME=off, warning or finding, or under `judge` in the file. With NAME: what this\n"
     "one sees, why it matters, what to do about it, when it is silent, and how to turn it off.",
     "  outfox oracles\n"
     "  outfox oracles no-timeout\n",
     OPT_COMMON | OPT_JSON, cmd_oracles},
    {"version", "", 0, "print the version", "Prints the version.", "  outfox version\n",
     OPT_COMMON | OPT_JSON, cmd_version},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static void print_help(FILE *out)
{
    fputs("outfox finds resilience bugs: it makes every call between services fail, in every\n"
          "combination that matters, and says which combinations break the scenario.\n\n"
          "  outfox init --run 'shop=./shop {port}' --request 'GET {url:shop}/'\n"
          "                          write outfox.yaml: which services, which request or test\n"
          "  outfox run              find what breaks them\n"
          "  outfox replay 1         look at the first finding again\n"
          "  outfox help run         all about one command\n\n"
          "commands:\n",
          out);
    for (size_t i = 0; i < VERBS; i++)
        fprintf(out, "  %-14s  %s\n", verbs[i].name, verbs[i].about);
    fputs(
        "\nexit codes:\n"
        "  0 as expected, 1 findings, 2 wrong command line or file, 3 the scenario fails without\n"
        "  faults, or services, store, output or a proxy do not work, 4 inconclusive (budget\n"
        "  ended, unstable, a fault or rule never fired), 130 interrupted, 143 terminated\n",
        out);
}

static void print_verb_help(const struct verb *v, FILE *out)
{
    fprintf(out, "outfox %s%s%s%s\n\n%s\n\nexamples:\n%s\noptions:\n", v->name,
            v->positional[0] ? " " : "", v->positional, args_behind(v), v->text, v->examples);
    args_help(v->options, out);
    if (v->options & OPT_PROXY) {
        struct buf limits = BUF_INIT(1 << 16);
        limits_print(&limits_default, &limits);
        fprintf(out, "\nlimits, and what they are unless set:\n%s", buf_text(&limits));
        buf_deinit(&limits);
    }
}

/* The verb that argv starts with, and of how many words it is. */
static const struct verb *find_verb(int argc, char **argv, int *words)
{
    for (size_t i = 0; i < VERBS; i++) {
        slice rest = slice_of(verbs[i].name), word;
        int n = 0;
        while (n < argc && slice_word(&rest, &word) && slice_is(word, argv[n]))
            n++;
        if (n > 0 && !slice_word(&rest, &word)) {
            slice all = slice_of(verbs[i].name);
            int needed = 0;
            while (slice_word(&all, &word))
                needed++;
            if (n == needed) {
                *words = n;
                return &verbs[i];
            }
        }
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

static int help(int argc, char **argv)
{
    int words = 0;
    const struct verb *v = argc ? find_verb(argc, argv, &words) : NULL;
    bool general = argc == 0 || (argc == 1 && (strcmp(argv[0], "sim") == 0 || /* a group of verbs */
                                               strcmp(argv[0], "help") == 0));
    if (v && words == argc)
        print_verb_help(v, stdout);
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

int cmd_fail(const struct err *e)
{
    struct buf text = BUF_INIT(4096);
    err_print(e, &text);
    fprintf(stderr, "outfox: %s\n", buf_text(&text));
    buf_deinit(&text);
    return EXIT_USAGE;
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
    struct args args;
    struct err e = {0};
    int code;
    if (args_parse(&args, v, argc, argv, &e)) {
        code = cmd_fail(&e);
    } else if (args.help) {
        print_verb_help(v, stdout);
        code = EXIT_OK;
    } else {
        code = v->run(&args);
    }
    args_deinit(&args);
    return code;
}

static int dispatch(int argc, char **argv)
{
    int words;
    if (argc == 0) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[0], "help") == 0)
        return help(argc - 1, argv + 1);
    if (asks_for_help(argv[0]) ||
        (argc == 2 && strcmp(argv[0], "sim") == 0 && asks_for_help(argv[1])))
        return help(0, NULL);
    if (argc == 1 && strcmp(argv[0], "sim") == 0) {
        fputs(
            "outfox: sim needs a command: sim explore, sim run, sim explain, sim deps, sim check or sim serve; see outfox help\n",
            stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[0], "--version") == 0)
        return cmd_version(NULL);
    const struct verb *v = find_verb(argc, argv, &words);
    return v ? run_verb(v, argc - words, argv + words) : unknown_verb(argc, argv);
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
