/* SPDX-License-Identifier: Apache-2.0
 *
 * The expression is read into a tree, the tree becomes a program, and the program is run for all
 * positions at once: `at` is the set of places in it that can be reached with what was read so far.
 *
 * 1. A program has at most PROGRAM_MAX instructions, and making one takes at most EMIT_MAX steps,
 *    however repetitions are nested.
 * 2. Recursion goes as deep as groups are nested, GROUPS_MAX, and along the items of a sequence, of
 *    which there are at most REGEX_BYTES_MAX. */
#include "data/regex.h"

#include <ctype.h>

enum { PROGRAM_MAX = 1000, EMIT_MAX = 20000, GROUPS_MAX = 50, TIMES_MAX = 255, FOREVER = -1 };

struct bytes {
    uint64_t bits[4];
};

static void bytes_add(struct bytes *set, unsigned char c)
{
    set->bits[c / 64] |= UINT64_C(1) << c % 64;
}

static bool bytes_has(const struct bytes *set, unsigned char c)
{
    return set->bits[c / 64] >> c % 64 & 1;
}

/* ---- the tree ---- */

enum kind { NOTHING, BYTES, BEGIN, END, SEQUENCE, EITHER, REPEAT };

struct tree {
    enum kind kind;
    struct bytes set;         /* BYTES */
    const struct tree *a, *b; /* SEQUENCE, EITHER; REPEAT: a */
    int least, most;          /* REPEAT; FOREVER: no bound */
};

struct reader {
    slice rest;
    struct arena *arena;
    struct err *e;
    int groups; /* that are open */
};

static struct tree *tree_new(struct reader *r, enum kind kind, const struct tree *a,
                             const struct tree *b)
{
    struct tree *t = arena_zero(r->arena, sizeof *t);
    t->kind = kind;
    t->a = a;
    t->b = b;
    return t;
}

/* NULL, for whoever is to return it. */
static struct tree *refuse(struct reader *r, const char *why)
{
    err_set(r->e, 0, 0, "invalid regular expression: %s", why);
    return NULL;
}

static bool take(struct reader *r, char c)
{
    bool is = r->rest.n && r->rest.p[0] == c;
    if (is)
        r->rest = slice_from(r->rest, 1);
    return is;
}

static char take_any(struct reader *r)
{
    char c = r->rest.p[0];
    r->rest = slice_from(r->rest, 1);
    return c;
}

static void add_class(struct bytes *set, int (*is)(int), bool opposite)
{
    for (int c = 0; c < 256; c++)
        if ((c < 128 && is(c) != 0) != opposite)
            bytes_add(set, (unsigned char)c);
}

static int is_word(int c)
{
    return isalnum(c) || c == '_';
}

/* What stands behind a backslash. */
static bool read_escape(struct reader *r, struct bytes *set)
{
    static const struct {
        char letter;
        int (*is)(int);
    } classes[] = {{'d', isdigit}, {'w', is_word}, {'s', isspace}};
    char c = take_any(r);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if ((c | 0x20) == classes[i].letter) {
            add_class(set, classes[i].is, c != classes[i].letter);
            return true;
        }
    bytes_add(set, (unsigned char)(c == 'n' ? '\n' : c == 't' ? '\t' : c));
    if (!isalnum((unsigned char)c) || c == 'n' || c == 't')
        return true;
    (void)refuse(r, isdigit((unsigned char)c)
                        ? "back-references such as \\1 are not supported"
                        : "after a \\ only the letters d, w, s, D, W, S, n and t are supported");
    return false;
}

