/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts that are part of the program; outfox man, outfox completion: manual pages and completion
 * scripts, made of the tables of verbs and options and of the help texts, so that none of them can
 * say something else than the program.
 *
 * A page is of one word: verbs of two words ("sim run") share that of the first. */
#include "cmd/cmd.h"

#include <errno.h>
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

/* Text for roff: a dash that can be copied, no line that begins with a command. */
static void roff_text(slice text, struct buf *out)
{
    if (text.n && (text.p[0] == '.' || text.p[0] == '\''))
        buf_adds(out, "\\&");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '-' || text.p[i] == '\\')
            buf_adds(out, text.p[i] == '-' ? "\\-" : "\\e");
        else
            buf_addc(out, text.p[i]);
    }
}

/* A help text: paragraphs are filled, indented lines stand as they are, "examples:" is a heading. */
static void roff_page(const char *name, const char *heading, struct buf *out)
{
    struct buf page = BUF_INIT(1 << 14);
    bool kept = false, gap = false; /* the last line was indented; a blank one came */
    page_add(name, &page);
    slice rest = buf_slice(&page), line;
    while (slice_cut(&rest, '\n', &line)) {
        bool keep = line.n && line.p[0] == ' ';
        if (kept && !keep)
            buf_adds(out, ".fi\n");
        if (slice_is(line, "examples:")) {
            buf_addf(out, ".%s\n", heading);
        } else if (line.n) {
            buf_adds(out, gap ? ".PP\n" : "");
            buf_adds(out, keep && !kept ? ".nf\n" : "");
            roff_text(line, out);
            buf_addc(out, '\n');
        }
        gap = !line.n;
        kept = keep;
    }
    if (kept)
        buf_adds(out, ".fi\n");
    buf_deinit(&page);
}

static void roff_options(uint32_t groups, struct buf *out)
{
    for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
        if (!(o->groups & groups))
            continue;
        buf_adds(out, ".TP\n");
        if (o->letter)
            buf_addf(out, "\\fB\\-%c\\fR, ", o->letter);
        buf_adds(out, "\\fB\\-\\-");
        roff_text(slice_of(o->name), out);
        buf_adds(out, "\\fR");
        if (o->argument) {
            buf_adds(out, " \\fI");
            roff_text(slice_of(o->argument), out);
            buf_adds(out, "\\fR");
        }
        buf_addc(out, '\n');
        roff_text(slice_of(o->help), out);
        buf_addc(out, '\n');
    }
}

static void roff_usage(const struct verb *v, struct buf *out)
{
    buf_adds(out, "\\fBoutfox ");
    roff_text(slice_of(v->name), out);
    buf_addf(out, "\\fR \\fI%s\\fR%s\n", v->positional, args_behind(v));
}

static void roff_title(const char *page, const char *about, struct buf *out)
{
    buf_addf(out, ".TH %s 1 \"\" \"outfox %s\" \"User Commands\"\n.SH NAME\n", page,
             outfox_version);
    roff_text(slice_of(page), out);
    buf_adds(out, " \\- ");
    roff_text(slice_of(about), out);
    buf_addc(out, '\n');
}

/* outfox.1: all verbs, exit codes, files. */
static void man_overview(struct buf *out)
{
    roff_title("outfox", "find resilience bugs in systems of services", out);
    buf_adds(out, ".SH SYNOPSIS\n\\fBoutfox\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
                  ".SH DESCRIPTION\n");
    roff_page("outfox", "SS Examples", out);
    buf_adds(out, ".SH COMMANDS\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        buf_adds(out, ".TP\n");
        roff_usage(v, out);
        roff_text(slice_of(v->about), out);
        buf_adds(out, "; see \\fBoutfox\\-");
        roff_text(page_of(v), out);
        buf_adds(out, "\\fR(1)\n");
    }
    buf_adds(out, ".SH EXIT STATUS\n");
    roff_page("exit codes", "SS Examples", out);
    buf_adds(out,
             ".SH FILES\n.TP\n\\fBoutfox.yaml\\fR\nthe configuration, in this directory or one "
             "above\n.TP\n\\fB.outfox/\\fR\nthe store of the last campaign, and "
             "the logs of the services\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR, "
             "\\fBCLICOLOR_FORCE\\fR\nwhether to color the output, unless \\-\\-color says so\n");
}

