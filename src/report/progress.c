/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress: the words, which are pieces of text of which as many are shown as fit; then when and
 * where they are said.
 *
 * 1. Each update is one write, past the filter of the stream: it redraws a line.
 * 2. What is on the screen is remembered, so that it is drawn again below a note. */
#include "report/progress.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "base/printable.h"

#define REDRAW_NS     MS(100)
#define SENTENCE_NS   SECONDS(5)
#define RATE_TIME_S   3.0 /* how long the past counts */
#define CLEAR         "\r\033[K"
#define WIDTH_UNKNOWN 80

enum {
    PIECE_MAX = 96,     /* bytes of one */
    SCENARIO_MOST = 24, /* columns */
    BAR_LEAST = 8,
    BAR_MOST = 30,
    BAR_ROUND = 4,        /* brackets and two blanks */
    LEFT_RUNS_LEAST = 10, /* before that nobody knows the rate */
};

/* ---- figures ---- */

/* Runs that are known to be due. */
static uint64_t runs_due(const struct progress_facts *f)
{
    uint64_t left = f->queued;
    if (f->max_runs) {
        uint64_t allowed = f->max_runs > f->runs ? f->max_runs - f->runs : 0;
        left = left < allowed ? left : allowed;
    }
    return left;
}

enum progress_left progress_left(const struct progress_facts *f, double runs_per_s, int64_t *ns)
{
    enum progress_left left = LEFT_UNKNOWN;
    bool bounded = f->max_runs && runs_due(f) < f->queued;
    if (f->queued && f->runs >= LEFT_RUNS_LEAST && runs_per_s > 0) {
        double s = (double)runs_due(f) / runs_per_s;
        *ns = s < 1e9 ? (int64_t)(s * 1e9) : 0;
        left = s >= 1e9 ? LEFT_UNKNOWN : f->growing && !bounded ? LEFT_AT_LEAST : LEFT_ABOUT;
    }
    if (f->max_time_ns > 0) {
        int64_t allowed = f->max_time_ns > f->elapsed_ns ? f->max_time_ns - f->elapsed_ns : 0;
        if (left == LEFT_UNKNOWN || allowed < *ns) {
            *ns = allowed;
            left = LEFT_AT_MOST;
        }
    }
    return left;
}

/* More is found than this part of what is done. */
static const double GROWING = 0.1;

/* Time in which no run ends counts when one does: until then a run that hangs says little about the
 * next. */
void pace_note(struct pace *p, uint64_t runs, uint64_t queued, int64_t now_ns)
{
    double s = (double)(now_ns - p->at_ns) / 1e9;
    if (!p->begun || runs < p->runs) {
        p->rate = -1;
    } else if (runs == p->runs || s <= 0) {
        return;
    } else {
        double now = (double)(runs - p->runs) / s;
        double weight = p->rate < 0 ? 1 : 1 - exp(-s / RATE_TIME_S);
        double more = runs + queued > p->total ? (double)(runs + queued - p->total) : 0;
        p->rate = (p->rate < 0 ? 0 : p->rate * (1 - weight)) + now * weight;
        p->growth = p->growth * (1 - weight) + more / s * weight;
    }
    p->total = runs + queued;
    p->begun = true;
    p->runs = runs;
    p->at_ns = now_ns;
}

/* As noted, but no more than one run in the time since the last. */
double pace_rate(const struct pace *p, uint64_t runs, int64_t now_ns)
{
    double s = (double)(now_ns - p->at_ns) / 1e9;
    return runs == p->runs && p->rate * s > 1 ? 1 / s : p->rate;
}

bool pace_grows(const struct pace *p)
{
    return p->growth > GROWING * p->rate;
}

double progress_share(const struct progress_facts *f)
{
    double share = -1;
    if (f->runs && (f->max_runs || (f->queued && !f->growing)))
        share = (double)f->runs / ((double)f->runs + (double)runs_due(f));
    if (f->max_time_ns > 0)
        share = fmax(share, (double)f->elapsed_ns / (double)f->max_time_ns);
    return fmin(share, 1);
}

/* 7s, 1m05s, 2h03m: two units at most, no fractions that flicker. */
static void add_time(struct buf *out, int64_t ns)
{
    long long s = (ns < 0 ? 0 : ns) / SECONDS(1);
    if (s < 60)
        buf_addf(out, "%llds", s);
    else if (s < 3600)
        buf_addf(out, "%lldm%02llds", s / 60, s % 60);
    else
        buf_addf(out, "%lldh%02lldm", s / 3600, s / 60 % 60);
}

