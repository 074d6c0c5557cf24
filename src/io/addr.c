/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses and the sockets made from them. Text is split into host and port here; only what is no
 * numeric address goes to the resolver. What can go wrong with listening is told with its remedy,
 * because a port in use is the first thing that people meet. */
#include "io/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/sys.h"

enum { PORT_MAX = 65535 };

/* ---- reading ---- */

/* The three faces of a->sa. */
static struct sockaddr_in *in4(struct addr *a)
{
    return (struct sockaddr_in *)&a->sa;
}

static struct sockaddr_in6 *in6(struct addr *a)
{
    return (struct sockaddr_in6 *)&a->sa;
}

static struct sockaddr_un *un(struct addr *a)
{
    return (struct sockaddr_un *)&a->sa;
}

static const struct sockaddr_un *const_un(const struct addr *a)
{
    return (const struct sockaddr_un *)&a->sa;
}

static bool copy_text(char *to, size_t cap, slice from)
{
    if (from.n >= cap)
        return false;
    if (from.n)
        memcpy(to, from.p, from.n);
    to[from.n] = 0;
    return true;
}

static int parse_unix(slice path, const char *what, struct addr *out, struct err *e)
{
    bool abstract = path.n && path.p[0] == '@';
    if (path.n == 0 || (abstract && path.n == 1))
        return err_set(e, 0, 0, "%s: \"%s\" has no path; write unix:/path/of/socket or unix:@name",
                       what, out->text);
    size_t most = sizeof un(out)->sun_path - 1;
    if (path.n > most)
        return err_set(e, 0, 0,
                       "%s: the path of a unix socket has at most %zu bytes, this one has %zu; "
                       "choose a shorter one: \"%s\"",
                       what, most, path.n, out->text);
    un(out)->sun_family = AF_UNIX;
    memcpy(un(out)->sun_path, path.p, path.n);
    if (abstract)
        un(out)->sun_path[0] = 0; /* the rest is the name, which no NUL ends */
    out->n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.n + !abstract);
    return 0;
}

/* Cuts text into host and port; what is left of the host is "" where none was written. */
static int split(slice text, const char *what, const char *shown, slice *host, slice *port,
                 struct err *e)
{
    bool brackets = text.n && text.p[0] == '[';
    size_t close = slice_find(text, ']');
    if (brackets && close == text.n)
        return err_set(e, 0, 0, "%s: \"%s\" is missing a ]; write [::1]:8001", what, shown);
    *host = brackets ? (slice){text.p + 1, close - 1} : (slice){text.p, slice_find(text, ':')};
    slice rest = slice_from(text, brackets ? close + 1 : host->n);
    if (brackets && host->n == 0)
        return err_set(e, 0, 0, "%s: \"%s\" has no address in its brackets; write [::1]:8001", what,
                       shown);
    if (slice_find(text, '/') < text.n)
        return err_set(e, 0, 0, "%s: \"%s\" is more than an address; write only HOST:PORT", what,
                       shown);
    if (rest.n == 0 || rest.p[0] != ':')
        return err_set(e, 0, 0, "%s: \"%s\" has no port; write HOST:PORT", what, shown);
    *port = slice_from(rest, 1);
    if (slice_find(*port, ':') < port->n)
        return err_set(e, 0, 0,
                       "%s: \"%s\" has more than one colon; write an IPv6 address in brackets: "
                       "[::1]:8001",
                       what, shown);
    return 0;
}

/* What stands in brackets is not looked up: it is an address of IPv6, maybe with a scope (%eth0).
 */
