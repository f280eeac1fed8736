/* SPDX-License-Identifier: MIT */
/* The simulated GPU keeps its own rules (src/device/cpu/simulate.h): every one is asked with numbers that are known. */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "device/gpu.cuh"

static int failures;

static void result(const char *name, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void result(const char *name, bool good, const char *format, ...)
{
    char why[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (!good)
        failures++;
    printf(good ? "ok simulated: %s\n" : "not ok simulated: %s: %s\n", name, why);
    fflush(stdout);
}

/* Both in seconds; sums of a few thousand roundings. */
static void takes(const char *name, double got, double expected)
{
    result(name, fabs(got - expected) <= 1e-11, "%.12g s, not %.12g s", got, expected);
}

static int opens(const char *specification, char *why, size_t size)
{
    struct device_options options = {};
    options.memory_bytes = 64 << 20;
    options.workers = 1;
    options.simulate = specification;
    device_close();
    return device_open(0, &options, why, size);
}

static void simulate(const char *specification)
{
    char why[400];
    if (opens(specification, why, sizeof why)) {
        printf("not ok simulated: %s: %s\n", specification, why);
        exit(1);
    }
}

static __global__ void tick(int *out)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[0]++;
}

static __global__ void tock(int *out)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[1]++;
}

template <int number> static __global__ void numbered(int *out)
{
    out[2] = number;
}

static int *two_ints()
{
    int *out = static_cast<int *>(device_malloc(64 * sizeof *out));
    device_fill(out, 0, 64 * sizeof *out);
    device_synchronize();
    return out;
}

struct pair {
    struct device_event *start, *end;
    pair() : start(device_event_create()), end(device_event_create()) {}
    ~pair()
    {
        device_event_destroy(start);
        device_event_destroy(end);
    }
    double elapsed_s() const { return device_event_elapsed_s(start, end); }
};

/* Device time of what `work` launches. */
template <class F> static double between_events_s(bool gated, F work)
{
    pair events;
    if (gated)
        device_gate_close();
    device_event_record(events.start);
    work();
    device_event_record(events.end);
    if (gated)
        device_gate_open();
    return events.elapsed_s();
}

template <class F> static double gated_s(F work)
{
    return between_events_s(true, work);
}

constexpr double LOOK = 27e-9; /* at the clock */

/* Host time of what `work` does, without the look at its end; the one before comes off what it has to wait. */
template <class F> static double host_s(F work)
{
    const double start = device_clock_s();
    work();
    return device_clock_s() - start - LOOK;
}

/* ---------------------------------------------------------------------------------------------- clock and stream */

static void test_clock()
{
    simulate("resolution=0");
    const double first = device_clock_s(), second = device_clock_s();
    takes("the clock starts at 0, and a look at it costs 27 ns", first, 27e-9);
    takes("... each time", second - first, 27e-9);
    takes("a pause is spent on it", host_s([] { device_pause(3.5); }), 3.5);
    int *out = two_ints();
    device_synchronize();
    takes("a launch costs the host its part", host_s([=] { launch(tick, 1, 1, out); }), 2e-6);
    device_synchronize();
    takes("a launch and the waiting for it", host_s([=] {
              launch(tick, 1, 1, out);
              device_synchronize();
          }),
          2e-6 + 2e-6 + 1.5e-6 + 2e-6);
    takes("waiting for nothing", host_s([] { device_synchronize(); }), 2e-6);
    int got;
    takes("a transfer", host_s([&] { device_download(&got, out, sizeof got); }), 2e-6 + sizeof got * 4e-11);
    result("what is launched is carried out", got == 2, "%d launches seen", got);

    simulate("launch=3e-6,latency=4e-6,sync=5e-6,empty=6e-6,record=7e-6");
    out = two_ints();
    takes("all of these can be told", host_s([=] {
              launch(tick, 1, 1, out);
              device_synchronize();
          }),
          3e-6 + 4e-6 + 6e-6 + 5e-6);
    pair events;
    takes("the price of an event, too", host_s([&] { device_event_record(events.start); }), 7e-6);
}