static void add_rate(struct buf *out, double runs_per_s)
{
    buf_addf(out, runs_per_s < 9.95 ? "%.1f" : "%.0f", runs_per_s);
}

/* "at least 2m05s left"; nothing where nobody knows. */
static void add_left(struct buf *out, const struct progress_facts *f, double rate,
                     const char *about)
{
    int64_t ns = 0;
    enum progress_left left = progress_left(f, rate, &ns);
    if (left == LEFT_UNKNOWN)
        return;
    buf_adds(out, left == LEFT_ABOUT ? about : left == LEFT_AT_LEAST ? "at least " : "at most ");
    add_time(out, ns);
    buf_adds(out, " left");
}

/* ---- the line of a terminal ---- */

enum piece_kind { SCENARIO, PHASE, BAR, RUNS, QUEUED, FINDINGS, RATE, ELAPSED, LEFT, PIECES };

/* Left out in this order, as long as the line is too wide; the first two also for the bar. */
static const enum piece_kind least_first[] = {PHASE,    ELAPSED, RATE,     LEFT,
                                              SCENARIO, QUEUED,  FINDINGS, RUNS};

struct piece {
    struct buf text;
    uint32_t columns; /* 0: it is not there */
    const char *mark; /* style */
};

/* Adds at most `most` columns of a name; returns how many. Large characters count twice: a line
 * that is too short does no harm, one that wraps does. */
static uint32_t add_name(struct buf *out, const char *text, uint32_t most)
{
    uint32_t columns = 0;
    enum opening at = OPENING_LINE;
    slice rest = slice_of(text);
    while (rest.n) {
        struct glyph g = glyph_take(&rest);
        bool hidden = glyph_hidden(g.code), opens = opening_next(&at, g.code);
        uint32_t wide = (hidden || g.bytes.n < 3 ? 1 : 2) + opens;
        if (columns + wide > most)
            break;
        buf_adds(out, opens ? " " : "");
        buf_add(out, hidden ? SLICE("?") : g.bytes);
        columns += wide;
    }
    return columns;
}

static void add_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
    buf_addf(out, "%llu %s", (unsigned long long)n, plural(n, one, many));
}

/* All of them but the bar, which takes what is left. */
static void make_pieces(const struct progress_facts *f, double rate, const struct style *style,
                        struct piece piece[PIECES])
{
    for (int i = 0; i < PIECES; i++)
        piece[i] = (struct piece){.text = BUF_INIT(PIECE_MAX), .mark = ""};
    if (f->scenario)
        piece[SCENARIO].columns = add_name(&piece[SCENARIO].text, f->scenario, SCENARIO_MOST);
    if (f->phase)
        piece[PHASE].columns = add_name(&piece[PHASE].text, f->phase, SCENARIO_MOST);
    add_count(&piece[RUNS].text, f->runs, "run", "runs");
    if (f->queued)
        buf_addf(&piece[QUEUED].text, "%llu queued", (unsigned long long)f->queued);
    add_count(&piece[FINDINGS].text, f->findings, "finding", "findings");
    if (rate > 0) {
        add_rate(&piece[RATE].text, rate);
        buf_adds(&piece[RATE].text, "/s");
    }
    add_time(&piece[ELAPSED].text, f->elapsed_ns);
    add_left(&piece[LEFT].text, f, rate, "~");
    for (int i = RUNS; i < PIECES; i++)
        piece[i].columns = (uint32_t)piece[i].text.n;
    piece[SCENARIO].mark = style->bold;
    piece[FINDINGS].mark = f->findings ? style->red : "";
    piece[ELAPSED].mark = piece[LEFT].mark = style->dim;
}

/* Columns of the pieces with two blanks between them. */
static uint32_t columns_of(const struct piece piece[PIECES])
{
    uint32_t n = 0;
    for (int i = 0; i < PIECES; i++)
        if (piece[i].columns)
            n += piece[i].columns + (n ? 2 : 0);
    return n;
}

