/* SPDX-License-Identifier: Apache-2.0
 *
 * What an execution sends, and the commands that it starts: both with the context of the run. */
#include <ctype.h>
#include <stdlib.h>

#include "base/clock.h"
#include "core/interface.h"
#include "live/execution_int.h"
#include "wire/coding.h"

static const int64_t STATE_NS = SECONDS(5);

enum { ANSWER_MAX = 8 << 20 }; /* what expectations see of a body; less is stored */

static const struct scenario_spec *spec_of(const struct execution *x)
{
    return &x->live->config->scenarios.at[x->order.scenario];
}

void request_interface(const struct live *l, const struct scenario_spec *spec, struct buf *out)
{
    if (spec->is_command)
        buf_addf(out, "scenario/%.*s", SLICE_ARG(spec->name));
    else
        interface_make(spec->method, spec->target, spec->method.n ? l->opt.words->rules : NULL,
                       out);
}

/* ---- requests ---- */

/* How long the scenario's own request or command may take. */
static int64_t limit_of(const struct execution *x)
{
    return x->order.limit_ns ? x->order.limit_ns : spec_of(x)->timeout_ns;
}

void request_send(struct execution *x, void (*done)(void *, const struct client_answer *))
{
    struct live *l = x->live;
    const struct scenario_spec *spec = spec_of(x);
    bool grpc = spec->method.n == 0;
    struct field *own = arena_alloc(&x->arena, (spec->headers.n + 2) * sizeof *own);
    uint32_t n = 0;
    for (uint32_t i = 0; i < spec->headers.n; i++)
        own[n++] = (struct field){spec->headers.at[i].name, spec->headers.at[i].value};
    if (spec->content_type.n)
        own[n++] = (struct field){SLICE("content-type"), spec->content_type};
    struct buf target = BUF_INIT(1 << 16), authority = BUF_INIT(300);
    buf_addf(&target, "%s%.*s", grpc ? "/" : "", SLICE_ARG(spec->target));
    wiring_authority(l->wiring, spec->service, &authority);
    struct head head = {.method = grpc ? SLICE("POST") : spec->method,
                        .scheme = l->tls[spec->service] ? SLICE("https") : SLICE("http"),
                        .authority = buf_slice(&authority),
                        .target = buf_slice(&target),
                        .fields = own,
                        .n_fields = n};
    track_write_head(l->tracker, x->run, 0, NULL, &head, &x->arena);
    struct client_request r = {.to = &l->wiring->address[spec->service],
                               .tls = l->tls[spec->service],
                               .grpc = grpc,
                               .head = &head,
                               .body = spec->body,
                               .timeout_ns = limit_of(x),
                               .body_max = ANSWER_MAX};
    x->request = client_send(l->client, &r, done, x);
    buf_deinit(&target);
    buf_deinit(&authority);
}

void request_read_answer(struct execution *x, const struct client_answer *a)
{
    slice coding = a->head && a->body.n ? coding_of(a->head) : (slice){0};
    struct buf plain = BUF_INIT(ANSWER_MAX);
    const char *why = coding.n ? coding_decode(coding, a->body, &plain) : NULL;
    x->answer.body = slice_copy(&x->arena, coding.n && !why ? buf_slice(&plain) : a->body);
    if (why)
        x->answer.coded = arena_printf(&x->arena, "the answer (%.*s) %s", SLICE_ARG(coding), why);
    buf_deinit(&plain);
}

void request_state(struct execution *x, void (*done)(void *, const struct client_answer *))
{
    struct live *l = x->live;
    struct head head = {.method = SLICE("GET"),
                        .scheme = SLICE("http"),
                        .authority = SLICE("localhost"),
                        .target = slice_of(arena_printf(&x->arena, "/state?trace=%016llx",
                                                        (unsigned long long)x->result.trace_key))};
    struct client_request r = {.to = &l->wiring->address[l->sim_process],
                               .head = &head,
                               .timeout_ns = STATE_NS,
                               .body_max = 16 << 20};
    x->request = client_send(l->client, &r, done, x);
}

