/* SPDX-License-Identifier: Apache-2.0
 *
 * When and where progress is said; progress_line.c knows the words.
 *
 * 1. Each update is one write, past the filter of the stream: it redraws a line.
 * 2. What is on the screen is remembered, so that it is drawn again below a note. */
#include "report/progress.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/outlet.h"

#define MS_NS         1000000LL
#define REDRAW_NS     (100 * MS_NS)
#define SENTENCE_NS   (5000 * MS_NS)
#define RATE_TIME_S   3.0 /* how long the past counts */
#define CLEAR         "\r\033[K"
#define WIDTH_UNKNOWN 80

struct progress {
    FILE *out;
    bool terminal;
    const struct style *style;
    struct buf line;   /* what is on the screen */
    struct buf update; /* in the making */
    int64_t due_ns;    /* when the next update is */
    bool begun;
    uint64_t runs;   /* as of the last update */
    int64_t at_ns;   /* when that was */
    double rate;     /* -1: not known yet */
    uint64_t total;  /* runs made and queued, as of then */
    double growth;   /* of that, per second */
    int64_t wait_ns; /* when waiting began; 0: nothing is waited for */
};

/* More is found than this part of what is done: what is queued is not all. */
static const double GROWING = 0.1;

struct progress *progress_new(FILE *out, bool terminal)
{
    struct progress *p = mem_zero(sizeof *p);
    *p = (struct progress){.out = out,
                           .terminal = terminal,
                           .style = terminal ? style_for(outlet_fd(out), "auto") : &style_plain,
                           .line = BUF_INIT(4096),
                           .update = BUF_INIT(16384),
                           .rate = -1};
    return p;
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
    outlet_raw(p->out, buf_slice(&p->update)); /* names in it are harmless (progress_line.c) */
    buf_clear(&p->update);
}

/* Runs per second, of late. Counts that go back mean that something else has begun. */
static void note_rate(struct progress *p, const struct progress_facts *f, int64_t now_ns)
{
    double s = (double)(now_ns - p->at_ns) / 1e9;
    if (!p->begun || f->runs < p->runs) {
        p->rate = -1;
    } else if (s > 0) {
        double now = (double)(f->runs - p->runs) / s;
        double weight = p->rate < 0 ? 1 : 1 - exp(-s / RATE_TIME_S);
        double more = f->runs + f->queued > p->total ? (double)(f->runs + f->queued - p->total) : 0;
        p->rate = (p->rate < 0 ? 0 : p->rate * (1 - weight)) + now * weight;
        p->growth = p->growth * (1 - weight) + more / s * weight;
    }
    p->total = f->runs + f->queued;
    p->begun = true;
    p->runs = f->runs;
    p->at_ns = now_ns;
}

void progress_show(struct progress *p, const struct progress_facts *f, int64_t now_ns)
{
    bool first = !p->begun;
    if (!first && now_ns < p->due_ns)
        return;
    note_rate(p, f, now_ns);
    p->wait_ns = 0;
    struct progress_facts facts = *f;
    facts.growing = p->growth > GROWING * p->rate;
    f = &facts;
    p->due_ns = now_ns + (p->terminal ? REDRAW_NS : SENTENCE_NS);
    if (p->terminal) {
        buf_clear(&p->line);
        progress_line(f, p->rate, width_of(p->out), p->style, &p->line);
        buf_adds(&p->update, "\r");
        buf_add(&p->update, buf_slice(&p->line));
        buf_adds(&p->update, "\033[K");
        emit(p);
    } else if (!first) { /* short work says nothing */
        progress_sentence(f, p->rate, &p->update);
        buf_addc(&p->update, '\n');
        emit(p);
    }
}

void progress_waiting(struct progress *p, const char *text, int64_t now_ns)
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
    progress_text(text, width_of(p->out), &p->line);
    buf_adds(&p->update, "\r");
    buf_add(&p->update, buf_slice(&p->line));
    buf_adds(&p->update, "\033[K");
    emit(p);
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
    mem_free(p);
}
