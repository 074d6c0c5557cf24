/* SPDX-License-Identifier: Apache-2.0
 *
 * The socket of a run, by which others speak to it. */
#ifndef OUTFOX_LAB_SOCKET_H
#define OUTFOX_LAB_SOCKET_H

#include "lab/lab_int.h"

/* At this path; where that cannot be: NULL with *e. */
struct lab_socket *lab_socket_open(struct lab *lab, const char *path, struct err *e);
void lab_socket_close(struct lab_socket *c);

/* What a client says in a line: ok, fail, event; false: it is none of these (client.c). */
bool client_say(struct lab_client *c, slice line);

#endif
