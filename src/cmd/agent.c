/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox agent: serves plans of other machines (agent/agent.h).
 *
 * outfox agent run ADDRESS TOKEN-FILE ca|fingerprint VALUE SCRIPT is the other side: the command line
 * of the connector. It is not for people: no help lists it, and its words may change. */
#include "agent/agent.h"

#include <unistd.h>

#include "cmd/plan.h"

enum { RUN_WORDS = 5 };

static void say(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "outfox agent: %s\n", text);
}

/* What is to be written into plans. */
static void describe(const struct agent_where *w)
{
    char name[256] = "HOST";
    if (w->everywhere)
        (void)gethostname(name, sizeof name - 1);
    printf("listening on %s; plans reach it by this host, with a copy of the token's file:\n"
           "  { via: agent, address: \"%s\", port: %u, token-file: %s,\n"
           "    fingerprint: %s }\n",
           w->text, w->everywhere ? name : w->host, w->port, w->token_file, w->fingerprint);
    (void)fflush(stdout);
}

int cmd_agent(const struct args *args)
{
    struct agent *agent = NULL;
    struct agent_where where;
    struct err e = {0};
    struct agent_options o = {.listen = args->listen,
                              .token_file = args->token_file,
                              .cert = args->tls_cert,
                              .key = args->tls_key,
                              .say = say};
    int code = EXIT_USAGE;
    if (o.key && !o.cert) {
        (void)err_set(&e, 0, 0, "--key needs --cert");
    } else if (!agent_new(&agent, &o, &e)) {
        agent_where(agent, &where);
        describe(&where);
        code = 128 + agent_serve(agent);
    }
    agent_free(agent);
    return e.text[0] ? cmd_fail(&e) : code;
}

int cmd_agent_run(int argc, char **argv)
{
    struct err e = {0};
    bool ca = argc == RUN_WORDS && strcmp(argv[2], "ca") == 0;
    if (argc != RUN_WORDS || (!ca && strcmp(argv[2], "fingerprint") != 0)) {
        fprintf(stderr, "outfox: agent run is for plans alone; see outfox help agent\n");
        return EXIT_USAGE;
    }
    struct agent_call c = {.address = argv[0],
                           .token_file = argv[1],
                           .ca = ca ? argv[3] : NULL,
                           .fingerprint = ca ? NULL : argv[3],
                           .script = slice_of(argv[4])};
    int code = agent_run(&c, &e);
    if (e.text[0])
        fprintf(stderr, "outfox: %s\n", e.text);
    return code;
}
