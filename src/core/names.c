/* SPDX-License-Identifier: Apache-2.0 */
#include "core/names.h"

#include "base/hash.h"

static bool element_eq(const void *owner, uint32_t id, const void *key)
{
    const struct names *names = owner;
    const struct element *a = &names->elements.at[id], *b = key;
    return a->service == b->service && a->interface == b->interface && a->payload == b->payload &&
           a->before == b->before && a->n == b->n;
}

static bool uid_eq(const void *owner, uint32_t id, const void *key)
{
    const struct names *names = owner;
    const struct uid_row *a = &names->uids.at[id], *b = key;
    return a->parent == b->parent && a->element == b->element;
}

void names_init(struct names *names)
{
    *names = (struct names){0};
    vec_push(&names->uids, (struct uid_row){0});
}

void names_deinit(struct names *names)
{
    intern_deinit(&names->syms);
    vec_deinit(&names->elements);
    vec_deinit(&names->uids);
    index_deinit(&names->element_index);
    index_deinit(&names->uid_index);
}

sym names_sym(struct names *names, slice text)
{
    return intern_put_in(&names->syms, &names->syms.arena, text);
}

uint32_t names_element(struct names *names, struct element e)
{
    uint64_t hash = hash_mix(hash_mix((uint64_t)e.service << 32 | e.interface, e.n),
                             (uint64_t)e.payload << 32 | e.before);
    uint32_t id = index_get(&names->element_index, hash, element_eq, names, &e);
    if (id != INDEX_NONE)
        return id;
    vec_push(&names->elements, e);
    index_put(&names->element_index, hash, names->elements.n - 1);
    return names->elements.n - 1;
}

uid names_uid(struct names *names, uid parent, uint32_t element)
{
    struct uid_row row = {.parent = parent, .element = element};
    uint64_t hash = hash_mix(parent, element);
    uint32_t id = index_get(&names->uid_index, hash, uid_eq, names, &row);
    if (id != INDEX_NONE)
        return id;
    vec_push(&names->uids, row);
    index_put(&names->uid_index, hash, names->uids.n - 1);
    return names->uids.n - 1;
}

uid names_uid_all(struct names *names, uid u)
{
    if (names->uids.at[u].all == UID_NONE) {
        struct element element = *uid_element(names, u);
        element.n = N_ANY;
        uid all = names_uid(names, uid_parent(names, u), names_element(names, element));
        names->uids.at[u].all = all;
    }
    return names->uids.at[u].all;
}

bool element_alike(const struct names *names, uid a, uid b)
{
    const struct element *x = uid_element(names, a), *y = uid_element(names, b);
    return x->service == y->service && x->interface == y->interface && x->payload == y->payload;
}

bool uid_alike(const struct names *names, uid a, uid b)
{
    while (a != b && a != UID_NONE && b != UID_NONE) {
        if (!element_alike(names, a, b))
            return false;
        a = uid_parent(names, a);
        b = uid_parent(names, b);
    }
    return a == b;
}

