/* SPDX-License-Identifier: MIT */
/* The timer, on algorithms whose time is known because they wait for the clock. */
#include "core_clock.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures, runs;

static void report(bool right, const char *name, const struct row *row)
{
    if (right)
        printf("ok %s\n", name);
    else
        printf(
            "not ok %s: %s, %d runs, %d samples of %d, median %.3g s, %.3g..%.3g s, host %d samples, median %.3g s\n",
            name, status_name(row->status), runs, row->device.samples, row->repeats, row->device.median,
            row->device.min, row->device.max, row->host.samples, row->host.median);
    failures += !right;
}

static void spin(double seconds)
{
    double until = timer_now_s() + seconds;
    while (timer_now_s() < until) {}
    runs++;
}

static void run_2us(const struct problem *problem)
{
    (void)problem;
    spin(2e-6);
}

static void run_100us(const struct problem *problem)
{
    (void)problem;
    spin(100e-6);
}

static void run_20ms(const struct problem *problem)
{
    (void)problem;
    spin(20e-3);
}

static void run_nothing(const struct problem *problem)
{
    (void)problem;
    runs++;
}

/* Slow at first, as a kernel is that has to be loaded. */
static void run_after_loading(const struct problem *problem)
{
    (void)problem;
    spin(runs == 0 ? 200e-3 : 100e-6);
}

/* Half of the runs take twice as long: the interval spans both and is never narrow. */
static void run_unsteady(const struct problem *problem)
{
    (void)problem;
    spin(runs % 2 ? 200e-6 : 100e-6);
}

static struct row measure(enum place place, void (*run)(const struct problem *), int min_samples, int max_samples,
                          double budget_s)
{
    struct algorithm algorithm = {.name = "subject", .runs_on = place, .run = run};
    struct problem problem = {.n = 1, .type = I32, .op = SUM, .kind = INCLUSIVE};
    struct job_options options = {
        .timed = true, .min_samples = min_samples, .max_samples = max_samples, .budget_s = budget_s};
    struct row row;
    memset(&row, 0, sizeof row);
    runs = 0;
    struct subject subject = {.algorithm = &algorithm, .problem = &problem, .launches = 1};
    timer_measure(&subject, &options, &row);
    return row;
}

/* Waiting never ends early; another process may make it late. */
static bool about(double seconds, double truth)
{
    return seconds >= truth && seconds < 1.25 * truth;
}

static void test_host(void)
{
    struct row row = measure(HOST, run_2us, 10, 1000, 1);
    report(row.repeats >= 8 && row.repeats <= 16 && about(row.device.median, 2e-6) &&
               row.host.median == row.device.median,
           "short_host_runs_are_repeated", &row);
    row = measure(HOST, run_100us, 10, 1000, 1);
    report(row.repeats == 1 && about(row.device.median, 100e-6) && row.device.samples >= 10, "long_host_runs_are_not",
           &row);
}

static void test_device(void)
{
    struct row row = measure(DEVICE, run_100us, 10, 1000, 2);
    report(about(row.device.median, 100e-6) && about(row.host.median, 100e-6) && row.device.samples >= 10 &&
               row.host.samples >= 10 && row.repeats == 1 && !strstr(row.flags, "near-resolution"),
           "two_clocks", &row);
    report(runs >= row.device.samples + row.host.samples + 1, "clocks_have_samples_of_their_own", &row);
    report(row.status == STATUS_OK && row.device.samples < 1000, "a_steady_time_is_ok", &row);

    row = measure(DEVICE, run_nothing, 10, 100, 1);
    report(strstr(row.flags, "near-resolution") && row.device.min > 0, "near_resolution_is_flagged", &row);
}

static void test_warm_up(void)
{
    struct row row = measure(DEVICE, run_after_loading, 10, 50, 5);
    report(row.device.max < 150e-3 && about(row.device.median, 1e-4), "the_first_run_is_not_a_sample", &row);
}

static void test_caps(void)
{
    struct row row = measure(DEVICE, run_unsteady, 7, 12, 1);
    report(row.status == STATUS_UNSTABLE && row.device.samples == 12, "the_cap_on_samples", &row);

    row = measure(DEVICE, run_20ms, 30, 1000, 0.01);
    report(row.status == STATUS_UNSTABLE && row.device.samples == 1 && row.host.samples == 1 && runs == 3 &&
               isnan(row.device.ci_lo) && row.device.median >= 20e-3,
           "a_run_longer_than_the_budget", &row);

    row = measure(HOST, run_20ms, 30, 1000, 0.01);
    report(row.status == STATUS_UNSTABLE && row.device.samples == 1 && runs == 3, "the_same_on_the_host", &row);

    double begun = timer_now_s();
    row = measure(DEVICE, run_unsteady, 30, 1000000, 0.3);
    report(row.status == STATUS_UNSTABLE && timer_now_s() - begun < 1, "the_budget_is_wall_time", &row);

    row = measure(DEVICE, run_100us, 3, 3, 1);
    report(row.status == STATUS_UNSTABLE && row.device.samples == 3, "three_samples_have_no_interval", &row);
}

static void test_looks(void)
{
    struct row none = {.status = STATUS_OK};
    report(timer_next_look(30) == 40 && timer_next_look(40) == 53 && timer_next_look(53) == 71 &&
               timer_next_look(1) == 2,
           "looks_grow_by_a_third", &none);
}

/* No core of today is slower than 200 MHz or faster than 10 GHz, shared or not. */
static void test_core_clock(void)
{
    struct row none = {.status = STATUS_OK};
    double best = core_clock_best_mhz(), now = core_clock_mhz();
    report(now > 200 && now < 10000 && best >= 200 && core_clock_best_mhz() >= now && core_clock_best_mhz() >= best,
           "the_core_has_a_clock", &none);
}

int main(void)
{
    char why[400];
    struct device_options options = {.workers = 1};
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok device_open: %s\n", why);
        return 1;
    }
    test_looks();
    test_core_clock();
    test_host();
    test_device();
    test_warm_up();
    test_caps();
    device_close();
    return failures != 0;
}
