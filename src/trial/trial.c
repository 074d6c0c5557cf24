/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of trials as a whole: loading it, what must hold between its parts, what was understood, and
 * its end. */
#include "trial/trial.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/yaml.h"
#include "trial/trial_int.h"

/* What loggers call what is wrong, in the forms that are usual. */
#define USUAL_WARNINGS                                                                             \
    "[Ww]arn|WARN|[Ee]rror|ERROR|(^|[^A-Za-z])[Ee][Rr][Rr]([^A-Za-z]|$)|[Ff]ail|FAIL|[Ff]atal|"    \
    "FATAL|[Pp]anic|PANIC|[Aa]ssert|ASSERT"

int32_t trials_node(const struct trials *t, slice name)
{
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (slice_eq(t->nodes.at[i].name, name))
            return (int32_t)i;
    return TRIALS_NONE;
}

int32_t trials_port(const struct trials *t, uint32_t node, slice name)
{
    for (uint32_t i = 0; i < t->ports.n; i++)
        if (t->ports.at[i].node == node && slice_eq(t->ports.at[i].name, name))
            return (int32_t)i;
    return TRIALS_NONE;
}

static bool site_matches(const struct trials_patterns *list, slice site)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (slice_glob(list->at[i].text, site))
            return true;
    return false;
}

bool trials_site_wanted(const struct trials *t, slice file, slice function, slice callee)
{
    struct buf site = BUF_INIT(4000);
    buf_addf(&site, "%.*s:%.*s:%.*s", SLICE_ARG(file), SLICE_ARG(function), SLICE_ARG(callee));
    bool wanted = (!t->only.n || site_matches(&t->only, buf_slice(&site))) &&
                  !site_matches(&t->except, buf_slice(&site));
    buf_deinit(&site);
    return wanted;
}

/* ---- what must hold ---- */

/* The place of a key's value; of the whole where it is not there. */
static struct plan_place place_of(const struct node *map, const char *key, struct plan_place whole)
{
    const struct node *value = node_get(map, slice_of(key));
    return value ? (struct plan_place){value->line, value->col} : whole;
}

static struct hint hint_node(struct trials *t, slice name)
{
    const char *names[TRIALS_NODES_MAX];
    for (uint32_t i = 0; i < t->nodes.n; i++)
        names[i] = arena_copy(&t->arena, t->nodes.at[i].name.p, t->nodes.at[i].name.n);
    return err_hint(name, names, t->nodes.n);
}

static int check_port(const struct trials *t, uint32_t node, slice name, struct plan_place at,
                      int32_t *out, struct err *e)
{
    size_t dot = slice_find(name, '.');
    slice of = {name.p, dot}, port = dot < name.n ? slice_from(name, dot + 1) : name;
    int32_t owner = dot < name.n ? trials_node(t, of) : (int32_t)node;
    *out = owner == TRIALS_NONE ? TRIALS_NONE : trials_port(t, (uint32_t)owner, port);
    return *out != TRIALS_NONE
               ? 0
               : FAIL(e, at, "the node %.*s has no port \"%.*s\"; \"ports\" of the node names them",
                      SHORT(t->nodes.at[node].name), SHORT(name));
}

static int check_env(const struct trials *t, uint32_t node, const struct text_pairs *env,
                     struct plan_place at, struct err *e)
{
    for (uint32_t i = 0; i < env->n; i++)
        if (variables_check(t, node, env->at[i].value, at, e))
            return -1;
    return 0;
}

static int add_ports(struct trials *t, struct err *e)
{
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct trials_node *n = &t->nodes.at[i];
        struct plan_place at = place_of(n->written, "ports", n->at);
        for (uint32_t k = 0; k < n->ports.n; k++) {
            if (trials_port(t, i, n->ports.at[k]) != TRIALS_NONE)
                return FAIL(e, at, "the port \"%.*s\" is named twice", SHORT(n->ports.at[k]));
            vec_push(&t->ports, (struct trials_port){i, n->ports.at[k]});
        }
        if (t->ports.n > TRIALS_PORTS_MAX)
            return FAIL(e, at, "there are more than %d ports", TRIALS_PORTS_MAX);
    }
    return 0;
}