static void test_feeding()
{
    simulate("resolution=0");
    int *out = two_ints();
    auto twenty = [=] {
        for (int i = 0; i < 20; i++)
            launch(tick, 1, 1, out);
    };
    takes("without a gate 20 short kernels show how fast they are fed", between_events_s(false, twenty),
          20 * 2e-6 + 1.5e-6);
    takes("with the gate they show themselves", gated_s(twenty), 20 * 1.5e-6);
    takes("nothing between two events takes no time", gated_s([] {}), 0);

    simulate("resolution=0,gap=5e-7");
    out = two_ints();
    takes("a gap precedes every kernel", gated_s(twenty), 20 * 2e-6);

    simulate("resolution=0,lasts=tick:1e-5");
    out = two_ints();
    takes("long kernels need no gate but for the first", between_events_s(false, twenty), 2e-6 + 20 * 1e-5);
    takes("and with it none shows", gated_s(twenty), 20 * 1e-5);

    simulate("resolution=0,thread=1e-9,byte=1e-10");
    out = two_ints();
    takes("a kernel lasts by its threads", gated_s([=] { launch(tick, 16, 256, out); }), 4096e-9);
    takes("or as long as an empty one", gated_s([=] { launch(tick, 4, 256, out); }), 1.5e-6);
    takes("memcpy by its bytes", gated_s([=] { launch_memcpy(out + 32, out, 128); }), 1.5e-6);
    char *bytes = static_cast<char *>(device_malloc(1 << 20));
    takes("... many of them", gated_s([=] { launch_memcpy(bytes, bytes + (1 << 19), 1 << 19); }), (1 << 19) * 1e-10);
    takes("memset, too", gated_s([=] { launch_memset(bytes, 0, 1 << 20); }), (1 << 20) * 1e-10);
    takes("a fill of the device's own", gated_s([=] { device_fill(bytes, 0, 1 << 20); }), (1 << 20) * 1e-10);
    const uint64_t before = device_launches();
    takes("the empty kernel", gated_s([] { device_launch_empty(); }), 1.5e-6);
    result("the empty kernel is not counted", device_launches() == before, "it is");
}

static void test_resolution()
{
    simulate("resolution=1e-6,lasts=tick:1.3e-6");
    int *out = two_ints();
    auto launches = [=](int count) {
        return gated_s([=] {
            for (int i = 0; i < count; i++)
                launch(tick, 1, 1, out);
        });
    };
    takes("the time between events is a multiple of the resolution", launches(1), 1e-6);
    takes("... the nearest", launches(3), 4e-6);
    takes("... or 0", gated_s([] {}), 0);
    takes("and the device says which it is", device_event_resolution_s(), 1e-6);
}

/* ---------------------------------------------------------------------------------------------- gate and queue */

