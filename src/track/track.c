/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs, their calls and the names of those. A call is named when it arrives, and those of the
 * learning runs once more when it is known which payloads are part of names: by the same function,
 * from the same facts. */
#include "track/track.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "track/browser.h"

enum { SLOTS_MAX = 64, ENDED_KEPT = 4096, NAMING_ROUNDS = 4 };

struct track_lesson {
    struct track_calls all;
};

struct ignore {
    struct pattern calls;
    uint64_t hits;
};

struct tracker {
    struct track_options opt;
    struct arena arena;
    sym *service; /* symbols of their names */
    sym client;
    struct track_run *slot[SLOTS_MAX];
    uint32_t n_slots; /* that were ever used */
    uint32_t n_runs;  /* under way */
    uint64_t n_begun;
    struct {
        uint64_t key;
        int64_t answered_ns;
        struct lessons *lessons; /* held */
    } ended[ENDED_KEPT];         /* runs that ended, the newest ones */
    uint64_t n_ended;
    VEC(struct ignore) ignore; /* the first is ours */
};

const char *const track_level_names[TRACK_LEVELS] = {"state", "trace", "none"};

/* One that cannot be read was refused before: it means nothing. */
static void add_ignore(struct tracker *t, slice text)
{
    struct vocabulary v = {.names = t->opt.names, .rules = t->opt.rules};
    struct ignore row = {0};
    struct err ignored = {0};
    if (pattern_parse(&row.calls, &v, PATTERN_CALLS, text, &ignored))
        pattern_deinit(&row.calls);
    else
        vec_push(&t->ignore, row);
}

bool track_ignores(const struct tracker *t, uint32_t i)
{
    return i + 1 < t->ignore.n && t->ignore.at[i + 1].hits > 0;
}

struct tracker *tracker_new(const struct track_options *options)
{
    struct tracker *t = mem_zero(sizeof *t);
    t->opt = *options;
    t->service = arena_alloc(&t->arena, (options->n_services + 1) * sizeof *t->service);
    for (uint32_t i = 0; i < options->n_services; i++)
        t->service[i] = names_sym(options->names, options->services[i]);
    t->client = names_sym(options->names, SLICE("client"));
    add_ignore(t, SLICE("* grpc.health.*"));
    for (uint32_t i = 0; i < options->n_ignore; i++)
        add_ignore(t, options->ignore[i]);
    return t;
}

void tracker_free(struct tracker *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < SLOTS_MAX; i++) {
        struct trace trace = {0};
        if (t->slot[i])
            track_end(t, t->slot[i], &trace, 0);
        vec_deinit(&trace.calls);
    }
    for (uint32_t i = 0; i < ENDED_KEPT; i++)
        lessons_drop(t->ended[i].lessons);
    for (uint32_t i = 0; i < t->ignore.n; i++)
        pattern_deinit(&t->ignore.at[i].calls);
    vec_deinit(&t->ignore);
    arena_deinit(&t->arena);
    mem_free(t);
}

/* ---- names ---- */

static uint64_t key_of(slice service, slice interface)
{
    return hash_mix(hash_slice(service), hash_slice(interface));
}

/* Identifies an interface of a service, for payloads. */
static uint64_t interface_key(const struct tracker *t, uint32_t service, slice interface)
{
    return key_of(t->opt.services[service], interface);
}

/* The name of a call that is being made. */
static uid name_call(const struct tracker *t, const struct track_calls *all, uint32_t parent,
                     const struct track_call *call, int64_t start_ns)
{
    struct names *names = t->opt.names;
    struct element el = {.service =
                             call->service == CALLER_CLIENT ? t->client : t->service[call->service],
                         .interface = call->interface,
                         .payload = call->payload};
    if (parent == CALL_NONE)
        return names_uid(names, UID_NONE, names_element(names, el));
    for (uint32_t i = all->calls.at[parent].first; i != CALL_NONE; i = all->calls.at[i].next) {
        const struct track_call *c = &all->calls.at[i];
        el.n += c->service == call->service && c->interface == call->interface &&
                c->payload == call->payload;
    }
    uint64_t before = 0; /* a hash of the siblings that had ended when this one starts */
    if (t->opt.predecessors)
        for (uint32_t i = all->calls.at[parent].first; i != CALL_NONE; i = all->calls.at[i].next) {
            const struct call *c = &all->trace.calls.at[i];
            if (!all->calls.at[i].open && c->end_ns <= start_ns &&
                !track_is_file(&all->calls.at[i]))
                before += element_hash(names, uid_element(names, c->uid));
        }
    el.before = before ? hash_fold(before) : 0;
    return names_uid(names, all->trace.calls.at[parent].uid, names_element(names, el));
}

