/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers: what all of them say to browsers, sentences where something went wrong, and those that
 * need no host. */
#include "api/api_int.h"
#include "data/json.h"
#include "page/page.h"
#include "page/schema.h"

/* ---- what all answers share ---- */

void answer_fields(struct server_request *q, bool cached)
{
    static const struct {
        const char *name, *value;
    } rows[] = {
        {"x-content-type-options", "nosniff"},
        {"x-frame-options", "DENY"},
        {"referrer-policy", "no-referrer"},
        {"cross-origin-resource-policy", "same-origin"},
        {"cross-origin-opener-policy", "same-origin"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        server_field(q, rows[i].name, rows[i].value);
    server_field(q, "cache-control", cached ? "no-cache" : "no-store");
    /* the page brings a policy of its own, which is no less strict */
    bool page = slice_is(q->path, "/");
    server_field(q, "content-security-policy",
                 page ? "frame-ancestors 'none'" : "default-src 'none'; frame-ancestors 'none'");
}

void answer_text(struct server_request *q, uint16_t status, const char *type, slice text)
{
    answer_fields(q, false);
    server_answer(q, status, type, text);
}

void answer_error(struct server_request *q, uint16_t status, const char *sentence)
{
    struct buf text = BUF_INIT(16 * 1024);
    struct json_out j = json_out(&text, JSON_COMPACT);
    json_map(&j, NULL);
    json_map(&j, "error");
    json_uint(&j, "status", status);
    json_str(&j, "message", slice_trim(slice_of(sentence)));
    json_map_end(&j);
    json_map_end(&j);
    if (status == 401)
        server_field(q, "www-authenticate", "Bearer realm=\"outfox\"");
    if (status == 503)
        server_field(q, "retry-after", "1");
    answer_text(q, status, "application/json", buf_slice(&text));
    buf_deinit(&text);
}

void answer_result(struct server_request *q, enum api_result result, const struct err *e)
{
    static const uint16_t status[API_RESULTS] = {
        [API_OK] = 200,      [API_BAD] = 400,   [API_NONE] = 404,
        [API_NOT_NOW] = 409, [API_LATER] = 503, [API_BROKEN] = 500};
    answer_error(q, status[result], e->text);
}

struct mark answer_mark(const struct api *a, uint64_t version)
{
    struct mark mark;
    (void)snprintf(mark.text, sizeof mark.text, "\"%llx-%llx\"", (unsigned long long)a->epoch,
                   (unsigned long long)version);
    return mark;
}

bool answer_known(struct server_request *q, const struct mark *mark)
{
    slice known = head_get(q->head, SLICE("if-none-match"));
    return known.p && (slice_is(known, "*") ||
                       memmem(known.p, known.n, mark->text, strlen(mark->text)) != NULL);
}

void answer_marked(struct asking *k, uint64_t version, slice text)
{
    struct mark mark = answer_mark(k->api, version);
    bool known = answer_known(k->q, &mark);
    server_field(k->q, "etag", mark.text);
    answer_fields(k->q, true);
    server_answer(k->q, known ? 304 : 200, k->asked.route->type, known ? SLICE("") : text);
}

/* ---- answers that need no document ---- */

void answer_page(struct asking *k)
{
    static const char none[] =
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Outfox</title>\n"
        "<p>This outfox was built without its page (make NO_UI=1). The API is there: "
        "<code>/api/v1/openapi.json</code> lists it.</p>\n</html>\n";
    answer_marked(k, 0, page_html.n ? page_html : slice_of(none));
}

void answer_livez(struct asking *k)
{
    answer_text(k->q, 200, "text/plain", SLICE("ok\n"));
}

void answer_readyz(struct asking *k)
{
    struct api_state state = {0};
    k->api->o.host->state(k->api->o.host->ctx, &state);
    if (!state.ready)
        server_field(k->q, "retry-after", "1");
    answer_text(k->q, state.ready ? 200 : 503, "text/plain",
                state.ready ? SLICE("ok\n") : SLICE("the services of the system are not up\n"));
}

void answer_metrics(struct asking *k)
{
    struct buf text = BUF_INIT(8 << 20);
    metrics_print(k->api, &text);
    answer_text(k->q, 200, "text/plain; version=0.0.4; charset=utf-8", buf_slice(&text));
    buf_deinit(&text);
}

void answer_openapi(struct asking *k)
{
    struct api *a = k->api;
    if (!a->openapi.n)
        api_openapi(a->o.version, &a->openapi);
    answer_marked(k, 0, buf_slice(&a->openapi));
}

void answer_schema(struct asking *k)
{
    struct buf text = BUF_INIT(1 << 20);
    if (schema_print(k->asked.text[VALUE_NAME].p, &text))
        answer_marked(k, 0, buf_slice(&text));
    else
        answer_error(k->q, 404, "there is no schema of this name; `outfox schema` lists them");
    buf_deinit(&text);
}

void answer_campaign(struct asking *k)
{
    struct buf text = BUF_INIT(1 << 20);
    campaign_print(k->api, &text);
    answer_text(k->q, 200, "application/json", buf_slice(&text));
    buf_deinit(&text);
}

void answer_events(struct asking *k)
{
    struct err e = {0};
    bool given = k->asked.given[VALUE_TYPES];
    uint32_t types = feed_types(given ? k->asked.text[VALUE_TYPES] : (slice){NULL, 0}, &e);
    if (!types) {
        answer_error(k->q, 400, e.text);
        return;
    }
    if (k->api->feed.n >= k->api->feed.most) {
        answer_error(k->q, 503, "too many read events already; try again later");
        return;
    }
    answer_fields(k->q, false);
    server_field(k->q, "x-accel-buffering", "no"); /* proxies in between pass it on at once */
    if (slice_is(k->q->head->method, "HEAD"))
        server_answer(k->q, 200, k->asked.route->type, SLICE(""));
    else
        feed_open(&k->api->feed, k->q, types, head_get(k->q->head, SLICE("last-event-id")));
}
