/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign says about what it could not test, with the reason and the remedy. What is left out
 * without anybody noticing was not tested:
 *
 *   modes and calls that do not fit each other, since a mode needs another protocol than a call speaks
 *   calls that only chance tells apart
 *   services that reach each other by addresses of their own: what is not seen cannot fail, and a
 *   campaign of them finds nothing, which must not look like a proof. (A simulated system has no
 *   other way to make a call)
 *   lines of outfox.yaml that name calls nobody has seen, and so do nothing */
#include <stdarg.h>

#include "campaign/campaign_int.h"
#include "campaign/since.h"
#include "config/reach.h"

enum { HOLDERS_MAX = 64 }; /* sockets whose owner is looked for: that reads /proc */

void campaign_note(struct campaign *c, const char *format, ...)
{
    struct buf text = BUF_INIT(1 << 14);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    bool known = false;
    for (uint32_t i = 0; i < c->summary.notes.n && !known; i++)
        known = strcmp(c->summary.notes.at[i], buf_text(&text)) == 0;
    if (!known) {
        vec_push(&c->summary.notes, arena_copy(&c->keep, buf_text(&text), text.n));
        campaign_send(c, (struct event){.type = EVENT_NOTE, .text = buf_text(&text)});
    }
    buf_deinit(&text);
}

static void add_note(void *ctx, const char *text)
{
    campaign_note(ctx, "%s", text);
}

/* ---- modes and calls that did not meet ---- */

static const char *need_of(mode m)
{
    static const char *const needs[] = {
        [AT_HTTP] = "HTTP", [AT_GRPC] = "gRPC", [AT_HTTP2] = "HTTP/2"};
    return mode_field(m).n ? "JSON" : needs[mode_rows[mode_kind(m)].at];
}

static bool takes_any(const struct campaign *c, const struct call *call)
{
    bool takes = call->flags & CALL_EXEMPT;
    for (uint32_t k = 0; k < c->opt.search.n_modes && !takes; k++)
        takes = call_takes(call, c->opt.search.modes[k]);
    return takes;
}

/* Calls of this kind that no mode fits. */
static void note_calls(struct campaign *c, const struct trace *trace, uint8_t kind,
                       const char *name, const char *remedy)
{
    uint32_t without = 0;
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *call = &trace->calls.at[i];
        without +=
            (call->flags & (CALL_HTTP | CALL_HTTP2 | CALL_GRPC)) == kind && !takes_any(c, call);
    }
    if (!without)
        return;
    struct buf needs = BUF_INIT(2000);
    for (uint32_t i = 0; i < c->opt.search.n_modes; i++) {
        buf_adds(&needs, i ? ", " : "");
        mode_print(c->opt.search.modes[i], &needs);
        buf_addf(&needs, " needs %s", need_of(c->opt.search.modes[i]));
    }
    campaign_note(c, "%u %s %s no mode that fits: %s. Add %s to `modes`", (unsigned)without, name,
                  plural(without, "call has", "calls have"), buf_text(&needs), remedy);
    buf_deinit(&needs);
}

/* A mode that no call takes. Statuses and codes are given side by side, for systems that speak both:
 * they are no surprise. Nor is it where no call takes any mode: then the calls are told about. */
static void note_mode(struct campaign *c, const struct trace *trace, mode m)
{
    bool taken = mode_act(m) == ACT_ANSWER, open = false;
    for (uint32_t i = 1; i < trace->calls.n && !taken; i++) {
        const struct call *call = &trace->calls.at[i];
        open |= !(call->flags & CALL_EXEMPT) && takes_any(c, call);
        taken = !(call->flags & CALL_EXEMPT) && call_takes(call, m);
    }
    if (taken || !open)
        return;
    struct buf name = BUF_INIT(400);
    mode_print(m, &name);
    bool http2 = mode_rows[mode_kind(m)].at == AT_HTTP2;
    campaign_note(c,
                  "mode %s was not tried: it needs %s, which none of the calls seen without faults "
                  "speaks%s%s%s",
                  buf_text(&name), need_of(m), http2 ? ". In HTTP/1.1 the mode " : "",
                  !http2                      ? ""
                  : mode_act(m) == ACT_GOAWAY ? "close"
                                              : "reset",
                  http2 ? " does the same" : "");
    buf_deinit(&name);
}

void campaign_check_modes(struct campaign *c, const struct trace *trace)
{
    note_calls(c, trace, CALL_HTTP, "HTTP/1.1", "a status such as 503");
    note_calls(c, trace, CALL_HTTP | CALL_HTTP2, "HTTP/2", "a status such as 503");
    note_calls(c, trace, CALL_GRPC, "gRPC", "a code such as grpc:14");
    for (uint32_t i = 0; i < c->opt.search.n_modes; i++)
        note_mode(c, trace, c->opt.search.modes[i]);
}

/* ---- calls that only chance tells apart ---- */

