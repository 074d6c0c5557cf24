/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign on disk: what is kept of it, and how it is taken up again. The search is pure, so it
 * is brought to where it was by observing the stored runs in their order. */
#include "campaign/campaign_int.h"
#include "campaign/since.h"

/* ---- keeping ---- */

/* Keeps a fact by its name; nothing where nothing is kept. */
static int keep_fact(struct campaign *c, const char *name, slice text, struct err *e)
{
    return c->opt.store ? store_set(c->opt.store, c->id, slice_of(name), text, e) : 0;
}

/* The same of a text that was made for it. */
static int keep_text(struct campaign *c, const char *name, struct buf *text, struct err *e)
{
    int failed = keep_fact(c, name, buf_slice(text), e);
    buf_deinit(text);
    return failed;
}

static int recall_fact(struct campaign *c, const char *name, slice *out, struct err *e)
{
    return store_get(c->opt.store, c->id, slice_of(name), &c->keep, out, e);
}

int campaign_open_store(struct campaign *c, struct err *e)
{
    if (!c->opt.store)
        return 0;
    if (store_begin(c->opt.store, c->spec->name, &c->id, e) || campaign_contract_begin(c, e) ||
        (c->opt.origin && keep_fact(c, "origin", slice_of(c->opt.origin), e)) ||
        (c->spec->test.n && keep_fact(c, "test", c->spec->test, e)) ||
        (c->opt.identities && keep_fact(c, "identities", slice_of(c->opt.identities), e)))
        return -1;
    if (c->opt.since && since_keep(c->opt.since, c->opt.part, c->opt.store, c->id, c->opt.names,
                                   c->opt.faultloads, e))
        return -1;
    if (campaign_journal_begin(c, e))
        return -1;
    return keep_fact(c, "options", slice_of(c->opt.options), e);
}

int campaign_keep(struct campaign *c, const struct run *run, struct err *e)
{
    if (!c->opt.store)
        return 0;
    return store_add(c->opt.store, c->id, c->opt.names, c->opt.faultloads, run, e);
}

static int keep_notes(struct campaign *c, struct err *e)
{
    struct buf notes = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < c->summary.notes.n; i++)
        buf_addf(&notes, "%s\n", c->summary.notes.at[i]);
    return keep_text(c, "notes", &notes, e);
}

int campaign_keep_facts(struct campaign *c, struct err *e)
{
    struct buf learned = BUF_INIT(1 << 20), levels = BUF_INIT(1 << 20), quiet = BUF_INIT(40);
    lessons_print(c->lessons, &learned);
    for (uint32_t i = 0; i < c->summary.levels.n; i++) {
        const struct summary_level *l = &c->summary.levels.at[i];
        buf_addf(&levels, "%s %llu %s\n", l->service, (unsigned long long)l->calls, l->level);
    }
    buf_addf(&quiet, "%lld", (long long)c->lessons->quiet_ns);
    int failed = keep_text(c, "learned", &learned, e);
    failed = keep_text(c, "levels", &levels, e) || failed;
    failed = keep_notes(c, e) || failed;
    failed = keep_text(c, "quiet", &quiet, e) || failed;
    return failed ? -1 : 0;
}

int campaign_keep_stop(struct campaign *c, struct err *e)
{
    return keep_fact(c, "stopped", slice_of(c->summary.stopped ? c->summary.stopped : ""), e);
}

int campaign_keep_findings(struct campaign *c, struct err *e)
{
    if (!c->opt.store || campaign_keep_stop(c, e) || campaign_journal_keep(c, e))
        return c->opt.store ? -1 : 0;
    uint32_t n = c->summary.findings.n;
    struct store_finding *list = mem_zero((n + 1) * sizeof *list);
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *f = &c->summary.findings.at[i];
        list[i] = (struct store_finding){.id = i + 1,
                                         .faultload = f->faultload,
                                         .why = slice_of(f->why),
                                         .state = slice_of(finding_state_names[f->state])};
    }
    int failed =
        store_set_findings(c->opt.store, c->id, c->opt.names, c->opt.faultloads, list, n, e);
    mem_free(list);
    return failed;
}

/* One line each: certain or not, the run's number, the faultload, a tab, why. */
int campaign_keep_blasts(struct campaign *c, struct err *e)
{
    struct buf text = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < c->blasts.n; i++) {
        const struct blast *b = &c->blasts.at[i];
        buf_addf(&text, "%d %llu ", b->certain, (unsigned long long)b->number);
        faultload_print(c->opt.names, c->opt.faultloads, b->faultload, &text);
        buf_addc(&text, '\t');
        for (const char *p = b->why; *p; p++)
            buf_addc(&text, *p == '\n' ? ' ' : *p);
        buf_addc(&text, '\n');
    }
    return keep_text(c, "blasts", &text, e);
}

