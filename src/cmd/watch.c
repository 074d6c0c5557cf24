/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/watch.h"

#include <errno.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "cmd/reports.h"
#include "report/report.h"

static void warn(const struct watch *w, const char *text)
{
    struct buf line = BUF_INIT(4096);
    buf_addf(&line, "outfox: %s", text);
    if (w->progress)
        progress_note(w->progress, buf_text(&line));
    else
        fprintf(stderr, "%s\n", buf_text(&line));
    buf_deinit(&line);
}

/* A finding as it comes, with what its calls were if that can be read. */
static void announce(struct session *s, const struct event *event)
{
    struct buf text = BUF_INIT(1 << 20);
    struct run plain = {0}, seen = {0};
    struct arena keep = {0};
    struct err ignored = {0};
    uint32_t i = 0;
    while (strcmp(session_scenario(s, i), event->scenario) != 0)
        i++;
    struct campaign *c = s->campaigns.at[i];
    bool known = campaign_run_of(c, FAULTLOAD_EMPTY, &keep, &plain, &ignored) == 0 &&
                 campaign_run_of(c, event->faultload, &keep, &seen, &ignored) == 0;
    report_found(reports_title(s, i), event->as_finding, event->as_remark,
                 known ? &plain.trace : NULL, known ? &seen.trace : NULL,
                 style_for(2, s->args->color), &text);
    progress_note(s->watch.progress, buf_text(&text));
    vec_deinit(&plain.trace.calls);
    vec_deinit(&seen.trace.calls);
    arena_deinit(&keep);
    buf_deinit(&text);
}

/* Each line is written as it comes: somebody may be reading along. */
static void write_event(struct session *s, const struct event *event)
{
    struct watch *w = &s->watch;
    struct buf line = BUF_INIT(1 << 22);
    event_print(event, &s->names, &s->faultloads, &line);
    buf_addc(&line, '\n');
    errno = 0;
    if (!w->failed && (fwrite(line.p, 1, line.n, w->events) != line.n || fflush(w->events)))
        w->failed = errno ? errno : EIO;
    buf_deinit(&line);
}

static void take(void *ctx, const struct event *event)
{
    struct session *s = ctx;
    bool told =
        (event->type == EVENT_FINDING || event->type == EVENT_REMARK) && event->stage == STAGE_TOLD;
    if (event->type == EVENT_WARNING)
        warn(&s->watch, event->text);
    else if (s->watch.progress && told)
        announce(s, event);
    else if (s->watch.progress)
        progress_event(s->watch.progress, event, clock_ns());
    if (s->watch.events)
        write_event(s, event);
}

struct event_sink watch_sink(struct session *s)
{
    return (struct event_sink){s, take};
}

int watch_begin(struct session *s)
{
    const char *file = s->args->events;
    errno = 0;
    if (file)
        s->watch.events = strcmp(file, "-") == 0 ? stdout : outlet_open(file, false);
    if (file && !s->watch.events)
        return reports_refuse("--events", file, errno);
    if (!s->args->quiet)
        s->watch.progress = progress_new(stderr, style_terminal(2));
    return 0;
}

int watch_end(struct session *s)
{
    struct watch w = s->watch;
    s->watch = (struct watch){0};
    progress_end(w.progress);
    errno = 0;
    if (w.events && w.events != stdout && fclose(w.events) && !w.failed)
        w.failed = errno ? errno : EIO;
    return w.failed ? reports_refuse("--events", s->args->events, w.failed) : 0;
}
