/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks, applied and learned: each answer is walked beside the first fault-free one. */
#include "base/hash.h"
#include "base/look.h"
#include "data/json.h"
#include "data/node.h"
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

bool pointers_mean(const struct texts *list, slice place)
{
    for (uint32_t i = 0; i < list->n; i++) {
        slice pointer = list->at[i], path = place, a, b;
        bool same = true;
        while (pointer.n && path.n && same) {
            uint64_t index;
            a = (slice){pointer.p + 1, slice_find(slice_from(pointer, 1), '/')};
            b = (slice){path.p + 1, slice_find(slice_from(path, 1), '/')};
            same = slice_is(a, "*") || (slice_is(b, "*") && pointer_index(a, &index)) ||
                   slice_eq(a, b);
            pointer = slice_from(pointer, 1 + a.n);
            path = slice_from(path, 1 + b.n);
        }
        if (same && pointer.n == path.n)
            return true;
    }
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
    size_t n = w->path.n;
    pointer_add(&w->path, key);
    const struct node *out = walk_apply(w, was, now);
    w->path.n = n;
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

static const struct node *apply_list(struct walk *w, const struct node *was, const struct node *now,
                                     bool unordered)
{
    struct node *out = node_list(w->a, now->n);
    for (uint32_t i = 0; i < now->n; i++)
        out->list[i] = now->list[i];
    if (unordered && now->n <= MASK_LIST_MAX)
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
    if (now->type == NODE_STR) {
        slice text = apply_words(w, was->text, now->text);
        return text.p == was->text.p ? was : node_str(w->a, text);
    }
    if (now->type == NODE_LIST)
        return apply_list(w, was, now, marks & MARK_UNORDERED);
    if (now->type != NODE_MAP)
        return now;
    struct node *out = node_map(w->a, was->n + now->n);
    out->n = 0;
    for (uint32_t i = 0; i < now->n + was->n; i++) { /* those of now, then what is there no more */
        struct node_pair pair = i < now->n ? now->map[i] : was->map[i - now->n];
        const struct node *other = node_get(i < now->n ? was : now, pair.key);
        if (i >= now->n && other)
            continue;
        pair.value = i < now->n ? apply_at(w, pair.key, other, pair.value)
                                : apply_at(w, pair.key, pair.value, NULL);
        if (pair.value)
            out->map[out->n++] = pair;
    }
    return out;
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
        pointer_add(&w->path, list ? SLICE("*") : step);
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
    size_t n = w->path.n;
    pointer_add(&w->path, key);
    learn(w, was, now);
    w->path.n = n;
}

/* Of two lists of one length: the same in another order, or each element for itself. */
static void learn_list(struct walk *w, const struct node *was, const struct node *now)
{
    struct node *moved = node_list(w->a, now->n);
    for (uint32_t i = 0; i < now->n; i++)
        moved->list[i] = now->list[i];
    bool same = node_eq(walk_apply(w, was, now), was) || now->n > MASK_LIST_MAX;
    if (!same)
        walk_reorder(w, was, moved);
    if (!same && node_eq(moved, was)) {
        mark(w, MARK_UNORDERED);
        return;
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
    if (was->type == NODE_MAP) {
        for (uint32_t i = 0; i < was->n + now->n; i++) {
            const struct node_pair *pair = i < was->n ? &was->map[i] : &now->map[i - was->n];
            const struct node *other = node_get(i < was->n ? now : was, pair->key);
            if (other && i >= was->n)
                continue;
            if (!other && (look_id(pair->key, w->now_ns) || look_moment(pair->key, w->now_ns))) {
                mark(w, MARK_VARIES); /* keys that are generated make the whole map differ */
                return;
            }
            learn_at(w, pair->key, i < was->n ? pair->value : NULL,
                     i < was->n ? other : pair->value);
        }
    } else if (was->type == NODE_LIST && was->n == now->n) {
        learn_list(w, was, now);
    } else if (was->type == NODE_STR ? !learn_words(w, was->text, now->text) : !node_eq(was, now)) {
        mark(w, MARK_VARIES);
    }
}

/* ---- looks ---- */

static void look_at(struct walk *w, const struct node *node)
{
    /* how long something took may be the same few milliseconds in all fault-free runs */
    static const struct word times[] = {
        {"took", NULL},   {"elapsed", NULL}, {"latency", NULL}, {"uptime", NULL},    {"ms", NULL},
        {"millis", NULL}, {"micros", NULL},  {"nanos", NULL},   {"timestamp", NULL}, {NULL, NULL},
    };
    bool moment = false, id = false, map = node->type == NODE_MAP;
    size_t n = w->path.n, last = n;
    switch (node->type) {
    case NODE_MAP:
    case NODE_LIST:
        for (uint32_t i = 0; i < node->n; i++) {
            pointer_add(&w->path, map ? node->map[i].key : SLICE("*"));
            look_at(w, map ? node->map[i].value : node->list[i]);
            w->path.n = n;
        }
        return;
    case NODE_NUM:
        while (last > 0 && w->path.p[last - 1] != '/')
            last--;
        moment = look_real(node->num, w->now_ns) ||
                 word_find(times, slice_from(buf_slice(&w->path), last));
        break;
    case NODE_STR:
        moment = look_moment(node->text, w->now_ns);
        id = look_id(node->text, w->now_ns);
        break;
    default: return;
    }
    if ((!moment && !id && node->type == NODE_NUM) ||
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

/* ---- the client's requests, and what is usual of them ---- */

enum { REQUESTS_MAX = 1000 }; /* of one command */

void requests_of(const struct run *run, struct requests *out)
{
    const struct call *calls = run->trace.calls.at;
    bool command = outcome_kind(run->verdict.status) == OUT_EXIT;
    out->n = 0;
    for (uint32_t i = 1; i < run->trace.calls.n && out->n < REQUESTS_MAX; i++)
        if (calls[i].parent == 0 && calls[i].flags & CALL_EXEMPT) {
            uint32_t n = calls[i].answer;
            vec_push(out, (struct request){.call = i, .status = calls[i].seen, .told = n > 0});
            if (n)
                vec_last(out).body = run->answers[n - 1];
        }
    if (out->n == 0 && !command)
        vec_push(out,
                 (struct request){.status = run->verdict.status, .told = true, .body = run->body});
}

const struct usual_answer *answers_find(const struct usual_answers *list, uid request)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i].request == request)
            return &list->at[i];
    return NULL;
}

void answers_learn(struct usual_answers *list, const struct judge_settings *set,
                   const struct run *run)
{
    struct requests all = {0};
    requests_of(run, &all);
    for (uint32_t k = 0; k < all.n; k++) {
        const struct request *r = &all.at[k];
        uid request = run->trace.calls.at[r->call].uid;
        uint32_t i = 0;
        while (i < list->n && list->at[i].request != request)
            i++;
        if (i == REQUESTS_MAX)
            continue;
        if (i == list->n)
            vec_push(list, (struct usual_answer){.request = request, .status = r->status});
        struct usual_answer *u = &list->at[i];
        u->runs++;
        u->mask.set = set;
        if (u->status == r->status && r->told)
            mask_learn(&u->mask, r->body, run->wall_ns);
    }
    vec_deinit(&all);
}

void answers_deinit(struct usual_answers *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        mask_deinit(&list->at[i].mask);
    vec_deinit(list);
}
