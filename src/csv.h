/* SPDX-License-Identifier: MIT */
/*
 * Writing result files: comma-separated, header on line 1, LF, ASCII, `.` decimals, no quotes and no commas inside
 * fields, empty = missing.
 *
 * A file is called NAME.part until it is complete. A row goes to it in one write(); when that fails half-way, the
 * file is cut back to its last whole row.
 */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { CSV_SCHEMA = 1 };

/* `text` as a slug [a-z0-9._-]*: lower case, every run of other characters one '-', none of '-' and '.' at either
 * end; "(R)" and "(TM)" are dropped. At most size - 1 characters; "unknown" where nothing is left. */
void csv_slug(const char *text, char *slug, size_t size);

/* One row in the making: fields are appended, commas between them. */
struct csv_row {
    char text[8192];
    size_t length;
};
void csv_text(struct csv_row *row, const char *text);   /* commas, quotes, controls and non-ASCII become spaces */
void csv_integer(struct csv_row *row, uint64_t value);  /* UNKNOWN: missing */
void csv_positive(struct csv_row *row, uint64_t value); /* 0: missing */
void csv_number(struct csv_row *row, double value);     /* %.9g; not finite: missing */
void csv_missing(struct csv_row *row);

/* The words of a command line as one field, from which csv_words_read makes the same words again: spaces between them,
 * commas as ';', and '%' with two hexadecimal digits for every byte that would be taken for something else; '%' alone
 * is an empty word. A field that has no room for all of them ends in "%+", which cannot be read back. */
void csv_words(struct csv_row *row, char *const *words, int count);

/* malloc'ed, in one piece, with NULL behind the last word; NULL where the field is not what csv_words wrote. */
char **csv_words_read(const char *field, int *count);

struct csv_file {
    char path[4096]; /* without .part */
    int fd;          /* -1: not open */
    off_t whole;     /* bytes up to the end of the last whole row */
};

/* All return 0, or -1 after one line on stderr that names the file and the reason. */
int csv_open(struct csv_file *file, const char *folder, const char *name, const char *header);
/* The same in place of a .part that is there: it has `text` (header and rows) from one moment to the next. */
int csv_reopen(struct csv_file *file, const char *folder, const char *name, const char *text, size_t length);
int csv_append(struct csv_file *file, struct csv_row *row); /* adds the LF, writes, empties the row */
int csv_complete(struct csv_file *file);                    /* to the disk, closed, .part dropped from its name */
void csv_abandon(struct csv_file *file);                    /* closed, stays .part */

/* A file that is there whole or not at all: written under another name, to the disk, renamed. 0, or -1 after one line
 * on stderr. */
int csv_write(const char *folder, const char *name, const char *text, size_t length);

/* The text of a file, ended by a zero byte, malloc'ed; NULL and errno where it cannot be read. */
char *csv_read(const char *path, size_t *length);

/* Cuts a line at its commas. The number of fields, or most + 1 for more than that. */
int csv_split(char *line, char **fields, int most);

/* Can `folder` be written? Makes it with its parents where it is missing, and tries it with a folder of its own that
 * it removes. Folders made for a failed try are removed again. 0, or -1 after one line on stderr. */
int csv_folder_writable(const char *folder);

/* Makes OUTPUT/MACHINE/RUN and leaves its name in `folder` and RUN in `run`: the UTC time, with -2, -3, ... behind it
 * until the folder is new. 0, or -1 after one line on stderr. */
int csv_run_folder(const char *output, const char *machine, time_t now, char *folder, size_t folder_size, char *run,
                   size_t run_size);

/* results.csv */
struct point;
struct row;

extern const char csv_results_header[];

/* The row of one point. `device` is "cuda" or "cpu"; a host algorithm's row says "host". A row whose status is not
 * ok, unstable or throttled is written without samples, times and rates. */
void csv_result(struct csv_row *text, const char *run, const char *machine, const char *device,
                const struct point *point, const struct row *row);

/* Does this status come with a time? */
bool csv_has_time(const struct row *row);

/* samples/ALGORITHM-KIND-TYPE-OP-N-LAUNCH-CACHE.csv of one point; with_threads: -THREADS behind N. The folder is made.
 * 0, or -1 after one line on stderr. */
struct sample;
int csv_samples(const char *folder, const struct point *point, bool with_threads, const struct sample *samples,
                int count);

/* counts.csv and launches.csv */
struct job_counts;

extern const char csv_counts_header[], csv_launches_header[];

/* The row of one point, and of its launch number `launch` (from 0; in the file from 1). */
void csv_counts(struct csv_row *text, const char *run, const struct point *point, const struct job_counts *counts);
void csv_launch(struct csv_row *text, const char *run, const struct point *point, const struct job_counts *counts,
                int launch);

#endif
