/* SPDX-License-Identifier: Apache-2.0
 *
 * The rulebook, and finding the rule for a call. A rule is tested by its cheapest part first, the
 * interface, which nearly all rules do not share with a given call. */
#include "proxy/rule.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/index.h"

enum { CHANCE_ALWAYS = 1000000000 };

/* ---- the tally ---- */

static void tally_release(struct rule_tally *tally)
{
    if (tally && atomic_fetch_sub_explicit(&tally->refs, 1, memory_order_acq_rel) == 1)
        mem_free(tally);
}

void rule_fired(const struct rule *rule)
{
    atomic_fetch_add_explicit(&rule->tally->fired, 1, memory_order_relaxed);
}

uint64_t rule_count_seen(const struct rule *rule)
{
    return atomic_load_explicit(&rule->tally->seen, memory_order_relaxed);
}

uint64_t rule_count_fired(const struct rule *rule)
{
    return atomic_load_explicit(&rule->tally->fired, memory_order_relaxed);
}

/* ---- the rulebook ---- */

void rulebook_deinit(struct rulebook *book)
{
    for (uint32_t i = 0; i < book->list.n; i++)
        tally_release(book->list.at[i]->tally);
    vec_deinit(&book->list);
    arena_deinit(&book->arena);
}

int rule_add(struct rulebook *book, slice text, struct rule **out, struct err *e)
{
    if (book->list.n == RULES_MAX)
        return err_set(e, 0, 0, "more than %d rules", RULES_MAX);
    struct rule *rule = arena_zero(&book->arena, sizeof *rule);
    rule->last = UINT64_MAX;
    rule->every = 1;
    rule->chance = CHANCE_ALWAYS;
    rule->for_ns = INT64_MAX;
    rule->text = slice_copy(&book->arena, slice_trim(text));
    if (rule_parse(book, rule->text, rule, e))
        return -1;
    rule->tally = mem_zero(sizeof *rule->tally);
    atomic_init(&rule->tally->refs, 1);
    rule->tally->since_ns = RULE_NOT_YET;
    vec_push(&book->list, rule);
    *out = rule;
    return 0;
}

static bool id_eq(const void *owner, uint32_t i, const void *key)
{
    const struct rulebook *book = owner;
    return slice_eq(book->list.at[i]->id, *(const slice *)key);
}

int rulebook_seal(struct rulebook *book, uint64_t seed, const struct rule **wrong, struct err *e)
{
    struct index index = {0};
    int status = 0;
    for (uint32_t i = 0; i < book->list.n && status == 0; i++) {
        struct rule *rule = book->list.at[i];
        char number[16];
        rule->number = i + 1;
        if (!rule->named) {
            snprintf(number, sizeof number, "%u", (unsigned)rule->number);
            rule->id = slice_copy(&book->arena, slice_of(number));
        }
        uint64_t hash = hash_slice(rule->id);
        rule->salt = hash_mix(seed, hash);
        if (index_get(&index, hash, id_eq, book, &rule->id) != INDEX_NONE) {
            *wrong = rule;
            status = err_set(e, 0, 0, "two rules have the id \"%.*s\": give them different ones",
                             SLICE_ARG(rule->id));
        }
        index_put(&index, hash, i);
    }
    index_deinit(&index);
    return status;
}

/* The rules of an old rulebook that nobody inherited yet. */
struct estate {
    const struct rulebook *old;
    struct index index;
    bool *taken;
};

static slice explicit_id(const struct rule *rule)
{
    return rule->named ? rule->id : SLICE("");
}

static uint64_t same_hash(const struct rule *rule)
{
    uint64_t hash = hash_mix(hash_slice(rule->service), hash_slice(rule->text));
    return hash_mix(hash, hash_slice(explicit_id(rule)));
}

static bool same_rule(const void *owner, uint32_t i, const void *key)
{
    const struct estate *estate = owner;
    const struct rule *old = estate->old->list.at[i], *rule = key;
    return !estate->taken[i] && slice_eq(old->text, rule->text) &&
           slice_eq(old->service, rule->service) && slice_eq(explicit_id(old), explicit_id(rule));
}