static int resolve(const char *what, struct addr *a, bool brackets, struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    if (brackets) {
        hints.ai_family = AF_INET6;
        hints.ai_flags = AI_NUMERICHOST;
    }
    int code = getaddrinfo(a->host, NULL, &hints, &list);
    if (code && brackets)
        return err_set(e, 0, 0, "%s: \"%s\" is not an IPv6 address; write [::1]:8001", what,
                       a->host);
    if (code)
        return err_set(e, 0, 0,
                       "%s: cannot resolve \"%s\" (%s); check the name, or write a numeric "
                       "address",
                       what, a->host, code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    const struct addrinfo *found = list; /* never empty */
    while (found->ai_family != AF_INET && found->ai_next)
        found = found->ai_next;
    if (found->ai_family != AF_INET)
        found = list;
    memcpy(&a->sa, found->ai_addr, found->ai_addrlen);
    a->n = found->ai_addrlen;
    freeaddrinfo(list);
    return 0;
}

static int parse_inet(slice text, const char *what, struct addr *out, struct err *e)
{
    slice host = SLICE("127.0.0.1"), port = text;
    uint64_t number = 0;
    bool only_port = slice_to_u64(text, UINT64_MAX, &number);
    if (!only_port && split(text, what, out->text, &host, &port, e))
        return -1;
    if (!slice_to_u64(port, PORT_MAX, &number))
        return err_set(e, 0, 0, "%s: the port \"%.*s\" is not a number from 0 to %d", what,
                       SLICE_ARG(port), PORT_MAX);
    if (host.n == 0)
        host = SLICE("0.0.0.0");
    if (!copy_text(out->host, sizeof out->host, host))
        return err_set(e, 0, 0, "%s: the host of \"%s\" is longer than %zu bytes", what, out->text,
                       sizeof out->host - 1);
    if (inet_pton(AF_INET, out->host, &in4(out)->sin_addr) == 1) {
        out->sa.ss_family = AF_INET;
        out->n = sizeof(struct sockaddr_in);
    } else if (inet_pton(AF_INET6, out->host, &in6(out)->sin6_addr) == 1) {
        out->sa.ss_family = AF_INET6;
        out->n = sizeof(struct sockaddr_in6);
    } else if (resolve(what, out, text.p[0] == '[', e)) {
        return -1;
    }
    if (out->sa.ss_family == AF_INET6)
        in6(out)->sin6_port = htons((uint16_t)number);
    else
        in4(out)->sin_port = htons((uint16_t)number);
    if (only_port || text.p[0] == ':') /* whoever reads of it, or gets it as Host, needs the host */
        snprintf(out->text, sizeof out->text, "%.*s:%u", SLICE_ARG(host), (unsigned)number);
    out->host[strcspn(out->host, "%")] = 0; /* a scope means nothing to others */
    return 0;
}

int addr_parse(slice text, const char *what, struct addr *out, struct err *e)
{
    *out = (struct addr){.n = 0};
    if (text.n == 0)
        return err_set(e, 0, 0, "%s: the address is missing; write HOST:PORT or unix:/path", what);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 0x7f)
            return err_set(e, 0, 0, "%s: the address \"%.*s\" contains a blank", what,
                           SLICE_ARG(text));
    if (!copy_text(out->text, sizeof out->text, text))
        return err_set(e, 0, 0, "%s: the address is longer than %zu bytes", what,
                       sizeof out->text - 1);
    if (slice_starts(text, SLICE("unix:")))
        return parse_unix(slice_from(text, 5), what, out, e);
    return parse_inet(text, what, out, e);
}

/* ---- printing ---- */

bool addr_is_unix(const struct addr *a)
{
    return a->sa.ss_family == AF_UNIX;
}

uint16_t addr_port(const struct addr *a)
{
    if (a->sa.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&a->sa)->sin6_port);
    return addr_is_unix(a) ? 0 : ntohs(((const struct sockaddr_in *)&a->sa)->sin_port);
}

void addr_print(const struct addr *a, struct buf *out)
{
    if (addr_is_unix(a)) {
        slice path = {const_un(a)->sun_path, a->n - offsetof(struct sockaddr_un, sun_path)};
        bool abstract = path.p[0] == 0;
        buf_adds(out, abstract ? "unix:@" : "unix:");
        buf_add(out, abstract ? slice_from(path, 1) : slice_of(path.p));
        return;
    }
    char host[INET6_ADDRSTRLEN + 32]; /* and the scope: %eth0 */
    if (getnameinfo((const struct sockaddr *)&a->sa, a->n, host, sizeof host, NULL, 0,
                    NI_NUMERICHOST)) {
        buf_adds(out, a->text);
        return;
    }
    buf_addf(out, a->sa.ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, addr_port(a));
}

/* ---- listening ---- */

static int bind_to(int fd, const struct addr *a)
{
    return bind(fd, (const struct sockaddr *)&a->sa, a->n) ? -errno : 0;
}

static void switch_on(int fd, int level, int option)
{
    int on = 1;
    (void)setsockopt(fd, level, option, &on, sizeof on);
}

/* The first socket binds before SO_REUSEPORT is set and so sees whether somebody else listens
 * there, which the option would hide; those that follow need it before. */
