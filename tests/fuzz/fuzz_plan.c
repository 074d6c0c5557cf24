// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a failure plan.
//
// 1. What is refused is refused with a sentence.
// 2. What is accepted can be shown, and carried out on a schedule: whatever is said to it, every event
//    begins at most once, and its moments never go back.

#include <stdint.h>

#include "fuzz/must.h"
#include "plan/injector.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "report/plan.h"

enum { BYTES_MAX = 64 << 10 };

static void carry_out(const struct plan *p)
{
    struct schedule *s = schedule_new(p, p->seed);
    struct schedule_nodes aim = {0};
    struct schedule_action a;
    uint32_t begun = 0;
    schedule_start(s);
    for (int64_t now = 0; now < 50; now++) {
        schedule_line(s, now * 100000000, p->nodes.n ? 0 : PLAN_NONE, PLAN_NONE, SLICE("ready x1"));
        schedule_metric(s, now * 100000000, PLAN_NONE, SLICE("memory"), SLICE("a"), (double)now,
                        (double)now - 1);
        schedule_span(s, now * 100000000, PLAN_NONE, SLICE("shop GET /pay"));
        while (schedule_take(s, now * 100000000, &a)) {
            schedule_aim(s, &a, p->nodes.n ? 0 : PLAN_NONE, &aim);
            for (uint32_t i = 0; i < aim.n; i++)
                MUST(aim.at[i] < p->nodes.n);
            begun += a.act == SCHEDULE_BEGIN;
            if (a.act == SCHEDULE_BEGIN)
                schedule_began(s, now * 100000000, a.event);
            else
                schedule_ended(s, now * 100000000, a.event);
        }
    }
    MUST(begun <= p->events.n);
    mem_free(aim.at);
    schedule_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan p;
    struct err e = {0};
    if (size > BYTES_MAX)
        return 0;
    int status = plan_parse(&p, (slice){(const char *)data, size}, &e);
    MUST((status == 0) == !e.text[0]);
    if (!status) {
        struct buf out = BUF_INIT(1 << 20);
        plan_print_show(&p, &out);
        buf_deinit(&out);
        carry_out(&p);
    }
    plan_free(&p);
    return 0;
}
