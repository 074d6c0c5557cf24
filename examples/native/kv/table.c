/* SPDX-License-Identifier: Apache-2.0
 *
 * The table: what each key is now. Chains of entries, a lock for all of it: many read, one writes. */
#include "kv.h"

#include <stdlib.h>
#include <string.h>

struct table table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct entry **place(const struct table *t, const char *key, size_t klen)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < klen; i++)
        h = (h ^ (unsigned char)key[i]) * 16777619u;
    struct entry **p = (struct entry **)&t->bucket[h % BUCKETS];
    while (*p && ((*p)->record.klen != klen || memcmp((*p)->record.data, key, klen)))
        p = &(*p)->next;
    return p;
}

static void drop(struct table *t, struct entry **p)
{
    struct entry *gone = *p;
    *p = gone->next;
    free(gone);
    t->count--;
}

int table_reserve(struct table *t)
{
    if (!t->spare)
        t->spare = malloc(sizeof *t->spare);
    return t->spare ? 0 : -1;
}

int table_apply(struct table *t, const struct record *r)
{
    struct entry **p = place(t, r->data, r->klen);
    if (r->op != OP_SET) {
        if (*p)
            drop(t, p);
        return 0;
    }
    if (!*p) {
        if (table_reserve(t) < 0)
            return -1;
        *p = t->spare;
        (*p)->next = NULL;
        t->spare = NULL;
        t->count++;
    }
    (*p)->record = *r;
    return 0;
}

const struct record *table_get(const struct table *t, const char *key)
{
    struct entry **p = place(t, key, strlen(key));
    return *p ? &(*p)->record : NULL;
}

int table_expired(const struct table *t)
{
    int64_t now = date_ms();
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *e = t->bucket[i]; e; e = e->next)
            if (e->record.expires && e->record.expires <= now)
                return 1;
    return 0;
}

/* All of it as records between FULL and END, which say as of when. */
int table_encode(const struct table *t, uint64_t lsn, struct bytes *out)
{
    struct record mark;
    record_make(&mark, OP_FULL, "", "");
    mark.lsn = lsn;
    record_seal(&mark);
    if (bytes_add(out, &mark, record_size(&mark)) < 0)
        return -1;
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct entry *e = t->bucket[i]; e; e = e->next)
            if (bytes_add(out, &e->record, record_size(&e->record)) < 0)
                return -1;
    mark.op = OP_END;
    record_seal(&mark);
    return bytes_add(out, &mark, record_size(&mark));
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (t->bucket[i])
            drop(t, &t->bucket[i]);
    free(t->spare);
    t->spare = NULL;
}

void table_take(struct table *t, struct table *from)
{
    table_clear(t);
    memcpy(t->bucket, from->bucket, sizeof t->bucket);
    t->count = from->count;
    memset(from->bucket, 0, sizeof from->bucket);
    from->count = 0;
}
