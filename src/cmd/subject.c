/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/subject.h"

#include <errno.h>

enum { FILE_MAX = 64 * 1024 };

/* 3, or SCENARIO/3. */
static bool is_id(const struct session *s, slice what, uint32_t *campaign, uint32_t *id)
{
    uint64_t n;
    size_t slash = what.n;
    *campaign = 0;
    while (slash > 0 && what.p[slash - 1] != '/')
        slash--;
    if (!slice_to_u64(slice_from(what, slash), UINT32_MAX, &n) || n == 0)
        return false;
    *id = (uint32_t)n;
    for (uint32_t i = 0; slash > 0 && i < s->scenarios.n; i++)
        if (slice_is((slice){what.p, slash - 1}, session_scenario(s, i))) {
            *campaign = i;
            return true;
        }
    return slash == 0;
}

/* ---- findings ---- */

static void add_finding(struct session *s, uint32_t campaign, uint32_t id, enum oracle oracle,
                        faultload f, const char *why, struct subjects *out)
{
    struct buf text = BUF_INIT(1 << 12);
    if (s->config->scenarios.n > 1)
        buf_addf(&text, "%s/", session_scenario(s, campaign));
    buf_addf(&text, "%u", (unsigned)id);
    vec_push(&out->list, (struct subject){.campaign = campaign,
                                          .id = slice_copy(&s->arena, buf_slice(&text)).p,
                                          .why = slice_copy(&s->arena, slice_of(why)).p,
                                          .oracle = oracle,
                                          .faultload = f});
    buf_deinit(&text);
}

/* Those that were stored; how many there are. id 0: all. */
static int add_stored(struct session *s, uint32_t campaign, uint32_t id, uint32_t *n,
                      struct subjects *out, struct err *e)
{
    struct store_finding f;
    uint64_t stored;
    int status = store_find(s->store, slice_of(session_scenario(s, campaign)), &stored, e);
    for (*n = 0; !status && stored; ++*n) {
        status =
            store_finding(s->store, stored, *n + 1, &s->names, &s->faultloads, &s->arena, &f, e);
        if (status)
            break;
        if (!id || id == *n + 1)
            add_finding(s, campaign, *n + 1, ORACLES, f.faultload, f.why.p, out);
    }
    return status < 0 ? -1 : 0;
}

/* What oracles say as a finding is not stored: the campaign is taken up whole, and left again. In
 * reports they are numbered after the others, of which there are n. */
static int add_oracles(struct session *s, uint32_t campaign, uint32_t id, uint32_t n,
                       struct subjects *out, struct err *e)
{
    uint32_t contracts = s->contracts.n; /* no oracle looks at them */
    s->contracts.n = 0;
    int status = session_adopt(s, e) ? -1 : 0;
    if (!status) {
        session_make_campaigns(s);
        status = campaign_restore(s->campaigns.at[campaign], e);
    }
    const struct summary *summary = status ? NULL : campaign_finish(s->campaigns.at[campaign]);
    for (uint32_t i = 0; summary && i < summary->remarks.n; i++) {
        const struct remark *r = &summary->remarks.at[i];
        if (r->severity == SEVERITY_FINDING && (++n == id || !id))
            add_finding(s, campaign, n, oracle_find(slice_of(r->oracle)), r->faultload, r->why,
                        out);
    }
    session_drop_campaigns(s);
    s->contracts.n = contracts;
    return status < 0 || status == STATUS_OTHER ? -1 : 0;
}

static int read_findings(struct session *s, uint32_t only, uint32_t id, struct subjects *out,
                         struct err *e)
{
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        uint32_t n;
        struct err inner = {0};
        if (only != UINT32_MAX && i != only)
            continue;
        if (add_stored(s, i, id, &n, out, e))
            return -1;
        if ((!id || !out->list.n) && add_oracles(s, i, id, n, out, &inner))
            fprintf(stderr, "outfox: what oracles found is left out: %s\n", inner.text);
    }
    return 0;
}

static int read_finding(struct session *s, uint32_t campaign, uint32_t id, struct subjects *out,
                        struct err *e)
{
    if (read_findings(s, campaign, id, out, e))
        return -1;
    if (out->list.n)
        return 0;
    return err_set(e, 0, 0, "there is no finding %u of \"%s\"; outfox report lists them",
                   (unsigned)id, session_scenario(s, campaign));
}

