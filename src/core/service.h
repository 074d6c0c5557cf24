/* SPDX-License-Identifier: Apache-2.0
 *
 * service: ways in which a service fails as a whole, in every call to it, as rows of service.list.
 * Text: the word of the row, such as `down`; where dice decide how each call fails, `WORD:DICE` for
 * all dice but 0. How a call fails follows from the way, the dice and the call's name alone, so it
 * is the same in every run and every process, whatever else is called, and when. */
#ifndef OUTFOX_CORE_SERVICE_H
#define OUTFOX_CORE_SERVICE_H

#include "core/mode.h"
#include "core/names.h"

enum service_id {
#define SERVICE(ID, ...) SERVICE_##ID,
#include "core/service.list"
#undef SERVICE
    SERVICE_IDS
};

struct service_row {
    const char *word;
    mode http, grpc; /* at calls to it */
    uint32_t late;   /* per cent of the calls that come 5s later instead */
    const char *doc;
};

extern const struct service_row service_fault_rows[SERVICE_IDS];

/* One of the ways, with its dice. */
struct service_fault {
    const struct service_row *row; /* NULL: none of them */
    uint64_t dice;                 /* 0 where there are none */
};

/* The row is NULL when the word is none of them. There is one text for each. */
struct service_fault service_fault_read(slice word);
void service_fault_print(struct service_fault how, struct buf *out);

/* The mode in which this call to the service fails. Flags: enum call_flag. */
mode service_fault_mode(struct service_fault how, const struct names *names, uid call,
                        uint8_t flags);

#endif
