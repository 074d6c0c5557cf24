/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store_case.h"

#include <stdlib.h>

#include "base/random.h"

#define LENGTH(array) (uint32_t)(sizeof(array) / sizeof *(array))

static const char *const services[] = {"payment", "größe", "支付",   "🦊",
                                       "a-b_c.d", "x",     "O'Neil", "%20"};
static const char *const interfaces[] = {"GET /users/[id]/bookings",
                                         "POST /bücher/[id]?q=ä&b=\"",
                                         "shop.Cart/Add",
                                         "DELETE /%20%00/x",
                                         "shop.訂單/取得",
                                         "GET *"};
static const char *const modes[] = {"503",
                                    "grpc:14",
                                    "reset",
                                    "reset:100",
                                    "delay:1500ms",
                                    "lost-reply:502",
                                    "corrupt:remove=größe/0/支付",
                                    "corrupt:null=total",
                                    "corrupt:empty",
                                    "slow:10",
                                    "lost-reply:reset",
                                    "rst-stream:7"};
static const char *const sentences[] = {"", "status is 200", "größer als 1 \xff\xfe",
                                        "the card is charged once; 'quoted' \"twice\"\n\tand more"};

void store_world_init(struct store_world *w)
{
    *w = (struct store_world){0};
    names_init(&w->names);
    faultloads_init(&w->fl);
}

void store_world_deinit(struct store_world *w)
{
    names_deinit(&w->names);
    faultloads_deinit(&w->fl);
    arena_deinit(&w->text);
}

static const char *one_of(struct rng *r, const char *const *words, uint32_t n)
{
    return words[rng_below(r, n)];
}

static mode random_mode(struct rng *r)
{
    mode m = MODE_NONE;
    struct err e = {0};
    if (mode_parse(slice_of(one_of(r, modes, LENGTH(modes))), &m, &e))
        abort();
    return m;
}

static outcome random_outcome(struct rng *r)
{
    static const uint32_t codes[] = {0, 1, 14, 100, 200, 404, 503, 599, 999, 0xffffff};
    uint32_t kind = rng_below(r, OUT_KINDS);
    bool coded = kind == OUT_STATUS || kind == OUT_GRPC;
    return OUTCOME(kind, coded ? codes[rng_below(r, LENGTH(codes))] : 0);
}

static uid random_uid(struct rng *r, struct names *names, uid parent)
{
    struct element e = {
        .service = names_sym(names, slice_of(one_of(r, services, LENGTH(services)))),
        .interface = names_sym(names, slice_of(one_of(r, interfaces, LENGTH(interfaces)))),
        .payload = rng_below(r, 4) ? 0 : (uint32_t)rng_next(r) | 1,
        .before = rng_below(r, 4) ? 0 : rng_below(r, 9),
        .n = rng_below(r, 3) ? 0 : rng_below(r, 100),
    };
    return names_uid(names, parent, names_element(names, e));
}

/* Up to 104 days, more often a short one. */
static int64_t random_time(struct rng *r)
{
    return (int64_t)((rng_next(r) >> 12) >> rng_below(r, 52));
}

/* As a tracker makes them, see run_flaw. */
static struct call random_call(struct rng *r, struct store_world *w, const struct trace *trace)
{
    struct call c = {.parent = CALL_NONE, .seen = random_outcome(r), .reply = random_outcome(r)};
    uid above = UID_NONE;
    c.flags = (uint8_t)rng_below(r, 1 << CALL_FLAGS);
    if (trace->calls.n > 0) {
        c.parent = rng_below(r, trace->calls.n);
        above = trace->calls.at[c.parent].uid;
        c.flags |= trace->calls.at[c.parent].flags & CALL_HUSHED;
    } else {
        c.flags &= (uint8_t)~CALL_HUSHED;
    }
    c.uid = random_uid(r, &w->names, above);
    if (rng_below(r, 3) == 0) {
        c.mode = random_mode(r);
        c.fault_point = rng_below(r, 2) ? c.uid : names_uid_all(&w->names, c.uid);
    }
    c.handled = rng_below(r, 2);
    c.start_ns = random_time(r) * (rng_below(r, 2) ? 1 : -1);
    c.end_ns = c.start_ns + 1 + random_time(r) / 4;
    if (c.end_ns > RUN_TIME_MAX)
        c.end_ns = RUN_TIME_MAX;
    c.request = rng_below(r, 3) ? (uint32_t)rng_next(r) : 0;
    c.key = rng_below(r, 3) ? 0 : (uint32_t)rng_next(r);
    return c;
}

