// SPDX-License-Identifier: Apache-2.0
//
// Requests to the control address: a method, a blank and what stands below the run's address; then,
// after tabs, who is asked (Host) and further fields, NAME:VALUE.
//
// 1. The answer is one JSON object that fits, whatever was asked; one that is refused has a
// sentence.
// 2. Nothing is left behind in the campaign's names.
// 3. Blocks open and close as they are counted, and no request gives another status than those that
// are documented.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/json.h"
#include "fuzz/must.h"
#include "live/control.h"

enum { BYTES_MAX = 8192, FIELDS_MAX = 4 };

static void arrive(struct tracker *t, uint32_t service, uint32_t caller, const char *interface)
{
    struct track_arrival arrival = {
        .service = service, .caller = caller, .interface = slice_of(interface), .start_ns = 1};
    struct call_fate out;
    (void)track_arrive(t, &arrival, &out);
}

static void ask(struct tracker *t, struct names *names, struct track_run *run, slice line)
{
    struct buf target = BUF_INIT(2 * BYTES_MAX), out = BUF_INIT(CONTROL_ANSWER_MAX);
    struct arena a = {0};
    const struct node *answer = NULL;
    slice method, rest = line;
    struct field fields[FIELDS_MAX];
    struct head head = {.fields = fields};
    bool hushed = run->blocks > 0;
    slice_cut(&rest, '\t', &line);
    slice_cut(&rest, '\t', &head.authority);
    while (head.n_fields < FIELDS_MAX && slice_cut(&rest, '\t', &fields[head.n_fields].value)) {
        slice_cut(&fields[head.n_fields].value, ':', &fields[head.n_fields].name);
        head.n_fields += fields[head.n_fields].value.p != NULL;
    }
    slice_cut(&line, ' ', &method);
    buf_addf(&target, "/runs/%llx", (unsigned long long)run->secret);
    buf_add(&target, line);
    head.method = method;
    head.target = buf_slice(&target);
    uint16_t status = control_answer(t, ANY_VOCABULARY(names), &head, &out);
    MUST(status == 200 || (status >= 400 && status <= 409));
    MUST((status == 403) == !head_is_local(&head));
    MUST(!out.full && node_parse_json(&a, buf_slice(&out), &answer) == 0);
    MUST(answer->type == NODE_MAP);
    const struct node *error = node_get(answer, SLICE("error"));
    MUST((status == 200) == !error && (!error || error->text.n > 0));
    if (status != 200 || slice_is(method, "GET"))
        MUST((run->blocks > 0) == hushed);
    arena_deinit(&a);
    buf_deinit(&target);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const slice services[] = {{"shop", 4}, {"pay", 3}};
    if (size > BYTES_MAX)
        return 0;
    struct names names;
    struct aim aim = {0};
    struct err e = {0};
    names_init(&names);
    struct track_options o = {.names = &names, .services = services, .n_services = 2};
    struct tracker *t = tracker_new(&o);
    struct lessons *lessons = lessons_new(2);
    MUST(aim_add(&aim, ANY_VOCABULARY(&names), UID_NONE, SLICE("pay * #* : 503"), &e) == 0);
    struct track_run *run =
        track_begin(t, 0, CALLER_CLIENT, SLICE("buy"), 0, &aim, lessons, false, 0);
    arrive(t, 0, CALLER_CLIENT, "POST /orders");
    arrive(t, 1, 0, "POST /charge");
    arrive(t, 1, 0, "POST /charge");
    uint32_t syms = names.syms.text.n, elements = names.elements.n, uids = names.uids.n;
    slice rest = {(const char *)data, size}, line;
    while (slice_cut(&rest, '\n', &line))
        ask(t, &names, run, line);
    MUST(names.syms.text.n == syms && names.elements.n == elements && names.uids.n == uids);
    tracker_free(t);
    lessons_drop(lessons);
    aim_deinit(&aim);
    names_deinit(&names);
    return 0;
}
