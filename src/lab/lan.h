/* SPDX-License-Identifier: Apache-2.0
 *
 * A network for one run: each member has a network namespace with one interface of its own, whose
 * packets come to us, and we are the switch between them.
 *
 *   node --[namespace, lan0: tun]--> we: rules (cable.h) --> [namespace, lan0: tun]--> another node
 *
 * So a fault is a rule in our memory: it begins and ends within microseconds, needs no firewall, no
 * netem and no command, and leaves nothing behind: when we end, in whatever way, the interfaces are
 * gone, and the namespaces with the last process in them.
 *
 * 1. IPv4 only, one /24; there is no way out of it. Members are 0 to n-1 with the addresses .1 to .n;
 *    the last one with .254 is the observer, whom no rule strikes.
 * 2. Members find each other by their names: the switch is the name server, at the observer's address.
 * 3. What waits in us is bounded; beyond that packets are lost, as in any switch. */
#ifndef OUTFOX_LAB_LAN_H
#define OUTFOX_LAB_LAN_H

#include "base/err.h"
#include "io/loop.h"
#include "lab/cable.h"
#include "lab/resolver.h"

struct lan;

/* The names of the members live as long. `resolv`: a file that is written, and stands in the place of
 * /etc/resolv.conf for all members. 0, or -1 with a sentence that says what is missing and what helps. */
int lan_new(struct lan **out, struct loop *loop, uint32_t network, const slice *names,
            uint32_t members, uint64_t seed, const char *resolv, struct err *e) MUST_USE;
void lan_free(struct lan *l); /* NULL: nothing happens */

/* The rules of its links: to be changed at any time. */
struct cable *lan_cable(struct lan *l);
struct resolver *lan_resolver(struct lan *l);

/* The command as it is run in the namespace of a member (its number; LAN_OBSERVER: the observer's). */
enum { LAN_OBSERVER = UINT16_MAX };
void lan_place(const struct lan *l, uint32_t member, slice command, struct buf *out);

/* "198.18.77.2" */
void lan_address(const struct lan *l, uint32_t member, struct buf *out);

#endif