/* How many, and what one was like. */
int campaign_keep_hiccups(struct campaign *c, struct err *e)
{
    struct buf text = BUF_INIT(1 << 20);
    buf_addf(&text, "%llu %s", (unsigned long long)c->n_hiccups, c->hiccup);
    return keep_text(c, "hiccups", &text, e);
}

/* The faultloads of what oracles found, one line each: runs of a later campaign (--since). */
static int keep_remarks(struct campaign *c, struct err *e)
{
    struct buf text = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < c->summary.remarks.n; i++) {
        const struct remark *r = &c->summary.remarks.at[i];
        if (r->severity != SEVERITY_FINDING || r->faultload == FAULTLOAD_EMPTY)
            continue;
        faultload_print(c->opt.names, c->opt.faultloads, r->faultload, &text);
        buf_addc(&text, '\n');
    }
    return keep_text(c, "remarks", &text, e);
}

int campaign_keep_end(struct campaign *c, struct err *e)
{
    if (c->opt.since && c->opt.store &&
        since_keep_refuted(c->opt.since, c->opt.store, c->id, c->opt.names, e))
        return -1;
    c->ended = !keep_notes(c, e) && !keep_remarks(c, e) &&
               !(c->journal && keep_fact(c, "journal", SLICE("1"), e)) &&
               !(c->summary.doubt && keep_fact(c, "doubt", slice_of(c->summary.doubt), e)) &&
               !keep_fact(c, "ended", SLICE("1"), e);
    return c->ended ? 0 : -1;
}

/* ---- restoring ---- */

static void parse_levels(struct campaign *c, slice text)
{
    slice line, service, calls, level;
    while (slice_cut(&text, '\n', &line)) {
        uint64_t n;
        if (!slice_word(&line, &service) || !slice_word(&line, &calls) ||
            !slice_word(&line, &level) || !slice_to_u64(calls, UINT64_MAX, &n))
            continue;
        vec_push(&c->summary.levels,
                 (struct summary_level){.service = slice_copy(&c->keep, service).p,
                                        .calls = n,
                                        .level = slice_copy(&c->keep, level).p});
        campaign_send_level(c);
        if (slice_is(level, "none"))
            c->jobs = 1;
    }
}

/* The fault-free runs were all made before the first of them was read. */
static int restore_overlaps(void *ctx, const struct run *run, struct err *e)
{
    struct campaign *c = ctx;
    (void)e;
    if (run->purpose == RUN_BASELINE)
        overlaps_learn(&c->overlaps, c->opt.names, &run->trace);
    return run->purpose != RUN_BASELINE;
}

/* A campaign whose runs are taken up next to those of others. */
struct restoring {
    struct campaign *campaign;
    struct fiber *fiber;
    int64_t wall_ns; /* when its next run began */
    int status;
    struct err why;
};

static int restore_run(void *ctx, const struct run *run, struct err *e)
{
    struct campaign *c = ctx;
    struct run copy = *run;
    (void)e;
    if (c->restoring) { /* until it is the turn of this run */
        c->restoring->wall_ns = run->wall_ns;
        fiber_wait(c->restoring->fiber);
    }
    c->number = run->number;
    copy.trace = (struct trace){0};
    trace_copy(&run->trace, &copy.trace);
    campaign_absorb(c, &copy, true);
    if (run->purpose == RUN_BASELINE && !run->verdict.pass) {
        const char *detail = run->verdict.detail;
        c->summary.broken = run->verdict.why;
        c->summary.broken_detail = detail ? arena_copy(&c->keep, detail, strlen(detail)) : NULL;
    }
    vec_deinit(&copy.trace.calls);
    return 0;
}

/* The first lines that differ; one that is not there is "(nothing)". */
static void find_difference(slice was, slice is, slice *a, slice *b)
{
    bool more = true;
    do {
        bool old = slice_cut(&was, '\n', a), new = slice_cut(&is, '\n', b);
        *a = old && a->n ? *a : SLICE("(nothing)");
        *b = new && b->n ? *b : SLICE("(nothing)");
        more = old || new;
    } while (more && slice_eq(*a, *b));
}

/* It was made with the line `was`, and now there is `is`. */
static int refuse_other(const struct campaign *c, const char *where, slice was, slice is,
                        struct err *e)
{
    slice scenario = SLICE("scenario: "); /* a hash, behind the lines that may be there or not */
    bool was_it = slice_starts(was, scenario), is_it = slice_starts(is, scenario);
    was = was_it ? SLICE("(nothing)") : was;
    is = is_it ? SLICE("(nothing)") : is;
    if (was_it && is_it)
        err_set(e, 0, 0,
                "the scenario \"%s\" has changed since its campaign was made; restore its "
                "request, commands, expectations and timeout to resume, or start a new campaign: "
                "outfox run",
                c->spec->name.p);
    else
        err_set(e, 0, 0,
                "the campaign of \"%s\" was made with \"%.*s\", but %s \"%.*s\" now; restore what "
                "it was to resume, or start a new campaign: outfox run",
                c->spec->name.p, SHORT(was), where, SHORT(is));
    return STATUS_OTHER;
}

