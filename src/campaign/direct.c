/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to a call that arrives at a door: the tracker says whose it is and what becomes of
 * it. And the control address, where a test can ask about its run. */
#include "campaign/live_int.h"
#include "io/owner.h"

/* ---- who has the other end of the connection ---- */

struct ownership {
    struct live *live;
    const struct call_arrival *arrival;
};

static pid_t pid_of(struct live *l, uint32_t service)
{
    const struct service_spec *spec = &l->config->services.at[service];
    if (spec->run.n)
        return services_pid(l->services, service);
    if (l->pid[service] == 0) {
        pid_t pid = owner_listener(&l->wiring->address[service]);
        l->pid[service] = pid > 0 ? pid : -1;
    }
    return l->pid[service];
}

static bool family_holds(pid_t pid, uint64_t inode)
{
    struct pids family = {0};
    bool holds = false;
    owner_family(pid, &family);
    for (uint32_t i = 0; i < family.list.n && !holds; i++)
        holds = owner_holds(family.list.at[i], inode);
    vec_deinit(&family.list);
    return holds;
}

/* The service whose process has the other end, + 1; UINT32_MAX: nobody's that we know. Found out
 * once per connection. */
static uint32_t owner_of(struct live *l, const struct call_arrival *a)
{
    if (*a->memo)
        return *a->memo;
    uint64_t inode = owner_inode(a->fd);
    *a->memo = UINT32_MAX;
    for (int family = 0; family < 2; family++) /* mostly it is the process itself, which is cheap */
        for (uint32_t i = 0; inode && i < l->wiring->n_services; i++) {
            pid_t pid = pid_of(l, i);
            if (pid > 0 && (family ? family_holds(pid, inode) : owner_holds(pid, inode))) {
                *a->memo = i + 1;
                return *a->memo;
            }
        }
    return *a->memo;
}

/* The services of a simulated system are one process. */
static bool owns(void *ctx, uint32_t service)
{
    const struct ownership *o = ctx;
    uint32_t owner = owner_of(o->live, o->arrival);
    return owner != UINT32_MAX && (owner - 1 == service || owner - 1 == o->live->sim_process);
}

/* ---- the control address ---- */

/* GET /runs/KEY: what was planned for a run, and what of it has happened so far. */
static void answer_control(struct live *l, const struct call_arrival *a, struct call_fate *out)
{
    slice path = a->head->target, prefix = SLICE("/runs/");
    uint64_t key = 0;
    struct buf text = BUF_INIT(1 << 16);
    bool asked = slice_starts(path, prefix) && path.n == prefix.n + 16;
    for (size_t i = prefix.n; asked && i < path.n; i++) {
        char c = path.p[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        asked = digit >= 0;
        key = key << 4 | (uint64_t)(digit & 15);
    }
    const struct track_run *r = asked ? track_find(l->tracker, key) : NULL;
    out->answer = r ? 200 : 404;
    if (!r) {
        buf_adds(&text, "{\"error\": \"no such run is under way; ask for /runs/$OUTFOX_RUN\"}\n");
    } else {
        const struct trace *trace = track_trace(r);
        buf_addf(&text,
                 "{\"schema_version\": 1, \"run\": \"%016llx\", \"calls\": %u, \"faults\": [",
                 (unsigned long long)key, (unsigned)trace->calls.n);
        const char *comma = "";
        for (uint32_t i = 0; i < trace->calls.n; i++) {
            const struct call *c = &trace->calls.at[i];
            struct buf fault = BUF_INIT(1 << 14);
            if (c->mode == MODE_NONE)
                continue;
            uid_print(l->opt.names, c->uid, &fault);
            buf_adds(&fault, " : ");
            mode_print(c->mode, &fault);
            buf_adds(&text, comma);
            buf_add_json_string(&text, buf_slice(&fault));
            buf_deinit(&fault);
            comma = ", ";
        }
        buf_adds(&text, "]}\n");
    }
    out->body = slice_copy(a->arena, buf_slice(&text));
    buf_deinit(&text);
}

/* ---- the director ---- */

static bool wants_body(void *ctx, const struct call_arrival *a)
{
    struct live *l = ctx;
    uint32_t callee = l->wiring->doors.at[a->door].callee;
    return callee != CALLEE_CONTROL && track_wants_body(l->tracker, callee, a->interface);
}

static slice body_of(const struct call_arrival *a, struct buf *text)
{
    slice whole = {0};
    if (a->body->n && a->body->first->next == NULL) {
        whole = (slice){a->body->first->bytes + a->body->first->start, a->body->n};
    } else if (a->body->n) {
        chain_print(a->body, text);
        whole = buf_slice(text);
    }
    if (a->grpc) /* the message, without the five bytes before it */
        whole = whole.n > 5 ? slice_from(whole, 5) : (slice){0};
    return whole;
}

static void decide(void *ctx, const struct call_arrival *a, struct call_fate *out)
{
    struct live *l = ctx;
    const struct wiring_door *door = &l->wiring->doors.at[a->door];
    if (door->callee == CALLEE_CONTROL) {
        answer_control(l, a, out);
        return;
    }
    struct ownership ownership = {l, a};
    struct buf text = BUF_INIT(1 << 20);
    struct track_arrival arrival = {.service = door->callee,
                                    .caller = door->caller,
                                    .head = a->head,
                                    .interface = a->interface,
                                    .grpc = a->grpc,
                                    .content_type = head_get(a->head, SLICE("content-type")),
                                    .body = body_of(a, &text),
                                    .start_ns = a->start_ns,
                                    .crowded = l->n_running > 1,
                                    .owns = owns,
                                    .ctx = &ownership};
    struct track_answer answer;
    track_arrive(l->tracker, &arrival, a->arena, &answer);
    buf_deinit(&text);
    *out = (struct call_fate){.told = answer.run != 0,
                              .mode = answer.mode,
                              .run = answer.run,
                              .call = answer.call,
                              .fault = SLICE("campaign"),
                              .fields = answer.fields,
                              .n_fields = answer.n_fields};
}

static void ended(void *ctx, const struct call_fate *fate, const struct call_end *end)
{
    struct live *l = ctx;
    track_ended(l->tracker, fate->run, fate->call, end->seen, end->reply, end->handled, end->fired,
                end->end_ns);
    execution_poke(l, fate->run);
}

void direct_init(struct live *l)
{
    l->director =
        (struct director){.ctx = l, .wants_body = wants_body, .decide = decide, .ended = ended};
}
