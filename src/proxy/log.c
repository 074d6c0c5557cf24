/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of a call: its interface, and the how manieth of its name it is. And what is written down
 * about it: one line of JSON. Lines gather in the worker's buffer, a few milliseconds at most
 * (worker.c), and go together to the log: whole lines from all workers to one descriptor, which must
 * never hold up traffic.
 *
 * 1. A regular file takes what it is given. Anything else (a pipe, a terminal) is written to when
 *    it is ready for it, never more than a pipe takes at once.
 * 2. What the reader has not taken waits in the queue, up to a bound. Beyond it whole lines are
 *    left out, and counted.
 * 3. At the end the reader is waited for, but not long, and not once somebody is in a hurry. */
#include "proxy/exchange_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/index.h"
#include "data/node.h"

enum {
    QUEUE_MAX = 1024 * 1024,
    END_MS = 2000,
    END_STEP_MS = 20,
    NAMES_MAX = 1 << 20,
    LOG_BUFFER = 256 * 1024,
    LINE_MAX_BYTES = 64 * 1024, /* a name has 8 KiB; escaped, a byte may become six */
};

/* ---- the log ---- */

struct log {
    int fd;
    bool own;
    bool file;         /* regular: it does not block */
    int64_t wall_ns;   /* add to clock_ns for the time of day */
    _Atomic int error; /* errno of the first write that failed */
    _Atomic uint64_t left_out;
    pthread_mutex_t lock; /* of what follows */
    struct buf queue;     /* lines that wait; not for a file */
    size_t taken;         /* of its beginning */
};

int log_open(const char *path, struct log **out, struct err *e)
{
    bool own = strcmp(path, "-") != 0;
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = own ? file_open_private(path, flags) : STDOUT_FILENO;
    if (fd < 0)
        return err_set(e, 0, 0, "cannot open the log %s: %s", path,
                       errno == ENXIO ? "no program reads from this pipe" : strerror(errno));
    struct stat st;
    struct log *log = mem_zero(sizeof *log);
    log->fd = fd;
    log->own = own;
    log->file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    log->wall_ns = clock_wall_ns() - clock_ns();
    log->queue = BUF_INIT(QUEUE_MAX);
    pthread_mutex_init(&log->lock, NULL);
    *out = log;
    return 0;
}

void log_close(struct log *log)
{
    if (!log)
        return;
    if (log->own)
        close(log->fd);
    buf_deinit(&log->queue);
    pthread_mutex_destroy(&log->lock);
    mem_free(log);
}

bool log_failed(const struct log *log)
{
    return log && atomic_load(&log->error) != 0;
}

uint64_t log_left_out(const struct log *log)
{
    return log ? atomic_load(&log->left_out) : 0;
}

/* Writes as long as it need not wait longer than so; returns what is left. */
static slice put(struct log *log, slice rest, int wait_ms)
{
    while (rest.n && !log_failed(log)) {
        struct pollfd ready = {log->fd, POLLOUT, 0};
        if (!log->file && poll(&ready, 1, wait_ms) <= 0)
            break;
        ssize_t n = write(log->fd, rest.p, log->file || rest.n < PIPE_BUF ? rest.n : PIPE_BUF);
        if (n >= 0)
            rest = slice_from(rest, (size_t)n);
        else if (errno != EINTR && errno != EAGAIN)
            atomic_store(&log->error, errno);
    }
    return rest;
}

/* Under the lock: from the queue to the descriptor. */
static void queue_put(struct log *log, int wait_ms)
{
    slice left = put(log, slice_from(buf_slice(&log->queue), log->taken), wait_ms);
    log->taken = log->queue.n - left.n;
    if (left.n == 0 || log->taken > QUEUE_MAX / 2) {
        if (left.n)
            memmove(log->queue.p, left.p, left.n);
        log->queue.n = left.n;
        log->taken = 0;
    }
}

bool log_flush(struct log *log, struct buf *lines)
{
    pthread_mutex_lock(&log->lock);
    if (log->file) {
        (void)put(log, buf_slice(lines), 0);
    } else if (!log_failed(log)) {
        slice rest = buf_slice(lines), line;
        while (rest.n && slice_cut(&rest, '\n', &line)) {
            if (log->queue.n + line.n + 1 > QUEUE_MAX) {
                atomic_fetch_add(&log->left_out, 1);
                continue;
            }
            buf_add(&log->queue, line);
            buf_addc(&log->queue, '\n');
        }
        queue_put(log, 0);
    }
    bool waiting = log->queue.n > 0 && !log_failed(log);
    pthread_mutex_unlock(&log->lock);
    lines->n = 0;
    return waiting;
}

void log_end(struct log *log, const _Atomic int *stop)
{
    pthread_mutex_lock(&log->lock);
    for (int ms = 0; log->queue.n && !log_failed(log); ms += END_STEP_MS) {
        if (ms >= END_MS || atomic_load(stop) == 2)
            break;
        queue_put(log, END_STEP_MS);
    }
    slice rest = slice_from(buf_slice(&log->queue), log->taken), line;
    while (rest.n && slice_cut(&rest, '\n', &line))
        atomic_fetch_add(&log->left_out, 1);
    log->queue.n = log->taken = 0;
    pthread_mutex_unlock(&log->lock);
}

/* ---- names ---- */

/* How often each call was seen, over all workers. Calls are told apart by a hash of 64 bits. */
struct naming {
    pthread_mutex_t lock;
    struct map seen;
};