static void test_gate()
{
    simulate("resolution=0,lasts=tock:0.4");
    int *out = two_ints();
    result("there is a gate", device_has_gate(), "there is none");
    result("it is closed and opened", device_gate_close() && device_gate_open(), "it is not");
    result("it cannot be closed twice", device_gate_close() && !device_gate_close(), "it can");
    device_gate_open();
    device_synchronize();

    pair events;
    device_gate_close();
    device_event_record(events.start);
    launch(tick, 1, 1, out);
    device_event_record(events.end);
    device_pause(0.4);
    result("a gate that is opened in time says so", device_gate_open(), "it does not");
    takes("and held all that time", events.elapsed_s(), 1.5e-6);

    device_gate_close();
    launch(tick, 1, 1, out);
    device_pause(0.6);
    result("a gate that has opened by itself says so", !device_gate_open(), "it does not");
    result("once", device_gate_close() && device_gate_open(), "the next one, too");
    device_synchronize();

    device_gate_close();
    launch(tick, 1, 1, out);
    double waited = host_s([] { device_synchronize(); });
    takes("waiting behind a closed gate lasts until it opens by itself", waited, 0.5 + 1.5e-6 + 2e-6 - LOOK);
    result("and it says so", !device_gate_open(), "it does not");

    device_gate_close();
    device_event_record(events.start);
    device_event_record(events.end);
    waited = host_s([&] { events.elapsed_s(); });
    takes("so does asking for an event behind it", waited, 0.5 + 2e-6 - 2 * 5e-7 + 2e-6 - LOOK);
    device_gate_open();
    device_synchronize();

    launch(tock, 1, 1, out);
    device_gate_close();
    device_pause(0.7);
    result("the deadline begins when the stream comes to the gate", device_gate_open(), "it has passed");
    device_synchronize();

    device_gate_close();
    struct device_event *event = device_event_create();
    device_event_record(event);
    device_event_destroy(event);
    device_gate_open();
    result("an event may be destroyed behind the gate", !device_synchronize(), "%s", device_error_text());

    simulate("gate=0");
    result("there may be none, as under a profiler",
           !device_has_gate() && !device_gate_close() && device_gate_open() && !device_error(), "there is one");

    simulate("resolution=0,release=5e-7");
    out = two_ints();
    takes("a gate that opens before the last work has come shows it", gated_s([=] { launch(tick, 1, 1, out); }),
          1.5e-6 + 1e-6);
}

static void test_queue()
{
    simulate("resolution=0,queue=4,lasts=tock:1e-3");
    int *out = two_ints();
    auto launches = [=](int count) {
        for (int i = 0; i < count; i++)
            launch(tick, 1, 1, out);
    };
    device_gate_close();
    takes("as many launches as the queue takes wait behind the gate", host_s([=] { launches(4); }), 4 * 2e-6);
    result("... and it is opened in time", device_gate_open(), "it is not");
    device_synchronize();
    device_gate_close();
    launches(4);
    const double waited = host_s([=] { launches(1); });
    result("one more waits for the gate's deadline", waited > 0.49 && waited < 0.51 && !device_gate_open(),
           "it waits %g s", waited);
    device_synchronize();

    const double all = host_s([=] {
        for (int i = 0; i < 6; i++)
            launch(tock, 1, 1, out);
    });
    takes("without a gate it waits until the first of them begins", all, 2e-6 + 2e-6 + 1e-3 + 2e-6);

    simulate("resolution=0");
    out = two_ints();
    device_gate_close();
    takes("a real queue takes 1024", host_s([=] { launches(1024); }), 1024 * 2e-6);
    result("... and the gate is opened in time", device_gate_open(), "it is not");
    device_synchronize();
    device_gate_close();
    launches(1025);
    result("but not 1025", !device_gate_open(), "it does");
}

/* ---------------------------------------------------------------------------------------------- disturbances */

static void test_first()
{
    simulate("resolution=0,first=1e-3");
    int *out = two_ints();
    auto one = [=] { launch(tick, 1, 1, out); };
    takes("the first launch of a kernel costs more", host_s(one), 1e-3 + 2e-6);
    takes("the second does not", host_s(one), 2e-6);
    double other = host_s([=] { launch(tock, 1, 1, out); });
    takes("every kernel has its first, and it waits for the stream", other, 2e-6 + 1.5e-6 - 2 * LOOK + 1e-3 + 2e-6);
    device_synchronize();
    takes("every instance of a template has its own", host_s([=] {
              launch(numbered<1>, 1, 1, out);
              device_synchronize();
              launch(numbered<2>, 1, 1, out);
          }),
          2 * (1e-3 + 2e-6) + 2e-6 + 1.5e-6 + 2e-6);
    device_synchronize();
    device_gate_close();
    launch(numbered<3>, 1, 1, out);
    result("behind a closed gate it waits until that opens by itself", !device_gate_open(), "it does not");
    device_synchronize();
    takes("a memset has none", host_s([=] { launch_memset(out, 0, 4); }), 2e-6);
    simulate("resolution=0,first=1e-3");
    out = two_ints();
    takes("a device opened anew has forgotten", host_s(one), 1e-3 + 2e-6);
}

