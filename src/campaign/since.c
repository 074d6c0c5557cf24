/* SPDX-License-Identifier: Apache-2.0
 *
 * With a campaign three facts are kept, of lines:
 *
 *   since     a service of which nothing was trusted from the beginning; a mark, which is no name of a
 *             service, if the scenario had changed
 *   verify    a faultload that was to verify
 *   refuted   a service that was found to have changed although nothing said so */
#include "campaign/since.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/journal.h"

enum {
    VERIFY_LEAST = 4, /* runs that verify a scenario, */
    VERIFY_PART = 20, /* and one more for so many runs that are known */
    SERVICES_TOLD = 8,
};

#define CLIENT_CHANGED "the scenario has changed"

static int get(struct store *store, uint64_t campaign, const char *name, struct arena *a,
               slice *out, struct err *e)
{
    return store_get(store, campaign, slice_of(name), a, out, e);
}

/* A journal that is being read: what it teaches, and what of it is handed on. */
struct reading {
    struct since *since;
    struct since_part *part;
    const struct since_options *o;
    uint32_t scenario;
    struct map
        stale; /* symbols of services: what was seen of them in the runs of old is not true */
    bool old;  /* these runs are of a campaign before the one whose store it is */
    struct journal *journal; /* NULL: it is there already */
    VEC(uint8_t) marks;
};

static void keep_chunk(struct reading *r)
{
    if (r->journal && journal_chunk(r->journal).n) {
        vec_push(&r->part->chunks, slice_copy(&r->since->keep, journal_chunk(r->journal)));
        journal_clear(r->journal);
    }
}

/* Which handlers of the run are not that any more. False: none says anything that is. */
static bool mark_stale(struct reading *r, const struct journal_entry *entry)
{
    bool tells = false;
    r->marks.n = 0;
    for (uint32_t i = 0; i < entry->trace->calls.n; i++) {
        const struct call *c = &entry->trace->calls.at[i];
        sym service = uid_element(r->o->names, c->uid)->service;
        bool stale = (entry->marks && entry->marks[i] != JOURNAL_TELLS) ||
                     (r->old && map_get(&r->stale, service));
        vec_push(&r->marks, stale ? JOURNAL_STALE : JOURNAL_TELLS);
        tells |= !stale;
    }
    return tells;
}

static int read_entry(void *ctx, const struct journal_entry *entry)
{
    struct reading *r = ctx;
    if (!mark_stale(r, entry))
        return 0;
    struct lesson lesson = {.scenario = r->scenario,
                            .faultload = entry->faultload,
                            .trace = entry->trace,
                            .stale = r->marks.at,
                            .keep = true,
                            .follow = true};
    knowledge_learn(r->since->knowledge, r->o->names, r->o->faultloads, &lesson);
    r->part->runs++;
    struct journal_entry handed = {entry->faultload, entry->trace, r->marks.at};
    if (!r->journal)
        return 0;
    if (journal_full(r->journal))
        keep_chunk(r);
    return journal_add(r->journal, &handed) ? 0 : -1;
}

static int read_chunk(void *ctx, uint64_t last, slice chunk, struct err *e)
{
    struct reading *r = ctx;
    if (!r->journal && last)
        return 0; /* of the campaign that is taken up again itself */
    r->old = last == 0;
    if (journal_read(chunk, r->o->names, r->o->faultloads, read_entry, r))
        return err_set(e, 0, 0, "its journal is damaged; explore anew, without --since");
    return 0;
}

/* Does a fact have this line? */
static bool has_line(slice text, slice wanted)
{
    slice line;
    while (slice_cut(&text, '\n', &line))
        if (slice_eq(line, wanted))
            return true;
    return false;
}

static void add_stale(struct reading *r, slice services)
{
    slice line;
    while (slice_cut(&services, '\n', &line))
        map_set(&r->stale, names_sym(r->o->names, line), 1);
}

