/* SPDX-License-Identifier: Apache-2.0
 *
 * A correct system, or a flawed one, as the YAML of a simulated system. */
#include "support/correct_system_int.h"

struct printer {
    const struct correct_system *s;
    struct buf *out;
};

/* What is called of a part. */
enum verb { VERB_DO, VERB_UNDO, VERB_HEALTH, VERB_OLD };

/* The interface: rows by verb, and by kind where it is done. */
static void add_interface(struct printer *w, uint32_t i, enum verb verb)
{
    static const char *const http[] = {"", "DELETE /e", "GET /health", "GET /old"};
    static const char *const http_do[] = {"GET /r", "POST /e", "POST /n", "POST /b"};
    static const char *const grpc[] = {"", "CancelOrder", "CheckHealth", "GetOldItem"};
    static const char *const grpc_do[] = {"GetItem", "PlaceOrder", "RecordView", "PublishView"};
    const struct part *p = &w->s->parts[i];
    bool put = p->kind == PART_EFFECT && p->put;
    if (w->s->grpc)
        buf_addf(w->out, "shop.S%u/%s", (unsigned)i,
                 verb  ? grpc[verb]
                 : put ? "SetOrder"
                       : grpc_do[p->kind]);
    else
        buf_adds(w->out, verb ? http[verb] : put ? "PUT /e" : http_do[p->kind]);
}

static void add_error(struct printer *w, uint32_t i)
{
    if (part_flawed(w->s, FLAW_HIDDEN, i))
        buf_adds(w->out, "{ reply: 200, body: { error: 'the service failed: internal error' } }");
    else if (w->s->grpc)
        buf_addf(w->out, "{ reply: 'grpc:%d' }", part_flawed(w->s, FLAW_FORWARD, i) ? 14 : 13);
    else
        buf_addf(w->out, "{ reply: %u }",
                 part_flawed(w->s, FLAW_FORWARD, i) ? 503u : (unsigned)w->s->parts[i].error);
}

/* `retry` of a call that the handler of i makes. */
static void add_retry(struct printer *w, uint32_t i, uint32_t tries, bool eager, bool delay)
{
    if (tries < 2)
        return;
    buf_addf(w->out, ", retry: { times: %u, on: '%s'", (unsigned)tries - 1,
             eager || (w->s->parts[i].eager && part_asks_leaves(w->s, i)) ? "failed"
             : w->s->grpc                                                 ? "grpc:14, conn, timeout"
                                                                          : "503, conn, timeout");
    if (delay)
        buf_addf(w->out, ", delay: %dms", DELAY_MS);
    buf_adds(w->out, " }");
}

/* "{ call: ..., as: cN, timeout: ..., retry: ..." of part j, still open. */
static void open_call(struct printer *w, uint32_t j)
{
    const struct correct_system *s = w->s;
    uint32_t i = s->parts[j].caller, tries = part_tries(s, j);
    tries = part_flawed(s, FLAW_STORM, j)          ? STORM_TRIES
            : part_flawed(s, FLAW_UNEVEN_RETRY, j) ? 1
                                                   : tries;
    buf_addf(w->out, "{ call: 's%u ", (unsigned)j);
    add_interface(w, j, VERB_DO);
    buf_adds(w->out, "'");
    if (s->parts[j].kind == PART_CAST)
        buf_adds(w->out, ", background: true");
    else
        buf_addf(w->out, ", as: c%u", (unsigned)j);
    if (!part_flawed(s, FLAW_NO_TIMEOUT, j))
        buf_addf(w->out, ", timeout: %ums", (unsigned)part_timeout_ms(s, j));
    add_retry(w, i, tries, part_flawed(s, FLAW_MULTIPLY, j), !part_flawed(s, FLAW_NO_DELAY, j));
    if (part_has_key(s, j))
        buf_addf(w->out, ", idempotency-key: 'key-%u'", (unsigned)j);
}

/* ---- reads ---- */

static void add_value(struct printer *w, uint32_t j, bool answered)
{
    const char *none = part_flawed(w->s, FLAW_LOST, j) ? "null" : "none";
    if (answered)
        buf_addf(w->out, "{ set: { v%u: '{c%u.body}' } }", (unsigned)j, (unsigned)j);
    else
        buf_addf(w->out, "{ set: { v%u: %s } }", (unsigned)j, none);
}

/* What follows when a read failed for good. */
static void add_spare(struct printer *w, uint32_t j)
{
    const struct correct_system *s = w->s;
    uint32_t i = s->parts[j].caller;
    bool to_failed = part_flawed(s, FLAW_TO_FAILED, j);
    buf_addf(w->out, "{ call: 's%u%s ", (unsigned)j, to_failed ? "" : "-backup");
    add_interface(w, j, to_failed ? VERB_OLD : VERB_DO);
    buf_addf(w->out, "', as: c%u, timeout: %ums", (unsigned)j,
             (unsigned)part_leaf_timeout_ms(s, j));
    add_retry(w, i, s->parts[i].tries, false, true);
    buf_adds(w->out, ", on: { failed: ");
    if (s->parts[i].spare_value)
        add_value(w, j, false);
    else
        add_error(w, i);
    buf_adds(w->out, ", ok: ");
    if (part_flawed(s, FLAW_WORSE, j))
        add_error(w, i);
    else
        add_value(w, j, true);
    buf_adds(w->out, " } }");
}