/* One of command and a talk; a talk needs its port. */
static int check_alive(const struct trials *t, uint32_t node, struct err *e)
{
    struct trials_node *n = &t->nodes.at[node];
    struct plan_place at = place_of(n->written, "alive", n->at);
    if (n->alive.talk != TALKS_COMMAND)
        return n->alive.command.n ? FAIL(e, at, "\"alive\" has one of command, redis and memcached")
                                  : check_port(t, node, n->alive.port, at, &n->alive.at_port, e);
    if (!n->alive.command.n && node_get(n->written, SLICE("alive")))
        return FAIL(e, at, "\"alive\" needs one of command, redis and memcached");
    return variables_check(t, node, n->alive.command, at, e);
}

static int check_node(const struct trials *t, uint32_t node, struct err *e)
{
    const struct trials_node *n = &t->nodes.at[node];
    const struct {
        const char *key;
        slice text;
    } texts[] = {{"start", n->start}, {"ready", n->ready}, {"dir", n->dir}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (variables_check(t, node, texts[i].text, place_of(n->written, texts[i].key, n->at), e))
            return -1;
    return check_env(t, node, &n->env, place_of(n->written, "env", n->at), e) ||
                   check_alive(t, node, e)
               ? -1
               : 0;
}

/* A client's own node, its command or its talk with port and operations. */
static int check_client(struct trials *t, struct trials_client *c, struct err *e)
{
    int32_t node = trials_node(t, c->of);
    if (node == TRIALS_NONE)
        return FAIL(e, c->at, "there is no node \"%.*s\": \"node\" says whose client this is%s",
                    SHORT(c->of), hint_node(t, c->of).text);
    c->node = (uint32_t)node;
    if (c->talk == TALKS_COMMAND) {
        if (!c->command.n)
            return FAIL(e, c->at, "a client needs one of command, redis and memcached");
        if (c->operations.n)
            return FAIL(e, c->at,
                        "\"operations\" are of redis and memcached: a command has its own");
        return variables_check(t, c->node, c->command, place_of(c->written, "command", c->at), e) ||
                       check_env(t, c->node, &c->env, place_of(c->written, "env", c->at), e)
                   ? -1
                   : 0;
    }
    if (c->command.n)
        return FAIL(e, c->at, "a client has one of command, redis and memcached");
    if (!c->operations.n)
        return FAIL(e, c->at, "a client needs operations, such as [\"SET {key} {value}\"]");
    const char *talk = c->talk == TALKS_REDIS ? "redis" : "memcached";
    return check_port(t, c->node, c->port, place_of(c->written, talk, c->at), &c->at_port, e);
}

static int check_phase(struct trials *t, uint32_t phase, struct err *e)
{
    struct trials_phase *p = &t->phases.at[phase];
    if (!p->clients.n)
        return FAIL(e, p->at, "a phase needs clients: \"clients\", or \"each\" for every node");
    for (uint32_t i = 0; i < p->clients.n; i++) {
        for (uint32_t k = 0; k < i; k++)
            if (slice_eq(p->clients.at[k].name, p->clients.at[i].name))
                return FAIL(e, p->clients.at[i].at, "two clients of the phase are called \"%.*s\"",
                            SHORT(p->clients.at[i].name));
        if (check_client(t, &p->clients.at[i], e))
            return -1;
    }
    for (uint32_t i = 0; i < phase; i++)
        if (slice_eq(t->phases.at[i].name, p->name))
            return FAIL(e, p->at, "two phases are called \"%.*s\"", SHORT(p->name));
    return 0;
}

static int check_harmed(struct trials *t, struct err *e)
{
    struct plan_place at = place_of(t->root, "harm", (struct plan_place){1, 1});
    for (uint32_t i = 0; i < t->nodes.n; i++)
        t->nodes.at[i].harmed = !t->harmed.n;
    for (uint32_t i = 0; i < t->harmed.n; i++) {
        int32_t node = trials_node(t, t->harmed.at[i]);
        if (node == TRIALS_NONE)
            return FAIL(e, at, "\"harm\": there is no node \"%.*s\"%s", SHORT(t->harmed.at[i]),
                        hint_node(t, t->harmed.at[i]).text);
        t->nodes.at[node].harmed = true;
    }
    return 0;
}

static int check_all(struct trials *t, struct err *e)
{
    struct plan_place top = {1, 1};
    if (!name_valid(t->name, true))
        return FAIL(e, place_of(t->root, "trials", top),
                    "the name of trials has letters, digits, \"-\", \"_\" and \".\", at most %d",
                    NAME_BYTES_MAX);
    if (add_ports(t, e) || check_harmed(t, e) ||
        check_env(t, 0, &t->env, place_of(t->root, "env", top), e) ||
        variables_check(t, 0, t->before, place_of(t->root, "before", top), e) ||
        variables_check(t, 0, t->after, place_of(t->root, "after", top), e))
        return -1;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (check_node(t, i, e))
            return -1;
    for (uint32_t i = 0; i < t->phases.n; i++)
        if (check_phase(t, i, e))
            return -1;
    for (uint32_t i = 0; i < t->checkers.invariants.n; i++) {
        const struct trials_invariant *v = &t->checkers.invariants.at[i];
        if (variables_check(t, 0, v->command, v->at, e))
            return -1;
    }
    return 0;
}

/* ---- the whole ---- */

static void init(struct trials *t)
{
    *t = (struct trials){.dir = SLICE("."),
                         .within_ns = SECONDS(30),
                         .budget = 5,
                         .epsilon = 0.01,
                         .references = 3,
                         .repeats = 3,
                         .max_trials = 200,
                         .max_time_ns = SECONDS(3600),
                         .parallel = 1,
                         .depth = 2,
                         .checkers = {.crash = true,
                                      .client = true,
                                      .log = true,
                                      .resources = true,
                                      .restart = true,
                                      .slow_ns = SECONDS(1),
                                      .threads = 2,
                                      .descriptors = 10}};
}

/* What holds where nothing is said. */
static int add_defaults(struct trials *t, struct err *e)
{
    struct trials_pattern usual = {.text = SLICE(USUAL_WARNINGS)};
    if (!t->acts && !node_get(t->root, SLICE("experiments")))
        t->acts = OUTFOX_ERROR;
    if (!t->acts)
        return FAIL(e, place_of(t->root, "experiments", (struct plan_place){1, 1}),
                    "\"experiments\" needs one of error: true, delay: 3s and short: true");
    if (!t->policy_names.n)
        vec_push(&t->policy_names, SLICE("bsrr"));
    if (t->checkers.log_patterns.n)
        return 0;
    if (regex_parse(usual.text, &t->arena, &usual.regex, e))
        return -1;
    vec_push(&t->checkers.log_patterns, usual);
    return 0;
}

static int read_root(struct trials *t, const struct node *root, struct err *e)
{
    struct keys_reader r = {.e = e, .arena = &t->arena};
    t->root = root;
    return keys_want(&r, "a file of trials", root, NODE_MAP) ||
                   keys_read(&r, &trials_keys, t, root) || add_defaults(t, e) || check_all(t, e)
               ? -1
               : 0;
}

int trials_parse(struct trials *t, slice text, struct err *e)
{
    const struct node *root;
    init(t);
    slice kept = slice_copy(&t->arena, text);
    return yaml_parse(kept, &t->arena, &root, e) || read_root(t, root, e) ? -1 : 0;
}

int trials_load(struct trials *t, const char *path, struct err *e)
{
    const struct node *root;
    init(t);
    t->dir = file_directory(&t->arena, path);
    t->file = slice_copy(&t->arena, slice_of(path));
    if (yaml_load(path, &t->arena, &root, e))
        return -1;
    (void)snprintf(e->source, sizeof e->source, "%s", strcmp(path, "-") ? path : "standard input");
    return read_root(t, root, e);
}

static void free_checkers(struct trials_checkers *c)
{
    vec_deinit(&c->clean);
    vec_deinit(&c->log_patterns);
    vec_deinit(&c->log_ignore);
    vec_deinit(&c->invariants);
}

void trials_free(struct trials *t)
{
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        struct trials_node *n = &t->nodes.at[i];
        vec_deinit(&n->binary);
        vec_deinit(&n->ports);
        vec_deinit(&n->logs);
        vec_deinit(&n->env);
    }
    for (uint32_t i = 0; i < t->phases.n; i++) {
        for (uint32_t k = 0; k < t->phases.at[i].clients.n; k++) {
            vec_deinit(&t->phases.at[i].clients.at[k].operations);
            vec_deinit(&t->phases.at[i].clients.at[k].env);
        }
        vec_deinit(&t->phases.at[i].clients);
    }
    free_checkers(&t->checkers);
    vec_deinit(&t->env);
    vec_deinit(&t->nodes);
    vec_deinit(&t->ports);
    vec_deinit(&t->phases);
    vec_deinit(&t->essential);
    vec_deinit(&t->policy_names);
    vec_deinit(&t->harmed);
    vec_deinit(&t->only);
    vec_deinit(&t->except);
    vec_deinit(&t->registrars);
    arena_deinit(&t->arena);
}
