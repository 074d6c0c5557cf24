/* SPDX-License-Identifier: Apache-2.0
 *
 * Both forms say the same, resource by resource:
 *
 *     resource_spans 1 -> resource 1    -> attributes 1 -> key 1, value 2 -> string_value 1
 *                      -> scope_spans 2 -> spans 2      -> name 5, start 7, end 8, status 15 -> code 3
 *
 * Protobuf is read by the numbers of these fields alone; all others are stepped over. How deep it is
 * read is fixed by that, whatever is sent. */
#include "data/otlp.h"

#include "data/json.h"

enum { STATUS_ERROR = 2 };

struct taking {
    otlp_take *take;
    void *user;
    uint32_t n;
    const char *wrong; /* NULL: nothing yet */
};

static void span_tell(struct taking *t, struct otlp_span *span, uint64_t start, uint64_t end)
{
    span->took_ns = end > start && end - start <= INT64_MAX ? (int64_t)(end - start) : 0;
    if (t->n++ == OTLP_SPANS_MAX)
        t->wrong = "it has too many spans";
    else if (!t->wrong)
        t->take(t->user, span);
}

static int taking_end(const struct taking *t, struct err *e)
{
    return t->wrong ? err_set(e, 0, 0, "this is no ExportTraceServiceRequest: %s", t->wrong) : 0;
}

/* ---- protobuf ---- */

enum wire { WIRE_VARINT = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 };

struct field {
    uint32_t number;
    enum wire wire;
    uint64_t value; /* VARINT, 8, 4 */
    slice bytes;
};

static bool read_varint(slice *rest, uint64_t *out)
{
    *out = 0;
    for (uint32_t i = 0; i < 10 && i < rest->n; i++) {
        uint8_t byte = (uint8_t)rest->p[i];
        *out |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *rest = slice_from(*rest, i + 1);
            return true;
        }
    }
    return false;
}

static bool read_fixed(slice *rest, uint32_t n, uint64_t *out)
{
    *out = 0;
    if (rest->n < n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        *out |= (uint64_t)(uint8_t)rest->p[i] << (8 * i);
    *rest = slice_from(*rest, n);
    return true;
}

/* The next field of a message; false: it is over, or it is none. */
static bool next_field(struct taking *t, slice *rest, struct field *f)
{
    uint64_t key, n;
    bool good = false;
    if (!rest->n || t->wrong)
        return false;
    if (read_varint(rest, &key) && key >> 3 && key >> 3 < 1 << 29) {
        *f = (struct field){.number = (uint32_t)(key >> 3), .wire = (enum wire)(key & 7)};
        switch (f->wire) {
        case WIRE_VARINT: good = read_varint(rest, &f->value); break;
        case WIRE_8: good = read_fixed(rest, 8, &f->value); break;
        case WIRE_4: good = read_fixed(rest, 4, &f->value); break;
        case WIRE_BYTES:
            good = read_varint(rest, &n) && n <= rest->n;
            if (good) {
                f->bytes = (slice){rest->p, (size_t)n};
                *rest = slice_from(*rest, (size_t)n);
            }
            break;
        }
    }
    if (!good)
        t->wrong = "a field of a message is cut short, or of no kind that there is";
    return good;
}

/* The first field of this number and kind of a message; false: there is none. */
static bool find_field(struct taking *t, slice message, uint32_t number, enum wire wire,
                       struct field *f)
{
    while (next_field(t, &message, f))
        if (f->number == number && f->wire == wire)
            return true;
    return false;
}

static slice service_of(struct taking *t, slice resource)
{
    struct field attribute, part;
    while (find_field(t, resource, 1, WIRE_BYTES, &attribute)) {
        resource =
            slice_from(resource, (size_t)(attribute.bytes.p + attribute.bytes.n - resource.p));
        if (find_field(t, attribute.bytes, 1, WIRE_BYTES, &part) &&
            slice_is(part.bytes, "service.name") &&
            find_field(t, attribute.bytes, 2, WIRE_BYTES, &part) &&
            find_field(t, part.bytes, 1, WIRE_BYTES, &part))
            return part.bytes;
    }
    return SLICE("");
}

static void take_span(struct taking *t, slice service, slice message)
{
    struct otlp_span span = {.service = service, .name = SLICE("")};
    struct field f, code;
    uint64_t start = 0, end = 0;
    while (next_field(t, &message, &f)) {
        if (f.number == 5 && f.wire == WIRE_BYTES)
            span.name = f.bytes;
        else if (f.number == 7 && f.wire == WIRE_8)
            start = f.value;
        else if (f.number == 8 && f.wire == WIRE_8)
            end = f.value;
        else if (f.number == 15 && f.wire == WIRE_BYTES)
            span.failed =
                find_field(t, f.bytes, 3, WIRE_VARINT, &code) && code.value == STATUS_ERROR;
    }
    if (!t->wrong)
        span_tell(t, &span, start, end);
}

static void take_resource(struct taking *t, slice message)
{
    struct field f, span;
    slice service = SLICE(""), rest = message;
    if (find_field(t, message, 1, WIRE_BYTES, &f)) /* wherever it stands */
        service = service_of(t, f.bytes);
    while (next_field(t, &rest, &f)) {
        slice scope = f.bytes;
        while (f.number == 2 && f.wire == WIRE_BYTES && next_field(t, &scope, &span))
            if (span.number == 2 && span.wire == WIRE_BYTES)
                take_span(t, service, span.bytes);
    }
}

int otlp_read_protobuf(slice body, otlp_take *take, void *user, struct err *e)
{
    struct taking t = {take, user, 0, NULL};
    struct field f;
    while (next_field(&t, &body, &f))
        if (f.number == 1 && f.wire == WIRE_BYTES)
            take_resource(&t, f.bytes);
    return taking_end(&t, e);
}

/* ---- JSON ---- */

/* A whole number of 64 bits, which JSON has as a text, or as a number that may be. */
static uint64_t number_of(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, slice_of(key));
    uint64_t number;
    return value && slice_to_u64(value->text, UINT64_MAX, &number) ? number : 0;
}

