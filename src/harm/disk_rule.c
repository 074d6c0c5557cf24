/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of a disk: read, and held against operations. */
#include "harm/disk_rule.h"

#include <errno.h>

#define SECOND_NS UINT64_C(1000000000)

static const char *const deeds[] = {[DISK_FULL] = "full",
                                    [DISK_SLOW] = "slow",
                                    [DISK_ERROR] = "error",
                                    [DISK_READ_ONLY] = "read-only",
                                    [DISK_LOST_SYNC] = "lost-sync"};

/* Which operations a deed is about, where it does not say so itself. */
static const unsigned deeds_do[] = {[DISK_FULL] = DISK_ALL,
                                    [DISK_SLOW] = DISK_ALL,
                                    [DISK_ERROR] = DISK_ALL,
                                    [DISK_READ_ONLY] = DISK_ALL,
                                    [DISK_LOST_SYNC] = DISK_WRITE | DISK_SYNC | DISK_CHANGE};

static const struct {
    const char *word;
    unsigned does;
} words[] = {{"read", DISK_READ},
             {"write", DISK_WRITE},
             {"sync", DISK_SYNC},
             {"open", DISK_OPEN},
             {"change", DISK_CHANGE}};

/* ---- reading ---- */

static int read_does(struct disk_rule *r, slice value)
{
    slice word;
    r->does = 0;
    while (slice_cut(&value, ',', &word)) {
        unsigned does = 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (slice_is(word, words[i].word))
                does = words[i].does;
        if (!does)
            return -1;
        r->does |= does;
    }
    return 0;
}

static int read_file(struct disk_rule *r, slice value)
{
    if (!value.n || value.n > DISK_FILE_MAX || memchr(value.p, 0, value.n))
        return -1;
    memcpy(r->file, value.p, value.n);
    r->file[value.n] = 0;
    return 0;
}

/* One line KEY=VALUE; 0, or -1. */
static int read_line(struct disk_rule *r, slice key, slice value)
{
    uint64_t number;
    if (slice_is(key, "operations"))
        return read_does(r, value);
    if (slice_is(key, "file"))
        return read_file(r, value);
    if (!slice_to_u64(value, INT64_MAX >> 8, &number))
        return -1;
    if (slice_is(key, "error") && number > 0 && number < 200)
        r->error = (int)number;
    else if (slice_is(key, "times"))
        r->times = number;
    else if (slice_is(key, "latency"))
        r->latency_ns = (int64_t)number;
    else if (slice_is(key, "jitter"))
        r->jitter_ns = (int64_t)number;
    else if (slice_is(key, "bandwidth"))
        r->bandwidth = number;
    else if (slice_is(key, "room"))
        r->room = number;
    else
        return -1;
    return 0;
}

int disk_rule_parse(struct disk_rule *r, slice name, slice text, struct err *e)
{
    slice line;
    *r = (struct disk_rule){.error = EIO, .times = UINT64_MAX};
    if (!name.n || name.n > DISK_NAME_MAX || memchr(name.p, 0, name.n))
        return err_set(e, 0, 0, "a fault of a disk needs a name of at most %d bytes",
                       DISK_NAME_MAX);
    memcpy(r->name, name.p, name.n);
    bool known = slice_cut(&text, '\n', &line);
    size_t deed = 0;
    while (known && deed < sizeof deeds / sizeof *deeds && !slice_is(line, deeds[deed]))
        deed++;
    if (!known || deed == sizeof deeds / sizeof *deeds)
        return err_set(e, 0, 0, "a disk has no fault \"%.*s\"", SHORT(line));
    r->deed = (enum disk_deed)deed;
    r->does = deeds_do[deed];
    while (slice_cut(&text, '\n', &line)) {
        size_t at = slice_find(line, '=');
        if (line.n && (at == line.n || read_line(r, (slice){line.p, at}, slice_from(line, at + 1))))
            return err_set(e, 0, 0, "a fault of a disk does not know \"%.*s\"", SHORT(line));
    }
    return 0;
}

