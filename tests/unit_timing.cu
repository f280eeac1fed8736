// SPDX-License-Identifier: MIT
/*
 * The timer on a simulated GPU whose true times are known: do the intervals hold the truth, and do warm-up, gate,
 * turns and discards remove what they are for? Every figure is printed.
 */
#include "device/gpu.cuh"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "contest.h"
#include "registry.h"
#include "timer.h"
}

/* Calls of malloc and its kin: glibc's own names stand behind these. */
extern "C" void *__libc_malloc(size_t);
extern "C" void *__libc_calloc(size_t, size_t);
extern "C" void *__libc_realloc(void *, size_t);
static long allocations;
extern "C" void *malloc(size_t size) noexcept
{
    allocations++;
    return __libc_malloc(size);
}
extern "C" void *calloc(size_t count, size_t size) noexcept
{
    allocations++;
    return __libc_calloc(count, size);
}
extern "C" void *realloc(void *pointer, size_t size) noexcept
{
    allocations++;
    return __libc_realloc(pointer, size);
}

static int failures;

__attribute__((format(printf, 3, 4))) static void report(bool right, const char *name, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf(right ? "ok %s: %s\n" : "not ok %s: %s\n", name, text);
    failures += !right;
}

static void open_simulated(const char *specification)
{
    char why[400];
    struct device_options options = {};
    options.workers = 1;
    options.simulate = specification;
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok device_open: %s: %s\n", specification, why);
        exit(1);
    }
}

/* ------------------------------------------------------------------------------------------------ subjects */

/* A thread takes 1 us, whatever it does, and a kernel 1 us at least. */
#define GPU "thread=1e-6,empty=1e-6,gap=0,latency=1e-6,launch=2e-6,sync=1e-6,record=1e-7"
#define FINE GPU ",resolution=1e-7"

static __global__ void work() {}

static void run_100us(const struct problem *)
{
    launch(work, 1, 100);
}

static void run_3us(const struct problem *)
{
    launch(work, 1, 3);
}

static void run_20_launches(const struct problem *)
{
    for (int i = 0; i < 20; i++)
        launch(work, 1, 1);
}

static void run_600_launches(const struct problem *)
{
    for (int i = 0; i < 600; i++)
        launch(work, 1, 1);
}

static void run_and_wait(const struct problem *)
{
    launch(work, 1, 50);
    device_synchronize();
    launch(work, 1, 50);
}

static long allocations_between, last_allocations;
static int runs;

static void run_and_count_allocations(const struct problem *)
{
    if (runs++ > 2)
        allocations_between += allocations - last_allocations;

    last_allocations = allocations;
    launch(work, 1, 100);
}

static const struct job_options usual = {.timed = true, .min_samples = 30, .max_samples = 1000, .budget_s = 1};

static struct row measure(void (*run)(const struct problem *), const struct job_options &options = usual,
                          uint64_t launches = 1, bool synchronises = false)
{
    struct algorithm algorithm = {.name = "subject", .runs_on = DEVICE, .synchronises = synchronises, .run = run};
    struct problem problem = {.n = 1, .type = I32, .op = SUM, .kind = INCLUSIVE};
    struct subject subject = {&algorithm, &problem, nullptr, false, launches};
    struct row row;
    memset(&row, 0, sizeof row);
    timer_measure(&subject, &options, &row);
    return row;
}

static bool near(double value, double truth, double share)
{
    return fabs(value - truth) <= share * truth;
}

/* ------------------------------------------------------------------------------------------------ cases */

static void test_clocks(void)
{
    open_simulated(FINE);
    struct row row = measure(run_100us);
    report(near(row.device.median, 100e-6, 0.003) && row.status == STATUS_OK && row.device.samples == 30 &&
               !row.flags[0],
           "device_time_is_the_kernel's", "%.2f us of 100, %d samples", row.device.median * 1e6, row.device.samples);
    report(row.host.median > 102e-6 && row.host.median < 106e-6, "host_time_is_call_to_sync",
           "%.2f us: 100 of work, launch, latency and wait", row.host.median * 1e6);
    row = measure(run_3us);
    report(!row.flags[0], "not_near_resolution", "3 us at steps of 0.1 us have no flag");
    device_close();

    open_simulated(GPU ",resolution=5e-7");
    row = measure(run_3us);
    report(!strcmp(row.flags, "near-resolution"), "near_resolution_is_flagged", "3 us at steps of 0.5 us: %s",
           row.flags);
    device_close();
}

constexpr int RUNS = 1000;

