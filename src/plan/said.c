/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/said.h"

struct said said_read(slice line)
{
    struct said said = {.kind = SAID_OTHER, .took_ns = -1};
    slice rest = line, word;
    if (!slice_word(&rest, &word))
        return said;
    bool ok = slice_is(word, "ok");
    if (ok || slice_is(word, "fail")) {
        slice after = rest;
        said.kind = ok ? SAID_OK : SAID_FAIL;
        if (slice_word(&after, &word) && slice_to_ns(word, &said.took_ns))
            rest = after;
        else
            said.took_ns = -1;
    } else if (slice_is(word, "event") && slice_word(&rest, &said.name)) {
        said.kind = SAID_EVENT;
    }
    said.text = said.kind == SAID_OTHER ? (slice){0} : slice_trim(rest);
    return said;
}
