/* SPDX-License-Identifier: Apache-2.0
 *
 * Who has the other end of a connection, asked of Linux: sock_diag finds one socket by its two
 * addresses without looking at the others; where it is not to be had (no permission, no such
 * protocol in the kernel) the table in /proc/net/tcp is read. The process is then found by the
 * links in /proc/PID/fd.
 *
 * 1. Nothing here blocks: netlink answers while it is asked, /proc is made of memory.
 * 2. A doubt is "not known": a socket must have exactly the addresses that were asked for.
 * 3. An IPv4 address in the clothes of IPv6 (::ffff:a.b.c.d) is the IPv4 address. */
#include "io/owner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "io/addr.h"
#include "io/procs.h"
#include "io/sys.h"

/* ---- ends of connections ---- */

/* One end: address and port as they are on the wire. */
struct end {
    uint32_t word[4]; /* of IPv4 the first */
    uint16_t port;
};

/* The socket that is looked for: its own end and the other one; a listener has no other. */
struct ends {
    bool v6, listens;
    uint32_t scope; /* the interface of an address that means something there only; else 0 */
    struct end own, other;
};

bool owner_by_table;

/* An IPv4 address in the clothes of IPv6 takes them off; `v6` is then what it is. */
static void end_unmap(struct end *e, bool *v6)
{
    if (!*v6 || e->word[0] || e->word[1] || e->word[2] != htonl(0xffff))
        return;
    *v6 = false;
    e->word[0] = e->word[3];
    e->word[2] = e->word[3] = 0;
}

/* False: neither IPv4 nor IPv6. */
static bool end_of(const struct sockaddr_storage *sa, bool *v6, struct end *out)
{
    *out = (struct end){.port = 0};
    *v6 = sa->ss_family == AF_INET6;
    if (sa->ss_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof in);
        out->word[0] = in.sin_addr.s_addr;
        out->port = in.sin_port;
        return true;
    }
    if (!*v6)
        return false;
    struct sockaddr_in6 in6;
    memcpy(&in6, sa, sizeof in6);
    memcpy(out->word, &in6.sin6_addr, sizeof out->word);
    out->port = in6.sin6_port;
    end_unmap(out, v6);
    return true;
}

static uint32_t scope_of(const struct sockaddr_storage *sa)
{
    struct sockaddr_in6 in6;
    memcpy(&in6, sa, sizeof in6);
    return sa->ss_family == AF_INET6 ? in6.sin6_scope_id : 0;
}

static bool end_eq(const struct end *a, const struct end *b)
{
    return a->port == b->port && memcmp(a->word, b->word, sizeof a->word) == 0;
}

/* How well a socket with these ends answers the question; 0: not at all. A listener may listen at
 * all addresses, and one of IPv6 then also at those of IPv4. */
static uint32_t ends_match(const struct ends *asked, bool v6, struct end own, struct end other,
                           uint32_t state)
{
    bool other_v6 = v6;
    end_unmap(&own, &v6);
    end_unmap(&other, &other_v6);
    if (asked->listens != (state == TCP_LISTEN))
        return 0;
    if (v6 == asked->v6 && end_eq(&own, &asked->own))
        return asked->listens || end_eq(&other, &asked->other) ? 2 : 0;
    bool any = !(own.word[0] | own.word[1] | own.word[2] | own.word[3]);
    return asked->listens && own.port == asked->own.port && any && (v6 || !asked->v6);
}

/* ---- sock_diag ---- */

