/* SPDX-License-Identifier: Apache-2.0 */
#include "api/feed.h"

#include "base/clock.h"
#include "data/json.h"

enum { TURN_READERS = 64, TURN_BYTES = 1 << 20, PIECE_LEAST = 16 * 1024, PIECE_MOST = 256 * 1024 };

#define TURN_NS  MS(100)
#define STATE_NS MS(500)
#define PING_NS  SECONDS(15)
#define KEEP_NS  SECONDS(30) /* events are kept for who comes back */

static const char *const own_types[] = {"state", "replay"};

struct feed_reader {
    struct feed *feed;
    struct server_request *q;
    struct feed_reader *next, *before;
    uint64_t place;   /* in the ring, of what it gets next */
    uint64_t passed;  /* the last number that it got, or does not want */
    uint64_t seen;    /* version of the state */
    int64_t state_ns; /* when it got that */
    int64_t sent_ns;  /* when it got anything */
    uint32_t types;
    bool busy; /* it has not taken the last piece yet */
};

static const char *type_name(uint32_t type)
{
    return type < EVENT_TYPES ? event_type_names[type] : own_types[type - EVENT_TYPES];
}

uint32_t feed_types(slice list, struct err *e)
{
    uint32_t types = 0;
    const char *names[FEED_TYPES];
    slice name;
    for (uint32_t i = 0; i < FEED_TYPES; i++)
        names[i] = type_name(i);
    if (!list.p)
        return (1u << FEED_TYPES) - 1;
    while (slice_cut(&list, ',', &name)) {
        uint32_t i = 0;
        while (i < FEED_TYPES && !slice_is(name, names[i]))
            i++;
        if (i == FEED_TYPES) {
            (void)err_set(e, 0, 0, "there are no events of type \"%.*s\"%s", SHORT(name),
                          err_hint(name, names, FEED_TYPES).text);
            return 0;
        }
        types |= 1u << i;
    }
    return types;
}

/* ---- the list of readers ---- */

static void list_add(struct feed *f, struct feed_reader *r)
{
    r->next = NULL;
    r->before = f->last;
    *(f->last ? &f->last->next : &f->first) = r;
    f->last = r;
    f->n++;
}

static void list_remove(struct feed *f, struct feed_reader *r)
{
    *(r->before ? &r->before->next : &f->first) = r->next;
    *(r->next ? &r->next->before : &f->last) = r->before;
    f->n--;
}

static void note_wanted(struct feed *f)
{
    f->wanted = 0;
    for (const struct feed_reader *r = f->first; r; r = r->next)
        f->wanted |= r->types;
}

/* ---- the ring ---- */

static struct feed_entry *entry_at(struct feed *f, uint64_t place)
{
    return &f->ring[place % FEED_RING];
}

static void drop_first(struct feed *f)
{
    struct feed_entry *entry = entry_at(f, f->begin++);
    f->dropped[entry->type] = entry->number;
    f->bytes -= entry->text.n;
    buf_deinit(&entry->text);
}

/* Something happened: where its text belongs; NULL: nobody wants it. */
static struct buf *ring_add(struct feed *f, uint32_t type)
{
    uint64_t number = f->next++;
    if (!f->n && f->until_ns && clock_ns() > f->until_ns) { /* nobody came back */
        f->until_ns = 0;
        f->wanted = 0;
        while (f->begin < f->end)
            drop_first(f);
    }
    if (!(f->wanted >> type & 1)) {
        f->dropped[type] = number;
        return NULL;
    }
    if (f->end - f->begin == FEED_RING)
        drop_first(f);
    struct feed_entry *entry = entry_at(f, f->end++);
    *entry = (struct feed_entry){number, type, BUF_INIT(FEED_RING_BYTES / 2)};
    buf_addf(&entry->text, "id: %llu\nevent: %s\ndata: ", (unsigned long long)number,
             type_name(type));
    return &entry->text;
}

