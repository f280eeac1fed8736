/* SPDX-License-Identifier: MIT */
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UPS = 10, MOST_REPEATS = 1 << 20 };

static const double SHORTEST_HOST_SAMPLE_S = 20e-6; /* reading the clock costs 27 ns: 0.1 % */
static const double DEVICE_SHARE = 0.6;             /* of the budget; the rest is the host clock's */
static const double WARM_UP_SHARE = 0.1;

double timer_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is timed, and the two events it is timed between. */
struct subject {
    const struct algorithm *algorithm;
    const struct problem *problem;
    int repeats;
    struct device_event *start, *end;
    double resolution_s;
};

static double sample_device_s(const struct subject *s)
{
    device_event_record(s->start);
    s->algorithm->run(s->problem);
    device_event_record(s->end);
    double seconds = device_event_elapsed_s(s->start, s->end);
    return seconds >= s->resolution_s ? seconds : s->resolution_s;
}

static double sample_call_s(const struct subject *s)
{
    double start = timer_now_s();
    s->algorithm->run(s->problem);
    device_synchronize();
    return timer_now_s() - start;
}

static double sample_host_s(const struct subject *s)
{
    double start = timer_now_s();
    for (int i = 0; i < s->repeats; i++)
        s->algorithm->run(s->problem);
    return (timer_now_s() - start) / s->repeats;
}

typedef double sampler(const struct subject *);

static void warm_up(const struct subject *s, sampler *sample, double until)
{
    double last = INFINITY;
    for (int i = 0; i < WARM_UPS; i++) {
        double seconds = sample(s);
        if (seconds > 0.95 * last || timer_now_s() > until || device_error())
            return;
        last = seconds;
    }
}

/* Doubles the repeats until a sample is long enough for the clock. The fastest of three, as one alone may have been
 * interrupted and look long; a run of 10 ms is long enough in any case. */
static void choose_repeats(struct subject *s)
{
    for (;;) {
        double fastest = INFINITY;
        for (int i = 0; i < 3 && (i == 0 || fastest < 10e-3); i++)
            fastest = fmin(fastest, sample_host_s(s) * s->repeats);
        if (fastest >= SHORTEST_HOST_SAMPLE_S || s->repeats >= MOST_REPEATS)
            return;
        s->repeats *= 2;
    }
}

int timer_next_look(int samples)
{
    int next = (int)(samples * 4.0 / 3 + 0.5);
    return next > samples ? next : samples + 1;
}

static bool precise(const struct summary *s)
{
    return (s->ci_hi - s->ci_lo) / 2 <= TIMER_CI_TARGET * s->median; /* false while there is no interval */
}

/* Fills `values` (room for max_samples) until the interval is narrow (true) or a cap is met (false). */
static bool sample_until_precise(const struct subject *s, sampler *sample, const struct job_options *options,
                                 double deadline, double *values, struct summary *summary)
{
    int count = 0, look = options->min_samples;
    double begun = timer_now_s();
    while (count < options->max_samples) {
        values[count] = sample(s);
        count++;
        if (device_error())
            break;
        if (count >= look) {
            *summary = summarise(values, count);
            if (precise(summary))
                return true;
            look = timer_next_look(count);
        }
        double now = timer_now_s();
        if (now + (now - begun) / count > deadline)
            break;
    }
    *summary = summarise(values, count);
    return count >= options->min_samples && precise(summary);
}

static void add_flag(struct row *row, const char *flag)
{
    size_t used = strlen(row->flags);
    snprintf(row->flags + used, sizeof row->flags - used, "%s%s", used ? "+" : "", flag);
}

static void no_time(struct row *row)
{
    row->device = summarise(NULL, 0);
    row->host = summarise(NULL, 0);
}

static void fail(struct row *row, const char *detail, const char *message)
{
    row->status = STATUS_ERROR;
    snprintf(row->detail, sizeof row->detail, "%s", detail);
    snprintf(row->message, sizeof row->message, "%s", message);
    no_time(row);
}

void timer_measure(const struct algorithm *algorithm, const struct problem *problem, const struct job_options *options,
                   struct row *row)
{
    struct subject s = {.algorithm = algorithm, .problem = problem, .repeats = 1};
    bool on_host = algorithm->runs_on == HOST;
    no_time(row);
    row->discarded = 0;
    row->repeats = 1;

    /* Room for every sample is taken here, so that nothing is allocated between two clock readings. */
    double *values = malloc((size_t)options->max_samples * sizeof *values);
    if (!values) {
        fail(row, "no-memory-for-samples", "no host memory for the samples: lower --max-samples");
        return;
    }
    if (!on_host) {
        s.start = device_event_create();
        s.end = device_event_create();
        s.resolution_s = device_event_resolution_s();
    }

    double begun = timer_now_s(), deadline = begun + options->budget_s;
    double warm_until = begun + WARM_UP_SHARE * options->budget_s;
    bool stable;
    if (on_host) {
        warm_up(&s, sample_host_s, warm_until);
        choose_repeats(&s);
        row->repeats = s.repeats;
        stable = sample_until_precise(&s, sample_host_s, options, deadline, values, &row->device);
        row->host = row->device;
    } else {
        double device_until = begun + DEVICE_SHARE * options->budget_s;
        warm_up(&s, sample_device_s, warm_until);
        stable = sample_until_precise(&s, sample_device_s, options, device_until, values, &row->device);
        if (!device_error())
            sample_until_precise(&s, sample_call_s, options, deadline, values, &row->host);
        if (row->device.median < 10 * s.resolution_s)
            add_flag(row, "near-resolution");
        device_event_destroy(s.start);
        device_event_destroy(s.end);
    }
    free(values);

    row->status = stable ? STATUS_OK : STATUS_UNSTABLE;
    if (!on_host && device_error()) {
        char detail[32];
        snprintf(detail, sizeof detail, "device-error-%d", device_error());
        fail(row, detail, device_error_text());
    }
}
