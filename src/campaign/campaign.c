/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign does, told from top to bottom: it learns, keeps as many runs under way as there are
 * jobs, looks at what has ended, one by one (campaign_trust.c), and confirms what it found.
 *
 *   search_next --> ORDER_RUN --> ... ORDER_WAIT --> verify --> store --> search_observe
 *
 * The story is a fiber: where it wants something done, it lets go (campaign_want), and whoever drives
 * the campaign sees an order. So steps of a few lines need no states of their own, although they are
 * made of runs, and a page between them can be turned by somebody else. */
#include "campaign/campaign_int.h"
#include "campaign/explore.h"
#include "campaign/since.h"

#include "base/clock.h"

static void campaign_init(struct campaign *c, const struct campaign_options *options)
{
    *c = (struct campaign){.opt = *options};
    c->spec = &options->config->scenarios.at[options->scenario];
    c->jobs = options->jobs && !config_renewed(options->config) && !options->config->plan
                  ? options->jobs
                  : 1;
    c->share = options->share ? options->share : &c->alone;
    c->search = search_new(options->names, options->faultloads, &options->search);
    if (options->since)
        search_verify(c->search, options->since->parts.at[options->part].verify.at,
                      options->since->parts.at[options->part].verify.n);
    c->tally = tally_new(c->search, options->names, options->faultloads, &c->summary);
    c->summary.names = options->names;
    c->summary.faultloads = options->faultloads;
    if (options->judging) {
        struct judge_options judging = {.names = options->names,
                                        .faultloads = options->faultloads,
                                        .settings = &options->judging->settings,
                                        .wires = options->judging->wires.at,
                                        .n_wires = options->judging->wires.n,
                                        .limit_ns = c->spec->limit_ns};
        c->judge = judge_new(&judging);
    }
}

struct campaign *campaign_new(const struct campaign_options *options)
{
    struct campaign *c = mem_zero(sizeof *c);
    campaign_init(c, options);
    return c;
}

static void campaign_deinit(struct campaign *c)
{
    for (uint32_t i = 0; i < JOBS_MAX; i++)
        aim_deinit(&c->slot[i].aim);
    campaign_drop_landed(c);
    tally_free(c->tally);
    judge_free(c->judge);
    lessons_drop(c->lessons);
    mem_free(c->usage);
    search_free(c->search);
    journal_free(c->journal);
    summary_deinit(&c->summary);
    overlaps_deinit(&c->overlaps);
    vec_deinit(&c->known);
    vec_deinit(&c->blasts);
    map_deinit(&c->known_at);
    map_deinit(&c->told);
    map_deinit(&c->seen.reached);
    vec_deinit(&c->seen.links.list);
    mem_free(c->seen.direct);
    arena_deinit(&c->keep);
    arena_deinit(&c->held);
}

void campaign_free(struct campaign *c)
{
    if (!c)
        return;
    fiber_free(c->story);
    campaign_deinit(c);
    mem_free(c);
}

/* As if nothing had been restored. */
static void campaign_reset(struct campaign *c)
{
    struct campaign_options options = c->opt;
    campaign_deinit(c);
    campaign_init(c, &options);
}

/* ---- telling ---- */

static bool is_on(const struct campaign *c, enum oracle oracle)
{
    return !c->opt.judging || c->opt.judging->settings.severity[oracle] != SEVERITY_OFF;
}

/* How many findings there are so far, those of oracles included. */
static uint64_t findings_so_far(const struct campaign *c)
{
    uint64_t n = tally_findings(c->tally) + (is_on(c, ORACLE_BLAST_RADIUS) ? c->blasts.n : 0);
    for (uint32_t i = 0; i < ORACLES; i++)
        if (c->opt.judging && c->opt.judging->settings.severity[i] == SEVERITY_FINDING)
            n += c->remarks_told[i];
    return n;
}

void campaign_send(struct campaign *c, struct event event)
{
    if (!c->opt.sink.take)
        return;
    event.scenario = c->spec->name.p;
    event.at_ns = c->start_ns ? clock_ns() - c->start_ns : 0;
    if (event.type == EVENT_RUN || event.type == EVENT_RUN_BEGINS) {
        search_progress(c->search, &event.runs, &event.queued);
        event.found = findings_so_far(c);
        event.failed = c->summary.failed_runs;
    }
    event_send(&c->opt.sink, &event);
}