void rulebook_inherit(struct rulebook *book, const struct rulebook *old)
{
    struct estate estate = {.old = old, .taken = mem_zero(old->list.n + 1)};
    for (uint32_t i = 0; i < old->list.n; i++)
        index_put(&estate.index, same_hash(old->list.at[i]), i);
    for (uint32_t i = 0; i < book->list.n; i++) {
        struct rule *rule = book->list.at[i];
        uint32_t from = index_get(&estate.index, same_hash(rule), same_rule, &estate, rule);
        if (from == INDEX_NONE)
            continue;
        estate.taken[from] = true;
        tally_release(rule->tally);
        rule->tally = old->list.at[from]->tally;
        atomic_fetch_add_explicit(&rule->tally->refs, 1, memory_order_relaxed);
    }
    index_deinit(&estate.index);
    mem_free(estate.taken);
}

void rulebook_start(struct rulebook *book, int64_t now_ns)
{
    for (uint32_t i = 0; i < book->list.n; i++)
        if (book->list.at[i]->tally->since_ns == RULE_NOT_YET)
            book->list.at[i]->tally->since_ns = now_ns;
}

/* ---- the rules of a proxy ---- */

void rules_put(struct rules *rules, const struct rule *rule)
{
    vec_push(&rules->list, rule);
    rules->needs_payload |= rule->payload != 0;
}

void rules_deinit(struct rules *rules)
{
    vec_deinit(&rules->list);
}

static bool interface_matches(const struct rule *rule, const struct request_facts *facts)
{
    slice text = facts->interface;
    if (rule->any_method) {
        size_t blank = slice_find(text, ' ');
        if (blank == text.n)
            return false;
        text = slice_from(text, blank + 1);
    }
    if (!rule->open)
        return slice_eq(text, rule->interface);
    return slice_starts(text, rule->interface) &&
           (!rule->one_word || slice_find(text, ' ') == text.n) &&
           (!facts->health || slice_starts(rule->interface, SLICE("grpc.health.")));
}

static bool value_matches(const struct rule_header *want, slice value)
{
    return want->any ||
           (want->open ? slice_starts(value, want->value) : slice_eq(value, want->value));
}

/* One field of that name is enough. Host is not among the fields. */
static bool header_matches(const struct rule_header *want, const struct head *head)
{
    if (!head)
        return false;
    if (head->authority.n && slice_eq_nocase(want->name, SLICE("host")))
        return value_matches(want, head->authority);
    for (uint32_t i = 0; i < head->n_fields; i++)
        if (slice_eq_nocase(head->fields[i].name, want->name) &&
            value_matches(want, head->fields[i].value))
            return true;
    return false;
}

/* All but the payload. */
static bool rest_matches(const struct rule *rule, const struct request_facts *facts)
{
    if (!interface_matches(rule, facts))
        return false;
    if (rule->service.p[0] != '*' && !slice_eq(rule->service, facts->service))
        return false;
    for (uint32_t i = 0; i < rule->n_headers; i++)
        if (!header_matches(&rule->headers[i], facts->head))
            return false;
    if (rule->after_ns == 0 && rule->for_ns == INT64_MAX)
        return true;
    int64_t since = rule->tally->since_ns; /* the window is counted from when it came into force */
    int64_t age = since == RULE_NOT_YET || facts->now_ns < since ? 0 : facts->now_ns - since;
    return age >= rule->after_ns && age - rule->after_ns < rule->for_ns;
}

bool rules_want_payload(const struct rules *rules, const struct request_facts *facts)
{
    for (uint32_t i = 0; rules->needs_payload && i < rules->list.n; i++)
        if (rules->list.at[i]->payload && rest_matches(rules->list.at[i], facts))
            return true;
    return false;
}

const struct rule *rules_find(const struct rules *rules, const struct request_facts *facts)
{
    const struct rule *found = NULL;
    for (uint32_t i = 0; i < rules->list.n; i++) {
        const struct rule *rule = rules->list.at[i];
        if (!rest_matches(rule, facts) || (rule->payload && rule->payload != facts->payload))
            continue;
        uint64_t n = atomic_fetch_add_explicit(&rule->tally->seen, 1, memory_order_relaxed);
        bool due = n >= rule->first && n <= rule->last && n % rule->every == rule->every - 1;
        if (!found && due && (hash_mix(rule->salt, n) >> 32) * CHANCE_ALWAYS >> 32 < rule->chance)
            found = rule;
    }
    return found;
}
