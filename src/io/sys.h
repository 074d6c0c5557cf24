/* SPDX-License-Identifier: Apache-2.0
 *
 * The system calls on sockets that everything else goes through, so that tests can make them come
 * up short (sys_chunk). EINTR is retried here, and none of them raises SIGPIPE. They return what
 * the call returns, or -errno. */
#ifndef OUTFOX_IO_SYS_H
#define OUTFOX_IO_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/mem.h"

ssize_t sys_read(int fd, void *to, size_t n) MUST_USE;
ssize_t sys_writev(int fd, const struct iovec *iov, int n) MUST_USE;
int sys_accept(int fd) MUST_USE; /* non-blocking, close-on-exec */
void sys_close(int fd);

/* How many bytes the peer's system has acknowledged so far; UINT64_MAX: not known. */
uint64_t sys_acked(int fd);

/* Bytes that were written, and that the peer's system has not acknowledged. */
size_t sys_unsent(int fd);

/* Is the connection still open, and silent? */
bool sys_quiet(int fd);

/* Tells the peer's system at once that its bytes have come. A peer that sends a message in pieces
 * may wait for that before the next one (Nagle), and a system likes to wait before it says so. */
void sys_ack(int fd);

/* The connection breaks when its peer's system says nothing for so long: its cable was cut, say. Only
 * of TCP. */
void sys_watch_peer(int fd, int seconds);

/* Makes close(2) send RST. */
void sys_linger_reset(int fd);

/* Gives back memory, for whoever rests: what was freed, and code that has run and may not again for
 * long. What is needed again is read anew, from the system's copy of the file as a rule. */
void sys_give_back(void);

/* Forks a process of our own. In it all signals stay blocked until it has set what they do: our
 * handlers must not run there. As fork. */
pid_t sys_fork(void) MUST_USE;

/* This thread, and what it starts from now on, stay on the CPU that it runs on; or may be anywhere
 * that they might before. Programs that only ever wait for each other are faster on one CPU: waking
 * somebody up elsewhere costs more than all the rest. Nothing happens where that is not allowed. */
void sys_stay(bool on);

/* For tests: every read and write moves at most this many bytes; 0: as many as it can. */
extern size_t sys_chunk;

#endif
