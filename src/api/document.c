/* SPDX-License-Identifier: Apache-2.0
 *
 * Documents of the host. A text that was printed stays on a shelf: who asks for the same version
 * gets the same text, and all who are being sent it share it, however slow they are.
 *
 * 1. The host says cheaply which version it has; a client that has it gets 304, and nothing is
 *    printed.
 * 2. While a campaign runs, a document that is expensive to print is printed the less often: the
 *    next time not before REST times as long has passed. Until then the last one is sent. So no
 *    number of readers takes more than a small part of the time from the campaign.
 * 3. A large text goes out in pieces, the next one when the last has left. */
#include "api/api_int.h"
#include "base/clock.h"

enum { REST = 50 };

struct text {
    uint32_t refs;
    uint64_t version;
    struct buf bytes;
    struct shelf *shelf;
};

struct shelf {
    struct place {
        struct api_document d;
        struct text *text; /* NULL: the place is free */
        int64_t made_ns, cost_ns;
        uint64_t used; /* when, in asks */
    } place[API_SHELF];
    uint64_t asks;
    size_t bytes; /* of all texts, also of those that are only being sent */
};

struct shelf *shelf_new(void)
{
    return mem_zero(sizeof(struct shelf));
}

static void text_drop(struct text *t)
{
    if (--t->refs)
        return;
    t->shelf->bytes -= t->bytes.cap;
    buf_deinit(&t->bytes);
    mem_free(t);
}

void shelf_free(struct shelf *s)
{
    for (uint32_t i = 0; s && i < API_SHELF; i++)
        if (s->place[i].text)
            text_drop(s->place[i].text);
    mem_free(s);
}

void shelf_age(struct shelf *s)
{
    for (uint32_t i = 0; i < API_SHELF; i++)
        s->place[i].cost_ns = 0;
}

static struct place *shelf_find(struct shelf *s, const struct api_document *d)
{
    for (struct place *p = s->place; p < s->place + API_SHELF; p++)
        if (p->text && p->d.kind == d->kind && p->d.scenario == d->scenario &&
            p->d.page == d->page && p->d.from == d->from)
            return p;
    return NULL;
}

/* The free one, or that which nobody asked for for the longest time, which is emptied. */
static struct place *shelf_place(struct shelf *s)
{
    struct place *oldest = s->place;
    for (struct place *p = s->place; p < s->place + API_SHELF; p++)
        if (!p->text || (oldest->text && p->used < oldest->used))
            oldest = p;
    if (oldest->text)
        text_drop(oldest->text);
    *oldest = (struct place){0};
    return oldest;
}

/* ---- sending ---- */

/* A text that is on its way to one reader. */
struct sending {
    struct server_request *q;
    struct text *text;
    size_t at;
};

static void sending_gone(void *user)
{
    struct sending *s = user;
    text_drop(s->text);
    mem_free(s);
}

static void sending_go_on(void *user)
{
    struct sending *s = user;
    slice rest = slice_from(buf_slice(&s->text->bytes), s->at);
    if (!rest.n) {
        server_end(s->q);
        sending_gone(s);
        return;
    }
    rest.n = rest.n < API_PIECE ? rest.n : API_PIECE;
    s->at += rest.n;
    (void)!server_send(s->q, rest); /* there is room: all before it has left */
}

static void send_text(struct asking *k, struct text *t)
{
    struct mark mark = answer_mark(k->api, t->version);
    bool known = t->version && answer_known(k->q, &mark);
    bool small = t->bytes.n <= API_PIECE || slice_is(k->q->head->method, "HEAD");
    if (t->version)
        server_field(k->q, "etag", mark.text);
    answer_fields(k->q, t->version);
    if (known || small) {
        server_answer(k->q, known ? 304 : 200, k->asked.route->type,
                      known ? SLICE("") : buf_slice(&t->bytes));
        return;
    }
    struct sending *s = mem_zero(sizeof *s);
    *s = (struct sending){k->q, t, 0};
    t->refs++;
    server_begin(k->q, 200, k->asked.route->type, sending_gone, sending_go_on, s);
    sending_go_on(s);
}

/* ---- printing ---- */

/* Asks the host; the caller drops it. NULL: answered with why not. */
static struct text *print(struct asking *k, const struct api_document *d, uint64_t version)
{
    const struct api_host *host = k->api->o.host;
    struct shelf *shelf = k->api->shelf;
    struct err e = {0};
    for (uint32_t i = 0; i < API_SHELF && shelf->bytes > API_TEXTS_MAX / 2; i++)
        (void)shelf_place(shelf);
    if (shelf->bytes > API_TEXTS_MAX) {
        answer_error(k->q, 503, "too many large documents are being sent; try again later");
        return NULL;
    }
    struct text *t = mem_zero(sizeof *t);
    *t = (struct text){1, version, BUF_INIT(API_DOCUMENT_MAX), shelf};
    enum api_result result = host->document(host->ctx, d, &t->bytes, &e);
    shelf->bytes += t->bytes.cap;
    if (result == API_OK && t->bytes.full) {
        result = API_BROKEN;
        (void)err_set(&e, 0, 0, "this document has more than %d MiB; ask for a part of it",
                      API_DOCUMENT_MAX >> 20);
    }
    if (result != API_OK) {
        answer_result(k->q, result, &e);
        text_drop(t);
        return NULL;
    }
    return t;
}

/* Is the one that is there good enough for now? */
static bool is_recent(const struct api *a, const struct place *p)
{
    struct api_state state = {0};
    a->o.host->state(a->o.host->ctx, &state);
    return state.phase == API_RUNNING && clock_ns() < p->made_ns + REST * p->cost_ns;
}

void answer_document(struct asking *k)
{
    const struct api_host *host = k->api->o.host;
    struct shelf *shelf = k->api->shelf;
    struct api_document d = {.kind = (enum api_kind)k->asked.route->kind,
                             .scenario = (uint32_t)k->asked.number[VALUE_SCENARIO],
                             .page = (uint32_t)k->asked.number[VALUE_PAGE],
                             .from = k->asked.number[VALUE_FROM],
                             .faultload = k->asked.text[VALUE_FAULTLOAD]};
    if (k->asked.given[VALUE_SCENARIO] &&
        k->asked.number[VALUE_SCENARIO] >= k->api->o.n_scenarios) {
        answer_error(k->q, 404, "there is no such scenario; they are numbered from 0");
        return;
    }
    uint64_t version = d.kind == API_EXPLAIN ? 0 : host->version(host->ctx, &d);
    struct place *p = version ? shelf_find(shelf, &d) : NULL;
    struct mark mark = answer_mark(k->api, version);
    if (p && (p->text->version == version || is_recent(k->api, p))) {
        p->used = ++shelf->asks;
        send_text(k, p->text);
        return;
    }
    if (version && answer_known(k->q, &mark)) {
        answer_marked(k, version, SLICE(""));
        return;
    }
    int64_t began_ns = clock_ns();
    struct text *t = print(k, &d, version);
    if (!t)
        return;
    if (version) {
        p = shelf_find(shelf, &d);
        if (p)
            text_drop(p->text);
        else
            p = shelf_place(shelf);
        int64_t now_ns = clock_ns();
        t->refs++;
        *p = (struct place){d, t, now_ns, now_ns - began_ns, ++shelf->asks};
    }
    send_text(k, t);
    text_drop(t);
}
