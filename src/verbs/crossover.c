/* SPDX-License-Identifier: MIT */
#include "crossings.h"
#include "verbs.h"

#include <stdio.h>

static int run(struct settings *settings)
{
    const char *root = settings->output ? settings->output : "results", *folder = settings->run_folder;
    char newest[4096], why[8192];
    if (!folder) {
        if (results_newest(root, newest, sizeof newest)) {
            fprintf(stderr,
                    "scanbench crossover: no complete run below %s/; run \"scanbench bench\" or name a run's folder\n",
                    root);
            return EXIT_USAGE;
        }
        folder = newest;
    }
    struct results results;
    if (results_read(folder, &results, why, sizeof why)) {
        fprintf(stderr, "scanbench crossover: %s\n", why);
        return EXIT_WRONG;
    }
    int failed = settings->markdown ? crossings_markdown(&results, stdout) : crossings_csv(&results, stdout);
    results_free(&results);
    if (failed) {
        fprintf(stderr, "scanbench crossover: the standard output cannot be written\n");
        return EXIT_WRONG;
    }
    return EXIT_RIGHT;
}

const struct verb verb_crossover = {
    .name = "crossover",
    .summary = "where one algorithm overtakes another, from the results of a run; needs no device",
    .usage = "[OPTIONS] [RUN]",
    .examples = "  scanbench crossover                             the newest complete run below results/, as CSV\n"
                "  scanbench crossover --markdown results/M/RUN    one run, as a table\n"
                "  scanbench crossover results/M/RUN/results.csv.part    what there is of an interrupted run\n",
    .options = "output markdown",
    .run = run,
};