static void add_failed_read(struct printer *w, uint32_t j)
{
    const struct correct_system *s = w->s;
    uint32_t i = s->parts[j].caller;
    enum care care = part_care(s, j);
    if (part_flawed(s, FLAW_SLOW, i))
        buf_adds(w->out, "[{ sleep: 10s }, ");
    if (part_flawed(s, FLAW_UNREACHED, j)) {
        buf_addf(w->out, "[{ if: 'c%u.status == 999', then: ", (unsigned)j);
        add_spare(w, j);
        buf_adds(w->out, ", else: ");
        add_value(w, j, false);
        buf_adds(w->out, " }]");
    } else if (care == CARE_SPARE) {
        add_spare(w, j);
    } else if (care == CARE_VALUE) {
        add_value(w, j, false);
    } else {
        add_error(w, i);
    }
    buf_adds(w->out, part_flawed(s, FLAW_SLOW, i) ? "]" : "");
}

/* In a group that a handler cannot be ended in, errors are looked at afterwards. */
static void add_read(struct printer *w, uint32_t j, bool grouped)
{
    open_call(w, j);
    buf_adds(w->out, ", on: { ok: ");
    add_value(w, j, true);
    if (!grouped || part_care(w->s, j) != CARE_NONE) {
        buf_adds(w->out, ", failed: ");
        add_failed_read(w, j);
    }
    buf_adds(w->out, " } }");
}

static void add_checked_read(struct printer *w, uint32_t j)
{
    buf_addf(w->out, "      - { call: 's%u ", (unsigned)j);
    add_interface(w, j, VERB_HEALTH);
    buf_addf(w->out, "', as: h%u, timeout: %ums }\n", (unsigned)j,
             (unsigned)part_leaf_timeout_ms(w->s, j));
    buf_addf(w->out, "      - { if: h%u.ok, then: ", (unsigned)j);
    add_read(w, j, false);
    buf_adds(w->out, ", else: ");
    add_spare(w, j);
    buf_adds(w->out, " }\n");
}

static uint32_t next_read(const struct correct_system *s, uint32_t i, uint32_t after)
{
    for (uint32_t j = after + 1; j < s->n; j++)
        if (s->parts[j].caller == i && s->parts[j].kind == PART_READ)
            return j;
    return 0;
}

/* A read and all that are made together with it; the last of them. */
static uint32_t add_group(struct printer *w, uint32_t first)
{
    const struct correct_system *s = w->s;
    uint32_t i = s->parts[first].caller, last = first;
    buf_adds(w->out, "      - parallel:\n");
    for (uint32_t j = first; j && (j == first || part_beside(s, j)); j = next_read(s, i, j)) {
        buf_adds(w->out, "          - ");
        add_read(w, j, true);
        buf_adds(w->out, "\n");
        last = j;
    }
    for (uint32_t j = first; j && j <= last; j = next_read(s, i, j)) {
        if (part_care(s, j) != CARE_NONE)
            continue;
        buf_addf(w->out, "      - { if: c%u.failed, then: ", (unsigned)j);
        add_error(w, i);
        buf_adds(w->out, " }\n");
    }
    return last;
}

static void add_reads(struct printer *w, uint32_t i)
{
    const struct correct_system *s = w->s;
    for (uint32_t j = next_read(s, i, 0); j; j = next_read(s, i, j)) {
        uint32_t next = next_read(s, i, j);
        if (next && part_beside(s, next)) {
            j = add_group(w, j);
        } else if (part_checked(s, j)) {
            add_checked_read(w, j);
        } else {
            buf_adds(w->out, "      - ");
            add_read(w, j, false);
            buf_adds(w->out, "\n");
        }
    }
}

/* ---- effects ---- */

/* Undoes the effect of part j. */
static void add_undo(struct printer *w, uint32_t j)
{
    uint32_t i = w->s->parts[j].caller;
    buf_addf(w->out, "{ call: 's%u ", (unsigned)j);
    add_interface(w, j, VERB_UNDO);
    buf_addf(w->out, "', as: u%u, timeout: %ums", (unsigned)j,
             (unsigned)part_undo_timeout_ms(w->s, j));
    add_retry(w, i, w->s->parts[i].tries, false, true);
    buf_addf(w->out, "%s }", w->s->grpc ? ", idempotency-key: undo" : "");
}