static int compare(const void *a, const void *b)
{
    const double x = *static_cast<const double *>(a), y = *static_cast<const double *>(b);
    return (x > y) - (x < y);
}

constexpr int SAMPLES = 4001;

static const double *noisy(const char *specification)
{
    static double samples[SAMPLES];
    simulate(specification);
    int *out = two_ints();
    for (double &sample : samples)
        sample = gated_s([=] { launch(tick, 1, 1, out); });
    return samples;
}

static void test_noise()
{
    double first[SAMPLES], sum = 0;
    memcpy(first, noisy("resolution=0,noise=0.05,seed=7"), sizeof first);
    result("the same seed gives the same times", !memcmp(first, noisy("resolution=0,noise=0.05,seed=7"), sizeof first),
           "it does not");
    result("another seed gives others", memcmp(first, noisy("resolution=0,noise=0.05,seed=8"), sizeof first),
           "it does not");
    for (double sample : first)
        sum += pow(log(sample / 1.5e-6), 2);
    const double sigma = sqrt(sum / SAMPLES);
    result("noise is as large as it was said to be", fabs(sigma - 0.05) < 0.003, "%g, not 0.05", sigma);
    qsort(first, SAMPLES, sizeof *first, compare);
    const double median = first[SAMPLES / 2] / 1.5e-6 - 1; /* its deviation: 1.25 sigma / sqrt(SAMPLES) */
    result("and leaves the median", fabs(median) < 4 * 1.25 * 0.05 / sqrt(SAMPLES), "it is off by %g", median);

    const double *busy = noisy("resolution=0,busy=0.25:1e-3");
    int held_up = 0;
    bool whole = true;
    for (int i = 0; i < SAMPLES; i++) {
        const bool long_one = busy[i] > 1e-3;
        held_up += long_one;
        whole = whole && fabs(busy[i] - 1.5e-6 - (long_one ? 1e-3 : 0)) < 1e-11;
    }
    result("a neighbour holds up as many kernels as it was said to", abs(held_up - SAMPLES / 4) < 110 && whole,
           "%d of %d", held_up, SAMPLES);
}

static void test_drift_and_throttle()
{
    simulate("resolution=0,drift=0.5");
    int *out = two_ints();
    auto one_at = [&](double t) {
        device_synchronize();
        device_pause(t - device_clock_s());
        return gated_s([=] { launch(tick, 1, 1, out); });
    };
    result("a kernel drifts with the time at which it begins",
           fabs(one_at(1) / 1.5e-6 - 1.5) < 1e-4 && fabs(one_at(10) / 1.5e-6 - 6) < 1e-4, "it does not");

    simulate("resolution=0,throttle=1:1:2:4,lasts=tock:1e-4");
    out = two_ints();
    const double times[] = {0.5, 1.5, 2.5, 5.5, 6.5, 9.5}, factors[] = {1, 2, 1, 2, 1, 2};
    for (int i = 0; i < 6; i++) {
        char name[100];
        snprintf(name, sizeof name, "throttled at %.1f s: %s", times[i], factors[i] > 1 ? "yes" : "no");
        takes(name, one_at(times[i]), 1.5e-6 * factors[i]);
    }
    auto clock_at = [=](double t) {
        device_synchronize();
        device_pause(t - device_clock_s());
        device_sm_clock_mark(0);
        launch(tock, 1, 1, out);
        device_sm_clock_mark(1);
        device_synchronize();
        return device_sm_clock_mhz();
    };
    const double full = clock_at(11), half = clock_at(13.5), between = clock_at(17 - 0.5e-4 - 5.5e-6);
    result("the SM clock falls with it", fabs(full - 1980) < 1e-6 && fabs(half - 990) < 1e-6, "%g and %g MHz", full,
           half);
    result("between the two it is between them", fabs(between - 1485) < 50, "%g MHz", between);
    device_sm_clock_mark(0);
    device_sm_clock_mark(1);
    device_synchronize();
    result("marks too close together tell nothing", isnan(device_sm_clock_mhz()), "%g MHz", device_sm_clock_mhz());

    simulate("resolution=0,throttle=1:1:3");
    out = two_ints();
    const double during = one_at(1.5), after = one_at(2.5), later = one_at(5.5);
    result("without a period it happens once",
           fabs(during - 4.5e-6) < 1e-11 && fabs(after - 1.5e-6) < 1e-11 && fabs(later - 1.5e-6) < 1e-11,
           "%g, %g, %g s", during, after, later);
    simulate("clock=0,lasts=tock:1e-4");
    out = two_ints();
    device_sm_clock_mark(0);
    launch(tock, 1, 1, out);
    device_sm_clock_mark(1);
    device_synchronize();
    result("there may be no SM clock", isnan(device_sm_clock_mhz()), "%g MHz", device_sm_clock_mhz());
    device_gate_close();
    device_sm_clock_mark(0);
    launch(tock, 1, 1, out);
    device_sm_clock_mark(1);
    result("marks may stand behind a gate", device_gate_open() && !device_synchronize(), "they may not");
}

