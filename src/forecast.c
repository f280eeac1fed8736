/* SPDX-License-Identifier: MIT */
#include "forecast.h"

#include "registry.h"
#include "results.h"

#include <math.h>
#include <string.h>

/* What the host and the device are taken to do. Of the CPU device and of the checks: measured, two cores at 2 GHz and
 * more. Of a GPU: a middling one of today. */
static const double START_S = 0.2;        /* opening the device, overheads, the ceiling */
static const double GPU_START_S = 2;      /* the same, and the driver wakes up */
static const double REFERENCE_S = 40e-9;  /* two inputs and their answers, an element, once for a group of points */
static const double CHECK_S = 25e-9;      /* three checked runs: to poison, compare and look at the input, an element */
static const double TRANSFER_S = 3e-9;    /* ... and on a GPU to move it there and back */
static const double CHECK_FIXED_S = 1e-3; /* memory and guards of a point */
static const double GPU_HOST = 0.5;       /* the host of a GPU beside the one that was measured */
static const double GPU_SAMPLE_S = 40e-6; /* of wall time that a sample takes beside the run: gate, events, waiting */
static const double GPU_SAMPLES = 120;    /* of both clocks, until the interval is within its aim */
static const double CPU_SAMPLES = 200;    /* of one clock; a quiet machine needs 100, a busy one never has enough */
static const double SHORTEST_HOST_SAMPLE_S = 20e-6;
static const double MOST_PASSES = 64, LONG_CHAIN = 3; /* of all blocks through a barrier, within a launch */

const char *forecast_assumptions(void)
{
    return strcmp(device_kind(), "cuda")
               ? "200 samples of each clock, or the budget; checks of 25 ns an element"
               : "a GPU that moves 500 GB/s and launches in 3 us, 120 samples a point, checks of 15 ns an element";
}

/* One run, guessed from what it launches, moves and adds. */
static double guess_run_s(const struct point *point)
{
    struct cost cost = point_model(point);
    double n = (double)point->n,
           words = cost.words_read == UNKNOWN ? 2 * n : (double)(cost.words_read + cost.words_written);
    double launches = cost.launches == UNKNOWN ? 2 : (double)cost.launches;
    if (point->algorithm->runs_on == HOST)
        return 0.6e-9 * n;
    if (!strcmp(device_kind(), "cuda"))
        return 3e-6 * launches + words * (double)type_size(point->type) / 500e9;
    /* A chain of additions longer than the launches are many passes through barriers, where fibers are switched. A much
     * longer one, or of unknown length, goes from block to block or along one thread: few passes. */
    double passes = cost.steps == UNKNOWN ? LONG_CHAIN : (double)cost.steps / fmax(launches, 1);
    if (passes > MOST_PASSES)
        passes = LONG_CHAIN;
    return 1e-6 * launches + 1.2e-9 * words + (passes > 2 ? 7e-9 * n * passes : 0);
}

static double point_s(const struct settings *settings, const struct point *point, double run_s)
{
    bool host = point->algorithm->runs_on == HOST, gpu = !strcmp(device_kind(), "cuda");
    double n = (double)point->n, samples, a_sample = run_s;
    double checks =
        CHECK_FIXED_S + n * CHECK_S * (gpu ? GPU_HOST : 1) + 3 * run_s + (gpu && !host ? n * TRANSFER_S : 0);
    if (host && a_sample < SHORTEST_HOST_SAMPLE_S)
        a_sample = SHORTEST_HOST_SAMPLE_S;
    if (gpu && !host)
        a_sample += GPU_SAMPLE_S;
    samples = gpu ? GPU_SAMPLES : (host ? 1 : 2) * CPU_SAMPLES;
    if (samples < 2.0 * settings->min_samples)
        samples = 2.0 * settings->min_samples;
    if (samples > 2.0 * settings->max_samples)
        samples = 2.0 * settings->max_samples;
    double timed = samples * a_sample;
    if (settings->device_options.simulate) /* the budget is one of its clock, and runs are carried out all the same */
        return checks + 2.6 * settings->min_samples * run_s;
    if (timed > settings->budget_s)
        timed = fmax(settings->budget_s, 3 * run_s);
    return checks + timed;
}

static double known_run_s(const struct results *earlier, const struct point *point)
{
    for (int i = 0; i < earlier->count; i++) {
        const struct result *r = &earlier->rows[i];
        if (r->n == point->n && r->threads == point->threads && !strcmp(r->algorithm, point->algorithm->name) &&
            !strcmp(r->kind, kind_name(point->kind)) && !strcmp(r->type, type_name(point->type)) &&
            !strcmp(r->op, op_name(point->op)) && !strcmp(r->launch, launch_mode_name(point->launch)) &&
            !strcmp(r->cache, cache_state_name(point->cache)))
            return result_has_time(r) ? r->device_time.median : NAN;
    }
    return NAN;
}

/* The newest run, where it is one of this kind of device. */
static bool read_earlier(const struct settings *settings, struct results *earlier, char *folder, size_t size)
{
    char why[512];
    bool same = false;
    if (results_newest(settings->output, folder, size))
        return false;
    if (results_read(folder, earlier, why, sizeof why))
        return false;
    for (int i = 0; i < earlier->count && !same; i++)
        same = !strcmp(earlier->rows[i].device, device_kind());
    same = same && !strstr(earlier->machine, "simulated");
    if (settings->machine)
        same = same && !strcmp(settings->machine, earlier->machine);
    if (!same)
        results_free(earlier);
    return same;
}

void forecast_plan(const struct settings *settings, const struct point *points, int count, const bool *leave_out,
                   struct forecast *forecast, double *each)
{
    struct results earlier;
    bool found = read_earlier(settings, &earlier, forecast->run, sizeof forecast->run);
    bool gpu = !strcmp(device_kind(), "cuda");
    forecast->seconds = gpu ? GPU_START_S : START_S;
    forecast->known = 0;
    for (int i = 0; i < count; i++) {
        if (each)
            each[i] = 0;
        if ((leave_out && leave_out[i]) || point_unavailable(&points[i]))
            continue;
        double run_s = found ? known_run_s(&earlier, &points[i]) : NAN;
        forecast->known += isfinite(run_s);
        double seconds = point_s(settings, &points[i], isfinite(run_s) ? run_s : guess_run_s(&points[i]));
        forecast->seconds += seconds;
        if (each)
            each[i] = seconds;
        if (i == 0 || points[i].n != points[i - 1].n || points[i].type != points[i - 1].type)
            forecast->seconds += REFERENCE_S * (gpu ? GPU_HOST : 1) * (double)points[i].n;
    }
    if (found)
        results_free(&earlier);
    if (!forecast->known)
        forecast->run[0] = 0;
}
