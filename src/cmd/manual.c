/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts that are part of the program; outfox man, outfox completion: manual pages and completion
 * scripts, made of the tables of verbs and options and of the help texts, so that none of them can
 * say something else than the program.
 *
 * A page is of one word: verbs of two words ("sim run") share that of the first. */
#include "cmd/cmd.h"

#include <stdlib.h>

#include "core/mode.h"
#include "judge/judge.h"
#include "search/search.h"

/* In any order; lines of a page stand together. */
static const struct page_line {
    const char *page, *text;
} page_lines[] = {
#define LINE(page, text) {page, text},
#include "cmd/pages.list"
#undef LINE
};

void page_add(const char *name, struct buf *out)
{
    for (size_t i = 0; i < sizeof page_lines / sizeof *page_lines; i++)
        if (strcmp(page_lines[i].page, name) == 0)
            buf_addf(out, "%s\n", page_lines[i].text);
}

/* The first word of a verb: the page that it is on. */
static slice page_of(const struct verb *v)
{
    slice rest = slice_of(v->name), word = {0};
    (void)slice_word(&rest, &word);
    return word;
}

/* Is it the first verb of its page? */
static bool page_begins(const struct verb *v)
{
    return v == verbs || !slice_eq(page_of(v), page_of(v - 1));
}

/* What is for other readers, in their quoting. All of it lives in the arena. */

static const char *roff(struct arena *a, slice text)
{
    struct buf out = BUF_INIT(1 << 16);
    if (text.n && (text.p[0] == '.' || text.p[0] == '\''))
        buf_adds(&out, "\\&");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '-' || text.p[i] == '\\')
            buf_adds(&out, text.p[i] == '-' ? "\\-" : "\\e");
        else
            buf_addc(&out, text.p[i]);
    }
    return buf_keep(&out, a).p;
}

/* A help sentence within single quotes, without what zsh would read as its own. */
static const char *zsh(struct arena *a, const char *text)
{
    struct buf out = BUF_INIT(1 << 16);
    for (; *text; text++)
        if (*text == '\'')
            buf_adds(&out, "'\\''");
        else if (strchr("[]:", *text))
            buf_addf(&out, "\\%c", *text);
        else
            buf_addc(&out, *text);
    return buf_keep(&out, a).p;
}

