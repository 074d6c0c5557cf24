/* SPDX-License-Identifier: Apache-2.0
 *
 * The control port: what services remember can be asked for and reset between runs.
 *
 *   POST /reset                   everything as in the file
 *   GET /state[?trace=HEX]        {service: {name: value}} of this trace, else of trace 0
 *   DELETE /state[?trace=HEX]     forgets it
 *
 * Pages of the web that reach it by a browser are sent away. */
#include "serve/request_int.h"

static bool trace_asked(slice target, uint64_t *trace)
{
    slice query = target;
    *trace = 0;
    query.n = slice_find(target, '?');
    query = slice_from(target, query.n);
    if (query.n <= 1)
        return true;
    return slice_starts(query, SLICE("?trace=")) && slice_to_hex(slice_from(query, 7), trace);
}

void control_handle(struct request *r)
{
    uint64_t trace;
    slice path = r->target;
    path.n = slice_find(path, '?');
    r->grpc = false;
    r->content_type = SLICE("application/json");
    r->status = 404;
    if (r->foreign) {
        r->status = 403;
    } else if (!trace_asked(r->target, &trace)) {
        r->status = 400;
    } else if (slice_is(path, "/reset") && slice_is(r->method, "POST")) {
        states_reset(r->serve->states);
        r->status = 204;
    } else if (slice_is(path, "/state") && slice_is(r->method, "GET")) {
        states_print(r->serve->states, trace, r->serve->served, &r->answer);
        r->status = r->answer.full ? 500 : 200;
    } else if (slice_is(path, "/state") && slice_is(r->method, "DELETE")) {
        states_forget(r->serve->states, trace);
        r->status = 204;
    }
}