void campaign_send_begin(struct campaign *c, bool resumed)
{
    const struct search_options *search = &c->opt.search;
    struct buf modes = BUF_INIT(1 << 16);
    if (c->begun)
        return;
    c->begun = true;
    for (uint32_t i = 0; i < search->n_modes; i++) {
        buf_adds(&modes, i ? ", " : "");
        mode_print(search->modes[i], &modes);
    }
    campaign_send(c, (struct event){.type = EVENT_CAMPAIGN,
                                    .system = c->opt.config->name.p,
                                    .file = c->opt.config->source,
                                    .modes = buf_text(&modes),
                                    .order = order_rows[search->order].name,
                                    .max_runs = c->opt.max_runs,
                                    .max_time_ns = c->opt.max_time_ns,
                                    .resumed = resumed});
    buf_deinit(&modes);
}

void campaign_send_level(struct campaign *c)
{
    const struct summary_level *l = &vec_last(&c->summary.levels);
    campaign_send(
        c, (struct event){
               .type = EVENT_LEVEL, .name = l->service, .calls = l->calls, .text = l->level});
}

/* ---- runs ---- */

enum status campaign_want(struct campaign *c, struct order order, struct err *e)
{
    c->order = order;
    fiber_wait(c->story);
    if (c->answer.status == STATUS_FAILED && e)
        *e = c->answer.why;
    return c->answer.status;
}

bool campaign_is_over(const struct campaign *c)
{
    return c->stop || c->target->signal(c->target->live) ||
           (c->deadline_ns && clock_ns() >= c->deadline_ns);
}

/* By what, as of summary.stopped. */
static const char *over_by(const struct campaign *c)
{
    return c->stop || c->target->signal(c->target->live) ? "interrupt" : "time";
}

void campaign_order_run(struct campaign *c, const struct execution_order *run, bool alone)
{
    struct event event = {
        .type = EVENT_RUN_BEGINS, .purpose = run->purpose, .faultload = run->faultload};
    c->running++;
    (void)campaign_want(c, (struct order){ORDER_RUN, .run = *run, .alone = alone}, NULL);
    campaign_send(c, event); /* it may have been held back until now */
}

void campaign_run(struct campaign *c, const struct campaign *of, faultload f,
                  enum run_purpose purpose, bool alone)
{
    struct slot *slot = c->slot;
    while (slot->used)
        slot++;
    slot->used = true;
    slot->given = purpose == RUN_SEARCH ? f : FAULTLOAD_EMPTY;
    aim_set(&slot->aim, c->opt.names, c->opt.faultloads, f);
    struct execution_order run = {.scenario = of->opt.scenario,
                                  .faultload = f,
                                  .aim = &slot->aim,
                                  .purpose = purpose,
                                  .lessons = of->lessons,
                                  .learning = purpose == RUN_BASELINE,
                                  .limit_ns = campaign_limit(of, f, purpose),
                                  .user = slot};
    campaign_order_run(c, &run, alone || c->jobs == 1);
}

int campaign_take(struct campaign *c, const struct execution_result **out, struct err *e)
{
    enum status status = campaign_want(c, (struct order){.kind = ORDER_WAIT}, NULL);
    if (status != STATUS_OK)
        return status;
    const struct execution_result *r = *out = c->answer.result;
    struct slot *slot = r->order.user;
    c->running--;
    if (slot)
        slot->used = false;
    if (!r->broken)
        return 0;
    struct trace trace = r->run.trace;
    vec_deinit(&trace.calls);
    if (r->lesson)
        track_lesson_free(r->lesson);
    *e = r->why;
    return -1;
}

void campaign_abandon(struct campaign *c)
{
    (void)campaign_want(c, (struct order){.kind = ORDER_DROP}, NULL);
    c->running = 0;
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        if (c->slot[i].used && c->slot[i].given != FAULTLOAD_EMPTY)
            search_forget(c->search, c->slot[i].given);
        c->slot[i].used = false;
    }
    campaign_drop_landed(c);
}

int campaign_take_run(struct campaign *c, struct run *out, struct err *e)
{
    const struct execution_result *r;
    int status = campaign_take(c, &r, e);
    if (status)
        return status;
    *out = r->run;
    if (r->note)
        campaign_note(c, "%s", r->note);
    campaign_learn_late(c, &out->trace, r->late_ns);
    c->death_ns = r->death_ns;
    return 0;
}

