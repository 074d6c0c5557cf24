/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wire_case.h"

#include <stdio.h>

#include "support/wire_frames.h"
#include "support/wire_text.h"

enum { TEXT_MAX = 16 << 20, LINES_MAX = 4096 };

/* The file being read. */
struct reader {
    struct wire_cases *cases;
    const char *file; /* its name without folders */
    slice *lines;
    uint32_t n_lines, at;
    struct wire_case common, now; /* lines before the first case concern all */
    bool begun;
    struct frame_writer frames;
    struct buf feed, events, out, passed;
};

/* Everything a line can be: its first word, and what takes the rest. */
typedef bool line_function(struct reader *r, slice rest);

void wire_case_init(struct wire_case *c)
{
    *c = (struct wire_case){
        .server = true,
        .limits = {.head_bytes = 64 * 1024,
                   .head_fields = 200,
                   .streams = 100,
                   .resets = 1000,
                   .interims = 100},
        .on_end = SLICE("head 200 length=2; data ok; end"),
    };
}

void wire_case_deinit(struct wire_case *c)
{
    vec_deinit(&c->steps);
}

static slice keep(struct reader *r, struct buf *b)
{
    slice copy = slice_copy(&r->cases->arena, buf_slice(b));
    buf_deinit(b);
    return copy;
}

static void end_feed(struct reader *r)
{
    if (r->feed.n)
        vec_push(&r->now.steps, (struct wire_step){STEP_FEED, keep(r, &r->feed)});
}

static bool add_step(struct reader *r, enum wire_step_kind kind, slice text)
{
    end_feed(r);
    vec_push(&r->now.steps, (struct wire_step){kind, slice_copy(&r->cases->arena, text)});
    return true;
}

static void end_case(struct reader *r)
{
    if (!r->begun)
        return;
    end_feed(r);
    r->now.events = keep(r, &r->events);
    r->now.out = keep(r, &r->out);
    if (r->passed.n)
        r->now.passed = keep(r, &r->passed);
    vec_push(&r->cases->list, r->now);
    frame_writer_deinit(&r->frames);
    r->begun = false;
}

/* ---- lines that give ---- */

static bool line_case(struct reader *r, slice name)
{
    end_case(r);
    r->now = r->common;
    struct buf title = BUF_INIT(1024);
    buf_addf(&title, "%s:%u %.*s", r->file, r->at + 1, SLICE_ARG(name));
    r->now.name = keep(r, &title).p;
    r->begun = true;
    r->feed = r->events = r->out = r->passed = BUF_INIT(TEXT_MAX);
    frame_writer_init(&r->frames);
    return name.n > 0;
}

static bool take_role(struct reader *r, slice rest, bool server)
{
    slice word;
    r->now.server = server;
    if (!server)
        r->now.on_end = (slice){0};
    while (slice_word(&rest, &word)) {
        if (slice_is(word, "bare"))
            r->now.bare = true;
        else if (slice_is(word, "h1") || slice_is(word, "h2"))
            r->now.h2 = slice_is(word, "h2");
        else
            return false;
    }
    return true;
}

static bool line_server(struct reader *r, slice rest)
{
    return take_role(r, rest, true);
}

static bool line_client(struct reader *r, slice rest)
{
    return take_role(r, rest, false);
}

static bool line_limit(struct reader *r, slice rest)
{
    struct wire_limits *l = &r->now.limits;
    const struct {
        const char *name;
        uint32_t *to;
    } rows[] = {{"head-bytes", &l->head_bytes},
                {"head-fields", &l->head_fields},
                {"streams", &l->streams},
                {"resets", &l->resets},
                {"interims", &l->interims}};
    slice name;
    uint64_t value;
    if (!slice_word(&rest, &name) || !slice_to_u64(slice_trim(rest), UINT32_MAX, &value))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (slice_is(name, rows[i].name)) {
            *rows[i].to = (uint32_t)value;
            return true;
        }
    }
    return false;
}

static bool line_on(struct reader *r, slice rest)
{
    slice event;
    slice_word(&rest, &event);
    rest = slice_copy(&r->cases->arena, slice_trim(rest));
    if (slice_is(event, "head"))
        r->now.on_head = rest;
    else if (slice_is(event, "end"))
        r->now.on_end = rest;
    else
        return false;
    return true;
}

static bool line_hands_off(struct reader *r, slice rest)
{
    r->now.hands_off = true;
    return rest.n == 0;
}

static bool line_all_frames(struct reader *r, slice rest)
{
    r->now.all = true;
    return rest.n == 0;
}

static bool take_line(struct reader *r);

/* `> repeat N`, the lines up to `> done`. */
static bool repeat_lines(struct reader *r, slice count)
{
    uint64_t n;
    uint32_t first = r->at + 1, end = first;
    if (!slice_to_u64(count, 1 << 20, &n))
        return false;
    while (end < r->n_lines && !slice_is(r->lines[end], "> done"))
        end++;
    bool well = end < r->n_lines;
    for (uint64_t i = 0; well && i < n; i++)
        for (r->at = first; well && r->at < end; r->at++)
            well = take_line(r);
    if (well)
        r->at = end;
    return well;
}

static bool line_bytes(struct reader *r, slice rest)
{
    if (slice_starts(rest, SLICE("repeat ")))
        return repeat_lines(r, slice_from(rest, 7));
    return r->now.h2 ? frame_write(&r->frames, rest, &r->feed) : text_unescape(rest, &r->feed);
}

static bool line_act(struct reader *r, slice rest)
{
    return add_step(r, STEP_ACT, rest);
}

static bool line_pause(struct reader *r, slice rest)
{
    return add_step(r, STEP_ACT, rest) && rest.n == 0;
}

