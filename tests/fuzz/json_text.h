// SPDX-License-Identifier: Apache-2.0
//
// Is a text one JSON document, however deep? (data/json.h bounds the depth of what others send;
// the calls of a run may be deeper.) Scalars and keys are read by data/json.h.
#ifndef OUTFOX_TESTS_FUZZ_JSON_TEXT_H
#define OUTFOX_TESTS_FUZZ_JSON_TEXT_H

#include "data/json.h"

static inline void json_text_blanks(slice *s)
{
    while (s->n && strchr(" \t\r\n", s->p[0]) && s->p[0])
        *s = slice_from(*s, 1);
}

static inline bool json_text_scalar(slice *s, bool key)
{
    struct arena a = {0};
    const struct node *node = NULL;
    size_t n = 0;
    json_text_blanks(s);
    if (s->n && s->p[0] == '"') {
        for (n = 1; n < s->n && s->p[n] != '"'; n++)
            n += s->p[n] == '\\';
        n = n < s->n ? n + 1 : s->n;
    } else {
        while (n < s->n && s->p[n] && !strchr(",]} \t\r\n", s->p[n]))
            n++;
    }
    bool good = node_parse_json(&a, (slice){s->p, n}, &node) == 0;
    good = good && (!key || node->type == NODE_STR);
    arena_deinit(&a);
    *s = slice_from(*s, n);
    json_text_blanks(s);
    if (!good || !key)
        return good;
    good = s->n && s->p[0] == ':';
    *s = good ? slice_from(*s, 1) : *s;
    return good;
}

static inline bool json_text_whole(slice s)
{
    struct buf open = BUF_INIT(SIZE_MAX); // the brackets that close what is open
    bool value = true, good = true;       // value: one comes next
    for (json_text_blanks(&s); good && s.n; json_text_blanks(&s)) {
        char c = s.p[0], top = open.n ? open.p[open.n - 1] : 0;
        if (value && c != '{' && c != '[') {
            good = json_text_scalar(&s, false);
            value = false;
            continue;
        }
        s = slice_from(s, 1);
        if (value) {
            top = c == '{' ? '}' : ']';
            buf_addc(&open, top);
            json_text_blanks(&s);
            value = !(s.n && s.p[0] == top);
        } else if (top && c == ',') {
            value = true;
        } else {
            good = top && c == top;
            open.n -= good;
            continue;
        }
        if (value && top == '}')
            good = json_text_scalar(&s, true);
    }
    good = good && !value && !open.n;
    buf_deinit(&open);
    return good;
}

#endif