/* Campaigns of older versions do not say where they come from. */
static int check_origin(struct campaign *c, struct err *e)
{
    slice then, is = slice_of(c->opt.origin ? c->opt.origin : ""), a, b;
    if (recall_fact(c, "origin", &then, e))
        return -1;
    if (!then.p || !c->opt.origin)
        return 0;
    find_difference(then, is, &a, &b);
    if (slice_starts(a, SLICE("services:"))) {
        err_set(e, 0, 0,
                "the campaign of \"%s\" belongs to another system, with \"%.*s\"; %s has "
                "\"%.*s\": choose another store (--store FILE), or start a new campaign in this "
                "one: outfox run",
                c->spec->name.p, SHORT(a), c->opt.config->source, SHORT(b));
        return STATUS_OTHER;
    }
    bool same = slice_eq(then, is);
    return same || !c->opt.origin_counts ? 0 : refuse_other(c, "its file has", a, b, e);
}

static int check_options(struct campaign *c, struct err *e)
{
    slice then, a, b;
    if (recall_fact(c, "options", &then, e))
        return -1;
    if (!then.p)
        return STATUS_NONE; /* it was killed as it began */
    int status = check_origin(c, e);
    if (status || slice_eq(then, slice_of(c->opt.options)))
        return status;
    find_difference(then, slice_of(c->opt.options), &a, &b);
    return refuse_other(c, "there is", a, b, e);
}

static int restore_blasts(struct campaign *c, slice text, struct err *e)
{
    slice line;
    while (slice_cut(&text, '\n', &line)) {
        slice certain, number, faults;
        struct blast b = {0};
        if (!line.n)
            continue;
        if (!slice_word(&line, &certain) || !slice_word(&line, &number) ||
            !slice_to_u64(number, UINT64_MAX, &b.number))
            return err_set(e, 0, 0, "the store is damaged; start over without --resume");
        slice_cut(&line, '\t', &faults);
        if (faultload_parse(c->opt.names, c->opt.faultloads, slice_trim(faults), &b.faultload, e))
            return -1;
        b.why = slice_copy(&c->keep, line).p;
        b.certain = slice_is(certain, "1");
        vec_push(&c->blasts, b);
    }
    return 0;
}

/* How it ended, and what runs that were made again, and calls that nobody waited for, leave to be said. */
static int restore_end(struct campaign *c, struct err *e)
{
    static const char *const known[] = {"runs",  "time",     "interrupt", "finding",
                                        "error", "unstable", "polling"};
    slice hiccups, n, doubt, ended, by;
    if (recall_fact(c, "hiccups", &hiccups, e) || recall_fact(c, "doubt", &doubt, e) ||
        recall_fact(c, "ended", &ended, e) || recall_fact(c, "stopped", &by, e))
        return -1;
    c->summary.doubt = doubt.p;
    if (hiccups.p && slice_word(&hiccups, &n) && slice_to_u64(n, UINT32_MAX, &c->n_hiccups))
        c->hiccup = slice_copy(&c->keep, slice_trim(hiccups)).p;
    c->ended = ended.p != NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && !c->ended && by.p; i++)
        if (slice_is(by, known[i]))
            c->summary.stopped = known[i];
    search_retire(c->search, c->ended);
    return 0;
}

/* What went to its end has nothing left to be run, although some of what is queued may still have to be
 * recognised as known. */
static void restore_rest(struct campaign *c)
{
    faultload f;
    if (c->ended && search_next(c->search, &f))
        search_forget(c->search, f);
}

int campaign_recall(struct campaign *c, struct err *e)
{
    slice learned, quiet;
    if (store_find(c->opt.store, c->spec->name, &c->id, e))
        return -1;
    if (!c->id)
        return STATUS_NONE;
    if (recall_fact(c, "learned", &learned, e) || recall_fact(c, "quiet", &quiet, e))
        return -1;
    if (!learned.p || !quiet.p)
        return STATUS_NONE; /* it ended before anything was learned */
    c->lesson = learned;
    c->quiet = quiet;
    c->learned = true;
    return 0;
}

