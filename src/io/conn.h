/* SPDX-License-Identifier: Apache-2.0
 *
 * conn: a connection, over TCP, a unix socket or TLS, in a loop. It reads into the loop's buffer
 * and writes from its own chain.
 *
 *     conn_connect --> CONNECTING --+--> SHAKING --+--> FRESH --> OPEN --+--> gone
 *     conn_accept ------------------+--------------+                     |
 *                                            conn_close --> CLOSING --> LINGERING --> CLOSED
 *                                            conn_reset ---------------------------> CLOSED
 *
 * 1. No function here calls an event: events come from the loop alone.
 * 2. `ready` is the first event: the connection stands (and its TLS handshake is done).
 * 3. `gone` is the last event, unless the owner closed the connection itself: then none follows.
 *    After it, or after conn_close and conn_reset, the owner forgets the connection, whose memory
 *    stays valid until the current batch of events ends.
 * 4. Bytes in `out` are written after the current batch of events; say conn_touch when some were
 *    added. `flush` is called before each write (to add more) and `wrote` after it, also when there
 *    was nothing to write; neither is while the peer does not take what is there. Bytes may be
 *    added before `ready`; they wait for it.
 * 5. A deadline is always set while something is waited for; `expired` tells that it passed. */
#ifndef OUTFOX_IO_CONN_H
#define OUTFOX_IO_CONN_H

#include "io/addr.h"
#include "io/loop.h"
#include "io/tls.h"

struct conn;

/* Why a connection is gone: it broke while it was open, could not be made, or TLS did not agree. */
enum conn_gone { GONE_RESET, GONE_CONNECT, GONE_TLS };

struct conn_events {
    void (*ready)(struct conn *c);
    void (*bytes)(struct conn *c, slice bytes);
    void (*eof)(struct conn *c); /* the peer sends no more; writing still works. Said once */
    void (*flush)(struct conn *c);
    void (*wrote)(struct conn *c);                                      /* ends each flush */
    void (*gone)(struct conn *c, enum conn_gone why, const char *text); /* "connection refused" */
    void (*expired)(struct conn *c); /* the connection stays; the owner decides */
};

enum conn_state {
    CONN_CONNECTING,
    CONN_SHAKING,
    CONN_FRESH, /* stands, but `ready` was not said yet */
    CONN_OPEN,
    CONN_CLOSING,   /* writes the rest of `out`; nobody owns it any more */
    CONN_LINGERING, /* FIN was sent; what the peer sends is dropped */
    CONN_CLOSED,    /* only memory is left */
};

struct conn {
    uv_poll_t poll;
    struct loop *loop;
    const struct conn_events *events;
    void *user;
    struct tls *tls; /* NULL: plain */
    struct chain out;
    struct conn *next_touched;
    struct timer deadline;
    int64_t expires_ns;  /* 0: never. The timer may fire early and is then started anew */
    int64_t until_ns;    /* CLOSING: no later than this */
    int64_t patience_ns; /* CLOSING: for a peer that takes nothing */
    size_t left;         /* CLOSING: bytes that the peer did not have at the last look */
    size_t dropped;      /* CLOSING, LINGERING: bytes that nobody read */
    int fd;              /* -1: none could be had; `gone` is due */
    int failed;          /* errno: broken, but there are still bytes to read */
    enum conn_state state;
    uint8_t armed;     /* what libuv watches for */
    bool dialled;      /* by conn_connect */
    bool reading;      /* conn_read was asked for */
    bool eof;          /* the peer sends no more */
    bool shut_due;     /* when `out` is written, the peer is to know that no more follows */
    bool blocked;      /* the socket takes no more bytes for now */
    bool touched;      /* is in the loop's list */
    bool read_due;     /* there may be bytes of which the socket will not tell */
    bool noisy;        /* bytes came while nobody wanted them: do not watch for them */
    bool quiet;        /* no use in watching for a reset */
    bool tls_to_write; /* a read (or handshake) of TLS waits for the socket to be writable */
    bool dead;         /* CLOSED, and libuv is done with it */
};

/* Takes over fd. ctx NULL: no TLS. */
struct conn *conn_accept(struct loop *l, int fd, struct tls_context *ctx,
                         const struct conn_events *events, void *user);

/* Connects. Failing at once is told by `gone` as well, after the current batch of events. */
struct conn *conn_connect(struct loop *l, const struct addr *to, struct tls_context *ctx,
                          enum tls_alpn alpn, const struct conn_events *events, void *user);

/* Starts or stops reading; off at first. A stopped connection still notices a reset, not an EOF. A
 * service's last bytes are not lost by that: `gone` waits until they have been read. */
void conn_read(struct conn *c, bool on);

/* There is something to flush. */
void conn_touch(struct conn *c);

/* The moment after which `expired` is called, once; 0: none. Cheap: may be set for every message.
 */
void conn_expire(struct conn *c, int64_t at_ns);

/* Writes what is in `out`, and then says that no more follows (close_notify, FIN); reading goes on. The
 * owner adds nothing after it. */
void conn_shut(struct conn *c);

/* Writes what is in `out`, ends with close_notify and FIN, drops what the peer still sends for a
 * moment so that it can read our last bytes, and closes. A peer that takes nothing for 5 seconds,
 * or for as long as the deadline still allows if that is more, is reset. Before `ready` it closes
 * at once. */
void conn_close(struct conn *c);

/* The same where the peer has said all that it will, and nothing is left to write: does not wait
 * for the peer's own end. */
void conn_leave(struct conn *c);

/* Sends RST at once, whatever is under way; `out` is dropped. (A unix socket knows no RST: its peer
 * sees an EOF.) */
void conn_reset(struct conn *c);

/* For the loop: flushes what is touched, and what that touches in turn, up to a bound; closes what is
 * still there, without a word to anybody. */
void conns_flush(struct loop *l);
void conns_drop(struct loop *l);

/* A listening socket in a loop. */
struct listener {
    uv_poll_t poll;
    struct loop *loop;
    int fd;
    struct timer retry; /* runs while descriptors or memory lack */
    bool refuses;
    void (*accepted)(struct listener *l, int fd);
    void *user;
    void (*closed)(struct listener *l);
};

/* Takes over fd, also when it fails. `accepted` gets non-blocking, close-on-exec descriptors with
 * TCP_NODELAY; it may close the listener. Where descriptors run out it pauses for a
 * moment instead of spinning. 0, or a negative errno. */
int listener_init(struct listener *l, struct loop *loop, int fd,
                  void (*accepted)(struct listener *, int fd), void *user) MUST_USE;

/* Refuses connections for a while, and keeps its address; those that wait to be accepted are reset.
 * Then listens again. 0, or a negative errno: it is as it was. Of TCP alone. */
int listener_refuse(struct listener *l) MUST_USE;
int listener_again(struct listener *l) MUST_USE;

/* Closes; `closed`, when not NULL, is called when the memory may go. */
void listener_close(struct listener *l, void (*closed)(struct listener *l));

#endif