/* The journal of one scenario; hand_on: to another store, where what was not trusted here is stale. */
static int read_journal(struct since *s, uint32_t part, struct store *store, uint64_t campaign,
                        bool hand_on, const struct since_options *o, struct err *e)
{
    slice since = {0}, refuted = {0};
    struct reading r = {.since = s,
                        .part = &s->parts.at[part],
                        .o = o,
                        .scenario = knowledge_scenario(s->knowledge, o->scenarios[part].name)};
    if (hand_on && (get(store, campaign, "since", &s->keep, &since, e) ||
                    get(store, campaign, "refuted", &s->keep, &refuted, e)))
        return -1;
    add_stale(&r, since);
    add_stale(&r, refuted);
    r.journal = hand_on ? journal_new(o->names, o->faultloads) : NULL;
    int failed = journal_each(store, campaign, read_chunk, &r, e);
    keep_chunk(&r);
    journal_free(r.journal);
    map_deinit(&r.stale);
    vec_deinit(&r.marks);
    return failed;
}

/* ---- can it be built on? ---- */

/* What of the options does not decide what a campaign knows in the end. */
static bool is_beside(slice line)
{
    static const char *const names[] = {"order:", "seed:", "audit:", "shard:", "scenario:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slice_starts(line, slice_of(names[i])))
            return true;
    return false;
}

/* The next line that does, without the word `since` at its end. */
static bool next_option(slice *text, slice *line)
{
    slice word = SLICE(" since");
    while (slice_cut(text, '\n', line))
        if (line->n && !is_beside(*line)) {
            if (line->n >= word.n && slice_eq(slice_from(*line, line->n - word.n), word))
                line->n -= word.n;
            return true;
        }
    *line = SLICE("(nothing)");
    return false;
}

static slice scenario_line(slice text)
{
    slice line;
    while (slice_cut(&text, '\n', &line))
        if (slice_starts(line, SLICE("scenario:")))
            return line;
    return (slice){0};
}

/* Why not; NULL: it can. */
static const char *refuse(struct since *s, struct since_part *p, slice was, slice is, bool ended,
                          bool journal)
{
    slice a = was, b = is, then, now;
    bool more = true;
    if (!was.p || !ended)
        return "its campaign there did not come to its end: go on with it there first, with "
               "outfox run --resume";
    if (!journal)
        return "its campaign there is of a version that did not keep what later ones can build on";
    while (more) {
        bool old = next_option(&a, &then), new = next_option(&b, &now);
        more = old || new;
        if (!slice_eq(then, now)) {
            struct buf text = BUF_INIT(1000);
            buf_addf(&text, "its campaign there was made with \"%.*s\", and there is \"%.*s\" now",
                     SHORT(then), SHORT(now));
            const char *why = buf_keep(&text, &s->keep).p;
            buf_deinit(&text);
            return why;
        }
    }
    p->client = !slice_eq(scenario_line(was), scenario_line(is));
    return NULL;
}

/* ---- what has changed ---- */

static bool has_changed(const struct since *s, const char *service)
{
    for (uint32_t i = 0; i < s->changed.n; i++)
        if (strcmp(s->changed.at[i].service, service) == 0)
            return true;
    return false;
}

static int find_changes(struct since *s, slice text, const struct since_options *o, struct err *e)
{
    struct identities then = {0};
    int failed = 0;
    if (!identities_parse(&then, text))
        failed = err_set(e, 0, 0, "its identities are damaged; explore anew, without --since");
    for (uint32_t i = 0; i < o->identities->list.n && !failed; i++) {
        const struct identity *is = &o->identities->list.at[i];
        struct buf why = BUF_INIT(1000);
        if (!has_changed(s, is->service) &&
            !identity_same(identities_find(&then, slice_of(is->service)), is, &why))
            vec_push(&s->changed,
                     (struct since_change){slice_copy(&s->keep, slice_of(is->service)).p,
                                           buf_keep(&why, &s->keep).p});
        buf_deinit(&why);
    }
    identities_deinit(&then);
    return failed;
}

/* Of some services nothing was known: they were not called, or are new. That is nothing to be told. */
static void leave_out_unknown(struct since *s, const struct since_options *o)
{
    uint32_t n = 0;
    s->services = 0;
    for (uint32_t i = 0; i < o->config->services.n; i++) {
        slice name = o->config->services.at[i].name;
        s->services += knowledge_knows(s->knowledge, names_sym(o->names, name));
    }
    for (uint32_t i = 0; i < s->changed.n; i++) {
        sym service = names_sym(o->names, slice_of(s->changed.at[i].service));
        if (knowledge_knows(s->knowledge, service))
            s->changed.at[n++] = s->changed.at[i];
    }
    s->changed.n = n;
}

static void distrust(struct since *s, const struct since_options *o)
{
    knowledge_age(s->knowledge);
    leave_out_unknown(s, o);
    for (uint32_t i = 0; i < s->changed.n; i++)
        knowledge_distrust(s->knowledge, names_sym(o->names, slice_of(s->changed.at[i].service)));
    for (uint32_t i = 0; i < s->parts.n; i++)
        if (s->parts.at[i].client)
            knowledge_distrust_client(s->knowledge,
                                      knowledge_scenario(s->knowledge, o->scenarios[i].name));
}

/* ---- what verifies ---- */

static void add_verify(struct since_part *p, const struct faultloads *fl, faultload f)
{
    for (uint32_t i = 0; i < p->verify.n; i++)
        if (faultload_eq(fl, p->verify.at[i], f))
            return;
    vec_push(&p->verify, f);
}

/* What was found then: is it there still? */
static int verify_findings(struct since *s, uint32_t part, struct store *store, uint64_t campaign,
                           const struct since_options *o, struct err *e)
{
    struct since_part *p = &s->parts.at[part];
    struct store_finding finding;
    enum status status = STATUS_OK;
    slice remarks = {0}, line;
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t id = 1; status == STATUS_OK; id++) {
        status = store_finding(store, campaign, id, o->names, o->faultloads, &s->keep, &finding, e);
        if (status == STATUS_OK && finding.faultload != FAULTLOAD_EMPTY)
            add_verify(p, o->faultloads, finding.faultload);
    }
    if (status == STATUS_FAILED || get(store, campaign, "remarks", &s->keep, &remarks, e))
        return -1;
    while (slice_cut(&remarks, '\n', &line)) { /* of oracles */
        if (line.n && faultload_parse(o->names, o->faultloads, line, &f, e))
            return -1;
        if (line.n)
            add_verify(p, o->faultloads, f);
    }
    p->findings = p->verify.n;
    return 0;
}

