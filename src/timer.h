/* SPDX-License-Identifier: MIT */
/*
 * Two clocks for one run of an algorithm.
 *
 * Device time: an event before the run, an event after it, the distance. Host time: from the call of run() to the
 * return of device_synchronize(), in samples of their own. A host algorithm has one clock, the host's, and both
 * summaries of its row are of the same samples.
 *
 * Warm-up: the algorithm runs untimed at the very size, type and place in memory, until a run is no longer clearly
 * faster than the one before; at least once, at most ten times or for a tenth of the budget.
 *
 * Stopping: after min_samples samples, and whenever their number has grown by a third (30, 40, 53, 71, ...), the
 * rank-based 95 % interval of the median is looked at. Half as wide as 1 % of the median, or less: `ok`. At
 * max_samples, or when the next sample would not fit in the budget: `unstable`. The status is the device clock's;
 * the host clock stops by the same rule and shows its interval.
 *
 * The budget is wall time of warm-up and both clocks together; the device clock may use six tenths of it. It wins
 * over min_samples, but each clock takes one sample at least: a point whose single run outlasts the budget costs three
 * runs.
 */
#ifndef TIMER_H
#define TIMER_H

#include "job.h"

/* Half the interval over the median, at which sampling stops. */
#define TIMER_CI_TARGET 0.01

/* Seconds on a clock that nobody sets. */
double timer_now_s(void);

/* Times `algorithm->run(problem)` on the open device and fills of `row`: device, host, discarded, repeats, flags and
 * status (ok, unstable; error with detail and message when the device reports one, and then no time). A host
 * algorithm faster than 20 us runs `repeats` times a sample, and its samples are divided by that. A device time below
 * ten steps of the event clock gets the flag `near-resolution`, and an interval of no step counts as one step. */
void timer_measure(const struct algorithm *algorithm, const struct problem *problem, const struct job_options *options,
                   struct row *row);

/* The number of samples to look at next: a third more, at least one more. */
int timer_next_look(int samples);

#endif
