/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/finding.h"

#include "base/hash.h"
#include "base/index.h"
#include "plan/syscalls.h"

enum {
    STACK_FRAMES = 8, /* of a stack, so many functions tell findings apart */
    EACH_WHAT = 2,    /* variations of a kind */
    VARIATIONS_MAX = EACH_WHAT * VARY_WHATS,
    UNLUCKY = 2, /* a request that does not come is asked for so often */
};

/* A finding at work. */
struct work {
    struct trial_finding *finding;
    uint32_t asked, told; /* trials that repeat it */
    bool planned;
    struct trial_order todo[VARIATIONS_MAX];
    uint32_t n_todo, given, taken;
};

struct findings {
    struct arena arena;
    const struct trials *trials;
    policy_errors *errors;
    void *user;
    VEC(struct work) work;
    struct map known;                /* points by their keys */
    VEC(struct outfox_point) points; /* `requests`: the most that a trial had */
};

struct findings *findings_new(const struct trials *t, policy_errors *errors, void *user)
{
    struct findings *f = mem_zero(sizeof *f);
    f->trials = t;
    f->errors = errors;
    f->user = user;
    return f;
}

void findings_free(struct findings *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->work.n; i++) {
        vec_deinit(&f->work.at[i].finding->seen);
        mem_free(f->work.at[i].finding);
    }
    vec_deinit(&f->work);
    vec_deinit(&f->points);
    map_deinit(&f->known);
    arena_deinit(&f->arena);
    mem_free(f);
}

uint32_t findings_n(const struct findings *f)
{
    return f->work.n;
}

const struct trial_finding *findings_at(const struct findings *f, uint32_t i)
{
    return f->work.at[i].finding;
}

void findings_learn(struct findings *f, const struct trial_result *r)
{
    for (uint32_t i = 0; i < r->points.n; i++) {
        const struct outfox_point *p = &r->points.at[i];
        uint32_t at = map_index(&f->known, p->key, f->points.n);
        if (at == f->points.n)
            vec_push(&f->points, *p);
        else if (p->requests > f->points.at[at].requests)
            f->points.at[at].requests = p->requests;
    }
}

/* ---- which trials are one thing ---- */

static uint64_t hash_stack(const struct trial_injection *in)
{
    uint64_t h = hash_slice(in->callee);
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->stack.n && n < STACK_FRAMES; i++) {
        if (!in->stack.at[i].function.n)
            continue;
        h = hash_mix(h, hash_slice(in->stack.at[i].function));
        n++;
    }
    return n ? h : hash_mix(h, hash_slice(in->site.function));
}

static slice title_of(struct findings *f, const struct trial_result *r)
{
    const struct trial_injection *in = &r->injection;
    struct buf text = BUF_INIT(1000);
    const char *error = in->raw.error ? syscall_error_name(in->raw.error) : NULL;
    if (in->raw.act == OUTFOX_DELAY)
        buf_adds(&text, "a delay");
    else if (in->raw.act == OUTFOX_SHORT)
        buf_adds(&text, "a short count");
    else if (error)
        buf_adds(&text, error);
    else
        buf_addf(&text, in->raw.error ? "error %d" : "an error", in->raw.error);
    if (in->callee.n)
        buf_addf(&text, " of %.*s in %.*s", SHORT(in->callee), SHORT(in->site.function));
    else
        buf_addf(&text, " of %.*s", SHORT(in->site.function));
    const struct trial_symptom *first = &r->symptoms.at[0];
    if (first->kind == SYMPTOM_INVARIANT) /* its text begins with its name */
        buf_addf(&text, ": \"%.*s\" does not hold", (int)slice_find(first->text, ':'),
                 first->text.p);
    else
        buf_addf(&text, ": %s", symptom_doc(first->kind));
    return buf_keep(&text, &f->arena);
}

/* The request that was granted, so that it is asked for alone. */
static struct trial_order replay_of(const struct trial_result *r)
{
    const struct outfox_injection *in = &r->injection.raw;
    struct trial_order o = r->order;
    o.rule = OUTFOX_RULE_POINT;
    o.key = in->point.key;
    o.nth = in->point.requests ? in->point.requests : 1;
    o.error = in->error;
    o.chance = 0;
    o.leg = UINT32_MAX;
    return o;
}

