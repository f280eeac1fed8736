/* SPDX-License-Identifier: MIT */
#include "timer.h"

#include "core_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UPS = 10, MOST_REPEATS = 1 << 20, TURN_SAMPLES = 10, MOST_GATES_EXPIRED = 2 };

static const double TURN_S = 0.05;                  /* of wall time, after which a turn takes no further sample */
static const double SHORTEST_HOST_SAMPLE_S = 20e-6; /* reading the clock costs 27 ns: 0.1 % */
static const double DEVICE_SHARE = 0.6;             /* of the budget; the rest is the host clock's */
static const double WARM_UP_SHARE = 0.1;
static const double THROTTLED_BELOW = 0.75; /* of the SM clock that is to be held */
static const double CLOCK_MOVED = 0.02;
static const double SLOW_CORE = 0.9;     /* of the best clock that a core has had */
static const double FAR_ABOVE_MIN = 1.3; /* median over minimum: something else ran as well, or there are two speeds */
static const double RECOVERY_S = 0.05;   /* for a throttled GPU to cool down */
static const int DISCARD_SHARE = 2;      /* most samples discarded, as a multiple of min_samples */

double timer_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The samples of one clock so far. */
struct series {
    double *values; /* room for max_samples */
    int count;
    int look;       /* number of samples at which the interval is looked at next */
    bool done;      /* precise, or at a cap */
    bool stable;    /* precise */
    double first_s; /* when its first sample began; NAN: there is none */
};

struct timing {
    struct subject subject;
    const struct job_options *options;
    struct row *row;
    bool on_host, warm, throttled;
    bool launched; /* on a device that is fed by the host, and would be better gated */
    bool gated;
    int gates_expired;
    int repeats;
    struct device_event *start, *end;
    double resolution_s;
    double sm_clock_mhz;   /* that is to be held; 0: unknown */
    double core_clock_sum; /* of a host algorithm, or of the CPU device: read at both ends of every turn */
    int core_clock_readings;
    double sm_clock_sum;
    int sm_clock_turns;
    struct series device, host;
    double spent_s; /* wall time of all turns so far, without what gates cost that timed out */
    double lost_s;  /* to such gates, in this turn */
    int discarded, most_discarded;
    double first_s; /* when the first sample began */
    struct sample *kept;
    int kept_count, kept_room;
};

/* ------------------------------------------------------------------------------------------------ one sample */

static void run_once(const struct timing *t)
{
    if (t->subject.graph)
        device_graph_replay(t->subject.graph);
    else
        t->subject.algorithm->run(t->subject.problem);
}

/* Negative where the gate had opened before all was queued. */
static double sample_device_s(struct timing *t)
{
    if (t->subject.cold)
        device_make_cold();
    double begun = device_clock_s();
    bool gated = t->gated && device_gate_close();
    device_event_record(t->start);
    run_once(t);
    device_event_record(t->end);
    bool held = !gated || device_gate_open();
    double seconds = device_event_elapsed_s(t->start, t->end);
    if (!held) {
        t->gates_expired++;
        t->lost_s += device_clock_s() - begun;
        return -fmax(seconds, t->resolution_s);
    }
    return fmax(seconds, t->resolution_s);
}

static double sample_call_s(struct timing *t)
{
    if (t->subject.cold) {
        device_make_cold();
        device_synchronize();
    }
    double start = device_clock_s();
    run_once(t);
    device_synchronize();
    return device_clock_s() - start;
}

static double sample_host_s(struct timing *t)
{
    double start = device_clock_s();
    for (int i = 0; i < t->repeats; i++)
        run_once(t);
    return (device_clock_s() - start) / t->repeats;
}

typedef double sampler(struct timing *);

static void warm_up(struct timing *t, sampler *sample, double until)
{
    double last = INFINITY;
    for (int i = 0; i < WARM_UPS; i++) {
        double seconds = sample(t);
        if (seconds > 0.95 * last || device_clock_s() > until || device_error())
            return;
        last = seconds;
    }
}