static const char *fish(struct arena *a, const char *text)
{
    struct buf out = BUF_INIT(1 << 16);
    for (; *text; text++)
        buf_addf(&out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    return buf_keep(&out, a).p;
}

/* ---- man ---- */

/* A help text: paragraphs are filled, indented lines stand as they are, "examples:" is a heading. */
static void roff_page(const char *name, const char *heading, struct arena *a, struct buf *out)
{
    struct buf page = BUF_INIT(1 << 14);
    bool kept = false, gap = false; /* the last line was indented; a blank one came */
    page_add(name, &page);
    slice rest = buf_slice(&page), line;
    while (slice_cut(&rest, '\n', &line)) {
        bool keep = line.n && line.p[0] == ' ';
        if (kept && !keep)
            buf_adds(out, ".fi\n");
        if (slice_is(line, "examples:"))
            buf_addf(out, ".%s\n", heading);
        else if (line.n)
            buf_addf(out, "%s%s%s\n", gap ? ".PP\n" : "", keep && !kept ? ".nf\n" : "",
                     roff(a, line));
        gap = !line.n;
        kept = keep;
    }
    if (kept)
        buf_adds(out, ".fi\n");
    buf_deinit(&page);
}

static void roff_usage(const struct verb *v, struct arena *a, struct buf *out)
{
    buf_addf(out, "\\fBoutfox %s\\fR \\fI%s\\fR%s\n", roff(a, slice_of(v->name)), v->positional,
             args_behind(v));
}

static void roff_title(const char *page, const char *about, struct arena *a, struct buf *out)
{
    buf_addf(out,
             ".TH %s 1 \"\" \"outfox %s\" \"User Commands\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n",
             page, outfox_version, roff(a, slice_of(page)), roff(a, slice_of(about)));
}

/* outfox.1: all verbs, exit codes, files. */
static void man_overview(struct arena *a, struct buf *out)
{
    roff_title("outfox", "find resilience bugs in systems of services", a, out);
    buf_adds(out, "\\fBoutfox\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n");
    roff_page("outfox", "SS Examples", a, out);
    buf_adds(out, ".SH COMMANDS\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        buf_adds(out, ".TP\n");
        roff_usage(v, a, out);
        buf_addf(out, "%s; see \\fBoutfox\\-%s\\fR(1)\n", roff(a, slice_of(v->about)),
                 roff(a, page_of(v)));
    }
    buf_adds(out, ".SH EXIT STATUS\n");
    roff_page("exit codes", "SS Examples", a, out);
    buf_adds(out,
             ".SH FILES\n.TP\n\\fBoutfox.yaml\\fR\nthe configuration, in this directory or one "
             "above\n.TP\n\\fB.outfox/\\fR\nthe store of the last campaign, and "
             "the logs of the services\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR, "
             "\\fBCLICOLOR_FORCE\\fR\nwhether to color the output, unless \\-\\-color says so\n");
}

/* outfox-PAGE.1 */
static void man_page(const struct verb *v, struct arena *a, struct buf *out)
{
    slice page = page_of(v);
    const struct verb *end = v + 1;
    while (end < verbs + n_verbs && slice_eq(page_of(end), page))
        end++;
    bool one = end == v + 1;
    roff_title(arena_printf(a, "outfox-%.*s", SLICE_ARG(page)),
               one ? v->about : arena_printf(a, "work with %s", verb_group_of(v->name)->about), a,
               out);
    for (const struct verb *each = v; each < end; each++) {
        roff_usage(each, a, out);
        buf_adds(out, each + 1 < end ? ".br\n" : "");
    }
    for (const struct verb *each = v; each < end; each++) {
        buf_addf(out, ".SH \"%s%s\"\n", one ? "DESCRIPTION" : "outfox ", one ? "" : each->name);
        roff_page(each->name, one ? "SH EXAMPLES" : "SS Examples", a, out);
        buf_adds(out, one ? ".SH OPTIONS\n" : ".SS Options\n");
        for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
            if (!(o->groups & each->options))
                continue;
            buf_addf(out, o->letter ? ".TP\n\\fB\\-%c\\fR, " : ".TP\n", o->letter);
            buf_addf(out, "\\fB\\-\\-%s\\fR", roff(a, slice_of(o->name)));
            if (o->argument)
                buf_addf(out, " \\fI%s\\fR", roff(a, slice_of(o->argument)));
            buf_addf(out, "\n%s\n", roff(a, slice_of(o->help)));
        }
    }
    buf_adds(out, ".SH SEE ALSO\n\\fBoutfox\\fR(1)\n");
}

static int write_page(const char *dir, slice page, const struct buf *text, struct arena *a)
{
    return cmd_write(arena_printf(a, "%s/outfox%s%.*s.1", dir, page.n ? "-" : "", SLICE_ARG(page)),
                     text, true);
}

int cmd_man(const struct args *args)
{
    const char *asked = args->positional[0];
    struct arena a = {0};
    struct buf text = BUF_INIT(1 << 18);
    int code = EXIT_OK;
    bool known = args->all || !asked || strcmp(asked, "outfox") == 0;
    if (known) {
        man_overview(&a, &text);
        if (args->all)
            code = write_page(args->all, SLICE(""), &text, &a);
    }
    for (const struct verb *v = verbs; v < verbs + n_verbs && code == EXIT_OK; v++) {
        if (!page_begins(v) || !(args->all || (asked && slice_is(page_of(v), asked))))
            continue;
        known = true;
        buf_clear(&text);
        man_page(v, &a, &text);
        if (args->all)
            code = write_page(args->all, page_of(v), &text, &a);
    }
    if (!known) {
        fprintf(stderr, "outfox: there is no page \"%s\"; outfox help lists the commands\n", asked);
        code = EXIT_USAGE;
    } else if (!args->all) {
        fwrite(text.p, 1, text.n, stdout);
    }
    buf_deinit(&text);
    arena_deinit(&a);
    return code;
}

