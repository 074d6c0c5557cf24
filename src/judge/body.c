/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of errors in bodies. A body is walked together with the one it is compared with, so that
 * only what is new or has changed counts. */
#include "judge/body_int.h"

#include "data/json.h"
#include "judge/words_int.h"

static const struct word error_words[] = {
    {"error", NULL},      {"errors", NULL},   {"exception", NULL}, {"exceptions", NULL},
    {"failed", NULL},     {"failure", NULL},  {"failures", NULL},  {"alert", NULL},
    {"alerts", NULL},     {"cannot", NULL},   {"not", "could"},    {"unavailable", NULL},
    {"available", "not"}, {"timeout", NULL},  {"out", "timed"},    {"traceback", NULL},
    {"stacktrace", NULL}, {"trace", "stack"}, {NULL, NULL},
};

enum { SEARCH_MAX = 1000 }; /* keys of a map among which one is looked for */

struct walk {
    slice was; /* the other body, as text */
    bool values;
    slice key; /* what was found: under which key, if any, and what */
    const struct node *value;
};

static bool text_within(slice text, slice all)
{
    return text.n == 0 || (all.n && memmem(all.p, all.n, text.p, text.n));
}

/* Is there something under a key that says more than "nothing to report"? A number may be a limit
 * or a count, and is none. */
static bool says_something(const struct node *node)
{
    if (!node)
        return false;
    switch (node->type) {
    case NODE_BOOL: return node->boolean;
    case NODE_STR: return node->text.n > 0;
    case NODE_LIST:
    case NODE_MAP: return node->n > 0;
    default: return false;
    }
}

/* The value under the key of map->map[i] in another map. Both are mostly of the same shape. */
static const struct node *counterpart(const struct node *map, uint32_t i, const struct node *was)
{
    slice key = map->map[i].key;
    if (!was || was->type != NODE_MAP)
        return NULL;
    if (i < was->n && slice_eq(was->map[i].key, key))
        return was->map[i].value;
    return was->n <= SEARCH_MAX ? node_get(was, key) : NULL;
}

static bool walk_found(struct walk *w, slice key, const struct node *value)
{
    w->key = key;
    w->value = value;
    return true;
}

/* Recursion is bounded by what node_parse_json accepts. */
static bool walk_node(struct walk *w, slice key, const struct node *now, const struct node *was)
{
    switch (now->type) {
    case NODE_STR:
        return w->values && !(was && node_eq(now, was)) && words_find(error_words, now->text) &&
               !text_within(now->text, w->was) && walk_found(w, key, now);
    case NODE_LIST:
        for (uint32_t i = 0; i < now->n; i++) {
            bool known = was && was->type == NODE_LIST && i < was->n;
            if (walk_node(w, key, now->list[i], known ? was->list[i] : NULL))
                return true;
        }
        return false;
    case NODE_MAP:
        for (uint32_t i = 0; i < now->n; i++) {
            const struct node *value = now->map[i].value, *old = counterpart(now, i, was);
            bool moved = value->type == NODE_STR && text_within(value->text, w->was);
            if (says_something(value) && !says_something(old) && !moved &&
                words_find(error_words, now->map[i].key))
                return walk_found(w, now->map[i].key, value);
            if (walk_node(w, now->map[i].key, value, old))
                return true;
        }
        return false;
    default: return false;
    }
}

/* For a sentence: one line, no half characters. */
static void quote(const struct buf *text, struct body_error *out)
{
    static const char more[] = "...";
    slice s = buf_slice(text);
    size_t n = s.n, room = BODY_QUOTE_MAX - sizeof more;
    if (n > room)
        for (n = room; n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        out->quote[i] = (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? ' ' : s.p[i];
    memcpy(out->quote + n, n < s.n ? more : "", n < s.n ? sizeof more : 1);
}

/* Texts that are no JSON: the first word of errors that the other does not have at all. */
static bool find_words(slice now, slice was, struct body_error *out)
{
    const struct word *w = words_find(error_words, now);
    struct word same[] = {w ? *w : (struct word){NULL, NULL}, {NULL, NULL}};
    if (!w || words_find(same, was))
        return false;
    struct buf text = BUF_INIT(BODY_QUOTE_MAX);
    buf_addf(&text, "%s%s%s", w->before ? w->before : "", w->before ? " " : "", w->word);
    quote(&text, out);
    buf_deinit(&text);
    return true;
}

bool body_find_error(const struct mask *was, slice now, bool values, struct body_error *out)
{
    struct arena a = {0};
    struct walk w = {.was = was->body, .values = values};
    const struct node *root;
    bool found = false;
    if (!words_find(error_words, now))
        return false;
    if (!was->json || node_parse_json(&a, now, &root)) {
        found = values && find_words(mask_apply_text(was, &a, now), was->body, out);
    } else if (walk_node(&w, (slice){NULL, 0}, mask_apply(was, &a, (slice){0}, root), was->json)) {
        struct buf text = BUF_INIT(BODY_QUOTE_MAX * 2);
        if (w.key.n) {
            buf_add_json_string(&text, w.key);
            buf_adds(&text, ": ");
        }
        node_print(w.value, &text);
        quote(&text, out);
        buf_deinit(&text);
        found = true;
    }
    arena_deinit(&a);
    return found;
}
