/* SPDX-License-Identifier: MIT */
/* bench: times every point of a plan, row by row into a new folder, and ends with a table. */
#include "verbs/bench.h"
#include "crossings.h"
#include "csv.h"
#include "device/counts.h"
#include "forecast.h"
#include "registry.h"
#include "timer.h"
#include "verbs/verbs.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the supervisor tells */

/* Device algorithms in the plan, or not. */
static bool needs_device(const struct bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->points[i].algorithm->runs_on != HOST && bench->points[i].algorithm->run)
            return true;
    return false;
}

void bench_say(void *arg, const char *line)
{
    struct bench *bench = arg;
    progress_note(&bench->progress, false, "scanbench: warning: %s", line);
}

/* Host algorithms do without a device, but not where one was asked for: by its number, or to be simulated. */
bool bench_device_missing(const struct settings *settings, const struct worker_hello *hello)
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
    if (bench_device_missing(settings, hello)) {
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
    machine_warn(&bench->machine, bench_say, bench);
    bench->neighbour_told |= bench->machine.state.other_processes > 0;
    bench_meet_neighbours(bench);
}

static void on_start(void *arg, int index)
{
    struct bench *bench = arg;
    char point[160];
    bench_describe(&bench->points[index], point, sizeof point);
    progress_point(&bench->progress, bench->measured, "%s", point);
    bench->crowded[index] |= bench_has_company(bench);
}

static void on_samples(void *arg, int index, const struct sample *samples, int count)
{
    struct bench *bench = arg;
    if (!bench->stop && csv_samples(bench->folder, &bench->points[index], bench->block_sizes, samples, count))
        bench->stop = bench->disk_failed = true;
}

bool bench_is_failure(const struct bench *bench, const struct row *row)
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
    bench_describe(&bench->points[index], point, sizeof point);
    if (row->status != STATUS_UNSUPPORTED)
        progress_note(&bench->progress, bench_is_failure(bench, row), "%s: %s: %s", status_name(row->status), point,
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
    if (csv_has_time(row) && (bench->crowded[index] || bench_has_company(bench)))
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
    bench_print_tables(bench);
    fflush(stdout);
    if (crossings_print(bench->folder, stdout))
        failures++;
    printf("\nwritten:\n%s/results.csv\n%s/machine.csv\n", bench->folder, bench->folder);
    for (int i = 0; i < bench->count; i++)
        failures += bench_is_failure(bench, &bench->rows[i]);
    return failures ? EXIT_WRONG : EXIT_RIGHT;
}

/* A hung point must end, a slow one must not: a minute, and time for the checks of the largest n. On the CPU device an
 * element costs two microseconds at most in all runs of a point together. */
static double default_limit_s(const struct settings *settings)
{
    double per_element = strcmp(device_kind(), "cpu") ? 2e-7 : 2e-6;
    return 60 + 2 * settings->budget_s + per_element * (double)settings->sizes[settings->size_count - 1];
}

/* For a shell: in quotes where it has to be. */
static void format_path(const char *path, char *text, size_t size)
{
    bool plain = !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@")];
    snprintf(text, size, plain ? "%s" : "'%s'", path);
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

struct supervision bench_supervision(struct bench *bench)
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
        .on_open = bench_on_open,
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
    struct supervision supervision = bench_supervision(bench);
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
        return bench_show_plan(bench);
    if (bench->settings->profile)
        return bench_profile(bench);
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
