/* SPDX-License-Identifier: Apache-2.0
 *
 * The switch: namespaces and interfaces are made by a thread each, because a namespace is a thread's;
 * packets are read from all interfaces by the loop, and written to where they go. What is late waits
 * in a heap. */
#include "lab/lan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "io/sys.h"

enum {
    MTU = 9000,
    PACKET_MAX = 65536,
    READS_MOST = 64,      /* packets of one interface before the others have their turn */
    QUEUE_MAX = 64 << 20, /* bytes that wait in us */
    OBSERVER_ADDRESS = 254,
};

/* The watch on an interface. `data` of a loop's polls belongs to io/conn.c. */
struct watch {
    uv_poll_t poll; /* first, so that its address is the watch's */
    struct lan *lan;
    uint32_t member;
};

struct port {
    int tun_fd, ns_fd;
    struct watch *watch;
};

struct late {
    int64_t at_ns;
    uint64_t number; /* those of the same moment keep their order */
    uint32_t to, n;
    uint8_t *bytes;
};

struct lan {
    struct loop *loop;
    uint32_t network, n; /* n: with the observer */
    struct port *ports;
    struct cable cable;
    struct resolver resolver;
    const char *resolv;     /* the file that stands in the place of /etc/resolv.conf */
    VEC(struct late) queue; /* a heap, earliest first */
    size_t queued;
    uint64_t next_number;
    struct timer timer;
    uint8_t packet[PACKET_MAX];
};

struct cable *lan_cable(struct lan *l)
{
    return &l->cable;
}

struct resolver *lan_resolver(struct lan *l)
{
    return &l->resolver;
}

/* ---- interfaces ---- */

struct making {
    struct port *port;
    uint32_t address;
    int code; /* errno; 0: made */
    const char *step;
};

static int up(int sock, const char *name, short more)
{
    struct ifreq r = {.ifr_flags = (short)(IFF_UP | more)};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    return ioctl(sock, SIOCSIFFLAGS, &r);
}

static int set_address(int sock, unsigned long request, uint32_t address)
{
    struct ifreq r = {0};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "lan0");
    memcpy(&r.ifr_addr, &at, sizeof at);
    return ioctl(sock, request, &r);
}

static int configure(int sock, uint32_t address)
{
    struct ifreq mtu = {.ifr_mtu = MTU};
    (void)snprintf(mtu.ifr_name, sizeof mtu.ifr_name, "lan0");
    return up(sock, "lo", 0) || set_address(sock, SIOCSIFADDR, address) ||
                   set_address(sock, SIOCSIFNETMASK, 0xffffff00) || ioctl(sock, SIOCSIFMTU, &mtu) ||
                   up(sock, "lan0", 0)
               ? -1
               : 0;
}

/* In a thread of its own, which ends in the new namespace. */
static void *make(void *user)
{
    struct making *m = user;
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    (void)snprintf(r.ifr_name, sizeof r.ifr_name, "lan0");
    m->step = "unshare";
    int sock = -1;
    if (!unshare(CLONE_NEWNET)) {
        m->step = "open /proc/thread-self/ns/net";
        m->port->ns_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    }
    if (m->port->ns_fd >= 0) {
        m->step = "open /dev/net/tun";
        m->port->tun_fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    }
    if (m->port->tun_fd >= 0) {
        m->step = "configure the interface";
        sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    }
    if (sock < 0 || ioctl(m->port->tun_fd, TUNSETIFF, &r) || configure(sock, m->address))
        m->code = errno ? errno : EIO;
    if (sock >= 0)
        sys_close(sock);
    return NULL;
}

static int port_open(struct lan *l, uint32_t member, struct err *e)
{
    struct making m = {.port = &l->ports[member],
                       .address =
                           l->network | (member == l->n - 1 ? OBSERVER_ADDRESS : member + 1)};
    pthread_t thread;
    int code = pthread_create(&thread, NULL, make, &m);
    if (code)
        return err_set(e, 0, 0, "no thread can be started: %s", strerror(code));
    (void)pthread_join(thread, NULL);
    if (!m.code)
        return 0;
    bool denied = m.code == EPERM || m.code == EACCES, tun = strstr(m.step, "tun") != NULL;
    const char *remedy =
        tun && denied ? "you may not open it: run as root, or chmod 666 /dev/net/tun"
        : tun         ? "the kernel has no tun, or this is a container: --device /dev/net/tun"
        : denied      ? "it needs root, or a user namespace: unshare -Ur outfox plan run FILE"
                      : "it needs network namespaces of the kernel";
    return err_set(e, 0, 0, "\"network\" cannot be made (%s: %s): %s", m.step, strerror(m.code),
                   remedy);
}