struct diag_request {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

static struct diag_request diag_request(const struct ends *asked)
{
    struct diag_request r = {
        .head = {.nlmsg_len = sizeof r,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = asked->v6 ? AF_INET6 : AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX},
    };
    struct inet_diag_sockid *id = &r.body.id;
    id->idiag_sport = asked->own.port;
    id->idiag_dport = asked->other.port;
    memcpy(id->idiag_src, asked->own.word, sizeof id->idiag_src);
    memcpy(id->idiag_dst, asked->other.word, sizeof id->idiag_dst);
    id->idiag_if = asked->scope;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return r;
}

/* 0 with the inode (0: there is no such socket), or -1: sock_diag does not work here. */
static int diag_answer(const struct ends *asked, const char *bytes, size_t n, uint64_t *inode)
{
    struct nlmsghdr head;
    struct inet_diag_msg body;
    struct nlmsgerr error;
    if (n < sizeof head)
        return -1;
    memcpy(&head, bytes, sizeof head);
    bytes += NLMSG_HDRLEN;
    n -= NLMSG_HDRLEN;
    if (head.nlmsg_type == NLMSG_ERROR && n >= sizeof error) {
        memcpy(&error, bytes, sizeof error);
        return error.error == -ENOENT ? 0 : -1;
    }
    if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || n < sizeof body)
        return -1;
    memcpy(&body, bytes, sizeof body);
    bool v6 = body.idiag_family == AF_INET6;
    struct end own = {.port = body.id.idiag_sport}, other = {.port = body.id.idiag_dport};
    memcpy(own.word, body.id.idiag_src, v6 ? 16 : 4);
    memcpy(other.word, body.id.idiag_dst, v6 ? 16 : 4);
    if (ends_match(asked, v6, own, other, body.idiag_state))
        *inode = body.idiag_inode;
    return 0;
}

static int diag_find(const struct ends *asked, uint64_t *inode)
{
    struct diag_request r = diag_request(asked);
    char answer[1024];
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), rc = -1;
    if (fd < 0)
        return -1;
    if (send(fd, &r, sizeof r, MSG_DONTWAIT) == (ssize_t)sizeof r) {
        ssize_t n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
        if (n > 0)
            rc = diag_answer(asked, answer, (size_t)n, inode);
    }
    sys_close(fd);
    return rc;
}

/* ---- /proc/net/tcp ---- */

/* ADDRESS:PORT, the address in words of the machine, the port as a number. */
static bool line_end(slice text, bool v6, struct end *out)
{
    size_t words = v6 ? 4 : 1;
    uint64_t number = 0;
    *out = (struct end){.port = 0};
    bool ok = text.n == words * 8 + 5 && text.p[words * 8] == ':';
    for (size_t i = 0; i < words && ok; i++) {
        ok = slice_to_hex((slice){text.p + i * 8, 8}, &number);
        out->word[i] = (uint32_t)number;
    }
    ok = ok && slice_to_hex((slice){text.p + words * 8 + 1, 4}, &number);
    out->port = htons((uint16_t)number);
    return ok;
}

struct line {
    struct end own, other;
    uint32_t state; /* TCP_LISTEN, or another */
    uint64_t inode;
};

/* NUMBER: OWN OTHER STATE QUEUES TIMER RETRANSMITS UID TIMEOUT INODE ... */
static bool line_read(slice line, bool v6, struct line *out)
{
    slice word[10];
    for (size_t i = 0; i < 10; i++)
        if (!slice_word(&line, &word[i]))
            return false;
    if (!line_end(word[1], v6, &out->own) || !line_end(word[2], v6, &out->other) ||
        word[3].n != 2 || !slice_to_u64(word[9], UINT64_MAX, &out->inode))
        return false;
    out->state = slice_is(word[3], "0A") ? TCP_LISTEN : TCP_ESTABLISHED;
    return true;
}

/* Goes through the two tables, of IPv4 and of IPv6. Zero-initialised is at their beginning. */
struct table {
    FILE *file;
    uint32_t next; /* table to be opened */
    bool v6;
    struct line line;
};

static void table_close(struct table *t)
{
    if (t->file)
        fclose(t->file);
    t->file = NULL;
}