static void note_equal(struct campaign *c, const struct overlap_equal *e)
{
    const struct names *names = c->opt.names;
    const struct element *by = uid_element(names, e->handler);
    const struct element *el = &names->elements.at[e->element];
    const char *remedy =
        e->differ && c->opt.config->identify.payload != PAYLOAD_AUTO
            ? "They ask for different things; `identify: { payload: auto }` tells them apart if "
              "those are the same in every run"
        : e->differ
            ? "What they ask for differs from run to run, or was not seen without faults. Give "
              "each of them something of its own that is the same in every run, such as a query "
              "parameter"
            : "Give each of them something of its own that is the same in every run, such as a "
              "query parameter";
    campaign_note(
        c,
        "%.*s makes %u equal calls to %.*s %.*s at the same time (in %.*s): chance decides "
        "which of them a fault hits, so what depends on that may be seen only in part. %s",
        SLICE_ARG(names_text(names, by->service)), (unsigned)e->most,
        SLICE_ARG(names_text(names, el->service)), SLICE_ARG(names_text(names, el->interface)),
        SLICE_ARG(names_text(names, by->interface)), remedy);
}

/* ---- calls that came through the proxies, and connections past them ---- */

void campaign_seen(struct campaign *c, const struct run *run)
{
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *call = &run->trace.calls.at[i];
        map_set(&c->seen.reached, uid_element(c->opt.names, call->uid)->service, 1);
        c->seen.calls += i > 0 && !(c->spec->is_command && call->parent == 0);
    }
}

