/* SPDX-License-Identifier: MIT */
/*
 * How far a plan has come, on stderr. On a terminal one line that is written over: "[i/N] the point, ETA". Otherwise
 * plain lines, so that a log can be read. Colours only on a terminal, and not where NO_COLOR is set.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

struct progress {
    int total, done;
    bool live; /* stderr is a terminal */
    bool color;
    double interval_s; /* least time between two plain lines */
    double begun_s, shown_s;
    double share;   /* of the whole work that is done, where the caller knows better than by points; 0: it does not */
    bool on_screen; /* the live line is there and has to be wiped before anything else is written */
};

/* `interval_s`: 0 gives every point its plain line; on a terminal it has no effect. */
void progress_begin(struct progress *progress, int total, double interval_s);

/* Point `index` (from 0) begins. */
__attribute__((format(printf, 3, 4))) void progress_point(struct progress *progress, int index, const char *format,
                                                          ...);

/* A line that stays ("mismatch: ..."), in red where it is bad news. */
__attribute__((format(printf, 3, 4))) void progress_note(struct progress *progress, bool bad, const char *format, ...);

/* Wipes the live line. To be called before anything goes to stdout, too. */
void progress_wipe(struct progress *progress);

#endif
