// SPDX-License-Identifier: Apache-2.0
//
// Requests to the API: a line `METHOD TARGET`, then fields NAME:VALUE each on a line, then after an
// empty line the body. No socket: routes, queries, bodies and who may ask are pure.
//
// 1. A route is found or not, and has the values that its path names; numbers are numbers.
// 2. A query or a body that is refused says why; one that is taken has what the route needs.
// 3. Without the token nothing that is not open is let in; a Host of the web never is.

#include "api/api_int.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 16384, FIELDS_MAX = 6 };

/* In any case. */
static bool has(slice text, slice word)
{
    for (size_t i = 0; i + word.n <= text.n; i++)
        if (slice_eq_nocase((slice){text.p + i, word.n}, word))
            return true;
    return false;
}

static void check_access(const struct head *head, bool open)
{
    const struct access plain = {.loopback = true, .host = SLICE("127.0.0.1")};
    const struct access guarded = {.loopback = true, .token = SLICE("0123456789abcdef")};
    const char *why = NULL;
    uint16_t status = access_check(&plain, head, open, false, &why);
    MUST(status == 0 || (status == 403 && why));
    if (has(head->authority, SLICE("example")))
        MUST(status == 403 || has(head->authority, SLICE("localhost")));
    why = NULL;
    status = access_check(&guarded, head, open, false, &why);
    MUST(status == 0 || ((status == 401 || status == 403) && why));
    slice given = head_get(head, SLICE("authorization"));
    MUST(status || open || (given.p && memmem(given.p, given.n, "0123456789abcdef", 16)));
}

static void check_command(const struct asked *k, slice body, struct arena *a)
{
    struct api_command c;
    struct err e = {0};
    if (command_read(k, body, a, &c, &e)) {
        MUST(e.text[0]);
        return;
    }
    MUST((int)c.kind == k->route->kind);
    if (c.kind == API_BUDGET)
        MUST(c.has_runs || c.has_time);
    if (c.kind == API_BUDGET)
        MUST(c.max_time_ns >= 0);
    if (c.kind == API_REPLAY)
        MUST((c.finding.p != NULL) + (c.run != 0) + (c.faultload.p != NULL) == 1);
    MUST(c.severity < SEVERITIES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct field fields[FIELDS_MAX];
    struct head head = {.fields = fields};
    struct arena a = {0};
    struct asked k = {0};
    struct err e = {0};
    const char *allow = NULL;
    slice rest = {(const char *)data, size}, line, path;
    if (size > BYTES_MAX || !size)
        return 0;
    slice_cut(&rest, '\n', &line);
    slice_cut(&line, ' ', &head.method);
    head.target = line.p ? line : SLICE("/");
    while (slice_cut(&rest, '\n', &line) && line.n) {
        struct field field = {.value = line};
        slice_cut(&field.value, ':', &field.name);
        if (field.value.p && slice_eq_nocase(field.name, SLICE("host")))
            head.authority = field.value;
        else if (field.value.p && head.n_fields < FIELDS_MAX)
            fields[head.n_fields++] = field;
    }
    slice query = head.target;
    slice_cut(&query, '?', &path);
    uint16_t found = route_find(head.method, path, &a, &k, &allow);
    MUST(found == 200 || found == 404 || (found == 405 && allow));
    check_access(&head, found == 200 && k.route->open);
    if (found == 200 && route_query(&k, query, &a, &e) == 0) {
        for (uint32_t i = 0; i < VALUES; i++)
            MUST(!k.given[i] || !value_rows[i].number || k.number[i] <= UINT32_MAX);
        if (k.given[VALUE_TYPES])
            MUST(feed_types(k.text[VALUE_TYPES], &e) || e.text[0]);
        if (k.route->body)
            check_command(&k, rest.p ? rest : SLICE(""), &a);
    } else if (found == 200) {
        MUST(e.text[0]);
    }
    arena_deinit(&a);
    return 0;
}
