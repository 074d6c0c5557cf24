/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks, applied and learned: each answer is walked beside the first fault-free one. */
#include "base/hash.h"
#include "base/look.h"
#include "data/json.h"
#include "data/pointer.h"
#include "judge/oracle_int.h"

enum mark {
    MARK_VARIES = 1,    /* the value differs between fault-free runs, or looks like a moment */
    MARK_BLANK = 2,     /* it is null, empty or missing in some of them */
    MARK_UNORDERED = 4, /* a list whose elements come in any order */
    MARK_LOOKS = 8,     /* like a generated id: believed while there is one run to learn from */
};

enum {
    MASK_PATH_MAX = 1000, /* bytes; deeper places count as one */
    MASK_LIST_MAX = 200,  /* elements whose order is looked at */
    NAMES_MAX = 50,       /* of volatile places that are named */
};

/* Where a walk over an answer is. */
struct walk {
    const struct mask *m;
    struct mask *learns; /* the same where the walk learns, else NULL */
    struct arena *a;     /* for what is made */
    struct buf path;     /* without indexes */
    int64_t now_ns;
};

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

static size_t walk_enter(struct walk *w, slice key)
{
    size_t n = w->path.n;
    pointer_add(&w->path, key);
    return n;
}

static void walk_leave(struct walk *w, size_t n)
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

/* What stands for this place, and for a word in it. */
static uint64_t walk_place(const struct walk *w)
{
    return hash_slice(buf_slice(&w->path));
}

/* What is known of this place. What the user lists as volatile is not compared at all. */
static uint32_t walk_marks(const struct walk *w)
{
    const uint32_t *known = map_get(&w->m->marks, walk_place(w));
    uint32_t marks = known ? *known : 0;
    if (w->m->set && w->m->set->volatile_.n &&
        pointers_mean(&w->m->set->volatile_, buf_slice(&w->path)))
        marks |= MARK_VARIES | MARK_BLANK;
    return marks & MARK_LOOKS && w->m->runs <= 1 ? marks | MARK_VARIES : marks;
}

/* ---- words of a text ---- */

static bool text_in_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           (c && strchr("-_.:+@~%", c));
}

/* The next word of a text, or one byte between words. False: it has ended. */
static bool text_next(slice *rest, slice *out)
{
    size_t n = 0;
    while (n < rest->n && text_in_word(rest->p[n]))
        n++;
    *out = (slice){rest->p, n ? n : rest->n > 0};
    *rest = slice_from(*rest, out->n);
    return out->n > 0;
}

static uint64_t walk_word(const struct walk *w, uint32_t i)
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

/* `now` as it would be without its volatile values. was NULL: it is not there without faults. now
 * NULL: it is not there now; NULL: nor need it be. */
static const struct node *walk_apply(struct walk *w, const struct node *was,
                                     const struct node *now);

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

/* Elements of a list that are there without faults come to the place that they have there. */
static void walk_reorder(struct walk *w, const struct node *was, struct node *out)
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

static const struct node *walk_apply(struct walk *w, const struct node *was, const struct node *now)
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

/* ---- faces ---- */

