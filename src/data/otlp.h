/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces as OpenTelemetry's exporters send them, an ExportTraceServiceRequest in JSON or in protobuf:
 * no more of it than which service did what, how long, and whether it failed. Bytes of strangers. */
#ifndef OUTFOX_DATA_OTLP_H
#define OUTFOX_DATA_OTLP_H

#include "base/err.h"
#include "base/str.h"

enum { OTLP_SPANS_MAX = 100000 }; /* of one request */

struct otlp_span {
    slice service; /* service.name of its resource; empty: it has none */
    slice name;
    int64_t took_ns; /* not below 0 */
    bool failed;     /* its status says so */
};

/* Tells each span, which lives during the call. 0; or -1 and *e where the bytes are no such request,
 * also when spans were told before that was found. */
typedef void otlp_take(void *user, const struct otlp_span *span);
int otlp_read_json(slice body, otlp_take *take, void *user, struct err *e) MUST_USE;
int otlp_read_protobuf(slice body, otlp_take *take, void *user, struct err *e) MUST_USE;

#endif
