/* SPDX-License-Identifier: MIT */
/*
 * Who else measures: on the same device, and in the same folder. Both ask the kernel's record locks, which end with the
 * process however it ends, and which a worker process does not inherit.
 */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

#define NEIGHBOURS_PLACE "/tmp" /* where runs of all users meet */

struct neighbours {
    int fd; /* -1: alone, or no place to meet */
};

/* Says in `place` that this process measures on `device` (a GPU's uuid, or "cpu"). Nothing is lost where that cannot be
 * done: neighbours are then not seen. */
void neighbours_enter(struct neighbours *neighbours, const char *place, const char *device);

/* Another process that measures on the device now: its pid; 0: nobody; -1: somebody whose pid cannot be seen from here
 * (another container). A microsecond. */
long neighbours_other(const struct neighbours *neighbours);

void neighbours_leave(struct neighbours *neighbours);

/* The folder of a run belongs to one process. `.lock` in it tells so, and is removed by claim_release. */
struct claim {
    int fd; /* -1: none */
    char path[4200];
};

/* 0, or -1 and one line in `why`: another process has it (with its pid), or nothing can be written there. On a file
 * system without locks everybody gets it. */
int claim_folder(struct claim *claim, const char *folder, char *why, size_t size);
void claim_release(struct claim *claim);

#endif
