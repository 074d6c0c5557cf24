/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox init, outfox validate: outfox.yaml, written and checked. Nothing is written unless all of it
 * can be, and nothing is replaced unless asked for. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"
#include "cmd/cmd.h"
#include "config/config.h"
#include "config/reach.h"
#include "config/starter.h"
#include "data/json.h"
#include "live/listing.h"
#include "report/escape.h"
#include "report/report.h"

/* Where it is written. */
struct plan_of_files {
    const char *file, *compose;
    const char *schema, *schema_path; /* as it is named; beside the file. NULL: not wanted */
    bool force;
};

static void warn(void *ctx, const char *text)
{
    const struct campaign_config *c = ctx;
    fprintf(stderr, "outfox: %s: warning: %s\n", c->source, text);
}

/* ---- init ---- */

static int take_setting(struct starter *s, const struct setting *o, struct plan_of_files *p,
                        struct err *e)
{
    slice value = slice_of(o->value);
    if (!text_is_utf8(value))
        return err_set(e, 0, 0, "--%s is not valid YAML: it is not UTF-8", o->name);
    if (strcmp(o->name, "service") == 0)
        return starter_add_service(s, value, e);
    if (strcmp(o->name, "run") == 0)
        return starter_add_run(s, value, e);
    if (strcmp(o->name, "request") == 0 || strcmp(o->name, "command") == 0)
        starter_add_scenario(s, o->name[0] == 'c', value);
    else if (strcmp(o->name, "compose") == 0)
        p->compose = o->value;
    else if (strcmp(o->name, "schema") == 0)
        p->schema = o->value;
    else
        p->force = true;
    return 0;
}

static int take_all(struct starter *s, const struct args *args, struct plan_of_files *p,
                    struct err *e)
{
    p->file = args->n_positional ? args->positional[0] : "outfox.yaml";
    bool on_stdout = strcmp(p->file, "-") == 0;
    for (uint32_t i = 0; i < args->settings.n; i++)
        if (take_setting(s, &args->settings.at[i], p, e))
            return -1;
    /* last, because what was told outweighs it */
    if (p->compose && starter_compose(s, p->compose, e))
        return -1;
    if (args->json && on_stdout)
        return err_set(e, 0, 0, "--json needs a FILE: standard output cannot hold both");
    if (!p->schema)
        return 0;
    if (!p->schema[0] || strpbrk(p->schema, "/ \n") || on_stdout)
        return err_set(e, 0, 0,
                       "--schema takes the name of a file to write next to FILE, not \"%s\"",
                       p->schema);
    const char *slash = strrchr(p->file, '/');
    p->schema_path = arena_printf(&s->arena, "%.*s%s", slash ? (int)(slash - p->file) + 1 : 0,
                                  p->file, p->schema);
    if (strlen(p->schema_path) >= PATH_MAX)
        return err_set(e, 0, 0, "the path of the schema is too long");
    if (strcmp(p->schema_path, p->file) == 0)
        return err_set(e, 0, 0, "--schema must name another file than FILE itself");
    s->schema = slice_of(p->schema);
    return 0;
}

static int check_absent(const char *path, bool force, struct err *e)
{
    if (force || !path || strcmp(path, "-") == 0 || access(path, F_OK) != 0)
        return 0;
    return err_set(e, 0, 0, "%s already exists; use --force to replace it", path);
}

int cmd_write(const char *path, const struct buf *text, bool force)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (force ? O_TRUNC : O_EXCL);
    int fd = open(path, flags | O_NONBLOCK, 0666); /* it does not wait for the reader of a pipe */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    int why = errno;
    bool ok = false;
    if (f) {
        struct stat st;
        bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
        (void)fcntl(fd, F_SETFL, 0);
        errno = 0;
        ok = fwrite(text->p, 1, text->n, f) == text->n;
        why = errno;
        ok = fclose(f) == 0 && ok;
        why = why ? why : errno;
        if (!ok && regular)
            unlink(path); /* half a file is worse than none */
    }
    if (ok)
        return EXIT_OK;
    fprintf(stderr, "outfox: %s cannot be written: %s\n", path,
            why == ENXIO ? "no program reads from this pipe" : strerror(why));
    return EXIT_ENVIRONMENT;
}

