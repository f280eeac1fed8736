/* SPDX-License-Identifier: MIT */
/* bench: times every point of a plan, row by row into a new folder, and ends with a table. */
#include "crossings.h"
#include "csv.h"
#include "device/counts.h"
#include "forecast.h"
#include "machine.h"
#include "neighbours.h"
#include "progress.h"
#include "registry.h"
#include "resume.h"
#include "supervisor.h"
#include "timer.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_SIZES = 5 };
static const double LOOK_AGAIN_S = 5; /* between two questions to NVML while points are timed */

/* One run of bench, as its callbacks see it. */
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

/* ---- words */

static void format_n(uint64_t n, char *text, size_t size)
{
    if (n >= 1024 && (n & (n - 1)) == 0)
        snprintf(text, size, "2^%d", log2_ceil(n));
    else
        snprintf(text, size, "%" PRIu64, n);
}

/* Three digits and the unit that keeps them before the point: "1.23 us". */
static void format_seconds(double seconds, char *text, size_t size)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i < 3 && seconds < 0.9995 * units[i].unit)
        i++;
    double value = seconds / units[i].unit;
    snprintf(text, size, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[i].name);
}

static void format_count(uint64_t count, char *text, size_t size)
{
    if (count == UNKNOWN)
        snprintf(text, size, "unknown");
    else
        snprintf(text, size, "%" PRIu64, count);
}

static void describe(const struct point *point, char *text, size_t size)
{
    char n[32];
    format_n(point->n, n, sizeof n);
    int used = snprintf(text, size, "%s %s %s %s n=%s", point->algorithm->name, kind_name(point->kind),
                        type_name(point->type), op_name(point->op), n);
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s%s", point->launch == LAUNCH_GRAPH ? " graph" : "",
                 point->cache == CACHE_COLD ? " cold" : "");
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

/* For a shell: in quotes where it has to be. */
static void format_path(const char *path, char *text, size_t size)
{
    bool plain = !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@")];
    snprintf(text, size, plain ? "%s" : "'%s'", path);
}

/* ---- the plan, shown and not carried out */

/* NULL, or why there would be no number. */
static const char *unsupported(const struct point *point, struct problem *problem)
{
    const char *reason = point_unavailable(point);
    point_problem(point, problem);
    return reason || !point->algorithm->refuse ? reason : point->algorithm->refuse(problem);
}

/* `done`: points that have their row already. */
static int show_plan(const struct bench *bench)
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
    format_seconds(settings->budget_s, budget, sizeof budget);
    format_duration(forecast.seconds, time, sizeof time);
    printf("\n%d points, %d of them unsupported here\n", bench->count, unable);
    if (bench->resume)
        printf("%d rows stay, %d failed or interrupted and are measured again; %d points to measure, and %d rows to "
               "write that are unsupported\n",
               bench->resume->kept, bench->resume->replaced, measured, unable_left);
    printf("memory of the largest: %.1f MiB%s\n", (double)largest / (1 << 20),
           all_known ? "" : ", and an unknown workspace of the vendor's scan");
    printf("samples a point: %d to %d, in %s\n", settings->min_samples, settings->max_samples, budget);
    printf("about %s (assuming ", time);
    if (forecast.known)
        printf("run times as in %s for %d of the points, and ", forecast.run, forecast.known);
    printf("%s)\n", forecast_assumptions());
    return EXIT_RIGHT;
}

/* ---- what the supervisor tells */

/* Device algorithms in the plan, or not. */
static bool needs_device(const struct bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->points[i].algorithm->runs_on != HOST && bench->points[i].algorithm->run)
            return true;
    return false;
}

static void say(void *arg, const char *line)
{
    struct bench *bench = arg;
    progress_note(&bench->progress, false, "scanbench: warning: %s", line);
}

static const char *another(const struct bench *bench, char *text, size_t size)
{
    long other = neighbours_other(&bench->neighbours);
    if (other > 0)
        snprintf(text, size, "another scanbench (process %ld)", other);
    else
        snprintf(text, size, "another scanbench");
    return text;
}

