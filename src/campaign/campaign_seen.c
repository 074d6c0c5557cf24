/* SPDX-License-Identifier: Apache-2.0
 *
 * What came through the proxies at all. Services that reach each other by addresses of their own
 * are not seen, and what is not seen cannot fail: a campaign of them finds nothing, which must not
 * look like a proof. (A simulated system has no other way to make a call.) */
#include "campaign/campaign_seen.h"

#include "campaign/campaign_int.h"
#include "config/reach.h"

void seen_deinit(struct seen *s)
{
    map_deinit(&s->reached);
    vec_deinit(&s->links.list);
    mem_free(s->direct);
}

void campaign_seen(struct campaign *c, const struct run *run)
{
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *call = &run->trace.calls.at[i];
        map_set(&c->seen.reached, uid_element(c->opt.names, call->uid)->service, 1);
        c->seen.calls += i > 0 && !(c->spec->is_command && call->parent == 0);
    }
}

/* ---- connections past the proxies ---- */

enum { HOLDERS_MAX = 64 }; /* sockets whose owner is looked for: that reads /proc */

void campaign_watch(struct campaign *c)
{
    if (!c->opt.config->simulate.n)
        c->target->links(c->target->ctx, &c->seen.links);
}

static bool was_there(const struct campaign *c, const struct owner_link *l)
{
    for (uint32_t i = 0; i < c->seen.links.list.n; i++)
        if (c->seen.links.list.at[i].to == l->to && c->seen.links.list.at[i].port == l->port)
            return true;
    return false;
}

/* A connection that is open has an owner: ours come from the proxies, and those of services do not,
 * since when ever they are there. Of one that was closed only that it was there is known, which
 * says something where nothing came through a proxy. */
void campaign_watched(struct campaign *c)
{
    uint32_t n = c->opt.config->services.n, looked = 0;
    struct owner_links now = {0};
    if (c->opt.config->simulate.n)
        return;
    c->target->links(c->target->ctx, &now);
    mem_free(c->seen.direct);
    c->seen.direct = mem_zero((n + 1) * sizeof *c->seen.direct);
    for (uint32_t i = 0; i < now.list.n; i++) {
        const struct owner_link *l = &now.list.at[i];
        uint32_t *who = &c->seen.direct[l->to];
        if ((*who && *who != DIRECT_SOMEBODY) || (!l->inode && was_there(c, l)))
            continue;
        uint32_t holder = UINT32_MAX;
        if (l->inode && looked++ < HOLDERS_MAX)
            holder = c->target->holder(c->target->ctx, l->inode);
        if (holder < n && holder != l->to)
            *who = holder + 1;
        else if (!l->inode)
            *who = DIRECT_SOMEBODY;
    }
    vec_deinit(&now.list);
}

/* "orders calls stock directly, at 127.0.0.1:7788, past Outfox"; nothing: that was not seen. */
static void say_direct(const struct campaign *c, uint32_t service, bool reached, struct buf *out)
{
    uint32_t who = c->seen.direct ? c->seen.direct[service] : 0;
    const char *name = c->opt.config->services.at[service].name.p;
    if (!who || (who == DIRECT_SOMEBODY && reached))
        return;
    if (who == DIRECT_SOMEBODY)
        buf_addf(out, "no call reached %s through Outfox, but somebody calls it directly, at ",
                 name);
    else
        buf_addf(out, "%s calls %s directly, at ", c->opt.config->services.at[who - 1].name.p,
                 name);
    c->target->address(c->target->ctx, service, out);
    buf_adds(out, who == DIRECT_SOMEBODY ? "" : ", past Outfox");
}

/* ---- why nothing is proved ---- */

void campaign_doubt(struct campaign *c, bool can_fail)
{
    const struct campaign_config *config = c->opt.config;
    if (config->simulate.n || c->summary.broken || can_fail || c->summary.doubt)
        return;
    if (c->seen.calls)
        c->summary.doubt = "none of the calls that were seen can be made to fail";
    else if (config->services.n == 1)
        c->summary.doubt = "there is only one service, so there is no call to be made to fail";
    else
        c->summary.doubt = "no call between services came through Outfox, so none was made to fail";
}

/* ---- services that nobody called ---- */

static bool is_reached(const struct campaign *c, uint32_t service)
{
    sym name = names_sym(c->opt.names, c->opt.config->services.at[service].name);
    return map_get(&c->seen.reached, name) != NULL;
}

/* What to do about it, as far as the file tells; a command is given all addresses. */
static void say_remedy(const struct campaign *c, uint32_t service, struct buf *out)
{
    struct reach r;
    reach_of(c->opt.config, service, &r);
    if (!c->spec->is_command || r.given || r.told != UINT32_MAX)
        reach_remedy(c->opt.config, service, out);
}

/* What is to be said of one service alone; nothing: it is as the file says, and was not called. */
static void say_service(struct campaign *c, uint32_t service, struct buf *out)
{
    const char *name = c->opt.config->services.at[service].name.p;
    struct buf remedy = BUF_INIT(2000);
    bool reached = is_reached(c, service);
    say_remedy(c, service, &remedy);
    if (!reached && c->lessons->facts[service].ignored) {
        buf_addf(out, "all calls to %s match an entry of `ignore`: none was made to fail", name);
        buf_deinit(&remedy);
        return;
    }
    say_direct(c, service, reached, out);
    if (out->n && !remedy.n)
        buf_addf(out, ". Whoever does so must call {url:%s} instead", name);
    if (!out->n && !reached && remedy.n)
        buf_addf(out, "no call reached %s in any run", name);
    if (out->n && remedy.n)
        buf_addf(out, ": %s", buf_text(&remedy));
    buf_deinit(&remedy);
}

static void note_uncalled(struct campaign *c)
{
    const struct campaign_config *config = c->opt.config;
    struct buf others = BUF_INIT(1 << 14);
    for (uint32_t i = 0; i < config->services.n; i++) {
        struct buf text = BUF_INIT(4000);
        say_service(c, i, &text);
        if (text.n)
            campaign_note(c, buf_text(&text));
        else if (!is_reached(c, i))
            buf_addf(&others, "%s%s", others.n ? ", " : "", config->services.at[i].name.p);
        buf_deinit(&text);
    }
    if (others.n) {
        buf_adds(&others, ": no call reached it in any run. That is fine where this scenario does "
                          "not need it. Else its callers do not use the address that they are "
                          "given, or keep its answers from earlier campaigns");
        campaign_note(c, buf_text(&others));
    }
    buf_deinit(&others);
}

static void add_note(void *ctx, const char *text)
{
    campaign_note(ctx, text);
}

void campaign_note_unseen(struct campaign *c)
{
    if (c->opt.config->simulate.n || c->summary.broken)
        return;
    if (c->opt.config->services.n == 1) {
        reach_check(c->opt.config, add_note, c);
        return;
    }
    if (c->spec->is_command && !c->seen.calls)
        campaign_note(c, "no service made a call on behalf of the command: the command must call "
                         "the services at the addresses in OUTFOX_URL_NAME (NAME is the service's, "
                         "in capitals), and they each other at those in {url:NAME}");
    note_uncalled(c);
}