/* ---- packets ---- */

static bool earlier(const struct late *a, const struct late *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->number < b->number);
}

static void sift_down(struct lan *l, uint32_t at)
{
    for (;;) {
        uint32_t best = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < l->queue.n; child++)
            if (earlier(&l->queue.at[child], &l->queue.at[best]))
                best = child;
        if (best == at)
            return;
        struct late other = l->queue.at[at];
        l->queue.at[at] = l->queue.at[best];
        l->queue.at[best] = other;
        at = best;
    }
}

static void queue_push(struct lan *l, struct late late)
{
    uint32_t at = l->queue.n;
    vec_push(&l->queue, late);
    while (at && earlier(&late, &l->queue.at[(at - 1) / 2])) {
        l->queue.at[at] = l->queue.at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    l->queue.at[at] = late;
    l->queued += late.n;
}

static struct late queue_pop(struct lan *l)
{
    struct late first = l->queue.at[0];
    l->queue.at[0] = l->queue.at[--l->queue.n];
    sift_down(l, 0);
    l->queued -= first.n;
    return first;
}

/* An interface whose queue is full, or that is down, loses packets: TCP knows what to do. */
static void deliver(struct lan *l, uint32_t to, const uint8_t *bytes, size_t n)
{
    ssize_t put;
    do
        put = write(l->ports[to].tun_fd, bytes, n);
    while (put < 0 && errno == EINTR);
}

static void on_late(struct timer *t)
{
    struct lan *l = OWNER(t, struct lan, timer);
    int64_t now = clock_ns();
    while (l->queue.n && l->queue.at[0].at_ns <= now) {
        struct late late = queue_pop(l);
        deliver(l, late.to, late.bytes, late.n);
        mem_free(late.bytes);
    }
    if (l->queue.n)
        timer_start(l->loop, t, l->queue.at[0].at_ns);
}

static void keep(struct lan *l, uint32_t to, size_t n, int64_t at_ns)
{
    if (l->queued + n > QUEUE_MAX)
        return;
    struct late late = {at_ns, l->next_number++, to, (uint32_t)n, mem_alloc(n)};
    memcpy(late.bytes, l->packet, n);
    queue_push(l, late);
    timer_start(l->loop, &l->timer, l->queue.at[0].at_ns);
}

/* The member with this address; l->n: there is none. */
static uint32_t member_of(const struct lan *l, uint32_t address)
{
    uint32_t last = address & 255;
    if ((address & 0xffffff00) != l->network)
        return l->n;
    return last == OBSERVER_ADDRESS ? l->n - 1 : last >= 1 && last < l->n ? last - 1 : l->n;
}

/* A question for the name server, which is us. */
static void look_up(struct lan *l, uint32_t from, size_t n)
{
    uint8_t answer[RESOLVER_PACKET_MAX];
    int64_t late_ns;
    n = resolver_answer(&l->resolver, from, l->packet, n, answer, &late_ns);
    if (!n)
        return;
    memcpy(l->packet, answer, n);
    if (late_ns)
        keep(l, from, n, clock_ns() + late_ns);
    else
        deliver(l, from, l->packet, n);
}

static void forward(struct lan *l, uint32_t from, size_t n)
{
    uint32_t to = member_of(l, cable_destination(l->packet, n));
    uint8_t back[CABLE_RESET_BYTES], on[CABLE_RESET_BYTES];
    int64_t now = clock_ns(), at;
    if (to == l->n - 1 && resolver_is_asked(l->packet, n)) {
        look_up(l, from, n);
        return;
    }
    if (to == l->n || to == from)
        return;
    switch (cable_decide(&l->cable, from, to, n, now, &at)) {
    case CABLE_LOST: return;
    case CABLE_RESETS:
        if (cable_resets(l->packet, n, back, on)) {
            deliver(l, from, back, sizeof back);
            deliver(l, to, on, sizeof on);
        }
        return;
    case CABLE_SENT:
        if (at > now)
            keep(l, to, n, at);
        else
            deliver(l, to, l->packet, n);
    }
}

static void on_packets(uv_poll_t *handle, int status, int events)
{
    const struct watch *w = (const struct watch *)handle;
    struct lan *l = w->lan;
    (void)events;
    loop_batch(l->loop);
    for (int i = 0; i < READS_MOST && status >= 0; i++) {
        ssize_t n = read(l->ports[w->member].tun_fd, l->packet, sizeof l->packet);
        if (n <= 0)
            return;
        forward(l, w->member, (size_t)n);
    }
}

/* ---- the whole ---- */

static void on_closed(uv_handle_t *h)
{
    mem_free(h);
}

static int port_watch(struct lan *l, uint32_t member, struct err *e)
{
    struct watch *w = mem_zero(sizeof *w);
    w->lan = l;
    w->member = member;
    int code = uv_poll_init(&l->loop->uv, &w->poll, l->ports[member].tun_fd);
    if (code) {
        mem_free(w);
        return err_set(e, 0, 0, "\"network\" cannot be watched: %s", uv_strerror(code));
    }
    l->ports[member].watch = w;
    (void)uv_poll_start(&w->poll, UV_READABLE, on_packets);
    return 0;
}

static int resolv_write(struct lan *l, struct err *e)
{
    struct buf text = BUF_INIT(200);
    buf_adds(&text, "nameserver ");
    lan_address(l, LAN_OBSERVER, &text);
    buf_adds(&text, "\nsearch lan\n");
    int status = file_replace(l->resolv, buf_slice(&text));
    if (!status && chmod(l->resolv, 0644)) /* members may be other users */
        status = errno;
    buf_deinit(&text);
    return status ? err_set(e, 0, 0, "%s cannot be written: %s", l->resolv, strerror(status)) : 0;
}

int lan_new(struct lan **out, struct loop *loop, uint32_t network, const slice *names,
            uint32_t members, uint64_t seed, const char *resolv, struct err *e)
{
    struct lan *l = mem_zero(sizeof *l);
    *out = l;
    l->loop = loop;
    l->network = network;
    l->n = members + 1;
    l->timer.fire = on_late;
    l->resolver = (struct resolver){.names = names, .n = members, .network = network};
    l->resolv = resolv;
    cable_init(&l->cable, l->n, seed);
    int status = resolv_write(l, e);
    l->ports = mem_zero(l->n * sizeof *l->ports);
    for (uint32_t i = 0; i < l->n; i++)
        l->ports[i] = (struct port){.tun_fd = -1, .ns_fd = -1};
    for (uint32_t i = 0; i < l->n && !status; i++)
        status = port_open(l, i, e) || port_watch(l, i, e) ? -1 : 0;
    if (status) {
        lan_free(l);
        *out = NULL;
    }
    return status;
}

void lan_free(struct lan *l)
{
    if (!l)
        return;
    timer_stop(l->loop, &l->timer);
    for (uint32_t i = 0; i < l->n; i++) {
        struct port *p = &l->ports[i];
        if (p->watch)
            uv_close((uv_handle_t *)&p->watch->poll, on_closed);
        if (p->tun_fd >= 0)
            sys_close(p->tun_fd);
        if (p->ns_fd >= 0)
            sys_close(p->ns_fd);
    }
    for (uint32_t i = 0; i < l->queue.n; i++)
        mem_free(l->queue.at[i].bytes);
    vec_deinit(&l->queue);
    cable_deinit(&l->cable);
    resolver_deinit(&l->resolver);
    mem_free(l->ports);
    mem_free(l);
}

void lan_place(const struct lan *l, uint32_t member, slice command, struct buf *out)
{
    const struct port *p = &l->ports[member == LAN_OBSERVER ? l->n - 1 : member];
    /* mounts of others still come in, and this one does not go out */
    buf_addf(out,
             "exec nsenter --net=/proc/%d/fd/%d -- unshare --mount --propagation slave -- /bin/sh "
             "-c 'mount --bind \"$1\" /etc/resolv.conf 2>/dev/null; exec /bin/sh -c \"$0\"' ",
             (int)getpid(), p->ns_fd);
    buf_add_shell(out, command);
    buf_addc(out, ' ');
    buf_add_shell(out, slice_of(l->resolv));
}

void lan_address(const struct lan *l, uint32_t member, struct buf *out)
{
    uint32_t last = member == LAN_OBSERVER ? OBSERVER_ADDRESS : member + 1;
    buf_addf(out, "%u.%u.%u.%u", l->network >> 24, l->network >> 16 & 255, l->network >> 8 & 255,
             last);
}
