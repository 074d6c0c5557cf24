/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox sim serve: a simulated system as real servers. */
#include "serve/serve.h"

#include <pthread.h>
#include <signal.h>

#include "cmd/cmd.h"
#include "data/yaml.h"

/* Both signals wait until serve_run looks at them: in every thread, and from the start. */
static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int set_options(struct serve *s, const struct args *args, struct err *e)
{
    for (uint32_t i = 0; i < args->settings.n; i++)
        if (serve_option(s, slice_of(args->settings.at[i].name),
                         slice_of(args->settings.at[i].value), e))
            return -1;
    return 0;
}

static int serve(struct serve *s, const struct args *args)
{
    struct err e = {0};
    if (set_options(s, args, &e) || serve_choose(s, &e))
        return cmd_fail(&e);
    if (serve_listen(s, &e)) {
        cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    struct buf lines = BUF_INIT(1 << 22);
    serve_print(s, &lines);
    fputs(buf_text(&lines), stdout);
    buf_deinit(&lines);
    if (fflush(stdout))
        return EXIT_ENVIRONMENT;
    return serve_run(s) ? EXIT_OK : EXIT_ENVIRONMENT;
}

int cmd_sim_serve(const struct args *args)
{
    struct arena arena = {0};
    struct names names;
    struct sim *sim = NULL;
    const struct node *root;
    struct err e = {0};
    int code;
    block_signals();
    names_init(&names);
    if (yaml_load(args->positional[0], &arena, &root, &e) || sim_load(root, &names, &sim, &e)) {
        code = cmd_fail(&e);
    } else {
        struct serve *s = serve_new(sim);
        code = serve(s, args);
        serve_free(s);
    }
    sim_free(sim);
    names_deinit(&names);
    arena_deinit(&arena);
    return code;
}