static void test_cold()
{
    char why[200] = "";
    simulate("resolution=0,cold=3,l2=1000000,byte=1e-9");
    int *out = two_ints();
    auto two = [=] {
        launch(tick, 1, 1, out);
        launch(tick, 1, 1, out);
    };
    result("a cold cache can be had", device_cold_prepare(why, sizeof why), "%s", why);
    device_synchronize();
    takes("it takes overwriting and reading", host_s([] {
              device_make_cold();
              device_synchronize();
          }),
          2e-6 + 2e-6 + 4e-3 + 2e-6);
    takes("the first kernel afterwards is slower, no other", gated_s(two), (3 + 1) * 1.5e-6);
    takes("and only afterwards", gated_s(two), 2 * 1.5e-6);
    simulate("l2=0");
    why[0] = 0;
    result("with an unknown L2 it is refused with a reason", !device_cold_prepare(why, sizeof why) && why[0], "%s",
           why);
}

/* ---------------------------------------------------------------------------------------------- graphs */

static void run_five(const struct problem *problem)
{
    int *out = static_cast<int *>(problem->out);
    for (int i = 0; i < 4; i++)
        launch(tick, 1, 1, out);
    launch(tock, 1, 1, out);
}

static const struct algorithm five = {.name = "five", .runs_on = DEVICE, .run = run_five};

static void test_graphs()
{
    char why[200] = "";
    simulate("resolution=0,gap=1e-6,graph_gap=1e-7,first=1e-3");
    int *out = two_ints();
    const struct problem problem = {.n = 1, .out = out};
    struct device_graph *graph = device_graph_capture(&five, &problem, why, sizeof why);
    result("a graph is captured", graph && device_graph_launches(graph) == 5, "%s", why);
    if (!graph)
        return;
    device_synchronize();
    takes("replaying it costs the host one call", host_s([=] { device_graph_replay(graph); }), 5e-6);
    device_synchronize();
    takes("its kernels follow each other closely", gated_s([=] { device_graph_replay(graph); }),
          1e-6 + 5 * 1.5e-6 + 4 * 1e-7);
    device_synchronize();
    takes("without a gate it is the call that shows", between_events_s(false, [=] { device_graph_replay(graph); }),
          5e-6 + 5 * 1.5e-6 + 4 * 1e-7);
    int got[2];
    device_download(got, out, sizeof got);
    result("it is carried out each time", got[0] == 12 && got[1] == 3, "%d and %d launches seen", got[0], got[1]);
    device_graph_destroy(graph);

    simulate("resolution=0,queue=2");
    out = two_ints();
    const struct problem other = {.n = 1, .out = out};
    graph = device_graph_capture(&five, &other, why, sizeof why);
    device_gate_close();
    device_graph_replay(graph);
    device_graph_replay(graph);
    result("it takes one place in the queue", device_gate_open(), "it takes more");
    device_graph_destroy(graph);
}