/* How often do intervals hold the truth, on a GPU whose event clock moves in such steps? */
static void cover(const char *name, const char *step, const char *noise, double most_share)
{
    int covered = 0, stable = 0, inside = 0, host_covered = 0;
    long samples = 0;
    char specification[300];
    snprintf(specification, sizeof specification, GPU ",resolution=%s", step);
    open_simulated(specification);
    double host_truth = measure(run_100us).host.median;
    device_close();
    for (int i = 0; i < RUNS; i++) {
        snprintf(specification, sizeof specification, GPU ",resolution=%s,noise=%s,seed=%d", step, noise, i + 1);
        open_simulated(specification);
        struct row row = measure(run_100us);
        device_close();
        covered += row.device.ci_lo <= 100e-6 && 100e-6 <= row.device.ci_hi;
        host_covered += row.host.ci_lo <= host_truth && host_truth <= row.host.ci_hi;
        inside += row.device.ci_lo <= row.device.median && row.device.median <= row.device.ci_hi;
        stable += row.status == STATUS_OK;
        samples += row.device.samples;
    }
    char text[100];
    snprintf(text, sizeof text, "%s_interval_covers_the_truth", name);
    report(covered >= 0.93 * RUNS && covered <= most_share * RUNS, text,
           "%.1f %% of %d simulated runs, noise %s, steps of %s s, %.0f samples each, %d of them ok",
           100.0 * covered / RUNS, RUNS, noise, step, double(samples) / RUNS, stable);
    snprintf(text, sizeof text, "%s_host_interval_covers_the_truth", name);
    report(host_covered >= 0.93 * RUNS && host_covered <= 0.99 * RUNS, text, "%.1f %% of %d simulated runs",
           100.0 * host_covered / RUNS, RUNS);
    snprintf(text, sizeof text, "%s_median_lies_in_its_interval", name);
    report(inside == RUNS, text, "in %d of %d runs", inside, RUNS);
}

/* Steps that the noise fills: 93 to 99 %. Coarse ones: the interval is half a step wider at both ends, and may hold the
 * truth more often, never less. */
static void test_coverage(void)
{
    cover("fine", "1e-7", "0.03", 0.99);
    cover("coarse", "1.3e-6", "0.003", 1);
}

static void test_warm_up(void)
{
    open_simulated(FINE ",first=0.2");
    struct row row = measure(run_100us);
    report(near(row.device.max, 100e-6, 0.003) && row.host.max < 110e-6 && !row.discarded,
           "warm_up_takes_the_first_launch",
           "a first launch of 200 ms; the largest sample is %.2f us, of the host %.2f us", row.device.max * 1e6,
           row.host.max * 1e6);
    device_close();
}

static void test_gate(void)
{
    struct job_options without = usual;
    without.without_gate = true;
    open_simulated(FINE);
    struct row gated = measure(run_20_launches, usual, 20), ungated = measure(run_20_launches, without, 20);
    report(near(gated.device.median, 20e-6, 0.02) && !gated.flags[0], "gate_removes_the_feeding",
           "20 kernels of 1 us: %.2f us behind the gate", gated.device.median * 1e6);
    report(ungated.device.median > 38e-6 && !strcmp(ungated.flags, "ungated"), "without_a_gate_it_is_there",
           "%.2f us, flags %s", ungated.device.median * 1e6, ungated.flags);

    struct row row = measure(run_600_launches, usual, 600);
    report(!strcmp(row.flags, "ungated") && row.device.samples >= 30 && !row.discarded,
           "too_many_launches_are_not_gated", "600 launches: %.2f us, flags %s", row.device.median * 1e6, row.flags);
    row = measure(run_and_wait, usual, 2, true);
    report(!strcmp(row.flags, "ungated") && !row.discarded && row.status == STATUS_OK, "what_waits_is_not_gated",
           "%d samples, %d discarded, flags %s", row.device.samples, row.discarded, row.flags);
    row = measure(run_and_wait, usual, 2, false);
    report(!strcmp(row.flags, "ungated") && row.discarded == 2 && row.device.samples >= 30 && row.device.max < 0.01,
           "what_waits_unannounced_meets_the_deadline", "%d samples, %d discarded, the largest %.2f us, flags %s",
           row.device.samples, row.discarded, row.device.max * 1e6, row.flags);
    device_close();
}