/* All effects of the handler of i down from j, of which nobody knows whether it was made. */
static void add_effect(struct printer *w, uint32_t j)
{
    const struct correct_system *s = w->s;
    uint32_t i = s->parts[j].caller;
    buf_adds(w->out, "      - ");
    open_call(w, j);
    buf_adds(w->out, ", on: { ");
    if (part_flawed(s, FLAW_SKIPPED, j))
        buf_adds(w->out, "conn: { set: { gone: true } }, ");
    buf_adds(w->out, "failed: [");
    for (uint32_t k = j; k > 0 && part_undoes(s, i); k--)
        if (s->parts[k].caller == i && s->parts[k].kind == PART_EFFECT) {
            add_undo(w, k);
            buf_adds(w->out, ", ");
        }
    add_error(w, i);
    buf_adds(w->out, "] } }\n");
}

/* How the effect of part j is undone: by undoing all that it is made of. */
static void add_undo_handler(struct printer *w, uint32_t j)
{
    const struct correct_system *s = w->s;
    buf_adds(w->out, "    ");
    add_interface(w, j, VERB_UNDO);
    buf_adds(w->out, ":\n");
    for (uint32_t k = s->n; k-- > 1;)
        if (s->parts[k].caller == j && s->parts[k].kind == PART_EFFECT) {
            buf_adds(w->out, "      - ");
            add_undo(w, k);
            buf_adds(w->out, "\n");
        }
    for (uint32_t k = s->n; k-- > 1;)
        if (s->parts[k].caller == j && s->parts[k].kind == PART_EFFECT) {
            buf_addf(w->out, "      - { if: u%u.failed, then: ", (unsigned)k);
            add_error(w, j);
            buf_adds(w->out, " }\n");
        }
    buf_adds(w->out, "      - { reply: 200 }\n");
}

/* ---- services ---- */

static void add_reply(struct printer *w, uint32_t i)
{
    const struct correct_system *s = w->s;
    buf_addf(w->out, "      - { reply: 200, body: { from: s%u", (unsigned)i);
    for (uint32_t j = next_read(s, i, 0); j; j = next_read(s, i, j))
        buf_addf(w->out, ", r%u: '{v%u}'", (unsigned)j, (unsigned)j);
    buf_adds(w->out, " } }\n");
}

static void add_handler(struct printer *w, uint32_t i)
{
    const struct correct_system *s = w->s;
    buf_adds(w->out, "    ");
    add_interface(w, i, VERB_DO);
    buf_adds(w->out, ":\n");
    if (part_flawed(s, FLAW_NO_CAUSE, i)) {
        buf_adds(w->out, "      - { reply: 500 }\n");
        return;
    }
    add_reads(w, i);
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && s->parts[j].kind == PART_EFFECT)
            add_effect(w, j);
    for (uint32_t j = 1; j < s->n; j++)
        if (s->parts[j].caller == i && !part_works(s, j)) {
            buf_adds(w->out, "      - ");
            open_call(w, j);
            buf_adds(w->out, " }\n");
        }
    add_reply(w, i);
}

static void add_leaf(struct printer *w, uint32_t i, enum verb verb)
{
    buf_adds(w->out, "    ");
    add_interface(w, i, verb);
    buf_addf(w->out, ": { reply: 200, body: { from: s%u } }\n", (unsigned)i);
}

static void add_service(struct printer *w, uint32_t i)
{
    const struct part *p = &w->s->parts[i];
    buf_addf(w->out, "  s%u:\n    latency: %ums\n", (unsigned)i, (unsigned)p->latency_ms);
    add_handler(w, i);
    if (i > 0 && p->kind == PART_EFFECT)
        add_undo_handler(w, i);
    if (part_checked(w->s, i))
        add_leaf(w, i, VERB_HEALTH);
    if (part_flawed(w->s, FLAW_TO_FAILED, i)) {
        add_leaf(w, i, VERB_OLD);
    } else if (i > 0 && p->kind == PART_READ &&
               (part_care(w->s, i) == CARE_SPARE || part_checked(w->s, i))) {
        buf_addf(w->out, "  s%u-backup:\n    latency: %ums\n", (unsigned)i,
                 (unsigned)p->latency_ms);
        add_leaf(w, i, VERB_DO);
    }
}

static void add_modes(struct printer *w)
{
    static const char *const modes[2][MODES_ALL] = {
        {"500", "503", "reset", "hold", "'delay:10s'", "'lost-reply:503'"},
        {"'grpc:13'", "'grpc:14'", "reset", "hold", "'delay:10s'", "'lost-reply:grpc:14'"}};
    const char *before = "modes: [";
    for (uint32_t m = 0; m < MODES_ALL; m++)
        if (w->s->modes >> m & 1) {
            buf_addf(w->out, "%s%s", before, modes[w->s->grpc][m]);
            before = ", ";
        }
    buf_adds(w->out, "]\n");
}

void correct_system_print(const struct correct_system *s, struct buf *out)
{
    struct printer w = {s, out};
    buf_addf(out, "system: correct-%llu\n", (unsigned long long)s->seed);
    add_modes(&w);
    buf_adds(out, "services:\n");
    for (uint32_t i = 0; i < s->n; i++)
        add_service(&w, i);
    buf_adds(out, "scenarios:\n  main:\n    request: s0 ");
    add_interface(&w, 0, VERB_DO);
    buf_adds(out, "\n");
}
