/* SPDX-License-Identifier: Apache-2.0
 *
 * The contracts of a session's scenarios: where their files are, what is missing in them; and outfox
 * learn, which writes them from the stored campaign. */
#include "cmd/session.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "data/yaml.h"
#include "report/report.h"

/* The file of the session's i-th scenario. */
static const char *file_of(struct session *s, uint32_t i)
{
    const struct scenario_spec *spec = &s->config->scenarios.at[s->scenarios.at[i]];
    slice dir = s->config->dir;
    if (spec->contract.n)
        return spec->contract.p;
    return dir.n && !slice_is(dir, ".")
               ? arena_printf(&s->arena, "%.*s/resilience/%s.yaml", SLICE_ARG(dir), spec->name.p)
               : arena_printf(&s->arena, "resilience/%s.yaml", spec->name.p);
}

/* `outfox learn` writes it where a human must decide; it is a comment, so no reader of YAML sees
 * it. */
static void find_undecided(struct contract_options *o)
{
    FILE *f = fopen(o->file, "re");
    char line[4096];
    for (uint32_t n = 1; f && fgets(line, sizeof line, f); n += strchr(line, '\n') != NULL)
        if (slice_starts(slice_trim(slice_of(line)), SLICE("# decide")) && o->undecided++ == 0)
            o->undecided_line = n;
    if (f)
        fclose(f);
}

int contracts_load_one(struct session *s, uint32_t i, bool read, struct contract **out,
                       struct err *e)
{
    const struct node *root = NULL;
    struct contract_options o = {
        .names = &s->names,
        .faultloads = &s->faultloads,
        .settings = &s->judging.settings,
        .scenario = session_scenario(s, i),
        .file = file_of(s, i),
        .words = &s->words,
        .strict = s->config->scenarios.at[s->scenarios.at[i]].under_faults.given};
    bool missing = access(o.file, F_OK) && errno == ENOENT;
    if (read && !missing && yaml_load(o.file, &s->arena, &root, e))
        return -1;
    if (root)
        find_undecided(&o);
    if (contract_load(&o, root, out, e) == 0)
        return 0;
    (void)snprintf(e->source, sizeof e->source, "%s", o.file);
    return -1;
}

int contracts_load(struct session *s, bool read, struct err *e)
{
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        struct contract *contract;
        if (contracts_load_one(s, i, read, &contract, e))
            return -1;
        vec_push(&s->contracts, contract);
    }
    return 0;
}

void contracts_free(struct session *s)
{
    for (uint32_t i = 0; i < s->contracts.n; i++)
        contract_free(s->contracts.at[i]);
    vec_deinit(&s->contracts);
}

bool contracts_were_used(struct session *s)
{
    struct err ignored = {0};
    for (uint32_t i = 0; i < s->scenarios.n && s->store; i++) {
        uint64_t campaign = 0;
        slice hash = {0};
        if (!store_find(s->store, slice_of(session_scenario(s, i)), &campaign, &ignored) &&
            campaign &&
            !store_get(s->store, campaign, SLICE("contract"), &s->arena, &hash, &ignored) && hash.p)
            return true;
    }
    return false;
}

void contracts_print(struct session *s, FILE *out)
{
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        const char *lines = campaign_lines(s->campaigns.at[i]);
        if (!*lines)
            continue;
        const char *file = file_of(s, i);
        bool whole = strncmp(lines, "- ", 2) != 0 && lines[0] != ' ' && lines[0] != '#';
        fprintf(out, "\nNOT DECLARED  if this is what you want, add to %s%s:\n%s", file,
                whole ? "" : ", under `when`", lines);
    }
}

/* ---- outfox learn ---- */

static int fail_file(const char *what, const char *file, struct err *e)
{
    return err_set(e, 0, 0, "%s cannot be %s: %s", file, what, strerror(errno));
}

/* All of it or nothing; its directory is made, one level. */
static int write_whole(struct session *s, const char *file, const struct buf *text, struct err *e)
{
    const char *name = arena_printf(&s->arena, "%s.%ld.new", file, (long)getpid());
    const char *slash = strrchr(file, '/');
    if (slash && slash != file) {
        const char *dir = arena_copy(&s->arena, file, (size_t)(slash - file));
        if (mkdir(dir, 0777) && errno != EEXIST)
            return fail_file("made", dir, e);
    }
    FILE *out = fopen(name, "wex");
    if (!out)
        return fail_file("written", name, e);
    bool failed = text->n && fwrite(text->p, 1, text->n, out) != text->n;
    failed |= fflush(out) || fsync(fileno(out));
    failed |= fclose(out) != 0;
    if (failed || rename(name, file)) {
        fail_file("written", file, e);
        unlink(name);
        return -1;
    }
    return 0;
}

