/* SPDX-License-Identifier: Apache-2.0
 *
 * Disks of nodes' own, during a run: mounted before the nodes start, unmounted when they have ended. */
#ifndef OUTFOX_LAB_DISK_H
#define OUTFOX_LAB_DISK_H

#include "lab/voice.h"

struct lab;
struct lab_node;

struct lab_disk {
    struct lab_node *node;
    slice mount; /* where it is; empty: the node has none */
    struct voice *voice;
    struct command *command; /* that unmounts it */
    bool up, closing, journalled;
    uint32_t id; /* in the journal */
    slice undo;
};

/* Knows where they are; then, all are mounted. 0, or -1 with *e. */
void disks_take(struct lab *lab);
int disks_open(struct lab *lab, struct err *e) MUST_USE;

/* Waits until none is mounted. What is stays in the journal: -1. */
int disks_close(struct lab *lab, struct err *e) MUST_USE;

/* The command of a node, behind one that tells its disk which process it is. */
slice disk_start(struct lab_node *n, slice command);

#endif
