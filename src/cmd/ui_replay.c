/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays that a page asks for: one after the other, in the turn that drive gives them. */
#include "cmd/ui.h"

enum { WAITING_MAX = 20, KEPT_MAX = 100 };

static void replay_free(struct ui_replay *r)
{
    campaign_free(r->campaign);
    contract_free(r->contract);
    replay_deinit(&r->replay);
    vec_deinit(&r->subject.patterns);
    buf_deinit(&r->text);
    mem_free(r);
}

void replay_free_all(struct ui *ui)
{
    for (uint32_t i = 0; i < ui->replays.n; i++)
        replay_free(ui->replays.at[i]);
    vec_deinit(&ui->replays);
}

static bool is_open(const struct ui_replay *r)
{
    return r->state == API_REPLAY_WAITING || r->state == API_REPLAY_RUNNING;
}

bool replay_waits(const struct ui *ui)
{
    for (uint32_t i = 0; i < ui->replays.n; i++)
        if (is_open(ui->replays.at[i]))
            return true;
    return false;
}

/* ---- what is to be replayed ---- */

struct wanted_run {
    uint64_t number;
    faultload faultload;
    bool found;
};

static int take_run(void *ctx, const struct run *run, struct err *e)
{
    struct wanted_run *w = ctx;
    (void)e;
    w->found = run->number == w->number;
    w->faultload = run->faultload;
    return 1;
}

/* "3", "F3" or "checkout/3". */
static bool read_id(slice text, uint32_t *out)
{
    size_t at = text.n;
    uint64_t id;
    while (at > 0 && text.p[at - 1] >= '0' && text.p[at - 1] <= '9')
        at--;
    if (!slice_to_u64(slice_from(text, at), UINT32_MAX, &id) || !id)
        return false;
    *out = (uint32_t)id;
    return at == 0 || text.p[at - 1] == '/' || text.p[at - 1] == 'F';
}

static enum api_result find_subject(struct ui *ui, const struct api_command *c,
                                    struct replay_subject *out, struct err *e)
{
    struct session *s = ui->s;
    uint32_t id;
    *out = (struct replay_subject){.oracle = ORACLES};
    if (c->finding.p) {
        if (read_id(c->finding, &id) &&
            subject_finding(s, c->scenario, ui_summary(ui, c->scenario), id, out))
            return API_OK;
        err_set(e, 0, 0, "there is no finding \"%.*s\"", SHORT(c->finding));
        return API_BAD;
    }
    if (c->run) {
        struct wanted_run w = {.number = c->run};
        struct err why = {0};
        struct arena keep = {0};
        if (campaign_runs_from(s->campaigns.at[c->scenario], c->run, &keep, take_run, &w, &why) < 0)
            w.found = false;
        arena_deinit(&keep);
        out->campaign = c->scenario;
        out->faultload = w.faultload;
        if (!w.found)
            err_set(e, 0, 0, "there is no run %llu", (unsigned long long)c->run);
        return w.found ? API_OK : API_BAD;
    }
    if (subject_faults(s, c->faultload, out, e)) {
        vec_deinit(&out->patterns);
        return API_BAD;
    }
    out->campaign = c->scenario;
    return API_OK;
}

/* Those that are over go, the oldest first. */
static void forget_old(struct ui *ui)
{
    for (uint32_t i = 0; ui->replays.n >= KEPT_MAX && i < ui->replays.n;) {
        if (is_open(ui->replays.at[i])) {
            i++;
            continue;
        }
        replay_free(ui->replays.at[i]);
        for (uint32_t k = i + 1; k < ui->replays.n; k++)
            ui->replays.at[k - 1] = ui->replays.at[k];
        ui->replays.n--;
    }
}

