/* SPDX-License-Identifier: MIT */
/* bench --dry-run: the plan, shown and not carried out. */
#include "forecast.h"
#include "registry.h"
#include "verbs/bench.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void format_count(uint64_t count, char *text, size_t size)
{
    if (count == UNKNOWN)
        snprintf(text, size, "unknown");
    else
        snprintf(text, size, "%" PRIu64, count);
}

/* "3.1 s", "2 min 05 s": to be read, not to be computed with. */
static void format_duration(double seconds, char *text, size_t size)
{
    long whole = (long)(seconds + 0.5);
    if (seconds < 10)
        snprintf(text, size, "%.1f s", seconds);
    else if (whole < 120)
        snprintf(text, size, "%ld s", whole);
    else if (whole < 7200)
        snprintf(text, size, "%ld min %02ld s", whole / 60, whole % 60);
    else
        snprintf(text, size, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
}

/* NULL, or why there would be no number. */
static const char *unsupported(const struct point *point, struct problem *problem)
{
    const char *reason = point_unavailable(point);
    point_problem(point, problem);
    return reason || !point->algorithm->refuse ? reason : point->algorithm->refuse(problem);
}

/* `done`: points that have their row already. */
int bench_show_plan(const struct bench *bench)
{
    const struct settings *settings = bench->settings;
    int measured = 0, unable = 0, unable_left = 0;
    uint64_t largest = 0;
    bool all_known = true, *left_out = calloc((size_t)bench->count + 1, sizeof *left_out);
    if (!left_out)
        abort();
    printf("%-16s %-9s %-4s %-6s %12s %7s %6s %5s %9s %14s %12s\n", "algorithm", "kind", "type", "op", "n", "threads",
           "launch", "cache", "launches", "additions", "memory MiB");
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        struct problem problem;
        const char *reason = unsupported(point, &problem);
        char threads[16] = "-", launches[24], additions[24], memory[24] = "unknown";
        left_out[i] = reason || bench->done[i];
        unable += reason != NULL;
        if (bench->done[i])
            continue;
        unable_left += reason != NULL;
        if (point->threads)
            snprintf(threads, sizeof threads, "%d", point->threads);
        printf("%-16s %-9s %-4s %-6s %12" PRIu64 " %7s %6s %5s ", point->algorithm->name, kind_name(point->kind),
               type_name(point->type), op_name(point->op), point->n, threads, launch_mode_name(point->launch),
               cache_state_name(point->cache));
        if (reason) {
            printf("unsupported: %s\n", reason);
            continue;
        }
        struct cost cost = point_model(point);
        format_count(cost.launches, launches, sizeof launches);
        format_count(cost.additions, additions, sizeof additions);
        measured++;
        /* A vendor's library would have to be asked, and asking it opens the device. */
        if (point->algorithm->runs_on == NVIDIA) {
            all_known = false;
        } else {
            uint64_t bytes = point_memory_bytes(point);
            snprintf(memory, sizeof memory, "%.1f", (double)bytes / (1 << 20));
            if (bytes > largest)
                largest = bytes;
        }
        printf("%9s %14s %12s\n", launches, additions, memory);
    }
    struct forecast forecast;
    char budget[32], time[48];
    forecast_plan(settings, bench->points, bench->count, left_out, &forecast, NULL);
    free(left_out);
    bench_format_seconds(settings->budget_s, budget, sizeof budget);
    format_duration(forecast.seconds, time, sizeof time);
    printf("\n%d points, %d of them unsupported here\n", bench->count, unable);
    if (bench->resume) {
        printf("%d rows stay, %d failed or interrupted and are measured again; %d points to measure",
               bench->resume->kept, bench->resume->replaced, measured);
        if (unable_left)
            printf(", %d more are unsupported", unable_left);
        putchar('\n');
    }
    printf("memory of the largest: %.1f MiB%s\n", (double)largest / (1 << 20),
           all_known ? "" : ", and an unknown workspace of the vendor's scan");
    printf("samples a point: %d to %d, in %s\n", settings->min_samples, settings->max_samples, budget);
    printf("about %s (assuming ", time);
    if (forecast.known)
        printf("run times as in %s for %d of the points, and ", forecast.run, forecast.known);
    printf("%s)\n", forecast_assumptions());
    return EXIT_RIGHT;
}
