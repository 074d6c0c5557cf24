/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for dependencies. */
#include "report/deps.h"
#include "report/words.h"

enum { CAUSES_SHOWN = 4 };

static void add_service(const struct names *names, uid u, struct buf *out)
{
    buf_add(out, names_text(names, uid_element(names, u)->service));
}

void words_dep_call(const struct names *names, uid u, struct buf *out)
{
    uid parent = uid_parent(names, u);
    if (parent != UID_NONE) {
        add_service(names, parent, out);
        buf_adds(out, " > ");
    }
    element_print(names, uid_element(names, u), out);
}

/* What absorbs a failure: "users goes on without it". */
static void words_dep_by(const struct names *names, enum dep_by by, uid instead, uid at,
                         struct buf *out)
{
    if (by == DEP_BY_NOTHING || at == UID_NONE)
        return;
    add_service(names, at, out);
    switch (by) {
    case DEP_BY_VALUE: buf_adds(out, " goes on without it"); break;
    case DEP_BY_RETRY: buf_adds(out, " tries again"); break;
    case DEP_BY_OTHER:
        buf_adds(out, " calls ");
        element_print(names, uid_element(names, instead), out);
        buf_adds(out, " instead");
        break;
    case DEP_BY_NOTHING:
    case DEP_BYS: break;
    }
}

/* The modes in which the request fails: "500, 502 and 503". */
static uint32_t add_hard_modes(const struct dep *d, struct buf *out)
{
    uint32_t all = 0, n = 0;
    for (uint32_t i = 0; i < d->ways.n; i++)
        all += d->ways.at[i].fails;
    for (uint32_t i = 0; i < d->ways.n; i++) {
        if (!d->ways.at[i].fails)
            continue;
        buf_adds(out, n == 0 ? "" : n + 1 < all ? ", " : " and ");
        label_print(d->ways.at[i].label, out);
        n++;
    }
    return all;
}

/* Of a mode that decides, or of all: what becomes of the request. */
static void add_effect(const struct summary *s, const struct dep *d, struct buf *out)
{
    struct buf modes = BUF_INIT(4096), soft = BUF_INIT(4096);
    uint32_t hard = add_hard_modes(d, &modes);
    words_dep_by(s->names, d->by, d->instead, d->at, &soft);
    if (hard && soft.n)
        buf_addf(out, "the request fails at %s; else %s", buf_text(&modes), buf_text(&soft));
    else if (hard)
        buf_adds(out, "the request fails");
    else
        buf_add(out, buf_slice(&soft));
    buf_deinit(&modes);
    buf_deinit(&soft);
}

/* Was nothing seen but failures that pass? */
static bool only_passing(const struct dep *d)
{
    for (uint32_t i = 0; i < d->ways.n; i++)
        if (d->ways.at[i].lasting)
            return false;
    return d->ways.n > 0;
}

/* "a", "a or b", "a and b, or c, or in other cases": the calls whose failure leads to it. */
static void add_causes(const struct summary *s, const struct dep_causes *all, struct buf *out)
{
    uint32_t n = all->n < CAUSES_SHOWN ? all->n : CAUSES_SHOWN;
    bool single = n > 0 && all->at[n - 1].n == 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct dep_cause *c = &all->at[i];
        if (i > 0)
            buf_adds(out, single ? " or " : ", or ");
        for (uint32_t k = 0; k < c->n; k++) {
            buf_adds(out, k ? " and " : "");
            words_call(s->names, c->calls[k], out);
        }
        if (!single || i + 1 == n)
            buf_adds(out, plural(c->n, " fails", " fail"));
    }
    if (all->more || all->n > n)
        buf_adds(out, ", or in other cases");
}

static void add_only_after(const struct summary *s, const struct dep *d, struct buf *out)
{
    buf_adds(out, "only called when ");
    add_causes(s, &d->causes, out);
    if (d->too_late)
        buf_adds(out, ", and then the request fails anyway");
    else if (d->ways.n)
        buf_adds(out, "; if it fails too, ");
}

void words_dep(const struct summary *s, const struct dep *d, struct buf *out)
{
    if (d->after_fault) {
        add_only_after(s, d, out);
    } else if (d->kind == DEP_UNKNOWN) {
        buf_adds(out, "it never failed alone");
        return;
    }
    if (d->ways.n)
        add_effect(s, d, out);
    if (only_passing(d) && d->by == DEP_BY_RETRY)
        buf_adds(out, "; that it fails for good was not tried");
    else if (d->retried)
        buf_adds(out, "; a retry absorbs a failure that passes");
}