/* Hangs call i below its parent. */
static void calls_link(struct track_calls *all, uint32_t i)
{
    struct track_call *c = &all->calls.at[i];
    uint32_t parent = all->trace.calls.at[i].parent;
    c->first = c->last = c->next = CALL_NONE;
    if (parent == CALL_NONE)
        return;
    struct track_call *p = &all->calls.at[parent];
    if (p->first == CALL_NONE)
        p->first = i;
    else
        all->calls.at[p->last].next = i;
    p->last = i;
}

bool track_is_file(const struct track_call *c)
{
    return c->file && c->first == CALL_NONE;
}

/* Leaves out what a browser got by itself. To be called when all calls have their names: their
 * numbers count what was left out too, as they do while a run is under way. */
static void drop_files(struct track_calls *all)
{
    VEC(uint32_t) place = {0}; /* where each call is now */
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->calls.n; i++) {
        vec_push(&place, n);
        if (track_is_file(&all->calls.at[i])) {
            payload_deinit(&all->calls.at[i].fields);
            continue;
        }
        struct call c = all->trace.calls.at[i];
        c.parent = c.parent == CALL_NONE ? CALL_NONE : place.at[c.parent];
        all->trace.calls.at[n] = c;
        all->calls.at[n++] = all->calls.at[i];
    }
    all->calls.n = all->trace.calls.n = n;
    for (uint32_t i = 0; i < n; i++)
        calls_link(all, i);
    vec_deinit(&place);
}

static void calls_deinit(struct track_calls *all)
{
    for (uint32_t i = 0; i < all->calls.n; i++)
        payload_deinit(&all->calls.at[i].fields);
    vec_deinit(&all->calls);
    vec_deinit(&all->trace.calls);
}

/* ---- runs ---- */

static uint32_t add_call(struct track_run *r, struct track_call call, struct call record)
{
    uint32_t i = r->all.calls.n;
    vec_push(&r->all.calls, call);
    vec_push(&r->all.trace.calls, record);
    calls_link(&r->all, i);
    return i;
}

struct track_run *track_begin(struct tracker *t, uint32_t slot, uint32_t service, slice interface,
                              uint8_t flags, struct aim *aim, struct lessons *lessons,
                              bool learning, int64_t now_ns)
{
    struct track_run *r = mem_zero(sizeof *r);
    uint64_t number = ++t->n_begun;
    r->id.high = hash_mix(t->opt.seed, number);
    r->id.low = hash_mix(number, t->opt.seed) | 1; /* never 0 */
    r->key = r->id.low;
    r->secret = random_key();
    r->slot = slot;
    r->aim = aim;
    r->lessons = lessons;
    lessons->holders++;
    r->learning = learning;
    r->start_ns = r->active_ns = now_ns;
    struct track_call call = {
        .service = service, .interface = names_sym(t->opt.names, interface), .open = true};
    uid u = name_call(t, &r->all, CALL_NONE, &call, 0);
    add_call(r, call,
             (struct call){.uid = u, .parent = CALL_NONE, .handled = true, .flags = flags});
    t->slot[slot] = r;
    t->n_slots = slot < t->n_slots ? t->n_slots : slot + 1;
    t->n_runs++;
    return r;
}

static struct track_run *track_find(const struct tracker *t, uint64_t key)
{
    for (uint32_t i = 0; i < t->n_slots; i++)
        if (t->slot[i] && t->slot[i]->key == key)
            return t->slot[i];
    return NULL;
}

/* All are compared as whole numbers: how long it takes tells nothing of them. */
struct track_run *track_find_secret(const struct tracker *t, uint64_t secret)
{
    struct track_run *found = NULL;
    for (uint32_t i = 0; i < SLOTS_MAX; i++)
        if (t->slot[i] && t->slot[i]->secret == secret)
            found = t->slot[i];
    return found;
}

