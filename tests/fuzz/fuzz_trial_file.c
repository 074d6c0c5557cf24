// SPDX-License-Identifier: Apache-2.0
//
// The shared file of a trial, as the runtime of instrumented programs meets it: a good one, in which words
// are replaced. The input is a size to cut it to (2 bytes, 0: none is cut off), then patches: which word
// of 8 bytes (2 bytes), and its value.
//
// 1. A module takes part or it does not; nothing outside of the file is read or written.
// 2. Hits go on or fail as the site says, in whatever state and whatever the file says.
//
// The runtime is not of our library, so its sources are here.

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/must.h"
#include "native/records.h"

// The order is that of the build.
#include "../../instrument/rt/attach.c"
#include "../../instrument/rt/hook.c"
#include "../../instrument/rt/inject.c"
#include "../../instrument/rt/names.c"
#include "../../instrument/rt/points.c"
#include "../../instrument/rt/subject.c"

enum { POINTS = 8, SITES = 3, STATES = 3, TABLES = 1024, HITS = 24 };

static const struct outfox_site sites[SITES] = {
    {.magic = OUTFOX_SITE, .line = 1, .can = 1, .result = OUTFOX_RESULT_VALUE, .value = -7},
    {.magic = OUTFOX_SITE,
     .line = 2,
     .subject = OUTFOX_SUBJECT_FD,
     .can = 7,
     .result = OUTFOX_RESULT_ERRNO,
     .errors = 2,
     .error = {{5, 1}, {32, 4}},
     .value = -1},
    {.magic = OUTFOX_SITE,
     .line = 3,
     .subject = OUTFOX_SUBJECT_PATH,
     .can = 3,
     .result = OUTFOX_RESULT_NUMBER,
     .errors = 200,
     .error = {{12, 15}},
     .value = 0},
};
static const struct outfox_state states[STATES] = {
    {.magic = OUTFOX_STATE}, {.line = 2}, {.line = 3}};
static struct outfox_function functions[1] = {{.magic = OUTFOX_FUNCTION}};

struct file {
    struct outfox_trial trial;
    _Alignas(64) struct outfox_point points[POINTS];
    uint8_t tables[TABLES];
};

static const struct outfox_part part = {.sites = sites,
                                        .sites_end = sites + SITES,
                                        .states = states,
                                        .states_end = states + STATES,
                                        .functions = functions,
                                        .functions_end = functions + 1};

static void fill(struct file *f)
{
    struct outfox_trial *t = &f->trial;
    *t = (struct outfox_trial){.magic = OUTFOX_TRIAL_MAGIC,
                               .abi = OUTFOX_ABI,
                               .bytes = sizeof(*f),
                               .armed = 1,
                               .rule = OUTFOX_RULE_REQUEST,
                               .act = OUTFOX_ERROR,
                               .nth = 4,
                               .nodes = UINT64_MAX,
                               .points = offsetof(struct file, points),
                               .n_points = POINTS};
    t->module[1] = (struct outfox_module_entry){
        .id = outfox_part_id(&part), .filled = 1, .sites = SITES, .states = STATES, .functions = 1};
    t->module[0].id = 77;
    t->module[1].enabled = t->module[1].muted = t->module[1].seen = offsetof(struct file, tables);
}

static size_t patch(struct file *f, const uint8_t *data, size_t size)
{
    uint16_t cut = 0;
    if (size >= 2)
        memcpy(&cut, data, 2);
    for (size_t at = 2; at + 10 <= size; at += 10) {
        uint16_t word;
        memcpy(&word, data + at, 2);
        memcpy((uint8_t *)f + word % (sizeof(*f) / 8) * 8, data + at + 2, 8);
    }
    return cut && cut < sizeof(*f) ? cut : sizeof(*f);
}

static bool is_inside(const void *at, size_t n)
{
    const char *start = (const char *)rt_self.trial, *p = at;
    return !at ||
           (p >= start && p <= start + rt_self.bytes && n <= (size_t)(start + rt_self.bytes - p));
}

static void take_part(void)
{
    rt_module(&part);
    if (!rt_self.trial)
        return;
    rt_self.trial->delay_ns %= 1000;
    MUST(
        is_inside(rt_self.points, ((size_t)rt_self.points_mask + 1) * sizeof(struct outfox_point)));
    MUST(rt_self.n_parts <= 1 && functions[0].enabled <= 1);
    MUST(is_inside(rt_self.part[0].muted, SITES) && is_inside(rt_self.part[0].seen, STATES));
    for (unsigned i = 0; i < HITS; i++) {
        long value = 99;
        unsigned long count = 100;
        outfox_now = i % 4 < STATES ? &states[i % 4] : NULL;
        if (rt_hook(&sites[i % SITES], 2, &count, (const char *)&part + i / 8, &value))
            MUST(value == -7 || value == -1 || value > 0);
        MUST(count >= 1 && count <= 100);
        rt_self.trial->delay_ns %= 1000;
    }
    outfox_now = NULL;
    struct outfox_trial *trial = rt_self.trial;
    rt_gone(&part);
    munmap(trial, rt_self.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file f;
    char path[32];
    memset(&f, 0, sizeof(f));
    fill(&f);
    size_t length = patch(&f, data, size);
    int fd = memfd_create("trial", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, &f, length) == (ssize_t)length);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    setenv(OUTFOX_ENV_TRIAL, path, 1);
    memset(&rt_self, 0, sizeof(rt_self));
    outfox_on = 0;
    take_part();
    close(fd);
    return 0;
}