enum api_result replay_ask(struct ui *ui, const struct api_command *c, uint64_t *id, struct err *e)
{
    struct replay_subject subject;
    uint32_t open = 0;
    if (c->scenario >= ui->s->campaigns.n) {
        err_set(e, 0, 0, "there is no scenario %u", (unsigned)c->scenario);
        return API_BAD;
    }
    for (uint32_t i = 0; i < ui->replays.n; i++)
        open += is_open(ui->replays.at[i]);
    if (open >= WAITING_MAX) {
        err_set(e, 0, 0, "%d replays wait already; ask again when one of them is done",
                WAITING_MAX);
        return API_NOT_NOW;
    }
    enum api_result result = find_subject(ui, c, &subject, e);
    if (result != API_OK)
        return result;
    struct ui_replay *r = mem_zero(sizeof *r);
    *r = (struct ui_replay){.id = *id = ++ui->last_replay,
                            .state = API_REPLAY_WAITING,
                            .subject = subject,
                            .text = BUF_INIT(SIZE_MAX)};
    forget_old(ui);
    vec_push(&ui->replays, r);
    replay_next(ui);
    return API_OK;
}

/* ---- in turn ---- */

static void end(struct ui *ui, struct ui_replay *r, const struct err *why)
{
    r->state = why ? API_REPLAY_FAILED : API_REPLAY_DONE;
    if (why)
        r->why = *why;
    campaign_free(r->campaign);
    contract_free(r->contract);
    replay_deinit(&r->replay);
    r->campaign = NULL;
    r->contract = NULL;
    api_replayed(ui->api, r->id);
}

static void on_replayed(void *ctx, struct campaign *c, enum status status, const struct err *why)
{
    struct ui *ui = ctx;
    struct err stopped = {0};
    uint32_t i = 0;
    while (ui->replays.at[i]->campaign != c)
        i++;
    struct ui_replay *r = ui->replays.at[i];
    if (status == STATUS_OK)
        replay_json(ui->s, c, &r->subject, &r->replay, &r->text);
    else if (status != STATUS_FAILED)
        err_set(&stopped, 0, 0, "it was interrupted");
    end(ui, r, status == STATUS_OK ? NULL : status == STATUS_FAILED ? why : &stopped);
    replay_next(ui);
}

/* Is what is replayed judged by a contract? */
static int load_contract(struct ui *ui, struct ui_replay *r, struct err *e)
{
    struct session *s = ui->s;
    if (!s->args->contract && !contracts_were_used(s))
        return 0;
    return contracts_load_one(s, r->subject.campaign, true, &r->contract, e);
}

void replay_next(struct ui *ui)
{
    struct err e = {0};
    struct ui_replay *r = NULL;
    for (uint32_t i = 0; i < ui->replays.n && !r; i++)
        if (ui->replays.at[i]->state == API_REPLAY_WAITING)
            r = ui->replays.at[i];
    if (!r || ui->steer.replay)
        return;
    loop_stop(&ui->loop); /* whoever serves without a system starts one */
    if (!ui->s->live || !ui->target.live)
        return;
    if (load_contract(ui, r, &e)) {
        end(ui, r, &e);
        replay_next(ui);
        return;
    }
    r->campaign = session_replayer(ui->s, r->subject.campaign, r->contract);
    if (ui->s->store && campaign_recall(r->campaign, &e) < 0)
        e = (struct err){0}; /* what cannot be read is learned anew */
    r->state = API_REPLAY_RUNNING;
    r->replay = (struct replay){.mend = true};
    campaign_replay(r->campaign, &ui->target, r->subject.faultload, r->subject.patterns.at,
                    r->subject.patterns.n, &r->replay);
    ui->steer.replayed = on_replayed;
    ui->steer.ctx = ui;
    ui->steer.replay = r->campaign;
    steer_poke(&ui->steer);
}

void replay_fail(struct ui *ui, const struct err *why)
{
    for (uint32_t i = 0; i < ui->replays.n; i++)
        if (is_open(ui->replays.at[i]))
            end(ui, ui->replays.at[i], why);
}

void replay_take_back(struct ui *ui)
{
    for (uint32_t i = 0; i < ui->replays.n && ui->steer.replay; i++) {
        struct ui_replay *r = ui->replays.at[i];
        if (r->campaign != ui->steer.replay)
            continue;
        campaign_free(r->campaign);
        contract_free(r->contract);
        r->campaign = NULL;
        r->contract = NULL;
        r->state = API_REPLAY_WAITING;
    }
    ui->steer.replay = NULL;
}
