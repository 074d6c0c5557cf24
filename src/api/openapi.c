/* SPDX-License-Identifier: Apache-2.0
 *
 * The routes as an OpenAPI 3.1 document, which stands alone: all schemas are in it. */
#include "api/api_int.h"
#include "data/json.h"
#include "page/schema.h"

/* ---- schemas ---- */

static void print_ref(struct json_out *j, const char *schema, const char *more)
{
    struct buf ref = BUF_INIT(200);
    buf_addf(&ref, "#/components/schemas/%s%s", schema, more);
    json_take(j, "$ref", &ref);
    buf_deinit(&ref);
}

/* What the body of a command may have. */
static void print_body(struct json_out *j, const struct route *r)
{
    static const char *const wanted[] = {"type",  "required",      "additionalProperties",
                                         "oneOf", "minProperties", "properties"};
    struct arena a = {0};
    struct buf name = BUF_INIT(100), text = BUF_INIT(64 * 1024);
    const struct node *schema = &node_null;
    buf_addf(&name, "%s-body", r->id);
    keys_schema(r->body, r->id, &text);
    (void)!node_parse_json(&a, buf_slice(&text), &schema);
    json_map(j, buf_text(&name));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (node_get(schema, slice_of(wanted[i])))
            json_node(j, wanted[i], node_get(schema, slice_of(wanted[i])));
    json_map_end(j);
    arena_deinit(&a);
    buf_deinit(&name);
    buf_deinit(&text);
}

static void print_components(struct json_out *j)
{
    json_map(j, "components");
    json_map(j, "securitySchemes");
    json_map(j, "token");
    json_text(j, "type", "http");
    json_text(j, "scheme", "bearer");
    json_text(j, "description", "of OUTFOX_TOKEN or --token-file; without one at loopback alone");
    json_map_end(j);
    json_map_end(j);
    json_map(j, "schemas");
    schema_components(j);
    for (uint32_t i = 0; i < n_routes; i++)
        if (routes[i].body)
            print_body(j, &routes[i]);
    json_map_end(j);
    json_map_end(j);
}

/* ---- routes ---- */

static void print_parameter(struct json_out *j, slice name, const char *in, bool needed)
{
    uint32_t i = 0;
    while (!slice_is(name, value_rows[i].name))
        i++;
    json_map(j, NULL);
    json_str(j, "name", name);
    json_text(j, "in", in);
    json_bool(j, "required", needed);
    json_text(j, "description", value_rows[i].about);
    json_map(j, "schema");
    json_text(j, "type", value_rows[i].number ? "integer" : "string");
    if (value_rows[i].number)
        json_uint(j, "minimum", 0);
    json_map_end(j);
    json_map_end(j);
}

static void print_parameters(struct json_out *j, const struct route *r)
{
    slice path = slice_of(r->path), query = slice_of(r->query), name;
    bool needed;
    json_list(j, "parameters");
    while (slice_cut(&path, '/', &name))
        if (name.n && name.p[0] == '{')
            print_parameter(j, (slice){name.p + 1, name.n - 2}, "path", true);
    while (query_word(&query, &name, &needed))
        print_parameter(j, name, "query", needed);
    json_list_end(j);
}

/* The content of a body: its type and schema. */
static void print_content(struct json_out *j, const char *type, const char *schema)
{
    json_map(j, "content");
    json_map(j, type);
    json_map(j, "schema");
    if (!schema[0])
        json_text(j, "type", "string");
    else if (strcmp(schema, "any") != 0)
        print_ref(j, schema, "");
    json_map_end(j);
    json_map_end(j);
    json_map_end(j);
}

static void print_answer(struct json_out *j, const char *status, const char *about)
{
    json_map(j, status);
    json_text(j, "description", about);
    print_content(j, "application/json", "error");
    json_map_end(j);
}

static void print_answers(struct json_out *j, const struct route *r)
{
    bool post = strcmp(r->method, "POST") == 0;
    json_map(j, "responses");
    json_map(j, post && r->kind == API_REPLAY ? "202" : "200");
    json_text(j, "description", r->summary);
    print_content(j, r->type, r->schema);
    json_map_end(j);
    if (r->handle == answer_document) {
        json_map(j, "304");
        json_text(j, "description", "it is as it was (If-None-Match)");
        json_map_end(j);
    }
    print_answer(j, "400", "a parameter or the body is not as it must be, or not known");
    if (!r->open)
        print_answer(j, "401", "the token is missing or wrong");
    print_answer(j, "403", "from a page of another site, or by another Host");
    if (strchr(r->path, '{') || r->handle == answer_document)
        print_answer(j, "404", "there is no such thing");
    if (post)
        print_answer(j, "409", "it makes no sense now: `commands` of the campaign lists what does");
    if (post)
        print_answer(j, "415", "the body is no application/json");
    if (r->handle == answer_document || r->handle == answer_events || r->handle == answer_readyz)
        print_answer(j, "503", "not yet, or too many at once: try again (Retry-After)");
    json_map_end(j);
}

static void print_operation(struct json_out *j, const struct route *r)
{
    bool post = strcmp(r->method, "POST") == 0;
    json_map(j, post ? "post" : "get");
    json_text(j, "operationId", r->id);
    json_text(j, "summary", r->summary);
    json_list(j, "security");
    if (!r->open) {
        json_map(j, NULL);
        json_list(j, "token");
        json_list_end(j);
        json_map_end(j);
    }
    json_map(j, NULL); /* and without */
    json_map_end(j);
    json_list_end(j);
    print_parameters(j, r);
    if (r->body) {
        json_map(j, "requestBody");
        json_bool(j, "required", r->body->n > 0);
        json_map(j, "content");
        json_map(j, "application/json");
        json_map(j, "schema");
        print_ref(j, r->id, "-body");
        json_map_end(j);
        json_map_end(j);
        json_map_end(j);
        json_map_end(j);
    }
    print_answers(j, r);
    json_map_end(j);
}

void api_openapi(const char *version, struct buf *out)
{
    struct json_out whole = json_out(out, JSON_PRETTY), *j = &whole;
    json_map(j, NULL);
    json_text(j, "openapi", "3.1.0");
    json_map(j, "info");
    json_text(j, "title", "Outfox");
    json_text(j, "version", version);
    json_text(j, "description",
              "A campaign of Outfox: what it found, what it is doing, and what may be asked of it. "
              "docs/api.md says more.");
    json_map(j, "license");
    json_text(j, "name", "Apache-2.0");
    json_text(j, "identifier", "Apache-2.0");
    json_map_end(j);
    json_map_end(j);
    json_list(j, "servers");
    json_map(j, NULL);
    json_text(j, "url", "/");
    json_map_end(j);
    json_list_end(j);
    json_map(j, "paths");
    for (uint32_t i = 0; i < n_routes; i++) { /* no two rows have the same path (test_api.c) */
        json_map(j, routes[i].path);
        print_operation(j, &routes[i]);
        json_map_end(j);
    }
    json_map_end(j);
    print_components(j);
    json_map_end(j);
    buf_addc(out, '\n');
}
