/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files about rules share: rule_parse.c reads the text of a rule, rule_target.c knows what
 * its first words are, rule_with.c what the injected answer looks like. */
#ifndef OUTFOX_PROXY_RULE_INT_H
#define OUTFOX_PROXY_RULE_INT_H

#include "proxy/rule.h"

enum { WORDS_MAX = 3 }; /* SERVICE METHOD /path */

struct parser {
    struct rulebook *book;
    struct rule *rule;
    slice text, rest; /* all of it; what is still to be read */
    bool has_payload, has_count, has_chance, has_after, has_for;
    struct err *e;
};

static inline uint32_t column(const struct parser *p, slice word)
{
    return (uint32_t)(word.p - p->text.p) + 1;
}

/* Fills the zeroed *rule from its text, which lives as long as the rulebook. */
int rule_parse(struct rulebook *book, slice text, struct rule *rule, struct err *e) MUST_USE;

/* Sets service and interface of the rule from the first n <= WORDS_MAX words of its text. */
int target_read(struct parser *p, const slice *word, size_t n) MUST_USE;

/* A name that a header may have, and that is not of the connection but of the message. */
int field_name_check(slice name, struct err *e) MUST_USE;

/* `items`, an array of n, with room for one more. */
void *rule_grown(struct arena *a, void *items, uint32_t n, size_t size) MUST_USE;

#endif
