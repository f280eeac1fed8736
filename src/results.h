/* SPDX-License-Identifier: MIT */
/* Reading a run back: the columns of results.csv that comparisons need, each checked. */
#ifndef RESULTS_H
#define RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds; NAN where the field is empty. The host clock has no quartiles and no maximum. */
struct timing {
    int samples;
    double min, q1, median, q3, max;
    double ci_lo, ci_hi;
};

/* One row. Texts point into the file's text, which struct results owns. */
struct result {
    int line; /* of the file */
    const char *device, *algorithm, *kind, *type, *op, *launch, *cache, *status;
    uint64_t n;
    int threads; /* 0 where the field is empty */
    struct timing device_time, host_time;
};

struct results {
    char path[4096];           /* the file read, for messages */
    const char *run, *machine; /* "" when there is no row */
    struct result *rows;
    int count;
    char *text;
};

/* Reads `path`: a run's folder, or a file named as such (a .part file only so). Columns are found by name.
 * Lines end in LF or in CR LF.
 * 0, or -1 and one line in `why` with file, line and what to do: missing or unknown columns, another schema, a torn
 * last line, a wrong number of fields, text where a number belongs, a status that nobody knows, a time that is not
 * above zero or out of order, a row that is there twice, rows of two runs. A file with a header only is right and has
 * no rows. */
int results_read(const char *path, struct results *results, char *why, size_t size);
void results_free(struct results *results);

/* Did the row give a time that may be compared? (ok, unstable, throttled) */
bool result_has_time(const struct result *result);

/* The newest complete run (a folder with results.csv) of any machine below `root`, by the name of the run; those of
 * a simulated machine are never taken unasked.
 * 0, or -1 when there is none. */
int results_newest(const char *root, char *folder, size_t size);

#endif
