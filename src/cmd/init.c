/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox init: nothing is written unless all of it can be, and nothing is replaced unless asked
 * for. */
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
#include "data/json_out.h"
#include "report/report.h"

struct plan_of_files {
    const char *file, *compose, *schema; /* NULL: not given */
    struct buf schema_path;
    bool force, json;
};

/* ---- what is told ---- */

static int take_setting(struct starter *s, const struct setting *o, struct plan_of_files *p,
                        struct err *e)
{
    slice value = slice_of(o->value);
    if (!text_is_utf8(value))
        return err_set(e, 0, 0, "--%s is not valid YAML: it is no UTF-8", o->name);
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

/* The schema stands beside the file. */
static int plan_schema(struct starter *s, struct plan_of_files *p, struct err *e)
{
    const char *slash = strrchr(p->file, '/');
    size_t dir = slash ? (size_t)(slash - p->file) + 1 : 0;
    if (!p->schema)
        return 0;
    if (!p->schema[0] || strpbrk(p->schema, "/ \n") || strcmp(p->file, "-") == 0)
        return err_set(e, 0, 0,
                       "--schema takes the name of a file that is written beside FILE, not \"%s\"",
                       p->schema);
    buf_add(&p->schema_path, (slice){p->file, dir});
    buf_adds(&p->schema_path, p->schema);
    if (p->schema_path.full)
        return err_set(e, 0, 0, "the path of the schema is too long");
    if (strcmp(p->schema_path.p, p->file) == 0)
        return err_set(e, 0, 0, "--schema needs another name than the file itself");
    s->schema = slice_of(p->schema);
    return 0;
}

static int take_all(struct starter *s, const struct args *args, struct plan_of_files *p,
                    struct err *e)
{
    p->json = args->json;
    p->file = args->n_positional ? args->positional[0] : "outfox.yaml";
    for (uint32_t i = 0; i < args->settings.n; i++)
        if (take_setting(s, &args->settings.at[i], p, e))
            return -1;
    /* last, because what was told outweighs it */
    if (p->compose && starter_compose(s, p->compose, e))
        return -1;
    if (p->json && strcmp(p->file, "-") == 0)
        return err_set(e, 0, 0, "--json needs a FILE: standard output cannot hold both");
    return plan_schema(s, p, e);
}

/* ---- writing ---- */

static int check_absent(const char *path, bool force, struct err *e)
{
    if (force || strcmp(path, "-") == 0 || access(path, F_OK) != 0)
        return 0;
    return err_set(e, 0, 0, "%s is there already: --force replaces it", path);
}

static int fail_write(const char *path)
{
    fprintf(stderr, "outfox: %s cannot be written: %s\n", path,
            errno == ENXIO ? "no program reads from this pipe" : strerror(errno));
    return EXIT_ENVIRONMENT;
}

static int write_file(const char *path, const struct buf *text, bool force)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (force ? O_TRUNC : O_EXCL);
    int fd = open(path, flags | O_NONBLOCK, 0666); /* it does not wait for the reader of a pipe */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return fail_write(path);
    (void)fcntl(fd, F_SETFL, 0);
    errno = 0;
    struct stat st;
    bool regular = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    bool written = fwrite(text->p, 1, text->n, f) == text->n;
    int why = errno;
    if (fclose(f) == 0 && written)
        return EXIT_OK;
    errno = why ? why : errno;
    int code = fail_write(path);
    if (regular)
        unlink(path); /* half a file is worse than none */
    return code;
}

static void print_json(const struct plan_of_files *p)
{
    struct buf text = BUF_INIT(1 << 16);
    struct json_out j = json_out(&text, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "file", p->file);
    json_text(&j, "schema", p->schema ? buf_text(&p->schema_path) : NULL);
    json_map_end(&j);
    buf_addc(&text, '\n');
    cmd_print(&text, stdout);
}

static void warn(void *ctx, const char *text)
{
    const struct plan_of_files *p = ctx;
    fprintf(stderr, "outfox: %s: warning: %s\n", p->file, text);
}

/* What the file cannot say yet: whom the services call. */
static void warn_all(struct plan_of_files *p, const struct buf *text)
{
    struct campaign_config *c;
    struct err ignored = {0};
    if (campaign_config_parse(buf_slice(text), p->file, &c, &ignored))
        return;
    reach_check(c, warn, p);
    campaign_config_free(c);
}

static int write_all(const struct plan_of_files *p, const struct buf *text)
{
    int code = EXIT_OK;
    if (strcmp(p->file, "-") == 0) {
        fputs(buf_text(text), stdout);
        return EXIT_OK;
    }
    if (p->schema) {
        struct buf schema = BUF_INIT(1 << 20);
        campaign_config_schema(&schema);
        code = write_file(buf_text(&p->schema_path), &schema, p->force);
        buf_deinit(&schema);
    }
    if (code == EXIT_OK)
        code = write_file(p->file, text, p->force);
    if (code == EXIT_OK && p->json)
        print_json(p);
    else if (code == EXIT_OK)
        printf("%s is written. Read it, then: outfox validate%s%s\n", p->file,
               strcmp(p->file, "outfox.yaml") == 0 ? "" : " ",
               strcmp(p->file, "outfox.yaml") == 0 ? "" : p->file);
    return code;
}

int cmd_init(const struct args *args)
{
    struct starter *s = starter_new();
    struct plan_of_files p = {.schema_path = BUF_INIT(PATH_MAX)};
    struct buf text = BUF_INIT(1 << 20);
    struct err e = {0};
    int code;
    if (take_all(s, args, &p, &e) || starter_text(s, &text, &e) ||
        check_absent(p.file, p.force, &e) ||
        (p.schema && check_absent(buf_text(&p.schema_path), p.force, &e)))
        code = cmd_fail(&e);
    else
        code = write_all(&p, &text);
    if (code == EXIT_OK)
        warn_all(&p, &text);
    buf_deinit(&p.schema_path);
    buf_deinit(&text);
    starter_free(s);
    return code;
}
