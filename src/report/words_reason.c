/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for why runs could not be relied on, and the lines of outfox.yaml that help. What is known
 * is said as such; where it is not, what was seen, and what to try first. */
#include "data/node.h"
#include "report/words.h"

enum fix {
    FIX_END,
    FIX_RESTART,
    FIX_BEFORE,
    FIX_CLEAN,
    FIX_IGNORE,
    FIX_QUIET,
    FIX_RULE,
    FIX_PAYLOAD,
    FIX_BASELINES,
    FIX_MODES,
    FIXES
};

enum { FIXES_MAX = 4 };

/* In texts: %C is the caller, %c the calls, %q one of them in quotes, %s the scenario, %r a rule
 * for their paths, %m the modes that do fit. */
static const struct {
    const char *line, *where;
    const char *simulated; /* the line in the file of a simulated system; NULL: there is none */
} fixes[FIXES] = {
    [FIX_RESTART] = {"restart: each-run", "to the service %C", NULL},
    [FIX_BEFORE] = {"before: COMMAND",
                    "to the scenario %s: a command that makes %C forget earlier runs", NULL},
    [FIX_CLEAN] = {"before: COMMAND",
                   "to the scenario %s: a command that removes what earlier runs left", NULL},
    [FIX_IGNORE] = {"ignore: [%q]", "at the top level, if such calls need no test", NULL},
    [FIX_QUIET] = {"quiet: 1s", "at the top level, if they are made after the answer", NULL},
    [FIX_RULE] = {"identify: { normalise: [%r] }", "at the top level: such paths count as one",
                  "normalise: [%r]"},
    [FIX_PAYLOAD] = {"identify: { payload: off }", "at the top level: bodies are not compared",
                     "identify: { payload: off }"},
    [FIX_BASELINES] = {"search: { baselines: 10 }",
                       "at the top level: more runs without faults show what overlaps", NULL},
    [FIX_MODES] = {"modes: [%m]", "at the top level", NULL},
};

static const struct {
    const char *title;       /* the cause in two words; NULL: it is not known */
    const char *seen;        /* NULL: as the suspect says */
    enum fix fix[FIXES_MAX]; /* in the order in which they are to be tried */
} rows[REASON_KINDS] = {
    [REASON_BREAKER] = {"circuit breaker",
                        "%C stops calling %c after failures, and remembers that in later runs",
                        {FIX_RESTART, FIX_BEFORE}},
    [REASON_CACHE] = {"cache",
                      "%C does not call %c again after an answer, and remembers that in "
                      "later runs",
                      {FIX_RESTART, FIX_BEFORE}},
    [REASON_GROWTH] = {"data of earlier runs",
                       "%C calls %c more often from run to run: each leaves something behind",
                       {FIX_CLEAN, FIX_RESTART}},
    [REASON_POLLING] = {"polling",
                        "how often %C calls %c differs from run to run, as when it polls or waits",
                        {FIX_IGNORE, FIX_QUIET}},
    [REASON_PATH] = {"paths that change", "%C calls another path in each run: %c", {FIX_RULE}},
    [REASON_PAYLOAD] = {"requests that change",
                        "what %C sends to %c differs from run to run: a time, a random id",
                        {FIX_PAYLOAD}},
    [REASON_ORDER] = {NULL,
                      "the order of %C's calls differs from run to run: %c",
                      {FIX_BASELINES, FIX_RESTART, FIX_BEFORE}},
    [REASON_SOMETIMES] =
        {NULL,
         "%C calls %c in some runs and not in others, and the faults do not explain it",
         {FIX_RESTART, FIX_QUIET, FIX_IGNORE, FIX_BEFORE}},
    [REASON_REPLY] = {NULL,
                      "%C answers differently from run to run, although its calls end "
                      "the same way",
                      {FIX_RESTART, FIX_BEFORE}},
    [REASON_UNFIT] = {"a fault that does not fit",
                      "the answer of %c cannot be altered in this way: it has no such "
                      "field, is not JSON, or has nothing to cut; or an event could not begin",
                      {FIX_MODES}},
    [REASON_TIMING] = {"timing", NULL, {FIX_END}},
    [REASON_ASSUMPTION] = {"wrong assumption", NULL, {FIX_END}},
};

/* ---- parts of texts ---- */

/* "prices GET /price", as `ignore` takes it. */
static void add_call(const struct summary *s, uid call, struct buf *out)
{
    const struct element *e = uid_element(s->names, call);
    buf_addf(out, "%.*s %.*s", SLICE_ARG(names_text(s->names, e->service)),
             SLICE_ARG(names_text(s->names, e->interface)));
}

static void add_calls(const struct summary *s, const struct reason *r, struct buf *out)
{
    uint32_t shown = r->n_calls < REASON_CALLS ? r->n_calls : REASON_CALLS;
    for (uint32_t i = 0; i < shown; i++) {
        buf_adds(out, i == 0 ? "" : i + 1 < r->n_calls ? ", " : " and ");
        add_call(s, r->call[i], out);
    }
    if (r->n_calls > shown)
        buf_addf(out, " and %u more", (unsigned)(r->n_calls - shown));
}

/* The path of "GET /orders/7"; of gRPC all. */
static slice path_of(const struct summary *s, uid call)
{
    slice interface = names_text(s->names, uid_element(s->names, call)->interface);
    size_t space = slice_find(interface, ' ');
    return space < interface.n ? slice_from(interface, space + 1) : interface;
}

