/* SPDX-License-Identifier: Apache-2.0
 *
 *     name [{label="value",...}] value [timestamp] [# exemplar]
 *
 * What stands behind the value is not looked at: a sample is of the moment when it was asked for. */
#include "data/exposition.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_of_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == ':' || c == '.' || c == '-' || c == '/';
}

/* Bytes of the labels with their braces, which begin here; 0: they do not end. Values are quoted,
 * and may have any byte in them. */
static size_t labels_bytes(slice text)
{
    bool quoted = false;
    for (size_t i = 1; i < text.n; i++) {
        if (quoted && text.p[i] == '\\')
            i++;
        else if (text.p[i] == '"')
            quoted = !quoted;
        else if (text.p[i] == '}' && !quoted)
            return i + 1;
    }
    return 0;
}

static bool read_sample(slice line, struct exposition_sample *out)
{
    size_t n = 0;
    slice rest, word;
    while (n < line.n && is_of_name(line.p[n]))
        n++;
    out->name = (slice){line.p, n};
    rest = slice_from(line, n);
    while (rest.n && is_blank(*rest.p))
        rest = slice_from(rest, 1);
    if (rest.n && *rest.p == '{') {
        size_t labels = labels_bytes(rest);
        if (!labels)
            return false;
        rest = slice_from(rest, labels);
        out->name.n = (size_t)(rest.p - line.p);
    } else if (rest.n + n == line.n) {
        return false; /* no blank between name and value */
    }
    return n && out->name.n <= EXPOSITION_NAME_MAX && slice_word(&rest, &word) &&
           slice_to_real(word, &out->value);
}

bool exposition_next(struct exposition *x, struct exposition_sample *out)
{
    slice line;
    while (slice_cut(&x->rest, '\n', &line)) {
        line = slice_trim(line);
        if (!line.n || *line.p == '#')
            continue;
        if (read_sample(line, out))
            return true;
        x->passed++;
    }
    return false;
}

bool exposition_line(slice line, struct exposition_sample *out)
{
    slice word;
    return slice_word(&line, &word) && slice_is(word, "metric") &&
           read_sample(slice_trim(line), out);
}