/* ---- completion ---- */

/* The words that an option's value can be, with blanks; "": no list. */
static const char *values_of(const struct option_row *o, struct arena *a)
{
    struct buf out = BUF_INIT(1 << 14);
    if (strcmp(o->name, "color") == 0)
        return "auto always never";
    if (strcmp(o->name, "identify") == 0 && o->type == TYPE_TEXT)
        return "auto state trace none";
    if (strcmp(o->name, "order") == 0)
        for (uint32_t i = 0; i < order_count; i++)
            buf_addf(&out, "%s ", order_rows[i].name);
    else if (strcmp(o->name, "assume") == 0)
        for (uint32_t i = 0; i < REDUCTIONS; i++)
            buf_addf(&out, "%s ", reduction_rows[i].flag ? reduction_rows[i].name : "");
    else if (strcmp(o->name, "modes") == 0)
        for (uint32_t i = 0; i < MODE_SETS; i++)
            buf_addf(&out, "%s ", mode_sets[i].name);
    else if (strcmp(o->name, "oracle") == 0)
        for (uint32_t i = 0; i < ORACLES; i++)
            buf_addf(&out, "%s=off ", oracle_rows[i].name);
    return buf_keep(&out, a).p;
}

static bool takes_file(const struct option_row *o)
{
    return strcmp(o->argument, "FILE") == 0 || strcmp(o->argument, "DIR") == 0;
}

/* What a shell says of a verb, or of the group that it is in. */
static const char *about(const struct verb *v)
{
    const struct verb_group *group = verb_group_of(v->name);
    return group ? group->about : v->about;
}

/* The second words of a group, each with a blank in front. */
static void group_words(const struct verb_group *g, struct buf *out)
{
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++)
        if (verb_group_of(v->name) == g)
            buf_addf(out, " %s", v->name + strlen(g->name) + 1);
}

