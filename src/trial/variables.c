/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables: what {port:NAME} and the others stand for in a trial, in texts and as variables of the
 * environment; and the operations of built-in clients, which have some of their own.
 *
 * 1. Only what is written exactly like a variable is one: other braces are the shell's. */
#include "trial/trial_int.h"

bool variable_next(slice *rest, slice *before, struct variable *v)
{
    *before = *rest;
    for (size_t i = 0; i < rest->n; i++) {
        slice tail = slice_from(*rest, i);
        size_t end = slice_find(tail, '}');
        if (tail.p[0] != '{' || end == tail.n)
            continue;
        slice inner = {tail.p + 1, end - 1};
        *v = (struct variable){.written = {tail.p, end + 1}};
        if (slice_is(inner, "node")) {
            v->kind = VARIABLE_NODE;
        } else if (slice_is(inner, "dir") || slice_starts(inner, SLICE("dir:"))) {
            v->kind = VARIABLE_DIR;
            v->node = inner.n > 3 ? slice_from(inner, 4) : (slice){0};
        } else if (slice_starts(inner, SLICE("port:"))) {
            slice name = slice_from(inner, 5);
            size_t dot = slice_find(name, '.');
            v->kind = VARIABLE_PORT;
            v->node = dot < name.n ? (slice){name.p, dot} : (slice){0};
            v->name = dot < name.n ? slice_from(name, dot + 1) : name;
        } else {
            continue;
        }
        *before = (slice){rest->p, i};
        *rest = slice_from(tail, end + 1);
        return true;
    }
    *rest = (slice){0};
    return false;
}

/* The node that a variable is about; TRIALS_NONE: there is none of that name. */
static int32_t node_of(const struct trials *t, uint32_t node, const struct variable *v)
{
    return v->node.n ? trials_node(t, v->node) : (int32_t)node;
}

int variables_check(const struct trials *t, uint32_t node, slice text, struct plan_place at,
                    struct err *e)
{
    slice rest = text, before;
    struct variable v;
    while (variable_next(&rest, &before, &v)) {
        int32_t of = node_of(t, node, &v);
        if (of == TRIALS_NONE)
            return FAIL(e, at, "\"%.*s\": there is no node \"%.*s\"", SHORT(v.written),
                        SHORT(v.node));
        if (v.kind == VARIABLE_PORT && trials_port(t, (uint32_t)of, v.name) == TRIALS_NONE)
            return FAIL(e, at, "\"%.*s\": the node %.*s has no port \"%.*s\"; \"ports\" names them",
                        SHORT(v.written), SHORT(t->nodes.at[of].name), SHORT(v.name));
    }
    return 0;
}

void trials_expand(const struct trials *t, const struct trials_seats *seats, uint32_t node,
                   slice text, struct buf *out)
{
    slice rest = text, before;
    struct variable v;
    while (variable_next(&rest, &before, &v)) {
        int32_t of = node_of(t, node, &v);
        int32_t port = of != TRIALS_NONE && v.kind == VARIABLE_PORT
                           ? trials_port(t, (uint32_t)of, v.name)
                           : TRIALS_NONE;
        buf_add(out, before);
        if (of == TRIALS_NONE || (v.kind == VARIABLE_PORT && port == TRIALS_NONE))
            buf_add(out, v.written); /* the file was not checked */
        else if (v.kind == VARIABLE_PORT)
            buf_addf(out, "%u", seats->port[port]);
        else
            buf_add(out, v.kind == VARIABLE_DIR ? seats->dir[of] : t->nodes.at[of].name);
    }
    buf_add(out, before);
}

/* PREFIX_NAME with capitals, and _ for what is no letter and no digit. */
static void add_capitals(struct buf *out, slice name)
{
    buf_addc(out, '_');
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        buf_addc(out, is_lower(c) ? (char)(c - 'a' + 'A') : is_upper(c) || is_digit(c) ? c : '_');
    }
}

void trials_env(const struct trials *t, const struct trials_seats *seats, uint32_t node,
                void (*add)(void *user, slice name, slice value), void *user)
{
    struct buf name = BUF_INIT(1000);
    char digits[DIGITS_MOST];
    add(user, SLICE("OUTFOX_NAME"), t->nodes.at[node].name);
    add(user, SLICE("OUTFOX_DIR"), seats->dir[node]);
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        buf_clear(&name);
        buf_adds(&name, "OUTFOX_DIR");
        add_capitals(&name, t->nodes.at[i].name);
        add(user, buf_slice(&name), seats->dir[i]);
    }
    for (uint32_t i = 0; i < t->ports.n; i++) {
        const struct trials_port *p = &t->ports.at[i];
        slice value = slice_of_u64(seats->port[i], digits);
        buf_clear(&name);
        buf_adds(&name, "OUTFOX_PORT");
        add_capitals(&name, t->nodes.at[p->node].name);
        add_capitals(&name, p->name);
        add(user, buf_slice(&name), value);
        if (p->node != node)
            continue;
        buf_clear(&name);
        buf_adds(&name, "OUTFOX_PORT");
        add_capitals(&name, p->name);
        add(user, buf_slice(&name), value);
    }
    buf_deinit(&name);
}

/* ---- operations of built-in clients ---- */

/* Bytes that differ from operation to operation, so that an old value is not taken for a new one. */
static void add_value(const struct trials_client *c, uint32_t n, struct buf *out)
{
    char digits[DIGITS_MOST];
    slice number = slice_of_u64(n, digits);
    for (uint32_t i = 0; i < c->value_bytes; i++)
        buf_addc(out, i < number.n ? number.p[i] : (char)('a' + i % 26));
}

void trials_operation(const struct trials_client *c, uint32_t n, struct buf *out)
{
    slice text = c->operations.at[n % c->operations.n];
    /* all operations of a turn are about one key: what was set is what is read next */
    uint32_t turn = n / c->operations.n;
    for (size_t i = 0; i < text.n;) {
        slice tail = slice_from(text, i);
        slice key = SLICE("{key}"), value = SLICE("{value}"), number = SLICE("{n}");
        if (slice_starts(tail, key)) {
            buf_addf(out, "key%u", turn % c->keys);
            i += key.n;
        } else if (slice_starts(tail, value)) {
            add_value(c, n, out);
            i += value.n;
        } else if (slice_starts(tail, number)) {
            buf_addf(out, "%u", n);
            i += number.n;
        } else {
            buf_addc(out, text.p[i++]);
        }
    }
}
