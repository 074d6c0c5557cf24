/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of IPv4, byte by byte: what the cable and the resolver share. */
#ifndef OUTFOX_LAB_PACKET_INT_H
#define OUTFOX_LAB_PACKET_INT_H

#include <stddef.h>
#include <stdint.h>

enum { IP_BYTES = 20, UDP_BYTES = 8, IP_TCP = 6, IP_UDP = 17 };

static inline uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t get32(const uint8_t *p)
{
    return get16(p) << 16 | get16(p + 2);
}

static inline void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

/* The length of the header of an IPv4 packet; 0: it is none. */
static inline size_t ip_header(const uint8_t *p, size_t n)
{
    size_t header = n >= IP_BYTES && p[0] >> 4 == 4 ? (size_t)(p[0] & 15) * 4 : 0;
    return header >= IP_BYTES && header <= get16(p + 2) && get16(p + 2) <= n ? header : 0;
}

/* Is it a fragment that does not begin with the header of its protocol? */
static inline int ip_later(const uint8_t *p)
{
    return (get16(p + 6) & 0x1fff) != 0;
}

static inline uint32_t ip_sum(const uint8_t *p, size_t n, uint32_t so_far)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        so_far += get16(p + i);
    return so_far;
}

static inline uint32_t ip_fold(uint32_t s)
{
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    return ~s & 0xffff;
}

/* A header without options for a packet of n bytes in all. */
static inline void ip_write(uint8_t *p, uint32_t n, uint8_t protocol, uint32_t from, uint32_t to)
{
    for (int i = 0; i < IP_BYTES; i++)
        p[i] = 0;
    p[0] = 0x45;
    put16(p + 2, n);
    p[6] = 0x40; /* it is not to be fragmented */
    p[8] = 64;
    p[9] = protocol;
    put32(p + 12, from);
    put32(p + 16, to);
    put16(p + 10, ip_fold(ip_sum(p, IP_BYTES, 0)));
}

#endif
