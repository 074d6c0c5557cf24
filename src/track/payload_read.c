/* SPDX-License-Identifier: Apache-2.0
 *
 * A body into its fields. The content type says what it is: a row of a table each.
 *
 * 1. Nothing that a body holds is believed: what cannot be read completely is one field.
 * 2. The leaves are sorted by path, so the order of keys is forgotten here.
 *
 * Protobuf is read without a schema: a message is a list of (number, wire type, value), and a value
 * of bytes is a text, a message or just bytes, whichever it looks like. That guess may be wrong, but
 * it is the same guess for the same bytes; where bytes change from run to run, so does what they
 * look like, and comparing the runs leaves them out.
 *
 * 3. A message is read to its last byte or not at all. Groups, which are long out of use, are not
 *    read.
 * 4. The n-th value of a number has index n: repeated fields are lists.
 * 5. A message never starts with the byte 0 or 1 (there is no field 0); the prefix of gRPC always
 *    does. So both forms of a body can be told apart. */
#include "track/payload.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/look.h"
#include "base/str.h"
#include "data/json.h"

enum {
    BYTES_MAX = 1 << 20,    /* a larger body is not looked into */
    LOOK_MOST = 64,         /* bytes of a body of no known kind that may be an id as a whole */
    TARGET_FIELDS_MAX = 64, /* of a target; what is behind them is not looked at */
};

static const uint64_t root = 0x6f7574666f780001u;
static const uint64_t target_root = 0x6f7574666f780002u;
static const uint64_t rest_path = UINT64_MAX; /* of what PAYLOAD_FIELDS_MAX leaves no room for */

/* ---- leaves ---- */

/* Leaves as they are found, in any order and number. */
struct leaves {
    VEC(struct payload_field) list;
    struct map seen; /* hash of a place -> how often it was there: repeated fields have indexes */
    int64_t now_ns;
    bool target; /* they are of a target */
};

/* Where a leaf is: below `path`, by a key or by a number. */
static uint64_t path_key(uint64_t path, slice key)
{
    return hash_mix(path, hash_slice(key));
}

static uint64_t path_index(uint64_t path, uint64_t index)
{
    return hash_mix(path ^ 0x5b5d5b5d5b5d5b5du, index);
}

/* A wrong yes costs a field that might have told calls apart; a wrong no costs a name that does not
 * come back. */
static bool looks_volatile(const struct leaves *l, slice text)
{
    return look_moment(text, l->now_ns) || (!l->target && look_id(text, l->now_ns));
}

/* Values of different kinds are different. */
enum kind { KIND_TEXT = 1, KIND_NUMBER, KIND_REAL, KIND_BYTES, KIND_WORD };

static void leaves_add(struct leaves *l, uint64_t path, enum kind kind, uint64_t value, bool looks)
{
    vec_push(&l->list, (struct payload_field){path, hash_mix(kind, value), looks, l->target});
}

static void leaves_add_text(struct leaves *l, uint64_t path, slice text)
{
    leaves_add(l, path, KIND_TEXT, hash_slice(text), looks_volatile(l, text));
}

static void leaves_add_integer(struct leaves *l, uint64_t path, int64_t number)
{
    leaves_add(l, path, KIND_NUMBER, (uint64_t)number, look_integer(number, l->now_ns));
}

