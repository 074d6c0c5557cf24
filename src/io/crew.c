/* SPDX-License-Identifier: Apache-2.0
 *
 * Each hand has its own place for work and its own condition: giving wakes exactly one thread. The
 * hand that became idle last is taken first, its memory is still warm.
 *
 * 1. A hand is in the list `idle` exactly while it waits without work. */
#include "io/crew.h"

#include <pthread.h>

struct hand {
    struct crew *crew;
    struct hand *next; /* in `idle` */
    pthread_cond_t wake;
    void (*work)(void *arg);
    void *arg;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t gone;
    struct hand *idle;
    uint32_t n, most;
    bool stopped;
};

enum { STACK_BYTES = 1024 * 1024 };

static void *hand_run(void *arg)
{
    struct hand *h = arg;
    struct crew *c = h->crew;
    for (;;) {
        h->work(h->arg);
        pthread_mutex_lock(&c->lock);
        h->work = NULL;
        if (!c->stopped) {
            h->next = c->idle;
            c->idle = h;
        }
        while (!h->work && !c->stopped)
            pthread_cond_wait(&h->wake, &c->lock);
        if (!h->work)
            break;
        pthread_mutex_unlock(&c->lock);
    }
    c->n--;
    if (c->n == 0)
        pthread_cond_signal(&c->gone);
    pthread_mutex_unlock(&c->lock);
    pthread_cond_destroy(&h->wake);
    mem_free(h);
    return NULL;
}

struct crew *crew_new(uint32_t most)
{
    struct crew *c = mem_zero(sizeof *c);
    c->most = most;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->gone, NULL);
    return c;
}

/* With the lock. */
static bool start_hand(struct crew *c, void (*work)(void *arg), void *arg)
{
    pthread_t thread;
    pthread_attr_t attr;
    struct hand *h = mem_zero(sizeof *h);
    *h = (struct hand){.crew = c, .work = work, .arg = arg};
    pthread_cond_init(&h->wake, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    bool ok = pthread_create(&thread, &attr, hand_run, h) == 0;
    pthread_attr_destroy(&attr);
    if (ok) {
        c->n++;
    } else {
        pthread_cond_destroy(&h->wake);
        mem_free(h);
    }
    return ok;
}

bool crew_give(struct crew *c, void (*work)(void *arg), void *arg)
{
    bool ok = false;
    pthread_mutex_lock(&c->lock);
    struct hand *h = c->idle;
    if (!c->stopped && h) {
        c->idle = h->next;
        h->work = work;
        h->arg = arg;
        pthread_cond_signal(&h->wake);
        ok = true;
    } else if (!c->stopped && c->n < c->most) {
        ok = start_hand(c, work, arg);
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

void crew_free(struct crew *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopped = true;
    for (struct hand *h = c->idle; h; h = h->next)
        pthread_cond_signal(&h->wake);
    c->idle = NULL;
    while (c->n)
        pthread_cond_wait(&c->gone, &c->lock);
    pthread_mutex_unlock(&c->lock);
    pthread_cond_destroy(&c->gone);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}
