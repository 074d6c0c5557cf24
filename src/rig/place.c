/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trial has for itself. Its directory is RESULTS/slot-N, made anew for each; when the trial is
 * worth it, the logs move to RESULTS/NUMBER.
 *
 *     slot-0/a  slot-0/b     directories of nodes a and b
 *     slot-0/a.log           what a has printed
 *
 * Ports are below those that the system gives to connections: so none is taken by a connection between
 * now and the moment when its node listens. Each is another one than last time. */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "io/sys.h"
#include "rig/folder.h"
#include "rig/rig_int.h"

enum { PORT_FIRST = 20000, PORT_LAST = 31999 };

/* ---- ports ---- */

static bool port_is_free(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_ANY)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free = fd >= 0 && bind(fd, (const struct sockaddr *)&to, sizeof to) == 0;
    if (fd >= 0)
        sys_close(fd);
    return is_free;
}

static int take_ports(struct slot *s)
{
    struct rig *rig = s->rig;
    uint32_t n = rig->trials->ports.n;
    s->port = arena_zero(&s->arena, (n + 1) * sizeof *s->port);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tries = 0;
        do {
            if (++tries > PORT_LAST - PORT_FIRST)
                return slot_broken(s, "no port between %d and %d is free", PORT_FIRST, PORT_LAST);
            rig->next_port = rig->next_port >= PORT_LAST ? PORT_FIRST : rig->next_port + 1;
        } while (!port_is_free(rig->next_port));
        s->port[i] = rig->next_port;
    }
    return 0;
}

/* ---- directories ---- */

static int make_directories(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    struct err e = {0};
    const char *base = arena_printf(&s->arena, "%.*s/slot-%u", SLICE_ARG(s->rig->dir), s->number);
    s->base = slice_of(base);
    s->dir = arena_zero(&s->arena, (t->nodes.n + 1) * sizeof *s->dir);
    folder_remove(base);
    if (mkdir(base, 0700))
        return slot_broken(s, "the directory %s cannot be made: %s", base, strerror(errno));
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct trials_node *n = &t->nodes.at[i];
        const char *own = arena_printf(&s->arena, "%s/%.*s", base, SLICE_ARG(n->name));
        const char *from = NULL;
        if (n->data.n && n->data.p[0] == '/')
            from = arena_copy(&s->arena, n->data.p, n->data.n);
        else if (n->data.n)
            from = arena_printf(&s->arena, "%.*s/%.*s", SLICE_ARG(t->dir), SLICE_ARG(n->data));
        s->dir[i] = slice_of(own);
        if (folder_make(from, own, &e))
            return slot_broken(s, "%s", e.text);
    }
    return 0;
}

int place_make(struct slot *s)
{
    if (make_directories(s) || take_ports(s))
        return -1;
    s->seats = (struct trials_seats){s->port, s->dir};
    return 0;
}

static bool is_log(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".log") == 0;
}

/* The logs of all, and those that the file names. */
void place_keep(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    const char *to = arena_copy(&s->arena, s->result->dir.p, s->result->dir.n);
    const char *inside = arena_printf(&s->arena, "%s/x", to);
    struct dirent *one;
    folder_remove(to);
    DIR *dir = s->base.p ? opendir(s->base.p) : NULL;
    if (!dir || file_make_directories(inside)) {
        if (dir)
            (void)closedir(dir);
        return;
    }
    while ((one = readdir(dir)))
        if (is_log(one->d_name))
            folder_keep(arena_printf(&s->arena, "%s/%s", s->base.p, one->d_name),
                        arena_printf(&s->arena, "%s/%s", to, one->d_name));
    (void)closedir(dir);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        for (uint32_t k = 0; s->dir && k < t->nodes.at[i].logs.n; k++) {
            slice name = t->nodes.at[i].logs.at[k];
            const char *slash = memrchr(name.p, '/', name.n);
            slice last = slash ? slice_from(name, (size_t)(slash + 1 - name.p)) : name;
            folder_keep(arena_printf(&s->arena, "%.*s/%.*s", SLICE_ARG(s->dir[i]), SLICE_ARG(name)),
                        arena_printf(&s->arena, "%s/%.*s-%.*s", to, SLICE_ARG(t->nodes.at[i].name),
                                     SLICE_ARG(last)));
        }
}

void place_drop(struct slot *s)
{
    if (s->base.p)
        folder_remove(s->base.p);
    s->base = (slice){0};
}

/* ---- texts ---- */

slice place_expand(struct slot *s, uint32_t node, slice text)
{
    struct buf out = BUF_INIT(1 << 20);
    trials_expand(s->rig->trials, &s->seats, node, text, &out);
    return buf_keep(&out, &s->arena);
}

struct env {
    struct slot *slot;
    struct text_pair *at;
    uint32_t n;
};

static void env_add(void *user, slice name, slice value)
{
    struct env *v = user;
    struct arena *a = &v->slot->arena;
    v->at = arena_grown(a, v->at, v->n, sizeof *v->at);
    v->at[v->n++] = (struct text_pair){slice_copy(a, name), slice_copy(a, value)};
}

const struct text_pair *place_env(struct slot *s, uint32_t node, const struct text_pairs *own,
                                  uint32_t *n)
{
    const struct trials *t = s->rig->trials;
    struct env v = {.slot = s};
    uint32_t seat = node == UINT32_MAX ? 0 : node;
    trials_env(t, &s->seats, seat, env_add, &v);
    for (uint32_t i = 0; i < t->env.n; i++)
        env_add(&v, t->env.at[i].name, place_expand(s, seat, t->env.at[i].value));
    for (uint32_t i = 0; own && i < own->n; i++)
        env_add(&v, own->at[i].name, place_expand(s, seat, own->at[i].value));
    *n = v.n;
    return v.at;
}