void track_answered(struct track_run *r, outcome seen, int64_t now_ns)
{
    struct call *root = &r->all.trace.calls.at[0];
    root->seen = root->reply = seen;
    root->end_ns = now_ns - r->start_ns;
    r->all.calls.at[0].open = false;
    r->answered = true;
    r->answered_ns = now_ns;
}

bool track_hush(struct track_run *r)
{
    bool room = r->blocks < TRACK_BLOCKS_MAX;
    r->blocks += room;
    return room;
}

bool track_unhush(struct track_run *r)
{
    bool open = r->blocks > 0;
    r->blocks -= open;
    return open;
}

/* Takes the run out of the tracker. */
static void leave(struct tracker *t, struct track_run *r, int64_t now_ns)
{
    for (uint32_t i = 0; i < r->all.calls.n; i++) {
        struct call *c = &r->all.trace.calls.at[i];
        if (r->all.calls.at[i].open) {
            c->flags |= CALL_OPEN;
            c->seen = c->reply = OUTCOME(OUT_TIMEOUT, 0);
            /* without a fault it was passed on; with one, calls below it show that it was */
            c->handled = c->mode == MODE_NONE || r->all.calls.at[i].first != CALL_NONE;
            c->end_ns = now_ns - r->start_ns;
        }
        if (c->end_ns <= c->start_ns)
            c->end_ns = c->start_ns + 1;
    }
    t->slot[r->slot] = NULL;
    t->n_runs--;
    uint32_t at = (uint32_t)(t->n_ended++ % ENDED_KEPT);
    t->ended[at].key = r->key;
    lessons_drop(t->ended[at].lessons);
    t->ended[at].lessons = r->lessons; /* which holds them now */
    t->ended[at].answered_ns = r->answered ? r->answered_ns : now_ns;
}

void track_end(struct tracker *t, struct track_run *r, struct trace *out, int64_t now_ns)
{
    leave(t, r, now_ns);
    drop_files(&r->all);
    vec_deinit(&out->calls);
    *out = r->all.trace;
    r->all.trace = (struct trace){0};
    calls_deinit(&r->all);
    mem_free(r);
}

struct track_lesson *track_end_learning(struct tracker *t, struct track_run *r, int64_t now_ns)
{
    struct track_lesson *l = mem_zero(sizeof *l);
    leave(t, r, now_ns);
    l->all = r->all;
    mem_free(r);
    return l;
}

/* ---- on behalf of which call of which run? ---- */

/* What the call says comes first; where it says nothing, the calling service's open call is
 * meant. */
struct track_parent {
    struct track_run *run; /* NULL: it belongs to none */
    uint32_t call;
    bool ambiguous;
    enum track_level by;
};

/* The newest call of the caller that is open, or that has ended; *n counts them. A file is rather
 * not what others are called for. */
static uint32_t call_of_caller(const struct track_run *r, const struct track_arrival *a,
                               bool by_address, bool open, uint32_t *n)
{
    uint32_t found = CALL_NONE;
    *n = 0;
    for (uint32_t i = 0; i < r->all.calls.n; i++) {
        const struct track_call *c = &r->all.calls.at[i];
        if (c->open != open)
            continue;
        bool callers = by_address
                           ? c->service == a->caller
                           : a->owns && c->service != CALLER_CLIENT && a->owns(a->ctx, c->service);
        if (!callers || (found != CALL_NONE && c->file && !r->all.calls.at[found].file))
            continue;
        *n = found != CALL_NONE && r->all.calls.at[found].file && !c->file ? 1 : *n + 1;
        found = i;
    }
    return found;
}

/* By address, then by process; open calls, then those that have ended (work that goes on after the
 * answer). A guess of last resort is the scenario's own request. */
static void find_by_caller(const struct track_arrival *a, struct track_parent *out)
{
    uint32_t n;
    bool addressed = a->caller != CALLER_UNKNOWN;
    for (int open = 1; open >= 0; open--)
        for (int by_address = addressed; by_address >= 0; by_address--) {
            out->call = call_of_caller(out->run, a, by_address, open, &n);
            if (n > 0) {
                out->ambiguous = n > 1;
                return;
            }
        }
    out->call = 0;
    out->ambiguous = true;
}

