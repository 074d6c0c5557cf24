/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions are read, and answered, as RFC 1035 has them: one question, a name without compression.
 * What is odd is not answered at all. */
#include "lab/resolver.h"

#include <string.h>

#include "lab/packet_int.h"

enum {
    DNS_BYTES = 12,
    NAME_MAX_BYTES = 255,
    TYPE_A = 1,
    CLASS_IN = 1,
    TTL_S = 1, /* so that nobody remembers for long what a fault has changed */
    ANSWER_BYTES = 16,
    RCODE_SERVFAIL = 2,
    RCODE_NXDOMAIN = 3,
    RCODE_REFUSED = 5,
};

static const uint32_t rcodes[] = {[RESOLVER_TRUE] = 0,
                                  [RESOLVER_NONE] = 0,
                                  [RESOLVER_NXDOMAIN] = RCODE_NXDOMAIN,
                                  [RESOLVER_SERVFAIL] = RCODE_SERVFAIL,
                                  [RESOLVER_REFUSED] = RCODE_REFUSED};

/* ---- rules ---- */

uint32_t resolver_add(struct resolver *r, const struct resolver_rule *rule)
{
    struct resolver_rule own = *rule;
    own.id = ++r->next_id;
    own.struck = 0;
    vec_push(&r->rules, own);
    return own.id;
}

uint64_t resolver_struck(const struct resolver *r, uint32_t id)
{
    for (uint32_t i = 0; i < r->rules.n; i++)
        if (r->rules.at[i].id == id)
            return r->rules.at[i].struck;
    return 0;
}

void resolver_remove(struct resolver *r, uint32_t id)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->rules.n; i++)
        if (r->rules.at[i].id != id)
            r->rules.at[kept++] = r->rules.at[i];
    r->rules.n = kept;
}

void resolver_deinit(struct resolver *r)
{
    vec_deinit(&r->rules);
}

/* ---- questions ---- */

static char lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

struct question {
    char name[NAME_MAX_BYTES + 1]; /* in lower case, with dots, without the last one */
    size_t name_n, bytes;          /* bytes: of the question in the message */
    uint32_t type, class;
};

/* Where the message of DNS begins in a packet, and how long it is; 0: it is none. */
static size_t message_of(const uint8_t *packet, size_t n, size_t *length)
{
    size_t header = ip_header(packet, n);
    if (!header || packet[9] != IP_UDP || (get16(packet + 6) & 0x3fff) ||
        get16(packet + 2) < header + UDP_BYTES + DNS_BYTES)
        return 0;
    size_t udp = get16(packet + header + 4);
    if (udp < UDP_BYTES + DNS_BYTES || udp > get16(packet + 2) - header ||
        get16(packet + header + 2) != RESOLVER_PORT)
        return 0;
    *length = udp - UDP_BYTES;
    return header + UDP_BYTES;
}

/* One label more; false: it is not well formed. */
static bool label_read(const uint8_t *m, size_t n, size_t *at, struct question *q)
{
    size_t length = m[*at];
    if (length > 63 || *at + 1 + length >= n || q->name_n + length + 1 > NAME_MAX_BYTES)
        return false;
    if (q->name_n)
        q->name[q->name_n++] = '.';
    for (size_t i = 0; i < length; i++) {
        char c = (char)m[*at + 1 + i];
        q->name[q->name_n++] = lower(c);
    }
    *at += 1 + length;
    return true;
}

/* A standard query with one question. */
static bool question_read(const uint8_t *m, size_t n, struct question *q)
{
    size_t at = DNS_BYTES;
    *q = (struct question){0};
    if ((get16(m + 2) & 0xf800) || get16(m + 4) != 1)
        return false;
    while (at < n && m[at])
        if (!label_read(m, n, &at, q))
            return false;
    if (at + 5 > n)
        return false;
    q->type = get16(m + at + 1);
    q->class = get16(m + at + 3);
    q->bytes = at + 5 - DNS_BYTES;
    return true;
}

