/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules and packets: which rule strikes, what that means, and how a reset is written (RFC 9293,
 * 3.10.7: one is believed when its sequence number is the next that is expected). */
#include "lab/cable.h"

#include <string.h>

#include "base/clock.h"
#include "lab/packet_int.h"

/* What waits behind a narrow link, at most, as with a router's queue. */
#define QUEUE_NS MS(500)

void cable_init(struct cable *w, uint32_t members, uint64_t seed)
{
    *w = (struct cable){.n = members, .rng = {seed}};
    w->last_ns = mem_zero((size_t)members * members * sizeof *w->last_ns);
}

void cable_deinit(struct cable *w)
{
    vec_deinit(&w->rules);
    mem_free(w->last_ns);
    *w = (struct cable){0};
}

/* ---- rules ---- */

uint32_t cable_add(struct cable *w, const struct cable_rule *rule)
{
    struct cable_rule r = *rule;
    r.id = ++w->next_id;
    r.free_ns[0] = r.free_ns[1] = 0;
    r.struck = 0;
    vec_push(&w->rules, r);
    return r.id;
}

uint64_t cable_struck(const struct cable *w, uint32_t id)
{
    for (uint32_t i = 0; i < w->rules.n; i++)
        if (w->rules.at[i].id == id)
            return w->rules.at[i].struck;
    return 0;
}

void cable_remove(struct cable *w, uint32_t id)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->rules.n; i++)
        if (w->rules.at[i].id != id)
            w->rules.at[kept++] = w->rules.at[i];
    w->rules.n = kept;
}

static bool strikes(const struct cable_rule *r, uint32_t from, uint32_t to)
{
    return (r->out && r->member == from && cable_set_has(&r->others, to)) ||
           (r->in && r->member == to && cable_set_has(&r->others, from));
}

static double die(struct cable *w)
{
    return (double)(rng_next(&w->rng) >> 11) / (double)(UINT64_C(1) << 53);
}

/* When a packet is through that comes at *at_ns; false: the queue is full. */
static bool narrow(struct cable_rule *r, bool out, size_t bytes, int64_t *at_ns)
{
    int64_t *free_ns = &r->free_ns[out ? 0 : 1];
    int64_t begin = *free_ns > *at_ns ? *free_ns : *at_ns;
    if (begin - *at_ns > QUEUE_NS)
        return false;
    *free_ns = begin + (int64_t)((double)bytes * 1e9 / (double)r->bandwidth);
    *at_ns = *free_ns;
    return true;
}

static enum cable_fate suffer(struct cable *w, struct cable_rule *r, bool out, size_t bytes,
                              int64_t *at_ns)
{
    r->struck++;
    if (r->deed == CABLE_DROP)
        return CABLE_LOST;
    if (r->deed == CABLE_RESET)
        return CABLE_RESETS;
    if (r->loss > 0 && die(w) < r->loss)
        return CABLE_LOST;
    *at_ns += r->latency_ns + (r->jitter_ns ? (int64_t)(die(w) * (double)r->jitter_ns) : 0);
    return !r->bandwidth || narrow(r, out, bytes, at_ns) ? CABLE_SENT : CABLE_LOST;
}

enum cable_fate cable_decide(struct cable *w, uint32_t from, uint32_t to, size_t bytes,
                             int64_t now_ns, int64_t *at_ns)
{
    const struct cable_rule *before = NULL;
    *at_ns = now_ns;
    for (uint32_t i = 0; i < w->rules.n; i++) {
        struct cable_rule *r = &w->rules.at[i];
        if (!strikes(r, from, to) || (before && before->group == r->group))
            continue;
        before = r;
        enum cable_fate fate = suffer(w, r, r->member == from, bytes, at_ns);
        if (fate != CABLE_SENT)
            return fate;
    }
    int64_t *last = &w->last_ns[(size_t)from * w->n + to];
    if (*at_ns < *last)
        *at_ns = *last;
    *last = *at_ns;
    return CABLE_SENT;
}

/* ---- packets ---- */

enum { TCP_BYTES = 20, TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

uint32_t cable_destination(const uint8_t *packet, size_t n)
{
    return ip_header(packet, n) ? get32(packet + 16) : 0;
}

static void reset_write(uint8_t *out, uint32_t from, uint32_t to, uint32_t ports, uint32_t seq,
                        uint32_t ack, uint8_t flags)
{
    uint8_t *tcp = out + IP_BYTES;
    memset(out, 0, CABLE_RESET_BYTES);
    ip_write(out, CABLE_RESET_BYTES, IP_TCP, from, to);
    put32(tcp, ports);
    put32(tcp + 4, seq);
    put32(tcp + 8, ack);
    tcp[12] = TCP_BYTES / 4 << 4;
    tcp[13] = flags;
    put16(tcp + 16, ip_fold(ip_sum(tcp, TCP_BYTES, ip_sum(out + 12, 8, IP_TCP + TCP_BYTES))));
}

bool cable_resets(const uint8_t *packet, size_t n, uint8_t to_sender[static CABLE_RESET_BYTES],
                  uint8_t to_receiver[static CABLE_RESET_BYTES])
{
    size_t header = ip_header(packet, n);
    if (!header || packet[9] != IP_TCP || ip_later(packet) ||
        get16(packet + 2) < header + TCP_BYTES)
        return false;
    const uint8_t *tcp = packet + header;
    size_t tcp_header = (size_t)(tcp[12] >> 4) * 4, all = get16(packet + 2) - header;
    uint32_t from = get32(packet + 12), to = get32(packet + 16), ports = get32(tcp);
    uint32_t seq = get32(tcp + 4), ack = get32(tcp + 8);
    uint8_t flags = tcp[13];
    if ((flags & TCP_RST) || tcp_header < TCP_BYTES || tcp_header > all)
        return false;
    uint32_t length = (uint32_t)(all - tcp_header) + !!(flags & TCP_SYN) + !!(flags & TCP_FIN);
    bool acks = flags & TCP_ACK;
    reset_write(to_sender, to, from, ports >> 16 | ports << 16, acks ? ack : 0,
                acks ? 0 : seq + length, acks ? TCP_RST : TCP_RST | TCP_ACK);
    reset_write(to_receiver, from, to, ports, seq, ack, acks ? TCP_RST | TCP_ACK : TCP_RST);
    return true;
}