static void parent_find(const struct tracker *t, const struct track_arrival *a,
                        struct track_parent *out)
{
    const struct context *c = &a->context;
    /* a client that was given addresses of its own is known by them, unless it has handed them on
     * to a service that says so */
    bool client = a->caller != CALLER_UNKNOWN && a->caller & CALLER_CLIENT;
    *out = (struct track_parent){.call = CALL_NONE, .by = TRACK_NONE};
    if (client)
        out->run = t->slot[a->caller & ~CALLER_CLIENT];
    else if (c->run)
        out->run = track_find(t, c->run);
    else /* the only one there is */
        for (uint32_t i = 0; t->n_runs == 1 && !a->crowded && i < SLOTS_MAX && !out->run; i++)
            out->run = t->slot[i];
    if (!out->run)
        return;
    if (t->opt.best == TRACK_STATE && c->run == out->run->key &&
        c->call < out->run->all.calls.n) { /* it says so itself */
        out->call = c->call;
        out->by = TRACK_STATE;
    } else if (client) {
        out->call = 0;
    } else {
        out->by = c->run ? TRACK_TRACE : TRACK_NONE;
        find_by_caller(a, out);
    }
}

/* ---- calls ---- */

static bool ignored(struct tracker *t, uint32_t service, slice interface)
{
    for (uint32_t i = 0; i < t->ignore.n; i++) {
        struct ignore *row = &t->ignore.at[i];
        if (pattern_names(&row->calls, t->opt.names, t->opt.services[service], interface)) {
            row->hits++;
            return true;
        }
    }
    return false;
}

bool track_wants_body(const struct tracker *t, uint32_t service, slice interface)
{
    if (t->n_runs == 0 || t->opt.payload == TRACK_PAYLOAD_OFF)
        return false;
    if (t->opt.payload == TRACK_PAYLOAD_ON)
        return true;
    for (uint32_t i = 0; i < t->n_slots; i++) {
        const struct lessons *l = t->slot[i] ? t->slot[i]->lessons : NULL;
        if (l && (!l->decided || payload_used(l->payloads, interface_key(t, service, interface))))
            return true;
    }
    return false;
}

static void count_call(const struct track_parent *p, uint32_t service, uint32_t seen)
{
    struct track_facts *facts = p->run->lessons->facts;
    facts[service].received++;
    uint32_t caller = p->run->all.calls.at[p->call].service;
    if (caller == CALLER_CLIENT)
        return;
    struct track_facts *f = &facts[caller];
    f->made++;
    f->by[p->by]++;
    f->ambiguous += p->ambiguous;
    f->dialects |= seen;
}

/* The payload, as far as it is part of names or to be learned about. */
static void read_payload(const struct tracker *t, const struct track_arrival *a,
                         const struct track_run *r, struct track_call *call)
{
    if (!track_wants_body(t, a->service, a->interface))
        return;
    struct payload fields = {0};
    int64_t now_ns = clock_wall_ns();
    payload_read(a->content_type, a->body, now_ns, &fields);
    payload_read_target(a->target, now_ns, &fields);
    if (t->opt.payload == TRACK_PAYLOAD_ON)
        call->payload = payload_hash_all(&fields);
    else if (r->lessons->decided)
        call->payload = payload_hash_of(r->lessons->payloads,
                                        interface_key(t, a->service, a->interface), &fields);
    if (r->learning)
        call->fields = fields;
    else
        payload_deinit(&fields);
}

/* ---- what was asked ---- */

static uint32_t request_hash(slice target, slice body)
{
    return hash_fold(hash_mix(hash_slice(target), body.n ? hash_slice(body) : 0));
}

void track_asked(struct tracker *t, uint64_t run, uint32_t call, slice target, slice body)
{
    struct track_run *r = track_find(t, run);
    if (r && !r->all.trace.calls.at[call].request)
        r->all.trace.calls.at[call].request = request_hash(target, body);
}

