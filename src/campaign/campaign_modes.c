/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes, and the first of them: do modes and calls fit each other? A mode that needs another
 * protocol than a call speaks is left out there. What is left out without anybody noticing was not
 * tested: it is said, with the reason and the remedy. So are calls that only chance tells apart. */
#include "campaign/campaign_int.h"

void campaign_note(struct campaign *c, const char *text)
{
    for (uint32_t i = 0; i < c->summary.notes.n; i++)
        if (strcmp(c->summary.notes.at[i], text) == 0)
            return;
    vec_push(&c->summary.notes, arena_copy(&c->keep, text, strlen(text)));
    campaign_send(c, (struct event){.type = EVENT_NOTE, .text = text});
}

/* ---- what modes need ---- */

static const char *need_of(mode m)
{
    static const char *const needs[] = {
        [AT_HTTP] = "HTTP", [AT_GRPC] = "gRPC", [AT_HTTP2] = "HTTP/2"};
    return mode_field(m).n ? "JSON" : needs[mode_rows[mode_kind(m)].at];
}

/* ---- calls without a mode ---- */

/* What a call speaks, and a mode for it. */
static const struct kind {
    uint8_t flags;
    const char *name, *remedy;
} kinds[] = {
    {CALL_HTTP, "HTTP/1.1", "a status such as 503"},
    {CALL_HTTP | CALL_HTTP2, "HTTP/2", "a status such as 503"},
    {CALL_GRPC, "gRPC", "a code such as grpc:14"},
};

static bool is_kind(const struct call *c, const struct kind *k)
{
    return (c->flags & (CALL_HTTP | CALL_HTTP2 | CALL_GRPC)) == k->flags;
}

static bool takes_any(const struct campaign *c, const struct call *call)
{
    bool takes = call->flags & CALL_EXEMPT;
    for (uint32_t k = 0; k < c->opt.search.n_modes && !takes; k++)
        takes = call_takes(call, c->opt.search.modes[k]);
    return takes;
}

static void note_calls(struct campaign *c, const struct trace *trace, const struct kind *k)
{
    uint32_t without = 0;
    for (uint32_t i = 1; i < trace->calls.n; i++)
        without += is_kind(&trace->calls.at[i], k) && !takes_any(c, &trace->calls.at[i]);
    if (!without)
        return;
    struct buf text = BUF_INIT(2000);
    buf_addf(&text, "%u %s %s no mode that fits: ", (unsigned)without, k->name,
             plural(without, "call has", "calls have"));
    for (uint32_t i = 0; i < c->opt.search.n_modes; i++) {
        buf_adds(&text, i ? ", " : "");
        mode_print(c->opt.search.modes[i], &text);
        buf_addf(&text, " needs %s", need_of(c->opt.search.modes[i]));
    }
    buf_addf(&text, ". Add %s to `modes`", k->remedy);
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

/* ---- modes without a call ---- */

/* Statuses and codes are given side by side, for systems that speak both: they are no surprise. */
static bool is_surprise(const struct campaign *c, const struct trace *trace, mode m)
{
    bool taken = mode_act(m) == ACT_ANSWER;
    uint32_t open = 0;
    for (uint32_t i = 1; i < trace->calls.n && !taken; i++) {
        const struct call *call = &trace->calls.at[i];
        open += !(call->flags & CALL_EXEMPT) && takes_any(c, call);
        taken = !(call->flags & CALL_EXEMPT) && call_takes(call, m);
    }
    return !taken && open > 0; /* else the calls are told about */
}

static void note_mode(struct campaign *c, const struct trace *trace, mode m)
{
    if (!is_surprise(c, trace, m))
        return;
    struct buf text = BUF_INIT(400);
    buf_adds(&text, "mode ");
    mode_print(m, &text);
    buf_addf(&text,
             " was not tried: it needs %s, which no call speaks that was seen without faults",
             need_of(m));
    if (mode_rows[mode_kind(m)].at == AT_HTTP2)
        buf_addf(&text, ". In HTTP/1.1 the mode %s does the same",
                 mode_act(m) == ACT_GOAWAY ? "close" : "reset");
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

void campaign_check_modes(struct campaign *c, const struct trace *trace)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        note_calls(c, trace, &kinds[i]);
    for (uint32_t i = 0; i < c->opt.search.n_modes; i++)
        note_mode(c, trace, c->opt.search.modes[i]);
}

/* ---- calls that only chance tells apart ---- */

static void note_equal(struct campaign *c, const struct overlap_equal *e)
{
    const struct names *names = c->opt.names;
    const struct element *by = uid_element(names, e->handler);
    const struct element *el = &names->elements.at[e->element];
    struct buf text = BUF_INIT(4000);
    buf_addf(&text, "%.*s makes %u equal calls to %.*s %.*s at the same time (in %.*s)",
             SLICE_ARG(names_text(names, by->service)), (unsigned)e->most,
             SLICE_ARG(names_text(names, el->service)), SLICE_ARG(names_text(names, el->interface)),
             SLICE_ARG(names_text(names, by->interface)));
    buf_adds(&text, ": chance decides which of them a fault hits, so what depends on that may be "
                    "seen only in part. ");
    if (e->differ && c->opt.config->identify.payload != PAYLOAD_AUTO)
        buf_adds(&text, "They ask for different things: identify: { payload: auto } tells them "
                        "apart where those are the same in every run");
    else
        buf_addf(&text,
                 "%sLet them carry something that differs between them and is the same in "
                 "every run, such as a query parameter",
                 e->differ ? "What they ask for differs from run to run, or was not seen without "
                             "faults. "
                           : "");
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}

void campaign_note_equal(struct campaign *c)
{
    for (uint32_t i = 0; i < c->overlaps.equal.n; i++)
        if (c->overlaps.equal.at[i].together)
            note_equal(c, &c->overlaps.equal.at[i]);
}
