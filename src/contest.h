/* SPDX-License-Identifier: MIT */
/*
 * Contestants at one size, timed in turns: each is set up and checked, then all take a few samples at a time, in an
 * order drawn anew for every round, until each has enough; who has enough is checked once more and reported at once.
 * Those for whom there is no memory beside the others wait for a later round.
 */
#ifndef CONTEST_H
#define CONTEST_H

#include "job.h"

#include <signal.h>

struct contest {
    const struct point *points;
    const int *members; /* places in `points` */
    int count;
    const struct job_options *options;
    uint64_t seed;

    /* From now on time passes for this point: called before anything is done for it. */
    void (*on_turn)(void *arg, int index);
    /* Before the row, where options say keep_samples. */
    void (*on_samples)(void *arg, int index, const struct sample *samples, int count);
    void (*on_row)(void *arg, int index, const struct row *row);
    void *arg;

    const volatile sig_atomic_t *stop; /* set: every contestant ends with what it has */
};

/* Every member gets its row, unless an error of the device ends the contest: then those that have no row yet have to be
 * run again on a device opened anew. After *stop, contestants with min_samples of the device clock and some of the
 * host's have their times and the flag `cut-short`, the others the status `interrupted`. */
void contest_run(const struct contest *contest);

#endif
