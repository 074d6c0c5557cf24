/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

#include <strings.h>

bool slice_eq_nocase(slice a, slice b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

slice head_get(const struct head *h, slice name)
{
    for (uint32_t i = 0; i < h->n_fields; i++)
        if (slice_eq_nocase(h->fields[i].name, name))
            return h->fields[i].value;
    return (slice){0};
}

/* One piece of memory for everything: heads are copied once per call. */
struct head *head_copy(struct arena *a, const struct head *h)
{
    const slice *const texts[] = {&h->method, &h->scheme,  &h->authority,
                                  &h->target, &h->upgrade, &h->reason};
    size_t n = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        n += texts[i]->n;
    for (uint32_t i = 0; i < h->n_fields; i++)
        n += h->fields[i].name.n + h->fields[i].value.n;
    struct head *copy = arena_alloc(a, sizeof *copy + h->n_fields * sizeof *h->fields + n);
    struct field *fields = (struct field *)(copy + 1);
    char *at = (char *)(fields + h->n_fields);
    *copy = *h;
    copy->fields = fields;
    slice *const to[] = {&copy->method, &copy->scheme,  &copy->authority,
                         &copy->target, &copy->upgrade, &copy->reason};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        if (to[i]->n)
            memcpy(at, to[i]->p, to[i]->n);
        to[i]->p = at;
        at += to[i]->n;
    }
    for (uint32_t i = 0; i < h->n_fields; i++) {
        struct field f = h->fields[i];
        memcpy(at, f.name.p, f.name.n);
        fields[i].name = (slice){at, f.name.n};
        at += f.name.n;
        if (f.value.n)
            memcpy(at, f.value.p, f.value.n);
        fields[i].value = (slice){at, f.value.n};
        at += f.value.n;
    }
    return copy;
}

int wire_sniff(slice bytes)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    size_t n = bytes.n < sizeof preface - 1 ? bytes.n : sizeof preface - 1;
    if (n && memcmp(bytes.p, preface, n) != 0)
        return 1;
    return n == sizeof preface - 1 ? 2 : 0;
}

bool head_idempotent(const struct head *h)
{
    static const char *const methods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (slice_is(h->method, methods[i]))
            return true;
    return false;
}