int campaign_run_alone(struct campaign *c, faultload f, enum run_purpose purpose, struct run *out,
                       struct err *e)
{
    int status = campaign_heal(c, false, e);
    if (status)
        return status;
    if (purpose == RUN_CONFIRM)
        c->target->log_mark(c->target->live);
    campaign_run(c, c, f, purpose, true);
    status = campaign_take_run(c, out, e);
    if (status)
        return status;
    campaign_contract_judge(c, out);
    return purpose == RUN_CONFIRM ? campaign_keep_log(c, out, e) : 0;
}

int campaign_try(struct campaign *c, faultload f, enum run_purpose purpose, struct run *out,
                 struct err *e)
{
    *out = (struct run){0};
    int status = campaign_run_alone(c, f, purpose, out, e);
    if (status == 0)
        status = campaign_observe(c, out, e);
    vec_deinit(&out->trace.calls);
    return status;
}

void campaign_hold(struct arena *a, struct run *run)
{
    slice *answers = arena_alloc(a, (run->n_answers + 1) * sizeof *answers);
    run->body = slice_copy(a, run->body);
    for (uint32_t i = 0; i < run->n_answers; i++)
        answers[i] = slice_copy(a, run->answers[i]);
    run->answers = answers;
    if (run->verdict.detail)
        run->verdict.detail = arena_copy(a, run->verdict.detail, strlen(run->verdict.detail));
    if (run->event)
        run->event = arena_copy(a, run->event, strlen(run->event));
}

void campaign_title(const struct campaign *c, struct run *run)
{
    if (c->spec->is_command && run->trace.calls.n)
        run->trace.calls.at[0].seen = run->trace.calls.at[0].reply = run->verdict.status;
}

struct run campaign_tested(const struct run *run)
{
    struct run out = *run;
    out.trace = (struct trace){0};
    trace_copy_tested(&run->trace, &out.trace);
    return out;
}

struct known *campaign_known(struct campaign *c, faultload f)
{
    const uint32_t *at = map_get(&c->known_at, faultload_key(c->opt.faultloads, f));
    return at ? &c->known.at[*at] : NULL;
}

static void remember(struct campaign *c, const struct run *run)
{
    struct known *k = campaign_known(c, run->faultload);
    const char *why = run->verdict.pass ? NULL : run->verdict.why;
    c->since_check = run->purpose == RUN_CHECK ? 0 : c->since_check + (run->purpose == RUN_SEARCH);
    c->n_outlived += run->flags & RUN_OUTLIVED ? 1 : 0;
    for (uint32_t i = 1; i < run->trace.calls.n && run->flags & RUN_OUTLIVED && !c->outlived; i++)
        if (run->trace.calls.at[i].flags & CALL_OPEN)
            c->outlived =
                run->trace.calls.at[i].uid; /* the first that was still open, for the report */
    campaign_seen(c, run);
    campaign_learn_limit(c, run);
    campaign_learn_pause(c, run);
    if (!k) {
        map_set(&c->known_at, faultload_key(c->opt.faultloads, run->faultload), c->known.n);
        vec_push(&c->known,
                 (struct known){.faultload = run->faultload, .why = why, .number = run->number});
        k = &vec_last(&c->known);
    }
    if (run->purpose == RUN_CONFIRM) {
        k->tried = true;
        k->again = why;
    }
}

void campaign_absorb(struct campaign *c, struct run *run, bool restored)
{
    bool asked = run->purpose == RUN_BASELINE || run->purpose == RUN_SEARCH;
    overlaps_learn(&c->overlaps, c->opt.names, &run->trace);
    trace_align(&run->trace, &c->overlaps, c->opt.names);
    remember(c, run);
    struct run tested = campaign_tested(run);
    campaign_contract_note(c, &tested, restored);
    if (asked) { /* by the search */
        search_observe(c->search, run->faultload, &tested.trace, &run->verdict);
        campaign_journal_add(c, &tested);
        tally_run(c->tally, run);
        if (c->judge)
            judge_run(c->judge, &tested);
        campaign_ran(c, run->faultload);
    } else if (run->purpose == RUN_SHRINK) {
        tally_smaller(c->tally, run);
    } else if ((run->purpose == RUN_CHECK || run->purpose == RUN_CONFIRM) && c->judge) {
        judge_learn(c->judge, &tested);
    }
    vec_deinit(&tested.trace.calls);
    struct event event = event_of_run(run, c->search, asked);
    event.restored = restored;
    campaign_send(c, event);
}