void campaign_watch(struct campaign *c)
{
    if (!c->opt.config->simulate.n)
        c->target->links(c->target->live, &c->seen.links);
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
    c->target->links(c->target->live, &now);
    mem_free(c->seen.direct);
    c->seen.direct = mem_zero((n + 1) * sizeof *c->seen.direct);
    for (uint32_t i = 0; i < now.list.n; i++) {
        const struct owner_link *l = &now.list.at[i];
        uint32_t *who = &c->seen.direct[l->to];
        if ((*who && *who != DIRECT_SOMEBODY) || (!l->inode && was_there(c, l)))
            continue;
        uint32_t holder = UINT32_MAX;
        if (l->inode && looked++ < HOLDERS_MAX)
            holder = c->target->holder(c->target->live, l->inode);
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
        buf_addf(out, "no call reached %s through Outfox, but something calls it directly, at ",
                 name);
    else
        buf_addf(out, "%s calls %s directly, at ", c->opt.config->services.at[who - 1].name.p,
                 name);
    c->target->address(c->target->live, service, out);
    buf_adds(out, who == DIRECT_SOMEBODY ? "" : ", bypassing Outfox");
}

/* ---- why nothing is proved ---- */

void campaign_doubt(struct campaign *c, bool can_fail)
{
    const struct campaign_config *config = c->opt.config;
    if (config->simulate.n || c->summary.broken || can_fail || c->summary.doubt)
        return;
    if (c->seen.calls)
        c->summary.doubt = "none of the calls that were seen can be faulted";
    else if (config->services.n == 1)
        c->summary.doubt = "there is only one service, so there is no call to fault";
    else
        c->summary.doubt = "no call between services went through Outfox, so none was faulted";
}

/* ---- services that nobody called ---- */

static bool is_reached(const struct campaign *c, uint32_t service)
{
    sym name = names_sym(c->opt.names, c->opt.config->services.at[service].name);
    /* in no trace are the files that a browser gets */
    return map_get(&c->seen.reached, name) || c->lessons->facts[service].received;
}

/* What is to be said of one service alone; nothing: it is as the file says, and was not called. */
static void say_service(struct campaign *c, uint32_t service, struct buf *out)
{
    const char *name = c->opt.config->services.at[service].name.p;
    struct buf remedy = BUF_INIT(2000);
    struct reach r;
    bool reached = is_reached(c, service);
    if (!reached && c->lessons->facts[service].ignored) {
        buf_addf(out, "all calls to %s match an entry of `ignore`, so none was faulted", name);
        return;
    }
    reach_of(c->opt.config, service, &r); /* as far as the file tells; a command is given all */
    if (!c->spec->is_command || r.given || r.told != UINT32_MAX)
        reach_remedy(c->opt.config, service, &remedy);
    say_direct(c, service, reached, out);
    if (out->n && !remedy.n)
        buf_addf(out, ". The caller must use {url:%s} instead", name);
    if (!out->n && !reached && remedy.n)
        buf_addf(out, "no call reached %s in any run", name);
    if (out->n && remedy.n)
        buf_addf(out, ": %s", buf_text(&remedy));
    buf_deinit(&remedy);
}

static bool is_any_reached(const struct campaign *c)
{
    for (uint32_t i = 0; i < c->opt.config->services.n; i++)
        if (is_reached(c, i))
            return true;
    return false;
}

void campaign_note_unseen(struct campaign *c)
{
    const struct campaign_config *config = c->opt.config;
    struct buf others = BUF_INIT(1 << 13);
    if (config->simulate.n || c->summary.broken)
        return;
    if (config->services.n == 1) {
        reach_check(config, add_note, c);
        return;
    }
    if (c->spec->is_command && !c->seen.calls)
        campaign_note(c, "no service made a call on behalf of the command: the command must call "
                         "the services at the addresses in OUTFOX_URL_NAME (NAME is the "
                         "service's, in capitals), and the services must call each other at those "
                         "in {url:NAME}");
    if (c->spec->test.n && !is_any_reached(c))
        campaign_note(c,
                      "the command passes without a request to any service. Did it run the test? "
                      "Many runners pass when no test has the name that they are given, here "
                      "%.*s. What it prints: outfox replay none --scenario %s",
                      SLICE_ARG(c->spec->test), c->spec->name.p);
    for (uint32_t i = 0; i < config->services.n; i++) {
        struct buf text = BUF_INIT(4000);
        say_service(c, i, &text);
        if (text.n)
            campaign_note(c, "%s", buf_text(&text));
        else if (!is_reached(c, i))
            buf_addf(&others, "%s%s", others.n ? ", " : "", config->services.at[i].name.p);
        buf_deinit(&text);
    }
    if (others.n)
        campaign_note(c,
                      "%s: no call reached it in any run. That is fine if this scenario does not "
                      "need it. Otherwise its callers do not use the address they are given, or "
                      "still cache its answers from earlier campaigns",
                      buf_text(&others));
    buf_deinit(&others);
}

/* ---- lines that had no effect ---- */

static void note_ignore(struct campaign *c, uint32_t i)
{
    slice line = c->opt.config->ignore.at[i];
    struct pattern p = {0};
    struct err e = {0};
    bool any = slice_starts(line, SLICE("*")); /* a precaution, for whoever has it */
    if (any || !c->target->tracker || track_ignores(c->target->tracker, i))
        return;
    bool unknown = !pattern_parse(&p, c->opt.words, PATTERN_CALLS, line, &e) &&
                   pattern_seen(&p, c->opt.names, &e);
    campaign_note(c, "`ignore: %.*s` matched no call%s%s", SLICE_ARG(line), unknown ? ": " : "",
                  unknown ? e.text : "");
    pattern_deinit(&p);
}

static void note_pattern(struct campaign *c, const char *key, const struct pattern *p)
{
    struct err e = {0};
    if (pattern_seen(p, c->opt.names, &e))
        campaign_note(c, "`judge: %s` names a call that was never made: %s", key, e.text);
}

void campaign_note_untested(struct campaign *c)
{
    const struct judge_settings *s = c->opt.judging ? &c->opt.judging->settings : NULL;
    for (uint32_t i = 0; i < c->overlaps.equal.n; i++)
        if (c->overlaps.equal.at[i].together)
            note_equal(c, &c->overlaps.equal.at[i]);
    campaign_note_unseen(c);
    if (!search_done(c->search) || c->summary.broken)
        return; /* what was not seen might have come yet */
    for (uint32_t i = 0; i < c->opt.config->ignore.n; i++)
        note_ignore(c, i);
    for (uint32_t i = 0; s && i < s->reads.n; i++)
        note_pattern(c, "reads", &s->reads.at[i]);
    for (uint32_t i = 0; s && i < s->idempotent.n; i++)
        note_pattern(c, "idempotent", &s->idempotent.at[i]);
    for (uint32_t i = 0; s && i < s->effects.n; i++)
        note_pattern(c, "effects", &s->effects.at[i].calls);
    for (uint32_t i = 0; s && i < s->undo.n; i++) {
        note_pattern(c, "undo", &s->undo.at[i].effect);
        note_pattern(c, "undo", &s->undo.at[i].undo);
    }
}

/* ---- what an earlier campaign knew ---- */

void campaign_note_since(struct campaign *c)
{
    const struct since *since = c->opt.since;
    uint32_t n = 0;
    if (!since)
        return;
    const struct contradiction *list = knowledge_contradictions(since->knowledge, &n);
    uint32_t own = knowledge_scenario(since->knowledge, c->spec->name);
    for (uint32_t i = 0; i < n; i++) {
        struct buf text = BUF_INIT(1 << 14);
        if (list[i].by != SHOWN_EARLIER || list[i].scenario != own)
            continue;
        buf_addf(&text, "%.*s is not as it was in the earlier campaign, although nothing says so: ",
                 SLICE_ARG(names_text(c->opt.names, list[i].service)));
        uid_print(c->opt.names, list[i].handler, &text);
        buf_adds(&text, " goes on otherwise under ");
        faultload_print(c->opt.names, c->opt.faultloads, list[i].faultload, &text);
        buf_adds(&text,
                 ". From then on nothing of this service was trusted. Name what it is made of "
                 "in its `files`, or set its `version`");
        campaign_note(c, "%s", buf_text(&text));
        buf_deinit(&text);
    }
}