static int bind_inet(int fd, const struct addr *a, bool shared)
{
    switch_on(fd, SOL_SOCKET, SO_REUSEADDR);
    if (a->sa.ss_family == AF_INET6)
        switch_on(fd, IPPROTO_IPV6, IPV6_V6ONLY);
    if (shared && a->listening)
        switch_on(fd, SOL_SOCKET, SO_REUSEPORT);
    int code = bind_to(fd, a);
    if (shared && !a->listening)
        switch_on(fd, SOL_SOCKET, SO_REUSEPORT);
    return code;
}

static bool is_socket_file(const struct addr *a)
{
    struct stat s;
    const char *path = const_un(a)->sun_path;
    return path[0] && lstat(path, &s) == 0 && S_ISSOCK(s.st_mode);
}

/* A socket's file outlives its process. Nobody listens there when connecting is refused; a file
 * that is no socket refuses as well and must not be removed. */
static bool is_abandoned(const struct addr *a)
{
    if (!is_socket_file(a))
        return false;
    int fd = addr_connect(a);
    bool refused = fd < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        sys_close(fd);
    return refused;
}

/* Why listening failed, with the remedy. */
static int cannot_listen_unix(const struct addr *a, int code, struct err *e)
{
    if (code != EADDRINUSE)
        return err_set(e, 0, 0, "cannot listen on %s: %s; check the path and its permissions",
                       a->text, strerror(code));
    if (const_un(a)->sun_path[0] && !is_socket_file(a))
        return err_set(e, 0, 0,
                       "cannot listen on %s: there is a file that is not a socket; remove it, or "
                       "choose another path",
                       a->text);
    return err_set(e, 0, 0,
                   "cannot listen on %s: it is in use; `ss -lxp` shows the process; stop it, "
                   "or choose another path",
                   a->text);
}

static int cannot_listen(const struct addr *a, int code, struct err *e)
{
    unsigned port = addr_port(a);
    if (addr_is_unix(a))
        return cannot_listen_unix(a, code, e);
    switch (code) {
    case EADDRINUSE:
        return err_set(
            e, 0, 0,
            "cannot listen on %s: port %u is in use; `ss -ltnp` shows the process; stop it, "
            "or choose another port (0: any free one)",
            a->text, port);
    case EACCES:
    case EPERM:
        return err_set(e, 0, 0,
                       "cannot listen on %s: %s; ports below 1024 need root; choose a "
                       "higher one",
                       a->text, strerror(code));
    case EADDRNOTAVAIL:
        return err_set(
            e, 0, 0,
            "cannot listen on %s: this machine does not have that address; `ip addr` lists "
            "those it has",
            a->text);
    case EAFNOSUPPORT:
        return err_set(e, 0, 0, "cannot listen on %s: this machine has no %s", a->text,
                       a->sa.ss_family == AF_INET6 ? "IPv6" : "IPv4");
    default: return err_set(e, 0, 0, "cannot listen on %s: %s", a->text, strerror(code));
    }
}

int addr_listen(struct addr *a, bool shared, struct err *e)
{
    int fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cannot_listen(a, errno, e);
    int code = addr_is_unix(a) ? bind_to(fd, a) : bind_inet(fd, a, shared);
    if (code == -EADDRINUSE && addr_is_unix(a) && is_abandoned(a)) {
        addr_unlink(a);
        code = bind_to(fd, a);
    }
    if (code == 0 && listen(fd, LISTEN_BACKLOG))
        code = -errno;
    if (code) {
        sys_close(fd);
        return cannot_listen(a, -code, e);
    }
    a->listening = true;
    socklen_t n = sizeof a->sa;
    if (!addr_is_unix(a) && getsockname(fd, (struct sockaddr *)&a->sa, &n) == 0)
        a->n = n;
    return fd;
}

void addr_unlink(const struct addr *a)
{
    if (addr_is_unix(a) && is_socket_file(a))
        (void)unlink(const_un(a)->sun_path);
}

/* ---- connecting ---- */

int addr_connect(const struct addr *a)
{
    int fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (!addr_is_unix(a))
        switch_on(fd, IPPROTO_TCP, TCP_NODELAY);
    if (connect(fd, (const struct sockaddr *)&a->sa, a->n) == 0 || errno == EINPROGRESS ||
        errno == EINTR)
        return fd;
    int code = errno;
    sys_close(fd);
    errno = code;
    return -1;
}