/* Doubles the repeats until a sample is long enough for the clock. The fastest of three, as one alone may have been
 * interrupted and look long; a run of 10 ms is long enough in any case. */
static void choose_repeats(struct timing *t)
{
    for (;;) {
        double fastest = INFINITY;
        for (int i = 0; i < 3 && (i == 0 || fastest < 10e-3); i++)
            fastest = fmin(fastest, sample_host_s(t) * t->repeats);
        if (fastest >= SHORTEST_HOST_SAMPLE_S || t->repeats >= MOST_REPEATS)
            return;
        t->repeats *= 2;
    }
}

/* ------------------------------------------------------------------------------------------------ a turn */

int timer_next_look(int samples)
{
    int next = (int)(samples * 4.0 / 3 + 0.5);
    return next > samples ? next : samples + 1;
}

static bool precise(const struct summary *s)
{
    return (s->ci_hi - s->ci_lo) / 2 <= TIMER_CI_TARGET * s->median; /* false while there is no interval */
}

/* A clock that moves in steps tells a time to half a step: the interval becomes wider by that at both ends, or it would
 * be none where all samples fall on one step. How long a step is, the samples show: no two different ones lie closer.
 */
static void widen_by_step(struct summary *summary, const double *sorted, double resolution_s)
{
    const double ROUNDING_S = 1e-10;
    double step = resolution_s;
    for (int i = 1; i < summary->samples; i++)
        if (sorted[i] - sorted[i - 1] > ROUNDING_S && sorted[i] - sorted[i - 1] < step)
            step = sorted[i] - sorted[i - 1];
    summary->ci_lo = fmax(summary->ci_lo - step / 2, 0); /* NAN stays */
    summary->ci_hi += step / 2;
}

static struct summary summary_of(const struct timing *t, const struct series *series)
{
    struct summary summary = summarise(series->values, series->count);
    if (series == &t->device && !t->on_host && isfinite(summary.ci_lo))
        widen_by_step(&summary, series->values, t->resolution_s);
    return summary;
}

static void keep(struct timing *t, double at_s, double seconds, bool of_host, bool discarded)
{
    if (t->kept_count < t->kept_room)
        t->kept[t->kept_count++] = (struct sample){at_s, seconds, of_host, discarded};
}

/* The SM clock of the turn just taken; false: too low for its samples to count, and others may still be taken. */
static bool clock_held(struct timing *t, bool of_host, bool may_discard)
{
    double mhz = device_sm_clock_mhz();
    if (!isfinite(mhz))
        return true;
    bool low = mhz < THROTTLED_BELOW * t->sm_clock_mhz;
    if (low && may_discard && t->discarded < t->most_discarded)
        return false;
    t->throttled |= low;
    if (!of_host) {
        t->sm_clock_sum += mhz;
        t->sm_clock_turns++;
    }
    return true;
}

static bool gate_is_no_use(const struct timing *t)
{
    return t->gated && t->gates_expired >= MOST_GATES_EXPIRED;
}

/* Samples that are not to count after all, from number `from` on. */
static void discard(struct timing *t, struct series *series, int from, int kept_from)
{
    t->discarded += series->count - from;
    series->count = from;
    for (int i = kept_from; i < t->kept_count; i++)
        t->kept[i].discarded = true;
}

/* Enough samples, or is the next look still to come? A precise median of a lucky moment is not enough: samples have to
 * span some time. */
static void look(struct timing *t, struct series *series, double now)
{
    bool full = series->count == t->options->max_samples;
    if (series->count < series->look && !full)
        return;
    struct summary summary = summary_of(t, series);
    series->stable = precise(&summary) && series->count >= t->options->min_samples;
    series->done = full || (series->stable && now - series->first_s >= t->options->span_s);
    series->look = timer_next_look(series->count);
}

static void read_core_clock(struct timing *t)
{
    if (t->launched)
        return;
    t->core_clock_sum += core_clock_mhz();
    t->core_clock_readings++;
}

/* A few samples of one clock, no more than up to the next look, and none that would not fit in `left_s` of wall time;
 * one at least where the clock has none yet. */
