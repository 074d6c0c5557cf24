/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "support/correct_system_int.h"

enum { MARGIN_MS = 100, DEPTH_MAX = 3, CALLS_MAX = 4 };

/* ---- making ---- */

static uint32_t depth_of(const struct correct_system *s, uint32_t i)
{
    uint32_t depth = 0;
    for (; i > 0; i = s->parts[i].caller)
        depth++;
    return depth;
}

uint32_t part_calls(const struct correct_system *s, uint32_t i, uint32_t kinds)
{
    uint32_t n = 0;
    for (uint32_t j = 1; j < s->n; j++)
        n += s->parts[j].caller == i && (kinds >> s->parts[j].kind & 1);
    return n;
}

bool part_works(const struct correct_system *s, uint32_t i)
{
    return s->parts[i].kind == PART_READ || s->parts[i].kind == PART_EFFECT;
}

static enum part_kind random_kind(struct rng *r, bool effects)
{
    uint32_t dice = rng_below(r, 10);
    if (dice < 2)
        return dice ? PART_NOTE : PART_CAST;
    return effects && dice < 7 ? PART_EFFECT : PART_READ;
}

/* One that may make a further call: the entry, where no other may. */
static uint32_t random_caller(const struct correct_system *s, struct rng *r)
{
    uint32_t first = rng_below(r, s->n);
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t i = (first + k) % s->n;
        if (part_works(s, i) && depth_of(s, i) < DEPTH_MAX && part_calls(s, i, ALL) < CALLS_MAX)
            return i;
    }
    return 0;
}

static void random_part(struct correct_system *s, struct rng *r)
{
    struct part *p = &s->parts[s->n];
    *p = (struct part){.latency_ms = 1 + rng_below(r, 9),
                       .put = rng_below(r, 3) == 0,
                       .key = rng_below(r, 2),
                       .tries = 1 + rng_below(r, 2) * (1 + rng_below(r, 2)),
                       .eager = rng_below(r, 2),
                       .care = (enum care)rng_below(r, 3),
                       .critical = rng_below(r, 3) == 0,
                       .spare_value = rng_below(r, 2),
                       .error = rng_below(r, 2) ? 500 : 502};
    if (s->n > 0) {
        p->caller = random_caller(s, r);
        p->kind = random_kind(r, s->parts[p->caller].kind == PART_EFFECT);
        p->beside = rng_below(r, 2);
        p->checked = rng_below(r, 3) == 0;
    } else {
        p->kind = rng_below(r, 2) ? PART_READ : PART_EFFECT;
    }
    s->n++;
}

void correct_system(uint64_t seed, struct correct_system *out)
{
    struct rng r = {seed};
    *out = (struct correct_system){.seed = seed, .flaw = FLAW_NONE, .grpc = rng_below(&r, 5) == 0};
    for (uint32_t n = 2 + rng_below(&r, 3); n > 0; n--)
        out->modes |= 1u << rng_below(&r, MODES_ALL);
    for (uint32_t n = 3 + rng_below(&r, 6); out->n < n;)
        random_part(out, &r);
}

void correct_system_without(const struct correct_system *s, uint32_t part,
                            struct correct_system *out)
{
    uint32_t moved[PARTS_MAX] = {0};
    *out = *s;
    out->n = 1;
    for (uint32_t i = 1; i < s->n; i++) {
        uint32_t caller = s->parts[i].caller;
        if (i == part || (caller > 0 && !moved[caller]))
            continue;
        moved[i] = out->n;
        out->parts[out->n] = s->parts[i];
        out->parts[out->n++].caller = moved[caller];
    }
    out->flawed = moved[s->flawed];
}

/* ---- what follows from the parts ---- */

bool part_flawed(const struct correct_system *s, enum flaw flaw, uint32_t i)
{
    return s->flaw == flaw && s->flawed == i;
}

/* Tries of a part's call, by the policy of who makes it. */
uint32_t part_tries(const struct correct_system *s, uint32_t j)
{
    return part_works(s, j) && j > 0 ? s->parts[s->parts[j].caller].tries : 1;
}

