/* SPDX-License-Identifier: Apache-2.0
 *
 * Sockets for threads that wait: reads and writes block, but never longer than a patience. Reading
 * is sys_read; it gives -EAGAIN when the patience is over. */
#ifndef OUTFOX_IO_BLOCKING_H
#define OUTFOX_IO_BLOCKING_H

#include "base/chain.h"
#include "io/addr.h"

/* Makes an accepted socket a blocking one, without Nagle's delay. */
void block_init(int fd);

/* The descriptor of a new connection, or -errno; -ETIMEDOUT at the deadline (clock_ns). */
int block_connect(const struct addr *to, int64_t deadline_ns) MUST_USE;

/* How long a read, and a write, may wait; 0: for ever. */
void block_patience(int fd, int64_t read_ns, int64_t write_ns);

/* Writes all of it, in one piece where the system takes it. 0, or -errno. */
int block_write(int fd, struct chain *out) MUST_USE;

/* Ends both directions: whoever reads or writes it in another thread comes back. */
void block_end(int fd);

/* Waits until one of n descriptors can be read, or a deadline passes (0: none). Sets ready[i].
 * 0, or -errno. */
int block_wait(const int *fd, bool *ready, uint32_t n, int64_t deadline_ns) MUST_USE;

#endif
