// SPDX-License-Identifier: Apache-2.0
//
// Replies to built-in clients: the first byte says of which protocol, the rest may be anything.
//
// 1. A reply that is read has used some of the bytes and no more; its text lies within them.
// 2. What was not used does not matter; a reply that is cut has not come as a whole, or is broken.
// 3. Bounds hold.

#include "fuzz/must.h"
#include "rig/talk.h"

enum { BYTES_MAX = 16384, CUTS_MAX = 256 };

static bool whole(const struct talk_reply *r)
{
    return r->kind == TALK_OK || r->kind == TALK_ERROR;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct talk_reply r, again;
    if (size < 1 || size > BYTES_MAX)
        return 0;
    const struct talk *talk = &talks[data[0] % n_talks];
    slice bytes = {(const char *)data + 1, size - 1};
    talk->reply(bytes, &r);
    if (!whole(&r)) {
        MUST(r.used == 0);
        return 0;
    }
    MUST(r.used > 0 && r.used <= bytes.n && r.used <= TALK_REPLY_MAX);
    MUST(!r.text.n || (r.text.p >= bytes.p && r.text.p + r.text.n <= bytes.p + r.used));
    talk->reply((slice){bytes.p, r.used}, &again);
    MUST(again.kind == r.kind && again.used == r.used && again.nothing == r.nothing);
    for (size_t n = r.used > CUTS_MAX ? r.used - CUTS_MAX : 0; n < r.used; n++) {
        talk->reply((slice){bytes.p, n}, &again);
        MUST(again.kind == TALK_MORE);
    }
    return 0;
}
