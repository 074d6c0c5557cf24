/* SPDX-License-Identifier: Apache-2.0
 *
 * What the api asks of a session: documents, its state, and what is to be done. All of it is answered
 * at once; that it is not asked for too much is the api's business. */
#include "cmd/ui.h"
#include "page/document.h"
#include "report/compare.h"

/* ---- what the campaigns came to ---- */

const struct summary *ui_summary(struct ui *ui, uint32_t i)
{
    struct session *s = ui->s;
    struct campaign *c = s->campaigns.at[i];
    if (ui->served || ui->ended.at[i])
        return reports_summary(s, i);
    if (!ui->titled.at[i])
        reports_title(s, i);
    ui->titled.at[i] = true;
    campaign_look(c, &ui->views.at[i]);
    struct summary *out = &ui->views.at[i].summary;
    if (!out->runs_by_size.n)
        out->stopped = "not-run";
    return out;
}

/* ---- documents ---- */

static uint64_t version(void *ctx, const struct api_document *d)
{
    const struct ui *ui = ctx;
    const struct ledger *ledger =
        d->scenario < ui->s->ledgers.n ? ui->s->ledgers.at[d->scenario] : NULL;
    switch (d->kind) {
    case API_REPORT:
    case API_DEPENDENCIES:
    case API_EXPLANATIONS: return ui->version;
    case API_HANDLERS:
    case API_RUNS: return ledger ? ledger_version(ledger) + 1 : 1;
    case API_CALLS: /* a page that is full stays as it is */
        return ledger && (uint64_t)(d->page + 1) * DOCUMENT_PAGE > ledger_runs(ledger)
                   ? ledger_version(ledger) + 1
                   : 1;
    case API_EXPLAIN: return 0;
    case API_MODES:
    case API_ORACLES:
    case API_VALIDATE:
    case API_VERSION:
    case API_KINDS: break;
    }
    return 1;
}

static enum api_result print_validate(struct ui *ui, struct buf *out, struct err *e)
{
    struct campaign_config *config; /* as the file is now */
    if (campaign_config_load(ui->s->file, &config, e))
        return API_BROKEN;
    validate_json(config, out);
    campaign_config_free(config);
    return API_OK;
}

static void add_name(const struct api_document *d, struct buf *out)
{
    static const char *const names[API_KINDS] = {
        [API_REPORT] = "report",     [API_DEPENDENCIES] = "dependencies",
        [API_HANDLERS] = "handlers", [API_RUNS] = "runs",
        [API_CALLS] = "runs",        [API_EXPLANATIONS] = "explanations",
        [API_MODES] = "modes",       [API_ORACLES] = "oracles",
    };
    buf_adds(out, names[d->kind]);
    if (d->kind == API_HANDLERS || d->kind == API_RUNS || d->kind == API_CALLS ||
        d->kind == API_EXPLANATIONS)
        buf_addf(out, "/%u", (unsigned)d->scenario);
    if (d->kind == API_CALLS)
        buf_addf(out, "/%u", (unsigned)d->page);
}

static enum api_result print_document(struct ui *ui, const struct api_document *d, struct buf *out,
                                      struct err *e)
{
    struct session *s = ui->s;
    VEC(const struct summary *) scenarios = {0};
    struct buf name = BUF_INIT(DOCUMENT_NAME_MAX);
    struct comparison comparison = {0};
    struct arena compared = {0};
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < s->campaigns.n; i++)
        vec_push(&scenarios, ui_summary(ui, i));
    struct report_source source = reports_source(s, scenarios.at, ui->error);
    add_name(d, &name);
    if (d->kind == API_REPORT && s->earlier) {
        status = reports_compare(s, &source, &compared, &comparison, e) ? STATUS_FAILED : STATUS_OK;
        source.comparison = &comparison;
    }
    if (status == STATUS_OK)
        status = document_print(&source, buf_slice(&name), d->from, out, e);
    if (status == STATUS_NONE)
        err_set(e, 0, 0, "there is no document %s", buf_text(&name));
    compare_deinit(&comparison);
    arena_deinit(&compared);
    buf_deinit(&name);
    vec_deinit(&scenarios);
    return status == STATUS_OK ? API_OK : status == STATUS_NONE ? API_NONE : API_BROKEN;
}

static enum api_result document(void *ctx, const struct api_document *d, struct buf *out,
                                struct err *e)
{
    struct ui *ui = ctx;
    if (d->kind == API_VERSION) {
        version_json(out);
        return API_OK;
    }
    if (d->kind == API_VALIDATE)
        return print_validate(ui, out, e);
    if (d->kind == API_EXPLAIN) {
        if (d->scenario < ui->s->campaigns.n)
            return explain_json(ui->s, d->scenario, d->faultload, out, e) ? API_BAD : API_OK;
        err_set(e, 0, 0, "there is no scenario %u", (unsigned)d->scenario);
        return API_BAD;
    }
    return print_document(ui, d, out, e);
}

/* ---- state ---- */

static bool is_going(const struct ui *ui)
{
    return ui->phase == API_STARTING || ui->phase == API_RUNNING;
}

