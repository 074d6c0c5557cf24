/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a session from its beginning to its end, and outfox ui: the page of the campaign that is
 * stored. */
#include "cmd/ui.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/token.h"

static const int64_t IDLE_NS = SECONDS(60), FAREWELL_NS = MS(250);

/* ---- beginning and end ---- */

int ui_check(const struct args *args)
{
    struct err e = {0};
    uint64_t port;
    const char *file = args->n_positional ? args->positional[0] : NULL;
    const char *given = args->listen       ? "--listen"
                        : args->token_file ? "--token-file"
                        : args->tls_cert   ? "--tls-cert"
                        : args->tls_key    ? "--tls-key"
                                           : NULL;
    if (given && !args->ui)
        err_set(&e, 0, 0, "%s is for the live page; add --ui", given);
    else if (args->tls_key && !args->tls_cert)
        err_set(&e, 0, 0, "--tls-key needs --tls-cert");
    else if (args->ui && file && slice_to_u64(slice_of(file), UINT16_MAX, &port) &&
             access(file, F_OK))
        err_set(&e, 0, 0, "there is no file %s; for a port write --listen 127.0.0.1:%s", file,
                file);
    return e.text[0] ? cmd_fail(&e) : 0;
}

/* Who knows it may ask; NULL: nobody has to. */
static int read_token(struct session *s, const char **out, struct err *e)
{
    const char *file = s->args->token_file;
    slice token;
    *out = getenv("OUTFOX_TOKEN");
    if (*out && !**out)
        *out = NULL;
    if (file && token_read(file, "--token-file", &s->arena, &token, e))
        return -1;
    if (file)
        *out = token.p;
    return 0;
}

int ui_open(struct session *s, bool stays, struct err *e)
{
    struct ui *ui = s->ui = mem_zero(sizeof *ui);
    const struct args *args = s->args;
    const char *token;
    *ui = (struct ui){.s = s, .stays = stays, .version = 1};
    ui->max_runs = args->max_runs ? args->max_runs : s->config->search.max_runs;
    ui->max_time_ns = args->max_time_ns ? args->max_time_ns : s->config->search.budget_ns;
    int failed = loop_init(&ui->loop, NULL);
    if (failed) {
        mem_free(ui);
        s->ui = NULL;
        (void)err_set(e, 0, 0, "no event loop: %s", uv_strerror(failed));
        return -1;
    }
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        vec_push(&ui->ended, false);
        vec_push(&ui->titled, false);
        vec_push(&ui->views, (struct campaign_view){0});
        vec_push(&ui->scenarios, session_scenario(s, i));
    }
    ui->host = ui_host(ui);
    if (read_token(s, &token, e))
        return -1;
    struct api_options o = {.loop = &ui->loop,
                            .host = &ui->host,
                            .listen = args->listen,
                            .what = "--listen",
                            .token = token,
                            .tls_cert = args->tls_cert,
                            .tls_key = args->tls_key,
                            .system = s->config->name.p,
                            .file = s->config->source,
                            .version = outfox_version,
                            .n_scenarios = ui->scenarios.n,
                            .scenarios = ui->scenarios.at,
                            .names = &s->names,
                            .faultloads = &s->faultloads};
    return api_new(&o, &ui->api, e);
}

static void on_farewell(struct timer *t)
{
    loop_stop(&OWNER(t, struct ui, idle)->loop);
}

void ui_close(struct ui *ui)
{
    if (!ui)
        return;
    timer_stop(&ui->loop, &ui->idle);
    if (ui->api && api_listeners(ui->api)) { /* whoever listens hears the end */
        ui->idle.fire = on_farewell;
        timer_start(&ui->loop, &ui->idle, clock_ns() + FAREWELL_NS);
        loop_run(&ui->loop);
    }
    api_free(ui->api);
    loop_deinit(&ui->loop);
    replay_free_all(ui);
    for (uint32_t i = 0; i < ui->views.n; i++)
        campaign_view_deinit(&ui->views.at[i]);
    vec_deinit(&ui->views);
    vec_deinit(&ui->ended);
    vec_deinit(&ui->titled);
    vec_deinit(&ui->scenarios);
    mem_free(ui);
}

void ui_tell(const struct ui *ui)
{
    fprintf(stderr, "outfox: the page is at %s\n", api_address(ui->api));
    if (api_is_everywhere(ui->api))
        fprintf(stderr, "outfox: from other machines, use the name or address of this one in it\n");
}

/* ---- what happens ---- */

void ui_event(struct ui *ui, const struct event *event)
{
    if (!ui || ui->muted)
        return;
    if (event->type == EVENT_AGAIN)
        for (uint32_t i = 0; i < ui->titled.n; i++)
            ui->titled.at[i] = false;
    if (event->type != EVENT_RUN_BEGINS && event->type != EVENT_WAITING)
        ui->version++;
    api_event(ui->api, event);
}

