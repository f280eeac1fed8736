/* SPDX-License-Identifier: MIT */
/* What the command line asked for: one struct, filled by settings_parse, read by every verb. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "device/device.h"

struct verb; /* verbs/verbs.h */

/* How a run reaches the device, and what the caches hold before it. Each value is one bit, as in scan.h. */
enum launch_mode { LAUNCH_STREAM = 1, LAUNCH_GRAPH = 2 };
enum cache_state { CACHE_WARM = 1, CACHE_COLD = 2 };

struct settings {
    const struct verb *verb;

    /* The plan. An empty selection stands for the verb's default. */
    const struct algorithm **algorithms; /* in list order */
    int algorithm_count;
    bool algorithms_given; /* named one by one: what they cannot do is an error, not left out */
    uint64_t *sizes;       /* ascending, each once */
    int size_count;
    unsigned types, kinds, ops; /* sets */
    int *threads;               /* NULL: each algorithm's own choice */
    int thread_count;
    bool all_threads; /* every block size an algorithm accepts */
    uint64_t seed;

    /* The device. */
    bool device_given; /* -d was there: exit 77 when there is none */
    int device;
    struct device_options device_options;
    bool schedule_given, all_schedules;

    /* bench */
    const char *output;  /* folder that stands for results/ */
    const char *machine; /* --machine, or NULL */
    int min_samples, max_samples;
    double budget_s; /* wall time of a point; count: of all points together */
    bool quick, dry_run;
    unsigned launches, caches; /* sets of the above */
    bool samples;              /* every sample into files */
    bool profile;              /* one plain run a point, for a profiler */
    bool no_gate;
    const char *resume; /* the folder of a run to be finished, or NULL */
    double limit_s;     /* wall time after which a point is ended as `timeout`; 0: the verb's default */

    /* check */
    bool in_place;
    int offset; /* elements by which in and out are misaligned: 0 or 1 */

    /* scan */
    const char *values, *input;
    bool raw;

    /* count, trace, lesson, claims, list, crossover */
    bool table, markdown, latex, json;
    const char *run_folder; /* positional, or NULL: the newest */

    int argc; /* as given, for machine.csv */
    char **argv;
};

/* Fills `settings` from the command line after the verb. 0, or 2 after one line on stderr that names the option,
 * the value and what is allowed. Defaults that depend on the device are left empty (settings_defaults). */
int settings_parse(struct settings *settings, const struct verb *verb, int argc, char **argv);

/* Fills what is still empty, now that the device is known: "cuda" sweeps 2^10..2^28 with 30 samples and 1 s a point,
 * "cpu" 2^10..2^20 with 5 samples and 0.3 s. The verb count has 120 s for all points. */
void settings_defaults(struct settings *settings, const char *device_kind);
/* The options a verb takes, with their defaults, on stdout. */
void settings_print_options(const struct verb *verb);

void settings_free(struct settings *settings);

/* "stream", "graph"; "warm", "cold": as in options and CSV files. */
const char *launch_mode_name(enum launch_mode launch);
const char *cache_state_name(enum cache_state cache);

/* One size list: "1000", "2^k", "A:B" (doubling), "A:B:xK", "A:B:+K" and comma lists of these.
 * Returns the number of sizes, ascending and unique, in *sizes (malloc), or -1 and a reason in `why`. */
int sizes_parse(const char *text, uint64_t **sizes, char *why, size_t size);

#endif