/* [:alpha:] within brackets; false: it is none. */
static bool read_class(struct reader *r, struct bytes *set)
{
    static const struct {
        const char *name;
        int (*is)(int);
    } classes[] = {{"[:alpha:]", isalpha}, {"[:digit:]", isdigit}, {"[:alnum:]", isalnum},
                   {"[:upper:]", isupper}, {"[:lower:]", islower}, {"[:space:]", isspace},
                   {"[:blank:]", isblank}, {"[:punct:]", ispunct}, {"[:xdigit:]", isxdigit},
                   {"[:cntrl:]", iscntrl}, {"[:print:]", isprint}, {"[:graph:]", isgraph}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (slice_starts(r->rest, slice_of(classes[i].name))) {
            r->rest = slice_from(r->rest, strlen(classes[i].name));
            add_class(set, classes[i].is, false);
            return true;
        }
    return false;
}

/* One byte, or a range of them. */
static bool read_range(struct reader *r, struct bytes *set)
{
    unsigned char low = (unsigned char)take_any(r), high = low;
    if (r->rest.n > 1 && r->rest.p[0] == '-' && r->rest.p[1] != ']') {
        (void)take(r, '-');
        high = (unsigned char)take_any(r);
    }
    for (unsigned c = low; c <= high; c++)
        bytes_add(set, (unsigned char)c);
    if (high < low)
        (void)refuse(r, "a range such as [z-a] is out of order");
    return high >= low;
}

/* What stands behind a [. A first ] stands for itself. */
static struct tree *read_brackets(struct reader *r)
{
    struct tree *t = tree_new(r, BYTES, NULL, NULL);
    bool opposite = take(r, '^');
    for (bool first = true; first || !take(r, ']'); first = false) {
        if (r->rest.n == 0)
            return refuse(r, "a [ is not closed by ]");
        if (read_class(r, &t->set))
            continue;
        bool escape = r->rest.n > 1 && take(r, '\\');
        if (escape ? !read_escape(r, &t->set) : !read_range(r, &t->set))
            return NULL;
    }
    for (size_t i = 0; opposite && i < 4; i++)
        t->set.bits[i] = ~t->set.bits[i];
    return t;
}

static const struct tree *read_either(struct reader *r);

static const struct tree *read_group(struct reader *r)
{
    if (++r->groups > GROUPS_MAX)
        return refuse(r, "its groups are nested too deeply");
    const struct tree *inner = read_either(r);
    r->groups--;
    if (inner && !take(r, ')'))
        return refuse(r, "a ( is not closed by )");
    return inner;
}

static const struct tree *read_atom(struct reader *r)
{
    char c = take_any(r);
    if (c == '(')
        return read_group(r);
    if (c == '[')
        return read_brackets(r);
    if (c == '^' || c == '$')
        return tree_new(r, c == '^' ? BEGIN : END, NULL, NULL);
    if (c == '*' || c == '+' || c == '?')
        return refuse(r, "there is nothing to repeat before a *, + or ?");
    struct tree *t = tree_new(r, BYTES, NULL, NULL);
    if (c == '.')
        memset(&t->set, 0xff, sizeof t->set);
    else if (c != '\\')
        bytes_add(&t->set, (unsigned char)c);
    else if (r->rest.n == 0)
        return refuse(r, "it ends with a \\");
    else if (!read_escape(r, &t->set))
        return NULL;
    return t;
}

/* Digits; false: there are none, or they are too many times. */
static bool take_times(struct reader *r, int *out)
{
    slice digits = {r->rest.p, 0};
    uint64_t number;
    while (digits.n < r->rest.n && isdigit((unsigned char)r->rest.p[digits.n]))
        digits.n++;
    if (!slice_to_u64(digits, TIMES_MAX, &number))
        return false;
    r->rest = slice_from(r->rest, digits.n);
    *out = (int)number;
    return true;
}

/* *, +, ?, {n}, {n,}, {n,m} behind what is repeated; false: none of them. */
static bool take_repeat(struct reader *r, int *least, int *most)
{
    *least = 0;
    *most = FOREVER;
    if (take(r, '*'))
        return true;
    if (take(r, '+')) {
        *least = 1;
        return true;
    }
    if (take(r, '?')) {
        *most = 1;
        return true;
    }
    if (r->rest.n < 2 || r->rest.p[0] != '{' || !isdigit((unsigned char)r->rest.p[1]))
        return false; /* another { stands for itself */
    (void)take(r, '{');
    bool ok = take_times(r, least);
    *most = *least;
    if (ok && take(r, ',')) {
        *most = FOREVER;
        ok = (r->rest.n && r->rest.p[0] == '}') || take_times(r, most);
    }
    if (!ok || !take(r, '}') || (*most != FOREVER && *most < *least))
        (void)refuse(r, "a repetition is written {3}, {2,} or {2,5}, with numbers up to 255");
    return true;
}

static const struct tree *read_repeated(struct reader *r)
{
    const struct tree *t = read_atom(r);
    int least, most;
    while (t && take_repeat(r, &least, &most)) {
        struct tree *repeat = tree_new(r, REPEAT, t, NULL);
        repeat->least = least;
        repeat->most = most;
        t = r->e->text[0] ? NULL : repeat;
    }
    return t;
}

static const struct tree *read_sequence(struct reader *r)
{
    const struct tree *t = tree_new(r, NOTHING, NULL, NULL);
    while (t && r->rest.n && r->rest.p[0] != '|' && r->rest.p[0] != ')') {
        const struct tree *next = read_repeated(r);
        t = next ? tree_new(r, SEQUENCE, t, next) : NULL;
    }
    return t;
}

static const struct tree *read_either(struct reader *r)
{
    const struct tree *t = read_sequence(r);
    while (t && take(r, '|')) {
        const struct tree *other = read_sequence(r);
        t = other ? tree_new(r, EITHER, t, other) : NULL;
    }
    return t;
}

/* ---- the program ---- */

enum op { OP_BYTES, OP_BEGIN, OP_END, OP_SPLIT, OP_FOUND };

/* OP_SPLIT goes on at both places, all others at the next one. */
struct instruction {
    enum op op;
    uint32_t to, other;
    struct bytes set;
};

struct regex {
    uint32_t n;
    struct instruction at[];
};

struct maker {
    struct instruction at[PROGRAM_MAX];
    uint32_t n, steps;
    bool full;
};

static uint32_t emit_one(struct maker *m, enum op op, const struct bytes *set)
{
    m->full |= m->n + 1 >= PROGRAM_MAX || ++m->steps > EMIT_MAX;
    if (m->full)
        return 0;
    uint32_t place = m->n++;
    m->at[place] = (struct instruction){.op = op, .to = place + 1, .other = place + 1};
    if (set)
        m->at[place].set = *set;
    return place;
}

static void emit(struct maker *m, const struct tree *t);

static void emit_either(struct maker *m, const struct tree *t)
{
    uint32_t split = emit_one(m, OP_SPLIT, NULL);
    emit(m, t->a);
    uint32_t jump = emit_one(m, OP_SPLIT, NULL);
    m->at[split].other = m->n;
    emit(m, t->b);
    m->at[jump].to = m->at[jump].other = m->n;
}

static void emit_repeat(struct maker *m, const struct tree *t)
{
    for (int i = 0; i < t->least && !m->full; i++)
        emit(m, t->a);
    uint32_t split = m->n;
    for (int i = t->least; t->most != FOREVER && i < t->most && !m->full; i++) {
        uint32_t enough = emit_one(m, OP_SPLIT, NULL); /* where to go then is set below */
        m->at[enough].other = UINT32_MAX;
        emit(m, t->a);
    }
    if (t->most == FOREVER) {
        emit_one(m, OP_SPLIT, NULL);
        emit(m, t->a);
        uint32_t back = emit_one(m, OP_SPLIT, NULL);
        m->at[back].to = m->at[back].other = split;
        m->at[split].other = m->n;
    }
    for (uint32_t i = split; i < m->n; i++)
        if (m->at[i].other == UINT32_MAX)
            m->at[i].other = m->n;
}

static void emit(struct maker *m, const struct tree *t)
{
    m->full |= ++m->steps > EMIT_MAX;
    if (m->full)
        return;
    switch (t->kind) {
    case NOTHING: return;
    case BYTES: emit_one(m, OP_BYTES, &t->set); return;
    case BEGIN: emit_one(m, OP_BEGIN, NULL); return;
    case END: emit_one(m, OP_END, NULL); return;
    case SEQUENCE:
        emit(m, t->a);
        emit(m, t->b);
        return;
    case EITHER: emit_either(m, t); return;
    case REPEAT: emit_repeat(m, t); return;
    }
}

int regex_parse(slice pattern, struct arena *a, const struct regex **out, struct err *e)
{
    struct reader r = {.rest = pattern, .arena = a, .e = e};
    if (pattern.n == 0 || pattern.n > REGEX_BYTES_MAX)
        return err_set(e, 0, 0, "a regular expression must have 1 to %d bytes", REGEX_BYTES_MAX);
    const struct tree *t = read_either(&r);
    if (t && r.rest.n)
        t = refuse(&r, "a ) has no (");
    if (!t)
        return -1;
    struct maker m = {.n = 0};
    emit(&m, t);
    emit_one(&m, OP_FOUND, NULL);
    if (m.full)
        return err_set(e, 0, 0, "the regular expression is too large: its repetitions multiply");
    struct regex *program = arena_alloc(a, sizeof *program + m.n * sizeof *program->at);
    program->n = m.n;
    memcpy(program->at, m.at, m.n * sizeof *m.at);
    *out = program;
    return 0;
}

/* ---- running it ---- */

/* Places in the program, each once, in any order. */
struct places {
    uint32_t n;
    uint32_t at[PROGRAM_MAX];
    uint64_t has[PROGRAM_MAX / 64 + 1];
};

static void places_clear(struct places *p)
{
    p->n = 0;
    memset(p->has, 0, sizeof p->has);
}

static void places_add(struct places *p, uint32_t place)
{
    if (p->has[place / 64] >> place % 64 & 1)
        return;
    p->has[place / 64] |= UINT64_C(1) << place % 64;
    p->at[p->n++] = place;
}

/* Follows all that goes on without reading a byte; true: the end was reached. */
static bool settle(const struct regex *r, struct places *p, bool begin, bool end)
{
    for (uint32_t i = 0; i < p->n; i++) { /* it grows meanwhile */
        const struct instruction *at = &r->at[p->at[i]];
        if (at->op == OP_FOUND)
            return true;
        if (at->op == OP_SPLIT || (at->op == OP_BEGIN && begin) || (at->op == OP_END && end)) {
            places_add(p, at->to);
            places_add(p, at->other);
        }
    }
    return false;
}

bool regex_found(const struct regex *r, slice text)
{
    struct places room[2], *now = &room[0], *next = &room[1];
    places_clear(now);
    for (size_t i = 0;; i++) {
        places_add(now, 0); /* a match may begin anywhere */
        if (settle(r, now, i == 0, i == text.n))
            return true;
        if (i == text.n)
            return false;
        places_clear(next);
        for (uint32_t k = 0; k < now->n; k++) {
            const struct instruction *at = &r->at[now->at[k]];
            if (at->op == OP_BYTES && bytes_has(&at->set, (unsigned char)text.p[i]))
                places_add(next, at->to);
        }
        struct places *used = now;
        now = next;
        next = used;
    }
}