static void test_throttling(void)
{
    open_simulated(FINE ",clock=1500,throttle=0.002:0.02:2:0.06");
    struct row row = measure(run_100us);
    report(row.status == STATUS_OK && row.discarded > 0 && near(row.device.median, 100e-6, 0.01) &&
               row.sm_clock_mhz > 1200,
           "throttled_samples_are_discarded", "%d samples, %d discarded, median %.2f us, q3 %.2f us, SM clock %.0f MHz",
           row.device.samples, row.discarded, row.device.median * 1e6, row.device.q3 * 1e6, row.sm_clock_mhz);
    device_close();

    open_simulated(FINE ",clock=1500,throttle=0:1000:2:2000");
    struct job_options patient = usual;
    patient.budget_s = 20;
    row = measure(run_100us, patient);
    report(row.status == STATUS_THROTTLED && row.discarded == 60 && near(row.device.median, 200e-6, 0.01) &&
               near(row.sm_clock_mhz, 750, 0.02),
           "throttled_for_good_is_a_status", "%s, %d discarded, %.2f us, SM clock %.0f MHz", status_name(row.status),
           row.discarded, row.device.median * 1e6, row.sm_clock_mhz);
    device_close();
}

/* The clock falls when the device clock has its samples: those of the host clock must not be the slow ones. */
static void test_throttled_host(void)
{
    open_simulated(FINE ",clock=1500,throttle=0.0042:0.02:2:0.06");
    struct row row = measure(run_100us);
    report(row.status == STATUS_OK && row.discarded > 0 && near(row.host.median, 104e-6, 0.01),
           "throttled_host_samples_are_discarded", "host %.2f us, %d samples, %d discarded", row.host.median * 1e6,
           row.host.samples, row.discarded);
    device_close();
}

/* Two speeds for seconds each: a few samples of one of them are precise, and wrong. */
static void test_span(void)
{
    struct job_options spanning = usual;
    spanning.span_s = 0.05;
    open_simulated(FINE);
    struct row row = measure(run_100us, spanning);
    double seconds = row.device.samples * 100e-6;
    report(row.status == STATUS_OK && seconds > 0.04 && seconds < 0.1, "samples_span_some_time",
           "%d samples of 0.1 ms for 50 ms", row.device.samples);
    device_close();
    open_simulated(FINE ",lasts=work#60:3e-4");
    row = measure(run_100us, spanning);
    report(strstr(row.flags, "far-above-min") && row.device.max > 299e-6, "two_speeds_are_flagged",
           "%.2f us, the smallest %.2f us, flags %s", row.device.median * 1e6, row.device.min * 1e6, row.flags);
    device_close();
}

static void test_neighbours(void)
{
    open_simulated(FINE ",busy=0.1:1e-3,noise=0.01");
    struct row row = measure(run_100us);
    report(near(row.device.median, 100e-6, 0.01) && row.device.max > 1e-3, "a_busy_neighbour_leaves_the_median",
           "%.2f us, the largest %.2f us, %s", row.device.median * 1e6, row.device.max * 1e6, status_name(row.status));
    device_close();
}

static void test_caps(void)
{
    struct job_options little = usual;
    little.budget_s = 1e-3;
    open_simulated(FINE ",noise=0.03");
    struct row row = measure(run_100us, little);
    report(row.status == STATUS_UNSTABLE && row.device.samples >= 1 && row.device.samples < 30 &&
               row.host.samples >= 1 && !strcmp(row.flags, "few-samples"),
           "a_budget_too_small_marks_the_row", "1 ms for runs of 0.1 ms: %s, %d and %d samples, flags %s",
           status_name(row.status), row.device.samples, row.host.samples, row.flags);
    device_close();

    open_simulated(FINE ",noise=2");
    row = measure(run_100us);
    report(row.status == STATUS_UNSTABLE && row.device.samples > 100, "noise_without_end_is_unstable",
           "%s after %d samples", status_name(row.status), row.device.samples);
    device_close();
}

static void test_allocations(void)
{
    struct job_options hundred = usual;
    hundred.max_samples = 100;
    hundred.keep_samples = true;
    open_simulated(FINE ",noise=0.2");
    measure(run_and_count_allocations, hundred);
    report(runs > 100 && allocations_between == 0, "nothing_is_allocated_between_samples", "%ld allocations in %d runs",
           allocations_between, runs);
    device_close();
}

/* ------------------------------------------------------------------------------------------------ contests */

static struct row rows[64];
static int row_order[64], row_count, turn_order[4096], turn_count;
static volatile sig_atomic_t stop;

static void note_turn(void *, int index)
{
    if (turn_count < 4096)
        turn_order[turn_count++] = index;
}