void progress_line(const struct progress_facts *f, double runs_per_s, uint32_t width,
                   const struct style *style, struct buf *out)
{
    struct piece piece[PIECES];
    uint32_t most = width ? width - 1 : 0;
    uint32_t bar = progress_share(f) < 0 ? 0 : BAR_LEAST + BAR_ROUND;
    make_pieces(f, runs_per_s, style, piece);
    for (size_t i = 0; i < sizeof least_first / sizeof *least_first; i++) {
        bool gives_way = least_first[i] == PHASE || least_first[i] == ELAPSED;
        if (columns_of(piece) + (gives_way ? bar : 0) > most)
            piece[least_first[i]].columns = 0;
    }
    uint32_t room = most - columns_of(piece);
    if (bar && room >= bar) { /* it takes what is left */
        uint32_t inside = room - BAR_ROUND < BAR_MOST ? room - BAR_ROUND : BAR_MOST;
        uint32_t done = (uint32_t)(progress_share(f) * inside);
        buf_addc(&piece[BAR].text, '[');
        for (uint32_t i = 0; i < inside; i++)
            buf_addc(&piece[BAR].text, i < done ? '#' : '-');
        buf_addc(&piece[BAR].text, ']');
        piece[BAR].columns = inside + 2;
    }
    bool first = true;
    for (int i = 0; i < PIECES; i++) {
        if (piece[i].columns) {
            buf_addf(out, "%s%s", first ? "" : "  ", piece[i].mark);
            buf_add(out, buf_slice(&piece[i].text));
            buf_adds(out, piece[i].mark[0] ? style->off : "");
            first = false;
        }
        buf_deinit(&piece[i].text);
    }
}

/* ---- the sentence ---- */

void progress_sentence(const struct progress_facts *f, double runs_per_s, struct buf *out)
{
    const char *const names[] = {f->scenario, f->phase};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!names[i] || !names[i][0])
            continue;
        add_name(out, names[i], PIECE_MAX);
        buf_adds(out, ": ");
    }
    add_count(out, f->runs, "run", "runs");
    if (f->queued)
        buf_addf(out, ", %llu queued", (unsigned long long)f->queued);
    buf_adds(out, ", ");
    add_count(out, f->findings, "finding", "findings");
    if (runs_per_s > 0) {
        buf_adds(out, ", ");
        add_rate(out, runs_per_s);
        buf_adds(out, " runs/s");
    }
    buf_adds(out, ", ");
    add_time(out, f->elapsed_ns);
    struct buf left = BUF_INIT(PIECE_MAX);
    add_left(&left, f, runs_per_s, "about ");
    buf_addf(out, "%s%s", left.n ? ", " : "", buf_text(&left));
    buf_deinit(&left);
}

/* ---- when and where ---- */

/* How far a scenario is. */
struct part {
    const char *scenario;
    uint64_t runs, queued, found;
};

struct progress {
    FILE *out;
    bool terminal;
    const struct style *style;
    struct buf line;   /* what is on the screen */
    struct buf update; /* in the making */
    int64_t first_ns;  /* how long a log waits for its first line */
    int64_t due_ns;    /* when the next update is */
    struct pace pace;
    int64_t wait_ns;   /* when waiting began; 0: nothing is waited for */
    uint64_t max_runs; /* bounds of the campaigns */
    int64_t max_time_ns;
    VEC(struct part) parts; /* one for each scenario that was heard of */
    char title[40];
};

struct progress *progress_new(FILE *out, bool terminal)
{
    struct progress *p = mem_zero(sizeof *p);
    *p = (struct progress){.out = out,
                           .terminal = terminal,
                           .style = terminal ? style_for(outlet_fd(out), "auto") : &style_plain,
                           .line = BUF_INIT(4096),
                           .update = BUF_INIT(16384),
                           .first_ns = SENTENCE_NS};
    return p;
}

void progress_first(struct progress *p, int64_t after_ns)
{
    p->first_ns = after_ns;
}