static int write_all(const struct plan_of_files *p, const struct buf *text, bool json)
{
    struct buf schema = BUF_INIT(1 << 20), out = BUF_INIT(1 << 16);
    int code = EXIT_OK;
    if (strcmp(p->file, "-") == 0) {
        fputs(buf_text(text), stdout);
        return EXIT_OK;
    }
    if (p->schema) {
        campaign_config_schema(&schema);
        code = cmd_write(p->schema_path, &schema, p->force);
        buf_deinit(&schema);
    }
    if (code == EXIT_OK)
        code = cmd_write(p->file, text, p->force);
    if (code != EXIT_OK)
        return code;
    if (json) {
        struct json_out j = json_out(&out, JSON_PRETTY);
        json_map(&j, NULL);
        json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
        json_text(&j, "file", p->file);
        json_text(&j, "schema", p->schema_path);
        json_map_end(&j);
        buf_addc(&out, '\n');
    } else {
        bool usual = strcmp(p->file, "outfox.yaml") == 0;
        buf_addf(&out, "wrote %s; read it, then run: outfox validate%s%s\n", p->file,
                 usual ? "" : " ", usual ? "" : p->file);
    }
    cmd_print(&out, stdout);
    return EXIT_OK;
}

int cmd_init(const struct args *args)
{
    struct starter *s = starter_new();
    struct plan_of_files p = {0};
    struct buf text = BUF_INIT(1 << 20);
    struct campaign_config *c;
    struct err e = {0};
    int code;
    if (take_all(s, args, &p, &e) || starter_text(s, &text, &e) ||
        check_absent(p.file, p.force, &e) || check_absent(p.schema_path, p.force, &e))
        code = cmd_fail(&e);
    else
        code = write_all(&p, &text, args->json);
    /* what the file cannot say yet: whom the services call */
    if (code == EXIT_OK && campaign_config_parse(buf_slice(&text), p.file, &c, &e) == 0) {
        reach_check(c, warn, c);
        campaign_config_free(c);
    }
    buf_deinit(&text);
    starter_free(s);
    return code;
}

/* ---- validate ---- */

static void add_warning(void *ctx, const char *text)
{
    json_text(ctx, NULL, text);
}

static uint32_t count_started(const struct campaign_config *c)
{
    uint32_t started = 0;
    for (uint32_t i = 0; i < c->services.n; i++)
        started += c->services.at[i].run.n > 0;
    return started;
}

void validate_json(const struct campaign_config *c, struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "file", c->source);
    json_str(&j, "name", c->name);
    json_uint(&j, "services", c->services.n);
    json_uint(&j, "started", count_started(c));
    json_bool(&j, "simulated", c->simulate.n > 0);
    json_uint(&j, "scenarios", c->scenarios.n);
    json_bool(&j, "suite", c->suite.given);
    json_list(&j, "tests");
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        const struct scenario_spec *s = &c->scenarios.at[i];
        if (!s->test.n)
            continue;
        json_map(&j, NULL);
        json_str(&j, "scenario", s->name);
        json_str(&j, "test", s->test);
        json_map_end(&j);
    }
    json_list_end(&j);
    json_uint(&j, "modes", c->modes.n);
    json_list(&j, "warnings");
    config_warn(c, add_warning, &j);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}

int cmd_validate(const struct args *args)
{
    struct campaign_config *c;
    struct err e = {0};
    struct buf out = BUF_INIT(SIZE_MAX);
    if (args->schema) {
        campaign_config_schema(&out);
        cmd_print(&out, stdout);
        return EXIT_OK;
    }
    if (campaign_config_load(args->positional[0], &c, &e))
        return cmd_fail(&e);
    if (args->tests && c->suite.given && listing_add(c, &e)) {
        campaign_config_free(c);
        cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    if (args->json) {
        validate_json(c, &out);
    } else {
        config_warn(c, warn, c);
        buf_addf(&out, "%s is valid: ", c->source);
        if (c->simulate.n)
            buf_addf(&out, "the simulated system %s, ", c->simulate.p);
        else
            buf_addf(&out, "%u service%s (%u started by Outfox), ", c->services.n,
                     plural(c->services.n, "", "s"), count_started(c));
        if (c->scenarios.n)
            buf_addf(&out, "%u scenario%s, ", c->scenarios.n, plural(c->scenarios.n, "", "s"));
        else if (!c->suite.given)
            buf_adds(&out, "its scenarios, ");
        if (c->suite.given && !args->tests)
            buf_adds(&out, "a suite (its tests: --tests), ");
        buf_addf(&out, "%u mode%s\n", c->modes.n, plural(c->modes.n, "", "s"));
        for (uint32_t i = 0; i < c->scenarios.n; i++)
            if (c->scenarios.at[i].test.n)
                escape_addf(&out, escape_line, "%s  %s\n", c->scenarios.at[i].name.p,
                            c->scenarios.at[i].test.p);
    }
    cmd_print(&out, stdout);
    campaign_config_free(c);
    return EXIT_OK;
}