bool uid_contains(const struct names *names, uid a, uid b)
{
    while (b != UID_NONE && b != a)
        b = uid_parent(names, b);
    return b == a;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int element_cmp(const struct names *names, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    const struct element *x = &names->elements.at[a], *y = &names->elements.at[b];
    int c = slice_cmp(names_text(names, x->service), names_text(names, y->service));
    if (!c)
        c = slice_cmp(names_text(names, x->interface), names_text(names, y->interface));
    if (!c)
        c = ORDER(x->payload, y->payload);
    if (!c)
        c = ORDER(x->n, y->n);
    return c ? c : ORDER(x->before, y->before);
}

uint32_t uid_depth(const struct names *names, uid u)
{
    uint32_t depth = 0;
    for (; u != UID_NONE; u = uid_parent(names, u))
        depth++;
    return depth;
}

/* Compares two paths of equal depth from the top. */
static int path_cmp(const struct names *names, uid a, uid b)
{
    if (a == b)
        return 0;
    int c = path_cmp(names, uid_parent(names, a), uid_parent(names, b));
    return c ? c : element_cmp(names, names->uids.at[a].element, names->uids.at[b].element);
}

int uid_cmp(const struct names *names, uid a, uid b)
{
    uint32_t da = uid_depth(names, a), db = uid_depth(names, b);
    uid x = a, y = b;
    for (uint32_t d = da; d > db; d--)
        x = uid_parent(names, x);
    for (uint32_t d = db; d > da; d--)
        y = uid_parent(names, y);
    int c = path_cmp(names, x, y);
    return c ? c : ORDER(da, db);
}

uint64_t element_hash(const struct names *names, const struct element *e)
{
    uint64_t key = hash_mix(hash_slice(names_text(names, e->service)),
                            hash_slice(names_text(names, e->interface)));
    return hash_mix(hash_mix(key, e->payload), e->n);
}

void element_print(const struct names *names, const struct element *e, struct buf *out)
{
    buf_add(out, names_text(names, e->service));
    buf_addc(out, ' ');
    buf_add(out, names_text(names, e->interface));
    if (e->payload)
        buf_addf(out, " {%08x}", (unsigned)e->payload);
    if (e->before)
        buf_addf(out, " ^%08x", (unsigned)e->before);
    if (e->n == N_ANY)
        buf_adds(out, " #*");
    else if (e->n)
        buf_addf(out, " #%u", (unsigned)e->n);
}

void uid_print(const struct names *names, uid u, struct buf *out)
{
    if (u == UID_NONE)
        return;
    if (uid_parent(names, u) != UID_NONE) {
        uid_print(names, uid_parent(names, u), out);
        buf_adds(out, " > ");
    }
    element_print(names, uid_element(names, u), out);
}

static bool hex8(slice s, uint32_t *out)
{
    uint32_t value = 0;
    if (s.n != 8)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = memchr(digits, s.p[i], 16);
        if (!at)
            return false;
        value = value << 4 | (uint32_t)(at - digits);
    }
    *out = value;
    return value != 0;
}

/* One of {payload} ^predecessors #n. */
static int parse_mark(slice word, struct element *out)
{
    uint64_t n;
    if (word.n > 2 && word.p[0] == '{' && word.p[word.n - 1] == '}')
        return hex8((slice){word.p + 1, word.n - 2}, &out->payload) ? 0 : -1;
    if (word.n > 1 && word.p[0] == '^')
        return hex8(slice_from(word, 1), &out->before) ? 0 : -1;
    if (slice_is(word, "#*")) {
        out->n = N_ANY;
        return 0;
    }
    if (word.n > 1 && word.p[0] == '#' && slice_to_u64(slice_from(word, 1), N_ANY - 1, &n)) {
        out->n = (uint32_t)n;
        return 0;
    }
    return -1;
}

static bool is_separator(slice word)
{
    return slice_is(word, ">") || slice_is(word, ":") || slice_is(word, "&");
}

int element_parse(struct names *names, slice *text, struct element *out, struct err *e)
{
    *out = (struct element){0};
    const char *start = text->p;
    slice service, first, rest = *text, word;
    if (!slice_word(&rest, &service) || is_separator(service))
        return err_set(e, 0, 0, "a call is missing: expected \"SERVICE METHOD /path\"");
    if (!slice_word(&rest, &first) || is_separator(first) || memchr("{^#", first.p[0], 3))
        return err_set(e, 0, (uint32_t)(service.p - start) + 1,
                       "\"%.*s\" must be followed by an interface: \"METHOD /path\", "
                       "\"package.Service/Method\" or \"*\"",
                       SLICE_ARG(service));
    slice after = rest;
    struct buf interface = BUF_INIT(1 << 16); /* one blank between method and path */
    buf_add(&interface, first);
    if (slice_word(&after, &word) && (word.p[0] == '/' || word.p[0] == '*')) {
        buf_addc(&interface, ' ');
        buf_add(&interface, word);
        rest = after;
    }
    out->service = names_sym(names, service);
    out->interface = names_sym(names, buf_slice(&interface));
    buf_deinit(&interface);
    for (after = rest; slice_word(&after, &word) && !is_separator(word); rest = after)
        if (parse_mark(word, out))
            return err_set(
                e, 0, (uint32_t)(word.p - start) + 1,
                "unexpected \"%.*s\": only {payload}, ^predecessors or #n may follow the "
                "path",
                SLICE_ARG(word));
    *text = rest;
    return 0;
}

int uid_parse(struct names *names, slice text, uid *out, struct err *e)
{
    slice word;
    *out = UID_NONE;
    do {
        struct element element;
        if (element_parse(names, &text, &element, e))
            return -1;
        *out = names_uid(names, *out, names_element(names, element));
        if (!slice_word(&text, &word))
            return 0;
    } while (slice_is(word, ">"));
    return err_set(e, 0, 0, "unexpected \"%.*s\" in the name of a call", SLICE_ARG(word));
}
