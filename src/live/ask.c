/* SPDX-License-Identifier: Apache-2.0 */
#include "live/ask.h"

#include "base/clock.h"
#include "base/str.h"
#include "data/json.h"
#include "http/client.h"
#include "io/foreground.h"
#include "live/control.h"

static const int64_t ASK_NS = SECONDS(5); /* for all of it */

struct asking {
    struct loop loop;
    struct arena *arena;
    int status; /* 0: no answer */
    slice body;
    const char *error;
};

static void on_answer(void *user, const struct client_answer *answer)
{
    struct asking *k = user;
    if (answer->error)
        k->error = slice_copy(k->arena, slice_of(answer->error)).p;
    else if (outcome_kind(answer->seen) == OUT_STATUS && !answer->cut)
        k->status = (int)outcome_code(answer->seen);
    k->body = slice_copy(k->arena, answer->body);
    loop_stop(&k->loop);
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || is_letter(c) || (c && strchr("/-._*", c));
}

/* The status, 0 when nobody answers who could know. */
static int read_answer(const struct asking *k, const struct ask *ask, const struct node **answer,
                       struct err *e)
{
    const struct node *body = NULL, *found = NULL;
    slice field = k->status == 200 ? slice_of(ask->field) : SLICE("error");
    if (k->status && node_parse_json(k->arena, k->body, &body) == 0)
        found = node_get(body, field);
    if (found && k->status != 200)
        (void)err_set(e, 0, 0, "%.*s", SLICE_ARG(found->text));
    else if (k->error)
        (void)err_set(e, 0, 0, "the control address %.100s does not answer: %s", ask->control,
                      k->error);
    else if (!found)
        (void)err_set(e, 0, 0, "OUTFOX_CONTROL, %.100s, is not a control address of Outfox",
                      ask->control);
    *answer = found;
    return found ? k->status : 0;
}

int ask_control(const struct ask *ask, struct arena *a, const struct node **answer, struct err *e)
{
    struct asking k = {.arena = a};
    struct addr to;
    struct buf target = BUF_INIT(4 * CONTROL_PATTERN_MAX);
    if (ask->pattern.n > CONTROL_PATTERN_MAX) {
        (void)err_set(e, 0, 0, "the pattern is too long: at most %d bytes", CONTROL_PATTERN_MAX);
        return 400;
    }
    slice at = slice_of(ask->control), scheme = SLICE("http://");
    if (!slice_starts(at, scheme)) {
        (void)err_set(e, 0, 0,
                      "OUTFOX_CONTROL is not an address: \"%.*s\" does not begin with http://",
                      SHORT(at));
        return 0;
    }
    at = slice_from(at, scheme.n);
    at.n = slice_find(at, '/');
    if (addr_parse(at, "OUTFOX_CONTROL", &to, e))
        return 0;
    buf_adds(&target, "/runs/");
    percent_encode(slice_of(ask->run), is_plain, &target);
    buf_addf(&target, "/%s", ask->what);
    if (ask->pattern.n)
        buf_addc(&target, '?');
    percent_encode(ask->pattern, is_plain, &target);
    struct head head = {.method = slice_of(ask->method), .target = buf_slice(&target)};
    struct client_request request = {
        .to = &to, .head = &head, .timeout_ns = ASK_NS, .body_max = CONTROL_ANSWER_MAX};
    if (loop_init(&k.loop, NULL)) {
        k.error = "no event loop could be started";
    } else {
        struct client *client = client_new(&k.loop, true);
        client_send(client, &request, on_answer, &k);
        loop_run(&k.loop);
        client_free(client);
        loop_deinit(&k.loop);
    }
    buf_deinit(&target);
    return read_answer(&k, ask, answer, e);
}

/* ---- blocks ---- */

bool ask_hush(const char *control, const char *run, char *const *argv, int *code, struct err *e)
{
    struct ask ask = {
        .control = control, .run = run, .method = "POST", .what = "no-faults", .field = "hushed"};
    struct arena a = {0};
    struct foreground f;
    const struct node *answer = NULL;
    foreground_hold(&f); /* from before the beginning: the end must not be missed */
    bool begun = !run || ask_control(&ask, &a, &answer, e) == 200;
    if (begun)
        *code = foreground_run(&f, argv, e);
    ask.method = "DELETE";
    if (begun && run)
        (void)ask_control(&ask, &a, &answer, e);
    arena_deinit(&a);
    return begun;
}