static void print_remark(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "outfox: %s\n", text);
}

/* *changed: the file was there, and is another one now. */
static int write_contract(struct session *s, uint32_t i, bool *changed, struct err *e)
{
    const char *file = file_of(s, i);
    struct contract *contract = s->contracts.at[i];
    struct buf text = BUF_INIT(YAML_BYTES_MAX);
    struct buf there = BUF_INIT(YAML_BYTES_MAX);
    errno = file_read(file, &there);
    int failed = errno && errno != ENOENT ? fail_file("read", file, e) : 0;
    slice before = buf_keep(&there, &s->arena);
    if (!failed && !before.n)
        contract_print(contract, &text);
    else if (!failed)
        failed = contract_update(contract, before, &text, e) ? 0 : -1;
    bool other = !failed && !slice_eq(before, buf_slice(&text));
    if (other)
        failed = write_whole(s, file, &text, e);
    if (!failed && before.n && other) {
        struct buf difference = BUF_INIT(SIZE_MAX);
        report_difference(file, before, buf_slice(&text), &difference);
        cmd_print(&difference, stdout);
    }
    if (!failed)
        printf("%s %s\n", file, !before.n ? "written" : other ? "changed" : "unchanged");
    *changed |= other && before.n;
    buf_deinit(&text);
    if (!failed && before.n)
        contract_remark(contract, campaign_complete(s->campaigns.at[i]),
                        campaign_finish(s->campaigns.at[i]), print_remark, NULL);
    return failed;
}

static int restore_campaign(struct session *s, uint32_t i, struct err *e)
{
    const char *name = session_scenario(s, i);
    int status = campaign_restore(s->campaigns.at[i], e);
    if (status < 0 || status == STATUS_OTHER)
        return status < 0 ? EXIT_ENVIRONMENT : EXIT_USAGE;
    if (status > 0 || !contract_ready(s->contracts.at[i])) {
        err_set(e, 0, 0, "no campaign of \"%s\" is stored to learn from; make one with outfox run",
                name);
        return EXIT_USAGE;
    }
    if (campaign_summary(s->campaigns.at[i])->broken) {
        err_set(e, 0, 0, "\"%s\" fails without any fault (%s), so there is nothing to learn", name,
                campaign_summary(s->campaigns.at[i])->broken);
        return EXIT_ENVIRONMENT;
    }
    const struct summary *summary = campaign_finish(s->campaigns.at[i]);
    if (summary->doubt && summary->space <= 1) {
        err_set(e, 0, 0, "\"%s\": %s; there is nothing to learn, and outfox report says what to do",
                name, summary->doubt);
        return EXIT_INCONCLUSIVE;
    }
    if (!campaign_complete(s->campaigns.at[i]))
        fprintf(stderr, "outfox: the campaign of \"%s\" is incomplete; more may be missing\n",
                name);
    return 0;
}

static int learn_contracts(struct session *s, struct err *e)
{
    bool changed = false;
    for (uint32_t i = 0; i < s->scenarios.n && !s->args->update; i++)
        if (access(file_of(s, i), F_OK) == 0) {
            err_set(e, 0, 0, "%s already exists; use --update to bring it up to date",
                    file_of(s, i));
            return EXIT_USAGE;
        }
    if (contracts_load(s, s->args->update, e))
        return EXIT_USAGE;
    if (store_open(s->config->store.p, STORE_READ, &s->store, e))
        return EXIT_ENVIRONMENT;
    int code = session_adopt(s, e);
    if (code)
        return code;
    s->contract_watches = true;
    session_make_campaigns(s);
    for (uint32_t i = 0; i < s->scenarios.n && !code; i++)
        code = restore_campaign(s, i, e);
    for (uint32_t i = 0; i < s->scenarios.n && !code; i++)
        code = write_contract(s, i, &changed, e) ? EXIT_ENVIRONMENT : 0;
    return code ? code : changed ? EXIT_FINDINGS : EXIT_OK;
}

int cmd_learn(const struct args *args)
{
    return session_do(args, args->positional[0], false, learn_contracts);
}
