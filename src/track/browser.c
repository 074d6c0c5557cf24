/* SPDX-License-Identifier: Apache-2.0
 *
 * A browser says what it wants a thing for: `Sec-Fetch-Dest: script`, and `empty` for what a script
 * has asked for. It says nothing to an address without TLS that is not of this machine; then Accept
 * and the end of the path have to do. */
#include "track/browser.h"

/* What scripts ask for: fetch(), XMLHttpRequest, beacons; sockets. */
static const char *const asked_by_scripts[] = {"empty", "websocket"};

/* What Accept begins with where a document, a style or an image is wanted. */
static const char *const accepted[] = {"text/html", "text/css", "image/"};

static const char *const extensions[] = {
    "avif", "bmp", "css", "gif", "htm", "html", "ico", "jpeg",        "jpg",  "js",   "map",
    "mjs",  "otf", "png", "svg", "ttf", "wasm", "wav", "webmanifest", "webp", "woff", "woff2",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static bool is_one_of(slice word, const char *const *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq_nocase(word, slice_of(table[i])))
            return true;
    return false;
}

/* What follows the last dot of the path's last segment; empty: nothing does. */
static slice extension_of(slice target)
{
    slice path = {target.p, slice_find(target, '?')};
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '.' && path.p[at - 1] != '/')
        at--;
    return at > 0 && path.p[at - 1] == '.' ? slice_from(path, at) : (slice){0};
}

bool browser_asks(const struct head *h)
{
    if (slice_is(h->method, "OPTIONS"))
        return head_get(h, SLICE("access-control-request-method")).n > 0;
    if (!slice_is(h->method, "GET") && !slice_is(h->method, "HEAD"))
        return false;
    slice wanted = head_get(h, SLICE("sec-fetch-dest")), accept = head_get(h, SLICE("accept"));
    if (wanted.n)
        return !is_one_of(wanted, asked_by_scripts, COUNT(asked_by_scripts));
    for (size_t i = 0; i < COUNT(accepted); i++)
        if (slice_starts(accept, slice_of(accepted[i])))
            return true;
    return is_one_of(extension_of(h->target), extensions, COUNT(extensions));
}
