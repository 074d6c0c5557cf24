/* SPDX-License-Identifier: Apache-2.0
 *
 * Campaigns, their facts and their findings. */
#include <stdio.h>

#include "base/clock.h"
#include "store/store_int.h"

static int check_text(struct store *s, const char *what, slice text, struct err *e)
{
    return text.n <= STORE_TEXT_MAX
               ? 0
               : store_refused(s, e, "%s of %zu bytes is too long to be stored: at most %d", what,
                               text.n, STORE_TEXT_MAX);
}

/* ---- campaigns ---- */

static int remove_campaign(struct store *s, uint64_t campaign, struct err *e)
{
    /* what tables hold of a campaign, those that others refer to last */
    static const char *const parts[] = {"call", "run", "point", "finding", "journal", "fact"};
    char sql[96], where[64] = "";
    struct get g;
    struct put p = put_into(s, SQL_CAMPAIGN_OTHER, 0);
    put_int(&p, (int64_t)campaign);
    int others = get_first(&p, &g, e);
    if (others < 0)
        return -1;
    if (others) { /* without one, tables are emptied as a whole, which takes no time */
        get_done(&g);
        snprintf(where, sizeof where, " WHERE campaign = %llu", (unsigned long long)campaign);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s%s", parts[i], where);
        if (store_execute(s, sql, e))
            return -1;
    }
    snprintf(sql, sizeof sql, "DELETE FROM campaign WHERE id = %llu", (unsigned long long)campaign);
    return store_execute(s, sql, e);
}

static int add_campaign(struct store *s, slice scenario, uint64_t *campaign, struct err *e)
{
    uint64_t old;
    if (store_find(s, scenario, &old, e) || (old && remove_campaign(s, old, e)))
        return -1;
    struct put p = put_into(s, SQL_CAMPAIGN_ADD, 0);
    put_text(&p, scenario);
    put_int(&p, clock_wall_ns());
    if (put_done(&p, e))
        return -1;
    *campaign = (uint64_t)sqlite3_last_insert_rowid(s->db);
    return *campaign <= UINT32_MAX ? 0 : store_refused(s, e, "it has seen too many campaigns");
}

int store_begin(struct store *s, slice scenario, uint64_t *campaign, struct err *e)
{
    *campaign = 0;
    if (check_text(s, "a scenario's name", scenario, e) || store_begin_write(s, e))
        return -1;
    return store_end(s, add_campaign(s, scenario, campaign, e), e);
}

int store_find(struct store *s, slice scenario, uint64_t *campaign, struct err *e)
{
    struct get g;
    struct put p = put_into(s, SQL_CAMPAIGN_FIND, 0);
    *campaign = 0;
    put_text(&p, scenario);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found;
    *campaign = (uint64_t)get_int(&g, 1, UINT32_MAX);
    get_done(&g);
    return g.bad ? store_damaged(s, e, "campaign: %s", g.bad) : 0;
}

int store_next(struct store *s, uint64_t after, struct arena *a, uint64_t *campaign,
               slice *scenario, struct err *e)
{
    struct get g;
    struct put p = put_into(s, SQL_CAMPAIGN_NEXT, 0);
    *campaign = 0;
    put_int(&p, (int64_t)after);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found;
    *campaign = (uint64_t)get_int(&g, 1, UINT32_MAX);
    *scenario = slice_copy(a, get_text(&g));
    get_done(&g);
    return g.bad ? store_damaged(s, e, "campaign: %s", g.bad) : 0;
}

/* ---- facts ---- */

int store_set(struct store *s, uint64_t campaign, slice name, slice value, struct err *e)
{
    if (check_text(s, "a fact's name", name, e) || check_text(s, "a fact", value, e) ||
        store_begin_write(s, e))
        return -1;
    struct put p = put_into(s, SQL_FACT_SET, 0);
    put_int(&p, (int64_t)campaign);
    put_text(&p, name);
    put_text(&p, value);
    put_sum(&p);
    return store_end(s, put_done(&p, e), e);
}

int store_get(struct store *s, uint64_t campaign, slice name, struct arena *a, slice *value,
              struct err *e)
{
    struct get g;
    struct put p = put_into(s, SQL_FACT_GET, 0);
    *value = (slice){0};
    put_int(&p, (int64_t)campaign);
    put_text(&p, name);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found;
    get_int(&g, 1, UINT32_MAX);
    get_text(&g);
    slice text = get_text(&g);
    get_sum(&g);
    if (!g.bad)
        *value = slice_copy(a, text);
    get_done(&g);
    return g.bad ? store_damaged(s, e, "fact %.*s: %s", SHORT(name), g.bad) : 0;
}

/* ---- findings ---- */

static int add_finding(struct store *s, uint64_t campaign, const struct names *names,
                       const struct faultloads *fl, const struct store_finding *f, struct err *e)
{
    slice faults;
    if (check_text(s, "a finding's reason", f->why, e) ||
        check_text(s, "a finding's state", f->state, e) ||
        faultload_text(s, names, fl, f->faultload, &faults, e))
        return -1;
    struct put p = put_into(s, SQL_FINDING_ADD, 0);
    put_int(&p, (int64_t)campaign);
    put_int(&p, f->id);
    put_text(&p, f->state);
    put_text(&p, f->why);
    put_text(&p, faults);
    put_sum(&p);
    return put_done(&p, e);
}

int store_set_findings(struct store *s, uint64_t campaign, const struct names *names,
                       const struct faultloads *fl, const struct store_finding *findings,
                       uint32_t n, struct err *e)
{
    if (store_begin_write(s, e))
        return -1;
    struct put p = put_into(s, SQL_FINDINGS_REMOVE, 0);
    put_int(&p, (int64_t)campaign);
    int result = put_done(&p, e);
    for (uint32_t i = 0; i < n && result == 0; i++)
        result = add_finding(s, campaign, names, fl, &findings[i], e);
    return store_end(s, result, e);
}

enum status store_finding(struct store *s, uint64_t campaign, uint32_t id, struct names *names,
                          struct faultloads *fl, struct arena *a, struct store_finding *out,
                          struct err *e)
{
    struct get g;
    struct err inner = {0};
    struct put p = put_into(s, SQL_FINDING_GET, 0);
    put_int(&p, (int64_t)campaign);
    put_int(&p, id);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found < 0 ? STATUS_FAILED : STATUS_NONE;
    get_int(&g, 1, UINT32_MAX);
    *out = (struct store_finding){.id = (uint32_t)get_int(&g, 0, UINT32_MAX)};
    out->state = slice_copy(a, get_text(&g));
    out->why = slice_copy(a, get_text(&g));
    if (faultload_parse(names, fl, get_text(&g), &out->faultload, &inner))
        get_bad(&g);
    get_sum(&g);
    get_done(&g);
    return g.bad ? store_damaged(s, e, "finding %u: %s", (unsigned)id, g.bad) : 0;
}