/* outfox-PAGE.1 */
static void man_page(const struct verb *v, struct buf *out)
{
    slice page = page_of(v);
    const struct verb *end = v + 1;
    while (end < verbs + n_verbs && slice_eq(page_of(end), page))
        end++;
    bool one = end == v + 1;
    struct buf title = BUF_INIT(100);
    buf_addf(&title, "outfox-%.*s", SLICE_ARG(page));
    roff_title(buf_text(&title), one ? v->about : "work with simulated systems", out);
    buf_adds(out, ".SH SYNOPSIS\n");
    for (const struct verb *each = v; each < end; each++) {
        roff_usage(each, out);
        buf_adds(out, each + 1 < end ? ".br\n" : "");
    }
    for (const struct verb *each = v; each < end; each++) {
        buf_addf(out, ".SH \"%s%s\"\n", one ? "DESCRIPTION" : "outfox ", one ? "" : each->name);
        roff_page(each->name, one ? "SH EXAMPLES" : "SS Examples", out);
        buf_adds(out, one ? ".SH OPTIONS\n" : ".SS Options\n");
        roff_options(each->options, out);
    }
    buf_adds(out, ".SH SEE ALSO\n\\fBoutfox\\fR(1)\n");
    buf_deinit(&title);
}

static int write_page(const char *dir, slice page, const struct buf *text)
{
    struct buf path = BUF_INIT(1 << 12);
    buf_addf(&path, "%s/outfox%s%.*s.1", dir, page.n ? "-" : "", SLICE_ARG(page));
    FILE *file = fopen(buf_text(&path), "w");
    bool ok = file && fwrite(text->p, 1, text->n, file) == text->n;
    ok = file && fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "outfox: %s cannot be written: %s\n", buf_text(&path), strerror(errno));
    buf_deinit(&path);
    return ok ? EXIT_OK : EXIT_ENVIRONMENT;
}

int cmd_man(const struct args *args)
{
    const char *asked = args->positional[0];
    struct buf text = BUF_INIT(1 << 18);
    int code = EXIT_OK;
    bool known = args->all || !asked || strcmp(asked, "outfox") == 0;
    if (known) {
        man_overview(&text);
        if (args->all)
            code = write_page(args->all, (slice){0}, &text);
    }
    for (const struct verb *v = verbs; v < verbs + n_verbs && code == EXIT_OK; v++) {
        if (!page_begins(v) || !(args->all || (asked && slice_is(page_of(v), asked))))
            continue;
        known = true;
        buf_clear(&text);
        man_page(v, &text);
        if (args->all)
            code = write_page(args->all, page_of(v), &text);
    }
    if (!known) {
        fprintf(stderr, "outfox: there is no page \"%s\"; outfox help lists the commands\n", asked);
        code = EXIT_USAGE;
    } else if (!args->all) {
        fwrite(text.p, 1, text.n, stdout);
    }
    buf_deinit(&text);
    return code;
}

/* The words that an option's value can be, with blanks; nothing: no list. */
static void values_of(const struct option_row *o, struct buf *out)
{
    if (strcmp(o->name, "color") == 0)
        buf_adds(out, "auto always never");
    else if (strcmp(o->name, "identify") == 0 && o->type == TYPE_TEXT)
        buf_adds(out, "auto state trace none");
    else if (strcmp(o->name, "order") == 0)
        for (uint32_t i = 0; i < order_count; i++)
            buf_addf(out, "%s ", order_rows[i].name);
    else if (strcmp(o->name, "assume") == 0)
        for (uint32_t i = 0; i < REDUCTIONS; i++)
            buf_addf(out, "%s ", reduction_rows[i].flag ? reduction_rows[i].name : "");
    else if (strcmp(o->name, "modes") == 0)
        for (uint32_t i = 0; i < MODE_SETS; i++)
            buf_addf(out, "%s ", mode_sets[i].name);
    else if (strcmp(o->name, "oracle") == 0)
        for (uint32_t i = 0; i < ORACLES; i++)
            buf_addf(out, "%s=off ", oracle_rows[i].name);
}

static bool takes_file(const char *argument)
{
    return argument && (strcmp(argument, "FILE") == 0 || strcmp(argument, "DIR") == 0);
}