/* Is somebody else on the device? Remembered for the points that are timed meanwhile. */
static bool look_around(struct bench *bench)
{
    double now = timer_now_s();
    char line[200], who[60];
    if (now - bench->looked_s > LOOK_AGAIN_S) {
        machine_look_again(&bench->machine);
        bench->looked_s = now;
    }
    bool neighbour = neighbours_other(&bench->neighbours) != 0, crowded = bench->machine.state.other_processes > 0;
    if ((neighbour || crowded) && !bench->neighbour_told) {
        snprintf(line, sizeof line, "%s now %s this %s: rows timed meanwhile are flagged device-busy",
                 neighbour ? another(bench, who, sizeof who) : "another process",
                 neighbour ? "measures on" : "computes on", neighbour ? "device" : "GPU");
        say(bench, line);
        bench->neighbour_told = true;
    }
    return neighbour || crowded;
}

/* A real device is shared with others; the clock of a simulated one is its own. */
static void enter(struct bench *bench, const struct device_properties *device)
{
    if (!device->simulated && bench->neighbours.fd < 0)
        neighbours_enter(&bench->neighbours, NEIGHBOURS_PLACE, device->uuid[0] ? device->uuid : device_kind());
}

/* Before anything is measured: others that begin now see this run, and those that are there are in its overheads. */
static void on_open(void *arg, const struct worker_hello *hello)
{
    struct bench *bench = arg;
    enter(bench, &hello->properties);
    bench->met_early = neighbours_other(&bench->neighbours) != 0;
}

static void meet_neighbours(struct bench *bench)
{
    char line[200], who[60];
    enter(bench, &bench->machine.device);
    bool there = neighbours_other(&bench->neighbours) != 0;
    if (!there && !bench->met_early)
        return;
    snprintf(line, sizeof line, "%s %s on this device: times%s are not its own", another(bench, who, sizeof who),
             there ? "measures" : "measured", bench->met_early ? ", and the overheads in machine.csv," : "");
    say(bench, line);
    bench->neighbour_told |= there;
}

/* Host algorithms do without a device, but not where one was asked for: by its number, or to be simulated. */
static bool device_missing(const struct settings *settings, const struct worker_hello *hello)
{
    return hello->error || (settings->device_given && !hello->properties.name[0]) ||
           (settings->device_options.simulate && !hello->properties.simulated);
}

/* A folder of its own, with what is known of the machine, and a results.csv without rows. */
static int begin_run(struct bench *bench)
{
    char why[4400];
    if (csv_run_folder(bench->settings->output, bench->slug, bench->started, bench->folder, sizeof bench->folder,
                       bench->run, sizeof bench->run))
        return -1;
    if (claim_folder(&bench->claim, bench->folder, why, sizeof why)) {
        fprintf(stderr, "scanbench: %s: %s\n", bench->folder, why);
        return -1;
    }
    return machine_write(&bench->machine, bench->folder, bench->run, bench->slug, false) ||
                   csv_reopen(&bench->file, bench->folder, "results.csv", csv_results_header,
                              strlen(csv_results_header))
               ? -1
               : 0;
}

static void on_hello(void *arg, const struct worker_hello *hello)
{
    struct bench *bench = arg;
    const struct settings *settings = bench->settings;
    if (device_missing(settings, hello)) {
        bench->no_device = bench->stop = true;
        progress_wipe(&bench->progress);
        fprintf(stderr, "scanbench: %s\n", hello->why);
        return;
    }
    machine_describe(&bench->machine, settings, hello, bench->started);
    machine_slug(&bench->machine, bench->slug, sizeof bench->slug);
    bench->looked_s = timer_now_s();
    progress_wipe(&bench->progress);
    bool gpu = hello->properties.simulated || strcmp(hello->properties.kind, "cpu") != 0;
    if (settings->caches & CACHE_COLD && gpu && !hello->properties.l2_bytes && needs_device(bench)) {
        fprintf(stderr,
                "scanbench: --cache cold: the size of this device's cache is unknown, so it cannot be emptied\n");
        bench->refused = bench->stop = true;
        return;
    }
    if (bench->resume) {
        bench->refused = resume_check(bench->resume, &bench->machine, bench->slug);
        bench->stop = bench->refused || resume_begin(bench->resume, &bench->file);
    } else {
        bench->stop = begin_run(bench);
    }
    if (bench->stop)
        return;
    progress_note(&bench->progress, false, "scanbench: %d points on %s, %s %s", bench->count - bench->done_count,
                  hello->properties.name[0] ? hello->properties.name : bench->machine.host_cpu,
                  bench->resume ? "the rest of" : "into", bench->folder);
    machine_warn(&bench->machine, say, bench);
    bench->neighbour_told |= bench->machine.state.other_processes > 0;
    meet_neighbours(bench);
}

