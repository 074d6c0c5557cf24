// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a docker-compose file, from which a first configuration is made.
//
// What must hold besides not crashing:
// 1. A file that is refused is refused with a sentence.
// 2. What is made of an accepted one is a right configuration, unless no service of it can be used.

#include <stdint.h>

#include "config/starter.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    struct starter *s = starter_new();
    struct buf text = BUF_INIT(8 << 20);
    struct err e = {0};
    if (starter_compose_text(s, (slice){(const char *)data, size}, &e)) {
        MUST(e.text[0]);
    } else {
        MUST(!e.text[0]);
        bool usable = false;
        for (uint32_t i = 0; i < s->services.n; i++)
            usable |= !s->services.at[i].why_not.n;
        if (starter_text(s, &text, &e) != 0)
            fprintf(stderr, "%s\n%s\n", e.text, buf_text(&text));
        MUST(usable == !e.text[0]);
    }
    buf_deinit(&text);
    starter_free(s);
    return 0;
}
