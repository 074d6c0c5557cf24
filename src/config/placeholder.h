/* SPDX-License-Identifier: Apache-2.0
 *
 * Placeholders in commands and environment variables: {port}, {url:users} ... Pure: what they stand
 * for is known elsewhere (wiring.h).
 *
 * Braces mean much else in shells, JSON and templates, so only what looks like a placeholder is
 * one, and everything else is left alone:
 *
 *   {WORD} {WORD:NAME}   one of the words below is a placeholder
 *   {{WORD}} {{WORD:NAME}}   is the text {WORD}, {WORD:NAME}
 *   ${WORD}              is the shell's
 *   {WORT:NAME}          nearly one of the words: a mistake, not text */
#ifndef OUTFOX_CONFIG_PLACEHOLDER_H
#define OUTFOX_CONFIG_PLACEHOLDER_H

#include <stdbool.h>

#include "base/str.h"

enum placeholder_kind {
    PLACEHOLDER_NONE, /* the text ended */
    PLACEHOLDER_PORT,
    PLACEHOLDER_HOST,
    PLACEHOLDER_ADDRESS, /* HOST:PORT */
    PLACEHOLDER_URL,
    PLACEHOLDER_WRONG, /* `near` is what it was most likely meant to be */
    PLACEHOLDER_TEXT,  /* no placeholder: `text` stands for itself */
};

struct placeholder {
    enum placeholder_kind kind;
    slice text; /* as it is written, with its braces */
    slice name; /* of the service; empty: the service that the text belongs to */
    const char *near;
};

/* Takes the next piece off *rest: *literal, and behind it what *p says. False when *rest had ended
 * (p == NULL). All of it points into the text. */
bool placeholder_next(slice *rest, slice *literal, struct placeholder *p) MUST_USE;

/* Is {port}, {host} or {address} in it: where the service that has this text listens itself? */
bool placeholder_own(slice text);

#endif