int campaign_observe(struct campaign *c, struct run *run, struct err *e)
{
    run->number = ++c->number;
    if (campaign_keep(c, run, e)) /* as it was seen: what overlaps is learned from that */
        return -1;
    campaign_absorb(c, run, false);
    if (c->journal && journal_full(c->journal) && campaign_journal_keep(c, e))
        return -1;
    campaign_sample(c);
    return 0;
}

/* ---- the loop ---- */

static bool campaign_stopped(struct campaign *c)
{
    const char *by = NULL;
    c->share->found |= tally_findings(c->tally) || c->blasts.n;
    if (campaign_is_over(c))
        by = over_by(c);
    else if (c->opt.max_runs && c->share->explored >= c->opt.max_runs)
        by = "runs";
    else if (c->opt.fail_fast && c->share->found)
        by = "finding";
    else
        by = campaign_gets_nowhere(c);
    c->summary.stopped = by;
    return by != NULL;
}

/* Between runs: did anything come late, does the system still work, is there news? */
static int look_around(struct campaign *c, struct err *e)
{
    int status = campaign_look_late(c, false, e);
    if (status == 0)
        status = campaign_check(c, false, e);
    if (status == 0 && c->blasts.n > c->blasts_told) {
        c->blasts_told = c->blasts.n;
        status = campaign_announce(c, e);
    }
    if (status == 0 && c->opt.max_runs && c->share->explored >= c->opt.max_runs)
        campaign_drop_landed(c); /* the budget is for those that come before them */
    return status;
}

/* So many runs of its search may be under way: in a suite others are next to it. */
static uint32_t at_once(const struct campaign *c)
{
    return c->opt.search.suite ? 1 : c->jobs;
}

/* Waits for its turn, in a suite. False: it is to stop. */
static bool has_turn(struct campaign *c)
{
    return !c->opt.search.suite || campaign_stopped(c) ||
           campaign_want(c, (struct order){.kind = ORDER_TURN}, NULL) == STATUS_OK;
}

/* No run is under way. Is nothing left to be run, or is it to stop? In a suite, others may show what is to
 * be done here. */
static bool is_through(struct campaign *c, bool stopped)
{
    return stopped || (!campaign_is_late(c) && (!c->opt.search.suite || search_done(c->search)));
}

static int explore_on(struct campaign *c, struct err *e)
{
    faultload f;
    for (uint32_t healed = 0;;) {
        int status = c->running == 0 ? look_around(c, e) : 0;
        if (status)
            return status;
        while (c->running < at_once(c) && !campaign_is_due(c) && !campaign_is_late(c) &&
               has_turn(c) && !campaign_stopped(c) && search_next(c->search, &f)) {
            campaign_run(c, c, f, RUN_SEARCH, false);
            c->share->explored++;
        }
        if (c->running) {
            healed = 0;
            status = campaign_step(c, e);
            if (status)
                return status;
            continue;
        }
        bool stopped = campaign_stopped(c);
        if (!stopped && campaign_is_due(c)) {
            if (++healed == HEALS_MAX)
                return err_set(e, 0, 0, "a service keeps dying without being called; see its log");
        } else if (is_through(c, stopped)) {
            if (campaign_is_over(c))
                return 0;
            status = stopped ? 0 : campaign_look_late(c, true, e);
            if (status == 0)
                status = campaign_check(c, true, e);
            if (status || stopped || !campaign_is_late(c))
                return status; /* else they came while it was looked whether the system works */
        }
    }
}

/* Begins anew with what was learned about late things; what the runs so far have shown is
 * forgotten, in the store too. */
