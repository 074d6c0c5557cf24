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
               : store_refused(s, e, "%s of %zu bytes cannot be stored: at most %d", what, text.n,
                               STORE_TEXT_MAX);
}

/* ---- campaigns ---- */

/* What tables hold of a campaign, those that others refer to last. */
static const char *const parts[] = {"call", "run", "point", "finding", "fact"};

static int execute(struct store *s, const char *sql, struct err *e)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : store_failed(s, code, e);
}

/* Is it the only one? Then tables are emptied as a whole, which takes no time. */
static int count_others(struct store *s, uint64_t campaign, bool *others, struct err *e)
{
    struct get g;
    *others = false;
    for (int64_t after = 0;;) {
        struct put p = put_into(s, SQL_CAMPAIGN_NEXT, 0);
        put_int(&p, after);
        int found = get_first(&p, &g, e);
        if (found <= 0)
            return found;
        after = sqlite3_column_int64(g.stmt, 0);
        get_done(&g);
        if ((uint64_t)after != campaign) {
            *others = true;
            return 0;
        }
    }
}

static int remove_campaign(struct store *s, uint64_t campaign, struct err *e)
{
    char sql[96], where[64] = "";
    bool others;
    if (count_others(s, campaign, &others, e))
        return -1;
    if (others)
        snprintf(where, sizeof where, " WHERE campaign = %llu", (unsigned long long)campaign);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s%s", parts[i], where);
        if (execute(s, sql, e))
            return -1;
    }
    snprintf(sql, sizeof sql, "DELETE FROM campaign WHERE id = %llu", (unsigned long long)campaign);
    return execute(s, sql, e);
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

int store_each_scenario(struct store *s, int (*each)(void *ctx, slice scenario, struct err *e),
                        void *ctx, struct err *e)
{
    struct get g;
    struct arena text = {0};
    int64_t last = 0;
    int result = 0;
    while (result == 0) {
        struct put p = put_into(s, SQL_CAMPAIGN_NEXT, 0);
        put_int(&p, last);
        result = get_first(&p, &g, e);
        if (result <= 0)
            break;
        last = get_int(&g, last + 1, UINT32_MAX);
        slice scenario = slice_copy(&text, get_text(&g));
        get_done(&g);
        result = g.bad ? store_damaged(s, e, "campaign: %s", g.bad) : each(ctx, scenario, e);
        arena_reset(&text);
    }
    arena_deinit(&text);
    return result;
}

/* ---- facts ---- */

static int set_fact(struct store *s, uint64_t campaign, slice name, slice value, struct err *e)
{
    struct put p = put_into(s, SQL_FACT_SET, 0);
    put_int(&p, (int64_t)campaign);
    put_text(&p, name);
    put_text(&p, value);
    put_sum(&p);
    return put_done(&p, e);
}

int store_set(struct store *s, uint64_t campaign, slice name, slice value, struct err *e)
{
    if (check_text(s, "a fact's name", name, e) || check_text(s, "a fact", value, e) ||
        store_begin_write(s, e))
        return -1;
    return store_end(s, set_fact(s, campaign, name, value, e), e);
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

static int replace_findings(struct store *s, uint64_t campaign, const struct names *names,
                            const struct faultloads *fl, const struct store_finding *findings,
                            uint32_t n, struct err *e)
{
    struct put p = put_into(s, SQL_FINDINGS_REMOVE, 0);
    put_int(&p, (int64_t)campaign);
    if (put_done(&p, e))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (add_finding(s, campaign, names, fl, &findings[i], e))
            return -1;
    return 0;
}

int store_set_findings(struct store *s, uint64_t campaign, const struct names *names,
                       const struct faultloads *fl, const struct store_finding *findings,
                       uint32_t n, struct err *e)
{
    if (store_begin_write(s, e))
        return -1;
    return store_end(s, replace_findings(s, campaign, names, fl, findings, n, e), e);
}

int store_finding(struct store *s, uint64_t campaign, uint32_t id, struct names *names,
                  struct faultloads *fl, struct arena *a, struct store_finding *out, struct err *e)
{
    struct get g;
    struct err inner = {0};
    struct put p = put_into(s, SQL_FINDING_GET, 0);
    put_int(&p, (int64_t)campaign);
    put_int(&p, id);
    int found = get_first(&p, &g, e);
    if (found <= 0)
        return found < 0 ? -1 : 1;
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
