/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/contracts.h"

#include <errno.h>
#include <unistd.h>

#include "data/yaml.h"

const char *contracts_file(struct session *s, uint32_t i)
{
    const struct scenario_spec *spec = &s->config->scenarios.at[s->scenarios.at[i]];
    struct buf path = BUF_INIT(4096);
    if (spec->contract.n)
        return spec->contract.p;
    slice dir = s->config->dir;
    if (dir.n && !slice_is(dir, "."))
        buf_addf(&path, "%.*s/", SLICE_ARG(dir));
    buf_addf(&path, "resilience/%s.yaml", spec->name.p);
    return buf_keep(&path, &s->arena).p;
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

int contracts_load(struct session *s, bool read, struct err *e)
{
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        const struct node *root = NULL;
        struct contract *contract;
        struct contract_options o = {
            .names = &s->names,
            .faultloads = &s->faultloads,
            .settings = &s->judging.settings,
            .scenario = session_scenario(s, i),
            .file = contracts_file(s, i),
            .words = &s->words,
            .strict = s->config->scenarios.at[s->scenarios.at[i]].under_faults.given};
        bool missing = access(o.file, F_OK) && errno == ENOENT;
        if (read && !missing && yaml_load(o.file, &s->arena, &root, e))
            return -1;
        if (root)
            find_undecided(&o);
        if (contract_load(&o, root, &contract, e)) {
            struct buf source = BUF_INIT(sizeof e->source - 1);
            buf_adds(&source, o.file);
            memcpy(e->source, buf_text(&source), source.n + 1);
            buf_deinit(&source);
            return -1;
        }
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
        const char *file = contracts_file(s, i);
        bool whole = strncmp(lines, "- ", 2) != 0 && lines[0] != ' ' && lines[0] != '#';
        fprintf(out, "\nNOT DECLARED  if this is what you want, add to %s%s:\n%s", file,
                whole ? "" : ", under `when`", lines);
    }
}