static void take_samples(struct timing *t, struct series *series, sampler *sample, bool of_host, double left_s)
{
    int before = series->count, kept_before = t->kept_count, taken = 0;
    double begun = device_clock_s(), lost_before = t->lost_s, spent = 0;
    bool over = false;
    read_core_clock(t);
    if (!t->on_host) {
        device_sm_clock_mark(0);
        if (of_host)
            device_synchronize();
    }
    while (taken < TURN_SAMPLES && series->count < series->look && series->count < t->options->max_samples &&
           spent < TURN_S && !over && !gate_is_no_use(t)) {
        over = spent + (taken ? spent / taken : 0) > left_s;
        if (over && series->count)
            break;
        double at = device_clock_s();
        if (isnan(t->first_s))
            t->first_s = at;
        if (isnan(series->first_s))
            series->first_s = at;
        double seconds = sample(t);
        if (device_error())
            return;
        spent = device_clock_s() - begun - (t->lost_s - lost_before);
        taken++;
        keep(t, at - t->first_s, fabs(seconds), of_host, seconds < 0);
        if (seconds < 0)
            t->discarded++;
        else
            series->values[series->count++] = seconds;
    }
    read_core_clock(t);
    if (!t->on_host) {
        device_sm_clock_mark(1);
        device_synchronize();
        if (!clock_held(t, of_host, spent < left_s)) {
            discard(t, series, before, kept_before);
            device_pause(RECOVERY_S);
        }
    }
    if (gate_is_no_use(t)) { /* from now on without it, and all over again */
        t->gated = false;
        discard(t, series, 0, 0);
    }
    look(t, series, device_clock_s());
    spent = device_clock_s() - begun - (t->lost_s - lost_before);
    if (series->count && spent + spent / (taken ? taken : 1) > left_s)
        series->done = true;
}

/* Of the budget, with the turn that has begun then. */
static double spent_s(const struct timing *t, double begun)
{
    return t->spent_s + device_clock_s() - begun - t->lost_s;
}

bool timing_turn(struct timing *t)
{
    if (device_error() || (t->device.done && t->host.done))
        return false;
    double begun = device_clock_s(), budget = t->options->budget_s;
    t->lost_s = 0;
    sampler *sample = t->on_host ? sample_host_s : sample_device_s,
            *untimed = t->on_host ? sample_host_s : sample_call_s;
    if (!t->warm) {
        warm_up(t, untimed, begun + WARM_UP_SHARE * budget);
        if (t->on_host)
            choose_repeats(t);
        t->warm = true;
    } else if (!t->subject.cold) {
        untimed(t); /* the others have been in the caches since */
    }
    double device_share = t->on_host ? 1 : DEVICE_SHARE;
    if (!device_error() && !t->device.done)
        take_samples(t, &t->device, sample, false, device_share * budget - spent_s(t, begun));
    if (!device_error() && !t->on_host && t->device.done)
        take_samples(t, &t->host, sample_call_s, true, budget - spent_s(t, begun));
    t->spent_s = spent_s(t, begun);
    if (t->on_host)
        t->host.done = t->device.done;
    return !device_error() && !(t->device.done && t->host.done);
}

/* ------------------------------------------------------------------------------------------------ begin and end */

static void no_time(struct row *row)
{
    row->device = summarise(NULL, 0);
    row->host = summarise(NULL, 0);
    row->sm_clock_mhz = NAN;
}

static void fail(struct row *row, const char *detail, const char *message)
{
    row->status = device_error() == DEVICE_ERROR_MEMORY ? STATUS_OOM : STATUS_ERROR;
    snprintf(row->detail, sizeof row->detail, "%s", detail);
    snprintf(row->message, sizeof row->message, "%s", message);
    no_time(row);
}

/* Room for every sample is taken here, so that nothing is allocated between two readings of a clock. */
static bool take_room(struct timing *t)
{
    size_t most = (size_t)t->options->max_samples;
    t->device.values = malloc(most * sizeof *t->device.values);
    t->host.values = malloc(most * sizeof *t->host.values);
    if (t->options->keep_samples) {
        t->kept_room = 2 * t->options->max_samples + t->most_discarded + 4 * TURN_SAMPLES;
        t->kept = malloc((size_t)t->kept_room * sizeof *t->kept);
    }
    return t->device.values && t->host.values && (t->kept || !t->options->keep_samples);
}

