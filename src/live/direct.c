/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to a call that arrives at a door: the tracker says whose it is and what becomes of
 * it. */
#include <unistd.h>

#include "io/owner.h"
#include "live/live_int.h"
#include "wire/coding.h"
#include "wire/grpc.h"

/* ---- who has the other end of the connection ---- */

struct ownership {
    struct live *live;
    const struct call_arrival *arrival;
};

/* Whose process has this socket? Of services that others have started: in the family of the one
 * that listens at the service's address. */
static uint32_t holder_of(struct live *l, uint64_t inode)
{
    for (uint32_t i = 0; i < l->wiring->n_services; i++)
        if (owner_holds(services_pid(l->services, i), inode)) /* mostly, and cheap to ask */
            return i;
    pid_t pid = owner_pid(inode);
    uint32_t found = services_of_pid(l->services, pid);
    for (uint32_t i = 0; i < l->wiring->n_services && found == UINT32_MAX; i++) {
        struct pids family = {0};
        if (l->config->services.at[i].run.n)
            continue;
        if (l->pid[i] == 0) {
            pid_t listener = owner_listener(&l->wiring->address[i]);
            l->pid[i] = listener > 0 ? listener : -1;
        }
        if (l->pid[i] != pid)
            owner_family(l->pid[i], &family);
        bool member = l->pid[i] == pid;
        for (uint32_t k = 0; k < family.list.n && !member; k++)
            member = family.list.at[k] == pid;
        vec_deinit(&family.list);
        found = member ? i : UINT32_MAX;
    }
    return found;
}

/* Is it the service's process that has the other end? Found out once per connection: in the memo is
 * the service + 1, or UINT32_MAX, nobody's that we know. The services of a simulated system are one
 * process. */
static bool owns(void *ctx, uint32_t service)
{
    const struct ownership *o = ctx;
    if (!*o->arrival->memo) {
        uint32_t holder = holder_of(o->live, owner_inode(o->arrival->fd));
        *o->arrival->memo = holder == UINT32_MAX ? UINT32_MAX : holder + 1;
    }
    uint32_t owner = *o->arrival->memo;
    return owner != UINT32_MAX && (owner - 1 == service || owner - 1 == o->live->sim_process);
}

void live_links(const struct live *l, struct owner_links *out)
{
    owner_links(l->wiring->address, l->wiring->n_services, out);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->list.n; i++)
        if (out->list.at[i].inode || !l->passed[out->list.at[i].to])
            out->list.at[kept++] = out->list.at[i];
    out->list.n = kept;
}

uint32_t live_holder(struct live *l, uint64_t inode)
{
    return !inode || owner_holds(getpid(), inode) ? UINT32_MAX : holder_of(l, inode);
}

void live_address(const struct live *l, uint32_t service, struct buf *out)
{
    addr_print(&l->wiring->address[service], out);
}

/* ---- the director ---- */

enum { BODY_MAX = 1 << 20 };

/* All of it; of gRPC the first message, without the bytes before it. */
static slice body_of(const struct chain *body, bool grpc, struct buf *text)
{
    slice whole = {0};
    if (body->n && body->first->next == NULL) {
        whole = (slice){body->first->bytes + body->first->start, body->n};
    } else if (body->n) {
        chain_print(body, text);
        whole = buf_slice(text);
    }
    if (!grpc)
        return whole;
    whole.n = grpc_feed(&(struct grpc_framing){0}, whole);
    return whole.n > GRPC_PREFIX ? slice_from(whole, GRPC_PREFIX) : (slice){0};
}

static enum arrived arrived(void *ctx, struct call_arrival *a, struct call_fate *fate)
{
    struct live *l = ctx;
    const struct wiring_door *door = &l->wiring->doors.at[a->door];
    if (!a->waited && track_wants_body(l->tracker, door->callee, a->interface))
        return ARRIVED_WAIT_FOR_BODY;
    l->passed[door->callee] = true;
    /* services that start, and commands around a run, may cause calls that belong to no run */
    bool idle = !l->starting;
    for (uint32_t i = 0; i < l->opt.slots && l->n_running > 0; i++)
        idle &= l->slot[i].command == NULL && l->slot[i].state != EXECUTION_RENEWING;
    struct ownership ownership = {l, a};
    struct buf text = BUF_INIT(BODY_MAX);
    uint8_t http = CALL_HTTP | (a->h2 ? CALL_HTTP2 : 0);
    struct track_arrival arrival = {.service = door->callee,
                                    .caller = door->caller,
                                    .interface = a->interface,
                                    .flags = a->grpc ? CALL_GRPC : http,
                                    .body = body_of(a->body, a->grpc, &text),
                                    .whole = a->whole,
                                    .start_ns = a->start_ns,
                                    .crowded = l->n_running > 1,
                                    .idle = idle,
                                    .owns = owns,
                                    .ctx = &ownership};
    track_read_head(l->tracker, a->head, &arrival);
    struct track_run *run = track_arrive(l->tracker, &arrival, fate);
    if (run)
        track_write_head(l->tracker, run, fate->call, &arrival.context, a->head, a->arena);
    buf_deinit(&text);
    return ARRIVED_DECIDED;
}

static void ended(void *ctx, const struct call_arrival *a, const struct call_fate *fate,
                  const struct call_end *end)
{
    struct live *l = ctx;
    struct buf text = BUF_INIT(BODY_MAX);
    if (end->kept)
        track_asked(l->tracker, fate->run, fate->call, a->head->target,
                    body_of(a->body, a->grpc, &text));
    buf_deinit(&text);
    if (fate->client) {
        struct buf plain = BUF_INIT(RUN_BODY_MAX);
        text = BUF_INIT(RUN_BODY_MAX);
        chain_print(end->answer, &text);
        bool read = end->coding.n && !coding_decode(end->coding, buf_slice(&text), &plain);
        execution_keep(l, fate->run, fate->call, buf_slice(read ? &plain : &text));
        buf_deinit(&plain);
        buf_deinit(&text);
    }
    track_ended(l->tracker, fate->run, fate->call, end->seen, end->reply, end->handled, end->fired,
                track_went_on(l->tracker, fate->run, fate->call, end->told_ns, end->end_ns));
    if (end->unfit) { /* a mode that alters answers found nothing to alter */
        text = BUF_INIT(2000);
        buf_adds(&text, "mode ");
        mode_print(fate->mode, &text);
        buf_addf(&text, " cannot be injected at %.*s %.*s: %s",
                 SLICE_ARG(l->wiring->name[l->wiring->doors.at[a->door].callee]),
                 SLICE_ARG(a->interface), end->unfit);
        execution_note(l, fate->run, buf_slice(&text));
        buf_deinit(&text);
    }
    execution_poke(l, fate->run);
}

static void event(void *ctx, const struct call_arrival *a, const struct call_fate *fate)
{
    struct live *l = ctx;
    if (l->events)
        events_begin(l->events, mode_event(fate->mode), l->wiring->doors.at[a->door].callee,
                     fate->run);
    else
        plane_go_on(l->plane, fate->run, false); /* of a stored run that had a plan */
}

void direct_init(struct live *l)
{
    l->director = (struct director){
        .ctx = l, .fault = SLICE("campaign"), .arrived = arrived, .event = event, .ended = ended};
}
