// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the configuration of a campaign. No file but the bytes is looked at.
//
// What must hold besides not crashing:
// 1. A file that is refused is refused with a sentence, and one that is accepted has no error.
// 2. What is accepted is within its bounds, and text ends with NUL.
// 3. Every placeholder of an accepted file is right, and names a service that is there.

#include <stdint.h>

#include "config/config.h"
#include "config/placeholder.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 64 << 10 };

static void check_text(slice text)
{
    MUST(text.p && text.p[text.n] == 0);
}

static void check_command(const struct campaign_config *c, slice text, bool own)
{
    slice rest = text, literal;
    struct placeholder p;
    size_t seen = 0;
    check_text(text);
    while (placeholder_next(&rest, &literal, &p)) {
        MUST(literal.p >= text.p && literal.p + literal.n <= text.p + text.n);
        MUST(p.kind != PLACEHOLDER_WRONG);
        seen += literal.n + p.text.n;
        if (p.kind == PLACEHOLDER_NONE || p.kind == PLACEHOLDER_TEXT)
            continue;
        MUST(p.name.n ? c->simulate.n || config_service(c, p.name) != UINT32_MAX
                      : own && p.kind != PLACEHOLDER_URL);
    }
    MUST(seen <= text.n);
}

static void check_pairs(const struct campaign_config *c, const struct text_pairs *pairs, bool own)
{
    for (uint32_t i = 0; i < pairs->n; i++) {
        check_text(pairs->at[i].name);
        check_command(c, pairs->at[i].value, own);
    }
}

static void check_service(const struct campaign_config *c, const struct service_spec *s)
{
    MUST(s->name.n && (s->run.n > 0) != (s->address.n > 0));
    MUST(s->ready_ns > 0 && s->stop_ns >= 0);
    MUST((s->ready == READY_HTTP) == (s->ready_target.n > 0));
    check_command(c, s->run, true);
    check_pairs(c, &s->env, true);
    check_text(s->address);
    check_text(s->listen);
    check_text(s->dir);
    check_text(s->ca);
}

static void check_expect(const struct expect_spec *x)
{
    MUST(x->any_of.n <= ALTERNATIVES_MAX && x->any_of.n != 1);
    for (uint32_t i = 0; i < x->any_of.n; i++) {
        MUST(x->any_of.at[i].any_of.n == 0);
        check_expect(&x->any_of.at[i]);
    }
    for (uint32_t i = 0; i < x->where.n; i++) {
        struct buf words = BUF_INIT(1 << 16);
        condition_refusal(&x->where.at[i].condition, &words);
        MUST(words.n > 0);
        buf_deinit(&words);
    }
    for (uint32_t i = 0; i < x->status.n; i++)
        MUST(x->status.at[i].low <= x->status.at[i].high && x->status.at[i].high <= 999);
    for (uint32_t i = 0; i < x->json.n; i++)
        MUST(x->json.at[i].value &&
             (!x->json.at[i].pointer.n || x->json.at[i].pointer.p[0] == '/'));
    check_text(x->contains);
    check_text(x->body);
}

static void check_scenario(const struct campaign_config *c, const struct scenario_spec *s)
{
    MUST(s->name.n && s->timeout_ns > 0);
    MUST(s->is_command == (s->command.n > 0));
    MUST(s->is_command || c->simulate.n || s->service < c->services.n);
    MUST(s->is_command || (s->target.n && (s->method.n == 0 || s->target.p[0] == '/')));
    check_command(c, s->command, false);
    check_command(c, s->before, false);
    check_command(c, s->after, false);
    check_pairs(c, &s->env, false);
    check_text(s->body);
    check_expect(&s->expect);
    check_expect(&s->under_faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    struct campaign_config *c;
    struct err e = {0};
    bool right = campaign_config_parse((slice){(const char *)data, size}, "f.yaml", &c, &e) == 0;
    MUST(right == !e.text[0] && right == (c != NULL));
    if (!right)
        return 0;
    MUST(c->services.n || c->simulate.n);
    MUST(c->modes.n && c->modes.n <= MODE_LIST_MAX);
    MUST(c->search.jobs && c->search.options.baselines && c->settle_ns > 0 && c->quiet_ns >= -1);
    for (uint32_t i = 0; i < c->services.n; i++)
        check_service(c, &c->services.at[i]);
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        check_scenario(c, &c->scenarios.at[i]);
    if (c->suite.given) {
        check_scenario(c, &c->suite.each);
        check_command(c, c->suite.list, false);
        check_text(c->suite.junit);
        MUST(c->suite.list_ns > 0 && (c->suite.list.n || c->suite.junit.n));
    }
    check_pairs(c, &c->env, true);
    check_text(c->store);
    check_text(c->logs);
    campaign_config_free(c);
    return 0;
}