static int start_over(struct campaign *c, struct err *e)
{
    struct campaign was = *c;
    c->told = (struct map){0};
    campaign_abandon(c);
    campaign_reset(c);
    c->told = was.told; /* nobody wants to read them twice */
    c->begun = true;
    campaign_send(c, (struct event){.type = EVENT_AGAIN, .text = was.late.why});
    if (c->opt.contract)
        contract_forget(c->opt.contract);
    c->target = was.target;
    c->story = was.story;
    c->script = was.script;
    c->deadline_ns = was.deadline_ns;
    c->stop = was.stop;
    c->start_ns = was.start_ns;
    c->alone = was.alone;
    c->late = (struct late){.quiet_ns = was.late.quiet_ns,
                            .starts = was.late.starts + 1,
                            .usual_ns = was.late.usual_ns,
                            .pause_ns = was.late.pause_ns};
    memcpy(c->late.why, was.late.why, sizeof c->late.why);
    campaign_note_late(c);
    int status = campaign_heal(c, false, e);
    if (!status)
        status = campaign_open_store(c, e);
    return status ? status : campaign_learn(c, e);
}

/* All of it. */
static enum status explore_and_confirm(struct campaign *c, struct err *e)
{
    int status = c->learned ? campaign_teach(c, e) : campaign_open_store(c, e);
    if (!status)
        status = campaign_keep_stop(c, e);
    if (!status && !c->learned)
        status = campaign_learn(c, e);
    do {
        if (status == STATUS_AGAIN)
            status = start_over(c, e);
        if (!status && !c->summary.broken)
            status = explore_on(c, e);
    } while (status == STATUS_AGAIN);
    campaign_abandon(c);
    search_retire(c->search, true);
    if (status > 0)
        c->summary.stopped = over_by(c);
    if (status < 0)
        c->summary.stopped = "error";
    c->summary.took_ns = clock_ns() - c->start_ns;
    if (status >= 0)
        return campaign_confirm(c, e);
    struct err second = {0};
    (void)campaign_finish(c); /* what is known is kept all the same; the first error is told */
    return campaign_keep_findings(c, &second) ? STATUS_FAILED : status;
}

/* ---- steps ---- */

static void tell_story(void *ctx)
{
    struct campaign *c = ctx;
    c->ended_with = c->script(c, &c->failure);
}

void campaign_start(struct campaign *c, const struct target *target,
                    enum status (*script)(struct campaign *c, struct err *e))
{
    fiber_free(c->story);
    c->target = target;
    c->script = script;
    c->failure = (struct err){0};
    c->story = fiber_new(tell_story, c);
}

void campaign_begin(struct campaign *c, const struct target *target)
{
    if (c->summary.broken) {
        campaign_reset(c); /* it may work by now */
        campaign_send(c, (struct event){.type = EVENT_AGAIN});
    }
    if (c->finished) { /* what its end said is said anew */
        c->summary.notes.n = c->before_end.notes;
        c->summary.doubt = c->before_end.doubt;
        c->finished = false;
        c->begun = false;
    }
    c->start_ns = clock_ns() - c->summary.took_ns;
    c->stop = false;
    campaign_set_budget(c, c->opt.max_runs, c->opt.max_time_ns);
    c->summary.stopped = NULL;
    search_retire(c->search, false);
    campaign_send_begin(c, c->number > 0);
    campaign_start(c, target, explore_and_confirm);
}

void campaign_stop(struct campaign *c)
{
    c->stop = true;
}

void campaign_set_budget(struct campaign *c, uint64_t max_runs, int64_t max_time_ns)
{
    c->opt.max_runs = max_runs;
    c->opt.max_time_ns = max_time_ns;
    c->deadline_ns = max_time_ns && c->start_ns ? c->start_ns + max_time_ns : 0;
}

void campaign_stood(struct campaign *c, int64_t ns)
{
    c->start_ns += ns;
    c->deadline_ns += c->deadline_ns ? ns : 0;
}

void campaign_next(struct campaign *c, struct order *out)
{
    if (!fiber_go(c->story)) {
        c->order = (struct order){.kind = ORDER_DONE};
        c->target = NULL;
    }
    *out = c->order;
    c->answer = (struct answer){0};
}

void campaign_took(struct campaign *c, const struct answer *answer)
{
    c->answer = *answer;
}

enum status campaign_ended(const struct campaign *c, struct err *e)
{
    if (c->ended_with == STATUS_FAILED)
        *e = c->failure;
    return c->ended_with;
}

bool campaign_complete(const struct campaign *c)
{
    return c->learned && c->ended && search_done(c->search);
}

/* ---- the end ---- */

