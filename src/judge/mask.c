/* SPDX-License-Identifier: Apache-2.0
 *
 * Applying a mask: an answer is walked beside the first fault-free one. */
#include "base/hash.h"
#include "data/json.h"
#include "data/pointer.h"
#include "judge/mask_walk_int.h"

void mask_deinit(struct mask *m)
{
    arena_deinit(&m->arena);
    map_deinit(&m->marks);
    vec_deinit(&m->names);
}

bool node_is_blank(const struct node *node)
{
    if (!node)
        return true;
    switch (node->type) {
    case NODE_NULL: return true;
    case NODE_STR: return node->text.n == 0;
    case NODE_LIST:
    case NODE_MAP: return node->n == 0;
    default: return false;
    }
}

/* ---- places ---- */

void pointer_add(struct buf *path, slice key)
{
    buf_addc(path, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '~' || key.p[i] == '/')
            buf_adds(path, key.p[i] == '~' ? "~0" : "~1");
        else
            buf_addc(path, key.p[i]);
    }
}

size_t walk_enter(struct walk *w, slice key)
{
    size_t n = w->path.n;
    pointer_add(&w->path, key);
    return n;
}

void walk_leave(struct walk *w, size_t n)
{
    w->path.n = n;
}

/* Does a pointer of the user's mean this place? Its steps may be `*`, or a number for any. */
static bool means(slice pointer, slice path)
{
    slice a, b;
    while (pointer.n && path.n) {
        pointer = slice_from(pointer, 1);
        path = slice_from(path, 1);
        a = (slice){pointer.p, slice_find(pointer, '/')};
        b = (slice){path.p, slice_find(path, '/')};
        uint64_t index;
        bool any = slice_is(a, "*") || (slice_is(b, "*") && pointer_index(a, &index));
        if (!any && !slice_eq(a, b))
            return false;
        pointer = slice_from(pointer, a.n);
        path = slice_from(path, b.n);
    }
    return pointer.n == path.n;
}

bool pointers_mean(const struct texts *list, slice place)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (means(list->at[i], place))
            return true;
    return false;
}

uint64_t walk_place(const struct walk *w)
{
    return hash_slice(buf_slice(&w->path));
}

uint32_t walk_marks(const struct walk *w)
{
    const uint32_t *known = map_get(&w->m->marks, walk_place(w));
    uint32_t marks = known ? *known : 0;
    if (w->m->set && w->m->set->volatile_.n &&
        pointers_mean(&w->m->set->volatile_, buf_slice(&w->path)))
        marks |= MARK_VARIES | MARK_BLANK;
    return marks & MARK_LOOKS && w->m->runs <= 1 ? marks | MARK_VARIES : marks;
}

/* ---- words of a text ---- */

bool text_in_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           (c && strchr("-_.:+@~%", c));
}

bool text_next(slice *rest, slice *out)
{
    size_t n = 0;
    while (n < rest->n && text_in_word(rest->p[n]))
        n++;
    *out = (slice){rest->p, n ? n : rest->n > 0};
    *rest = slice_from(*rest, out->n);
    return out->n > 0;
}

uint64_t walk_word(const struct walk *w, uint32_t i)
{
    return hash_mix(walk_place(w), (uint64_t)i + 1);
}

/* Words of `now` that are volatile become those of `was`; a text of another form stays. */
static slice apply_words(struct walk *w, slice was, slice now)
{
    struct buf out = BUF_INIT(was.n + now.n + 1);
    slice a, b, kept = now, rest = was;
    bool more;
    for (uint32_t i = 0; (more = text_next(&rest, &a)) && text_next(&now, &b); i++)
        buf_add(&out, map_get(&w->m->marks, walk_word(w, i)) ? a : b);
    if (!more && now.n == 0)
        kept = slice_eq(buf_slice(&out), was) ? was : slice_copy(w->a, buf_slice(&out));
    buf_deinit(&out);
    return kept;
}

/* ---- applying ---- */

static const struct node *apply_at(struct walk *w, slice key, const struct node *was,
                                   const struct node *now)
{
    size_t n = walk_enter(w, key);
    const struct node *out = walk_apply(w, was, now);
    walk_leave(w, n);
    return out;
}

static const struct node *apply_map(struct walk *w, const struct node *was, const struct node *now)
{
    struct node *out = node_map(w->a, was->n + now->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < now->n; i++) {
        out->map[n] = now->map[i];
        out->map[n].value =
            apply_at(w, now->map[i].key, node_get(was, now->map[i].key), now->map[i].value);
        n += out->map[n].value != NULL;
    }
    for (uint32_t i = 0; i < was->n; i++) {
        if (node_get(now, was->map[i].key))
            continue;
        out->map[n] = was->map[i];
        out->map[n].value = apply_at(w, was->map[i].key, was->map[i].value, NULL);
        n += out->map[n].value != NULL;
    }
    out->n = n;
    return out;
}