struct naming *naming_new(void)
{
    struct naming *n = mem_zero(sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    return n;
}

void naming_free(struct naming *n)
{
    pthread_mutex_destroy(&n->lock);
    map_deinit(&n->seen);
    mem_free(n);
}

void naming_interface(struct exchange *x)
{
    struct buf *text = &x->worker->scratch;
    const struct head *h = x->request;
    buf_clear(text);
    if (x->grpc)
        interface_make((slice){0}, grpc_interface(h->target), NULL, text);
    else
        interface_make(h->method, h->target, exchange_setup(x)->config->normalise, text);
    x->interface = slice_copy(&x->arena, buf_slice(text));
}

uint32_t naming_count(struct naming *naming, slice service, slice interface, uint32_t payload)
{
    uint64_t key = hash_mix(hash_slice(service), hash_slice(interface));
    key = hash_mix(key, payload);
    uint32_t n = 0;
    pthread_mutex_lock(&naming->lock);
    if (naming->seen.items.n < NAMES_MAX || map_get(&naming->seen, key))
        n = map_count(&naming->seen, key) - 1;
    pthread_mutex_unlock(&naming->lock);
    return n;
}

/* ---- lines ---- */

static void add_digits(struct buf *out, uint64_t number)
{
    char digits[DIGITS_MOST];
    buf_add(out, slice_of_u64(number, digits));
}

static void add_time(struct buf *out, int64_t ns)
{
    time_t seconds = (time_t)(ns / SECONDS(1));
    static _Thread_local time_t last;
    static _Thread_local char text[24];
    if (seconds != last) { /* once a second */
        struct tm tm;
        gmtime_r(&seconds, &tm);
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
        last = seconds;
    }
    buf_adds(out, text);
    buf_addc(out, '.');
    /* with the 1 in front, and without it, there are six digits */
    char digits[DIGITS_MOST];
    buf_add(out, slice_from(slice_of_u64((uint64_t)(1000000 + ns % SECONDS(1) / 1000), digits), 1));
    buf_addc(out, 'Z');
}

/* `,"name":` */
#define KEY(name) SLICE(",\"" name "\":")

static void add_number(struct buf *out, slice key, uint64_t number)
{
    buf_add(out, key);
    add_digits(out, number);
}

/* A text that needs no escapes, or null. */
static void add_word(struct buf *out, slice key, slice text)
{
    buf_add(out, key);
    if (!text.n) {
        buf_adds(out, "null");
        return;
    }
    buf_addc(out, '"');
    buf_add(out, text);
    buf_addc(out, '"');
}

static void add_outcome(struct buf *out, slice key, outcome o)
{
    buf_add(out, key);
    if (!o) {
        buf_adds(out, "null");
        return;
    }
    buf_addc(out, '"');
    if (outcome_kind(o) == OUT_STATUS) /* nearly all, and so the short way */
        add_digits(out, outcome_code(o));
    else
        outcome_print(o, out);
    buf_addc(out, '"');
}

static void add_line(struct buf *out, struct buf *text, const struct call_record *r, int64_t now_ns,
                     int64_t wall_ns)
{
    buf_adds(out, "{\"time\":\"");
    add_time(out, r->start_ns + wall_ns);
    buf_addc(out, '"');
    buf_add(out, KEY("service"));
    buf_add_json_string(out, r->service);
    buf_clear(text);
    buf_add(text, r->service);
    buf_addc(text, ' ');
    buf_add(text, r->interface);
    if (r->payload)
        buf_addf(text, " {%08x}", (unsigned)r->payload);
    if (r->n) {
        buf_adds(text, " #");
        add_digits(text, r->n);
    }
    buf_add(out, KEY("call"));
    buf_add_json_string(out, buf_slice(text));
    add_word(out, KEY("protocol"), r->protocol);
    add_outcome(out, KEY("outcome"), r->seen);
    add_outcome(out, KEY("reply"), r->reply);
    buf_add(out, KEY("fault"));
    if (r->fault.n)
        buf_add_json_string(out, r->fault);
    else
        buf_adds(out, "null");
    if (r->mode != MODE_NONE) {
        buf_clear(text);
        mode_print(r->mode, text);
        buf_add(out, KEY("mode"));
        buf_add_json_string(out, buf_slice(text));
    } else {
        buf_adds(out, ",\"mode\":null");
    }
    buf_add(out, KEY("fired"));
    buf_adds(out, r->fired ? "true" : "false");
    add_number(out, KEY("duration_us"), (uint64_t)(now_ns - r->start_ns) / 1000);
    if (r->answer_ns)
        add_number(out, KEY("service_us"), (uint64_t)(r->answer_ns - r->forward_ns) / 1000);
    else
        buf_adds(out, ",\"service_us\":null");
    add_number(out, KEY("request_bytes"), r->request_bytes);
    add_number(out, KEY("response_bytes"), r->response_bytes);
    buf_add(out, KEY("retried"));
    buf_adds(out, r->resent ? "true" : "false");
    buf_add(out, KEY("error"));
    if (r->error)
        buf_add_json_string(out, slice_of(r->error));
    else
        buf_adds(out, "null");
    buf_adds(out, "}\n");
}

void record_call(struct worker *w, const struct call_record *r)
{
    struct log *log = w->current->setup->log;
    struct buf *lines = &w->log;
    if (lines->n + LINE_MAX_BYTES > LOG_BUFFER)
        (void)log_flush(log, lines);
    lines->max = LOG_BUFFER;
    size_t before = lines->n;
    add_line(lines, &w->scratch, r, clock_ns(), log->wall_ns);
    if (lines->full) { /* half a line would spoil the next one, too */
        lines->n = before;
        lines->full = false;
        atomic_fetch_add(&log->left_out, 1);
    }
}
