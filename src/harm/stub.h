/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that stands for three functions of the vDSO in a process whose clock is changed: it makes the
 * system call, then adds what the clock is wrong by. It is copied, so it knows no address but its own.
 *
 * Only the time of day is changed (CLOCK_REALTIME and its coarse twin): all other clocks pass. */
#ifndef OUTFOX_HARM_STUB_H
#define OUTFOX_HARM_STUB_H

#include "base/str.h"

/* A clock that is wrong: it shows t + offset + (t - since) * drift / 2^32. The end of the stub. */
struct stub_clock {
    int64_t offset_ns, since_ns, drift;
    uint64_t tag; /* whose fault it is; 0: of none (any more) */
};

enum { STUB_ENTRIES = 3, STUB_ALIGN = 16 };

/* The functions that it stands for, and where the stub of each begins. */
extern const char *const stub_entries[STUB_ENTRIES];
uint32_t stub_entry_at(uint32_t entry);

/* The stub, with a clock in its end; n 0: there is none for this kind of processor. */
slice stub_code(void);

#endif
