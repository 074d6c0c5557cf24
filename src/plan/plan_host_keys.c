/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of hosts: where nodes and clients run, and how commands get there; what must hold of them,
 * and of who is on them. */
#include "plan/connector.h"
#include "plan/plan_int.h"

static int read_via(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct plan_host *h = into;
    const char *names[32];
    (void)key;
    for (size_t i = 0; i < n_connectors; i++)
        names[i] = connectors[i].name;
    h->connector = connector_find(h->via);
    return h->connector
               ? 0
               : keys_fail(r, value,
                           "there is no connector \"%.*s\": write local, ssh, agent, podman, "
                           "docker or kubectl%s",
                           SHORT(h->via), err_hint(h->via, names, n_connectors).text);
}

/* What becomes a word of a command line: nothing that could be taken for an option. */
static int read_word(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    slice s = *(slice *)key_field(key, into);
    bool good = s.n && s.n <= 255 && s.p[0] != '-';
    for (size_t i = 0; i < s.n; i++)
        good = good && (is_letter(s.p[i]) || is_digit(s.p[i]) || memchr("._-:/", s.p[i], 5));
    return good ? 0
                : keys_fail(r, value,
                            "\"%s\" has letters, digits, \".\", \"_\", \"-\", \":\" and \"/\", "
                            "and does not begin with \"-\"",
                            key->name);
}

static int read_fingerprint(struct keys_reader *r, const struct key *key, void *into,
                            const struct node *value)
{
    slice s = *(slice *)key_field(key, into);
    bool good = s.n == 64;
    for (size_t i = 0; i < s.n; i++)
        good = good && hex_digit(s.p[i]) >= 0;
    return good ? 0
                : keys_fail(r, value,
                            "\"%s\" is the SHA-256 of a certificate, 64 hex digits: the agent "
                            "prints it when it starts",
                            key->name);
}

static int read_dir(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    slice s = *(slice *)key_field(key, into);
    return s.p[0] == '/'
               ? 0
               : keys_fail(r, value, "\"%s\" is an absolute path on the host: /var/tmp", key->name);
}

/* clang-format off */
static const struct key host_rows[] = {
    {"via", KEY_TEXT, offsetof(struct plan_host, via), .needed = "via: ssh", .read = read_via,
     .doc = "the connector: local, ssh, agent, podman, docker or kubectl; required"},
    {"address", KEY_TEXT, offsetof(struct plan_host, address), .read = read_word,
     .doc = "of ssh and agent: a name or an address; of ssh also an alias of ssh_config"},
    {"port", KEY_U16, offsetof(struct plan_host, port), .least = 1, .most = 65535,
     .fallback = "that of ssh_config, 22; of agent 7700", .doc = "of ssh and agent"},
    {"user", KEY_TEXT, offsetof(struct plan_host, user), .read = read_word,
     .doc = "of ssh, podman and docker: as whom commands are run"},
    {"key", KEY_TEXT, offsetof(struct plan_host, key), .doc = "of ssh: file of the private key, without a passphrase or in an ssh-agent"},
    {"known-hosts", KEY_TEXT, offsetof(struct plan_host, known_hosts),
     .fallback = "those of the user and the system", .doc = "of ssh: file with the keys of known hosts; others are refused"},
    {"token-file", KEY_TEXT, offsetof(struct plan_host, token_file), .doc = "of agent: file with its token"},
    {"ca", KEY_TEXT, offsetof(struct plan_host, ca),
     .doc = "of agent: file with its certificate, or with that of the authority that has signed it"},
    {"fingerprint", KEY_TEXT, offsetof(struct plan_host, fingerprint), .read = read_fingerprint,
     .doc = "of agent, instead of ca: the SHA-256 of its certificate, as it prints it"},
    {"container", KEY_TEXT, offsetof(struct plan_host, container), .read = read_word,
     .doc = "of podman and docker: name or id; of kubectl: which one of the pod"},
    {"pod", KEY_TEXT, offsetof(struct plan_host, pod), .read = read_word, .doc = "of kubectl: name of the pod"},
    {"namespace", KEY_TEXT, offsetof(struct plan_host, space), .read = read_word, .doc = "of kubectl"},
    {"dir", KEY_TEXT, offsetof(struct plan_host, dir), .read = read_dir,
     .fallback = "/tmp", .doc = "directory on the host in which each run makes one of its own, where commands are run; it is removed afterwards"},
    {"tags", KEY_TEXTS, offsetof(struct plan_host, tags), .fallback = "none", .doc = "all nodes on the host have them too"},
};
const struct keys plan_host_keys = {"a host", "host", KEY_ROWS(host_rows)};
/* clang-format on */

