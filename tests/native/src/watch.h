/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WATCH_H
#define WATCH_H

#ifdef __cplusplus
extern "C" {
#endif

int say(const char *what);

#ifdef __cplusplus
}
#endif

#endif