/* All that the handler of i asks makes no calls in turn: it may try again whatever happened. */
bool part_asks_leaves(const struct correct_system *s, uint32_t i)
{
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && part_works(s, j) && part_calls(s, j, ALL))
            return false;
    return true;
}

/* Tries of calls that are made at the same time would start in an order that depends on more than
 * outcomes. */
static bool side_by_side(const struct correct_system *s, uint32_t i)
{
    return s->parts[i].tries == 1 && s->parts[i].care != CARE_SPARE;
}

static uint32_t read_before(const struct correct_system *s, uint32_t j)
{
    for (uint32_t k = j; k-- > 1;)
        if (s->parts[k].caller == s->parts[j].caller && s->parts[k].kind == PART_READ)
            return k;
    return 0;
}

/* How many reads of the same handler are made before. */
static uint32_t read_rank(const struct correct_system *s, uint32_t j)
{
    uint32_t rank = 0;
    for (j = read_before(s, j); j; j = read_before(s, j))
        rank++;
    return rank;
}

enum care part_care(const struct correct_system *s, uint32_t j)
{
    uint32_t i = s->parts[j].caller;
    bool critical = part_flawed(s, FLAW_UNEVEN_FALLBACK, i)
                        ? read_rank(s, j) % 2 == 0
                        : s->parts[i].critical && !read_before(s, j);
    return critical || part_flawed(s, FLAW_UNCHECKED, j) ? CARE_NONE : s->parts[i].care;
}

bool part_beside(const struct correct_system *s, uint32_t j)
{
    return s->parts[j].kind == PART_READ && s->parts[j].beside && j > 0 &&
           side_by_side(s, s->parts[j].caller) && read_before(s, j);
}

bool part_checked(const struct correct_system *s, uint32_t j)
{
    return j > 0 && s->parts[j].kind == PART_READ && s->parts[j].checked &&
           (part_care(s, j) == CARE_SPARE || part_flawed(s, FLAW_UNCHECKED, j));
}

/* May its effect happen twice because a call at or above it is tried again? */
static bool is_repeated(const struct correct_system *s, uint32_t j)
{
    for (; j > 0; j = s->parts[j].caller)
        if (part_tries(s, j) > 1)
            return true;
    return false;
}

bool part_has_key(const struct correct_system *s, uint32_t j)
{
    const struct part *p = &s->parts[j];
    bool needed = is_repeated(s, j) && (p->kind != PART_EFFECT || !p->put);
    return p->kind != PART_READ && (p->key || needed) && !part_flawed(s, FLAW_NO_KEY, j);
}

/* Does the handler of i undo its effects when it fails? One that makes a single effect, which is
 * not made of others, has nothing to undo. */
bool part_undoes(const struct correct_system *s, uint32_t i)
{
    if (part_flawed(s, FLAW_NO_UNDO, i))
        return false;
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && s->parts[j].kind == PART_EFFECT && part_calls(s, j, EFFECTS))
            return true;
    return part_calls(s, i, EFFECTS) > 1;
}

/* ---- time ---- */

static uint32_t work_ms(const struct correct_system *s, uint32_t i);

static uint32_t tries_ms(uint32_t tries, uint32_t timeout_ms)
{
    return tries * timeout_ms + (tries - 1) * DELAY_MS;
}

static uint32_t undo_ms(const struct correct_system *s, uint32_t i);

uint32_t part_undo_timeout_ms(const struct correct_system *s, uint32_t j)
{
    return undo_ms(s, j) + MARGIN_MS;
}

/* How long undoing the effects that the handler of i made takes at most. */
static uint32_t undo_effects_ms(const struct correct_system *s, uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && s->parts[j].kind == PART_EFFECT)
            sum += tries_ms(s->parts[i].tries, part_undo_timeout_ms(s, j));
    return sum;
}

static uint32_t undo_ms(const struct correct_system *s, uint32_t i)
{
    return s->parts[i].latency_ms + undo_effects_ms(s, i);
}

