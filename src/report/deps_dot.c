/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependencies as a graph of services for Graphviz: an edge for each call. Hard ones are solid and
 * red, soft ones dashed and labelled with what absorbs a failure. */
#include "base/index.h"
#include "report/deps.h"
#include "report/escape.h"

/* A quoted string of the language: only a quote and a backslash mean something in it. */
static void put(FILE *out, slice text)
{
    struct buf line = BUF_INIT(1 << 16);
    escape_line(text, &line);
    fputc('"', out);
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"' || line.p[i] == '\\')
            fputc('\\', out);
        fputc(line.p[i], out);
    }
    fputc('"', out);
    buf_deinit(&line);
}

static slice service_of(const struct names *names, uid u)
{
    return names_text(names, uid_element(names, u)->service);
}

/* Its name, which is that of its scenario too: a service is drawn once for each. */
static void put_node(uint32_t scenario, slice service, FILE *out)
{
    struct buf name = BUF_INIT(1 << 16);
    buf_addf(&name, "%u/", (unsigned)scenario);
    buf_add(&name, service);
    put(out, buf_slice(&name));
    buf_deinit(&name);
}

static void put_nodes(const struct deps_report *r, uint32_t scenario, FILE *out)
{
    const struct names *names = r->summary->names;
    struct map told = {0};
    for (uint32_t i = 0; i < 2 * r->deps.rows.n; i++) {
        uid u = r->deps.rows.at[i / 2].call;
        u = i % 2 ? u : uid_parent(names, u);
        if (u == UID_NONE || map_count(&told, uid_element(names, u)->service) > 1)
            continue;
        fputs("    ", out);
        put_node(scenario, service_of(names, u), out);
        fputs(" [label=", out);
        put(out, service_of(names, u));
        fputs("];\n", out);
    }
    map_deinit(&told);
}

static void put_edge(const struct deps_report *r, const struct dep *d, uint32_t scenario, FILE *out)
{
    static const char *const styles[DEP_KINDS] = {
        [DEP_HARD] = "style=solid, color=red",
        [DEP_CONDITIONAL] = "style=solid, color=orange",
        [DEP_SOFT] = "style=dashed, color=darkgreen",
        [DEP_UNKNOWN] = "style=dotted, color=gray",
    };
    static const char *const by[DEP_BYS] = {
        [DEP_BY_VALUE] = "value", [DEP_BY_OTHER] = "instead: ", [DEP_BY_RETRY] = "retry"};
    const struct names *names = r->summary->names;
    struct buf text = BUF_INIT(1 << 16);
    buf_add(&text, names_text(names, uid_element(names, d->call)->interface));
    if (d->by != DEP_BY_NOTHING)
        buf_addf(&text, " (%s", by[d->by]);
    if (d->by == DEP_BY_OTHER)
        buf_add(&text, service_of(names, d->instead));
    if (d->by != DEP_BY_NOTHING)
        buf_addc(&text, ')');
    fputs("    ", out);
    put_node(scenario, service_of(names, uid_parent(names, d->call)), out);
    fputs(" -> ", out);
    put_node(scenario, service_of(names, d->call), out);
    fprintf(out, " [%s, label=", d->after_fault ? "style=dotted, color=orange" : styles[d->kind]);
    put(out, buf_slice(&text));
    fputs("];\n", out);
    buf_deinit(&text);
}

void report_deps_dot(const struct deps_report *list, uint32_t n, FILE *out)
{
    fputs("digraph ", out);
    put(out, slice_of(n ? list[0].summary->system : ""));
    fputs(" {\n  rankdir=LR;\n  node [shape=box];\n", out);
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "  subgraph cluster_%u {\n    label=", (unsigned)i);
        put(out, slice_of(list[i].summary->scenario));
        fputs(";\n", out);
        put_nodes(&list[i], i, out);
        for (uint32_t k = 0; k < list[i].deps.rows.n; k++)
            put_edge(&list[i], &list[i].deps.rows.at[k], i, out);
        fputs("  }\n", out);
    }
    fputs("}\n", out);
}