static void on_start(void *arg, int index)
{
    struct bench *bench = arg;
    char point[160];
    describe(&bench->points[index], point, sizeof point);
    progress_point(&bench->progress, bench->measured, "%s", point);
    bench->crowded[index] |= look_around(bench);
}

static void on_samples(void *arg, int index, const struct sample *samples, int count)
{
    struct bench *bench = arg;
    if (!bench->stop && csv_samples(bench->folder, &bench->points[index], bench->block_sizes, samples, count))
        bench->stop = bench->disk_failed = true;
}

static bool is_failure(const struct bench *bench, const struct row *row)
{
    switch (row->status) {
    case STATUS_OK:
    case STATUS_UNSTABLE:
    case STATUS_THROTTLED:
    case STATUS_UNSUPPORTED: return false;
    case STATUS_OOM: return bench->sizes_given;
    default: return true;
    }
}

/* Once for an algorithm, not once for each of its sizes. */
static bool already_told(const struct bench *bench, int index)
{
    for (int i = 0; i < bench->count; i++)
        if (i != index && bench->done[i] && bench->points[i].algorithm == bench->points[index].algorithm &&
            bench->rows[i].status == STATUS_UNSUPPORTED && !strcmp(bench->rows[i].detail, bench->rows[index].detail))
            return true;
    return false;
}

static void tell(struct bench *bench, int index)
{
    const struct row *row = &bench->rows[index];
    char point[160];
    if (csv_has_time(row) || row->status == STATUS_INTERRUPTED)
        return;
    describe(&bench->points[index], point, sizeof point);
    if (row->status != STATUS_UNSUPPORTED)
        progress_note(&bench->progress, is_failure(bench, row), "%s: %s: %s", status_name(row->status), point,
                      row->message[0] ? row->message : row->detail);
    else if (!already_told(bench, index))
        progress_note(&bench->progress, false, "unsupported: %s: %s", bench->points[index].algorithm->name,
                      row->message[0] ? row->message : row->detail);
}

/* What the machine and the session have to do with the row. */
static void add_flags(struct bench *bench, int index, struct row *row)
{
    bool on_device = bench->points[index].algorithm->runs_on != HOST;
    if (bench->machine.device.simulated)
        row_flag(row, "simulated");
    if (on_device && csv_has_time(row) && machine_clock_unlocked(&bench->machine))
        row_flag(row, "clock-unlocked");
    if (on_device && csv_has_time(row) && machine_clock_low(&bench->machine))
        row_flag(row, "clock-low");
    if (csv_has_time(row) && (bench->crowded[index] || look_around(bench)))
        row_flag(row, "device-busy");
    if (bench->resume)
        row_flag(row, "resumed");
}

static void on_row(void *arg, int index, const struct row *row)
{
    struct bench *bench = arg;
    struct csv_row text;
    if (bench->stop)
        return;
    bench->rows[index] = *row;
    add_flags(bench, index, &bench->rows[index]);
    tell(bench, index);
    csv_result(&text, bench->run, bench->slug, bench->machine.device.kind, &bench->points[index], &bench->rows[index]);
    progress_wipe(&bench->progress);
    if (csv_append(&bench->file, &text)) {
        bench->stop = bench->disk_failed = true;
        return;
    }
    bench->done[index] = true;
    bench->measured++;
    bench->done_count++;
    bench->expected_done_s += bench->expected_s[index];
    bench->progress.share = bench->expected_all_s > 0 ? bench->expected_done_s / bench->expected_all_s : 0;
}

/* ---- the end */

/* The better copy at the largest n that has one, in GB/s of useful bytes; where the plan has none, what was measured at
 * the start; NAN where nothing was copied. */
static double copy_ceiling(const struct bench *bench)
{
    uint64_t largest = 0;
    double best = NAN;
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        if (!bench->done[i] || point->kind != COPY || point->algorithm->runs_on == HOST || point->cache != CACHE_WARM ||
            !csv_has_time(&bench->rows[i]))
            continue;
        double rate = 2.0 * (double)point->n * (double)type_size(point->type) / bench->rows[i].device.median / 1e9;
        if (point->n > largest || (point->n == largest && !(rate <= best)))
            best = rate;
        if (point->n > largest)
            largest = point->n;
    }
    if (!largest && bench->machine.overheads.copy_gb_per_s > 0)
        best = bench->machine.overheads.copy_gb_per_s;
    return best;
}