static void ring_added(struct feed *f, struct buf *text)
{
    bool whole = !text->full;
    buf_adds(text, "\n\n");
    f->bytes += text->n;
    while (f->bytes > FEED_RING_BYTES || (!whole && f->begin < f->end))
        drop_first(f);
}

/* Did it miss something that it wants? */
static bool has_missed(const struct feed *f, uint32_t types, uint64_t passed)
{
    for (uint32_t i = 0; i < FEED_TYPES; i++)
        if (types >> i & 1 && f->dropped[i] > passed)
            return true;
    return false;
}

/* ---- turns ---- */

static bool is_behind(const struct feed_reader *r, int64_t now_ns)
{
    const struct feed *f = r->feed;
    return !r->busy && (r->place < f->end || now_ns - r->sent_ns >= f->ping_ns ||
                        (r->types >> FEED_STATE & 1 && r->seen != f->state_version));
}

/* It goes on with what is new. */
static void add_reset(struct feed *f, struct feed_reader *r)
{
    r->place = f->end;
    r->passed = f->next - 1;
    r->seen = 0;
    buf_clear(&f->piece);
    buf_addf(&f->piece, "id: %llu\nevent: reset\ndata: {}\n\n", (unsigned long long)r->passed);
}

static void add_state(struct feed *f, struct feed_reader *r, int64_t now_ns)
{
    bool due = r->seen == 0 || now_ns - r->state_ns >= STATE_NS;
    if (!(r->types >> FEED_STATE & 1) || r->seen == f->state_version || !due)
        return;
    if (f->printed != f->state_version) {
        buf_clear(&f->state);
        f->print_state(f->ctx, &f->state);
        f->printed = f->state_version;
    }
    r->seen = f->state_version;
    r->state_ns = now_ns;
    buf_addf(&f->piece, "id: %llu\nevent: state\ndata: ", (unsigned long long)r->passed);
    buf_add(&f->piece, buf_slice(&f->state));
    buf_adds(&f->piece, "\n\n");
}

/* What one reader gets in a turn: the more there are, the less. */
static size_t piece_most(const struct feed *f)
{
    size_t share = TURN_BYTES / f->n;
    return share < PIECE_LEAST ? PIECE_LEAST : share > PIECE_MOST ? PIECE_MOST : share;
}

static void compose(struct feed *f, struct feed_reader *r, int64_t now_ns)
{
    size_t most = piece_most(f);
    buf_clear(&f->piece);
    if (has_missed(f, r->types, r->passed))
        add_reset(f, r);
    r->place = r->place > f->begin ? r->place : f->begin;
    for (; r->place < f->end && f->piece.n < most; r->place++) {
        const struct feed_entry *entry = entry_at(f, r->place);
        r->passed = entry->number;
        if (r->types >> entry->type & 1)
            buf_add(&f->piece, buf_slice(&entry->text));
    }
    if (r->place == f->end)
        r->passed = f->next - 1;
    add_state(f, r, now_ns);
    if (!f->piece.n && now_ns - r->sent_ns >= f->ping_ns)
        buf_adds(&f->piece, ": ping\n\n");
}

static size_t serve(struct feed *f, struct feed_reader *r, int64_t now_ns)
{
    compose(f, r, now_ns);
    if (!f->piece.n)
        return 0;
    r->sent_ns = now_ns;
    r->busy = true;
    if (!server_send(r->q, buf_slice(&f->piece))) { /* larger than any reader may leave waiting */
        add_reset(f, r);
        (void)!server_send(r->q, buf_slice(&f->piece));
    }
    return f->piece.n;
}

/* The next turn is soon where somebody waits, else in time for the next ping. */
static void schedule(struct feed *f, int64_t now_ns)
{
    bool waits = false;
    for (const struct feed_reader *r = f->first; r && !waits; r = r->next)
        waits = is_behind(r, now_ns);
    if (f->n)
        timer_start(f->loop, &f->tick, now_ns + (waits ? TURN_NS : SECONDS(1)));
}