static void verify_some(struct since *s, const struct since_options *o)
{
    for (uint32_t i = 0; i < s->parts.n; i++) {
        struct since_part *p = &s->parts.at[i];
        uint32_t most = VERIFY_LEAST + (uint32_t)(p->runs / VERIFY_PART);
        faultload *list = mem_zero(most * sizeof *list);
        uint32_t n = p->full
                         ? 0
                         : knowledge_verify(s->knowledge,
                                            knowledge_scenario(s->knowledge, o->scenarios[i].name),
                                            most, list);
        for (uint32_t k = 0; k < n; k++)
            add_verify(p, o->faultloads, list[k]);
        mem_free(list);
    }
}

/* ---- from a store ---- */

static int open_part(struct since *s, uint32_t i, struct store *store,
                     const struct since_options *o, struct err *e)
{
    struct since_part *p = &s->parts.at[i];
    uint64_t id = 0;
    slice options, ended, journal, identities;
    if (store_find(store, o->scenarios[i].name, &id, e))
        return -1;
    if (!id) {
        p->full = "there is no campaign of it";
        return 0;
    }
    if (get(store, id, "options", &s->keep, &options, e) ||
        get(store, id, "ended", &s->keep, &ended, e) ||
        get(store, id, "journal", &s->keep, &journal, e) ||
        get(store, id, "identities", &s->keep, &identities, e))
        return -1;
    p->full = refuse(s, p, options, slice_of(o->scenarios[i].options), ended.p, journal.p);
    if (p->full)
        return 0;
    if (find_changes(s, identities, o, e) || read_journal(s, i, store, id, true, o, e))
        return -1;
    return p->client ? 0 : verify_findings(s, i, store, id, o, e);
}

