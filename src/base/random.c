/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

uint64_t random_key(void)
{
    uint64_t key = 0;
    while (key == 0)
        if (getrandom(&key, sizeof key, 0) != (ssize_t)sizeof key) {
            if (errno != EINTR)
                abort(); /* Linux has always had it since 3.17; a key to be guessed is worse */
            key = 0;
        }
    return key;
}