static void note_row(void *, int index, const struct row *row)
{
    rows[index] = *row;
    row_order[row_count++] = index;
}

static void compete(const struct point *points, const int *members, int count, const struct job_options *options)
{
    struct contest contest = {};
    contest.points = points;
    contest.members = members;
    contest.count = count;
    contest.options = options;
    contest.seed = 7;
    contest.on_turn = note_turn;
    contest.on_row = note_row;
    contest.stop = &stop;
    row_count = turn_count = 0;
    contest_run(&contest);
}

static struct point point_of(const char *algorithm, uint64_t n)
{
    struct point point = {};
    point.algorithm = registry_find(algorithm);
    point.kind = EXCLUSIVE;
    point.type = I32;
    point.op = SUM;
    point.n = n;
    point.threads = point.algorithm->threads[0];
    point.launch = LAUNCH_STREAM;
    point.cache = CACHE_WARM;
    return point;
}

/* Two algorithms of the same launches, on a GPU that loses more than half of its speed every second. */
static void test_turns(void)
{
    const struct point points[] = {point_of("block_scan", 1000), point_of("block_scan_unpadded", 1000)};
    const int both[] = {0, 1};
    struct job_options options = usual;
    options.seed = 1;
    const char *drifting = "thread=2e-7,drift=0.6,noise=0.1";
    open_simulated(drifting);
    compete(points, both, 1, &options);
    compete(points, both + 1, 1, &options);
    double alone = rows[1].device.median / rows[0].device.median;
    device_close();
    open_simulated(drifting);
    compete(points, both, 2, &options);
    double in_turns = rows[1].device.median / rows[0].device.median;
    device_close();
    report(alone > 1.04 && fabs(in_turns - 1) < (alone - 1) / 3, "turns_share_a_drift",
           "the same work, ratio 1: %.3f one after the other, %.3f in turns (%d and %d samples)", alone, in_turns,
           rows[0].device.samples, rows[1].device.samples);

    int changes = 0;
    for (int i = 1; i < turn_count; i++)
        changes += turn_order[i] != turn_order[i - 1];
    report(turn_count > 20 && changes > turn_count / 4, "they_take_turns", "%d turns, %d changes", turn_count, changes);
}

static void test_memory(void)
{
    /* Each takes more than half of the memory: one after the other, and both have a time. */
    const struct point points[] = {point_of("hillis_steele", 60000), point_of("hillis_steele", 59999),
                                   point_of("hillis_steele", 200000)};
    const int all[] = {0, 1, 2};
    char why[400];
    struct device_options device = {};
    struct job_options options = usual;
    device.workers = 1;
    device.memory_bytes = 1 << 20;
    device.simulate = "noise=0.01";
    options.seed = 1;
    if (device_open(0, &device, why, sizeof why)) {
        report(false, "contest_memory", "%s", why);
        return;
    }
    compete(points, all, 3, &options);
    report(row_count == 3 && rows[0].device.samples >= 30 && rows[1].device.samples >= 30 &&
               rows[2].status == STATUS_OOM,
           "those_without_room_come_later", "statuses %s, %s, %s", status_name(rows[0].status),
           status_name(rows[1].status), status_name(rows[2].status));
    device_close();
}

/* Each point once, those of one size together, sizes in an order that the seed draws. */
static void test_order(void)
{
    constexpr int SIZES = 12, ALGORITHMS = 3, COUNT = SIZES * ALGORITHMS;
    const char *names[ALGORITHMS] = {"hillis_steele", "block_scan", "copy"};
    struct point points[COUNT];
    int order[2][COUNT + 1], first[COUNT + 1], times[COUNT] = {}, together = 0, groups[2], as_planned = 0;
    for (int i = 0; i < COUNT; i++) {
        points[i] = point_of(names[i % ALGORITHMS], UINT64_C(1) << (4 + i / ALGORITHMS));
        if (points[i].algorithm->kinds == COPY)
            points[i].op = NONE;
    }
    for (int seed = 0; seed < 2; seed++)
        groups[seed] = plan_order(points, COUNT, uint64_t(seed), order[seed], first);
    for (int g = 0; g < groups[1]; g++)
        for (int i = first[g]; i < first[g + 1]; i++) {
            times[order[1][i]]++;
            together += points[order[1][i]].n == points[order[1][first[g]]].n;
        }
    bool each_once = true;
    for (int i = 0; i < COUNT; i++) {
        each_once &= times[i] == 1;
        as_planned += order[1][i] == i;
    }
    report(groups[0] == SIZES && groups[1] == SIZES && each_once && together == COUNT && as_planned < COUNT / 2 &&
               memcmp(order[0], order[1], COUNT * sizeof(int)) != 0,
           "sizes_come_in_an_order_of_the_seed", "%d groups, %d of %d points where the plan has them", groups[1],
           as_planned, COUNT);
}