/* ---- commands ---- */

struct environment {
    struct arena *arena;
    VEC(struct text_pair) pairs;
};

static void add_pair(struct environment *env, const char *name, slice value)
{
    vec_push(&env->pairs, (struct text_pair){slice_copy(env->arena, slice_of(name)),
                                             slice_copy(env->arena, value)});
}

/* OUTFOX_URL_PAYMENT_SERVICE=http://127.0.0.1:4711 */
static void add_urls(struct environment *env, const struct execution *x)
{
    const struct wiring *w = x->live->wiring;
    for (uint32_t i = 0; i < w->n_services; i++) {
        const char *door = wiring_door(w, CALLER_CLIENT | x->slot, i);
        struct buf name = BUF_INIT(200);
        if (!door)
            continue;
        buf_adds(&name, "OUTFOX_URL_");
        for (size_t k = 0; k < w->name[i].n; k++) {
            unsigned char c = (unsigned char)w->name[i].p[k];
            buf_addc(&name, isalnum(c) ? (char)toupper(c) : '_');
        }
        add_pair(env, buf_text(&name), slice_of(arena_printf(env->arena, "http://%s", door)));
        buf_deinit(&name);
    }
}

static void add_context(struct environment *env, const struct execution *x)
{
    struct buf text = BUF_INIT(200);
    struct trace_id id = x->run->id;
    buf_addf(&text, "%016llx", (unsigned long long)x->run->secret);
    add_pair(env, "OUTFOX_RUN", buf_slice(&text));
    buf_clear(&text);
    context_traceparent(id, &text);
    add_pair(env, "TRACEPARENT", buf_slice(&text));
    buf_clear(&text);
    context_member(id, 0, &text);
    add_pair(env, "TRACESTATE", buf_slice(&text));
    add_pair(env, "BAGGAGE", buf_slice(&text));
    buf_deinit(&text);
}

/* So that a test finds `outfox fault-injected` even where outfox is not installed. */
static void add_path(struct environment *env, const char *program)
{
    const char *path = getenv("PATH"), *slash = strrchr(program, '/');
    if (!path)
        path = "";
    if (slash)
        add_pair(env, "PATH",
                 slice_of(arena_printf(env->arena, "%s%s%.*s", path, *path ? ":" : "",
                                       (int)(slash - program), program)));
}

void command_run(struct execution *x, slice text,
                 void (*done)(void *, const struct command_result *))
{
    struct live *l = x->live;
    const struct scenario_spec *spec = spec_of(x);
    struct environment env = {.arena = &x->arena};
    struct buf command = BUF_INIT(1 << 16), control = BUF_INIT(100);
    struct err e = {0};
    buf_adds(&control, "http://");
    addr_print(&l->control.at, &control);
    add_pair(&env, "OUTFOX_CONTROL", buf_slice(&control));
    add_path(&env, l->opt.program);
    add_urls(&env, x);
    if (x->run)
        add_context(&env, x);
    /* placeholders were checked when the file was read: these cannot fail */
    int failed = 0;
    for (uint32_t i = 0; i < spec->env.n && !failed; i++) {
        struct buf value = BUF_INIT(1 << 16);
        failed =
            wiring_expand(l->wiring, CALLER_CLIENT | x->slot, spec->env.at[i].value, &value, &e);
        add_pair(&env, spec->env.at[i].name.p, buf_slice(&value));
        buf_deinit(&value);
    }
    if (failed || wiring_expand(l->wiring, CALLER_CLIENT | x->slot, text, &command, &e))
        buf_addf(&command, "echo '%s' >&2; exit 125", e.text);
    struct command_request r = {.text = buf_slice(&command),
                                .dir = spec->dir.n ? spec->dir : l->config->dir,
                                .env = env.pairs.at,
                                .n_env = env.pairs.n,
                                .timeout_ns = x->run ? limit_of(x) : spec->timeout_ns};
    x->command = command_start(l->keeper, &r, done, x);
    vec_deinit(&env.pairs);
    buf_deinit(&command);
    buf_deinit(&control);
}
