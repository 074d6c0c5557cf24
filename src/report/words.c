/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for calls, modes, commands, for what is suspect and for what was not tried. */
#include "report/words.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

void words_got(outcome o, struct buf *out)
{
    static const char *const got[OUT_KINDS] = {
        [OUT_NONE] = "an unknown outcome",  [OUT_REFUSED] = "a refused connection",
        [OUT_RESET] = "a connection reset", [OUT_CLOSED] = "a closed connection",
        [OUT_TIMEOUT] = "a timeout",        [OUT_CANCELLED] = "a cancelled call",
    };
    if (got[outcome_kind(o)])
        buf_adds(out, got[outcome_kind(o)]);
    else
        outcome_print(o, out);
}

void words_number(double n, struct buf *out)
{
    if (n >= 1e15) {
        buf_addf(out, n > 1e300 ? "more than 1e300" : "%.2g", n);
        return;
    }
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_addc(out, ',');
        buf_addc(out, digits[i]);
    }
}

void words_call(const struct names *names, uid u, struct buf *out)
{
    uid parent = uid_parent(names, u);
    if (parent != UID_NONE && uid_parent(names, parent) != UID_NONE) {
        /* below the first service: say who calls */
        const struct element *caller = uid_element(names, parent);
        buf_add(out, names_text(names, caller->service));
        if (caller->n == N_ANY)
            buf_adds(out, " #*");
        else if (caller->n)
            buf_addf(out, " #%u", (unsigned)caller->n);
        buf_adds(out, " > ");
    }
    element_print(names, uid_element(names, u), out);
}

void words_mode(mode m, struct buf *out)
{
    static const char *const corrupt[CORRUPT_KINDS] = {
        [CORRUPT_EMPTY] = "answers with an empty body",
        [CORRUPT_GARBAGE] = "answers with garbage",
        [CORRUPT_REMOVE] = "answers without the field ",
        [CORRUPT_NULL] = "answers with null in the field ",
    };
    buf_adds(out, mode_rows[mode_kind(m)].verb);
    unsigned number = (unsigned)mode_argument(m);
    switch (mode_rows[mode_kind(m)].argument) {
    case ARG_STATUS:
    case ARG_ERROR: buf_addf(out, "%u", number); break;
    case ARG_CODE: buf_addf(out, "gRPC %u", number); break;
    case ARG_DURATION: buf_add_ns(out, mode_delay_ns(m)); break;
    case ARG_RATE:
        buf_addf(out, "%u %s per second", number, plural(number, "byte", "bytes"));
        break;
    case ARG_CORRUPT:
        buf_addf(out, "%s%.*s", corrupt[mode_corrupt(m)], SLICE_ARG(mode_field(m)));
        break;
    case ARG_EVENT: buf_add(out, mode_event(m)); break;
    case ARG_BYTES: buf_addf(out, "%u %s", number, plural(number, "byte", "bytes")); break;
    case ARG_CUT:
        if (number > 0)
            buf_addf(out, " after %u %s", number, plural(number, "byte", "bytes"));
        break;
    case ARG_NONE:
    case ARG_KINDS: break;
    }
    if (mode_lost(m))
        buf_adds(out, " after the work is done");
}

void words_add(struct buf *out, const struct names *names, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at; (at = strchr(format, '%')); format = at + 2) {
        buf_add(out, (slice){format, (size_t)(at - format)});
        if (at[1] == 's') {
            buf_adds(out, va_arg(args, const char *));
            continue;
        }
        uint32_t value = va_arg(args, uint32_t);
        switch (at[1]) {
        case 'c': words_call(names, value, out); break;
        case 'e': element_print(names, uid_element(names, value), out); break;
        case 'v':
            buf_add(out, value == UID_NONE ? SLICE("the client")
                                           : names_text(names, uid_element(names, value)->service));
            break;
        case 'o': outcome_print(value, out); break;
        case 'l': label_print(value, out); break;
        case 'm': words_mode(value, out); break;
        case 'u': buf_addf(out, "%u", (unsigned)value); break;
        default: break;
        }
    }
    va_end(args);
    buf_adds(out, format);
}

const char *const words_kind[FINDING_KINDS] = {
    [FINDING_EXPECTATION] = "the expectation does not hold",
    [FINDING_HANG] = "the scenario hangs",
    [FINDING_CRASH] = "a service dies",
    [FINDING_BLAST] = "the system stays broken afterwards",
    [FINDING_CONTRACT] = "the contract does not hold",
};

const char *const words_state[FINDING_STATES] = {
    [FINDING_SEEN] = "seen once",
    [FINDING_CONFIRMED] = "confirmed by a second run",
    [FINDING_FLAKY] = "flaky: not reproduced by a second run",
};

static const struct stop_row {
    const char *by, *words;
    bool resumes; /* --resume goes on from there */
} stop_rows[] = {{"runs", "the run budget was used up", true},
                 {"time", "the time budget was used up", true},
                 {"interrupt", "it was interrupted", true},
                 {"finding", "it stopped at the first finding", true},
                 {"error", "a run could not be made", true},
                 {"not-run", "it was not explored", true},
                 {"running", "it is still under way", false},
                 {"unstable", "it was stopped because most faults met no call", false},
                 {"polling", "it was stopped because a service calls others all the time", false}};