static void leaves_add_real(struct leaves *l, uint64_t path, double number)
{
    /* What is whole is a whole number, however it was written. */
    if (fabs(number) < 9e18 && !(fabs(number - trunc(number)) > 0)) {
        leaves_add_integer(l, path, (int64_t)number);
        return;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    leaves_add(l, path, KIND_REAL, bits, look_real(number, l->now_ns));
}

/* Something without a value of its own: true, null, an empty list ... */
static void leaves_add_word(struct leaves *l, uint64_t path, const char *word)
{
    leaves_add(l, path, KIND_WORD, hash_slice(slice_of(word)), false);
}

/* ---- JSON ---- */

/* False: a whole number that is too large, or a key with a NUL in it. */
static bool json_walk(struct leaves *l, uint64_t path, const struct node *json)
{
    slice digits = node_digits(json);
    bool minus = digits.n && digits.p[0] == '-', whole = true;
    uint64_t number;
    switch (json->type) {
    case NODE_MAP:
        for (uint32_t i = 0; i < json->n && whole; i++)
            whole = slice_find(json->map[i].key, 0) == json->map[i].key.n &&
                    json_walk(l, path_key(path, json->map[i].key), json->map[i].value);
        if (json->n == 0)
            leaves_add_word(l, path, "{}");
        break;
    case NODE_LIST:
        for (uint32_t i = 0; i < json->n && whole; i++)
            whole = json_walk(l, path_index(path, i), json->list[i]);
        if (json->n == 0)
            leaves_add_word(l, path, "[]");
        break;
    case NODE_STR: leaves_add_text(l, path, json->text); break;
    case NODE_NUM:
        if (!digits.n)
            leaves_add_real(l, path, json->num);
        else if ((whole = slice_to_u64(slice_from(digits, minus), (uint64_t)INT64_MAX + minus,
                                       &number)))
            leaves_add_integer(l, path, (int64_t)(minus ? 0 - number : number));
        break;
    case NODE_BOOL: leaves_add_word(l, path, json->boolean ? "true" : "false"); break;
    case NODE_NULL: leaves_add_word(l, path, "null"); break;
    }
    return whole;
}

static bool json_read(struct leaves *l, slice body)
{
    struct arena a = {0};
    const struct node *json;
    bool whole = node_parse_json(&a, body, &json) == 0 && json_walk(l, root, json);
    arena_deinit(&a);
    return whole;
}

/* ---- forms ---- */

static slice form_decode(slice s, struct buf *out)
{
    buf_clear(out);
    (void)percent_decode(s, true, out); /* a % that no two digits follow means itself */
    return buf_slice(out);
}

static void form_walk(struct leaves *l, uint64_t above, slice body)
{
    struct buf text = BUF_INIT(BYTES_MAX + 1);
    slice pair;
    while (slice_cut(&body, '&', &pair)) {
        if (pair.n == 0)
            continue;
        size_t equals = slice_find(pair, '=');
        uint64_t path = path_key(above, form_decode((slice){pair.p, equals}, &text));
        path = path_index(path, map_count(&l->seen, path));
        if (equals < pair.n)
            leaves_add_text(l, path, form_decode(slice_from(pair, equals + 1), &text));
        else
            leaves_add_word(l, path, "");
    }
    buf_deinit(&text);
}

static bool form_read(struct leaves *l, slice body)
{
    form_walk(l, root, body);
    return l->list.n > 0;
}

/* ---- protobuf ---- */

enum { PREFIX = 5, PROTO_DEPTH_MAX = 32 };
enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static bool cut_varint(slice *rest, uint64_t *out)
{
    uint64_t x = 0;
    for (size_t i = 0; i < rest->n && i < 10; i++) {
        uint64_t byte = (uint8_t)rest->p[i];
        if (i == 9 && byte > 1)
            return false;
        x |= (byte & 0x7f) << (7 * i);
        if (byte & 0x80)
            continue;
        *rest = slice_from(*rest, i + 1);
        *out = x;
        return true;
    }
    return false;
}

/* Little-endian. */
static bool cut_fixed(slice *rest, size_t n, uint64_t *out)
{
    uint64_t x = 0;
    if (rest->n < n)
        return false;
    for (size_t i = n; i-- > 0;)
        x = x << 8 | (uint8_t)rest->p[i];
    *rest = slice_from(*rest, n);
    *out = x;
    return true;
}

/* UTF-8 without control characters. Which of the longer forms are allowed is nothing that a guess
 * depends on. */
static bool is_text(slice s)
{
    size_t more = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        bool follows = (c & 0xc0) == 0x80;
        if (follows != (more > 0) || c < 0x20 || c == 0x7f || c > 0xf4)
            return false;
        if (follows)
            more--;
        else
            more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    }
    return more == 0;
}

