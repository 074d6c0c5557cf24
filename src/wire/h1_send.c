/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/1.1, the sending half: what the owner of a stream gives becomes bytes in `out`. See h1.c for
 * the states. How a body is framed follows from its head: by its length where that is known, else
 * in chunks, else (for a peer that speaks HTTP/1.0) by the end of the connection. */
#include "wire/h1_int.h"

static void end_out(struct h1 *h)
{
    h->out_state = OUT_DONE;
    h1_turn(h);
}

struct stream *h1_open(struct wire *w)
{
    struct h1 *h = h1_of(w);
    h->live = true;
    w->n_streams = 1;
    h->keep = true;
    h->in_state = IN_HEAD;
    h->out_state = OUT_HEAD;
    h->stream = (struct stream){.wire = w};
    h->interims = (struct wire_interims){0};
    return &h->stream;
}

/* The peer was promised more than it gets. */
static void check_promise(struct h1 *h)
{
    if (h->out_counted && h->out_left)
        h1_finish(h, FINISH_CLOSE);
}

static void send_request(struct h1 *h, const struct head *head, bool end)
{
    h->head_only = slice_is(head->method, "HEAD");
    h->asked_upgrade = head->upgrade.n > 0;
    h->out_counted = head->has_length;
    h->out_left = head->length;
    h->out_chunked = !end && !head->has_length;
    h->out_dropped = false;
    h1_print_head(h->wire.out, head, &(struct h1_style){.chunked = h->out_chunked});
}

static void send_response(struct h1 *h, const struct head *head, bool end)
{
    bool never = h->head_only || head->status == 204 || head->status == 304; /* is there a body */
    end |= head->bodiless;
    h->out_dropped = never || head->bodiless;
    h->out_counted = head->has_length && !never;
    h->out_left = head->length;
    h->out_chunked = !end && !h->out_dropped && !head->has_length && !h->peer10;
    bool to_close = !end && !h->out_dropped && !head->has_length && h->peer10;
    if (to_close || h->wire.closing || (h->awaits_continue && h->in_state == IN_BODY))
        h->keep = false;
    struct head told = *head;
    if (end && !never && !head->has_length) {
        told.has_length = true;
        told.length = 0;
    }
    h1_print_head(h->wire.out, &told,
                  &(struct h1_style){.chunked = h->out_chunked,
                                     .close = !h->keep,
                                     .keep_alive = h->keep && h->peer10});
}

void h1_send_head(struct stream *s, const struct head *head, bool end)
{
    struct h1 *h = h1_of(s->wire);
    if (h->out_state != OUT_HEAD)
        return;
    if (!h->wire.server) {
        send_request(h, head, end);
    } else if (head->status == 101) {
        h1_print_head(h->wire.out, head, &(struct h1_style){0});
        h->keep = false;
        h->in_state = IN_TUNNEL;
        h->out_state = OUT_TUNNEL;
        h->wire.resume = h->in.n > 0;
        return;
    } else if (head->status < 200) {
        if (!h->peer10)
            h1_print_head(h->wire.out, head, &(struct h1_style){0});
        h->awaits_continue &= head->status != 100;
        return;
    } else {
        send_response(h, head, end);
    }
    h->out_state = OUT_BODY;
    if (end) {
        check_promise(h);
        end_out(h);
    }
}

void h1_send_data(struct stream *s, slice bytes)
{
    struct h1 *h = h1_of(s->wire);
    bool raw = h->out_state == OUT_TUNNEL;
    if (bytes.n == 0 || (!raw && (h->out_state != OUT_BODY || h->out_dropped)))
        return;
    h->unsent += bytes.n;
    if (!raw && h->out_counted) {
        if (bytes.n > h->out_left)
            bytes.n = (size_t)h->out_left;
        h->out_left -= bytes.n;
    }
    if (h->out_chunked && !raw)
        h1_print_chunk(s->wire->out, bytes);
    else
        chain_add(s->wire->out, bytes);
}

void h1_send_end(struct stream *s, const struct head *trailers)
{
    struct h1 *h = h1_of(s->wire);
    if (h->out_state == OUT_TUNNEL) {
        h->out_state = OUT_DONE;
        h1_finish(h, FINISH_CLOSE);
        return;
    }
    if (h->out_state != OUT_BODY)
        return;
    if (h->out_chunked)
        h1_print_last_chunk(s->wire->out, trailers);
    else
        check_promise(h);
    end_out(h);
}

void h1_abort(struct stream *s, enum wire_finish how, uint32_t code)
{
    struct h1 *h = h1_of(s->wire);
    (void)code;
    if (how == FINISH_NOT && !s->wire->server)
        chain_clear(s->wire->out); /* nobody waits for the answer to it */
    h->live = false;
    h->unread = h->unsent = 0;
    s->user = NULL;
    s->wire->n_streams = 0;
    h1_finish(h, how == FINISH_NOT ? FINISH_CLOSE : how);
}

void h1_goaway(struct stream *s)
{
    h1_abort(s, FINISH_CLOSE, 0);
}

void h1_consume(struct stream *s, size_t n)
{
    struct h1 *h = h1_of(s->wire);
    h->unread -= n < h->unread ? n : h->unread;
}

void h1_release(struct stream *s)
{
    struct h1 *h = h1_of(s->wire);
    h->live = false;
    h->unread = h->unsent = 0;
    s->user = NULL;
    s->wire->n_streams = 0; /* also while the rest of a request is dropped */
    bool drains = s->wire->server && h->in_state == IN_BODY && !h->awaits_continue;
    s->wire->draining = drains;
    if (h->out_state != OUT_DONE || (h->in_state != IN_DONE && !drains))
        h1_finish(h, FINISH_CLOSE);
    h1_turn(h);
}
