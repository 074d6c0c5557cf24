/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan's collectors: each is asked again and again, or listens. What comes of one that fails is
 * a gap in its series, and its first reason is kept: a run is not broken by it, for a service that
 * is killed does not answer.
 *
 * What is read is bounded: ANSWER_BYTES of a page, BODY_BYTES of traces, what a command prints (of
 * live/command.h), FILE_BYTES of a file each time. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/exposition.h"
#include "data/otlp.h"
#include "http/client.h"
#include "http/server.h"
#include "io/sys.h"
#include "lab/collect_int.h"
#include "wire/coding.h"

enum { ANSWER_BYTES = 4 << 20, BODY_BYTES = 8 << 20, FILE_BYTES = 256 << 10 };

/* One collector. */
struct collector_run {
    struct collect *all;
    uint32_t index;
    struct timer next;
    struct command *command;  /* under way */
    struct client_call *call; /* likewise */
    struct addr at;
    struct server *server;
    const char *path; /* of a file */
    off_t read;       /* so much of it; -1: it has not been there yet */
};

struct collect {
    struct lab *lab;
    struct collector_run *each;
    struct client *client; /* NULL: nobody asks by HTTP */
    struct measure *measure;
};

static const struct plan_collect *plan_of(const struct collector_run *c)
{
    return &c->all->lab->plan->collects.at[c->index];
}

static struct plan_source *source_of(const struct collector_run *c)
{
    return &c->all->lab->run->sources.at[c->index];
}

/* ---- samples ---- */

static void sample_add(struct collector_run *c, slice metric, double value)
{
    const struct plan_collect *p = plan_of(c);
    source_of(c)->samples++;
    lab_sample(c->all->lab, metric, p->of.n ? p->of : p->name, p->node, value);
}

/* All samples of a page; how many there were. */
static uint64_t page_take(struct collector_run *c, slice text)
{
    struct exposition x = {.rest = text};
    struct exposition_sample s;
    uint64_t n = 0;
    while (exposition_next(&x, &s)) {
        n++;
        if (plan_collect_keeps(plan_of(c), s.name))
            sample_add(c, s.name, s.value);
    }
    return n;
}

/* metric lines, or one number. */
static uint64_t output_take(struct collector_run *c, slice text)
{
    struct exposition_sample s;
    uint64_t n = 0;
    double value;
    slice line;
    if (slice_to_real(slice_trim(text), &value)) {
        sample_add(c, plan_of(c)->name, value);
        return 1;
    }
    while (slice_cut(&text, '\n', &line))
        if (exposition_line(line, &s)) {
            n++;
            sample_add(c, s.name, s.value);
        }
    return n;
}

/* An answer did not come, or is of no use. */
static void source_fail(struct collector_run *c, const char *why, slice more)
{
    struct plan_source *s = source_of(c);
    s->failed++;
    if (s->why.n)
        return;
    more.n = more.n < 300 ? more.n : 300;
    s->why = slice_of(arena_printf(&c->all->lab->run->arena, "%s%s%.*s", why, more.n ? ": " : "",
                                   SLICE_ARG(more)));
}

static void ask_again(struct collector_run *c, int64_t begun_ns)
{
    int64_t at = begun_ns + plan_of(c)->every_ns, now = clock_ns();
    timer_start(&c->all->lab->loop, &c->next, at > now ? at : now);
}

/* ---- those that are asked ---- */

static void on_command(void *user, const struct command_result *r)
{
    struct collector_run *c = user;
    bool ok = r->started && r->exit_code == 0;
    c->command = NULL;
    if (r->timed_out)
        source_fail(c, "it did not end in time", slice_last_line(r->output));
    else if (!ok)
        source_fail(c, "its command failed",
                    r->error ? slice_of(r->error) : slice_last_line(r->output));
    else if (!(plan_of(c)->keep.n ? page_take(c, r->output) : output_take(c, r->output)))
        source_fail(c, "it printed no sample, such as \"metric queue 12\"",
                    slice_last_line(r->output));
    ask_again(c, r->start_ns);
}

static void command_ask(struct collector_run *c)
{
    const struct plan_collect *p = plan_of(c);
    struct lab *lab = c->all->lab;
    struct command_request r = lab_request(lab, p->source, p->within_ns);
    c->command = command_start(lab->keeper, &r, on_command, c);
}

static void on_page(void *user, const struct client_answer *a)
{
    struct collector_run *c = user;
    c->call = NULL;
    if (a->error || !a->head)
        source_fail(c, a->error ? a->error : "no answer", SLICE(""));
    else if (a->head->status != 200)
        source_fail(c, "it did not answer 200", a->body);
    else if (a->cut || a->coded)
        source_fail(c, a->cut ? "its answer is too long" : a->coded, SLICE(""));
    else if (!page_take(c, a->body))
        source_fail(c, "its answer has no sample", a->body);
    ask_again(c, a->start_ns ? a->start_ns : clock_ns());
}