static uint32_t usual_ms(const struct correct_system *s, uint32_t i)
{
    uint32_t sum = s->parts[i].latency_ms;
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && s->parts[j].kind != PART_CAST)
            sum += usual_ms(s, j) + (part_checked(s, j) ? s->parts[j].latency_ms : 0);
    return sum;
}

uint32_t part_timeout_ms(const struct correct_system *s, uint32_t j)
{
    return part_flawed(s, FLAW_INVERTED, j) ? usual_ms(s, j) + 1 : work_ms(s, j) + MARGIN_MS;
}

uint32_t part_leaf_timeout_ms(const struct correct_system *s, uint32_t j)
{
    return s->parts[j].latency_ms + MARGIN_MS;
}

/* How long the handler of i takes at most. Calls at the same time count as if they were not. */
static uint32_t work_ms(const struct correct_system *s, uint32_t i)
{
    uint32_t sum = s->parts[i].latency_ms + (part_undoes(s, i) ? undo_effects_ms(s, i) : 0);
    for (uint32_t j = 1; j < s->n; j++) {
        if (s->parts[j].caller != i || s->parts[j].kind == PART_CAST)
            continue;
        sum += tries_ms(part_flawed(s, FLAW_STORM, j) ? STORM_TRIES : part_tries(s, j),
                        part_timeout_ms(s, j));
        sum += part_checked(s, j) ? part_leaf_timeout_ms(s, j) : 0;
        if (s->parts[j].kind == PART_READ && s->parts[i].care == CARE_SPARE)
            sum += tries_ms(s->parts[i].tries, part_leaf_timeout_ms(s, j));
    }
    return sum;
}

uint32_t correct_system_worst_ms(const struct correct_system *s)
{
    return work_ms(s, 0);
}

uint32_t correct_system_usual_ms(const struct correct_system *s)
{
    return usual_ms(s, 0);
}

/* ---- flaws ---- */

/* Does a failure of this part's call make its caller answer with an error? */
bool part_hard(const struct correct_system *s, uint32_t j)
{
    const struct part *p = &s->parts[j];
    return j > 0 &&
           (p->kind == PART_EFFECT || (p->kind == PART_READ && part_care(s, j) == CARE_NONE));
}

static bool makes_hard_calls(const struct correct_system *s, uint32_t i)
{
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && part_hard(s, j))
            return true;
    return false;
}

static bool has_spare(const struct correct_system *s, uint32_t j)
{
    return j > 0 && s->parts[j].kind == PART_READ && part_care(s, j) == CARE_SPARE;
}

/* A retry is a way to handle it, too. */
static bool fits_unchecked(const struct correct_system *s, uint32_t j)
{
    return part_checked(s, j) && part_tries(s, j) == 1;
}

static bool fits_unreached(const struct correct_system *s, uint32_t j)
{
    return has_spare(s, j) && !part_checked(s, j);
}

static bool fits_no_timeout(const struct correct_system *s, uint32_t j)
{
    return j > 0 && s->parts[j].kind != PART_CAST;
}

static bool fits_no_delay(const struct correct_system *s, uint32_t j)
{
    return part_tries(s, j) > 1;
}

/* One that only reads may say 503 of itself, and so may one whose effects may be had twice or are
 * undone: whoever is above could undo them, too. */
static bool fits_forward(const struct correct_system *s, uint32_t i)
{
    for (uint32_t j = 1; j < s->n && i == 0; j++)
        if (s->parts[j].caller == i && s->parts[j].kind == PART_EFFECT && !s->parts[j].put &&
            !part_has_key(s, j) && !part_undoes(s, i))
            return true;
    return false;
}

static bool fits_no_key(const struct correct_system *s, uint32_t j)
{
    return s->parts[j].kind == PART_EFFECT && part_tries(s, j) > 1 && !s->parts[j].put;
}

static bool fits_no_undo(const struct correct_system *s, uint32_t i)
{
    return i == 0 && part_calls(s, i, EFFECTS) > 1; /* whoever is above could undo it, too */
}

static bool fits_multiply(const struct correct_system *s, uint32_t j)
{
    return part_tries(s, j) * s->parts[j].tries > 5 && makes_hard_calls(s, j);
}

