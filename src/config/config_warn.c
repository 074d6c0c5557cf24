/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_warn.h"

#include <sys/stat.h>

#include "config/placeholder.h"
#include "config/reach.h"

struct telling {
    void (*tell)(void *ctx, const char *text);
    void *ctx;
};

static void tell_once(const struct telling *t, struct buf *text)
{
    if (text->n)
        t->tell(t->ctx, buf_text(text));
    buf_deinit(text);
}

bool config_tells_port(const struct service_spec *s)
{
    bool told = !s->run.n || s->port || s->ready == READY_NONE || placeholder_own(s->run);
    for (uint32_t i = 0; i < s->env.n && !told; i++)
        told = placeholder_own(s->env.at[i].value);
    return told;
}

static void warn_port(const struct telling *t, const struct service_spec *s)
{
    struct buf text = BUF_INIT(600);
    if (!config_tells_port(s))
        buf_addf(&text,
                 "%s is not told where to listen: neither `run` nor `env` has {port}. Write it "
                 "where %s takes its port from, for example `env: { PORT: \"{port}\" }`; or add "
                 "`port: N` if it always listens on port N",
                 s->name.p, s->name.p);
    tell_once(t, &text);
}

static void warn_dir(const struct telling *t, const char *what, slice name, slice dir)
{
    struct stat about;
    struct buf text = BUF_INIT(600);
    if (dir.n && (stat(dir.p, &about) || !S_ISDIR(about.st_mode)))
        buf_addf(&text,
                 "`dir` of the %s %.*s: there is no directory %.*s. A path is relative to the "
                 "directory of this file",
                 what, SLICE_ARG(name), SLICE_ARG(dir));
    tell_once(t, &text);
}

void config_warn(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx)
{
    struct telling t = {tell, ctx};
    for (uint32_t i = 0; i < c->services.n; i++) {
        warn_port(&t, &c->services.at[i]);
        if (c->services.at[i].run.n)
            warn_dir(&t, "service", c->services.at[i].name, c->services.at[i].dir);
    }
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        warn_dir(&t, "scenario", c->scenarios.at[i].name, c->scenarios.at[i].dir);
    reach_check(c, tell, ctx);
}
