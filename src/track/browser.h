/* SPDX-License-Identifier: Apache-2.0
 *
 * browser: which requests a browser makes by itself, besides those that a page makes on behalf of
 * its user. It gets the files of a page (documents, scripts, styles, images, fonts), and it asks
 * whether a request to another origin may be made. */
#ifndef OUTFOX_TRACK_BROWSER_H
#define OUTFOX_TRACK_BROWSER_H

#include "wire/message.h"

/* Read from the head alone. A document may still be made by calls to other services: whether it is
 * a file shows when it has been answered. */
bool browser_asks(const struct head *h);

#endif
