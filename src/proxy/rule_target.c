/* SPDX-License-Identifier: Apache-2.0
 *
 * [SERVICE] INTERFACE: which word is what, and the interface in the form of those of calls. */
#include "proxy/rule_int.h"

/* The interface is a path, behind a method, or one word. A `*` at its end stands for any rest; what
 * stands before the last slash is then normalised, and the piece behind it is what it is. */
static int interface_set(struct parser *p, slice method, slice path)
{
    struct rule *rule = p->rule;
    struct buf text = BUF_INIT(1 << 16);
    uint64_t number;
    rule->open = path.p[path.n - 1] == '*';
    rule->any_method = slice_is(method, "*");
    rule->one_word = method.n == 0 && path.n > 1; /* a lone `*` is any */
    slice stem = {path.p, path.n - rule->open}, piece = SLICE("");
    slice head = {stem.p, slice_find(stem, '*')};
    if (head.n < stem.n)
        return err_set(p->e, 0, column(p, path),
                       "a \"*\" stands at the end, for any rest: write \"%.*s*\"", SHORT(head));
    if (slice_find(stem, '?') < stem.n)
        return err_set(
            p->e, 0, column(p, path),
            "calls are told apart without their query: leave out what follows the \"?\"");
    while (rule->open && stem.n && stem.p[stem.n - 1] != '/')
        piece = (slice){stem.p + --stem.n, piece.n + 1};
    if (piece.n && stem.n && slice_to_u64(piece, UINT64_MAX, &number))
        return err_set(p->e, 0, column(p, piece),
                       "segments of digits are named [id]: write \"%.*s[id]\" or \"%.*s*\"",
                       SHORT(stem), SHORT(stem));
    if (stem.n)
        interface_make(rule->any_method ? SLICE("X") : method, stem, p->book->normalise, &text);
    else if (method.n)
        buf_addf(&text, "%.*s ", SLICE_ARG(method));
    buf_add(&text, piece);
    slice whole = buf_slice(&text);
    rule->interface = slice_copy(&p->book->arena, slice_from(whole, rule->any_method ? 2 : 0));
    buf_deinit(&text);
    return 0;
}

static bool is_method(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'A' && s.p[i] <= 'Z') && !(i && memchr("0123456789-_", s.p[i], 12)))
            return false;
    return s.n > 0;
}

static int path_read(struct parser *p, slice method, slice path)
{
    bool any = slice_is(method, "*");
    if (!any && !is_method(method))
        return err_set(
            p->e, 0, column(p, method),
            "\"%.*s\" is no method (they are written in capitals): write \"METHOD /path\", "
            "with * for any method",
            SHORT(method));
    if (path.p[0] != '/' && !slice_is(path, "*"))
        return err_set(p->e, 0, column(p, path), "a path starts with \"/\"; \"%.*s\" does not",
                       SHORT(path));
    return any && path.p[0] == '*' ? interface_set(p, SLICE(""), path)
                                   : interface_set(p, method, path);
}

static int word_read(struct parser *p, slice word)
{
    if (word.p[0] == '/')
        return err_set(
            p->e, 0, column(p, word),
            "a path has a method before it: \"GET %.*s\", or \"* %.*s\" for any; calls of "
            "gRPC are written package.Service/Method",
            SHORT(word), SHORT(word));
    if (slice_find(word, ':') < word.n || slice_find(word, '=') < word.n ||
        (slice_find(word, '/') == word.n && word.p[word.n - 1] != '*'))
        return err_set(
            p->e, 0, column(p, word),
            "\"%.*s\" is no interface: write \"METHOD /path\", package.Service/Method, or "
            "\"*\" for any",
            SHORT(word));
    return interface_set(p, SLICE(""), word);
}

static int service_read(struct parser *p, slice word)
{
    if (!slice_is(word, "*") && !service_name_valid(word))
        return err_set(p->e, 0, column(p, word), "\"%.*s\" cannot be the name of a service",
                       SHORT(word));
    p->rule->service = word;
    p->rule->bare = false;
    return 0;
}

int target_read(struct parser *p, const slice *word, size_t n)
{
    p->rule->service = SLICE("*");
    p->rule->bare = true;
    bool star = n > 0 && slice_is(word[n - 1], "*");
    bool path = n > 0 && word[n - 1].p[0] == '/';
    if (n == 0)
        return err_set(p->e, 0, 1,
                       "a rule is written \"METHOD /path : MODE\", or \"package.Service/Method : "
                       "MODE\"; \"* : MODE\" is for any call");
    if (n == 1)
        return word_read(p, word[0]);
    if (n == 3)
        return service_read(p, word[0]) || path_read(p, word[1], word[2]) ? -1 : 0;
    if (path || (star && is_method(word[0])))
        return path_read(p, word[0], word[1]);
    return service_read(p, word[0]) || word_read(p, word[1]) ? -1 : 0;
}