static void begin(struct since *s, const struct since_options *o)
{
    *s = (struct since){.knowledge = knowledge_new(o->stateless)};
    for (uint32_t i = 0; i < o->n; i++)
        vec_push(&s->parts,
                 (struct since_part){.scenario = slice_copy(&s->keep, o->scenarios[i].name).p});
}

int since_open(struct since *out, const char *file, const struct since_options *o, struct err *e)
{
    struct store *store = NULL;
    begin(out, o);
    out->file = file;
    if (access(file, F_OK) && errno == ENOENT)
        return err_set(e, 0, 0,
                       "--since %s: there is no such file; name the store of an earlier campaign, "
                       "such as a copy of .outfox/campaign.db",
                       file);
    if (store_open(file, STORE_READ, &store, e))
        return -1;
    int failed = 0;
    for (uint32_t i = 0; i < o->n && !failed; i++)
        failed = open_part(out, i, store, o, e);
    store_close(store);
    distrust(out, o);
    verify_some(out, o);
    return failed;
}

static int recall_part(struct since *s, uint32_t i, struct store *store,
                       const struct since_options *o, struct err *e)
{
    struct since_part *p = &s->parts.at[i];
    uint64_t id = 0;
    slice since = {0}, verify = {0}, line;
    faultload f = FAULTLOAD_EMPTY;
    if (store_find(store, o->scenarios[i].name, &id, e) ||
        (id && (get(store, id, "since", &s->keep, &since, e) ||
                get(store, id, "verify", &s->keep, &verify, e))))
        return -1;
    if (!since.p)
        return 0; /* it was explored in full */
    p->client = has_line(since, SLICE(CLIENT_CHANGED));
    while (slice_cut(&since, '\n', &line))
        if (line.n && !slice_is(line, CLIENT_CHANGED) &&
            !has_changed(s, slice_copy(&s->keep, line).p))
            vec_push(&s->changed, (struct since_change){slice_copy(&s->keep, line).p, ""});
    while (slice_cut(&verify, '\n', &line)) {
        if (line.n && faultload_parse(o->names, o->faultloads, line, &f, e))
            return -1;
        if (line.n)
            vec_push(&p->verify, f);
    }
    return read_journal(s, i, store, id, false, o, e);
}

int since_recall(struct since *out, struct store *store, const struct since_options *o,
                 struct err *e)
{
    int failed = 0;
    begin(out, o);
    for (uint32_t i = 0; i < o->n && !failed; i++)
        failed = recall_part(out, i, store, o, e);
    distrust(out, o);
    return failed;
}

void since_free(struct since *s)
{
    for (uint32_t i = 0; i < s->parts.n; i++) {
        vec_deinit(&s->parts.at[i].verify);
        vec_deinit(&s->parts.at[i].chunks);
    }
    vec_deinit(&s->parts);
    vec_deinit(&s->changed);
    knowledge_free(s->knowledge);
    arena_deinit(&s->keep);
    *s = (struct since){0};
}

bool since_knows(const struct since *s)
{
    bool known = false;
    for (uint32_t i = 0; i < s->parts.n; i++)
        known = known || !s->parts.at[i].full;
    return known;
}

/* ---- to a store ---- */

