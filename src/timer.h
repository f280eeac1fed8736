/* SPDX-License-Identifier: MIT */
/*
 * Two clocks for one run of an algorithm.
 *
 * Device time: an event before the run, an event after it, the distance, the stream held by the gate until all of it is
 * queued; where there is no gate, or the run is no longer timed behind one, the row says `ungated` (the CPU device
 * needs none). Host time: from the call of run() to the return of device_synchronize(), ungated, in samples of their
 * own. A host algorithm has one clock, the host's, and both summaries of its row are of the same samples.
 *
 * Turns: contestants are timed a few samples at a time, one after the other, so that a machine that drifts or throttles
 * does so for all of them. A turn begins with an untimed run, and the SM clock is read at its two ends, whichever clock
 * is sampled: a turn during which the clock fell below three quarters of what it was under load at the start of the run
 * is discarded, until too many are.
 *
 * Warm-up: in its first turn the algorithm runs untimed and ungated at the very size, type and place in memory, until a
 * run is no longer clearly faster than the one before; at least once, at most ten times or for a tenth of the budget.
 *
 * A device clock that moves in steps tells a time to half a step: by so much its interval is wider at both ends.
 *
 * Stopping: after min_samples samples, and whenever their number has grown by a third (30, 40, 53, 71, ...), the
 * rank-based 95 % interval of the median is looked at. Half as wide as 1 % of the median, or less, is `ok`, and enough
 * where the samples span options->span_s of wall time, so that it is not the median of a lucky moment. At max_samples,
 * or when the next sample would not fit in the budget, what the last look said stands: `ok` or `unstable`. Where
 * samples of either clock had to be discarded up to the cap, it is `throttled`. Otherwise the status is the device
 * clock's; the host clock stops by the same rule and shows its interval.
 *
 * The budget is wall time of all turns of a point; the device clock may use six tenths of it. It wins over min_samples,
 * but each clock takes one sample at least: a point whose single run outlasts the budget costs three runs. What a gate
 * costs that times out is not billed.
 */
#ifndef TIMER_H
#define TIMER_H

#include "job.h"

struct device_graph;

/* Half the interval over the median, at which sampling stops. */
#define TIMER_CI_TARGET 0.01

/* Seconds on a clock of the host that nobody sets. What is timed is timed on device_clock_s. */
double timer_now_s(void);

/* What is timed. */
struct subject {
    const struct algorithm *algorithm;
    const struct problem *problem;
    struct device_graph *graph; /* replayed instead of run(); NULL: LAUNCH_STREAM */
    bool cold;                  /* caches are emptied before every sample */
    uint64_t launches;          /* of one run, or UNKNOWN */
};

struct timing;

/* NULL where there is no host memory for the samples; the row says so. */
struct timing *timing_begin(const struct subject *subject, const struct job_options *options, struct row *row);

/* Takes a few samples more. False: there is nothing more to take. Nothing is allocated in here. */
bool timing_turn(struct timing *timing);

/* Fills of the row: device, host, discarded, repeats, sm_clock_mhz, flags and status (ok, unstable, throttled; error
 * with detail and message when the device reports one, and then no time). Flags: `near-resolution`, `ungated`,
 * `few-samples` (below min_samples), `far-above-min` (the median is more than 1.3 times the minimum), `clock-moved`
 * (the SM clock is more than 2 % off options->sm_clock_mhz), `slow-core` (of a host algorithm or the CPU device: the
 * core's clock, read at both ends of the turns, was below nine tenths of the best this process has seen). A host
 * algorithm faster than 20 us runs `repeats` times a sample, and its samples are divided by that. A device time below
 * ten steps of the event clock gets the flag `near-resolution`, and an interval of no step counts as one step. */
void timing_end(struct timing *timing);

/* After timing_end: the samples in the order in which they were taken, where options said keep_samples. */
int timing_samples(const struct timing *timing, const struct sample **samples);
void timing_free(struct timing *timing);

/* One contestant alone: begin, turns, end, free. */
void timer_measure(const struct subject *subject, const struct job_options *options, struct row *row);

/* The number of samples to look at next: a third more, at least one more. */
int timer_next_look(int samples);

#endif