/* One side of "/orders/[^/]+ -> /orders/[value]", for two paths that differ in some parts. */
static void add_pattern(slice a, slice b, bool regex, struct buf *out)
{
    slice one, other;
    for (bool first = true; slice_cut(&a, '/', &one); first = false) {
        bool same = slice_cut(&b, '/', &other) && slice_eq(one, other);
        buf_adds(out, first ? "" : "/");
        for (size_t i = 0; same && i < one.n; i++) {
            if (regex && strchr(".[]{}()*+?^$|\\", one.p[i]))
                buf_addc(out, '\\');
            buf_addc(out, one.p[i]);
        }
        if (!same)
            buf_adds(out, regex ? "[^/]+" : "[value]");
    }
}

/* All modes but the one that did not fit; where there is no other, a set that fits anywhere. */
static void add_modes(const struct summary *s, const struct reason *r, struct buf *out)
{
    mode unfit = s->faultloads->rows.at[r->example->faultload].last.mode;
    bool any = false;
    for (uint32_t i = 0; i < s->n_modes; i++) {
        if (s->modes[i] == unfit)
            continue;
        buf_adds(out, any ? ", " : "");
        mode_print(s->modes[i], out);
        any = true;
    }
    if (!any)
        buf_adds(out, "standard");
}

static void add_filled(const struct summary *s, const struct reason *r, const char *text,
                       struct buf *out)
{
    struct buf quoted = BUF_INIT(1 << 14);
    uid other = r->n_calls > 1 ? r->call[1] : r->example->other; /* whose path differs */
    for (; *text; text++) {
        if (*text != '%') {
            buf_addc(out, *text);
            continue;
        }
        switch (*++text) {
        case 'C': words_add(out, s->names, "%v", r->handler); break;
        case 'c': add_calls(s, r, out); break;
        case 's': buf_adds(out, s->scenario); break;
        case 'm': add_modes(s, r, out); break;
        case 'q': add_call(s, r->call[0], &quoted); break;
        case 'r': {
            slice a = path_of(s, r->call[0]), b = other ? path_of(s, other) : a;
            add_pattern(a, b, true, &quoted);
            buf_adds(&quoted, " -> ");
            add_pattern(a, b, false, &quoted);
            break;
        }
        default: break;
        }
        if (quoted.n)
            buf_add_json_string(out, buf_slice(&quoted));
        buf_clear(&quoted);
    }
    buf_deinit(&quoted);
}

/* ---- what was seen ---- */

const char *words_reason_title(const struct reason *r)
{
    return rows[r->kind].title ? rows[r->kind].title : "unknown cause";
}

void words_reason(const struct summary *s, const struct reason *r, struct buf *out)
{
    if (rows[r->kind].seen)
        add_filled(s, r, rows[r->kind].seen, out);
    else
        words_suspect(s, r->example, out);
}

void words_reason_seen(const struct summary *s, const struct reason *r, struct buf *out)
{
    struct finding as = {.faultload = r->example->faultload};
    if (r->times == 1)
        buf_adds(out, "once, ");
    else
        buf_addf(out, "%llu times, for example ", (unsigned long long)r->times);
    if (as.faultload == FAULTLOAD_EMPTY) {
        buf_adds(out, "in a run without faults");
    } else {
        buf_adds(out, "when ");
        words_finding(s, &as, NULL, NULL, out);
    }
    if (r->given_up)
        buf_adds(out, "; faults there are no longer tried");
}

/* ---- what helps ---- */

bool words_remedy(const struct summary *s, const struct reason *r, uint32_t i, struct remedy *out)
{
    bool known = rows[r->kind].title, can_restart = false;
    slice service = names_text(s->names, uid_element(s->names, r->handler)->service);
    for (uint32_t k = 0; k < s->restarted.n; k++)
        can_restart |= slice_is(service, s->restarted.at[k]);
    uint32_t left = i;
    for (uint32_t k = 0; k < FIXES_MAX && rows[r->kind].fix[k]; k++) {
        enum fix fix = rows[r->kind].fix[k];
        const char *line = s->ids ? fixes[fix].line : fixes[fix].simulated;
        bool unfit =
            !line || (fix == FIX_RESTART && !can_restart) || (fix == FIX_IGNORE && r->n_calls == 0);
        if (unfit || left-- > 0)
            continue;
        *out = (struct remedy){.line = BUF_INIT(1 << 14),
                               .where = BUF_INIT(1 << 14),
                               .verb = known ? (i ? "or" : "add") : (i ? "then" : "try")};
        add_filled(s, r, line, &out->line);
        add_filled(s, r, fixes[fix].where, &out->where);
        return true;
    }
    return false;
}

void remedy_deinit(struct remedy *r)
{
    buf_deinit(&r->line);
    buf_deinit(&r->where);
}

void words_reason_line(const struct summary *s, const struct reason *r, struct buf *out)
{
    struct remedy remedy;
    buf_addf(out, "%s: ", words_reason_title(r));
    words_reason(s, r, out);
    for (uint32_t i = 0; words_remedy(s, r, i, &remedy); i++) {
        buf_addf(out, "%s %s `%s` %s", i ? "," : ". In the file:", remedy.verb,
                 buf_text(&remedy.line), buf_text(&remedy.where));
        remedy_deinit(&remedy);
    }
}