static bool same_line(const struct point *a, const struct point *b)
{
    return a->algorithm == b->algorithm && a->threads == b->threads && a->kind == b->kind && a->type == b->type &&
           a->op == b->op && a->launch == b->launch && a->cache == b->cache;
}

/* Is the point shown in the table of `head`: the same kind, type and operator, or a copy of its type? */
static bool in_table(const struct point *head, const struct point *point)
{
    return point->type == head->type && (point->kind == COPY || (point->kind == head->kind && point->op == head->op));
}

static void format_cell(const struct bench *bench, const struct point *line, uint64_t n, char *cell, size_t size)
{
    snprintf(cell, size, "-");
    for (int i = 0; i < bench->count; i++) {
        const struct row *row = &bench->rows[i];
        if (!bench->done[i] || bench->points[i].n != n || !same_line(line, &bench->points[i]))
            continue;
        if (csv_has_time(row)) {
            char time[32];
            format_seconds(row->device.median, time, sizeof time);
            snprintf(cell, size, "%s%s", row->status == STATUS_OK ? "" : "~", time);
        } else if (row->status != STATUS_UNSUPPORTED) {
            snprintf(cell, size, "%s", status_name(row->status));
        }
        return;
    }
}

/* What tells the line from others of the table: its algorithm, and what there is more than one of. */
static void format_line(const struct bench *bench, const struct point *point, char *text, size_t size)
{
    char threads[16] = "";
    if (point->threads && bench->block_sizes)
        snprintf(threads, sizeof threads, "/%d", point->threads);
    bool modes = bench->modes && point->algorithm->runs_on != HOST;
    snprintf(text, size, "%s%s%s%s", point->algorithm->name, threads,
             !modes                          ? ""
             : point->launch == LAUNCH_GRAPH ? " graph"
                                             : " stream",
             !modes                       ? ""
             : point->cache == CACHE_COLD ? " cold"
                                          : "");
}

