/* SPDX-License-Identifier: Apache-2.0
 *
 * The text is checked by reading it as a plan before anybody sees it. Commands are written as JSON
 * strings, which YAML reads too, whatever is in them. */
#include "plan/starter.h"

#include "data/node.h"
#include "data/yaml.h"

enum { TEXT_MAX = 1 << 20 };

void plan_starter_deinit(struct plan_starter *s)
{
    vec_deinit(&s->nodes);
    vec_deinit(&s->clients);
    vec_deinit(&s->containers);
    arena_deinit(&s->arena);
}

int plan_starter_node(struct plan_starter *s, slice text, struct err *e)
{
    slice rest = text, name;
    if (!slice_cut(&rest, '=', &name) || !rest.p || !rest.n || !name_valid(name, false))
        return err_set(e, 0, 0, "--node takes NAME=COMMAND, not \"%.*s\"", SHORT(text));
    vec_push(&s->nodes, (struct plan_starter_node){name, rest, {0}});
    return 0;
}

void plan_starter_client(struct plan_starter *s, slice name, slice command)
{
    bool taken = !name_valid(name, false);
    for (uint32_t i = 0; i < s->nodes.n && !taken; i++)
        taken = slice_eq(s->nodes.at[i].name, name);
    if (taken)
        name = slice_of(arena_printf(&s->arena, "client%u", s->clients.n + 1));
    vec_push(&s->clients, (struct text_pair){name, command});
}

int plan_starter_compose(struct plan_starter *s, const char *path, struct err *e)
{
    const struct node *root, *services;
    if (yaml_load(path, &s->arena, &root, e))
        return -1;
    services = node_get(root, SLICE("services"));
    if (!services || services->type != NODE_MAP || !services->n)
        return err_set(e, root->line, root->col, "this compose file has no \"services\"");
    s->compose = slice_of(path);
    for (uint32_t i = 0; i < services->n; i++) {
        slice name = services->map[i].key;
        if (!name_valid(name, true))
            return err_set(e, services->map[i].line, services->map[i].col,
                           "the name of the service \"%.*s\" has other characters than letters, "
                           "digits, \"-\", \"_\" and \".\"",
                           SHORT(name));
        vec_push(&s->containers, name);
    }
    return 0;
}

/* ---- the text ---- */

static void add_quoted(struct buf *out, const char *before, slice text, const char *after)
{
    buf_adds(out, before);
    buf_add_json_string(out, text);
    buf_adds(out, after);
}

static void add_nodes(const struct plan_starter *s, struct buf *out)
{
    if (!s->nodes.n)
        return;
    buf_adds(
        out,
        "\n# Processes that stay in the foreground, started in this order. They die with outfox.\n"
        "nodes:\n");
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        const struct plan_starter_node *n = &s->nodes.at[i];
        buf_addf(out, "  %.*s:\n", SLICE_ARG(n->name));
        add_quoted(out, "    start: ", n->command, "\n");
        if (n->ready.n)
            add_quoted(out, "    ready: ", n->ready, "\n");
        else
            buf_adds(out, "    # ready: a command that succeeds when it is, such as curl -fsS "
                          "http://127.0.0.1:8080/health\n");
    }
}

/* Containers are none of ours to start or to end: compose does, and pauses them. */
static void add_compose(const struct plan_starter *s, struct buf *out)
{
    struct buf file = BUF_INIT(5000), text = BUF_INIT(10000);
    if (!s->compose.n)
        return;
    buf_add_shell(&file, s->compose);
    buf_adds(out, "\n# podman compose takes the same words.\n");
    buf_addf(&text, "docker compose -f %s up -d --wait", buf_text(&file));
    add_quoted(out, "before: ", buf_slice(&text), "\n");
    buf_clear(&text);
    buf_addf(&text, "docker compose -f %s down --timeout 5", buf_text(&file));
    add_quoted(out, "after: ", buf_slice(&text), "\nwithin: 2m\n");
    buf_deinit(&file);
    buf_deinit(&text);
}

static void add_clients(const struct plan_starter *s, struct buf *out)
{
    buf_adds(
        out,
        "\n# What exercises the system, again and again; each time is an operation, which succeeds with\n"
        "# exit code 0. Without `every` it runs on and prints \"ok\" and \"fail\" lines instead.\n"
        "clients:\n");
    if (!s->clients.n)
        buf_adds(out, "  client: { command: curl -fsS -m 2 -o /dev/null http://127.0.0.1:8080/, "
                      "every: 200ms } # yours to change\n");
    for (uint32_t i = 0; i < s->clients.n; i++) {
        buf_addf(out, "  %.*s:\n", SLICE_ARG(s->clients.at[i].name));
        add_quoted(out, "    command: ", s->clients.at[i].value, "\n    every: 200ms\n");
    }
}

static void add_event(struct buf *out, const char *type, slice node, uint32_t seconds)
{
    buf_addf(out,
             "  - name: %s-%.*s\n    fault: { type: %s, target: %.*s }\n"
             "    trigger: { at: %us }\n    duration: 2s\n",
             type, SLICE_ARG(node), type, SLICE_ARG(node), seconds);
}

static void add_events(const struct plan_starter *s, struct buf *out)
{
    struct buf file = BUF_INIT(5000), text = BUF_INIT(10000);
    buf_adds(
        out,
        "\n# What happens, to whom, and when: outfox plan faults lists what there is; outfox plan explore\n"
        "# derives more from what it sees.\nevents:");
    buf_adds(out, s->nodes.n || s->containers.n ? "\n" : " []\n");
    if (s->nodes.n) {
        add_event(out, "kill", s->nodes.at[0].name, 2);
        add_event(out, "freeze", s->nodes.at[s->nodes.n - 1].name, 6);
    }
    buf_add_shell(&file, s->compose);
    for (uint32_t i = 0; i < s->containers.n; i++) {
        static const char *const words[] = {"pause", "unpause"};
        buf_addf(out, "  - name: pause-%.*s\n    fault:\n      type: exec\n",
                 SLICE_ARG(s->containers.at[i]));
        for (int undo = 0; undo < 2; undo++) {
            buf_clear(&text);
            buf_addf(&text, "docker compose -f %s %s %.*s%s", buf_text(&file), words[undo],
                     SLICE_ARG(s->containers.at[i]), undo ? " || :" : "");
            add_quoted(out, undo ? "      undo: " : "      start: ", buf_slice(&text), "\n");
        }
        buf_addf(out, "    trigger: { at: %us }\n    duration: 2s\n", 2 + 4 * i);
    }
    buf_deinit(&file);
    buf_deinit(&text);
}

int plan_starter_text(struct plan_starter *s, struct buf *out, struct err *e)
{
    struct plan p;
    uint32_t faults = s->containers.n > 2 ? s->containers.n : 2;
    buf_addf(
        out,
        "# A failure plan: docs/plans.md explains it, outfox plan show FILE says what it does, and\n"
        "# outfox plan run FILE does it.\nversion: 1\nplan: %.*s\nduration: %us\n",
        SLICE_ARG(s->name), 2 + 4 * faults);
    add_compose(s, out);
    add_nodes(s, out);
    add_clients(s, out);
    add_events(s, out);
    buf_adds(
        out,
        "\n# What must hold all the same.\nexpect:\n  - availability: 99 # percent of the operations\n"
        "  - gap: 1s # longest time without a success\n");
    if (s->nodes.n)
        buf_adds(out, "  - alive: true # no node ends by itself\n");
    int status = plan_parse(&p, buf_slice(out), e);
    plan_free(&p);
    return status;
}
