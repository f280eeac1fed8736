/* SPDX-License-Identifier: MIT */
/*
 * Where one algorithm overtakes another.
 *
 * At one n, a is "wholly faster" than b when a's interval ends below the start of b's. Going up in n, a crossing lies
 * between the last n where one is wholly faster and the first n where the other is; a pair may have several.
 *
 * The interval is the confidence interval of the median. Where the run has none (fewer than six samples) it is
 * min..max, which holds the median of the distribution with 1 - 2^(1 - samples): 94 % for five. Where there is no
 * maximum (host clock) or one sample only, nothing is wholly faster or slower.
 */
#ifndef CROSSINGS_H
#define CROSSINGS_H

#include "results.h"
#include <stdio.h>

enum verdict {
    CROSSES,
    ALWAYS_A, /* a is wholly faster at one n or more, b at none */
    ALWAYS_B,
    TIE, /* neither is anywhere */
};
const char *verdict_name(enum verdict verdict); /* "crosses", "always-a", "always-b", "tie" */

/* One algorithm at one n, in seconds. lo > hi: there is no interval. */
struct speed {
    uint64_t n;
    double lo, median, hi;
};

struct crossing {
    bool a_below; /* is a the faster one below it? */
    uint64_t last_n_below, first_n_above;
    double n_estimate; /* where the medians cross, straight lines in log n and log time; the geometric mean of the
                        * first and the last such place where they cross more than once */
};

/* Compares a and b, both ascending in n, at the sizes that both have. `crossings` takes as many as the shorter one is
 * long. Returns the number of crossings, or -1 when they have no n in common. */
int crossings_find(const struct speed *a, int a_count, const struct speed *b, int b_count, struct crossing *crossings,
                   enum verdict *verdict);

/* Every pair of a run, as crossovers.csv or as a table in Markdown. 0, or -1 when `out` cannot be written.
 *
 * Pairs are of one device, kind, type, op, launch, cache and clock. Host algorithms are compared with those of a
 * device in each of its launch modes, and among themselves under the device `host`; as their caches are always warm,
 * no cold mode has them. Of several block sizes the fastest at each n counts. Rows of the kind copy and rows without a
 * time take no part. The order of the rows does not matter: groups come by device, kind, type, op, launch and cache,
 * the usual ones first, pairs in list order. */
int crossings_csv(const struct results *results, FILE *out);
int crossings_markdown(const struct results *results, FILE *out);

/* For people, at the end of a run: one short line a crossing on the device clock, at most a screenful; who is faster
 * of serial, hillis_steele and blelloch where they do not cross; and how many crossings only the host's clock has.
 * 0, or -1 after one line on stderr. */
int crossings_print(const char *run_folder, FILE *out);

#endif