/* ---------------------------------------------------------------------------------------------- properties */

static void test_properties()
{
    struct device_properties p;
    simulate("seed=1");
    device_get_properties(&p);
    result("a simulated GPU says what it is",
           p.simulated && !strcmp(p.kind, "cpu") && !strncmp(p.name, "simulated", 9) && p.compute_major == 9 &&
               p.compute_minor == 0 && p.sm_clock_max_mhz == 1980 && p.mem_clock_max_mhz && p.mem_bus_bits &&
               p.l2_bytes && !p.mig && !p.wsl && !p.uuid[0] && p.temperature_c == -1 && p.other_processes == -1 &&
               p.clocks_locked == -1 && isnan(p.power_limit_w) && p.memory_bytes == 64 << 20,
           "%s %d.%d", p.name, p.compute_major, p.compute_minor);
    simulate("name=NVIDIA H200/MIG 1g,cc=8.6,sm=7,clock=1500,memclock=0,bus=384,l2=4096,mig=1,wsl=1,uuid=MIG-1234,"
             "temperature=41,power=250,processes=2,locked=0,driver=570.1");
    device_get_properties(&p);
    result("or what it is told to be",
           !strcmp(p.name, "NVIDIA H200/MIG 1g") && p.compute_major == 8 && p.compute_minor == 6 && p.sm_count == 7 &&
               p.sm_clock_max_mhz == 1500 && p.mem_clock_max_mhz == 0 && p.mem_bus_bits == 384 && p.l2_bytes == 4096 &&
               p.mig && p.wsl && !strcmp(p.uuid, "MIG-1234") && p.temperature_c == 41 && p.power_limit_w == 250 &&
               p.other_processes == 2 && p.clocks_locked == 0 && !strcmp(p.driver, "570.1"),
           "%s %d.%d", p.name, p.compute_major, p.compute_minor);
    struct device_options real = {};
    real.workers = 1;
    real.memory_bytes = 1 << 20;
    char why[200];
    device_close();
    device_open(0, &real, why, sizeof why);
    device_get_properties(&p);
    const double now = device_clock_s();
    device_pause(0.002);
    const double pause = device_clock_s() - now;
    result("without a specification nothing is simulated",
           !p.simulated && !device_has_gate() && pause > 0.0019 && isnan(device_sm_clock_mhz()), "%s", p.name);
}

/* ---------------------------------------------------------------------------------------------- faults */

static void test_open_faults()
{
    const struct {
        const char *specification, *text;
        int error;
    } cases[] = {{"open=35", "driver", 35},
                 {"open=100", "no NVIDIA GPU", 100},
                 {"open=209,cc=7.5", "SM=75", 209},
                 {"open=46", "46", 46}};
    for (auto &c : cases) {
        char why[400] = "", name[100];
        const int error = opens(c.specification, why, sizeof why);
        snprintf(name, sizeof name, "%s: the device does not open", c.specification);
        result(name, error == c.error && strstr(why, c.text) && !strchr(why, '\n'), "%d, %s", error, why);
    }
    simulate("seed=1");
    result("and then it does", !device_error(), "%s", device_error_text());
}

