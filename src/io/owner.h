/* SPDX-License-Identifier: Apache-2.0
 *
 * Which local process has the other end of a connection? Linux tells by way of sock_diag (or
 * /proc/net/tcp) and /proc/PID/fd. Elsewhere, and for peers on other machines, nobody knows. */
#ifndef OUTFOX_IO_OWNER_H
#define OUTFOX_IO_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"

/* The inode of the peer's socket of this accepted TCP connection; 0: not known. One system call or
 * few, no directory is read. */
uint64_t owner_inode(int fd);

/* Does this process hold a socket of this inode? Reads /proc/PID/fd. */
bool owner_holds(pid_t pid, uint64_t inode);

/* The process that holds a socket of this inode; of several, the first of them whose own parent
 * does not. 0: not known. Reads all of /proc. */
pid_t owner_pid(uint64_t inode);

/* The process that listens at this local TCP address (host and port of a service that was started
 * by somebody else); 0: not known. */
struct addr;
pid_t owner_listener(const struct addr *a);

/* The inode of the socket that listens there; 0: none that we can see. No directory is read. */
uint64_t owner_listening(const struct addr *a);

/* TCP connections to these addresses, as the system has them now: open ones, and those that were
 * closed a moment ago (whose end has no owner any more). A loopback address stands for all of them.
 * *out is zero-initialised or from an earlier call; its list is the caller's to free. */
struct owner_links {
    VEC(struct owner_link {
        uint32_t to;    /* which of the addresses */
        uint16_t port;  /* of the other end */
        uint64_t inode; /* of the other end's socket; 0: not known */
    })
    list;
};
void owner_links(const struct addr *to, uint32_t n, struct owner_links *out);

/* pid and all its descendants that are alive, pid first; and what is left of its process group,
 * when it leads one: descendants whose own parent has ended. *out is zero-initialised or from an
 * earlier call; its list is the caller's to free. Zombies are not alive. */
struct pids {
    VEC(pid_t) list;
};
void owner_family(pid_t pid, struct pids *out);

/* For tests: do without sock_diag. */
extern bool owner_by_table;

#endif