int since_keep(const struct since *s, uint32_t part, struct store *store, uint64_t campaign,
               const struct names *names, const struct faultloads *fl, struct err *e)
{
    const struct since_part *p = &s->parts.at[part];
    struct buf changed = BUF_INIT(1 << 20), verify = BUF_INIT(1 << 20);
    int failed = 0;
    for (uint32_t i = 0; i < p->chunks.n && !failed; i++)
        failed = journal_keep(store, campaign, 0, p->chunks.at[i], e);
    for (uint32_t i = 0; i < s->changed.n; i++)
        buf_addf(&changed, "%s\n", s->changed.at[i].service);
    buf_adds(&changed, p->client ? CLIENT_CHANGED "\n" : "");
    for (uint32_t i = 0; i < p->verify.n; i++) {
        faultload_print(names, fl, p->verify.at[i], &verify);
        buf_addc(&verify, '\n');
    }
    failed = failed || store_set(store, campaign, SLICE("verify"), buf_slice(&verify), e) ||
             store_set(store, campaign, SLICE("since"), buf_slice(&changed), e);
    buf_deinit(&changed);
    buf_deinit(&verify);
    return failed ? -1 : 0;
}

int since_keep_refuted(const struct since *s, struct store *store, uint64_t campaign,
                       const struct names *names, struct err *e)
{
    uint32_t n;
    const struct contradiction *list = knowledge_contradictions(s->knowledge, &n);
    struct buf text = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].by == SHOWN_EARLIER)
            buf_addf(&text, "%.*s\n", SLICE_ARG(names_text(names, list[i].service)));
    int failed = n ? store_set(store, campaign, SLICE("refuted"), buf_slice(&text), e) : 0;
    buf_deinit(&text);
    return failed;
}

/* ---- for people ---- */

/* Those that are explored in full, the ones with one reason together. */
static void print_full(const struct since *s, struct buf *out)
{
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const char *why = s->parts.at[i].full;
        uint32_t first = 0, n = 0;
        if (!why)
            continue;
        while (!s->parts.at[first].full || strcmp(s->parts.at[first].full, why) != 0)
            first++;
        if (first < i)
            continue;
        for (uint32_t k = i; k < s->parts.n; k++)
            n += s->parts.at[k].full && strcmp(s->parts.at[k].full, why) == 0;
        buf_addf(out, ". %s", s->parts.at[i].scenario);
        if (n > 1)
            buf_addf(out, " and %u %s", (unsigned)n - 1, plural(n - 1, "other", "others"));
        buf_addf(out, " %s explored in full: %s", plural(n, "is", "are"), why);
    }
}

void since_print(const struct since *s, struct buf *out)
{
    struct knowledge_stats stats;
    uint64_t runs = 0, verify = 0, findings = 0;
    knowledge_stats(s->knowledge, &stats);
    for (uint32_t i = 0; i < s->parts.n; i++) {
        runs += s->parts.at[i].runs;
        verify += s->parts.at[i].verify.n;
        findings += s->parts.at[i].findings;
    }
    if (!since_knows(s)) {
        buf_addf(out, "since %s: nothing is known", s->file);
        print_full(s, out);
        return;
    }
    buf_addf(out, "since %s: %llu %s known; trusted are %u of %u services", s->file,
             (unsigned long long)runs, plural(runs, "run is", "runs are"),
             (unsigned)(s->services - s->changed.n), (unsigned)s->services);
    for (uint32_t i = 0; i < s->changed.n && i < SERVICES_TOLD; i++)
        buf_addf(out, "%s%s (%s)", i ? ", " : "; not trusted: ", s->changed.at[i].service,
                 s->changed.at[i].why);
    if (s->changed.n > SERVICES_TOLD)
        buf_addf(out, " and %u others", (unsigned)s->changed.n - SERVICES_TOLD);
    buf_addf(
        out,
        "%s. %llu of %llu decisions of services need not be shown again; %llu %s made again to "
        "verify that",
        s->changed.n ? ", nor what calls them where they answer as they never did" : "",
        (unsigned long long)stats.trusted_edges, (unsigned long long)stats.edges,
        (unsigned long long)verify, plural(verify, "run is", "runs are"));
    if (findings)
        buf_addf(out, ", among them those of %llu %s", (unsigned long long)findings,
                 plural(findings, "finding", "findings"));
    print_full(s, out);
}