static const struct stop_row *stop_row(const char *by)
{
    for (size_t i = 0; i < sizeof stop_rows / sizeof *stop_rows; i++)
        if (strcmp(by, stop_rows[i].by) == 0)
            return &stop_rows[i];
    return NULL;
}

const char *words_stopped(const char *by)
{
    return stop_row(by) ? stop_row(by)->words : by;
}

const char *words_resume(const struct summary *s)
{
    const struct stop_row *row = s->stopped ? stop_row(s->stopped) : NULL;
    return row && row->resumes ? s->resume : NULL;
}

const char *words_unsure(const struct summary *s)
{
    return s->stopped        ? words_stopped(s->stopped)
           : s->doubt        ? s->doubt
           : s->all_suspects ? "not everything was stable"
                             : NULL;
}

void words_quoted(slice word, struct buf *out)
{
    bool plain = word.n > 0;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        plain &= is_letter(c) || is_digit(c) || (c && strchr("/._-", c));
    }
    if (plain)
        buf_add(out, word);
    else
        buf_add_shell(out, word);
}

static void add_fault_flags(const struct summary *s, faultload f, struct buf *out)
{
    if (f == FAULTLOAD_EMPTY)
        return;
    const struct faultload_row *row = &s->faultloads->rows.at[f];
    struct buf text = BUF_INIT(1 << 16);
    add_fault_flags(s, row->rest, out);
    fault_print(s->names, row->last, &text);
    buf_adds(out, " --fault ");
    buf_add_shell(out, buf_slice(&text));
    buf_deinit(&text);
}

void words_id(const struct summary *s, uint64_t number, struct buf *out)
{
    buf_addf(out, "%s%llu", s->ids ? s->ids : "", (unsigned long long)number);
}

uint64_t words_finding_number(const struct summary *s, const struct finding *finding)
{
    return (uint64_t)(finding - s->findings.at) + 1;
}

void words_replay_faultload(const struct summary *s, faultload f, struct buf *out)
{
    struct buf text = BUF_INIT(1 << 20);
    faultload_print(s->names, s->faultloads, f, &text);
    buf_adds(out, "outfox replay ");
    words_quoted(buf_slice(&text), out);
    buf_adds(out, s->replay ? s->replay : "");
    if (s->ids && s->ids[0]) {
        buf_adds(out, " --scenario ");
        words_quoted(slice_of(s->scenario), out);
    }
    buf_deinit(&text);
}

void words_replay_run(const struct summary *s, faultload f, uint64_t number, struct buf *out)
{
    if (s->ids) {
        words_replay_faultload(s, f, out);
        return;
    }
    buf_adds(out, "outfox sim run ");
    if (s->file[0] == '-' && s->file[1])
        buf_adds(out, "./"); /* not an option */
    words_quoted(slice_of(s->file), out);
    buf_addf(out, " --scenario %s", s->scenario);
    if (s->random) /* the same dice */
        buf_addf(out, " --seed %llu",
                 (unsigned long long)run_seed(s->seed, number ? number - 1 : 0));
    add_fault_flags(s, f, out);
}

void words_replay(const struct summary *s, const struct finding *finding, struct buf *out)
{
    struct buf id = BUF_INIT(1 << 12);
    if (!s->ids) {
        words_replay_run(s, finding->faultload, finding->number, out);
        return;
    }
    words_id(s, words_finding_number(s, finding), &id);
    buf_adds(out, "outfox replay ");
    words_quoted(buf_slice(&id), out);
    buf_adds(out, s->replay ? s->replay : "");
    buf_deinit(&id);
}

const char *const suspect_names[SUSPECT_KINDS] = {
    [SUSPECT_NOT_FIRED] = "fault-not-fired", [SUSPECT_STEP] = "unstable-handler",
    [SUSPECT_MISSING] = "unstable-call",     [SUSPECT_BLOCKED] = "given-up",
    [SUSPECT_AUDIT] = "assumption-wrong",    [SUSPECT_NOT_SHOWN] = "outcome-not-shown",
};

/* What follows where it is known why a fault met no call. */
static const char *const causes[CAUSES] = {
    [CAUSE_PAYLOAD] = ": the call came with another payload, so its payload differs between "
                      "runs; leave the payload out of its name (identify: { payload: off })",
    [CAUSE_INTERFACE] = ": \"%c\" came instead, so its path may differ between runs; add a "
                        "rule to \"normalise\"",
    [CAUSE_COUNT] = ": the call came less often than before, so the order or number of equal "
                    "calls differs between runs, as with polling",
    [CAUSE_ABSENT] = ": its caller did not call it this time, so something besides the "
                     "outcomes of its calls decides: a cache or circuit breaker that outlives "
                     "a run, time or chance",
    [CAUSE_UNFIT] = ": the call came, but its answer cannot be altered in this way: it "
                    "has no such field, is not JSON, or has nothing to cut; or an event could not "
                    "begin",
};

