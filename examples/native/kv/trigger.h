/* SPDX-License-Identifier: Apache-2.0
 *
 * Only with -DKV_TRIGGER, for tests that bring a bug about without outfox: KV_TRIGGER in the environment is
 * FUNCTION:CALL:NTH:ACT, ACT one of error, delay and short, and the NTH CALL in FUNCTION does that, once. */
#ifndef KV_TRIGGER_H
#define KV_TRIGGER_H
#ifdef KV_TRIGGER

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int trigger(const char *function, const char *call, size_t *n); /* 1: fail */

#define TRIGGERED(call, n)  trigger(__func__, call, n)
#define fdatasync(fd)       (TRIGGERED("fdatasync", NULL) ? -1 : fdatasync(fd))
#define fsync(fd)           (TRIGGERED("fsync", NULL) ? -1 : fsync(fd))
#define rename(a, b)        (TRIGGERED("rename", NULL) ? -1 : rename(a, b))
#define open(...)           (TRIGGERED("open", NULL) ? -1 : open(__VA_ARGS__))
#define malloc(n)           (TRIGGERED("malloc", NULL) ? NULL : malloc(n))
#define pthread_create(...) (TRIGGERED("pthread_create", NULL) ? 11 : pthread_create(__VA_ARGS__))
#define writer_push(q)      (TRIGGERED("writer_push", NULL) ? -1 : (writer_push)(q))
#define journal_append(r)   (TRIGGERED("journal_append", NULL) ? -1 : (journal_append)(r))
#define send_all(f, d, n)   (TRIGGERED("send_all", NULL) ? -1 : (send_all)(f, d, n))
#define write(f, d, n)                                                                             \
    __extension__({                                                                                \
        size_t n_ = (n);                                                                           \
        TRIGGERED("write", &n_) ? -1 : (write)(f, d, n_);                                          \
    })

#endif
#endif