static int widest_line(const struct bench *bench)
{
    char text[64];
    size_t widest = 0;
    for (int i = 0; i < bench->count; i++) {
        format_line(bench, &bench->points[i], text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

static void print_table(const struct bench *bench, int head, int width)
{
    const struct point *first = &bench->points[head];
    const struct settings *settings = bench->settings;
    int columns = settings->size_count < TABLE_SIZES ? settings->size_count : TABLE_SIZES;
    uint64_t sizes[TABLE_SIZES];
    char text[64];

    for (int c = 0; c < columns; c++)
        sizes[c] = settings->sizes[columns > 1 ? c * (settings->size_count - 1) / (columns - 1) : 0];
    printf("%s %s %s, median of the device time (of the host's for a host algorithm)\n%-*s", kind_name(first->kind),
           type_name(first->type), op_name(first->op), width, "n");
    for (int c = 0; c < columns; c++) {
        format_n(sizes[c], text, sizeof text);
        printf(" %12s", text);
    }
    putchar('\n');
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        bool seen = !in_table(first, point);
        for (int j = 0; j < i && !seen; j++)
            seen = same_line(point, &bench->points[j]);
        if (seen)
            continue;
        format_line(bench, point, text, sizeof text);
        printf("%-*s", width, text);
        for (int c = 0; c < columns; c++) {
            format_cell(bench, point, sizes[c], text, sizeof text);
            printf(" %12s", text);
        }
        putchar('\n');
    }
    putchar('\n');
}

/* How many rows have which flag; that a device is simulated stands in the name of the run already. */
static void print_flags(const struct bench *bench)
{
    struct {
        char name[sizeof bench->rows->flags];
        int rows;
    } flags[16];
    int count = 0;
    for (int i = 0; i < bench->count; i++) {
        char text[sizeof bench->rows->flags], *rest;
        snprintf(text, sizeof text, "%s", bench->rows[i].flags);
        for (char *flag = strtok_r(text, "+", &rest); flag; flag = strtok_r(NULL, "+", &rest)) {
            int at = 0;
            while (at < count && strcmp(flags[at].name, flag) != 0)
                at++;
            if (!strcmp(flag, "simulated") || at == sizeof flags / sizeof *flags)
                continue;
            if (at == count) {
                snprintf(flags[at].name, sizeof flags[at].name, "%s", flag);
                flags[at].rows = 0;
                count++;
            }
            flags[at].rows++;
        }
    }
    for (int i = 0; i < count; i++)
        printf("%s%d row%s %s", i ? ", " : "flags: ", flags[i].rows, flags[i].rows == 1 ? "" : "s", flags[i].name);
    if (count)
        printf("; `scanbench help timing` explains them\n\n");
}

static void print_tables(const struct bench *bench)
{
    bool scans = false;
    int unstable = 0, width = widest_line(bench);
    for (int i = 0; i < bench->count; i++)
        scans = scans || bench->points[i].kind != COPY;
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        bool seen = scans && point->kind == COPY; /* copies stand in the tables of the scans */
        for (int j = 0; j < i && !seen; j++)
            seen = point->kind == bench->points[j].kind && point->type == bench->points[j].type &&
                   point->op == bench->points[j].op;
        if (!seen)
            print_table(bench, i, width);
        unstable += bench->rows[i].status == STATUS_UNSTABLE;
    }
    if (unstable)
        printf("~ %d of %d rows are unstable: a limit on samples or time came before a median within 1 %%\n\n",
               unstable, bench->count);
}

/* results.csv comes last: where it is there, the run is complete. */
static int complete(struct bench *bench)
{
    bench->machine.copy_gb_per_s = copy_ceiling(bench);
    if (bench->measured)
        machine_look_again(&bench->machine);
    else
        bench->machine.temp_end_c = -1;
    if (bench->resume)
        return resume_finish(bench->resume, bench->machine.copy_gb_per_s, bench->machine.temp_end_c) ||
               csv_complete(&bench->file);
    return machine_write(&bench->machine, bench->folder, bench->run, bench->slug, true) || csv_complete(&bench->file);
}

static int finish(struct bench *bench)
{
    int failures = 0;
    if (complete(bench)) {
        csv_abandon(&bench->file);
        return EXIT_WRONG;
    }
    print_tables(bench);
    print_flags(bench);
    fflush(stdout);
    if (crossings_print(bench->folder, stdout))
        failures++;
    printf("\nwritten:\n%s/results.csv\n%s/machine.csv\n", bench->folder, bench->folder);
    for (int i = 0; i < bench->count; i++)
        failures += is_failure(bench, &bench->rows[i]);
    return failures ? EXIT_WRONG : EXIT_RIGHT;
}

/* A hung point must end, a slow one must not: a minute, and time for the checks of the largest n. On the CPU device an
 * element costs two microseconds at most in all runs of a point together. */
static double default_limit_s(const struct settings *settings)
{
    double per_element = strcmp(device_kind(), "cpu") ? 2e-7 : 2e-6;
    return 60 + 2 * settings->budget_s + per_element * (double)settings->sizes[settings->size_count - 1];
}

/* What is there, and how to go on. */
static void tell_incomplete(const struct bench *bench)
{
    char folder[4200];
    int whole = 0;
    for (int i = 0; i < bench->count; i++)
        whole += bench->done[i] && bench->rows[i].status != STATUS_INTERRUPTED;
    if (!bench->folder[0])
        return;
    format_path(bench->folder, folder, sizeof folder);
    fprintf(stderr,
            "scanbench: incomplete: %d of %d points, whole rows, are in %s/results.csv.part; `scanbench bench --resume "
            "%s` measures the rest\n",
            whole, bench->count, bench->folder, folder);
}

static struct supervision supervision_of(struct bench *bench)
{
    const struct settings *settings = bench->settings;
    return (struct supervision){
        .points = bench->points,
        .count = bench->count,
        .device = settings->device,
        .device_options = settings->device_options,
        .job = {.seed = settings->seed,
                .timed = true,
                .min_samples = settings->min_samples,
                .max_samples = settings->max_samples,
                .budget_s = settings->budget_s,
                .span_s = settings->budget_s / 2,
                .without_gate = settings->no_gate,
                .keep_samples = settings->samples},
        .point_limit_s = settings->limit_s > 0 ? settings->limit_s : default_limit_s(settings),
        .skip = bench->done,
        .on_open = on_open,
        .on_hello = on_hello,
        .on_start = on_start,
        .on_samples = on_samples,
        .on_row = on_row,
        .arg = bench,
        .stop = &bench->stop,
    };
}

/* Nothing is left to be measured: a run that was cut off behind its last row is made complete. */
static int nothing_missing(struct bench *bench)
{
    fprintf(stderr, "scanbench: nothing is missing: %d rows are in %s\n", bench->count, bench->folder);
    if (bench->resume->complete)
        return EXIT_RIGHT;
    return resume_begin(bench->resume, &bench->file) ? EXIT_WRONG : finish(bench);
}

static int measure(struct bench *bench)
{
    struct supervision supervision = supervision_of(bench);
    struct forecast forecast;
    forecast_plan(bench->settings, bench->points, bench->count, bench->done, &forecast, bench->expected_s);
    for (int i = 0; i < bench->count; i++)
        bench->expected_all_s += bench->expected_s[i];
    bench->started = time(NULL);
    progress_begin(&bench->progress, bench->count - bench->done_count, 1);
    int code = supervise(&supervision);
    progress_wipe(&bench->progress);

    if (bench->no_device)
        return EXIT_NO_DEVICE;
    if (bench->refused)
        return EXIT_USAGE;
    if (bench->stop || code != EXIT_RIGHT) {
        csv_abandon(&bench->file);
        if (!bench->stop || bench->disk_failed)
            tell_incomplete(bench);
        return bench->stop ? EXIT_WRONG : code;
    }
    return finish(bench);
}

/* ---- for a profiler */

static void on_profile_hello(void *arg, const struct worker_hello *hello)
{
    struct bench *bench = arg;
    if (device_missing(bench->settings, hello)) {
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
    describe(&bench->points[index], point, sizeof point);
    printf("%s: %s%s%s\n", point, status_name(row->status), row->status == STATUS_OK ? "" : ": ",
           row->status == STATUS_OK ? ""
           : row->message[0]        ? row->message
                                    : row->detail);
    fflush(stdout);
}

static int profile(struct bench *bench)
{
    struct supervision supervision = supervision_of(bench);
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
        failures += bench->done[i] && is_failure(bench, &bench->rows[i]);
    return code ? code : failures ? EXIT_WRONG : EXIT_RIGHT;
}

/* ---- what is refused before anything runs */

static int contradiction(const char *option, const char *why)
{
    fprintf(stderr, "scanbench: %s: %s\n", option, why);
    return EXIT_USAGE;
}

static int check_options(const struct settings *settings)
{
    char why[300];
    bool on_device = false;
    for (int i = 0; i < settings->algorithm_count; i++)
        on_device |= settings->algorithms[i]->runs_on != HOST;
    if (device_counter() && !settings->dry_run)
        return contradiction("bench",
                             "this build counts, and its times would mean nothing: `make DEVICE=cpu` builds the "
                             "one that times");
    if (settings->profile && settings->samples)
        return contradiction("--profile", "it takes no samples: leave --samples out");
    if (settings->profile && settings->resume)
        return contradiction("--profile", "it writes nothing that --resume could go on with: leave one of them out");
    if (settings->launches == LAUNCH_GRAPH && settings->algorithms_given) {
        for (int i = 0; i < settings->algorithm_count; i++)
            if (settings->algorithms[i]->synchronises) {
                snprintf(why, sizeof why, "%s waits for the device in its run, which cannot be captured into a graph",
                         settings->algorithms[i]->name);
                return contradiction("--launch graph", why);
            }
        if (!on_device) {
            snprintf(why, sizeof why, "%s runs on the host, which launches nothing", settings->algorithms[0]->name);
            return contradiction("--launch graph", why);
        }
    }
    if (settings->caches == CACHE_COLD && !on_device) {
        snprintf(why, sizeof why, "%s runs on the host, whose caches are left as they are",
                 settings->algorithms[0]->name);
        return contradiction("--cache cold", why);
    }
    return 0;
}

/* A graph of what waits for the device cannot be had: with `all` it is left out. */
static int without_impossible(struct point *points, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (points[i].launch != LAUNCH_GRAPH || !points[i].algorithm->synchronises)
            points[kept++] = points[i];
    return kept;
}

/* The points of the settings, and room for their rows. 0, or an exit code after one line. */
static int make_plan(struct bench *bench, struct settings *settings, struct point **points)
{
    bench->settings = settings;
    bench->sizes_given = settings->size_count > 0;
    settings_defaults(settings, device_kind());
    bench->count = plan_make(settings, points);
    bench->count = without_impossible(*points, bench->count);
    bench->points = *points;
    if (bench->count <= 0) {
        fprintf(stderr, "scanbench: nothing to measure: no algorithm chosen has this kind, type, operator and block "
                        "size; `scanbench list` shows what they have\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        for (int j = i - 1; j >= 0 && bench->points[j].algorithm == point->algorithm; j--)
            bench->block_sizes |= bench->points[j].threads != point->threads;
        bench->modes |= point->launch == LAUNCH_GRAPH || point->cache == CACHE_COLD;
    }
    bench->rows = calloc((size_t)bench->count, sizeof *bench->rows);
    bench->done = calloc((size_t)bench->count, sizeof *bench->done);
    bench->crowded = calloc((size_t)bench->count, sizeof *bench->crowded);
    bench->expected_s = calloc((size_t)bench->count, sizeof *bench->expected_s);
    if (bench->rows && bench->done && bench->crowded && bench->expected_s)
        return 0;
    fprintf(stderr, "scanbench: no host memory for %d rows\n", bench->count);
    return EXIT_WRONG;
}

static int carry_out(struct bench *bench)
{
    struct resume *resume = bench->resume;
    if (resume) {
        if (resume_rows(resume, bench->points, bench->count, bench->sizes_given, bench->rows, bench->done))
            return EXIT_USAGE;
        bench->done_count = resume->kept;
        snprintf(bench->folder, sizeof bench->folder, "%s", resume->folder);
        snprintf(bench->run, sizeof bench->run, "%s", machine_record_field(&resume->record, "run"));
        snprintf(bench->slug, sizeof bench->slug, "%s", machine_record_field(&resume->record, "machine"));
        bench->machine.overheads.copy_gb_per_s = atof(machine_record_field(&resume->record, "copy_gb_per_s"));
    }
    if (bench->settings->dry_run)
        return show_plan(bench);
    if (bench->settings->profile)
        return profile(bench);
    if (resume && bench->done_count == bench->count)
        return nothing_missing(bench);
    if (!resume && csv_folder_writable(bench->settings->output))
        return EXIT_USAGE;
    return measure(bench);
}

/* Ctrl-C, kill and a closed terminal: none ends this process but where the supervisor waits for a row. */
static void hold_signals(sigset_t *held, sigset_t *before)
{
    sigemptyset(held);
    sigaddset(held, SIGINT);
    sigaddset(held, SIGTERM);
    sigaddset(held, SIGHUP);
    sigprocmask(SIG_BLOCK, held, before);
}

/* One that came while files were completed has nothing left to end. */
static void drop_signals(const sigset_t *held, const sigset_t *before)
{
    struct timespec at_once = {0};
    while (sigtimedwait(held, NULL, &at_once) > 0)
        continue;
    sigprocmask(SIG_SETMASK, before, NULL);
}

static int bench(struct settings *settings)
{
    struct bench bench = {.file = {.fd = -1}, .neighbours = {.fd = -1}, .claim = {.fd = -1}};
    sigset_t held, before;
    bool runs = !settings->dry_run;
    static struct resume resume;
    struct settings resumed;
    struct point *points = NULL;
    int code = check_options(settings);
    if (runs) {
        hold_signals(&held, &before);
        signal(SIGPIPE, SIG_IGN); /* whoever reads along may go: rows are for the file */
    }
    if (!code && settings->resume) {
        bench.resume = &resume;
        code = resume_open(&resume, settings, &resumed);
        settings = &resumed;
    }
    if (!code)
        code = make_plan(&bench, settings, &points);
    if (!code)
        code = carry_out(&bench);
    neighbours_leave(&bench.neighbours);
    claim_release(&bench.claim);
    if (bench.resume) {
        resume_close(&resume);
        settings_free(&resumed);
    }
    free(bench.rows);
    free(bench.done);
    free(bench.crowded);
    free(bench.expected_s);
    free(points);
    if (runs)
        drop_signals(&held, &before);
    return code;
}

const struct verb verb_bench = {
    .name = "bench",
    .summary = "time algorithms over a range of sizes and write the results",
    .usage = "[OPTIONS]",
    .examples = "  scanbench bench --quick\n"
                "  scanbench bench -a hillis_steele,blelloch -n 2^10:2^20\n"
                "  scanbench bench --type f32 --kind inclusive --dry-run\n"
                "  scanbench bench --resume results/MACHINE/RUN\n",
    .options = "algorithms sizes type kind op threads seed device output machine min-samples max-samples budget quick "
               "dry-run limit launch cache samples resume profile no-gate memory workers resident schedule simulate",
    .run = bench,
};