static struct trial_finding *find(struct findings *f, const struct trial_result *r, uint64_t stack)
{
    for (uint32_t i = 0; i < f->work.n; i++) {
        struct trial_finding *one = f->work.at[i].finding;
        if (one->stack == stack && one->act == r->order.act &&
            one->symptom == r->symptoms.at[0].kind)
            return one;
    }
    return NULL;
}

void findings_add(struct findings *f, struct trial_result *r)
{
    uint64_t stack = hash_stack(&r->injection);
    struct trial_finding *one = find(f, r, stack);
    if (!one) {
        one = mem_zero(sizeof *one);
        one->number = f->work.n + 1;
        one->title = title_of(f, r);
        one->symptom = r->symptoms.at[0].kind;
        one->stack = stack;
        one->act = r->order.act;
        one->first = r;
        one->replay = replay_of(r);
        vec_push(&f->work, (struct work){.finding = one});
    }
    vec_push(&one->seen, r);
    r->finding = one->number - 1;
}

uint64_t finding_trials(const struct trial_finding *f, uint32_t leg)
{
    for (uint32_t i = 0; i < f->seen.n; i++)
        if (f->seen.at[i]->order.leg == leg)
            return f->seen.at[i]->order.in_leg;
    return 0;
}

/* ---- what of it matters ---- */

static bool same_caller(const struct outfox_point *a, const struct outfox_point *b)
{
    return a->caller == b->caller && a->caller_module == b->caller_module;
}

static bool same_site(const struct outfox_point *a, const struct outfox_point *b)
{
    return a->site == b->site && a->module == b->module;
}

/* Which one thing tells a point from that of the finding; VARY_WHATS: several, or none. */
static enum vary_what differs_in(const struct outfox_point *a, const struct outfox_point *b)
{
    bool state = policy_state(a) != policy_state(b), site = !same_site(a, b);
    bool caller = !same_caller(a, b);
    if (a->node != b->node)
        return VARY_WHATS;
    if (site) /* it has other callers too */
        return state || a->state == OUTFOX_NO_STATE ? VARY_WHATS : VARY_SITE;
    if (state == caller)
        return VARY_WHATS;
    return state ? VARY_STATE : VARY_CALLER;
}

static void plan_one(struct work *w, enum vary_what what, uint64_t key, uint64_t nth, int error)
{
    uint32_t already = 0;
    for (uint32_t i = 0; i < w->n_todo; i++)
        already += w->todo[i].vary == what;
    if (already == EACH_WHAT)
        return;
    struct trial_order o = w->finding->replay;
    o.purpose = TRIAL_VARY;
    o.vary = what;
    o.key = key;
    o.nth = nth;
    o.error = error;
    w->todo[w->n_todo++] = o;
}

/* Other moments: the first request, and one in the middle of all. */
static void plan_moments(struct work *w, uint32_t requests)
{
    const struct trial_order *o = &w->finding->replay;
    uint64_t middle = (requests + 1) / 2;
    if (o->nth != 1)
        plan_one(w, VARY_NTH, o->key, 1, o->error);
    if (middle > 1 && middle != o->nth)
        plan_one(w, VARY_NTH, o->key, middle, o->error);
    else if (requests > 1 && o->nth == 1)
        plan_one(w, VARY_NTH, o->key, 2, o->error);
}

static void plan_errors(struct findings *f, struct work *w, const struct outfox_point *p)
{
    int errors[OUTFOX_ERRORS];
    const struct trial_order *o = &w->finding->replay;
    if (w->finding->act != OUTFOX_ERROR || !f->errors)
        return;
    uint32_t n = f->errors(f->user, p->module, p->site, errors);
    for (uint32_t i = 0; i < n; i++)
        if (errors[i] != o->error)
            plan_one(w, VARY_ERROR, o->key, o->nth, errors[i]);
}

static void plan_variations(struct findings *f, struct work *w)
{
    const struct outfox_point *own = &w->finding->first->injection.raw.point;
    const struct trial_order *o = &w->finding->replay;
    uint32_t requests = own->requests;
    w->planned = true;
    for (uint32_t i = 0; i < f->points.n; i++) {
        const struct outfox_point *p = &f->points.at[i];
        enum vary_what what = differs_in(own, p);
        if (p->key == own->key)
            requests = p->requests;
        else if (p->requests && what != VARY_WHATS) /* another site has other errors */
            plan_one(w, what, p->key, 1, what == VARY_SITE ? 0 : o->error);
    }
    plan_moments(w, requests);
    plan_errors(f, w, own);
}

