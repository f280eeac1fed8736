/* SPDX-License-Identifier: MIT */
/* export: a run for other programs, as one JSON object. */
#include "crossings.h"
#include "json.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One more member of the object, from a file of the run; null where the run has none. */
static int put_file(const char *folder, const char *name, FILE *out)
{
    char path[4352];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    printf(",\n\"%s\": ", name);
    int torn = json_of_csv_file(path, out);
    if (!torn)
        return 0;
    if (torn < 0 && errno == ENOENT && !ferror(out))
        return fputs("null", out) < 0 ? -1 : 0;
    if (torn > 0)
        fprintf(stderr,
                "scanbench export: %s:%d: a torn line, or a decimal comma; remove the line or restore the file\n", path,
                torn);
    else
        fprintf(stderr, "scanbench export: %s: %s\n", ferror(out) ? "the standard output" : path, strerror(errno));
    return -1;
}

static int run(struct settings *settings)
{
    const char *root = settings->output ? settings->output : "results", *folder = settings->run_folder;
    char newest[4096], why[8192], counts[4352];
    if (!folder) {
        if (results_newest(root, newest, sizeof newest)) {
            fprintf(stderr,
                    "scanbench export: no complete run below %s/; run \"scanbench bench\" or name a run's folder\n",
                    root);
            return EXIT_USAGE;
        }
        folder = newest;
    }
    struct results results = {.run = ""};
    snprintf(counts, sizeof counts, "%s/counts.csv", folder);
    bool only_counts = access(counts, R_OK) == 0; /* such a run has no results.csv to check */
    if (!only_counts && results_read(folder, &results, why, sizeof why)) {
        fprintf(stderr, "scanbench export: %s\n", why);
        return EXIT_WRONG;
    }
    char *crossings = NULL;
    size_t length;
    FILE *memory = open_memstream(&crossings, &length);
    int failed = !memory || (!only_counts && crossings_csv(&results, memory));
    if (memory)
        failed |= fclose(memory) != 0;
    results_free(&results);
    printf("{\"schema\": 1,\n\"folder\": ");
    json_string(folder, stdout);
    static const char *const files[] = {"machine", "results", "counts", "launches"};
    for (size_t i = 0; i < sizeof files / sizeof *files && !failed; i++)
        failed = put_file(folder, files[i], stdout);
    printf(",\n\"crossovers\": ");
    if (!failed && !only_counts)
        failed = json_of_csv(crossings, stdout);
    else
        fputs("null", stdout);
    printf("}\n");
    free(crossings);
    if (failed)
        return EXIT_WRONG;
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "scanbench export: the standard output cannot be written\n");
        return EXIT_WRONG;
    }
    return EXIT_RIGHT;
}

const struct verb verb_export = {
    .name = "export",
    .summary = "a run as JSON for other programs: its machine, rows, counts and crossovers; needs no device",
    .usage = "[OPTIONS] [RUN]",
    .examples = "  scanbench export > run.json                     the newest complete run below results/\n"
                "  scanbench export results/M/RUN | jq '.results[] | select(.n == 1048576)'\n",
    .options = "output",
    .run = run,
};
