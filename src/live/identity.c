/* SPDX-License-Identifier: Apache-2.0
 *
 * Identities are taken by reading, compared part by part, and kept as lines:
 *
 *   SERVICE version TEXT
 *   SERVICE none SENTENCE
 *   SERVICE part HASH NAME
 *
 * A hash has 64 bits: nobody builds two versions of a service that collide, and by chance they do
 * once in 10^19. */
#include "live/identity.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"

/* A service whose identity is being taken. */
struct taking {
    const struct campaign_config *config;
    const struct service_spec *spec;
    struct arena *keep;
    struct identity *out;
    uint32_t files;         /* that were read, */
    uint64_t bytes, others; /* their size; the hash of those that have no part of their own */
    bool own;               /* something of it is not merely a program in PATH */
    struct known_file {
        dev_t dev;
        ino_t ino;
        uint64_t hash, size;
    } * known; /* the last program that was read: services often share one */
};

static void add_part(struct taking *t, const char *name, uint64_t hash)
{
    vec_push(&t->out->parts, (struct identity_part){name, hash});
}

/* It has none. Only the first reason counts. */
static void refuse(struct taking *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse(struct taking *t, const char *format, ...)
{
    struct buf text = BUF_INIT(2000);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    for (size_t i = 0; i < text.n;
         i++) /* names of files may have line breaks: it is kept as a line */
        text.p[i] = text.p[i] == '\n' ? ' ' : text.p[i];
    if (!t->out->none)
        t->out->none = buf_keep(&text, t->keep).p;
    buf_deinit(&text);
}

/* ---- files ---- */

/* How a file is called: without the directory of outfox.yaml, in one line. */
static const char *file_name(const struct taking *t, const char *path)
{
    slice dir = t->config->dir, name = slice_of(path);
    if (slice_starts(name, dir) && name.n > dir.n && name.p[dir.n] == '/')
        name = slice_from(name, dir.n + 1);
    char *copy = arena_copy(t->keep, name.p, name.n);
    for (size_t i = 0; i < name.n; i++)
        copy[i] = copy[i] == '\n' ? ' ' : copy[i];
    return copy;
}

static void add_file(struct taking *t, const char *path, const char *name)
{
    uint64_t hash = 0, size = 0;
    if (t->out->none)
        return;
    if (t->files == IDENTITY_FILES_MAX) {
        refuse(t, "it has more than %d files; name fewer in `files`, or set `version`",
               IDENTITY_FILES_MAX);
        return;
    }
    int code = file_hash(path, IDENTITY_BYTES_MAX - t->bytes, &hash, &size);
    if (code == EFBIG)
        refuse(t, "its files have more than 2 GiB; name fewer in `files`, or set `version`");
    else if (code == EINVAL)
        refuse(t, "%s is not a regular file; leave it out of `files`, or set `version`", name);
    else if (code)
        refuse(t, "cannot read %s: %s; make it readable, or set `version`", name, strerror(code));
    t->files++;
    t->bytes += size;
    if (t->out->parts.n < IDENTITY_PARTS_MAX - 1)
        add_part(t, name, hash);
    else
        t->others = hash_mix(hash_mix(t->others, hash_slice(slice_of(name))), hash);
}

/* Hidden files are left out, as by patterns, and what Python writes beside its modules. */
static int is_listed(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "__pycache__") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A file, or all files below a directory. Links to directories within one are not followed: they may
 * lead round in circles. */
static void add_path(struct taking *t, const char *path, uint32_t depth)
{
    struct dirent **list = NULL;
    struct stat file, link;
    const char *name = file_name(t, path);
    if (t->out->none)
        return;
    if (stat(path, &file)) {
        bool dangling = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
        refuse(t, "%s %s: %s; correct `files`, or set `version`", name,
               dangling ? "is a link that leads nowhere" : "cannot be read", strerror(errno));
        return;
    }
    if (!S_ISDIR(file.st_mode)) {
        add_file(t, path, name);
        return;
    }
    if (depth && lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        return;
    int n = depth < IDENTITY_DEPTH_MAX ? scandir(path, &list, is_listed, by_bytes) : -1;
    if (n < 0)
        refuse(t, "cannot read the directory %s: %s; name other `files`, or set `version`", name,
               depth < IDENTITY_DEPTH_MAX ? strerror(errno) : "it lies too deep");
    for (int i = 0; i < n; i++) {
        struct buf inner = BUF_INIT(PATH_MAX);
        buf_addf(&inner, "%s/%s", path, list[i]->d_name);
        if (inner.full)
            refuse(t, "a path below %s is too long; name other `files`, or set `version`", name);
        else
            add_path(t, buf_text(&inner), depth + 1);
        buf_deinit(&inner);
        mem_free(list[i]);
    }
    mem_free(list);
}

/* The paths and patterns of `files`, each in the order of its names. */
static void add_listed(struct taking *t)
{
    for (uint32_t i = 0; i < t->spec->files.n && !t->out->none; i++) {
        const char *pattern = t->spec->files.at[i].p;
        glob_t found = {0};
        int code = glob(pattern, GLOB_ERR, NULL, &found);
        if (code == GLOB_NOMATCH)
            refuse(t, "there is no file %s; correct `files`, or set `version`",
                   file_name(t, pattern));
        else if (code)
            refuse(t, "cannot look for %s; make its directories readable, or set `version`",
                   file_name(t, pattern));
        for (size_t k = 0; k < found.gl_pathc; k++)
            add_path(t, found.gl_pathv[k], 0);
        globfree(&found);
    }
    t->own = true;
}

/* ---- a command ---- */

static bool is_regular(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

static const char *path_variable(const struct service_spec *s)
{
    for (uint32_t i = 0; i < s->env.n; i++)
        if (slice_is(s->env.at[i].name, "PATH"))
            return s->env.at[i].value.p;
    const char *path = getenv("PATH");
    return path ? path : "";
}

/* Where a program is by PATH; or, of one that has a path itself, whether it stands in such a directory.
 * False: it does not. */
static bool find_program(const struct taking *t, slice word, struct buf *out)
{
    slice rest = slice_of(path_variable(t->spec)), dir;
    bool has_path = slice_find(word, '/') < word.n;
    while (slice_cut(&rest, ':', &dir)) {
        slice name = word;
        if (!dir.n ||
            (has_path && (!slice_starts(word, dir) || word.n <= dir.n + 1 || word.p[dir.n] != '/')))
            continue;
        if (has_path)
            name = slice_from(word, dir.n + 1);
        if (slice_find(name, '/') < name.n)
            continue;
        buf_clear(out);
        buf_addf(out, "%.*s/%.*s", SLICE_ARG(dir), SLICE_ARG(name));
        if (!out->full && is_regular(buf_text(out)))
            return true;
    }
    return false;
}

static void add_program(struct taking *t, const char *path)
{
    struct stat file = {0};
    struct known_file *k = t->known;
    bool seen = stat(path, &file) == 0 && k->size && k->dev == file.st_dev && k->ino == file.st_ino;
    if (!seen) {
        *k = (struct known_file){.dev = file.st_dev, .ino = file.st_ino};
        if (file_hash(path, IDENTITY_BYTES_MAX, &k->hash,
                      &k->size)) /* it may be run, but not read */
            k->hash = k->size = 0;
    }
    add_part(t, file_name(t, path), k->hash);
}

/* A word that may be a file, as it is or behind "=": --config=app.yaml. */
static bool add_word(struct taking *t, slice word)
{
    size_t equals = slice_find(word, '=');
    struct buf path = BUF_INIT(PATH_MAX);
    if (word.n && word.p[0] != '/')
        buf_addf(&path, "%.*s/", SLICE_ARG(t->spec->dir));
    buf_add(&path, word);
    bool is = word.n && !path.full && is_regular(buf_text(&path));
    if (is)
        add_file(t, buf_text(&path), file_name(t, buf_text(&path)));
    t->own |= is;
    buf_deinit(&path);
    return is || (equals < word.n && add_word(t, slice_from(word, equals + 1)));
}

/* Words in front of the program that a shell starts. */
static bool is_prefix(slice word)
{
    static const char *const known[] = {"exec", "env", "nohup", "time", "setsid", "command"};
    size_t equals = slice_find(word, '=');
    bool is = equals > 0 && equals < word.n && slice_find(word, '/') > equals;
    for (size_t i = 0; i < sizeof known / sizeof *known && !is; i++)
        is = slice_is(word, known[i]);
    return is;
}

/* The next word of a command as a shell reads it, without quotes; variables are left as they are.
 * *begins: it stands where a program does, if it is none of those words. *to: it is written to. False:
 * there is none. */
static bool next_word(slice *rest, struct buf *word, bool *begins, bool *to)
{
    char quote = 0;
    buf_clear(word);
    *to = false;
    for (; rest->n && strchr(" \t\n;&|()<>", rest->p[0]); *rest = slice_from(*rest, 1)) {
        char c = rest->p[0];
        bool joined = *to && c == '&'; /* 2>&1 */
        *begins |= !joined && strchr("\n;&|(", c) != NULL;
        *to = c == '>' || joined || (*to && (c == ' ' || c == '\t'));
    }
    for (; rest->n && (quote || !strchr(" \t\n;&|()<>", rest->p[0]));
         *rest = slice_from(*rest, 1)) {
        char c = rest->p[0];
        bool escaped = c == '\\' && quote != '\'' && rest->n > 1;
        if (escaped) {
            *rest = slice_from(*rest, 1);
            buf_addc(word, rest->p[0]);
        } else if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
        } else {
            buf_addc(word, c);
        }
    }
    return word->n > 0 || rest->n > 0;
}

/* The files that a command names. */
static void add_named(struct taking *t)
{
    slice rest = t->spec->run;
    struct buf word = BUF_INIT(PATH_MAX), program = BUF_INIT(PATH_MAX);
    bool begins = true, to;
    while (next_word(&rest, &word, &begins, &to)) {
        slice w = buf_slice(&word);
        if (!w.n || to)
            continue;
        bool starts = begins && !is_prefix(w);
        begins &= !starts;
        if (starts && find_program(t, w, &program))
            add_program(t, buf_text(&program));
        else
            (void)add_word(t, w);
    }
    buf_deinit(&word);
    buf_deinit(&program);
}

static uint64_t hash_command(const struct service_spec *s)
{
    uint64_t hash = hash_slice(s->run);
    for (uint32_t i = 0; i < s->env.n; i++)
        hash =
            hash_mix(hash_mix(hash, hash_slice(s->env.at[i].name)), hash_slice(s->env.at[i].value));
    return hash;
}

static void take_command(struct taking *t)
{
    if (t->spec->run.n)
        add_part(t, "its command", hash_command(t->spec));
    if (t->spec->files.n)
        add_listed(t);
    else if (t->spec->run.n)
        add_named(t);
    if (t->others)
        add_part(t, "one of the other files", t->others);
    if (t->own)
        return;
    if (t->spec->run.n)
        refuse(t, "its command names no file of its own; name what it is made of (`files`), or set "
                  "`version`");
    else
        refuse(t, "it is already running, so nobody knows which version it is; set `version`");
}

/* ---- a simulated system ---- */

static void take_simulated(struct taking *t, const struct node *file)
{
    static const char *const apart[] = {"system", "services", "scenarios", "modes", "judge"};
    const struct node *services = node_get(file, SLICE("services"));
    const struct node *own = services ? node_get(services, t->spec->name) : NULL;
    struct buf text = BUF_INIT((size_t)64 << 20);
    if (!own) { /* the process that serves them */
        refuse(t, "it is not part of the system");
        return;
    }
    node_print(own, &text);
    add_part(t, "its section", hash_slice(buf_slice(&text)));
    buf_clear(&text);
    for (uint32_t i = 0; i < file->n; i++) {
        bool shared = true;
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            shared &= !slice_is(file->map[i].key, apart[k]);
        if (!shared)
            continue;
        buf_addf(&text, "%.*s:", SLICE_ARG(file->map[i].key));
        node_print(file->map[i].value, &text);
    }
    if (text.n)
        add_part(t, "what all services share", hash_slice(buf_slice(&text)));
    buf_deinit(&text);
}

/* ---- all of them ---- */

void identities_take(struct identities *out, const struct campaign_config *c,
                     const struct node *simulated)
{
    struct known_file known = {0};
    for (uint32_t i = 0; i < c->services.n; i++) {
        const struct service_spec *spec = &c->services.at[i];
        struct identity x = {.service = slice_copy(&out->keep, spec->name).p};
        struct taking t = {
            .config = c, .spec = spec, .keep = &out->keep, .out = &x, .known = &known};
        if (spec->version.n)
            x.version = slice_copy(&out->keep, spec->version).p;
        else if (simulated)
            take_simulated(&t, simulated);
        else
            take_command(&t);
        vec_push(&out->list, x);
    }
}

void identities_deinit(struct identities *x)
{
    for (uint32_t i = 0; i < x->list.n; i++)
        vec_deinit(&x->list.at[i].parts);
    vec_deinit(&x->list);
    arena_deinit(&x->keep);
}

const struct identity *identities_find(const struct identities *x, slice service)
{
    for (uint32_t i = 0; i < x->list.n; i++)
        if (slice_is(service, x->list.at[i].service))
            return &x->list.at[i];
    return NULL;
}

void identities_print(const struct identities *x, struct buf *out)
{
    for (uint32_t i = 0; i < x->list.n; i++) {
        const struct identity *one = &x->list.at[i];
        if (one->none)
            buf_addf(out, "%s none %s\n", one->service, one->none);
        else if (one->version)
            buf_addf(out, "%s version %s\n", one->service, one->version);
        for (uint32_t k = 0; k < one->parts.n && !one->none; k++)
            buf_addf(out, "%s part %016llx %s\n", one->service,
                     (unsigned long long)one->parts.at[k].hash, one->parts.at[k].name);
    }
}

static struct identity *find_or_add(struct identities *x, slice service)
{
    if (!x->list.n || !slice_is(service, vec_last(&x->list).service))
        vec_push(&x->list, (struct identity){.service = slice_copy(&x->keep, service).p});
    return &vec_last(&x->list);
}

bool identities_parse(struct identities *out, slice text)
{
    slice line, service, kind, hash;
    if (slice_find(text, 0) < text.n)
        return false;
    while (slice_cut(&text, '\n', &line)) {
        if (!line.n)
            continue;
        if (!slice_word(&line, &service) || !slice_word(&line, &kind))
            return false;
        struct identity *x = find_or_add(out, service);
        struct identity_part part = {0};
        if (slice_is(kind, "none")) {
            x->none = slice_copy(&out->keep, slice_trim(line)).p;
        } else if (slice_is(kind, "version")) {
            x->version = slice_copy(&out->keep, slice_trim(line)).p;
        } else if (slice_is(kind, "part") && slice_word(&line, &hash) &&
                   slice_to_hex(hash, &part.hash) && line.n > 1) {
            part.name = slice_copy(&out->keep, slice_from(line, 1)).p;
            vec_push(&x->parts, part);
        } else {
            return false;
        }
    }
    return true;
}

static const struct identity_part *find_part(const struct identity *x, const char *name)
{
    for (uint32_t i = 0; i < x->parts.n; i++)
        if (strcmp(x->parts.at[i].name, name) == 0)
            return &x->parts.at[i];
    return NULL;
}

static bool parts_same(const struct identity *was, const struct identity *is, struct buf *why)
{
    for (uint32_t i = 0; i < is->parts.n; i++) {
        const struct identity_part *now = &is->parts.at[i], *then = find_part(was, now->name);
        if (then && then->hash == now->hash)
            continue;
        buf_addf(why, "%s %s", now->name, then ? "has changed" : "is new");
        return false;
    }
    for (uint32_t i = 0; i < was->parts.n; i++) {
        if (find_part(is, was->parts.at[i].name))
            continue;
        buf_addf(why, "%s is gone", was->parts.at[i].name);
        return false;
    }
    return true;
}

bool identity_same(const struct identity *was, const struct identity *is, struct buf *why)
{
    if (!was || is->none || was->none) {
        buf_addf(why, "%s%s", !was || is->none ? "" : "then: ",
                 !was       ? "it is new"
                 : is->none ? is->none
                            : was->none);
        return false;
    }
    if (!was->version && !is->version)
        return parts_same(was, is, why);
    if (!was->version || !is->version) {
        buf_addf(why, "it had %s version then, and has %s now", was->version ? "a" : "no",
                 is->version ? "one" : "none");
        return false;
    }
    bool same = strcmp(was->version, is->version) == 0;
    if (!same)
        buf_addf(why, "version %s became %s", was->version, is->version);
    return same;
}