/* ---- one trial after the other ---- */

static bool give(uint32_t place, const struct trial_order *wanted, struct trial_order *out)
{
    *out = *wanted;
    out->finding = place;
    return true;
}

static bool next_of(struct findings *f, uint32_t place, struct trial_order *out)
{
    struct work *w = &f->work.at[place];
    struct trial_finding *one = w->finding;
    uint32_t repeats = f->trials->repeats;
    if (one->done)
        return false;
    bool enough = one->again_tried >= repeats || w->told >= repeats * UNLUCKY;
    if (!enough && w->asked < repeats + (w->told - one->again_tried)) {
        struct trial_order again = one->replay;
        again.purpose = TRIAL_AGAIN;
        w->asked++;
        return give(place, &again, out);
    }
    if (!enough)
        return false; /* until they were told */
    if (!w->planned && one->again_shown)
        plan_variations(f, w);
    if (w->given < w->n_todo)
        return give(place, &w->todo[w->given++], out);
    one->done = w->taken == w->n_todo;
    return false;
}

bool findings_next(struct findings *f, struct trial_order *out)
{
    for (uint32_t i = 0; i < f->work.n; i++)
        if (next_of(f, i, out))
            return true;
    return false;
}

static bool shows(const struct trial_finding *one, const struct trial_result *r)
{
    for (uint32_t i = 0; i < r->symptoms.n; i++)
        if (r->symptoms.at[i].suspicious && r->symptoms.at[i].kind == one->symptom)
            return true;
    return false;
}

void findings_took(struct findings *f, const struct trial_result *r)
{
    struct work *w = &f->work.at[r->order.finding];
    struct trial_finding *one = w->finding;
    bool made = r->injection.done, shown = made && shows(one, r);
    if (r->order.purpose == TRIAL_AGAIN) {
        w->told++;
        one->again_tried += made;
        one->again_shown += shown;
        return;
    }
    w->taken++;
    one->varied[r->order.vary].tried += made;
    one->varied[r->order.vary].shown += shown;
}

/* ---- requests as text ---- */

static const char *const act_names[] = {
    [OUTFOX_ERROR] = "error", [OUTFOX_DELAY] = "delay", [OUTFOX_SHORT] = "short"};

void trial_order_print(const struct trial_order *o, struct buf *out)
{
    buf_addf(out, "%016llx:%llu:%s:", (unsigned long long)o->key, (unsigned long long)o->nth,
             act_names[o->act]);
    if (o->act == OUTFOX_DELAY)
        buf_addf(out, "%lldns", (long long)o->delay_ns);
    else
        buf_addf(out, "%d", o->error);
    buf_addf(out, ":%llx", (unsigned long long)o->seed);
}

static bool act_of(slice name, enum outfox_act *out)
{
    for (uint32_t i = 0; i < sizeof act_names / sizeof *act_names; i++)
        if (act_names[i] && slice_is(name, act_names[i])) {
            *out = (enum outfox_act)i;
            return true;
        }
    return false;
}

int trial_order_read(slice text, struct trial_order *o, struct err *e)
{
    slice part[5], rest = text;
    uint32_t n = 0;
    uint64_t error = 0;
    *o = (struct trial_order){.purpose = TRIAL_REPLAY,
                              .rule = OUTFOX_RULE_POINT,
                              .leg = UINT32_MAX,
                              .finding = UINT32_MAX,
                              .nodes = UINT64_MAX};
    while (n < 5 && slice_cut(&rest, ':', &part[n]))
        n++;
    bool good = n == 5 && !rest.p && slice_to_hex(part[0], &o->key) && o->key &&
                slice_to_u64(part[1], UINT32_MAX, &o->nth) && o->nth && act_of(part[2], &o->act) &&
                slice_to_hex(part[4], &o->seed);
    if (good && o->act == OUTFOX_DELAY)
        good = slice_to_ns(part[3], &o->delay_ns) && o->delay_ns > 0;
    else if (good)
        good = slice_to_u64(part[3], 4095, &error);
    o->error = (int32_t)error;
    return good ? 0
                : err_set(e, 0, 0,
                          "\"%.*s\" is no request: a report of trials has it, as in "
                          "1f00ba4400000001:3:error:5:0",
                          SHORT(text));
}