static void complete_bash(struct buf *out)
{
    buf_adds(out, "# bash completion for outfox\n_outfox()\n{\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "    local verb=${COMP_WORDS[1]}\n"
                  "    [ \"$verb\" = sim ] && verb=\"sim ${COMP_WORDS[2]}\"\n"
                  "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                  "        COMPREPLY=($(compgen -W 'help");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++)
        if (page_begins(v))
            buf_addf(out, " %.*s", SLICE_ARG(page_of(v)));
    buf_adds(out, "' -- \"$cur\"))\n        return\n    fi\n"
                  "    if [ \"$COMP_CWORD\" -eq 2 ] && [ \"${COMP_WORDS[1]}\" = sim ]; then\n"
                  "        COMPREPLY=($(compgen -W '");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++)
        if (strncmp(v->name, "sim ", 4) == 0)
            buf_addf(out, "%s ", v->name + 4);
    buf_adds(out, "' -- \"$cur\"))\n        return\n    fi\n    case $prev in\n");
    for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
        struct buf values = BUF_INIT(1 << 14);
        values_of(o, &values);
        if (values.n)
            buf_addf(out, "    --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                     o->name, buf_text(&values));
        buf_deinit(&values);
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

/* A help sentence within single quotes, without what zsh would read as its own. */
static void quoted(const char *text, struct buf *out)
{
    for (; *text; text++)
        if (*text == '\'')
            buf_adds(out, "'\\''");
        else if (strchr("[]:", *text))
            buf_addf(out, "\\%c", *text);
        else
            buf_addc(out, *text);
}

static void zsh_options(const struct verb *v, struct buf *out)
{
    for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
        struct buf values = BUF_INIT(1 << 14);
        if (!(o->groups & v->options))
            continue;
        values_of(o, &values);
        buf_addf(out, " \\\n            '--%s[", o->name);
        quoted(o->help, out);
        buf_addc(out, ']');
        if (o->argument) {
            buf_addc(out, ':');
            quoted(o->argument, out);
            if (values.n)
                buf_addf(out, ":(%s)", buf_text(&values));
            else
                buf_adds(out, takes_file(o->argument) ? ":_files" : ": ");
        }
        buf_addc(out, '\'');
        buf_deinit(&values);
    }
}

static void complete_zsh(struct buf *out)
{
    buf_adds(out, "#compdef outfox\n_outfox() {\n    local -a verbs\n    verbs=(\n"
                  "        'help:help on a command'\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        if (!page_begins(v))
            continue;
        buf_addf(out, "        '%.*s:", SLICE_ARG(page_of(v)));
        quoted(strchr(v->name, ' ') ? "simulated systems" : v->about, out);
        buf_adds(out, "'\n");
    }
    buf_adds(out, "    )\n    if (( CURRENT == 2 )); then\n        _describe command verbs\n"
                  "        return\n    fi\n    local verb=$words[2]\n"
                  "    if [[ $verb == sim ]]; then\n        if (( CURRENT == 3 )); then\n"
                  "            _values command");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++)
        if (strncmp(v->name, "sim ", 4) == 0)
            buf_addf(out, " %s", v->name + 4);
    buf_adds(out, "\n            return\n        fi\n        verb=\"sim $words[3]\"\n    fi\n"
                  "    case $verb in\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        buf_addf(out, "    '%s')\n        _arguments", v->name);
        zsh_options(v, out);
        buf_adds(out, " \\\n            '*:file:_files' ;;\n");
    }
    buf_adds(out, "    esac\n}\n"
                  "if [ \"$funcstack[1]\" = _outfox ]; then _outfox \"$@\"; "
                  "else compdef _outfox outfox; fi\n");
}

static void fish_quoted(const char *text, struct buf *out)
{
    buf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
    buf_addc(out, '\'');
}

static void complete_fish(struct buf *out)
{
    buf_adds(out,
             "# fish completion for outfox\nfunction __outfox_verb\n"
             "    set -l words (commandline -opc)\n"
             "    test \"$words[2]\" = sim; and set words[2] \"sim $words[3]\"\n"
             "    test \"$words[2]\" = \"$argv[1]\"\nend\n"
             "complete -c outfox -n __fish_use_subcommand -f -a help -d 'help on a command'\n");
    for (const struct verb *v = verbs; v < verbs + n_verbs; v++) {
        const char *second = strchr(v->name, ' ');
        if (page_begins(v)) {
            buf_addf(out, "complete -c outfox -n __fish_use_subcommand -f -a %.*s -d ",
                     SLICE_ARG(page_of(v)));
            fish_quoted(second ? "simulated systems" : v->about, out);
            buf_addc(out, '\n');
        }
        if (second) {
            buf_addf(out, "complete -c outfox -n '__outfox_verb \"sim \"' -f -a %s -d ",
                     second + 1);
            fish_quoted(v->about, out);
            buf_addc(out, '\n');
        }
        for (const struct option_row *o = option_rows; o < option_rows + n_options; o++) {
            struct buf values = BUF_INIT(1 << 14);
            if (!(o->groups & v->options))
                continue;
            values_of(o, &values);
            buf_addf(out, "complete -c outfox -n '__outfox_verb \"%s\"' -l %s", v->name, o->name);
            if (o->letter)
                buf_addf(out, " -s %c", o->letter);
            if (values.n)
                buf_addf(out, " -x -a '%s'", buf_text(&values));
            else if (o->argument)
                buf_adds(out, takes_file(o->argument) ? " -r" : " -x");
            buf_adds(out, " -d ");
            fish_quoted(o->help, out);
            buf_addc(out, '\n');
            buf_deinit(&values);
        }
    }
}

int cmd_completion(const struct args *args)
{
    static const struct {
        const char *shell;
        void (*print)(struct buf *out);
    } shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(args->positional[0], shells[i].shell) != 0)
            continue;
        struct buf text = BUF_INIT(1 << 18);
        shells[i].print(&text);
        fwrite(text.p, 1, text.n, stdout);
        buf_deinit(&text);
        return EXIT_OK;
    }
    fprintf(stderr, "outfox: completion takes bash, zsh or fish, not \"%s\"\n",
            args->positional[0]);
    return EXIT_USAGE;
}
