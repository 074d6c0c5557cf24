// SPDX-License-Identifier: Apache-2.0
//
// Fault rules and the configuration of the proxy. The input's first line chooses: `yaml` and the
// rest is a file; otherwise each line is a rule, and a call to be matched against all of them.
//
// 1. What is refused is refused with a sentence, and leaves nothing behind.
// 2. Matching changes nothing but counts: a call is seen by every rule that matches it, however
// often
//    it is asked; the rule that fires is the first of them whose count and draw agree.
// 3. The interface of any call, as it is printed, is a rule for that call.
// 4. A configuration that is accepted has what a proxy needs to start, and every rule is
// somebody's.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/keys.h"
#include "data/yaml.h"
#include "fuzz/must.h"
#include "proxy/config.h"

enum { BYTES_MAX = 8192, LINES_MAX = 32 };

// How many of the rules have seen a call more than `before` says; updates it.
static uint32_t seen_more(const struct rules *rules, uint64_t *before)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rules->list.n; i++) {
        uint64_t seen = rule_count_seen(rules->list.at[i]);
        MUST(seen == before[i] || seen == before[i] + 1);
        n += seen != before[i];
        before[i] = seen;
    }
    return n;
}

// Gives the line to the rules as a call, four times: with a little of everything that rules look
// at.
static void match(const struct rules *rules, slice line, const struct rewrite *normalise)
{
    uint64_t before[LINES_MAX] = {0};
    slice rest = line, method, path;
    struct buf interface = BUF_INIT(1 << 16);
    slice_word(&rest, &method);
    if (!slice_word(&rest, &path))
        method = (slice){line.p, 0};
    interface_make(method, path.n ? path : line, normalise, &interface);
    struct field fields[] = {{SLICE("a"), line}, {method, path}};
    struct head head = {.authority = method, .fields = fields, .n_fields = 2};
    struct request_facts facts = {.service = SLICE("s"), .interface = buf_slice(&interface)};
    facts.health = slice_starts(facts.interface, SLICE("grpc.health."));
    for (uint32_t i = 0; i < rules->list.n; i++)
        before[i] = rule_count_seen(rules->list.at[i]);
    uint32_t first = 0;
    for (int i = 0; i < 4; i++) {
        facts.head = i < 2 ? &head : NULL;
        facts.payload = i % 2 ? 0x0a1b2c3d : 0;
        const struct rule *found = rules_find(rules, &facts);
        uint32_t more = seen_more(rules, before);
        MUST(!found || more > 0);
        first = i == 0 ? more : first;
        MUST(i != 2 || more <= first); // without a head less matches
        MUST(i != 1 || more >= first); // with a payload more
    }
    buf_deinit(&interface);
}

static bool is_word(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 'A' || s.p[i] > 'Z')
            return false;
    return s.n > 0;
}

// METHOD /path as a call, and its name as a rule.
static void name_is_rule(slice line)
{
    slice rest = line, method, path;
    if (!slice_word(&rest, &method) || !slice_word(&rest, &path) || !is_word(method) ||
        path.p[0] != '/' || slice_find(path, '*') < path.n)
        return;
    struct buf name = BUF_INIT(1 << 16), text = BUF_INIT(1 << 16);
    struct rulebook book = {0};
    struct rules rules = {0};
    struct rule *rule = NULL;
    struct err e = {0};
    interface_make(method, path, NULL, &name);
    buf_addf(&text, "%.*s : 503", SLICE_ARG(buf_slice(&name)));
    MUST(rule_add(&book, buf_slice(&text), &rule, &e) == 0);
    rules_put(&rules, rule);
    struct request_facts facts = {.service = SLICE("s"), .interface = buf_slice(&name)};
    MUST(rules_find(&rules, &facts) == rule);
    rules_deinit(&rules);
    rulebook_deinit(&book);
    buf_deinit(&name);
    buf_deinit(&text);
}

static void read_rules(slice text)
{
    struct rulebook book = {0};
    struct rules rules = {0};
    const struct rule *wrong = NULL;
    slice rest = text, line;
    struct err e = {0};
    for (int i = 0; i < LINES_MAX && slice_cut(&rest, '\n', &line); i++) {
        struct err refused = {0};
        struct rule *rule = NULL;
        uint32_t before = book.list.n;
        name_is_rule(line);
        if (rule_add(&book, line, &rule, &refused)) {
            MUST(refused.text[0] && book.list.n == before && refused.col <= line.n + 1);
            continue;
        }
        MUST(book.list.n == before + 1 && slice_eq(rule->text, slice_trim(line)));
        MUST(rule->mode != MODE_NONE && rule->service.n > 0 && rule->interface.p);
        rules_put(&rules, rule);
    }
    if (rulebook_seal(&book, text.n, &wrong, &e))
        MUST(e.text[0] && wrong);
    rulebook_start(&book, 0);
    for (rest = text; slice_cut(&rest, '\n', &line);)
        match(&rules, line, NULL);
    rules_deinit(&rules);
    rulebook_deinit(&book);
}

static void check_config(const struct proxy_config *config)
{
    MUST(config->proxies.n > 0 && config->workers > 0);
    MUST(config->book.list.n == config->faults.n);
    for (uint32_t i = 0; i < config->proxies.n; i++) {
        const struct proxy_spec *spec = &config->proxies.at[i];
        MUST(name_valid(spec->service, true) && spec->listen.n && spec->to.n);
        MUST(spec->listen_tls || !(spec->cert || spec->key || spec->test_cert || spec->client_ca));
        for (uint32_t k = 0; k < spec->rules.list.n; k++)
            MUST(slice_eq(spec->rules.list.at[k]->service, spec->service));
    }
}

static struct proxy_config *read_config(slice text)
{
    struct proxy_config *config = config_new();
    const struct node *root;
    struct err e = {0};
    if (yaml_parse(text, &config->arena, &root, &e) || config_read(config, root, &e) ||
        config_finish(config, &e)) {
        MUST(e.text[0]);
        config_free(config);
        return NULL;
    }
    check_config(config);
    return config;
}

static void read_yaml(slice text)
{
    struct proxy_config *config = read_config(text);
    if (!config)
        return;
    rulebook_start(&config->book, 0);
    for (uint32_t i = 0; i < config->proxies.n && i < 4; i++)
        if (config->proxies.at[i].rules.list.n <= LINES_MAX)
            match(&config->proxies.at[i].rules, SLICE("POST /charge/42"), config->normalise);
    struct proxy_config *again = read_config(text);
    MUST(again);
    rulebook_inherit(&again->book, &config->book);
    for (uint32_t i = 0; i < config->book.list.n; i++)
        MUST(config->book.list.at[i]->tally->refs == 2); // each was inherited once
    config_free(config);
    rulebook_start(&again->book, 1);
    config_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    if (size > BYTES_MAX)
        return 0;
    if (slice_starts(text, SLICE("yaml\n")))
        read_yaml(slice_from(text, 5));
    else
        read_rules(text);
    return 0;
}