static void complete_bash(struct arena *a, struct buf *out)
{
    buf_adds(out, "# bash completion for outfox\n_outfox()\n{\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "    local verb=${COMP_WORDS[1]}\n"
                  "    case $verb in\n");
    for (size_t i = 0; i < n_verb_groups; i++)
        buf_addf(out, "    %s) verb=\"%s ${COMP_WORDS[2]}\" ;;\n", verb_groups[i].name,
                 verb_groups[i].name);
    buf_adds(out, "    esac\n    COMPREPLY=()\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                  "        COMPREPLY=($(compgen -W 'help");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++)
        if (page_begins(v))
            buf_addf(out, " %.*s", SLICE_ARG(page_of(v)));
    buf_adds(out, "' -- \"$cur\"))\n        return\n    fi\n");
    for (const struct verb_group *g = verb_groups; g < verb_groups + n_verb_groups; g++) {
        buf_addf(out,
                 "    if [ \"$COMP_CWORD\" -eq 2 ] && [ \"${COMP_WORDS[1]}\" = %s ]; then\n"
                 "        COMPREPLY=($(compgen -W '",
                 g->name);
        group_words(g, out);
        buf_adds(out, "' -- \"$cur\"))\n        return\n    fi\n");
    }
    buf_adds(out, "    case $prev in\n");
    for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
        const char *values = values_of(o, a);
        if (*values)
            buf_addf(out, "    --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                     o->name, values);
    }
    buf_adds(out, "    esac\n    case \"$cur\" in\n    -*)\n        case $verb in\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        buf_addf(out, "        '%s') COMPREPLY=($(compgen -W '", v->name);
        for (const struct option_row *o = option_rows; o < option_rows + n_options; o++)
            if (o->groups & v->options)
                buf_addf(out, " --%s", o->name);
        buf_adds(out, "' -- \"$cur\")) ;;\n");
    }
    buf_adds(out, "        esac\n        return ;;\n    esac\n"
                  "    COMPREPLY=($(compgen -f -- \"$cur\"))\n}\n"
                  "complete -o filenames -F _outfox outfox\n");
}

static void complete_zsh(struct arena *a, struct buf *out)
{
    buf_adds(out, "#compdef outfox\n_outfox() {\n    local -a verbs\n    verbs=(\n"
                  "        'help:help on a command'\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++)
        if (page_begins(v))
            buf_addf(out, "        '%.*s:%s'\n", SLICE_ARG(page_of(v)), zsh(a, about(v)));
    buf_adds(out, "    )\n    if (( CURRENT == 2 )); then\n        _describe command verbs\n"
                  "        return\n    fi\n    local verb=$words[2]\n");
    for (const struct verb_group *g = verb_groups; g < verb_groups + n_verb_groups; g++) {
        buf_addf(out,
                 "    if [[ $verb == %s ]]; then\n        if (( CURRENT == 3 )); then\n"
                 "            _values command",
                 g->name);
        group_words(g, out);
        buf_addf(out, "\n            return\n        fi\n        verb=\"%s $words[3]\"\n    fi\n",
                 g->name);
    }
    buf_adds(out, "    case $verb in\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        buf_addf(out, "    '%s')\n        _arguments", v->name);
        for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
            const char *values = values_of(o, a);
            if (!(o->groups & v->options))
                continue;
            buf_addf(out, " \\\n            '--%s[%s]", o->name, zsh(a, o->help));
            if (o->argument)
                buf_addf(out, *values ? ":%s:(%s)" : ":%s:%s", zsh(a, o->argument),
                         *values         ? values
                         : takes_file(o) ? "_files"
                                         : " ");
            buf_addc(out, '\'');
        }
        buf_adds(out, " \\\n            '*:file:_files' ;;\n");
    }
    buf_adds(out, "    esac\n}\n"
                  "if [ \"$funcstack[1]\" = _outfox ]; then _outfox \"$@\"; "
                  "else compdef _outfox outfox; fi\n");
}

static void complete_fish(struct arena *a, struct buf *out)
{
    buf_adds(out, "# fish completion for outfox\nfunction __outfox_verb\n"
                  "    set -l words (commandline -opc)\n"
                  "    contains -- \"$words[2]\"");
    for (size_t i = 0; i < n_verb_groups; i++)
        buf_addf(out, " %s", verb_groups[i].name);
    buf_adds(out,
             "; and set words[2] \"$words[2] $words[3]\"\n"
             "    test \"$words[2]\" = \"$argv[1]\"\nend\n"
             "complete -c outfox -n __fish_use_subcommand -f -a help -d 'help on a command'\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        const char *second = strchr(v->name, ' ');
        if (page_begins(v))
            buf_addf(out, "complete -c outfox -n __fish_use_subcommand -f -a %.*s -d '%s'\n",
                     SLICE_ARG(page_of(v)), fish(a, about(v)));
        if (second)
            buf_addf(out, "complete -c outfox -n '__outfox_verb \"%s \"' -f -a %s -d '%s'\n",
                     verb_group_of(v->name)->name, second + 1, fish(a, v->about));
        for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
            const char *values = values_of(o, a);
            if (!(o->groups & v->options))
                continue;
            buf_addf(out, "complete -c outfox -n '__outfox_verb \"%s\"' -l %s", v->name, o->name);
            if (o->letter)
                buf_addf(out, " -s %c", o->letter);
            if (*values)
                buf_addf(out, " -x -a '%s'", values);
            else if (o->argument)
                buf_adds(out, takes_file(o) ? " -r" : " -x");
            buf_addf(out, " -d '%s'\n", fish(a, o->help));
        }
    }
}

int cmd_completion(const struct args *args)
{
    static const struct {
        const char *shell;
        void (*print)(struct arena *a, struct buf *out);
    } shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(args->positional[0], shells[i].shell) != 0)
            continue;
        struct buf text = BUF_INIT(1 << 18);
        struct arena a = {0};
        shells[i].print(&a, &text);
        cmd_print(&text, stdout);
        arena_deinit(&a);
        return EXIT_OK;
    }
    fprintf(stderr, "outfox: completion takes bash, zsh or fish, not \"%s\"\n",
            args->positional[0]);
    return EXIT_USAGE;
}