void words_suspect(const struct summary *s, const struct suspect *x, struct buf *out)
{
    const char *cause =
        x->call != x->point ? ": its caller was not reached this time" : causes[x->cause];
    switch (x->kind) {
    case SUSPECT_NOT_FIRED:
        words_add(out, s->names, "the fault at %c did not fire in %u attempts", x->point, x->n);
        words_add(out, s->names, cause ? cause : "", x->other);
        break;
    case SUSPECT_STEP:
        words_add(out, s->names, "%c behaved differently after the same outcomes", x->point);
        if (x->call != UID_NONE)
            words_add(out, s->names,
                      x->cause == CAUSE_EXTRA ? " (an earlier run did not call %e)"
                                              : " (an earlier run then called %e)",
                      x->call);
        buf_adds(out, ": something besides the outcomes of its calls decides: a cache or circuit "
                      "breaker that outlives a run, what other calls of the run left behind, time "
                      "or chance");
        break;
    case SUSPECT_MISSING:
        words_add(out, s->names,
                  "%c happened in only %u of the fault-free runs, as with a cache, polling or a "
                  "background job",
                  x->point, x->n);
        break;
    case SUSPECT_BLOCKED:
        words_add(out, s->names, "faults at calls like %c are no longer tried", x->point);
        words_add(out, s->names, cause ? cause : "", x->other);
        break;
    case SUSPECT_AUDIT:
        words_add(out, s->names,
                  "the assumption \"%s\" does not hold: a run that it had skipped showed %s, %c",
                  x->reduction, x->what, x->point);
        break;
    case SUSPECT_NOT_SHOWN:
        words_add(out, s->names,
                  x->n ? "no run showed what happens when %c ends with %l: that depends on "
                         "how long its answer takes, and %u other ways to cause it were "
                         "either too slow or too fast for its caller; change the caller's "
                         "timeout, or replay such a case by hand"
                       : "no run showed what happens when %c ends with %l: faults that caused it "
                         "elsewhere had another effect here, so the service depends on something "
                         "besides its request and the outcomes of its calls",
                  x->point, x->outcome, x->n);
        break;
    case SUSPECT_KINDS: break;
    }
}

/* ---- what was not tried ---- */

/* The classes of the set `standard`, and what only they bring to light. */
enum failing { FAIL_ERROR, FAIL_BROKEN, FAIL_LOST, FAIL_NO_ANSWER, FAILINGS };

static const char *const failing_words[FAILINGS] = {
    [FAIL_ERROR] = "error answers",
    [FAIL_BROKEN] = "broken connections",
    [FAIL_LOST] = "lost replies (which reveal work done twice)",
    [FAIL_NO_ANSWER] = "missing answers (which reveal missing timeouts)",
};

static enum failing failing_of(mode m)
{
    enum outcome_kind kind = mode_rows[mode_kind(m)].outcome;
    if (mode_waits(m))
        return FAIL_NO_ANSWER;
    if (kind == OUT_NONE)
        return FAILINGS;
    bool error = kind == OUT_STATUS || kind == OUT_GRPC;
    return mode_reached(m) ? FAIL_LOST : error ? FAIL_ERROR : FAIL_BROKEN;
}

/* What the assumptions in use have left out, as far as it was counted. */
static double combinations_left(const struct summary *s)
{
    double n = 0;
    for (uint32_t i = 0; i < s->skipped.n; i++)
        for (uint32_t k = 0; k < s->assumptions.n; k++) {
            slice name = slice_of(s->skipped.at[i].name), said = slice_of(s->assumptions.at[k]);
            bool same =
                slice_starts(said, name) && (said.p[name.n] == ':' || said.p[name.n] == ' ');
            n += same ? s->skipped.at[i].n : 0;
        }
    return n;
}

bool words_untried(const struct summary *s, struct buf *out)
{
    uint32_t left = (1u << FAILINGS) - 1;
    double combinations = s->quick ? combinations_left(s) : 0;
    size_t before = out->n;
    if (s->broken || s->n_modes == 0 || s->points == 0)
        return false;
    for (uint32_t i = 0; i < s->n_modes; i++)
        left &= ~(1u << failing_of(s->modes[i]));
    for (int i = 0; i < FAILINGS; i++)
        if (left >> i & 1) {
            bool more = left >> (i + 1), first = out->n == before;
            buf_addf(out, "%s%s", first ? "" : more ? ", " : " and ", failing_words[i]);
        }
    if (combinations > 0) {
        buf_adds(out, out->n > before ? "; at least " : "at least ");
        words_number(combinations, out);
        buf_addf(out, " combination%s, because this was a quick look", combinations > 1 ? "s" : "");
    }
    if (out->n == before)
        return false;
    buf_adds(out, s->replay ? ": outfox run" : ": outfox sim explore ");
    if (s->replay)
        buf_adds(out, s->replay);
    else
        words_quoted(slice_of(s->file), out);
    buf_adds(out, " --modes standard");
    return true;
}
