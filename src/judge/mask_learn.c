/* SPDX-License-Identifier: Apache-2.0
 *
 * How a mask is learned: each answer is walked beside the first one. */
#include "base/hash.h"
#include "base/look.h"
#include "data/json.h"
#include "judge/mask_walk_int.h"
#include "judge/words_int.h"

enum { NAMES_MAX = 50 }; /* of volatile places that are named */

/* ---- marks ---- */

static void add_name(struct mask *m, const char *before, slice name)
{
    struct buf text = BUF_INIT(MASK_PATH_MAX + 40);
    if (m->names.n == NAMES_MAX)
        return;
    buf_adds(&text, before);
    for (size_t i = 0; i < name.n; i++) /* keys of answers may have any bytes */
        buf_addc(&text, (unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f ? '?' : name.p[i]);
    vec_push(&m->names, slice_copy(&m->arena, buf_slice(&text)));
    buf_deinit(&text);
}

static void mark(struct walk *w, uint32_t marks)
{
    uint64_t place = walk_place(w);
    const uint32_t *known = map_get(&w->m->marks, place);
    uint32_t was = known ? *known : 0;
    slice path = w->path.n ? buf_slice(&w->path) : SLICE("the whole answer");
    map_set(&w->m->marks, place, was | marks);
    if (marks & ~was & MARK_VARIES)
        add_name(w->m, "", path);
    if (marks & ~was & MARK_UNORDERED)
        add_name(w->m, "the order of ", path);
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
    struct mask *m = w->m;
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
    return words_find(words, slice_from(path, at));
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

/* ---- the face ---- */

static void learn_first(struct mask *m, slice body, int64_t now_ns)
{
    struct walk w = walk_new(m, &m->arena);
    w.now_ns = now_ns;
    m->body = slice_copy(&m->arena, body);
    if (node_parse_json(&m->arena, m->body, &m->json))
        m->json = NULL;
    if (m->json && now_ns)
        look_at(&w, m->json);
    else if (now_ns)
        (void)learn_words(&w, m->body, m->body);
    buf_deinit(&w.path);
}

void mask_learn(struct mask *m, slice body, int64_t now_ns)
{
    struct arena a = {0};
    if (m->runs == 0) {
        learn_first(m, body, now_ns);
    } else if (!slice_eq(body, m->body)) {
        struct walk w = walk_new(m, &a);
        const struct node *now = NULL;
        w.now_ns = now_ns;
        if (m->json && node_parse_json(&a, body, &now) == 0)
            learn(&w, m->json, now);
        else if (m->json || !learn_words(&w, m->body, body))
            mark(&w, MARK_VARIES | (m->body.n && body.n ? 0 : MARK_BLANK));
        buf_deinit(&w.path);
    }
    m->runs++;
    arena_deinit(&a);
}