static void test_launch_faults()
{
    simulate("malloc=3");
    void *arrays[4];
    for (void *&array : arrays)
        array = device_malloc(256);
    result("the third array has no memory", arrays[0] && arrays[1] && !arrays[2] && arrays[3] && !device_error(), "%s",
           device_error_text());

    simulate("malloc=2:2");
    for (void *&array : arrays)
        array = device_malloc(256);
    result("the second and the third have none", arrays[0] && !arrays[1] && !arrays[2] && arrays[3],
           "others have none");

    simulate("fail=tick@4:700");
    int *out = two_ints(), got[2];
    launch(tick, 3, 1, out);
    launch(tock, 4, 1, out);
    result("other numbers of blocks and other kernels do not fail", !device_synchronize(), "%s", device_error_text());
    const uint64_t before = device_launches();
    launch(tick, 4, 1, out);
    launch(tock, 1, 1, out);
    result("nobody hears of a failed kernel at once", !device_error(), "%s", device_error_text());
    result("but who waits for the stream does",
           device_synchronize() == 700 && device_launches() == before + 2 && strstr(device_error_text(), "tick") &&
               strstr(device_error_text(), "cudaErrorIllegalAddress"),
           "%d, %s", device_error(), device_error_text());
    result("neither it nor what followed was carried out", out[0] == 1 && out[1] == 1, "%d, %d", out[0], out[1]);
    launch(tock, 1, 1, out);
    result("the error sticks", device_synchronize() == 700 && out[1] == 1 && !device_malloc(1), "it does not");
    simulate("seed=1");
    result("until the device is opened anew", !device_error(), "%s", device_error_text());

    simulate("fail=tick#3:719,fail=tock:2");
    out = two_ints();
    launch(tick, 1, 1, out);
    launch(tick, 1, 1, out);
    result("the third launch fails", !device_synchronize(), "the second did");
    launch(tick, 1, 1, out);
    device_download(got, out, sizeof got);
    result("... and a download hears of it", device_error() == 719, "%d", device_error());
    simulate("fail=tick#3:719,fail=tock:2");
    out = two_ints();
    pair events;
    device_event_record(events.start);
    launch(tock, 1, 1, out);
    device_event_record(events.end);
    const double none = events.elapsed_s();
    result("any error can be told, and who asks for an event hears of it", device_error() == 2 && none == 0, "%d",
           device_error());

    simulate("wrong=numbered,fail=memset:716");
    out = two_ints();
    launch(numbered<9>, 1, 1, out);
    result("a wrong kernel does nothing, and no error tells", !device_synchronize() && out[2] == 0, "%d", out[2]);
    launch_memset(out, 0, 4);
    result("a memset fails, too", device_synchronize() == 716, "%d", device_error());
}