void ui_ready(struct ui *ui)
{
    if (!ui)
        return;
    ui->target = drive_target(ui->s->live);
    if (ui->phase == API_STARTING)
        ui->phase = API_RUNNING;
    api_changed(ui->api);
    replay_next(ui);
}

void ui_gone(struct ui *ui)
{
    if (!ui || !ui->target.live)
        return;
    replay_take_back(ui);
    ui->target = (struct target){0};
    api_changed(ui->api);
}

void ui_begins(struct ui *ui, uint32_t i)
{
    if (!ui)
        return;
    ui->served = ui->more = false;
    ui->phase = API_RUNNING;
    ui->ended.at[i] = false;
    ui->version++;
}

static void tell_api(void *ctx, const struct event *event)
{
    struct ui *ui = ctx;
    api_event(ui->api, event);
}

void ui_ended(struct ui *ui, uint32_t i)
{
    if (!ui)
        return;
    ui->ended.at[i] = true;
    ui->version++;
    summary_tell(reports_summary(ui->s, i), &(struct event_sink){ui, tell_api});
}

void ui_rests(struct ui *ui, const char *error)
{
    if (!ui)
        return;
    ui->served = true;
    ui->steer.stop = ui->steer.paused = false;
    ui->phase = error ? API_FAILED : API_FINISHED;
    ui->error = error ? arena_copy(&ui->s->arena, error, strlen(error)) : NULL;
    ui->version++;
    for (uint32_t i = 0; i < ui->ended.n; i++)
        if (!ui->ended.at[i])
            ui_ended(ui, i);
    api_changed(ui->api);
}

/* ---- serving ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    struct ui *ui = handle->data;
    loop_batch(&ui->loop);
    if (ui->signal)
        _exit(128 + number);
    ui->signal = number;
    ui->steer.stay = false;
    loop_stop(&ui->loop);
    steer_poke(&ui->steer);
}

static void on_idle(struct timer *t)
{
    struct ui *ui = OWNER(t, struct ui, idle);
    if (replay_waits(ui)) {
        timer_start(&ui->loop, t, clock_ns() + IDLE_NS);
        return;
    }
    ui->steer.stay = false;
    steer_poke(&ui->steer);
}

/* With the system up, until it is idle for long, or somebody wants something else. */
static void serve_live(struct ui *ui)
{
    struct session *s = ui->s;
    struct err e = {0};
    if (!s->live) {
        int code = session_start(s, &e);
        if (code) {
            if (!e.text[0])
                err_set(&e, 0, 0, "it was interrupted");
            replay_fail(ui, &e);
            return;
        }
        ui_ready(ui);
    }
    ui->steer.stay = true;
    ui->idle.fire = on_idle;
    timer_start(&ui->loop, &ui->idle, clock_ns() + IDLE_NS);
    if (drive(s->live, NULL, 0, &ui->steer, &e) == STATUS_FAILED)
        replay_fail(ui, &e);
    timer_stop(&ui->loop, &ui->idle);
    if (ui->more && !live_signal(s->live))
        return; /* the campaigns go on with it */
    ui->signal = ui->signal ? ui->signal : live_signal(s->live);
    session_end(s);
}

bool ui_serve(struct ui *ui)
{
    ui->signal = 0;
    (void)uv_signal_init(&ui->loop.uv, &ui->on_int);
    (void)uv_signal_init(&ui->loop.uv, &ui->on_term);
    ui->on_int.data = ui->on_term.data = ui;
    (void)uv_signal_start(&ui->on_int, on_signal, SIGINT);
    (void)uv_signal_start(&ui->on_term, on_signal, SIGTERM);
    while (!ui->signal && !ui->more) {
        if (ui->s->live || replay_waits(ui))
            serve_live(ui);
        else
            loop_run(&ui->loop);
    }
    uv_close((uv_handle_t *)&ui->on_int, NULL);
    uv_close((uv_handle_t *)&ui->on_term, NULL);
    (void)uv_run(&ui->loop.uv, UV_RUN_NOWAIT);
    return ui->more && !ui->signal;
}

/* ---- the verb ---- */

static int serve_stored(struct session *s, struct err *e)
{
    s->jobs = 1;
    int code = session_take_up(s, e);
    if (code)
        return code;
    if (ui_open(s, true, e))
        return EXIT_ENVIRONMENT;
    for (uint32_t i = 0; i < s->campaigns.n; i++)
        api_event(s->ui->api, &(struct event){.type = EVENT_CAMPAIGN,
                                              .scenario = session_scenario(s, i),
                                              .system = s->config->name.p,
                                              .file = s->config->source,
                                              .modes = "",
                                              .order = "",
                                              .resumed = true});
    ui_rests(s->ui, NULL);
    ui_tell(s->ui);
    (void)ui_serve(s->ui);
    return EXIT_OK; /* it is meant to be ended this way */
}

int cmd_ui(const struct args *args)
{
    struct args with = *args;
    with.ui = true;
    int code = ui_check(&with);
    return code ? code : session_do(args, args->positional[0], false, serve_stored);
}