static slice text_of(const struct node *map, const char *key)
{
    const struct node *value = map ? node_get(map, slice_of(key)) : NULL;
    return value && value->type == NODE_STR ? value->text : SLICE("");
}

/* A list by its name; one that is not there is empty. */
static const struct node *list_of(const struct node *map, const char *key)
{
    static const struct node nothing = {.type = NODE_LIST};
    const struct node *value = map ? node_get(map, slice_of(key)) : NULL;
    return value && value->type == NODE_LIST ? value : &nothing;
}

static slice json_service(const struct node *resource)
{
    const struct node *attributes = list_of(resource, "attributes");
    for (uint32_t i = 0; i < attributes->n; i++)
        if (slice_is(text_of(attributes->list[i], "key"), "service.name"))
            return text_of(node_get(attributes->list[i], SLICE("value")), "stringValue");
    return SLICE("");
}

static void json_span(struct taking *t, slice service, const struct node *node)
{
    struct otlp_span span = {.service = service, .name = text_of(node, "name")};
    const struct node *status = node_get(node, SLICE("status"));
    span.failed = status && (number_of(status, "code") == STATUS_ERROR ||
                             slice_is(text_of(status, "code"), "STATUS_CODE_ERROR"));
    span_tell(t, &span, number_of(node, "startTimeUnixNano"), number_of(node, "endTimeUnixNano"));
}

int otlp_read_json(slice body, otlp_take *take, void *user, struct err *e)
{
    struct taking t = {take, user, 0, NULL};
    struct arena a = {0};
    const struct node *root;
    if (node_parse_json(&a, body, &root))
        t.wrong = "it is not JSON, or too large";
    else if (root->type != NODE_MAP)
        t.wrong = "it is no object";
    const struct node *all = t.wrong ? NULL : list_of(root, "resourceSpans");
    for (uint32_t i = 0; all && i < all->n; i++) {
        slice service = json_service(node_get(all->list[i], SLICE("resource")));
        const struct node *scopes = list_of(all->list[i], "scopeSpans");
        for (uint32_t k = 0; k < scopes->n; k++) {
            const struct node *spans = list_of(scopes->list[k], "spans");
            for (uint32_t m = 0; m < spans->n; m++)
                json_span(&t, service, spans->list[m]);
        }
    }
    arena_deinit(&a);
    return taking_end(&t, e);
}
