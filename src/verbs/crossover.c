/* SPDX-License-Identifier: MIT */
#include "crossings.h"
#include "json.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>

static int write_json(const struct results *results)
{
    char *csv = NULL;
    size_t length;
    FILE *memory = open_memstream(&csv, &length);
    int failed = !memory || crossings_csv(results, memory);
    if (memory)
        failed |= fclose(memory) != 0;
    failed = failed || json_of_csv(csv, stdout) || puts("") < 0 || fflush(stdout);
    free(csv);
    return failed;
}

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
    int failed = settings->json       ? write_json(&results)
                 : settings->markdown ? crossings_markdown(&results, stdout)
                                      : crossings_csv(&results, stdout);
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
    .options = "output markdown format",
    .run = run,
};