static void note_turn_and_stop(void *, int index)
{
    note_turn(nullptr, index);
    if (turn_count == 24)
        stop = 1;
}

static void test_stop(void)
{
    struct point points[] = {point_of("block_scan", 1000), point_of("hillis_steele", 1000), point_of("blelloch", 1000)};
    const int all[] = {0, 1, 2};
    struct job_options options = usual;
    options.seed = 1;
    options.min_samples = 30;
    options.max_samples = 60;
    open_simulated("noise=0.5");
    struct contest contest = {};
    contest.points = points;
    contest.members = all;
    contest.count = 3;
    contest.options = &options;
    contest.on_turn = note_turn_and_stop;
    contest.on_row = note_row;
    contest.stop = &stop;
    row_count = turn_count = 0;
    contest_run(&contest);
    int timed = 0, interrupted = 0;
    for (int i = 0; i < 3; i++) {
        timed += rows[i].status == STATUS_UNSTABLE && rows[i].device.samples >= 30 && rows[i].host.samples > 0 &&
                 strstr(rows[i].flags, "cut-short");
        interrupted += rows[i].status == STATUS_INTERRUPTED && !rows[i].device.samples;
    }
    report(row_count == 3 && timed + interrupted == 3 && timed > 0 && interrupted > 0, "a_stop_ends_with_what_there_is",
           "%d with times, %d interrupted", timed, interrupted);
    stop = 0;
    device_close();
}

static void test_modes(void)
{
    struct point points[4];
    int all[] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++) {
        points[i] = point_of("hillis_steele", 1024);
        points[i].launch = i % 2 ? LAUNCH_GRAPH : LAUNCH_STREAM;
        points[i].cache = i / 2 ? CACHE_COLD : CACHE_WARM;
    }
    struct job_options options = usual;
    options.seed = 1;
    open_simulated("empty=3e-6,gap=0,launch=5e-6,graph=6e-6,graph_gap=0,cold=2,noise=0");
    compete(points, all, 4, &options);
    bool timed = true;
    for (int i = 0; i < 4; i++)
        timed &= rows[i].status == STATUS_OK && rows[i].launches == 10;
    report(timed, "graph_and_cold_are_points", "statuses %s, %s, %s, %s (%s)", status_name(rows[0].status),
           status_name(rows[1].status), status_name(rows[2].status), status_name(rows[3].status), rows[1].message);
    report(near(rows[0].device.median, 30e-6, 0.03) && near(rows[1].device.median, 30e-6, 0.03),
           "device_time_is_the_same_by_graph", "10 kernels of 3 us: %.2f us by stream, %.2f us by graph",
           rows[0].device.median * 1e6, rows[1].device.median * 1e6);
    report(rows[0].host.median > 50e-6 && rows[1].host.median < 45e-6, "a_graph_takes_the_launches_out",
           "host time %.2f us by stream, %.2f us by graph", rows[0].host.median * 1e6, rows[1].host.median * 1e6);
    report(near(rows[2].device.median, 33e-6, 0.03), "cold_caches_show", "%.2f us warm, %.2f us cold",
           rows[0].device.median * 1e6, rows[2].device.median * 1e6);
    device_close();
}

static void test_failing(void)
{
    struct point points[] = {point_of("hillis_steele", 1000), point_of("block_scan", 1000)};
    const int all[] = {0, 1};
    struct job_options options = usual;
    options.seed = 1;
    open_simulated("fail=pass:700");
    compete(points, all, 2, &options);
    report(row_count >= 1 && rows[row_order[0]].status == STATUS_ERROR &&
               !strcmp(rows[row_order[0]].detail, "device-error-700") && !rows[row_order[0]].device.samples,
           "an_error_has_no_time", "%s: %s", rows[row_order[0]].detail, rows[row_order[0]].message);
    device_close();
}

int main(void)
{
    test_clocks();
    test_coverage();
    test_warm_up();
    test_gate();
    test_throttling();
    test_throttled_host();
    test_span();
    test_neighbours();
    test_caps();
    test_allocations();
    test_turns();
    test_order();
    test_memory();
    test_stop();
    test_modes();
    test_failing();
    return failures != 0;
}