static struct walk walk_new(const struct mask *m, struct arena *a)
{
    return (struct walk){.m = m, .a = a, .path = BUF_INIT(MASK_PATH_MAX)};
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

/* ---- marks ---- */

static void add_name(struct mask *m, const char *before, slice name)
{
    struct buf text = BUF_INIT(MASK_PATH_MAX + 40);
    if (m->names.n == NAMES_MAX)
        return;
    buf_adds(&text, before);
    for (size_t i = 0; i < name.n; i++) /* keys of answers may have any bytes */
        buf_addc(&text, (unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f ? '?' : name.p[i]);
    vec_push(&m->names, buf_keep(&text, &m->arena));
}

static void mark(struct walk *w, uint32_t marks)
{
    uint64_t place = walk_place(w);
    const uint32_t *known = map_get(&w->m->marks, place);
    uint32_t was = known ? *known : 0;
    slice path = w->path.n ? buf_slice(&w->path) : SLICE("the whole answer");
    map_set(&w->learns->marks, place, was | marks);
    if (marks & ~was & MARK_VARIES)
        add_name(w->learns, "", path);
    if (marks & ~was & MARK_UNORDERED)
        add_name(w->learns, "the order of ", path);
}

/* ---- words of a text ---- */

/* "12:30:59" */
static bool is_time_of_day(slice s)
{
    static const char form[] = "dd:dd:dd";
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (i >= s.n || (form[i] == 'd' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != form[i]))
            return false;
    return true;
}

/* Do both have the same words but for some? Those are marked. One word alone is no text. */
static bool learn_words(struct walk *w, slice was, slice now)
{
    slice a, b;
    bool more, same = true;
    uint32_t words = 0, differ = 0;
    struct mask *m = w->learns;
    VEC(uint32_t) list = {0};
    for (uint32_t i = 0; (more = text_next(&was, &a)) && text_next(&now, &b); i++) {
        bool word = text_in_word(a.p[0]);
        words += word;
        if (slice_eq(a, b) && !(word && m->runs == 0 && w->now_ns &&
                                (look_moment(a, w->now_ns) || is_time_of_day(a))))
            continue;
        same &= word && text_in_word(b.p[0]);
        differ++;
        vec_push(&list, i);
    }
    bool text = words > 1 && differ < words && same && !more && now.n == 0;
    for (uint32_t i = 0; i < list.n && text; i++)
        map_set(&m->marks, walk_word(w, list.at[i]), MARK_VARIES);
    if (text && list.n && map_count(&m->marks, walk_word(w, UINT32_MAX - 1)) == 1)
        add_name(m, "words of ", w->path.n ? buf_slice(&w->path) : SLICE("the text"));
    vec_deinit(&list);
    return text || (same && differ == 0 && !more && now.n == 0);
}

/* ---- learning ---- */

static void learn(struct walk *w, const struct node *was, const struct node *now);

static void learn_at(struct walk *w, slice key, const struct node *was, const struct node *now)
{
    size_t n = walk_enter(w, key);
    learn(w, was, now);
    walk_leave(w, n);
}

/* Keys that are generated make the whole map differ; others are there or not. */
static void learn_map(struct walk *w, const struct node *was, const struct node *now)
{
    for (uint32_t i = 0; i < was->n + now->n; i++) {
        const struct node_pair *pair = i < was->n ? &was->map[i] : &now->map[i - was->n];
        const struct node *other = node_get(i < was->n ? now : was, pair->key);
        if (other && i >= was->n)
            continue;
        if (!other && (look_id(pair->key, w->now_ns) || look_moment(pair->key, w->now_ns))) {
            mark(w, MARK_VARIES);
            return;
        }
        learn_at(w, pair->key, i < was->n ? pair->value : NULL, i < was->n ? other : pair->value);
    }
}

static void learn_list(struct walk *w, const struct node *was, const struct node *now)
{
    if (was->n != now->n) {
        mark(w, MARK_VARIES);
        return;
    }
    struct node *moved = node_list(w->a, now->n);
    for (uint32_t i = 0; i < now->n; i++)
        moved->list[i] = now->list[i];
    if (!node_eq(walk_apply(w, was, now), was) && now->n <= MASK_LIST_MAX) {
        walk_reorder(w, was, moved);
        if (node_eq(moved, was)) {
            mark(w, MARK_UNORDERED);
            return;
        }
    }
    for (uint32_t i = 0; i < was->n; i++)
        learn_at(w, SLICE("*"), was->list[i], now->list[i]);
}

static void learn(struct walk *w, const struct node *was, const struct node *now)
{
    bool blank = node_is_blank(was);
    if (blank != node_is_blank(now) || !was != !now)
        mark(w, MARK_BLANK | MARK_VARIES);
    else if (was && now && was->type != now->type)
        mark(w, MARK_VARIES | (blank ? MARK_BLANK : 0));
    if (blank || !was || !now || walk_marks(w) & MARK_VARIES || was->type != now->type)
        return;
    switch (was->type) {
    case NODE_MAP: learn_map(w, was, now); break;
    case NODE_LIST: learn_list(w, was, now); break;
    case NODE_STR:
        if (!learn_words(w, was->text, now->text))
            mark(w, MARK_VARIES);
        break;
    default:
        if (!node_eq(was, now))
            mark(w, MARK_VARIES);
    }
}

/* ---- looks ---- */

/* How long something took may be the same few milliseconds in all fault-free runs. */
static bool names_time(slice path)
{
    static const struct word words[] = {
        {"took", NULL},   {"elapsed", NULL}, {"latency", NULL}, {"uptime", NULL},    {"ms", NULL},
        {"millis", NULL}, {"micros", NULL},  {"nanos", NULL},   {"timestamp", NULL}, {NULL, NULL},
    };
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/')
        at--;
    return word_find(words, slice_from(path, at));
}

static void look_at(struct walk *w, const struct node *node)
{
    bool moment = false, id = false;
    switch (node->type) {
    case NODE_MAP:
        for (uint32_t i = 0; i < node->n; i++) {
            size_t n = walk_enter(w, node->map[i].key);
            look_at(w, node->map[i].value);
            walk_leave(w, n);
        }
        return;
    case NODE_LIST:
        for (uint32_t i = 0; i < node->n; i++) {
            size_t n = walk_enter(w, SLICE("*"));
            look_at(w, node->list[i]);
            walk_leave(w, n);
        }
        return;
    case NODE_NUM:
        moment = look_real(node->num, w->now_ns) || names_time(buf_slice(&w->path));
        break;
    case NODE_STR:
        moment = look_moment(node->text, w->now_ns);
        id = look_id(node->text, w->now_ns);
        break;
    default: return;
    }
    if ((!moment && !id && node->type != NODE_STR) ||
        (w->m->set && pointers_mean(&w->m->set->stable, buf_slice(&w->path))))
        return;
    if (moment || id)
        mark(w, moment ? MARK_VARIES : MARK_LOOKS);
    else
        (void)learn_words(w, node->text, node->text);
}

/* ---- faces ---- */

void mask_learn(struct mask *m, slice body, int64_t now_ns)
{
    struct arena a = {0};
    struct walk w = walk_new(m, m->runs ? &a : &m->arena);
    const struct node *now = NULL;
    w.learns = m;
    w.now_ns = now_ns;
    if (m->runs == 0) {
        m->body = slice_copy(&m->arena, body);
        if (node_parse_json(&m->arena, m->body, &m->json))
            m->json = NULL;
        if (m->json && now_ns)
            look_at(&w, m->json);
        else if (now_ns)
            (void)learn_words(&w, m->body, m->body);
    } else if (!slice_eq(body, m->body)) {
        if (m->json && node_parse_json(&a, body, &now) == 0)
            learn(&w, m->json, now);
        else if (m->json || !learn_words(&w, m->body, body))
            mark(&w, MARK_VARIES | (m->body.n && body.n ? 0 : MARK_BLANK));
    }
    m->runs++;
    buf_deinit(&w.path);
    arena_deinit(&a);
}
