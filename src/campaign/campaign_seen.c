/* SPDX-License-Identifier: Apache-2.0
 *
 * What came through the proxies at all. Services that reach each other by addresses of their own
 * are not seen, and what is not seen cannot fail: a campaign of them finds nothing, which must not
 * look like a proof. (A simulated system has no other way to make a call.) */
#include "campaign/campaign_int.h"
#include "campaign/reach.h"

void campaign_seen(struct campaign *c, const struct run *run)
{
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *call = &run->trace.calls.at[i];
        map_set(&c->reached, uid_element(c->opt.names, call->uid)->service, 1);
        c->n_seen += i > 0 && !(c->spec->is_command && call->parent == 0);
    }
}

/* ---- why nothing is proved ---- */

void campaign_doubt(struct campaign *c, bool can_fail)
{
    const struct campaign_config *config = c->opt.config;
    if (config->simulate.n || c->summary.broken || can_fail || c->summary.doubt)
        return;
    if (c->n_seen)
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
    return map_get(&c->reached, name) != NULL;
}

/* What is to be said of one service alone; nothing: it is as the file says, and was not called. */
static void say_service(struct campaign *c, uint32_t service, struct buf *out)
{
    const char *name = c->opt.config->services.at[service].name.p;
    struct buf remedy = BUF_INIT(2000);
    if (track_service(live_tracker(c->live), service)->ignored) {
        buf_addf(out, "all calls to %s match an entry of `ignore`: none was made to fail", name);
    } else {
        struct reach r;
        reach_of(c->opt.config, service, &r);
        bool by_command = c->spec->is_command && !r.given && r.told == UINT32_MAX;
        reach_remedy(c->opt.config, service, &remedy);
        if (remedy.n && !by_command) /* a command is given all addresses */
            buf_addf(out, "no call reached %s in any run: %s", name, buf_text(&remedy));
    }
    buf_deinit(&remedy);
}

static void note_uncalled(struct campaign *c)
{
    const struct campaign_config *config = c->opt.config;
    struct buf others = BUF_INIT(1 << 14);
    for (uint32_t i = 0; i < config->services.n; i++) {
        struct buf text = BUF_INIT(4000);
        if (!is_reached(c, i)) {
            say_service(c, i, &text);
            if (text.n)
                campaign_note(c, buf_text(&text));
            else
                buf_addf(&others, "%s%s", others.n ? ", " : "", config->services.at[i].name.p);
        }
        buf_deinit(&text);
    }
    if (others.n) {
        buf_adds(&others, ": no call reached it in any run. That is fine where this scenario does "
                          "not need it; else its callers do not use the address that they are "
                          "given");
        campaign_note(c, buf_text(&others));
    }
    buf_deinit(&others);
}

void campaign_note_unseen(struct campaign *c)
{
    if (c->opt.config->simulate.n || c->summary.broken)
        return;
    if (c->spec->is_command && !c->n_seen)
        campaign_note(c, "no service made a call on behalf of the command: the command must call "
                         "the services at the addresses in OUTFOX_URL_NAME (NAME is the service's, "
                         "in capitals), and they each other at those in {url:NAME}");
    note_uncalled(c);
}