static bool line_eof(struct reader *r, slice rest)
{
    return add_step(r, STEP_EOF, rest);
}

static bool line_broken(struct reader *r, slice rest)
{
    return add_step(r, STEP_BROKEN, rest);
}

static bool line_shutdown(struct reader *r, slice rest)
{
    return add_step(r, STEP_SHUTDOWN, rest);
}

static bool line_part(struct reader *r, slice rest)
{
    return add_step(r, STEP_PART, rest);
}

/* ---- lines that expect ---- */

static bool line_event(struct reader *r, slice rest)
{
    bool well = text_unescape(rest, &r->events);
    buf_addc(&r->events, '\n');
    return well;
}

static bool line_out(struct reader *r, slice rest)
{
    bool well = text_unescape(rest, &r->out);
    if (r->now.h2)
        buf_addc(&r->out, '\n');
    return well;
}

/* What the owner answers by default. */
static bool line_ok(struct reader *r, slice rest)
{
    if (r->now.h2) {
        buf_addf(&r->out, "HEADERS %.*s | :status: 200 | content-length: 2\n", SLICE_ARG(rest));
        buf_addf(&r->out, "DATA %.*s end | ok\n", SLICE_ARG(rest));
        return rest.n > 0;
    }
    buf_adds(&r->out, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n");
    if (slice_is(rest, "close"))
        buf_adds(&r->out, "Connection: close\r\n");
    buf_adds(&r->out, "\r\nok");
    return rest.n == 0 || slice_is(rest, "close");
}

static bool line_refused(struct reader *r, slice rest)
{
    r->now.refused = slice_copy(&r->cases->arena, rest);
    r->now.finish = FINISH_CLOSE;
    if (r->now.error.n == 0)
        r->now.error = SLICE("*");
    return rest.n > 4;
}

static bool line_passed(struct reader *r, slice rest)
{
    return text_unescape(rest, &r->passed);
}

static bool line_finish(struct reader *r, slice rest)
{
    if (slice_is(rest, "close"))
        r->now.finish = FINISH_CLOSE;
    else if (slice_is(rest, "reset"))
        r->now.finish = FINISH_RESET;
    else
        return false;
    return true;
}

static bool line_error(struct reader *r, slice rest)
{
    r->now.error = slice_copy(&r->cases->arena, rest);
    return rest.n > 0;
}

static bool line_open(struct reader *r, slice rest)
{
    uint64_t n;
    if (!slice_to_u64(rest, UINT32_MAX, &n))
        return false;
    r->now.open = (uint32_t)n;
    return true;
}

static bool line_reading(struct reader *r, slice rest)
{
    r->now.reading = slice_copy(&r->cases->arena, rest);
    return slice_is(rest, "yes") || slice_is(rest, "no");
}

static const struct {
    const char *word;
    bool anywhere; /* also before the first case */
    line_function *take;
} rows[] = {
    {"case", true, line_case},
    {"server", true, line_server},
    {"client", true, line_client},
    {"limit", true, line_limit},
    {"on", true, line_on},
    {"hands-off", true, line_hands_off},
    {"all-frames", true, line_all_frames},
    {">", false, line_bytes},
    {"!", false, line_act},
    {"pause", false, line_pause},
    {"eof", false, line_eof},
    {"broken", false, line_broken},
    {"shutdown", false, line_shutdown},
    {"part", false, line_part},
    {"=", false, line_event},
    {"<", false, line_out},
    {"ok", false, line_ok},
    {"refused", false, line_refused},
    {">>", false, line_passed},
    {"finish", false, line_finish},
    {"error", false, line_error},
    {"open", false, line_open},
    {"reading", false, line_reading},
};

static bool take_line(struct reader *r)
{
    slice rest = r->lines[r->at], word;
    if (!slice_word(&rest, &word) || word.p[0] == '#')
        return true;
    if (rest.n)
        rest = slice_from(rest, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!slice_is(word, rows[i].word))
            continue;
        if (!r->begun && !rows[i].anywhere)
            return false;
        bool well = rows[i].take(r, rest);
        if (!r->begun)
            r->common = r->now;
        return well;
    }
    return false;
}

static int read_file(const char *path, struct buf *text, struct err *e)
{
    FILE *f = fopen(path, "rb");
    char bytes[4096];
    size_t n;
    if (!f)
        return err_set(e, 0, 0, "cannot be opened");
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        buf_add(text, (slice){bytes, n});
    fclose(f);
    return text->full ? err_set(e, 0, 0, "is too large") : 0;
}

int wire_cases_load(struct wire_cases *cases, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct reader r = {.cases = cases, .file = slash ? slash + 1 : path};
    struct buf text = BUF_INIT(TEXT_MAX);
    wire_case_init(&r.common);
    r.now = r.common;
    snprintf(e->source, sizeof e->source, "%s", path);
    int status = read_file(path, &text, e);
    slice rest = buf_slice(&text), line;
    r.lines = mem_alloc(LINES_MAX * sizeof *r.lines);
    while (r.n_lines < LINES_MAX && slice_cut(&rest, '\n', &line))
        r.lines[r.n_lines++] = line;
    if (rest.p)
        status = err_set(e, LINES_MAX, 0, "there are too many lines");
    for (; status == 0 && r.at < r.n_lines; r.at++)
        if (!take_line(&r))
            status = err_set(e, r.at + 1, 0, "this line is not understood");
    end_case(&r);
    mem_free(r.lines);
    buf_deinit(&text);
    return status;
}

void wire_cases_deinit(struct wire_cases *cases)
{
    for (uint32_t i = 0; i < cases->list.n; i++)
        wire_case_deinit(&cases->list.at[i]);
    vec_deinit(&cases->list);
    arena_deinit(&cases->arena);
}