/* ---- text ---- */

static int read_file(struct session *s, const char *path, slice *out, struct err *e)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(e, 0, 0, "%s cannot be read: %s", path, strerror(errno));
    char *bytes = arena_alloc(&s->arena, FILE_MAX + 1);
    size_t n = fread(bytes, 1, FILE_MAX + 1, f);
    int number = ferror(f) ? errno : 0;
    fclose(f);
    if (number)
        return err_set(e, 0, 0, "%s cannot be read: %s", path, strerror(number));
    if (n > FILE_MAX)
        return err_set(e, 0, 0, "%s is no faultload: it has more than %d bytes", path, FILE_MAX);
    for (size_t i = 0; i < n; i++) /* a faultload may be spread over lines */
        bytes[i] = bytes[i] == '\n' || bytes[i] == '\r' ? ' ' : bytes[i];
    *out = (slice){bytes, n};
    return 0;
}

int subject_text(struct session *s, const char *what, slice *out, struct err *e)
{
    *out = slice_of(what);
    return what[0] == '@' ? read_file(s, what + 1, out, e) : 0;
}

static int read_name(void *ctx, const struct run *run, struct err *e)
{
    (void)ctx;
    (void)run;
    (void)e;
    return 0;
}

/* Was it seen, if a campaign is stored? Reading its runs makes their names known. Where no call
 * came to the service at all its name is not to blame, and the run will say what is. */
static int check_seen(struct session *s, const struct aim *aim, struct err *e)
{
    uint64_t stored = 0;
    struct err ignored = {0};
    if (!s->store || !aim->patterns.n ||
        store_find(s->store, slice_of(session_scenario(s, 0)), &stored, &ignored) || !stored ||
        store_each_run(s->store, stored, &s->names, &s->faultloads, &s->arena, read_name, NULL,
                       &ignored) < 0)
        return 0;
    for (uint32_t i = 0; i < aim->patterns.n; i++)
        if (pattern_seen(&aim->patterns.at[i].pattern, &s->names, e) < 0)
            return -1;
    return 0;
}

/* A faultload as people write it: faults joined by &, each of which may be a pattern. Before
 * anything is started for it. */
static int read_faults(struct session *s, slice text, struct subjects *out, struct err *e)
{
    struct aim aim;
    struct subject subject = {.oracle = ORACLES};
    int failed = 0;
    slice fault;
    aim = (struct aim){0};
    text = slice_trim(text);
    if (!text.n)
        return err_set(e, 0, 0,
                       "there is nothing to replay: give the number of a finding, all, a "
                       "faultload, none, or @FILE with a faultload in it");
    if (slice_is(text, "none"))
        text = (slice){0};
    while (!failed && pattern_cut(&text, &fault)) {
        struct fault other;
        failed = aim_add(&aim, &s->words, UID_NONE, fault, e);
        if (failed || fault_parse_other(&s->names, fault, &other, e))
            vec_push(&subject.patterns, slice_copy(&s->arena, fault).p);
        else if (faultload_at(&s->faultloads, subject.faultload, other.point) == MODE_NONE)
            subject.faultload = faultload_extend(&s->faultloads, subject.faultload, other);
    }
    vec_push(&out->list, subject);
    failed = failed || check_seen(s, &aim, e) ? -1 : 0;
    aim_deinit(&aim);
    return failed;
}

int subjects_read(struct session *s, const char *what, const char *no_store, struct subjects *out,
                  struct err *e)
{
    uint32_t campaign = 0, id = 0;
    slice text;
    out->all = strcmp(what, "all") == 0;
    bool number = !out->all && is_id(s, slice_of(what), &campaign, &id);
    if (out->all && !s->store)
        return err_set(e, 0, 0, "no finding is known: %s", no_store);
    if (number && !s->store)
        return err_set(e, 0, 0, "finding %u is not known: %s", (unsigned)id, no_store);
    if (out->all)
        return read_findings(s, UINT32_MAX, 0, out, e);
    if (number)
        return read_finding(s, campaign, id, out, e);
    return subject_text(s, what, &text, e) || read_faults(s, text, out, e) ? -1 : 0;
}

void subjects_deinit(struct subjects *subjects)
{
    for (uint32_t i = 0; i < subjects->list.n; i++)
        vec_deinit(&subjects->list.at[i].patterns);
    vec_deinit(&subjects->list);
}