/* A call came for a run that had ended: that of this key, or, 0, the last of all. */
static void count_stray(struct tracker *t, const struct track_arrival *a, uint64_t key)
{
    if (!t->n_ended)
        return; /* of none of ours */
    uint32_t at = (uint32_t)((t->n_ended - 1) % ENDED_KEPT);
    for (uint32_t i = 0; i < ENDED_KEPT && key; i++)
        if (t->ended[i].key == key)
            at = i;
    int64_t late_ns = a->start_ns - t->ended[at].answered_ns;
    struct lessons *l = t->ended[at].lessons;
    if (l->strays.n++ > 0 && late_ns <= l->strays.late_ns)
        return;
    struct buf text = BUF_INIT(1000);
    buf_addf(&text, "%.*s %.*s", SLICE_ARG(t->opt.services[a->service]), SLICE_ARG(a->interface));
    l->strays.late_ns = late_ns;
    l->strays.caller = a->caller < t->opt.n_services ? a->caller : CALLER_UNKNOWN;
    if (!slice_eq(l->strays.call, buf_slice(&text)))
        l->strays.call = slice_copy(&l->arena, buf_slice(&text));
    buf_deinit(&text);
}

/* Does a service of ours make this call that would say so if it were on behalf of a run? */
static bool says_nothing(const struct tracker *t, const struct track_arrival *a)
{
    uint32_t caller = a->caller;
    for (uint32_t i = 0; i < t->opt.n_services && caller == CALLER_UNKNOWN && a->owns; i++)
        if (a->owns(a->ctx, i))
            caller = i;
    if (caller >= t->opt.n_services)
        return false;
    const struct lessons *last = t->ended[(t->n_ended - 1) % ENDED_KEPT].lessons;
    return last->facts[caller].by[TRACK_NONE] || !last->facts[caller].made;
}

/* It belongs to no run: is that as it should be? */
static void count_foreign(struct tracker *t, const struct track_arrival *a)
{
    if (a->context.run) {
        count_stray(t, a, a->context.run);
    } else if (t->n_runs > 0 && a->caller < t->opt.n_services) {
        /* it could be of any run that is under way: each scenario counts it once */
        for (uint32_t i = 0; i < t->n_slots; i++) {
            struct lessons *l = t->slot[i] ? t->slot[i]->lessons : NULL;
            for (uint32_t k = 0; k < i && l; k++)
                l = t->slot[k] && t->slot[k]->lessons == l ? NULL : l;
            if (l && l->lost++ == 0)
                l->lost_by = a->caller;
        }
    } else if (t->n_runs == 0 && t->n_ended > 0 && a->idle && says_nothing(t, a)) {
        count_stray(t, a, 0);
    }
}

struct track_run *track_arrive(struct tracker *t, const struct track_arrival *a,
                               struct call_fate *fate)
{
    struct track_parent p;
    *fate = (struct call_fate){0};
    if (ignored(t, a->service, a->interface)) {
        for (uint32_t i = 0; i < t->n_slots; i++)
            if (t->slot[i])
                t->slot[i]->lessons->facts[a->service].ignored++;
        return NULL;
    }
    parent_find(t, a, &p);
    struct track_run *r = p.run;
    if (!r) {
        count_foreign(t, a);
        return NULL;
    }
    if (r->cutting) { /* what follows from that is none of its calls */
        r->active_ns = a->start_ns;
        return NULL;
    }
    struct track_call call = {
        .service = a->service, .interface = names_sym(t->opt.names, a->interface), .open = true};
    read_payload(t, a, r, &call);
    bool hushed = r->blocks > 0 || r->all.trace.calls.at[p.call].flags & CALL_HUSHED;
    bool exempt = hushed || r->all.calls.at[p.call].service == CALLER_CLIENT;
    call.file = a->by_browser && r->all.calls.at[p.call].service == CALLER_CLIENT;
    struct call record = {.parent = p.call,
                          .request = a->whole ? request_hash(a->target, a->body) : 0,
                          .key = a->key.n ? hash_fold(hash_slice(a->key)) : 0,
                          .flags = (uint8_t)(a->flags | (exempt ? CALL_EXEMPT : 0) |
                                             (p.ambiguous ? CALL_AMBIGUOUS : 0) |
                                             (hushed ? CALL_HUSHED : 0)),
                          .start_ns = a->start_ns - r->start_ns};
    record.uid = name_call(t, &r->all, p.call, &call, record.start_ns);
    if (!exempt)
        record.mode = aim_find(r->aim, t->opt.names, record.uid, record.flags, &record.fault_point);
    if (r->answered) { /* how long was nothing heard of the run before it? */
        int64_t heard_ns = r->active_ns > r->answered_ns ? r->active_ns : r->answered_ns;
        int64_t late_ns = a->start_ns - heard_ns + 1;
        r->late_ns = late_ns > r->late_ns ? late_ns : r->late_ns;
    }
    count_call(&p, a->service, a->context.seen);
    r->n_open++;
    r->active_ns = a->start_ns;
    *fate = (struct call_fate){.run = r->key,
                               .call = add_call(r, call, record),
                               .mode = record.mode,
                               .client = exempt && !hushed};
    return r;
}

