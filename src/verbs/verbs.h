/* SPDX-License-Identifier: MIT */
/* The verbs of the command line: one file each, one descriptor each, listed in verbs.c. */
#ifndef VERBS_H
#define VERBS_H

#include "settings.h"

struct verb {
    const char *name, *summary;
    const char *usage;                     /* "[OPTIONS]", "[OPTIONS] [RUN]" */
    const char *examples;                  /* for --help */
    const char *options;                   /* space-separated long names it takes, without dashes */
    int (*run)(struct settings *settings); /* returns the exit code */
};

enum { EXIT_RIGHT = 0, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_NO_DEVICE = 77, EXIT_INTERRUPTED = 130 };

extern const struct verb verb_bench, verb_check, verb_claims, verb_count, verb_crossover, verb_export, verb_lesson,
    verb_list, verb_scan, verb_trace;
extern const struct verb *const verbs[]; /* ended by NULL */

#endif