static bool fits_uneven_retry(const struct correct_system *s, uint32_t j)
{
    return part_tries(s, j) > 1 && s->parts[j].kind == PART_READ && part_hard(s, j) &&
           part_calls(s, s->parts[j].caller, READS) > 1;
}

/* One that a handler cannot do without may be what it is for: two of four are too many. */
static bool fits_uneven_fallback(const struct correct_system *s, uint32_t i)
{
    return i == 0 && s->parts[i].care != CARE_NONE && s->parts[i].tries == 1 &&
           part_calls(s, i, READS) >= 4;
}

static bool fits_inverted(const struct correct_system *s, uint32_t j)
{
    return j > 0 && part_works(s, j) && part_calls(s, j, WORK) == 1;
}

static bool fits_slow(const struct correct_system *s, uint32_t i)
{
    return i == 0 && s->parts[i].care == CARE_SPARE &&
           part_calls(s, i, READS) > s->parts[i].critical;
}

static bool fits_hidden(const struct correct_system *s, uint32_t i)
{
    return i == 0 && makes_hard_calls(s, i);
}

static bool fits_lost(const struct correct_system *s, uint32_t j)
{
    return j > 0 && s->parts[j].caller == 0 && s->parts[j].kind == PART_READ &&
           part_care(s, j) == CARE_VALUE;
}

static bool fits_skipped(const struct correct_system *s, uint32_t j)
{
    return j > 0 && s->parts[j].kind == PART_EFFECT;
}

static bool fits_no_cause(const struct correct_system *s, uint32_t j)
{
    return j > 0 && s->parts[j].kind == PART_READ && !part_hard(s, j) && !part_calls(s, j, ALL);
}

static bool fits_limit(const struct correct_system *s, uint32_t i)
{
    return i == 0 && part_calls(s, i, WORK);
}

bool correct_system_fits(const struct correct_system *s, enum flaw flaw, uint32_t part)
{
    static bool (*const fits[FLAWS])(const struct correct_system *s, uint32_t i) = {
        [FLAW_NO_TIMEOUT] = fits_no_timeout,
        [FLAW_NO_DELAY] = fits_no_delay,
        [FLAW_FORWARD] = fits_forward,
        [FLAW_NO_KEY] = fits_no_key,
        [FLAW_NO_UNDO] = fits_no_undo,
        [FLAW_STORM] = fits_no_delay,
        [FLAW_MULTIPLY] = fits_multiply,
        [FLAW_UNEVEN_RETRY] = fits_uneven_retry,
        [FLAW_UNEVEN_FALLBACK] = fits_uneven_fallback,
        [FLAW_TO_FAILED] = has_spare,
        [FLAW_INVERTED] = fits_inverted,
        [FLAW_SLOW] = fits_slow,
        [FLAW_HIDDEN] = fits_hidden,
        [FLAW_LOST] = fits_lost,
        [FLAW_UNCHECKED] = fits_unchecked,
        [FLAW_SKIPPED] = fits_skipped,
        [FLAW_UNREACHED] = fits_unreached,
        [FLAW_WORSE] = has_spare,
        [FLAW_NO_CAUSE] = fits_no_cause,
        [FLAW_LIMIT] = fits_limit,
    };
    return part < s->n && fits[flaw](s, part);
}

/* ---- counting ---- */

bool correct_system_retries(const struct correct_system *s)
{
    for (uint32_t j = 1; j < s->n; j++)
        if (part_tries(s, j) > 1)
            return true;
    return false;
}

bool correct_system_effects(const struct correct_system *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (part_calls(s, i, EFFECTS))
            return true;
    return false;
}

bool correct_system_saga(const struct correct_system *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (part_undoes(s, i))
            return true;
    return false;
}

bool correct_system_parallel(const struct correct_system *s)
{
    for (uint32_t j = 1; j < s->n; j++)
        if (part_beside(s, j))
            return true;
    return false;
}

bool correct_system_cares(const struct correct_system *s, enum care care)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->parts[i].care == care && part_calls(s, i, READS))
            return true;
    return false;
}