static uint32_t width_of(FILE *out)
{
    struct winsize size;
    if (ioctl(outlet_fd(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    uint64_t n;
    if (columns && slice_to_u64(slice_of(columns), 1000, &n) && n)
        return (uint32_t)n;
    return WIDTH_UNKNOWN;
}

static void emit(struct progress *p)
{
    (void)outlet_raw(p->out, buf_slice(&p->update)); /* names in it are harmless (add_name) */
    buf_clear(&p->update);
}

static void redraw(struct progress *p)
{
    buf_addf(&p->update, "\r%s\033[K", buf_text(&p->line));
    emit(p);
}

void progress_show(struct progress *p, const struct progress_facts *f, int64_t now_ns)
{
    bool first = !p->pace.begun;
    if (!first && now_ns < p->due_ns)
        return;
    pace_note(&p->pace, f->runs, f->queued, now_ns);
    double rate = pace_rate(&p->pace, f->runs, now_ns);
    p->wait_ns = 0;
    struct progress_facts facts = *f;
    facts.growing = pace_grows(&p->pace);
    f = &facts;
    p->due_ns = now_ns + (p->terminal ? REDRAW_NS : first ? p->first_ns : SENTENCE_NS);
    if (p->terminal) {
        buf_clear(&p->line);
        progress_line(f, rate, width_of(p->out), p->style, &p->line);
        redraw(p);
    } else if (!first) { /* short work says nothing */
        progress_sentence(f, rate, &p->update);
        buf_addc(&p->update, '\n');
        emit(p);
    }
}

void progress_note(struct progress *p, const char *text)
{
    if (p->line.n)
        buf_adds(&p->update, CLEAR);
    emit(p);
    (void)fputs(text, p->out); /* it may be of any length */
    buf_addc(&p->update, '\n');
    buf_add(&p->update, buf_slice(&p->line));
    emit(p);
}

/* While there are no runs: what is waited for. A log gets it only when that takes long. */
static void show_waiting(struct progress *p, const char *text, int64_t now_ns)
{
    if (!p->wait_ns) {
        p->wait_ns = now_ns;
        p->due_ns = now_ns + (p->terminal ? 0 : SENTENCE_NS);
    }
    if (now_ns < p->due_ns)
        return;
    p->due_ns = now_ns + (p->terminal ? REDRAW_NS : SENTENCE_NS);
    if (!p->terminal) {
        progress_note(p, text);
        return;
    }
    buf_clear(&p->line);
    (void)add_name(&p->line, text, width_of(p->out) - 1);
    redraw(p);
}

/* How far all scenarios are, now that one of them is as far as this. */
static void add_up(struct progress *p, const struct event *event, struct progress_facts *out)
{
    uint32_t at = 0;
    while (at < p->parts.n && strcmp(p->parts.at[at].scenario, event->scenario) != 0)
        at++;
    if (at == p->parts.n)
        vec_push(&p->parts, (struct part){.scenario = event->scenario});
    p->parts.at[at].runs = event->runs;
    p->parts.at[at].queued = event->queued;
    p->parts.at[at].found = event->found;
    for (uint32_t i = 0; i < p->parts.n; i++) {
        out->runs += p->parts.at[i].runs;
        out->queued += p->parts.at[i].queued;
        out->findings += p->parts.at[i].found;
    }
    out->scenario = event->scenario;
    if (p->parts.n > 1) {
        (void)snprintf(p->title, sizeof p->title, "%u scenarios", (unsigned)p->parts.n);
        out->scenario = p->title;
    }
}

void progress_event(struct progress *p, const struct event *event, int64_t now_ns)
{
    static const char *const phases[RUN_PURPOSES] = {
        [RUN_BASELINE] = "baseline", [RUN_SEARCH] = "search",     [RUN_AUDIT] = "search",
        [RUN_CHECK] = "search",      [RUN_SHRINK] = "confirming", [RUN_CONFIRM] = "confirming",
        [RUN_REPLAY] = "replay"};
    if (event->type == EVENT_CAMPAIGN) {
        p->max_runs = event->max_runs;
        p->max_time_ns = event->max_time_ns;
    } else if (event->type == EVENT_WAITING) {
        show_waiting(p, event->text, now_ns);
    } else if (event->type == EVENT_RUN_BEGINS) {
        struct progress_facts facts = {.elapsed_ns = event->at_ns,
                                       .max_time_ns = p->max_time_ns,
                                       .max_runs = p->max_runs,
                                       .phase = phases[event->purpose]};
        add_up(p, event, &facts);
        progress_show(p, &facts, now_ns);
    }
}

void progress_end(struct progress *p)
{
    if (!p)
        return;
    if (p->line.n) {
        buf_adds(&p->update, CLEAR);
        emit(p);
    }
    buf_deinit(&p->line);
    buf_deinit(&p->update);
    vec_deinit(&p->parts);
    mem_free(p);
}