void walk_reorder(struct walk *w, const struct node *was, struct node *out)
{
    for (uint32_t i = 0; i < was->n && i < out->n; i++)
        for (uint32_t k = i; k < out->n; k++) {
            const struct node *element = apply_at(w, SLICE("*"), was->list[i], out->list[k]);
            if (!node_eq(element, was->list[i]))
                continue;
            out->list[k] = out->list[i];
            out->list[i] = element;
            break;
        }
}

static const struct node *apply_list(struct walk *w, const struct node *was, const struct node *now)
{
    struct node *out = node_list(w->a, now->n);
    for (uint32_t i = 0; i < now->n; i++)
        out->list[i] = now->list[i];
    if (walk_marks(w) & MARK_UNORDERED && now->n <= MASK_LIST_MAX)
        walk_reorder(w, was, out);
    for (uint32_t i = 0; i < now->n; i++)
        out->list[i] = apply_at(w, SLICE("*"), i < was->n ? was->list[i] : NULL, out->list[i]);
    return out;
}

const struct node *walk_apply(struct walk *w, const struct node *was, const struct node *now)
{
    uint32_t marks = walk_marks(w);
    if (node_is_blank(was) != node_is_blank(now))
        return marks & MARK_BLANK ? was : now;
    if (marks & MARK_VARIES)
        return was || marks & MARK_BLANK ? was : now;
    if (!was || !now || was->type != now->type)
        return now;
    switch (now->type) {
    case NODE_STR: {
        slice text = apply_words(w, was->text, now->text);
        return text.p == was->text.p ? was : node_str(w->a, text);
    }
    case NODE_LIST: return apply_list(w, was, now);
    case NODE_MAP: return apply_map(w, was, now);
    default: return now;
    }
}

/* ---- the face ---- */

struct walk walk_new(const struct mask *m, struct arena *a)
{
    /* only learning changes the mask, and it is given one that may be changed */
    return (struct walk){(struct mask *)(uintptr_t)m, a, BUF_INIT(MASK_PATH_MAX), 0};
}

/* Goes to a pointer; what is there without faults, or NULL. */
static const struct node *walk_to(struct walk *w, slice pointer)
{
    const struct node *was = w->m->json;
    struct buf key = BUF_INIT(pointer.n + 1);
    while (pointer_next(&pointer, &key)) {
        uint64_t i;
        slice step = buf_slice(&key);
        bool list = was && was->type == NODE_LIST;
        walk_enter(w, list ? SLICE("*") : step);
        if (list)
            was = pointer_index(step, &i) && i < was->n ? was->list[i] : NULL;
        else
            was = was ? node_get(was, step) : NULL;
    }
    buf_deinit(&key);
    return was;
}

const struct node *mask_apply(const struct mask *m, struct arena *a, slice pointer,
                              const struct node *now)
{
    struct walk w = walk_new(m, a);
    const struct node *was = walk_to(&w, pointer);
    const struct node *out = was ? walk_apply(&w, was, now) : now;
    buf_deinit(&w.path);
    return out;
}

bool mask_hides(const struct mask *m, slice pointer)
{
    struct walk w = walk_new(m, NULL);
    (void)walk_to(&w, pointer);
    bool hides = walk_marks(&w) & MARK_VARIES;
    buf_deinit(&w.path);
    return hides;
}

slice mask_apply_text(const struct mask *m, struct arena *a, slice now)
{
    struct walk w = walk_new(m, a);
    slice out = apply_words(&w, m->body, now);
    buf_deinit(&w.path);
    return out;
}

enum alike mask_compare(const struct mask *m, slice body)
{
    struct arena a = {0};
    struct walk w = walk_new(m, &a);
    const struct node *now = NULL;
    uint32_t marks = walk_marks(&w);
    enum alike alike;
    if (slice_eq(body, m->body))
        alike = marks & MARK_VARIES ? ALIKE_UNKNOWN : ALIKE_SAME;
    else if ((body.n == 0) != (m->body.n == 0) && !(marks & MARK_BLANK))
        alike = ALIKE_OTHER;
    else if (marks & MARK_VARIES)
        alike = ALIKE_UNKNOWN;
    else if (m->json)
        alike =
            node_parse_json(&a, body, &now) == 0 && node_eq(walk_apply(&w, m->json, now), m->json)
                ? ALIKE_SAME
                : ALIKE_OTHER;
    else
        alike = slice_eq(apply_words(&w, m->body, body), m->body) ? ALIKE_SAME : ALIKE_OTHER;
    buf_deinit(&w.path);
    arena_deinit(&a);
    return alike;
}
