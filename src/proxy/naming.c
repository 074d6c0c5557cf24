/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of a call: its interface, and the how manieth of its name it is. */
#include "proxy/exchange_int.h"

#include <pthread.h>

#include "base/hash.h"
#include "base/index.h"

enum { NAMES_MAX = 1 << 20 };

/* How often each call was seen, over all workers. Calls are told apart by a hash of 64 bits. */
struct naming {
    pthread_mutex_t lock;
    struct map seen;
};

struct naming *naming_new(void)
{
    struct naming *n = mem_zero(sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    return n;
}

void naming_free(struct naming *n)
{
    if (!n)
        return;
    pthread_mutex_destroy(&n->lock);
    map_deinit(&n->seen);
    mem_free(n);
}

void naming_interface(struct exchange *x)
{
    struct buf *text = &x->worker->scratch;
    const struct head *h = x->request;
    buf_clear(text);
    if (x->grpc)
        interface_make((slice){0}, grpc_interface(h->target), NULL, text);
    else
        interface_make(h->method, h->target, exchange_setup(x)->config->normalise, text);
    x->interface = slice_copy(&x->arena, buf_slice(text));
}

uint32_t naming_count(const struct exchange *x)
{
    struct naming *naming = exchange_setup(x)->naming;
    slice service = exchange_setup(x)->door[x->door].spec->service;
    uint64_t key = hash_mix(hash_slice(service), hash_slice(x->interface));
    key = hash_mix(key, x->payload);
    uint32_t n = 0;
    pthread_mutex_lock(&naming->lock);
    if (naming->seen.items.n < NAMES_MAX || map_get(&naming->seen, key))
        n = map_count(&naming->seen, key) - 1;
    pthread_mutex_unlock(&naming->lock);
    return n;
}