static faultload random_faultload(struct rng *r, struct store_world *w, const struct trace *trace)
{
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        uid u = trace->calls.at[i].uid;
        if (rng_below(r, 3))
            continue;
        u = rng_below(r, 4) ? u : names_uid_all(&w->names, u);
        if (faultload_at(&w->fl, f, u) == MODE_NONE)
            f = faultload_extend(&w->fl, f, (struct fault){u, random_mode(r)});
    }
    return f;
}

static slice random_body(struct rng *r, struct arena *a)
{
    static const uint32_t sizes[] = {0, 0, 1, 100, 100, 1000, 5000, RUN_BODY_MAX};
    uint32_t n = sizes[rng_below(r, rng_below(r, 8) ? 6 : LENGTH(sizes))];
    char *p = arena_alloc(a, n + 1);
    for (uint32_t i = 0; i < n; i++)
        p[i] = (char)rng_below(r, rng_below(r, 2) ? 256 : 1);
    return (slice){p, n};
}

struct run store_case_run(struct store_world *w, uint64_t number)
{
    struct rng r = {number * 77 + 1};
    struct run run = {.number = number, .purpose = (enum run_purpose)rng_below(&r, RUN_PURPOSES)};
    uint32_t n = 1 + rng_below(&r, 11);
    for (uint32_t i = 0; i < n; i++) {
        struct call c = random_call(&r, w, &run.trace);
        vec_push(&run.trace.calls, c);
    }
    run.faultload = random_faultload(&r, w, &run.trace);
    run.flags = rng_below(&r, 2) ? 0 : rng_below(&r, 1 << RUN_FLAGS);
    run.verdict = (struct verdict){.pass = rng_below(&r, 2), .status = random_outcome(&r)};
    run.verdict.why = one_of(&r, sentences, LENGTH(sentences));
    run.verdict.detail = rng_below(&r, 2) ? NULL : one_of(&r, sentences, LENGTH(sentences));
    run.event = rng_below(&r, 2) ? NULL : one_of(&r, sentences, LENGTH(sentences));
    run.body = random_body(&r, &w->text);
    run.answers = arena_alloc(&w->text, (n + 1) * sizeof *run.answers);
    for (uint32_t i = 0; i < n; i++)
        if (rng_below(&r, 3) == 0) {
            run.answers[run.n_answers++] = random_body(&r, &w->text);
            run.trace.calls.at[i].answer = run.n_answers;
        }
    run.wall_ns = random_time(&r);
    run.took_ns = random_time(&r);
    return run;
}

static void print_call(const struct store_world *w, const struct call *c, struct buf *out)
{
    buf_addf(out, "\n%u [", (unsigned)c->parent);
    uid_print(&w->names, c->uid, out);
    buf_adds(out, "] ");
    mode_print(c->mode, out);
    buf_adds(out, " at [");
    uid_print(&w->names, c->fault_point, out);
    buf_addf(out, "] %x %d %x %x %lld %lld %x %x", (unsigned)c->seen, c->handled,
             (unsigned)c->flags, (unsigned)c->reply, (long long)c->start_ns, (long long)c->end_ns,
             (unsigned)c->request, (unsigned)c->key);
}

static void print_text(const char *text, struct buf *out)
{
    buf_addf(out, " |%s|", text ? text : "(null)");
}

void store_case_print(const struct store_world *w, const struct run *run, struct buf *out)
{
    buf_addf(out, "%llu %d %x ", (unsigned long long)run->number, (int)run->purpose,
             (unsigned)run->flags);
    faultload_print(&w->names, &w->fl, run->faultload, out);
    buf_addf(out, " %d %x", run->verdict.pass, (unsigned)run->verdict.status);
    print_text(run->verdict.why, out);
    print_text(run->verdict.detail, out);
    print_text(run->event, out);
    buf_addf(out, " %lld %lld %zu ", (long long)run->wall_ns, (long long)run->took_ns, run->body.n);
    buf_add(out, run->body);
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        uint32_t answer = run->trace.calls.at[i].answer;
        print_call(w, &run->trace.calls.at[i], out);
        if (answer)
            buf_addf(out, " answer %zu ", run->answers[answer - 1].n);
        if (answer)
            buf_add(out, run->answers[answer - 1]);
    }
}