static void page_ask(struct collector_run *c)
{
    const struct plan_collect *p = plan_of(c);
    struct head head = {.method = SLICE("GET"),
                        .scheme = SLICE("http"),
                        .authority = p->authority,
                        .target = p->target};
    struct client_request r = {
        .to = &c->at, .head = &head, .timeout_ns = p->within_ns, .body_max = ANSWER_BYTES};
    c->call = client_send(c->all->client, &r, on_page, c);
}

/* Whole lines of what was added; what is left of the last one comes with the next. */
static void lines_take(struct collector_run *c, slice text)
{
    slice line, rest = text;
    double value;
    size_t whole = text.n;
    while (whole > 0 && text.p[whole - 1] != '\n')
        whole--;
    c->read += (off_t)(whole || text.n < FILE_BYTES ? whole : text.n);
    for (rest.n = whole; slice_cut(&rest, '\n', &line);)
        if (plan_collect_line(plan_of(c), line, &value))
            sample_add(c, plan_of(c)->name, value);
}

static void file_ask(struct collector_run *c)
{
    int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        source_fail(c, "the file cannot be read", slice_of(fd < 0 ? strerror(errno) : ""));
        c->read = c->read < 0 ? 0 : c->read; /* all that is in it when it comes is new */
    } else if (c->read < 0) {
        c->read = st.st_size;
    } else {
        char *text = mem_zero(FILE_BYTES);
        c->read = st.st_size < c->read ? 0 : c->read; /* it was begun anew */
        ssize_t n = pread(fd, text, FILE_BYTES, c->read);
        if (n > 0)
            lines_take(c, (slice){text, (size_t)n});
        mem_free(text);
    }
    if (fd >= 0)
        sys_close(fd);
    ask_again(c, clock_ns());
}

static void on_next(struct timer *t)
{
    struct collector_run *c = OWNER(t, struct collector_run, next);
    source_of(c)->tries++;
    switch (plan_of(c)->kind) {
    case COLLECT_COMMAND: command_ask(c); break;
    case COLLECT_PROMETHEUS: page_ask(c); break;
    case COLLECT_FILE: file_ask(c); break;
    case COLLECT_OTLP:
    case COLLECT_LINE: break;
    }
}

/* ---- traces ---- */

static void on_span(void *user, const struct otlp_span *span)
{
    struct collector_run *c = user;
    struct lab *lab = c->all->lab;
    struct buf text = BUF_INIT(PLAN_METRIC_BYTES);
    buf_addf(&text, "%.*s%s%.*s", SLICE_ARG(span->service), span->service.n ? " " : "",
             SLICE_ARG(span->name));
    slice call = buf_slice(&text);
    int32_t node = plan_node(lab->plan, span->service);
    source_of(c)->samples++;
    lab_sample(lab, SLICE("call-ms"), call, node, (double)span->took_ns / 1e6);
    lab_sample(lab, SLICE("call-failed"), call, node, span->failed);
    lab_spanned(lab, node, call);
    buf_deinit(&text);
}

static void on_traces(struct server_request *q)
{
    struct collector_run *c = q->ctx;
    bool json = slice_starts(head_get(q->head, SLICE("content-type")), SLICE("application/json"));
    slice coding = coding_of(q->head);
    struct buf plain = BUF_INIT(BODY_BYTES);
    struct err e = {0};
    const char *coded = coding.n ? coding_decode(coding, q->body, &plain) : NULL;
    slice body = coding.n ? buf_slice(&plain) : q->body;
    int status = 0;
    source_of(c)->tries++;
    if (coded)
        status = err_set(&e, 0, 0, "the body %s", coded);
    else if (!q->local)
        status = err_set(&e, 0, 0, "send it to the address itself, without Origin");
    else
        status =
            json ? otlp_read_json(body, on_span, c, &e) : otlp_read_protobuf(body, on_span, c, &e);
    if (status)
        source_fail(c, "a request was refused", slice_of(e.text));
    if (status)
        server_answer(q, 400, "text/plain", slice_of(e.text));
    else
        server_answer(q, 200, json ? "application/json" : "application/x-protobuf",
                      json ? SLICE("{}") : SLICE(""));
    buf_deinit(&plain);
}