/* ---- the list ---- */

bool disk_rules_name(const struct disk_rules *rules)
{
    for (uint32_t i = 0; i < rules->list.n; i++)
        if (rules->list.at[i].file[0])
            return true;
    return false;
}

struct disk_rule *disk_rules_find(struct disk_rules *rules, slice name)
{
    for (uint32_t i = 0; i < rules->list.n; i++)
        if (slice_is(name, rules->list.at[i].name))
            return &rules->list.at[i];
    return NULL;
}

struct disk_rule *disk_rules_doing(struct disk_rules *rules, enum disk_deed deed)
{
    for (uint32_t i = 0; i < rules->list.n; i++)
        if (rules->list.at[i].deed == deed)
            return &rules->list.at[i];
    return NULL;
}

/* ---- one operation ---- */

static bool is_about(const struct disk_rule *r, const struct disk_op *op)
{
    return (r->does & op->does) && (!r->file[0] || slice_glob(slice_of(r->file), op->path));
}

/* Part of a write may be done, as on any disk; of all else all or nothing. */
static void fill(struct disk_rule *r, const struct disk_op *op, struct disk_fate *out)
{
    uint64_t takes = op->grows < r->room ? op->grows : r->room;
    bool in_part = op->bytes >= op->grows && op->bytes - op->grows + takes > 0;
    if (!op->grows || out->error)
        return;
    r->struck += takes < op->grows;
    if (takes < op->grows && !in_part) {
        out->error = ENOSPC;
        return;
    }
    r->room -= takes;
    if (takes < out->room)
        out->room = takes;
}

static void slow(struct disk_rules *rules, struct disk_rule *r, const struct disk_op *op,
                 int64_t now_ns, struct disk_fate *out)
{
    int64_t at_ns = now_ns + r->latency_ns;
    if (r->jitter_ns)
        at_ns += (int64_t)(rng_next(&rules->rng) % (uint64_t)(r->jitter_ns + 1));
    if (r->bandwidth && op->bytes) {
        int64_t from_ns = r->free_ns > now_ns ? r->free_ns : now_ns;
        double takes = (double)op->bytes / (double)r->bandwidth * (double)SECOND_NS;
        r->free_ns = from_ns + (takes < 1e15 ? (int64_t)takes : INT64_C(1000000000000000));
        at_ns += r->free_ns - now_ns;
    }
    r->struck++;
    if (at_ns > out->until_ns)
        out->until_ns = at_ns;
}

static void decide(struct disk_rules *rules, struct disk_rule *r, const struct disk_op *op,
                   int64_t now_ns, struct disk_fate *out)
{
    switch (r->deed) {
    case DISK_FULL: fill(r, op, out); return;
    case DISK_SLOW: slow(rules, r, op, now_ns, out); return;
    case DISK_ERROR:
        if (r->times && !out->error) {
            out->error = r->error;
            r->struck++;
            r->times -= r->times != UINT64_MAX;
        }
        return;
    case DISK_READ_ONLY:
        if (op->changes && !out->error) {
            out->error = EROFS;
            r->struck++;
        }
        return;
    case DISK_LOST_SYNC:
        out->lost = out->lost || (op->does & DISK_SYNC);
        r->struck++;
        return;
    }
}

void disk_decide(struct disk_rules *rules, const struct disk_op *op, int64_t now_ns,
                 struct disk_fate *out)
{
    *out = (struct disk_fate){.room = op->grows};
    for (uint32_t i = 0; i < rules->list.n; i++)
        if (is_about(&rules->list.at[i], op))
            decide(rules, &rules->list.at[i], op, now_ns, out);
}

void disk_freed(struct disk_rules *rules, uint64_t bytes)
{
    for (uint32_t i = 0; i < rules->list.n; i++)
        if (rules->list.at[i].deed == DISK_FULL && bytes < UINT64_MAX / 2)
            rules->list.at[i].room += bytes;
}