/* Is there anything left that another budget would let it do? */
static bool is_open(const struct ui *ui)
{
    bool open = false;
    for (uint32_t i = 0; i < ui->s->campaigns.n; i++)
        open |= !campaign_complete(ui->s->campaigns.at[i]);
    return open && ui->stays && ui->s->args->ui && ui->phase == API_FINISHED;
}

static uint32_t commands(const struct ui *ui)
{
    bool going = is_going(ui) && !ui->steer.stop;
    uint32_t out = 1u << API_ORACLE;
    if (going)
        out |= 1u << API_STOP | 1u << (ui->steer.paused ? API_RESUME : API_PAUSE);
    if (going || is_open(ui))
        out |= 1u << API_BUDGET;
    if ((going || ui->stays) && ui->phase != API_FAILED)
        out |= 1u << API_REPLAY;
    return out;
}

static void state(void *ctx, struct api_state *out)
{
    struct ui *ui = ctx;
    for (uint32_t i = 0; i < ORACLES; i++)
        ui->oracles[i] =
            (struct api_oracle){oracle_rows[i].name, ui->s->judging.settings.severity[i]};
    *out = (struct api_state){.phase = ui->phase,
                              .error = ui->error,
                              .ready = ui->served || ui->target.live,
                              .commands = commands(ui),
                              .has_bounds = ui->has_bounds,
                              .max_runs = ui->max_runs,
                              .max_time_ns = ui->max_time_ns,
                              .n_oracles = ORACLES,
                              .oracles = ui->oracles};
    if (is_going(ui) && ui->steer.stop)
        out->phase = API_STOPPING;
    else if (is_going(ui) && ui->steer.paused)
        out->phase = API_PAUSED;
}

/* ---- commands ---- */

static enum api_result set_budget(struct ui *ui, const struct api_command *c)
{
    if (c->has_runs)
        ui->max_runs = c->max_runs;
    if (c->has_time)
        ui->max_time_ns = c->max_time_ns;
    ui->has_bounds = true;
    for (uint32_t i = 0; i < ui->s->campaigns.n; i++)
        campaign_set_budget(ui->s->campaigns.at[i], ui->max_runs, ui->max_time_ns);
    if (!is_going(ui)) {
        ui->more = true;
        ui->steer.stay = false;
        loop_stop(&ui->loop);
    }
    return API_OK;
}

static enum api_result set_oracle(struct ui *ui, const struct api_command *c, struct err *e)
{
    enum oracle oracle = oracle_find(c->oracle);
    if (oracle == ORACLES) {
        const char *names[ORACLES];
        for (uint32_t i = 0; i < ORACLES; i++)
            names[i] = oracle_rows[i].name;
        err_set(e, 0, 0, "there is no oracle \"%.*s\"; /api/v1/oracles lists them%s",
                SHORT(c->oracle), err_hint(c->oracle, names, ORACLES).text);
        return API_NONE;
    }
    ui->s->judging.settings.severity[oracle] = c->severity;
    for (uint32_t i = 0; i < ui->s->campaigns.n; i++)
        campaign_judge_again(ui->s->campaigns.at[i]);
    ui->version++;
    return API_OK;
}

static enum api_result command(void *ctx, const struct api_command *c, uint64_t *id, struct err *e)
{
    struct ui *ui = ctx;
    enum api_result result = API_OK;
    if (!(commands(ui) >> c->kind & 1)) {
        struct api_state now;
        state(ui, &now);
        err_set(e, 0, 0, "the campaign is %s, so this cannot be asked of it now: %s",
                now.phase == API_FINISHED   ? "finished"
                : now.phase == API_FAILED   ? "at its end"
                : now.phase == API_STOPPING ? "stopping"
                : now.phase == API_PAUSED   ? "paused"
                                            : "under way",
                api_command_names[c->kind]);
        return API_NOT_NOW;
    }
    switch (c->kind) {
    case API_PAUSE:
    case API_RESUME: ui->steer.paused = c->kind == API_PAUSE; break;
    case API_STOP: ui->steer.stop = true; break;
    case API_BUDGET: result = set_budget(ui, c); break;
    case API_ORACLE: return set_oracle(ui, c, e);
    case API_REPLAY: return replay_ask(ui, c, id, e);
    case API_COMMANDS: break;
    }
    steer_poke(&ui->steer);
    return result;
}

static enum api_replay replay(void *ctx, uint64_t id, struct buf *out, struct err *e)
{
    const struct ui *ui = ctx;
    for (uint32_t i = 0; i < ui->replays.n; i++) {
        const struct ui_replay *r = ui->replays.at[i];
        if (r->id != id)
            continue;
        if (r->state == API_REPLAY_DONE)
            buf_add(out, buf_slice(&r->text));
        if (r->state == API_REPLAY_FAILED)
            *e = r->why;
        return r->state;
    }
    return API_REPLAY_NONE;
}

struct api_host ui_host(struct ui *ui)
{
    return (struct api_host){.ctx = ui,
                             .state = state,
                             .version = version,
                             .document = document,
                             .command = command,
                             .replay = replay};
}