bool resolver_is_asked(const uint8_t *packet, size_t n)
{
    size_t length;
    return message_of(packet, n, &length) > 0;
}

/* ---- answers ---- */

static bool same_name(slice asked, slice member)
{
    if (asked.n == member.n + 4 && !memcmp(asked.p + member.n, ".lan", 4))
        asked.n -= 4;
    bool same = asked.n == member.n;
    for (size_t i = 0; i < asked.n && same; i++)
        same = asked.p[i] == lower(member.p[i]);
    return same;
}

static uint32_t find(const struct resolver *r, slice name)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (same_name(name, r->names[i]))
            return r->network + i + 1;
    return 0;
}

/* The first rule that is about this question of the member; NULL: there is none. */
static struct resolver_rule *rule_of(struct resolver *r, uint32_t member, slice name)
{
    for (uint32_t i = 0; i < r->rules.n; i++) {
        struct resolver_rule *rule = &r->rules.at[i];
        slice plain = name;
        if (plain.n > 4 && !memcmp(plain.p + plain.n - 4, ".lan", 4))
            plain.n -= 4;
        if (cable_set_has(&rule->members, member) &&
            (!rule->names.n || slice_glob(rule->names, plain) || slice_glob(rule->names, name)))
            return rule;
    }
    return NULL;
}

/* The message, of so many bytes; address 0: without one. */
static size_t message_write(uint8_t *out, const uint8_t *asked, const struct question *q,
                            uint32_t rcode, uint32_t address)
{
    size_t n = DNS_BYTES + q->bytes;
    memcpy(out, asked, n);
    put16(out + 2, 0x8480 | (get16(asked + 2) & 0x0100) | rcode); /* an answer, by who knows */
    put16(out + 6, address != 0);
    put32(out + 8, 0);
    if (!address)
        return n;
    put16(out + n, 0xc000 | DNS_BYTES); /* the name is that of the question */
    put16(out + n + 2, TYPE_A);
    put16(out + n + 4, CLASS_IN);
    put32(out + n + 6, TTL_S);
    put16(out + n + 10, 4);
    put32(out + n + 12, address);
    return n + ANSWER_BYTES;
}

size_t resolver_answer(struct resolver *r, uint32_t member, const uint8_t *packet, size_t n,
                       uint8_t answer[static RESOLVER_PACKET_MAX], int64_t *late_ns)
{
    struct question q;
    size_t length, at = message_of(packet, n, &length);
    *late_ns = 0;
    if (!at || !question_read(packet + at, length, &q))
        return 0;
    slice name = {q.name, q.name_n};
    struct resolver_rule *rule = rule_of(r, member, name);
    enum resolver_answer how = rule ? rule->answer : RESOLVER_TRUE;
    uint32_t address = find(r, name), rcode = rcodes[how];
    if (rule) {
        rule->struck++;
        *late_ns = rule->latency_ns;
    }
    if (how == RESOLVER_NONE)
        return 0;
    if (how == RESOLVER_TRUE && !address)
        rcode = RCODE_NXDOMAIN;
    if (how != RESOLVER_TRUE || q.type != TYPE_A || q.class != CLASS_IN)
        address = 0;
    size_t head = IP_BYTES + UDP_BYTES;
    size_t all = head + message_write(answer + head, packet + at, &q, rcode, address);
    const uint8_t *udp = packet + at - UDP_BYTES;
    ip_write(answer, (uint32_t)all, IP_UDP, get32(packet + 16), get32(packet + 12));
    put16(answer + IP_BYTES, RESOLVER_PORT);
    put16(answer + IP_BYTES + 2, get16(udp));
    put16(answer + IP_BYTES + 4, (uint32_t)(all - IP_BYTES));
    put16(answer + IP_BYTES + 6, 0); /* without a sum, as IPv4 allows */
    return all;
}