/* Behind those of the tally: what left the system broken. Then what is known of each. */
static void add_blasts(struct campaign *c)
{
    for (uint32_t i = 0; i < c->blasts.n && is_on(c, ORACLE_BLAST_RADIUS); i++) {
        const struct blast *b = &c->blasts.at[i];
        vec_push(&c->summary.findings,
                 (struct finding){.faultload = b->faultload,
                                  .why = arena_printf(
                                      &c->keep, "the system stays broken afterwards: %s", b->why),
                                  .kind = FINDING_BLAST,
                                  .state = b->certain ? FINDING_CONFIRMED : FINDING_FLAKY,
                                  .number = b->number,
                                  .runs = 1});
    }
    campaign_settle(c);
}

void campaign_sort(struct campaign *c)
{
    tally_sort(c->tally);
    add_blasts(c);
}

void campaign_conclude(struct campaign *c)
{
    if (!c->judge)
        return;
    campaign_tell_leaks(c, false);
    judge_finish(c->judge, tally_exhaustive(c->tally) && !c->summary.doubt, &c->summary);
}

const struct summary *campaign_finish(struct campaign *c)
{
    const struct campaign_config *config = c->opt.config;
    if (c->finished)
        return &c->summary;
    c->finished = true;
    c->before_end.notes = c->summary.notes.n;
    c->before_end.doubt = c->summary.doubt;
    tally_finish(c->tally);
    /* services that are not restarted before each run, and could be */
    c->summary.restarted.n = 0;
    for (uint32_t i = 0; i < config->services.n && !config->simulate.n; i++)
        if (config->services.at[i].run.n && config->services.at[i].restart == RESTART_DEAD)
            vec_push(&c->summary.restarted, config->services.at[i].name.p);
    if (!c->summary.stopped && !c->summary.broken && !search_done(c->search))
        c->summary.stopped = "interrupt"; /* a process that was killed could not say so */
    add_blasts(c);
    campaign_note_outlived(c);
    campaign_doubt(c, c->summary.space > 1);
    campaign_note_hiccups(c);
    campaign_note_limit(c);
    campaign_note_since(c);
    if (c->target && c->lessons) { /* none: it ended before anything was learned */
        campaign_note_strays(c);
        campaign_note_untested(c);
    }
    campaign_conclude(c);
    campaign_contract_finish(c);
    return &c->summary;
}

void campaign_judge_again(struct campaign *c)
{
    if (!c->finished)
        return; /* its end will */
    campaign_sort(c);
    campaign_conclude(c);
}

/* The story may be in the middle of a list of the summary: all that is made anew is made beside it,
 * in the very place that tally and judge know, and put back. */
void campaign_look(struct campaign *c, struct campaign_view *v)
{
    struct summary own = c->summary;
    struct arena keep = c->keep;
    campaign_view_deinit(v);
    c->keep = v->keep;
    memset(&c->summary.findings, 0, sizeof own.findings);
    memset(&c->summary.remarks, 0, sizeof own.remarks);
    memset(&c->summary.volatile_, 0, sizeof own.volatile_);
    memset(&c->summary.skipped, 0, sizeof own.skipped);
    memset(&c->summary.reasons, 0, sizeof own.reasons);
    tally_finish(c->tally);
    add_blasts(c);
    if (c->judge)
        judge_look(c->judge, &c->keep, &c->summary);
    c->summary.stopped = own.stopped ? own.stopped : "running";
    c->summary.took_ns = c->start_ns ? clock_ns() - c->start_ns : 0;
    v->summary = c->summary;
    v->keep = c->keep;
    c->summary = own;
    c->keep = keep;
}

void campaign_view_deinit(struct campaign_view *v)
{
    struct summary *s = &v->summary;
    for (uint32_t i = 0; i < s->findings.n; i++)
        finding_deinit(&s->findings.at[i]);
    vec_deinit(&s->findings);
    vec_deinit(&s->remarks);
    vec_deinit(&s->volatile_);
    vec_deinit(&s->skipped);
    vec_deinit(&s->reasons);
    arena_deinit(&v->keep);
    *v = (struct campaign_view){0};
}

struct summary *campaign_summary(struct campaign *c)
{
    return &c->summary;
}

struct judge *campaign_judge(struct campaign *c)
{
    return c->judge;
}

const struct search *campaign_search(const struct campaign *c)
{
    return c->search;
}
