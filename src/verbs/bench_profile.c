/* SPDX-License-Identifier: MIT */
/* bench --profile: for a profiler, which wants one plain run of each point. */
#include "verbs/bench.h"
#include "verbs/verbs.h"

#include <stdio.h>

static void on_profile_hello(void *arg, const struct worker_hello *hello)
{
    struct bench *bench = arg;
    if (bench_device_missing(bench->settings, hello)) {
        bench->no_device = bench->stop = true;
        fprintf(stderr, "scanbench: %s\n", hello->why);
    }
}

static void on_profile_start(void *arg, int index)
{
    (void)arg, (void)index;
}

static void on_profile_row(void *arg, int index, const struct row *row)
{
    struct bench *bench = arg;
    char point[160];
    bench->rows[index] = *row;
    bench->done[index] = true;
    bench_describe(&bench->points[index], point, sizeof point);
    printf("%s: %s%s%s\n", point, status_name(row->status), row->status == STATUS_OK ? "" : ": ",
           row->status == STATUS_OK ? ""
           : row->message[0]        ? row->message
                                    : row->detail);
    fflush(stdout);
}

int bench_profile(struct bench *bench)
{
    struct supervision supervision = bench_supervision(bench);
    int failures = 0;
    supervision.profile = true;
    supervision.on_open = NULL;
    supervision.on_hello = on_profile_hello;
    supervision.on_start = on_profile_start;
    supervision.on_samples = NULL;
    supervision.on_row = on_profile_row;
    int code = supervise(&supervision);
    if (bench->no_device)
        return EXIT_NO_DEVICE;
    for (int i = 0; i < bench->count; i++)
        failures += bench->done[i] && bench_is_failure(bench, &bench->rows[i]);
    return code ? code : failures ? EXIT_WRONG : EXIT_RIGHT;
}
