/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox learn: contracts from the stored campaign. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/contracts.h"
#include "data/yaml.h"
#include "report/report.h"

static int fail_file(const char *what, const char *file, struct err *e)
{
    return err_set(e, 0, 0, "%s cannot be %s: %s", file, what, strerror(errno));
}

/* The directory of the file, one level. */
static int make_directory(struct session *s, const char *file, struct err *e)
{
    const char *slash = strrchr(file, '/');
    if (!slash || slash == file)
        return 0;
    const char *dir = arena_copy(&s->arena, file, (size_t)(slash - file));
    return mkdir(dir, 0777) && errno != EEXIST ? fail_file("made", dir, e) : 0;
}

/* All of it or nothing. */
static int write_whole(struct session *s, const char *file, const struct buf *text, struct err *e)
{
    const char *name = arena_printf(&s->arena, "%s.%ld.new", file, (long)getpid());
    if (make_directory(s, file, e))
        return -1;
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

static int read_whole(struct session *s, const char *file, slice *out, struct err *e)
{
    *out = SLICE("");
    FILE *in = fopen(file, "re");
    if (!in)
        return errno == ENOENT ? 0 : fail_file("read", file, e);
    char *bytes = arena_alloc(&s->arena, YAML_BYTES_MAX + 1);
    size_t n = fread(bytes, 1, YAML_BYTES_MAX, in);
    bool failed = ferror(in);
    fclose(in);
    bytes[n] = 0;
    *out = (slice){bytes, n};
    return failed ? fail_file("read", file, e) : 0;
}

static void tell(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "outfox: %s\n", text);
}

/* *changed: the file was there, and is another one now. */
static int write_contract(struct session *s, uint32_t i, bool *changed, struct err *e)
{
    const char *file = contracts_file(s, i);
    struct contract *contract = s->contracts.at[i];
    struct buf text = BUF_INIT(YAML_BYTES_MAX);
    slice before;
    int failed = read_whole(s, file, &before, e);
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
        printf("%s %s\n", file, !before.n ? "written" : other ? "changed" : "is as it was");
    *changed |= other && before.n;
    buf_deinit(&text);
    if (!failed && before.n)
        contract_remark(contract, campaign_complete(s->campaigns.at[i]),
                        campaign_finish(s->campaigns.at[i]), tell, NULL);
    return failed;
}

static int restore(struct session *s, uint32_t i, struct err *e)
{
    const char *name = session_scenario(s, i);
    int status = campaign_restore(s->campaigns.at[i], e);
    if (status < 0 || status == STATUS_OTHER)
        return status < 0 ? EXIT_ENVIRONMENT : EXIT_USAGE;
    if (status > 0 || !contract_ready(s->contracts.at[i])) {
        err_set(e, 0, 0, "no campaign of \"%s\" is stored to learn from: outfox run makes one",
                name);
        return EXIT_USAGE;
    }
    if (campaign_summary(s->campaigns.at[i])->broken) {
        err_set(e, 0, 0, "\"%s\" fails without any fault (%s): there is nothing to be learned",
                name, campaign_summary(s->campaigns.at[i])->broken);
        return EXIT_ENVIRONMENT;
    }
    const struct summary *summary = campaign_finish(s->campaigns.at[i]);
    if (summary->doubt && summary->space <= 1) {
        err_set(e, 0, 0,
                "\"%s\": %s. There is nothing to be learned; outfox report says what to do", name,
                summary->doubt);
        return EXIT_INCONCLUSIVE;
    }
    if (!campaign_complete(s->campaigns.at[i]))
        fprintf(stderr, "outfox: the campaign of \"%s\" is not complete: more may be missing\n",
                name);
    return 0;
}

static int check_files(struct session *s, struct err *e)
{
    for (uint32_t i = 0; i < s->scenarios.n && !s->args->update; i++)
        if (access(contracts_file(s, i), F_OK) == 0)
            return err_set(e, 0, 0, "%s is there already: --update changes what changed",
                           contracts_file(s, i));
    return 0;
}

static int learn(struct session *s, struct err *e)
{
    bool changed = false;
    int code = check_files(s, e) || contracts_load(s, s->args->update, e) ? EXIT_USAGE : 0;
    if (!code)
        code = session_open_store(s, STORE_READ, e) ? EXIT_ENVIRONMENT : session_adopt(s, e);
    if (code)
        return code;
    s->contract_watches = true;
    session_make_campaigns(s);
    for (uint32_t i = 0; i < s->scenarios.n && !code; i++)
        code = restore(s, i, e);
    for (uint32_t i = 0; i < s->scenarios.n && !code; i++)
        code = write_contract(s, i, &changed, e) ? EXIT_ENVIRONMENT : 0;
    return code ? code : changed ? EXIT_FINDINGS : EXIT_OK;
}

int cmd_learn(const struct args *args)
{
    struct session s;
    struct err e = {0};
    int code = session_open(&s, args, args->positional[0]);
    if (code)
        return code;
    code = learn(&s, &e);
    if (code && e.text[0])
        cmd_fail(&e);
    session_close(&s);
    return code;
}