/* ---- calls that an HTTP head carries ---- */

static bool known_run(void *ctx, uint64_t key)
{
    const struct tracker *t = ctx;
    if (track_find(t, key))
        return true;
    for (uint32_t i = 0; i < ENDED_KEPT; i++) /* of a run that has ended: known, but not any more */
        if (t->ended[i].key == key)
            return true;
    return false;
}

void track_read_head(struct tracker *t, const struct head *h, struct track_arrival *a)
{
    if (t->opt.best != TRACK_NONE)
        context_read(h, t->opt.custom, t->opt.n_custom, known_run, t, &a->context);
    a->target = h->target;
    a->by_browser = browser_asks(h);
    a->content_type = head_get(h, SLICE("content-type"));
    a->key = head_get(h, SLICE("idempotency-key")); /* either name is in use for it */
    if (!a->key.n)
        a->key = head_get(h, SLICE("x-idempotency-key"));
}

void track_write_head(const struct tracker *t, const struct track_run *r, uint32_t call,
                      const struct context *said, struct head *h, struct arena *a)
{
    static const uint32_t state = 1u << DIALECT_TRACESTATE | 1u << DIALECT_BAGGAGE;
    uint32_t learned = r->lessons->dialects;
    uint32_t write = !said ? learned : said->run ? state : learned | state;
    if (t->opt.best == TRACK_TRACE)
        write &= ~state;
    if (write && t->opt.best != TRACK_NONE)
        context_write(h, write, t->opt.custom, t->opt.n_custom, r->id, call, a, &h->fields,
                      &h->n_fields);
}

int64_t track_went_on(const struct tracker *t, uint64_t run, uint32_t call, int64_t told_ns,
                      int64_t end_ns)
{
    const struct track_run *r = track_find(t, run);
    uint32_t next = r && told_ns ? r->all.calls.at[call].next : CALL_NONE;
    for (; next != CALL_NONE;
         next = r->all.calls.at[next].next) { /* in the order of their starts */
        int64_t start_ns = r->start_ns + r->all.trace.calls.at[next].start_ns;
        if (start_ns >= told_ns && !r->all.calls.at[next].file)
            return start_ns < end_ns ? start_ns : end_ns;
    }
    return end_ns;
}

void track_ended(struct tracker *t, uint64_t run, uint32_t call, outcome seen, outcome reply,
                 bool handled, bool fired, int64_t now_ns)
{
    struct track_run *r = track_find(t, run);
    if (!r || !r->all.calls.at[call].open)
        return;
    struct call *c = &r->all.trace.calls.at[call];
    c->seen = seen;
    c->reply = reply;
    c->handled = handled;
    c->end_ns = now_ns - r->start_ns;
    if (r->cutting) {
        c->flags |= CALL_OPEN;
        c->seen = c->reply = OUTCOME(OUT_TIMEOUT, 0);
    }
    if (!fired)
        c->mode = MODE_NONE;
    r->all.calls.at[call].open = false;
    r->n_open--;
    r->active_ns = now_ns > r->active_ns ? now_ns : r->active_ns;
}

/* ---- learning ---- */