static void turn(struct feed *f, uint32_t most)
{
    int64_t now_ns = clock_ns();
    size_t bytes = 0;
    uint32_t served = 0;
    f->turn_ns = now_ns;
    for (uint32_t looked = f->n; looked && served < most && bytes < TURN_BYTES; looked--) {
        struct feed_reader *r = f->first;
        list_remove(f, r);
        list_add(f, r);
        if (!is_behind(r, now_ns))
            continue;
        served++;
        bytes += serve(f, r, now_ns);
    }
    schedule(f, now_ns);
}

static void on_tick(struct timer *t)
{
    turn(OWNER(t, struct feed, tick), TURN_READERS);
}

/* Something is new. */
static void hurry(struct feed *f)
{
    if (f->n && (!f->tick.at_ns || f->tick.at_ns > f->turn_ns + TURN_NS))
        timer_start(f->loop, &f->tick, f->turn_ns + TURN_NS);
}

/* ---- readers ---- */

static void on_gone(void *user)
{
    struct feed_reader *r = user;
    struct feed *f = r->feed;
    list_remove(f, r);
    if (f->n)
        note_wanted(f); /* else as before, for who comes back */
    else
        f->until_ns = clock_ns() + KEEP_NS;
    mem_free(r);
}

static void on_room(void *user)
{
    struct feed_reader *r = user;
    r->busy = false;
    if (r->place < r->feed->end)
        hurry(r->feed);
}

void feed_open(struct feed *f, struct server_request *q, uint32_t types, slice after)
{
    uint64_t number = f->next - 1;
    bool known = !after.p || (slice_to_u64(after, UINT64_MAX, &number) && number < f->next &&
                              !has_missed(f, types, number));
    struct feed_reader *r = mem_zero(sizeof *r);
    *r = (struct feed_reader){.feed = f, .q = q, .types = types, .sent_ns = clock_ns()};
    r->passed = number;
    r->place = f->begin;
    while (r->place < f->end && entry_at(f, r->place)->number <= number)
        r->place++;
    server_begin(q, 200, "text/event-stream", on_gone, on_room, r);
    list_add(f, r);
    note_wanted(f);
    buf_clear(&f->piece);
    if (!known)
        add_reset(f, r);
    buf_adds(&f->piece, "retry: 2000\n\n");
    r->busy = server_send(q, buf_slice(&f->piece));
    hurry(f);
}

/* ---- what happens ---- */

void feed_event(struct feed *f, const struct event *event, const struct names *names,
                const struct faultloads *fl)
{
    struct buf *text = ring_add(f, event->type);
    f->state_version++;
    if (text) {
        event_print(event, names, fl, text);
        ring_added(f, text);
    }
    hurry(f);
}

void feed_replay(struct feed *f, uint64_t id)
{
    struct buf *text = ring_add(f, FEED_REPLAY);
    if (text) {
        struct json_out j = json_out(text, JSON_COMPACT);
        json_map(&j, NULL);
        json_uint(&j, "id", id);
        json_map_end(&j);
        ring_added(f, text);
    }
    hurry(f);
}

void feed_changed(struct feed *f)
{
    f->state_version++;
    hurry(f);
}

void feed_flush(struct feed *f)
{
    turn(f, f->n);
}

void feed_init(struct feed *f, struct loop *loop, uint32_t most, uint64_t first,
               void (*print_state)(void *ctx, struct buf *out), void *ctx)
{
    *f = (struct feed){.loop = loop,
                       .ctx = ctx,
                       .print_state = print_state,
                       .most = most,
                       .next = first,
                       .state = BUF_INIT(1 << 20),
                       .piece = BUF_INIT(FEED_RING_BYTES),
                       .state_version = 1,
                       .ping_ns = PING_NS,
                       .tick.fire = on_tick};
    for (uint32_t i = 0; i < FEED_TYPES; i++)
        f->dropped[i] = first - 1;
}

void feed_deinit(struct feed *f)
{
    timer_stop(f->loop, &f->tick);
    while (f->begin < f->end)
        drop_first(f);
    buf_deinit(&f->state);
    buf_deinit(&f->piece);
}
