/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of others, made harmless for screens and for the programs that read logs of CI. Bodies,
 * paths, names, the output of commands: all of it may hold control characters, text that runs
 * backwards, characters that nobody sees, bytes that are no characters, and commands.
 *
 * Runners of CI take commands out of what a step prints:
 *
 *     ::error::text                      GitHub, first thing in a line, blanks before it or not
 *     ##[error]text  ##vso[task ...]     GitHub, Azure; anywhere in a line
 *     ##teamcity[message ...]            TeamCity, likewise
 *     section_start:1:x CR ESC[0K        GitLab; without its control characters it is none
 *
 * One character within what opens a command, written in another way, and it is none any more. */
#ifndef OUTFOX_BASE_PRINTABLE_H
#define OUTFOX_BASE_PRINTABLE_H

#include "base/str.h"

struct glyph {
    slice bytes; /* UTF-8, always */
    uint32_t code;
};

/* Takes the first character off *text, which is not empty. A byte that is none becomes U+FFFD. */
struct glyph glyph_take(slice *text);

/* Is all of it UTF-8? */
bool text_is_utf8(slice text);

/* Is it one that does something to a screen, or that nobody sees: controls (C0, C1, tabs and
 * newlines too), line separators, what changes the direction of text, what has no width? */
bool glyph_hidden(uint32_t code);

/* How much of the opening of a command the text so far ends with. */
enum opening { OPENING_LINE, OPENING_COLON, OPENING_NONE, OPENING_HASH, OPENING_HASHES };

/* Goes on by one character; true when it would complete the opening. Where a line begins, *at is
 * OPENING_LINE. */
bool opening_next(enum opening *at, uint32_t code);

/* Within JSON: the same value, spelt harmlessly. Quotes, backslashes and C0 stay as they are. */
void printable_json(slice text, struct buf *out);

/* A stream of lines that comes in pieces. Zero: at its beginning, without colours. */
struct printable {
    enum opening opening;
    bool colours; /* the sequences of report/text.c pass, whoever has written them */
    size_t n_held;
    char held[8]; /* the beginning of a character or of a colour: the rest comes with the next piece
                   */
};

/* Newlines and tabs stay; what is hidden becomes '?', and commands get a blank in their opening. */
void printable_add(struct printable *p, slice text, struct buf *out);

#endif