static int restore(struct campaign *c, struct err *e)
{
    slice levels, notes, blasts, line;
    int status = campaign_recall(c, e);
    c->learned = false;
    if (status == 0)
        status = check_options(c, e);
    if (status == 0)
        status = campaign_contract_check(c, e);
    if (status)
        return status;
    if (recall_fact(c, "blasts", &blasts, e) || recall_fact(c, "levels", &levels, e) ||
        recall_fact(c, "notes", &notes, e))
        return -1;
    if (!levels.p || !notes.p)
        return STATUS_NONE;
    campaign_send_begin(c, true);
    if (campaign_journal_begin(c, e))
        return -1;
    if (store_each_run(c->opt.store, c->id, c->opt.names, c->opt.faultloads, &c->keep,
                       restore_overlaps, c, e) < 0 ||
        store_each_run(c->opt.store, c->id, c->opt.names, c->opt.faultloads, &c->keep, restore_run,
                       c, e) ||
        restore_blasts(c, blasts, e) || restore_end(c, e))
        return -1;
    parse_levels(c, levels);
    while (slice_cut(&notes, '\n', &line))
        if (line.n)
            campaign_note(c, "%.*s", SLICE_ARG(line));
    c->learned = true;
    return 0;
}

int campaign_restore(struct campaign *c, struct err *e)
{
    int status = restore(c, e);
    restore_rest(c);
    return status;
}

static void restore_one(void *ctx)
{
    struct restoring *r = ctx;
    r->campaign->restoring = r;
    r->status = restore(r->campaign, &r->why);
    r->campaign->restoring = NULL;
}

/* The one whose next run was made first goes on with it. */
static bool restore_next(struct restoring *list, uint32_t n)
{
    struct restoring *first = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].fiber && (!first || list[i].wall_ns < first->wall_ns))
            first = &list[i];
    if (first && !fiber_go(first->fiber)) {
        fiber_free(first->fiber);
        first->fiber = NULL;
    }
    return first != NULL;
}

int campaigns_restore(struct campaign *const *list, uint32_t n, struct err *e)
{
    struct restoring *all = mem_zero((n + 1) * sizeof *all);
    int status = 0;
    for (uint32_t i = 0; i < n; i++) {
        all[i].campaign = list[i];
        all[i].wall_ns = INT64_MIN;
        all[i].fiber = fiber_new(restore_one, &all[i]);
    }
    while (restore_next(all, n))
        ;
    for (uint32_t i = 0; i < n; i++) {
        restore_rest(list[i]);
        if (status || (all[i].status >= 0 && all[i].status != STATUS_OTHER))
            continue;
        status = all[i].status;
        *e = all[i].why;
    }
    mem_free(all);
    return status;
}

/* What an earlier process has learned, for the live system of this one. */
int campaign_teach(struct campaign *c, struct err *e)
{
    uint64_t quiet;
    if (!c->lesson.p)
        return 0;
    lessons_drop(c->lessons);
    c->lessons = lessons_new(c->opt.config->services.n);
    c->lost = 0;
    if (lessons_parse(c->lessons, c->lesson) || !slice_to_u64(c->quiet, RUN_TIME_MAX, &quiet))
        return err_set(e, 0, 0,
                       "cannot read what the store has on \"%s\"; start over without --resume",
                       c->spec->name.p);
    c->lessons->quiet_ns = (int64_t)quiet;
    return 0;
}

int campaign_run_of(struct campaign *c, faultload f, struct arena *keep, struct run *out,
                    struct err *e)
{
    const struct known *k = campaign_known(c, f);
    if (!k || !c->opt.store)
        return STATUS_NONE;
    int status =
        store_run(c->opt.store, c->id, k->number, c->opt.names, c->opt.faultloads, keep, out, e);
    if (status == 0) {
        trace_align(&out->trace, &c->overlaps, c->opt.names);
        campaign_title(c, out);
    }
    return status;
}

/* Somebody reads runs. */
struct runs_reader {
    struct campaign *c;
    int (*each)(void *ctx, const struct run *run, struct err *e);
    void *ctx;
    struct trace trace;
};

static int show_run(void *ctx, const struct run *run, struct err *e)
{
    struct runs_reader *r = ctx;
    struct run shown = *run;
    trace_copy(&run->trace, &r->trace);
    shown.trace = r->trace;
    trace_align(&shown.trace, &r->c->overlaps, r->c->opt.names);
    campaign_title(r->c, &shown);
    int status = r->each(r->ctx, &shown, e);
    r->trace = shown.trace;
    return status;
}

int campaign_runs_from(struct campaign *c, uint64_t number, struct arena *keep,
                       int (*each)(void *ctx, const struct run *run, struct err *e), void *ctx,
                       struct err *e)
{
    struct runs_reader r = {.c = c, .each = each, .ctx = ctx};
    if (!c->opt.store || !c->id)
        return 0;
    int status = store_runs_from(c->opt.store, c->id, number, c->opt.names, c->opt.faultloads, keep,
                                 show_run, &r, e);
    vec_deinit(&r.trace.calls);
    return status;
}
