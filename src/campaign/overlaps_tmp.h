#include "core/trace.h"
struct overlaps {
    int none;
};
static inline void overlaps_learn(struct overlaps *o, const struct names *n, const struct trace *t)
{
    (void)o, (void)n, (void)t;
}
static inline void trace_align(struct trace *t, struct overlaps *o, const struct names *n)
{
    (void)o, (void)n, (void)t;
}
static inline void overlaps_deinit(struct overlaps *o)
{
    (void)o;
}