int plan_read_host(struct keys_reader *r, const struct key *key, void *into,
                   const struct node_pair *pair)
{
    struct plan *p = into;
    struct plan_host h = {.name = pair->key,
                          .dir = SLICE("/tmp"),
                          .written = pair->value,
                          .at = {pair->line, pair->col}};
    int status = plan_pair_name(r, key, pair, "the name of a host") ||
                         keys_want(r, key->name, pair->value, NODE_MAP) ||
                         keys_read(r, &plan_host_keys, &h, pair->value)
                     ? -1
                     : 0;
    vec_push(&p->hosts, h); /* also after an error: it is freed with the plan */
    return status;
}

/* ---- what must hold ---- */

static bool has(const char *words, slice word)
{
    slice rest = slice_of(words), one;
    while (slice_word(&rest, &one))
        if (slice_eq(one, word))
            return true;
    return false;
}

static int check_either(const struct plan_host *h, struct err *e)
{
    slice rest = slice_of(h->connector->either), one;
    uint32_t found = 0;
    while (slice_word(&rest, &one))
        found += node_get(h->written, one) != NULL;
    return !*h->connector->either || found == 1
               ? 0
               : FAIL(e, h->at, "the connector %s needs one of %s, %s", h->connector->name,
                      h->connector->either, found ? "and not both" : "and has none");
}

/* Files are named as seen from the plan. */
static void make_absolute(struct plan *p, slice *path)
{
    if (path->n && path->p[0] != '/')
        *path = slice_of(arena_printf(&p->arena, "%.*s/%.*s", SLICE_ARG(p->dir), SLICE_ARG(*path)));
}

static int check_host(struct plan *p, struct plan_host *h, struct err *e)
{
    const struct connector *c = h->connector;
    slice rest = slice_of(c->needs), word;
    for (uint32_t i = 0; i < h->written->n; i++) {
        const struct node_pair *pair = &h->written->map[i];
        if (!slice_is(pair->key, "via") && !has(c->needs, pair->key) && !has(c->may, pair->key) &&
            !has(c->either, pair->key))
            return err_set(e, pair->line, pair->col, "the connector %s does not take \"%.*s\"",
                           c->name, SHORT(pair->key));
    }
    while (slice_word(&rest, &word))
        if (!node_get(h->written, word))
            return FAIL(e, h->at, "the connector %s needs \"%.*s\": %s", c->name, SLICE_ARG(word),
                        keys_find(&plan_host_keys, word)->doc);
    if (check_either(h, e))
        return -1;
    make_absolute(p, &h->key);
    make_absolute(p, &h->token_file);
    make_absolute(p, &h->ca);
    make_absolute(p, &h->known_hosts);
    return 0;
}

bool plan_is_far(const struct plan *p, int32_t host)
{
    return host != PLAN_NONE && p->hosts.at[host].connector->wrap;
}

static int check_on(struct plan *p, slice on, struct plan_place at, int32_t *host, struct err *e)
{
    struct hint hint;
    *host = PLAN_NONE;
    if (!on.n)
        return 0;
    for (uint32_t i = 0; i < p->hosts.n; i++)
        if (slice_eq(p->hosts.at[i].name, on))
            *host = (int32_t)i;
    HINT(p->hosts, on, &hint);
    if (*host == PLAN_NONE)
        return FAIL(e, at, "\"on\": there is no host \"%.*s\"%s; hosts lists them", SHORT(on),
                    hint.text);
    if (p->network && plan_is_far(p, *host))
        return FAIL(e, at,
                    "\"%.*s\" is another machine, and \"network\" is one of this machine alone: "
                    "leave out one of them",
                    SHORT(on));
    return 0;
}

int plan_check_hosts(struct plan *p, struct err *e)
{
    for (uint32_t i = 0; i < p->hosts.n; i++)
        if (check_host(p, &p->hosts.at[i], e))
            return -1;
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        struct plan_node *n = &p->nodes.at[i];
        if (check_on(p, n->on, n->at, &n->host, e))
            return -1;
        if (n->disk.n && plan_is_far(p, n->host))
            return FAIL(e, n->at,
                        "\"%.*s\" is another machine, and a \"disk\" is of this machine alone: "
                        "leave out one of them",
                        SHORT(n->on));
    }
    for (uint32_t i = 0; i < p->clients.n; i++) {
        struct plan_client *c = &p->clients.at[i];
        if (check_on(p, c->on, c->at, &c->host, e))
            return -1;
    }
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct plan_event *ev = &p->events.at[i];
        if (check_on(p, ev->on, ev->at, &ev->host, e))
            return -1;
        if (ev->on.n && ev->target.names.n)
            return FAIL(e, ev->at,
                        "\"on\" is for faults without a target: one with a target "
                        "happens where the target is");
    }
    return 0;
}