/* Where exporters of OpenTelemetry look by themselves, if the plan does not say otherwise. */
static void name_endpoint(const struct collector_run *c)
{
    struct lab *lab = c->all->lab;
    slice name = SLICE("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    struct buf url = BUF_INIT(300);
    for (uint32_t i = 0; i < lab->env.n; i++)
        if (slice_eq(lab->env.at[i].name, name))
            return;
    buf_adds(&url, "http://");
    addr_print(&c->at, &url);
    buf_adds(&url, "/v1/traces");
    vec_push(&lab->env, (struct text_pair){name, buf_keep(&url, &lab->arena)});
}

static int server_open(struct collector_run *c, struct err *e)
{
    static const struct server_route routes[] = {
        {"POST", "/v1/traces", BODY_BYTES, on_traces},
    };
    struct server_options o = {
        .loop = &c->all->lab->loop, .routes = routes, .n_routes = 1, .ctx = c};
    if (server_new(&o, &c->at, &c->server, e))
        return -1;
    name_endpoint(c);
    return 0;
}

/* ---- the whole ---- */

static int collector_open(struct collector_run *c, struct err *e)
{
    const struct plan_collect *p = plan_of(c);
    struct lab *lab = c->all->lab;
    c->next.fire = on_next;
    c->read = -1;
    switch (p->kind) {
    case COLLECT_PROMETHEUS:
        if (!c->all->client)
            c->all->client = client_new(&lab->loop, false);
        return addr_parse(p->authority, "prometheus", &c->at, e);
    case COLLECT_OTLP:
        return addr_parse(p->source, "otlp", &c->at, e) || server_open(c, e) ? -1 : 0;
    case COLLECT_FILE:
        c->path = p->source.p[0] == '/'
                      ? arena_copy(&lab->arena, p->source.p, p->source.n)
                      : arena_printf(&lab->arena, "%.*s/%.*s", SLICE_ARG(lab->plan->dir),
                                     SLICE_ARG(p->source));
        break;
    case COLLECT_COMMAND:
    case COLLECT_LINE: break;
    }
    return 0;
}

int collect_open(struct lab *lab, struct err *e)
{
    uint32_t n = lab->plan->collects.n;
    struct collect *all = mem_zero(sizeof *all);
    all->lab = lab;
    all->each = mem_zero((n + 1) * sizeof *all->each);
    lab->collect = all;
    for (uint32_t i = 0; i < n; i++) {
        all->each[i].all = all;
        all->each[i].index = i;
        vec_push(&lab->run->sources, (struct plan_source){0});
    }
    for (uint32_t i = 0; i < n; i++)
        if (collector_open(&all->each[i], e))
            return -1;
    return 0;
}

void collect_start(struct lab *lab)
{
    struct collect *all = lab->collect;
    all->measure = measure_start(lab);
    for (uint32_t i = 0; i < lab->plan->collects.n; i++) {
        enum plan_collect_kind kind = lab->plan->collects.at[i].kind;
        if (kind != COLLECT_OTLP && kind != COLLECT_LINE)
            timer_start(&lab->loop, &all->each[i].next, lab->loop.now_ns);
    }
}

void collect_stop(struct lab *lab)
{
    struct collect *all = lab->collect;
    if (!all)
        return;
    measure_stop(all->measure);
    all->measure = NULL;
    for (uint32_t i = 0; i < lab->plan->collects.n; i++) {
        struct collector_run *c = &all->each[i];
        timer_stop(&lab->loop, &c->next);
        if (c->command)
            command_cancel(c->command);
        if (c->call)
            client_cancel(c->call);
        c->command = NULL;
        c->call = NULL;
    }
}

void collect_free(struct lab *lab)
{
    struct collect *all = lab->collect;
    if (!all)
        return;
    collect_stop(lab);
    for (uint32_t i = 0; i < lab->plan->collects.n; i++)
        server_free(all->each[i].server);
    if (all->client)
        client_free(all->client);
    mem_free(all->each);
    mem_free(all);
    lab->collect = NULL;
}

bool collect_heard(struct lab *lab, int32_t node, int32_t client, slice text)
{
    slice who =
        node != PLAN_NONE ? lab->plan->nodes.at[node].name : lab->plan->clients.at[client].name;
    struct exposition_sample s;
    double value;
    if (exposition_line(text, &s)) {
        lab_sample(lab, s.name, who, node, s.value);
        return true;
    }
    for (uint32_t i = 0; lab->watching && i < lab->plan->collects.n; i++) {
        const struct plan_collect *c = &lab->plan->collects.at[i];
        if (c->kind != COLLECT_LINE || (c->of.n && !slice_eq(c->of, who)) ||
            !plan_collect_line(c, text, &value))
            continue;
        lab->run->sources.at[i].samples++;
        lab_sample(lab, c->name, who, node, value);
    }
    return false;
}