static bool table_next(struct table *t)
{
    static const char *const paths[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    char text[512];
    for (;;) {
        while (t->file && fgets(text, sizeof text, t->file))
            if (line_read(slice_of(text), t->v6, &t->line))
                return true;
        table_close(t);
        if (t->next == 2)
            return false;
        t->v6 = t->next == 1;
        t->file = fopen(paths[t->next++], "re");
    }
}

static uint64_t table_find(const struct ends *asked)
{
    uint64_t found = 0;
    uint32_t best = 0;
    struct table t = {0};
    while (best < 2 && table_next(&t)) {
        uint32_t match = ends_match(asked, t.v6, t.line.own, t.line.other, t.line.state);
        if (match <= best)
            continue;
        best = match;
        found = t.line.inode;
    }
    table_close(&t);
    return found;
}

static uint64_t ends_find(const struct ends *asked)
{
    uint64_t inode = 0;
    if (!owner_by_table && diag_find(asked, &inode) == 0)
        return inode;
    return table_find(asked);
}

uint64_t owner_inode(int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t n_here = sizeof here, n_there = sizeof there;
    struct ends asked = {.listens = false};
    bool v6;
    if (getsockname(fd, (struct sockaddr *)&here, &n_here) ||
        getpeername(fd, (struct sockaddr *)&there, &n_there))
        return 0;
    if (!end_of(&there, &asked.v6, &asked.own) || !end_of(&here, &v6, &asked.other) ||
        v6 != asked.v6)
        return 0;
    asked.scope = scope_of(&there);
    return ends_find(&asked);
}

/* ---- who is connected to an address ---- */

static bool end_is_loopback(const struct end *e, bool v6)
{
    if (!v6)
        return (ntohl(e->word[0]) >> 24) == 127;
    return !(e->word[0] | e->word[1] | e->word[2]) && e->word[3] == htonl(1);
}

/* Is it this address? Of a name such as localhost nobody knows which address was taken. */
static bool end_is(struct end e, bool v6, const struct ends *asked)
{
    end_unmap(&e, &v6);
    return (v6 == asked->v6 && end_eq(&e, &asked->own)) ||
           (e.port == asked->own.port && end_is_loopback(&e, v6) &&
            end_is_loopback(&asked->own, asked->v6));
}

void owner_links(const struct addr *to, uint32_t n, struct owner_links *out)
{
    struct ends *asked = mem_zero((n + 1) * sizeof *asked);
    out->list.n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (addr_is_unix(&to[i]) || !end_of(&to[i].sa, &asked[i].v6, &asked[i].own))
            asked[i].own.port = 0;
    for (struct table t = {0}; table_next(&t);) {
        const struct line *l = &t.line;
        for (uint32_t i = 0; i < n && l->state != TCP_LISTEN; i++) {
            if (!asked[i].own.port)
                continue;
            if (end_is(l->other, t.v6, &asked[i]))
                vec_push(&out->list, ((struct owner_link){i, l->own.port, l->inode}));
            else if (end_is(l->own, t.v6, &asked[i]))
                vec_push(&out->list, ((struct owner_link){i, l->other.port, 0}));
        }
    }
    mem_free(asked);
}

/* ---- processes ---- */

bool owner_holds(pid_t pid, uint64_t inode)
{
    char path[64], link[64], wanted[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    snprintf(wanted, sizeof wanted, "socket:[%llu]", (unsigned long long)inode);
    DIR *dir = inode && pid > 0 ? opendir(path) : NULL;
    const struct dirent *entry;
    bool found = false;
    while (dir && !found && (entry = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof link);
        found = n > 0 && slice_is((slice){link, (size_t)n}, wanted);
    }
    if (dir)
        closedir(dir);
    return found;
}

uint64_t owner_listening(const struct addr *a)
{
    struct ends asked = {.listens = true};
    if (!end_of(&a->sa, &asked.v6, &asked.own))
        return 0;
    asked.scope = scope_of(&a->sa);
    return ends_find(&asked);
}

pid_t owner_pid(uint64_t inode)
{
    struct procs procs = {0};
    if (!inode)
        return 0;
    procs_read(&procs);
    pid_t found = 0;
    for (uint32_t i = 0; i < procs.all.n && !found; i++) {
        /* servers share a listening socket with the workers that they start: it is the first of them
         * whose own parent does not hold it */
        const struct proc *p = &procs.all.at[i];
        if (owner_holds(p->pid, inode) && !owner_holds(p->parent, inode))
            found = p->pid;
    }
    procs_deinit(&procs);
    return found;
}

pid_t owner_listener(const struct addr *a)
{
    return owner_pid(owner_listening(a));
}

void owner_family(pid_t pid, struct pids *out)
{
    struct procs procs = {0};
    out->list.n = 0;
    if (pid <= 0)
        return;
    procs_read(&procs);
    for (uint32_t turn = 0; turn < 2 + out->list.n;
         turn++) { /* itself, its group, children of each */
        for (uint32_t i = 0; i < procs.all.n; i++) {
            struct proc *p = &procs.all.at[i];
            bool meant = turn == 0   ? p->pid == pid
                         : turn == 1 ? p->group == pid
                                     : p->parent == out->list.at[turn - 2];
            if (p->marked || !p->alive || !meant)
                continue;
            p->marked = true;
            vec_push(&out->list, p->pid);
        }
    }
    procs_deinit(&procs);
}
