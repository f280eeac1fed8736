/* SPDX-License-Identifier: MIT */
#include "overheads.h"

#include "registry.h"
#include "timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 51, TRANSFER_BYTES = 32 << 20, TRANSFERS = 3, LAUNCHES = 200 };
static const double CEILING_BUDGET_S = 0.1, REST_S = 0.1, WORK_S = 0.1;

static double median_of(double *values, int count)
{
    return device_error() ? NAN : summarise(values, count).median;
}

/* Device time between two events behind the gate, `launches` empty kernels between them. */
static double between_events_s(struct device_event *start, struct device_event *end, int launches)
{
    double values[TRIES];
    for (int i = -1; i < TRIES; i++) { /* the first one warms up, ungated */
        bool gated = i >= 0 && device_gate_close();
        device_event_record(start);
        for (int l = 0; l < launches; l++)
            device_launch_empty();
        device_event_record(end);
        if (gated)
            device_gate_open();
        double seconds = device_event_elapsed_s(start, end);
        if (i >= 0)
            values[i] = seconds;
    }
    return median_of(values, TRIES);
}

static double gate_cost_s(void)
{
    double values[TRIES];
    if (!device_has_gate())
        return NAN;
    for (int i = 0; i < TRIES; i++) {
        double begun = device_clock_s();
        if (device_gate_close())
            device_gate_open();
        device_synchronize();
        values[i] = device_clock_s() - begun;
    }
    return median_of(values, TRIES);
}

/* The best of a few transfers: what slows one down is never the device. */
static void time_transfers(struct overheads *o)
{
    void *host = device_pinned_malloc(TRANSFER_BYTES), *device = device_malloc(TRANSFER_BYTES);
    double up = INFINITY, down = INFINITY;
    if (host && device) {
        memset(host, 1, TRANSFER_BYTES);
        for (int i = 0; i < TRANSFERS && !device_error(); i++) {
            double begun = device_clock_s();
            device_upload(device, host, TRANSFER_BYTES);
            device_synchronize();
            double between = device_clock_s();
            device_download(host, device, TRANSFER_BYTES);
            device_synchronize();
            double ended = device_clock_s();
            up = fmin(up, between - begun);
            down = fmin(down, ended - between);
        }
        o->h2d_gb_per_s = TRANSFER_BYTES / 1e9 / up;
        o->d2h_gb_per_s = TRANSFER_BYTES / 1e9 / down;
    }
    if (device)
        device_free(device);
    if (host)
        device_pinned_free(host);
}

static void launch_many(void)
{
    for (int i = 0; i < LAUNCHES; i++)
        device_launch_empty();
}

/* The SM clock right after a rest and in the midst of work: of a GPU whose clock is locked they are the same. */
static void time_sm_clock(struct overheads *o)
{
    struct device_properties properties;
    device_get_properties(&properties);
    if (!properties.sm_clock_max_mhz)
        return;
    device_synchronize();
    device_pause(REST_S);
    for (int busy = 0; busy < 2; busy++) {
        double until = device_clock_s() + (busy ? WORK_S : 0);
        while (device_clock_s() < until && !device_error()) {
            launch_many();
            device_synchronize();
        }
        device_sm_clock_mark(0);
        launch_many();
        device_sm_clock_mark(1);
        device_synchronize();
        *(busy ? &o->sm_clock_busy_mhz : &o->sm_clock_first_mhz) = device_sm_clock_mhz();
    }
}

/* A copy of the largest n of the plan, or of the largest power of two below it for which there is memory. */
static void time_ceiling(const struct point *points, int count, const struct job_options *options, struct overheads *o)
{
    struct job_options few = *options;
    uint64_t largest = 0;
    enum type type = I32;
    few.budget_s = CEILING_BUDGET_S;
    few.keep_samples = few.in_place = false;
    for (int i = 0; i < count; i++) {
        if (points[i].kind == COPY && points[i].algorithm->runs_on != HOST)
            return; /* it is measured as a contestant */
        if (points[i].algorithm->runs_on != HOST && points[i].n > largest) {
            largest = points[i].n;
            type = points[i].type;
        }
    }
    for (int i = 0; i < registry_count() && !device_error(); i++) {
        const struct algorithm *algorithm = registry()[i];
        if (algorithm->kinds != COPY || algorithm->runs_on != DEVICE || !(algorithm->types & type))
            continue;
        for (uint64_t n = largest; n > 0 && !device_error(); n /= 2) {
            struct point point = {.algorithm = algorithm,
                                  .kind = COPY,
                                  .type = type,
                                  .op = NONE,
                                  .n = n,
                                  .threads = algorithm->threads[0],
                                  .launch = LAUNCH_STREAM,
                                  .cache = CACHE_WARM};
            struct row row;
            job_run(&point, &few, &row);
            if (row.status == STATUS_OOM)
                continue;
            double rate = 2.0 * (double)n * (double)type_size(type) / 1e9 / row.device.median;
            if (rate > 0 && !(rate <= o->copy_gb_per_s))
                o->copy_gb_per_s = rate;
            break;
        }
    }
}

void overheads_measure(const struct point *points, int count, const struct job_options *options,
                       struct overheads *overheads)
{
    struct overheads *o = overheads;
    *o = (struct overheads){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    struct device_event *start = device_event_create(), *end = device_event_create();
    if (start && end) {
        o->event_resolution_s = device_event_resolution_s();
        o->event_pair_s = between_events_s(start, end, 0);
        double with_kernel_s = between_events_s(start, end, 1);
        o->empty_kernel_s = with_kernel_s > o->event_pair_s ? with_kernel_s - o->event_pair_s : NAN;
        o->gate_s = gate_cost_s();
    }
    if (start)
        device_event_destroy(start);
    if (end)
        device_event_destroy(end);
    if (!device_error())
        time_sm_clock(o);
    if (!device_error())
        time_transfers(o);
    if (!device_error())
        time_ceiling(points, count, options, o);
}
