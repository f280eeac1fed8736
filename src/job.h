/* SPDX-License-Identifier: MIT */
/* A job: one point of the plan, run, checked and (for bench) timed. Its result is one row. */
#ifndef JOB_H
#define JOB_H

#include "device/counts.h"
#include "settings.h"
#include "stats.h"

/* A point of the plan: one algorithm on one problem, launched in one way, from one state of the cache. */
struct point {
    const struct algorithm *algorithm;
    enum kind kind;
    enum type type;
    enum op op; /* NONE for the kind COPY */
    uint64_t n;
    int threads;             /* 0 on the host */
    enum launch_mode launch; /* LAUNCH_STREAM on the host */
    enum cache_state cache;  /* CACHE_WARM on the host */
    enum schedule schedule;  /* check on the CPU device */
    uint64_t schedule_seed;
    uint64_t hot; /* 0: random input; otherwise element hot - 1 is the only one that is not the identity */
    int resident; /* most blocks at once per worker of the CPU device; 0: as the device was told */
};

enum status {
    STATUS_OK,
    STATUS_UNSTABLE,
    STATUS_THROTTLED,
    STATUS_MISMATCH,
    STATUS_OOM,
    STATUS_UNSUPPORTED,
    STATUS_TIMEOUT,
    STATUS_ERROR,
    STATUS_NOT_RUN,
    STATUS_INTERRUPTED,
    STATUSES
};
const char *status_name(enum status status); /* "ok", "unstable", ... as in results.csv */

/* Flat, without pointers: it travels through a pipe. Missing numbers are NAN or UNKNOWN. */
struct row {
    enum status status;
    char detail[96];    /* slug [a-z0-9._-]*; "" if none */
    char message[500];  /* one line for people; not in the CSV */
    char further[1000]; /* what else is wrong with the point, each a line with its LF, as many as fit */
    char flags[160];    /* slugs joined by '+' */
    double max_rel_err; /* floats */
    int discarded, repeats;
    struct summary device; /* seconds; on a host row the host clock */
    struct summary host;
    double sm_clock_mhz; /* over the samples of the device clock */
    double prepare_s;
    uint64_t launches; /* counted */
    uint64_t additions;
    char additions_how[8]; /* "counted", "model", "opaque", "" */
    uint64_t steps, bytes_moved, workspace_bytes;
};

/* Empties a row and gives it a status, a detail ("" for none) and a message for people. */
void row_set(struct row *row, enum status status, const char *detail, const char *message);

/* A flag of the count build: the order of blocks was not followed to the end, races may not have been reported. */
#define FLAG_UNFOLLOWED "order-not-followed"

/* Adds a slug to the flags. */
void row_flag(struct row *row, const char *flag);

/* The cartesian plan of the settings; only what the descriptors allow. *points is malloc'ed. By type, operator, n and
 * kind, and for each of these the algorithms in list order: neighbours share their input. Algorithms of the kind copy
 * take part whatever kind is asked for, once, with the operator NONE. A combination nobody supports is dropped; an
 * algorithm that needs an NVIDIA GPU stays and becomes `unsupported`. */
int plan_make(const struct settings *settings, struct point **points);

/* The order in which a plan is timed: those of one type and n together, as contestants that take turns; which of these
 * groups comes when is drawn by the seed, so that a drift of the machine does not look like an effect of n. `order`
 * gets the places in the plan, `first` that of each group in `order`, and behind the last one `count`; both have room
 * for count + 1. Returns the number of groups. */
int plan_order(const struct point *points, int count, uint64_t seed, int *order, int *first);

/* Is there an implementation in this build? NULL, or a reason for people ("needs an NVIDIA GPU"). */
const char *point_unavailable(const struct point *point);

void point_problem(const struct point *point, struct problem *problem); /* pointers NULL */
/* in + out + workspace on the device (or the host). Asks the descriptor, and so may touch the device where it is a
 * vendor's library. */
uint64_t point_memory_bytes(const struct point *point);
struct cost point_model(const struct point *point); /* all UNKNOWN where there is no model */

struct job_options {
    uint64_t seed;
    bool in_place;
    int offset;
    bool timed; /* bench: false checks only */
    int min_samples, max_samples;
    double budget_s;     /* wall time of a point's turns */
    double span_s;       /* wall time that the samples of each clock span at least, turns of others included; 0: any */
    bool without_gate;   /* asked for by the user */
    bool keep_samples;   /* every sample is wanted, not only their summary */
    double sm_clock_mhz; /* of the GPU under load: below three quarters of it samples are discarded; 0: its maximum */
};

/* One sample, as files of samples have it. */
struct sample {
    double at_s; /* since the first sample of the point */
    double seconds;
    bool of_host;   /* the host's clock, else the device's */
    bool discarded; /* taken while the GPU was throttled, or behind a gate that had opened too early */
};

/* Runs one point on the open device and fills `row`: checks every element, the input, the guard words around every
 * buffer, and counted against modelled launches and additions; a wrong answer has no time. Floats are checked twice
 * (whole numbers bit for bit, real numbers within the bound). Host algorithms too. Never exits. The count build
 * compares bytes read and written with the model, too, and its reports are errors: the slug is the report's kind. */
void job_run(const struct point *point, const struct job_options *options, struct row *row);

/* A point that is to be timed: job_open does what job_run does before it times (memory, both checked runs), job_subject
 * is what a timer needs, job_close runs and checks once more and frees everything. Between the two the row has no
 * status yet but STATUS_OK. job_open returns NULL where the row has ended already: it says why; with STATUS_OOM and
 * *postponed set, memory that others of the same group hold would have sufficed. */
struct job;
struct subject;
struct job *job_open(const struct point *point, const struct job_options *options, struct row *row, bool *postponed);
const struct subject *job_subject(const struct job *job);
void job_close(struct job *job, const struct job_options *options);

/* One plain run of the point between the start and the stop of a profiler, after a checked one. */
void job_profile(const struct point *point, const struct job_options *options, struct row *row);

/* What the count build saw of one run. What could not be counted is UNKNOWN. */
struct job_counts {
    struct counts all; /* sums over the launches; of steps and lookback_max the largest */
    uint64_t launches, blocks, threads_launched;
    struct launch_counts *list; /* in the order of the launches, each with its steps; NULL for a host algorithm */
    int list_count;
    struct report *reports;
    int report_count;
    enum { NO_MODEL, MODEL_AGREES, MODEL_DISAGREES } agreement;
    char disagreement[400]; /* "9217 additions, the model says 9216; ..." */
};

/* The count build only: runs the point once with every access counted, checks the answer, the input and the guards, and
 * runs it again with the operator STEPS. `row` says whether that went well; reports and a model that disagrees do not
 * count as failures. The counts are there whatever `row` says, and are freed by job_counts_free. */
void job_count(const struct point *point, const struct job_options *options, struct row *row,
               struct job_counts *counts);
void job_counts_free(struct job_counts *counts);

/* Runs the point once on n given elements, checks the answer like job_run and copies it to `output`. Its status is ok
 * only where the answer is right. */
void job_scan(const struct point *point, void *input, void *output, struct row *row);

#endif