/* False: malformed, and some leaves may have been added. */
static bool message_walk(struct leaves *l, uint64_t path, slice message, uint32_t depth)
{
    if (depth == 0)
        return false;
    if (message.n == 0)
        leaves_add_word(l, path, "{}");
    while (message.n) {
        uint64_t tag, number = 0;
        if (!cut_varint(&message, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
            return false;
        uint64_t field = path_index(path, tag);
        field = path_index(field, map_count(&l->seen, field));
        bool whole = false;
        switch (tag & 7) {
        case WIRE_VARINT: whole = cut_varint(&message, &number); break;
        case WIRE_64: whole = cut_fixed(&message, 8, &number); break;
        case WIRE_32: whole = cut_fixed(&message, 4, &number); break;
        case WIRE_BYTES: whole = cut_varint(&message, &number) && number <= message.n; break;
        default: break;
        }
        if (!whole)
            return false;
        if ((tag & 7) != WIRE_BYTES) {
            leaves_add_integer(l, field, (int64_t)number);
            if ((tag & 7) == WIRE_64) { /* it may be a double, which may look like a moment, too */
                double real;
                memcpy(&real, &number, sizeof real);
                vec_last(&l->list).volatile_ |= look_real(real, l->now_ns);
            }
            continue;
        }
        slice bytes = {message.p, number};
        uint32_t before = l->list.n;
        message = slice_from(message, number);
        if (is_text(bytes)) {
            leaves_add_text(l, field, bytes);
        } else if (!message_walk(l, field, bytes, depth - 1)) {
            l->list.n = before;
            leaves_add(l, field, KIND_BYTES, hash_slice(bytes), false);
        }
    }
    return true;
}

/* With or without the prefixes of gRPC. */
static bool proto_read(struct leaves *l, slice body)
{
    if ((uint8_t)body.p[0] > 1)
        return message_walk(l, path_index(0, 0), body, PROTO_DEPTH_MAX);
    for (uint64_t i = 0; body.n; i++) {
        if (body.n < PREFIX || body.p[0] != 0) /* 1: compressed */
            return false;
        uint64_t n = 0;
        for (size_t k = 1; k < PREFIX; k++)
            n = n << 8 | (uint8_t)body.p[k];
        body = slice_from(body, PREFIX);
        if (n > body.n || !message_walk(l, path_index(0, i), (slice){body.p, n}, PROTO_DEPTH_MAX))
            return false;
        body = slice_from(body, n);
    }
    return true;
}

/* ---- what it is ---- */

typedef bool body_read(struct leaves *l, slice body);

static const struct type_row {
    slice begins, ends; /* of the content type, without parameters, in lower case */
    body_read *read;
} types[] = {
    {{"application/json", 16}, {"json", 4}, json_read},
    {{"text/json", 9}, {"json", 4}, json_read},
    {{"", 0}, {"+json", 5}, json_read},
    {{"application/x-www-form-urlencoded", 33}, {"", 0}, form_read},
    {{"application/grpc", 16}, {"", 0}, proto_read},
    {{"application/protobuf", 20}, {"", 0}, proto_read},
    {{"application/x-protobuf", 22}, {"", 0}, proto_read},
};

static body_read *reader_of(slice type, slice body)
{
    char lower[64];
    type.n = slice_find(type, ';');
    type = slice_trim(type);
    slice start = slice_trim(body);
    if (type.n == 0)
        return start.n && (start.p[0] == '{' || start.p[0] == '[') ? json_read : NULL;
    if (type.n > sizeof lower)
        return NULL;
    for (size_t i = 0; i < type.n; i++)
        lower[i] = type.p[i] >= 'A' && type.p[i] <= 'Z' ? (char)(type.p[i] | 0x20) : type.p[i];
    type.p = lower;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct type_row *row = &types[i];
        if (slice_starts(type, row->begins) && type.n >= row->ends.n &&
            slice_eq(slice_from(type, type.n - row->ends.n), row->ends))
            return row->read;
    }
    return NULL;
}

static int field_cmp(const void *a, const void *b)
{
    const struct payload_field *x = a, *y = b;
    return x->path != y->path ? (x->path < y->path ? -1 : 1)
                              : (x->value > y->value) - (x->value < y->value);
}

void payload_read(slice content_type, slice body, int64_t now_ns, struct payload *out)
{
    struct leaves l = {.now_ns = now_ns};
    body_read *read = body.n > BYTES_MAX ? NULL : reader_of(content_type, body);
    if (body.n && !(read && read(&l, body))) { /* one field stands for all of it */
        l.list.n = 0;
        leaves_add(&l, root, KIND_BYTES, hash_slice(body),
                   body.n <= LOOK_MOST && looks_volatile(&l, body));
    }
    if (l.list.n)
        qsort(l.list.at, l.list.n, sizeof *l.list.at, field_cmp);
    /* what is too much becomes one field: the sum of all that does not look volatile */
    struct payload_field rest = {.path = rest_path};
    bool fits = l.list.n <= PAYLOAD_FIELDS_MAX;
    uint32_t keep = fits ? l.list.n : PAYLOAD_FIELDS_MAX - 1;
    out->fields.n = 0;
    for (uint32_t i = 0; i < l.list.n; i++) {
        const struct payload_field *f = &l.list.at[i];
        if (i < keep)
            vec_push(&out->fields, *f);
        else if (!f->volatile_)
            rest.value += hash_mix(f->path, f->value);
    }
    if (!fits)
        vec_push(&out->fields, rest);
    vec_deinit(&l.list);
    map_deinit(&l.seen);
}

void payload_read_target(slice target, int64_t now_ns, struct payload *p)
{
    struct leaves l = {.now_ns = now_ns, .target = true};
    size_t end = slice_find(target, '?');
    slice path = {target.p, end}, segment;
    for (uint32_t i = 0; slice_cut(&path, '/', &segment); i++)
        leaves_add_text(&l, path_index(target_root, i), segment);
    if (end < target.n)
        form_walk(&l, target_root, slice_from(target, end + 1));
    for (uint32_t i = 0; i < l.list.n && i < TARGET_FIELDS_MAX; i++)
        vec_push(&p->fields, l.list.at[i]);
    if (p->fields.n)
        qsort(p->fields.at, p->fields.n, sizeof *p->fields.at, field_cmp);
    vec_deinit(&l.list);
    map_deinit(&l.seen);
}

void payload_deinit(struct payload *p)
{
    vec_deinit(&p->fields);
}
