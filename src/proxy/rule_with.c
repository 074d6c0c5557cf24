/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rule says about the injected answer: id, body, message, fields. */
#include "proxy/rule_int.h"

enum { BODY_MAX = 1 << 20, MESSAGE_MAX = 4096, VALUE_MAX = 8192 };

/* Of one connection, not of a message, or told by other means. */
static const char *const connection_fields[] = {
    "connection", "content-length",    "http2-settings", "keep-alive", "proxy-connection",
    "te",         "transfer-encoding", "upgrade",
};

void *rule_grown(struct arena *a, void *items, uint32_t n, size_t size)
{
    if (n & (n - 1)) /* full are those with 0, 1, 2, 4, 8 ... items */
        return items;
    void *more = arena_zero(a, (n ? 2 * (size_t)n : 1) * size);
    if (n)
        memcpy(more, items, n * size);
    return more;
}

static bool is_token(slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], low = (char)(c | 32);
        if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') &&
            !(c && memchr("!#$%&'*+-.^_`|~", c, 15)))
            return false;
    }
    return s.n > 0 && s.n <= 200;
}

int field_name_check(slice name, struct err *e)
{
    if (!is_token(name))
        return err_set(e, 0, 0, "\"%.*s\" cannot be the name of a header", SHORT(name));
    for (size_t i = 0; i < sizeof connection_fields / sizeof *connection_fields; i++)
        if (slice_eq_nocase(name, slice_of(connection_fields[i])))
            return err_set(e, 0, 0,
                           "the header \"%s\" belongs to one connection, not to the message: rules "
                           "neither see it nor set it",
                           connection_fields[i]);
    return 0;
}

/* Refuses a WITH that the rule has already or that its mode cannot show. */
static int with_check(const struct rule *rule, const char *what, bool there, bool fits,
                      struct err *e)
{
    struct buf text = BUF_INIT(300);
    if (there)
        return err_set(e, 0, 0, "the rule has two of \"%s\"", what);
    if (fits)
        return 0;
    mode_print(rule->mode, &text);
    err_set(e, 0, 0, "\"%s\" goes with an answer such as 503: the mode \"%s\" has none", what,
            buf_text(&text));
    buf_deinit(&text);
    return -1;
}

static bool answers(const struct rule *rule)
{
    return mode_kind(rule->mode) == MODE_STATUS || mode_kind(rule->mode) == MODE_GRPC;
}

int rule_set_id(struct rulebook *book, struct rule *rule, slice id, struct err *e)
{
    uint64_t number;
    if (with_check(rule, "id", rule->named, true, e))
        return -1;
    if (!service_name_valid(id) || slice_to_u64(id, UINT64_MAX, &number))
        return err_set(
            e, 0, 0,
            "an id has 1 to 100 letters, digits, \"_\", \".\" and \"-\", and is no number; "
            "\"%.*s\" is not one",
            SHORT(id));
    rule->id = slice_copy(&book->arena, id);
    rule->named = true;
    return 0;
}

int rule_set_body(struct rulebook *book, struct rule *rule, slice body, struct err *e)
{
    uint32_t status = mode_argument(rule->mode);
    bool fits = mode_kind(rule->mode) == MODE_STATUS && status != 204 && status != 304;
    if (with_check(rule, "body", rule->dress.has_body, fits, e))
        return -1;
    if (body.n > BODY_MAX)
        return err_set(e, 0, 0, "a body has at most %d MiB", BODY_MAX >> 20);
    rule->dress.body = slice_copy(&book->arena, body);
    rule->dress.has_body = true;
    return 0;
}

int rule_set_message(struct rulebook *book, struct rule *rule, slice text, struct err *e)
{
    if (with_check(rule, "message", rule->dress.has_message, answers(rule), e))
        return -1;
    if (text.n > MESSAGE_MAX)
        return err_set(e, 0, 0, "a message has at most %d bytes", MESSAGE_MAX);
    rule->dress.message = slice_copy(&book->arena, text);
    rule->dress.has_message = true;
    return 0;
}

int rule_add_field(struct rulebook *book, struct rule *rule, slice name, slice value, struct err *e)
{
    struct rule_dress *dress = &rule->dress;
    if (with_check(rule, "header", false, answers(rule), e) || field_name_check(name, e))
        return -1;
    value = slice_trim(value);
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.p[i] < 0x20 && value.p[i] != '\t') || value.p[i] == 0x7f)
            return err_set(e, 0, 0, "the value of header \"%.*s\" has a control character",
                           SLICE_ARG(name));
    if (value.n > VALUE_MAX || dress->n_fields == RULE_FIELDS_MAX)
        return err_set(e, 0, 0, "a rule sets at most %d headers of at most %d bytes",
                       RULE_FIELDS_MAX, VALUE_MAX);
    dress->fields = rule_grown(&book->arena, dress->fields, dress->n_fields, sizeof *dress->fields);
    dress->fields[dress->n_fields++] =
        (struct field){slice_copy(&book->arena, name), slice_copy(&book->arena, value)};
    return 0;
}