struct timing *timing_begin(const struct subject *subject, const struct job_options *options, struct row *row)
{
    struct timing *t = calloc(1, sizeof *t);
    no_time(row);
    row->discarded = 0;
    row->repeats = 1;
    if (t) {
        t->subject = *subject;
        t->options = options;
        t->row = row;
        t->repeats = 1;
        t->first_s = t->device.first_s = t->host.first_s = NAN;
        t->most_discarded = DISCARD_SHARE * options->min_samples;
        t->device.look = t->host.look =
            options->min_samples < options->max_samples ? options->min_samples : options->max_samples;
    }
    if (!t || !take_room(t)) {
        fail(row, "no-memory-for-samples", "no host memory for the samples: lower --max-samples");
        timing_free(t);
        return NULL;
    }
    t->on_host = subject->algorithm->runs_on == HOST;
    core_clock_best_mhz();
    if (!t->on_host) {
        struct device_properties properties;
        device_get_properties(&properties);
        t->sm_clock_mhz = options->sm_clock_mhz > 0 ? options->sm_clock_mhz : properties.sm_clock_max_mhz;
        t->launched = properties.simulated || !strcmp(device_kind(), "cuda");
        t->start = device_event_create();
        t->end = device_event_create();
        t->resolution_s = device_event_resolution_s();
        t->gated = device_has_gate() && !options->without_gate && !subject->algorithm->synchronises &&
                   (subject->graph || subject->launches <= DEVICE_GATE_LAUNCHES);
    }
    return t;
}

void timing_end(struct timing *t)
{
    struct row *row = t->row;
    row->device = summary_of(t, &t->device);
    row->host = t->on_host ? row->device : summary_of(t, &t->host);
    row->discarded = t->discarded;
    row->repeats = t->repeats;
    row->sm_clock_mhz = t->sm_clock_turns ? t->sm_clock_sum / t->sm_clock_turns : NAN;
    row->status = t->throttled ? STATUS_THROTTLED : t->device.stable ? STATUS_OK : STATUS_UNSTABLE;
    if (!t->on_host && device_error()) {
        char detail[32];
        snprintf(detail, sizeof detail, "device-error-%d", device_error());
        fail(row, detail, device_error_text());
        return;
    }
    if (!t->device.count) {
        fail(row, "no-sample", "every sample had to be discarded");
        return;
    }
    if (!t->on_host && row->device.median < 10 * t->resolution_s)
        row_flag(row, "near-resolution");
    if (t->launched && !t->gated)
        row_flag(row, "ungated");
    if (t->core_clock_sum < SLOW_CORE * core_clock_best_mhz() * t->core_clock_readings)
        row_flag(row, "slow-core");
    if (row->device.median > FAR_ABOVE_MIN * row->device.min && row->device.median > 10 * t->resolution_s)
        row_flag(row, "far-above-min");
    if (fabs(row->sm_clock_mhz - t->options->sm_clock_mhz) > CLOCK_MOVED * t->options->sm_clock_mhz &&
        t->options->sm_clock_mhz > 0)
        row_flag(row, "clock-moved");
    if (t->device.count < t->options->min_samples)
        row_flag(row, "few-samples");
}

int timing_samples(const struct timing *t, const struct sample **samples)
{
    *samples = t->kept;
    return t->kept_count;
}

void timing_free(struct timing *t)
{
    if (!t)
        return;
    if (t->start)
        device_event_destroy(t->start);
    if (t->end)
        device_event_destroy(t->end);
    free(t->device.values);
    free(t->host.values);
    free(t->kept);
    free(t);
}

void timer_measure(const struct subject *subject, const struct job_options *options, struct row *row)
{
    struct timing *t = timing_begin(subject, options, row);
    if (!t)
        return;
    while (timing_turn(t)) {}
    timing_end(t);
    timing_free(t);
}