/* side_by_side: the interfaces whose targets are looked at. */
static void learn_payloads(const struct tracker *t, struct lessons *l,
                           const struct track_calls *all, uint32_t run,
                           const struct map *side_by_side)
{
    const struct call *calls = all->trace.calls.at;
    for (uint32_t i = 1; i < all->calls.n; i++) {
        const struct track_call *c = &all->calls.at[i];
        uint64_t key = interface_key(t, c->service, names_text(t->opt.names, c->interface));
        uint64_t place = 0; /* the path of services and interfaces above it */
        for (uint32_t k = calls[i].parent; k != CALL_NONE; k = calls[k].parent) {
            const struct element *el = uid_element(t->opt.names, calls[k].uid);
            place = hash_mix(place, hash_mix(el->service, hash_mix(el->interface, el->n)));
            place = hash_mix(place, el->payload);
        }
        payload_learn(l->payloads, run, key, place, uid_element(t->opt.names, calls[i].uid)->n,
                      &c->fields, map_get(side_by_side, key) != NULL);
    }
}

static void rename_calls(const struct tracker *t, const struct lessons *l, struct track_calls *all)
{
    for (uint32_t i = 0; i < all->calls.n; i++) {
        struct track_call *c = &all->calls.at[i];
        struct call *call = &all->trace.calls.at[i];
        if (i > 0)
            c->payload = payload_hash_of(
                l->payloads, interface_key(t, c->service, names_text(t->opt.names, c->interface)),
                &c->fields);
        call->uid = name_call(t, all, call->parent, c, call->start_ns);
        calls_link(all, i);
    }
}

/* Adds the interfaces of calls that overlap and differ, and have one name all the same. False:
 * there are none. */
static bool find_equal(const struct tracker *t, struct track_lesson *const *runs, uint32_t n,
                       struct map *side_by_side)
{
    const struct names *names = t->opt.names;
    struct overlaps o = {.pairs = {.items = {0}}};
    bool found = false;
    for (uint32_t i = 0; i < n; i++)
        overlaps_learn(&o, names, &runs[i]->all.trace);
    for (uint32_t i = 0; i < o.equal.n; i++) {
        const struct element *el = &names->elements.at[o.equal.at[i].element];
        if (!o.equal.at[i].differ)
            continue;
        map_set(side_by_side,
                key_of(names_text(names, el->service), names_text(names, el->interface)), 1);
        found = true;
    }
    overlaps_deinit(&o);
    return found;
}

/* Which of equal calls side by side comes first is chance, so where their bodies do not tell them
 * apart, their targets are looked at. Targets of other calls are not: calls in sequence are told
 * apart by their number. Each round tells apart the calls of handlers that the one before did. */
static void decide_names(const struct tracker *t, struct lessons *l,
                         struct track_lesson *const *runs, uint32_t n)
{
    struct map side_by_side = {.items = {0}};
    for (uint32_t round = 0; round < NAMING_ROUNDS; round++) {
        payload_rules_free(l->payloads);
        l->payloads = payload_rules_new();
        for (uint32_t i = 0; i < n; i++)
            learn_payloads(t, l, &runs[i]->all, i, &side_by_side);
        payload_decide(l->payloads);
        for (uint32_t i = 0; i < n; i++)
            rename_calls(t, l, &runs[i]->all);
        if (n < 2 || !find_equal(t, runs, n, &side_by_side)) /* one run proves no target */
            break;
    }
    map_deinit(&side_by_side);
}

void track_decide(const struct tracker *t, struct lessons *out, struct track_lesson *const *runs,
                  uint32_t n)
{
    out->decided = true;
    out->dialects = 0;
    for (uint32_t i = 0; i < out->n_services; i++)
        out->dialects |= out->facts[i].dialects;
    if (!out->dialects) /* nobody has made a call yet: some may when others fail */
        out->dialects = (1u << DIALECTS) - 1;
    if (t->opt.payload == TRACK_PAYLOAD_AUTO)
        decide_names(t, out, runs, n);
    for (uint32_t i = 0; i < n; i++)
        drop_files(&runs[i]->all);
}

const struct trace *track_lesson_trace(const struct track_lesson *l)
{
    return &l->all.trace;
}

void track_lesson_free(struct track_lesson *l)
{
    calls_deinit(&l->all);
    mem_free(l);
}
