/* SPDX-License-Identifier: MIT */
/* bench: times every point of a plan, row by row into a new folder, and ends with a table. */
#include "crossings.h"
#include "csv.h"
#include "device/counts.h"
#include "machine.h"
#include "progress.h"
#include "registry.h"
#include "supervisor.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_SIZES = 5 };

/* One run of bench, as its callbacks see it. */
struct bench {
    const struct settings *settings;
    const struct point *points;
    int count;
    struct row *rows; /* of the points done so far */
    int done;
    bool sizes_given; /* by the user: memory that does not suffice is then a failure */
    bool stop;        /* nothing more can be written */
    bool no_device;
    time_t started;
    struct machine machine;
    char slug[64], run[40], folder[4096];
    struct csv_file file;
    struct progress progress;
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
    snprintf(text, size, "%s %s %s %s n=%s", point->algorithm->name, kind_name(point->kind), type_name(point->type),
             op_name(point->op), n);
}

/* ---- the plan, shown and not carried out */

/* NULL, or why there would be no number. */
static const char *unsupported(const struct point *point, struct problem *problem)
{
    const char *reason = point_unavailable(point);
    point_problem(point, problem);
    return reason || !point->algorithm->refuse ? reason : point->algorithm->refuse(problem);
}

static int show_plan(const struct settings *settings, const struct point *points, int count)
{
    int measured = 0;
    uint64_t largest = 0;
    bool all_known = true;
    printf("%-16s %-9s %-4s %-6s %12s %7s %9s %14s %12s\n", "algorithm", "kind", "type", "op", "n", "threads",
           "launches", "additions", "memory MiB");
    for (int i = 0; i < count; i++) {
        const struct point *point = &points[i];
        struct problem problem;
        const char *reason = unsupported(point, &problem);
        char threads[16] = "-", launches[24], additions[24], memory[24] = "unknown";
        if (point->threads)
            snprintf(threads, sizeof threads, "%d", point->threads);
        printf("%-16s %-9s %-4s %-6s %12" PRIu64 " %7s ", point->algorithm->name, kind_name(point->kind),
               type_name(point->type), op_name(point->op), point->n, threads);
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
    char budget[32], total[32];
    format_seconds(settings->budget_s, budget, sizeof budget);
    format_seconds(settings->budget_s * measured, total, sizeof total);
    printf("\n%d points, %d of them unsupported here\n", count, count - measured);
    printf("memory of the largest: %.1f MiB%s\n", (double)largest / (1 << 20),
           all_known ? "" : ", and an unknown workspace of the vendor's scan");
    printf("samples a point: %d to %d, at most %s; all points: at most %s, and their checks\n", settings->min_samples,
           settings->max_samples, budget, total);
    return EXIT_RIGHT;
}

/* ---- what the supervisor tells */

static void on_hello(void *arg, const struct worker_hello *hello)
{
    struct bench *bench = arg;
    /* Host algorithms do without a device, but not where one was asked for. */
    if (hello->error || (bench->settings->device_given && !hello->properties.name[0])) {
        bench->no_device = bench->stop = true;
        progress_wipe(&bench->progress);
        fprintf(stderr, "scanbench: %s\n", hello->why);
        return;
    }
    machine_describe(&bench->machine, bench->settings, hello, bench->started);
    machine_slug(&bench->machine, bench->slug, sizeof bench->slug);
    if (csv_run_folder(bench->settings->output, bench->slug, bench->started, bench->folder, sizeof bench->folder,
                       bench->run, sizeof bench->run) ||
        machine_write(&bench->machine, bench->folder, bench->run, bench->slug, false) ||
        csv_open(&bench->file, bench->folder, "results.csv", csv_results_header)) {
        bench->stop = true;
        return;
    }
    progress_note(&bench->progress, false, "scanbench: %d points on %s, into %s", bench->count,
                  hello->properties.name[0] ? hello->properties.name : bench->machine.host_cpu, bench->folder);
}

static void on_start(void *arg, int index)
{
    struct bench *bench = arg;
    char point[160];
    describe(&bench->points[index], point, sizeof point);
    progress_point(&bench->progress, index, "%s", point);
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
    for (int i = 0; i < index; i++)
        if (bench->points[i].algorithm == bench->points[index].algorithm &&
            bench->rows[i].status == STATUS_UNSUPPORTED && !strcmp(bench->rows[i].detail, bench->rows[index].detail))
            return true;
    return false;
}

static void tell(struct bench *bench, int index)
{
    const struct row *row = &bench->rows[index];
    char point[160];
    if (csv_has_time(row))
        return;
    describe(&bench->points[index], point, sizeof point);
    if (row->status != STATUS_UNSUPPORTED)
        progress_note(&bench->progress, is_failure(bench, row), "%s: %s: %s", status_name(row->status), point,
                      row->message[0] ? row->message : row->detail);
    else if (!already_told(bench, index))
        progress_note(&bench->progress, false, "unsupported: %s: %s", bench->points[index].algorithm->name,
                      row->message[0] ? row->message : row->detail);
}

static void on_row(void *arg, int index, const struct row *row)
{
    struct bench *bench = arg;
    struct csv_row text;
    bench->rows[index] = *row;
    bench->done = index + 1;
    if (bench->stop)
        return;
    tell(bench, index);
    csv_result(&text, bench->run, bench->slug, bench->machine.device.kind, &bench->points[index], row);
    progress_wipe(&bench->progress);
    if (csv_append(&bench->file, &text))
        bench->stop = true;
}

/* ---- the end */

/* The better copy at the largest n that has one, in GB/s of useful bytes; NAN where nothing was copied. */
static double copy_ceiling(const struct bench *bench)
{
    uint64_t largest = 0;
    double best = NAN;
    for (int i = 0; i < bench->done; i++) {
        const struct point *point = &bench->points[i];
        if (point->kind != COPY || point->algorithm->runs_on == HOST || !csv_has_time(&bench->rows[i]))
            continue;
        double rate = 2.0 * (double)point->n * (double)type_size(point->type) / bench->rows[i].device.median / 1e9;
        if (point->n > largest || (point->n == largest && !(rate <= best)))
            best = rate;
        if (point->n > largest)
            largest = point->n;
    }
    return best;
}

static bool same_line(const struct point *a, const struct point *b)
{
    return a->algorithm == b->algorithm && a->threads == b->threads && a->kind == b->kind && a->type == b->type &&
           a->op == b->op;
}

/* Is the point shown in the table of `head`: the same kind, type and operator, or a copy of its type? */
static bool in_table(const struct point *head, const struct point *point)
{
    return point->type == head->type && (point->kind == COPY || (point->kind == head->kind && point->op == head->op));
}

static void format_cell(const struct bench *bench, const struct point *line, uint64_t n, char *cell, size_t size)
{
    snprintf(cell, size, "-");
    for (int i = 0; i < bench->done; i++) {
        const struct row *row = &bench->rows[i];
        if (bench->points[i].n != n || !same_line(line, &bench->points[i]))
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

static void print_table(const struct bench *bench, int head)
{
    const struct point *first = &bench->points[head];
    const struct settings *settings = bench->settings;
    int columns = settings->size_count < TABLE_SIZES ? settings->size_count : TABLE_SIZES;
    uint64_t sizes[TABLE_SIZES];
    char text[64];

    for (int c = 0; c < columns; c++)
        sizes[c] = settings->sizes[columns > 1 ? c * (settings->size_count - 1) / (columns - 1) : 0];
    printf("%s %s %s, median of the device time (of the host's for a host algorithm)\n%-22s", kind_name(first->kind),
           type_name(first->type), op_name(first->op), "n");
    for (int c = 0; c < columns; c++) {
        format_n(sizes[c], text, sizeof text);
        printf(" %12s", text);
    }
    putchar('\n');
    for (int i = 0; i < bench->done; i++) {
        const struct point *point = &bench->points[i];
        bool seen = !in_table(first, point);
        for (int j = 0; j < i && !seen; j++)
            seen = same_line(point, &bench->points[j]);
        if (seen)
            continue;
        if (point->threads && (settings->all_threads || settings->thread_count > 1))
            snprintf(text, sizeof text, "%s/%d", point->algorithm->name, point->threads);
        else
            snprintf(text, sizeof text, "%s", point->algorithm->name);
        printf("%-22s", text);
        for (int c = 0; c < columns; c++) {
            format_cell(bench, point, sizes[c], text, sizeof text);
            printf(" %12s", text);
        }
        putchar('\n');
    }
    putchar('\n');
}

static void print_tables(const struct bench *bench)
{
    bool scans = false;
    int unstable = 0;
    for (int i = 0; i < bench->done; i++)
        scans = scans || bench->points[i].kind != COPY;
    for (int i = 0; i < bench->done; i++) {
        const struct point *point = &bench->points[i];
        bool seen = scans && point->kind == COPY; /* copies stand in the tables of the scans */
        for (int j = 0; j < i && !seen; j++)
            seen = point->kind == bench->points[j].kind && point->type == bench->points[j].type &&
                   point->op == bench->points[j].op;
        if (!seen)
            print_table(bench, i);
        unstable += bench->rows[i].status == STATUS_UNSTABLE;
    }
    if (unstable)
        printf("~ %d of %d rows are unstable: a limit on samples or time came before a median within 1 %%\n\n",
               unstable, bench->done);
}

static int finish(struct bench *bench)
{
    int failures = 0;
    bench->machine.copy_gb_per_s = copy_ceiling(bench);
    /* results.csv comes last: where it is there, the run is complete. */
    if (machine_write(&bench->machine, bench->folder, bench->run, bench->slug, true)) {
        csv_abandon(&bench->file);
        return EXIT_WRONG;
    }
    if (csv_complete(&bench->file))
        return EXIT_WRONG;

    print_tables(bench);
    fflush(stdout);
    if (crossings_print(bench->folder, stdout))
        failures++;
    printf("\nwritten:\n%s/results.csv\n%s/machine.csv\n", bench->folder, bench->folder);
    for (int i = 0; i < bench->done; i++)
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

static int measure(struct bench *bench)
{
    const struct settings *settings = bench->settings;
    struct supervision supervision = {
        .points = bench->points,
        .count = bench->count,
        .device = settings->device,
        .device_options = settings->device_options,
        .job = {.seed = settings->seed,
                .timed = true,
                .min_samples = settings->min_samples,
                .max_samples = settings->max_samples,
                .budget_s = settings->budget_s},
        .point_limit_s = settings->limit_s > 0 ? settings->limit_s : default_limit_s(settings),
        .on_hello = on_hello,
        .on_start = on_start,
        .on_row = on_row,
        .arg = bench,
        .stop = &bench->stop,
    };
    bench->started = time(NULL);
    progress_begin(&bench->progress, bench->count, 1);
    int code = supervise(&supervision);
    progress_wipe(&bench->progress);

    if (bench->no_device)
        return EXIT_NO_DEVICE;
    if (bench->stop) {
        csv_abandon(&bench->file);
        return EXIT_WRONG;
    }
    if (code != EXIT_RIGHT) {
        csv_abandon(&bench->file);
        if (bench->folder[0])
            fprintf(stderr, "scanbench: incomplete: %d of %d points, whole rows, are in %s/results.csv.part\n",
                    bench->done, bench->count, bench->folder);
        return code;
    }
    return finish(bench);
}

static int bench(struct settings *settings)
{
    struct bench bench = {.settings = settings, .file = {.fd = -1}};
    struct point *points;
    if (device_counter() && !settings->dry_run) {
        fprintf(stderr,
                "scanbench: this build counts, and its times would mean nothing: `make DEVICE=cpu` builds the one "
                "that times\n");
        return EXIT_USAGE;
    }
    bench.sizes_given = settings->size_count > 0;
    settings_defaults(settings, device_kind());
    bench.count = plan_make(settings, &points);
    bench.points = points;

    int code;
    if (bench.count <= 0) {
        fprintf(stderr, "scanbench: nothing to measure: no algorithm chosen has this kind, type, operator and block "
                        "size; `scanbench list` shows what they have\n");
        code = EXIT_USAGE;
    } else if (settings->dry_run) {
        code = show_plan(settings, points, bench.count);
    } else if (csv_folder_writable(settings->output)) {
        code = EXIT_USAGE;
    } else {
        bench.rows = calloc((size_t)bench.count, sizeof *bench.rows);
        if (bench.rows) {
            code = measure(&bench);
        } else {
            fprintf(stderr, "scanbench: no host memory for %d rows\n", bench.count);
            code = EXIT_WRONG;
        }
        free(bench.rows);
    }
    free(points);
    return code;
}

const struct verb verb_bench = {
    .name = "bench",
    .summary = "time algorithms over a range of sizes and write the results",
    .usage = "[OPTIONS]",
    .examples = "  scanbench bench --quick\n"
                "  scanbench bench -a hillis_steele,blelloch -n 2^10:2^20\n"
                "  scanbench bench --type f32 --kind inclusive --dry-run\n",
    .options = "algorithms sizes type kind op threads seed device output machine min-samples max-samples budget quick "
               "dry-run limit launch cache samples resume profile no-gate memory workers resident schedule simulate",
    .run = bench,
};
