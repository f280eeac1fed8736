/* SPDX-License-Identifier: MIT */
/* One run of bench, in the hands of the files that make it up: bench.c and bench_*.c. */
#ifndef BENCH_H
#define BENCH_H

#include "machine.h"
#include "neighbours.h"
#include "progress.h"
#include "resume.h"
#include "supervisor.h"

struct bench {
    const struct settings *settings;
    const struct point *points;
    int count;
    struct row *rows; /* of the points done */
    bool *done;
    bool *crowded;            /* points during whose turns somebody else was on the device */
    int done_count, measured; /* with those of an earlier session; of this one */
    bool sizes_given;         /* by the user: memory that does not suffice is then a failure */
    bool stop;                /* nothing more can be written */
    bool no_device, refused;
    bool disk_failed;
    bool met_early;      /* somebody else was on the device while overheads were measured */
    bool neighbour_told; /* somebody else is on the device, and the user knows */
    time_t started;
    struct machine machine;
    char slug[64], run[40], folder[4096];
    struct csv_file file;
    struct progress progress;
    struct neighbours neighbours;
    struct claim claim;
    struct resume *resume;   /* NULL: a run of its own */
    bool modes, block_sizes; /* is there more than one launch or cache mode, and more than one block size? */
    double looked_s;
    double *expected_s, expected_done_s, expected_all_s; /* of each point; of those done and of all of this session */
};

/* ---- bench_words.c */

void bench_format_n(uint64_t n, char *text, size_t size);
void bench_format_seconds(double seconds, char *text, size_t size); /* three digits and a unit: "1.23 us" */
void bench_describe(const struct point *point, char *text, size_t size);

/* ---- bench_plan.c */

/* --dry-run: every point that has no row yet, how long they take, and nothing is run. An exit code. */
int bench_show_plan(const struct bench *bench);

/* ---- bench_neighbours.c */

/* Says that this run is on the device, before anything is measured. A callback of the supervisor. */
void bench_on_open(void *arg, const struct worker_hello *hello);

/* Warns of those who are there when points begin to be timed; bench->machine is known. */
void bench_meet_neighbours(struct bench *bench);

/* Is somebody else on the device? The first one to come later is warned of. */
bool bench_has_company(struct bench *bench);

/* ---- bench_table.c */

/* The run's medians, a table for each kind, type and operator; how many rows are unstable; how many have which flag. */
void bench_print_tables(const struct bench *bench);

/* ---- bench_profile.c */

/* --profile: one run of each point, told on stdout, and no file. An exit code. */
int bench_profile(struct bench *bench);

/* ---- bench.c */

bool bench_device_missing(const struct settings *settings, const struct worker_hello *hello);
bool bench_is_failure(const struct bench *bench, const struct row *row);
struct supervision bench_supervision(struct bench *bench);
void bench_say(void *arg, const char *line); /* `arg`: a struct bench. A warning on stderr */

#endif
