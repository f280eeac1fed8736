/* SPDX-License-Identifier: MIT */
/*
 * Going on with a run that was interrupted, or has rows that failed. The run's options are those in its machine.csv;
 * nothing in its folder changes before it is certain that the same machine, build and plan go on.
 */
#ifndef RESUME_H
#define RESUME_H

#include "machine.h"
#include "neighbours.h"

struct resume {
    char folder[4096];
    struct machine_record record; /* machine.csv */
    struct claim claim;
    bool complete; /* results.csv is there, not its .part */
    char *results; /* text of the rows, NULL where there is no file yet */
    size_t results_length;
    char *kept_text; /* header and rows that stay */
    size_t kept_length;
    int kept, replaced; /* rows */
    char **words;       /* the run's options and those given now, which settings point into */
    char **stored;
};

/* Opens the run in given->resume and fills `settings` with its options: those stored, then those given now, which have
 * to agree, but for --limit. Unless it is a dry run, the folder is this process's from now on. 0, or an exit code after
 * one line on stderr that says what differs. settings_free and resume_close are the caller's in every case. */
int resume_open(struct resume *resume, const struct settings *given, struct settings *settings);

/* Which points have a row that stays: one with a time, `unsupported`, or `oom` where sizes were not given. `rows` gets
 * of these status, detail and the median of the device time. 0, or -1 after one line on stderr. */
int resume_rows(struct resume *resume, const struct point *points, int count, bool sizes_given, struct row *rows,
                bool *done);

/* Is this the machine, the device and the build of the run? 0, or -1 after one line on stderr that says what differs.
 */
int resume_check(const struct resume *resume, const struct machine *machine, const char *slug);

/* Makes the run an incomplete one again, with the rows that stay, and `file` ready for more. 0, or -1 after one line.
 */
int resume_begin(struct resume *resume, struct csv_file *file);

/* machine.csv of the run at its end. 0, or -1 after one line on stderr. */
int resume_finish(struct resume *resume, double copy_gb_per_s, int temp_end_c);

void resume_close(struct resume *resume);

#endif