/* How a child that runs `work` ends: its status, or -1 where it had to be killed after a while. */
template <class F> static int child_status(const char *specification, F work)
{
    int status;
    device_close();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(3);
        simulate(specification);
        work();
        _exit(0);
    }
    for (int i = 0; i < 40; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static void test_hangs()
{
    const char *hang = "hang=tick@2";
    result("a hung kernel's launch returns, and other kernels are not hung",
           child_status(hang,
                        [] {
                            int *out = two_ints();
                            launch(tick, 1, 1, out);
                            if (device_synchronize())
                                _exit(1);
                            launch(tick, 2, 1, out);
                        }) == 0,
           "it does not");
    result("who waits for it waits for ever",
           child_status(hang,
                        [] {
                            int *out = two_ints();
                            launch(tick, 2, 1, out);
                            device_synchronize();
                        }) == -1,
           "the wait has ended");
    result("... for an event behind it, too",
           child_status(hang,
                        [] {
                            int *out = two_ints();
                            gated_s([=] { launch(tick, 2, 1, out); });
                        }) == -1,
           "the wait has ended");
    result("... and for a place in its queue",
           child_status("hang=tick,queue=8",
                        [] {
                            int *out = two_ints();
                            for (int i = 0; i < 10; i++)
                                launch(tick, 1, 1, out);
                        }) == -1,
           "the wait has ended");
    const int status = child_status("crash=tock", [] {
        int *out = two_ints();
        launch(tock, 1, 1, out);
    });
    result("a crash ends the program", status > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %d",
           status);
}

/* ---------------------------------------------------------------------------------------------- specifications */

static void test_specifications()
{
    const struct {
        const char *text, *says;
    } cases[] = {
        {"", "key=value"},
        {"noise", "key=value"},
        {"noise=0.1,", "key=value"},
        {"nosie=0.1", "\"noise\""},
        {"frist=1", "\"first\""},
        {"zzzzzz=1", "zzzzzz"},
        {"=1", "nothing that can be simulated"},
        {"noise=", "noise="},
        {"noise=abc", "noise=abc"},
        {"noise=0.1x", "noise=0.1x"},
        {"noise=-1", "from 0"},
        {"noise=nan", "noise=nan"},
        {"noise=1:2", "noise=1:2"},
        {"noise=0.1,noise=0.2", "twice"},
        {"queue=0", "from 1"},
        {"queue=1.5", "whole number"},
        {"gate=2", "from 0 to 1"},
        {"throttle=1:2", "NUMBER:NUMBER:NUMBER[:NUMBER]"},
        {"throttle=1:2:3:4:5", "throttle="},
        {"throttle=1:2:0.5", "below 1"},
        {"throttle=1:2:2:1", "longer than the period"},
        {"busy=2:1e-3", "above 1"},
        {"busy=0.1", "NUMBER:NUMBER"},
        {"cold=0.5", "from 1"},
        {"name=", "name="},
        {"fail=tick", "CODE"},
        {"fail=:700", "KERNEL"},
        {"fail=tick@:700", "KERNEL"},
        {"fail=tick@0:700", "KERNEL"},
        {"fail=tick#x:700", "KERNEL"},
        {"fail=tick:0", "CODE"},
        {"hang=tick:1", "KERNEL"},
        {"lasts=tick", "SECONDS"},
        {"malloc=0", "from 1"},
    };
    char why[200], name[120];
    for (auto &c : cases) {
        why[0] = 0;
        const bool good = device_can_simulate(c.text, why, sizeof why);
        snprintf(name, sizeof name, "\"%s\" is refused", c.text);
        result(name, !good && strstr(why, c.says) && !strchr(why, '\n'), "\"%s\" does not say \"%s\"", why, c.says);
    }
    result("open refuses, too", opens("noise=abc", why, sizeof why) != 0 && strstr(why, "noise=abc"), "%s", why);
    result("all that is documented is known",
           device_can_simulate("launch=1,latency=1,gap=0,empty=1,thread=1,byte=1,record=1,sync=1,graph=1,graph_gap=1,"
                               "transfer=1,release=1,queue=7,gate=1,resolution=0,seed=3,noise=1,drift=1,"
                               "throttle=1:1:1:1,busy=1:1,first=1,cold=1,name=a b,uuid=x,cc=9.0,sm=1,clock=1,"
                               "memclock=1,bus=1,l2=1,driver=1,mig=1,wsl=1,temperature=1,power=1,processes=1,locked=1,"
                               "open=1,malloc=1:9,fail=a@1#2:3,fail=b:4,hang=a,crash=a,wrong=a#2,lasts=a@3:1e-3",
                               why, sizeof why),
           "%s", why);
}

static void test_speed()
{
    constexpr int LAUNCHES = 200000;
    simulate("noise=0.01,first=1e-4,busy=0.01:1e-6,drift=1e-3");
    int *out = two_ints();
    const clock_t start = clock();
    for (int i = 0; i < LAUNCHES; i++)
        launch(tick, 1, 1, out);
    device_synchronize();
    const double each_s = double(clock() - start) / CLOCKS_PER_SEC / LAUNCHES;
    char name[100];
    snprintf(name, sizeof name, "a launch takes %.2f us of the host", each_s * 1e6);
    result(name, each_s < 2e-6 && out[0] == LAUNCHES, "more than 2 us");
}

int main(void)
{
    test_clock();
    test_feeding();
    test_resolution();
    test_gate();
    test_queue();
    test_first();
    test_noise();
    test_drift_and_throttle();
    test_cold();
    test_graphs();
    test_properties();
    test_open_faults();
    test_launch_faults();
    test_hangs();
    test_specifications();
    test_speed();
    device_close();
    return failures != 0;
}
