/* SPDX-License-Identifier: MIT */
/* Clocks, events and the gate: the host's clock, or that of a simulated GPU. Without the latter, work is carried out
 * within the call that launches it: nothing is left to be held back or waited for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "device/cpu/block.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simulate.h"

double device_clock_s(void)
{
    return simulated ? simulate_clock_s() : clock_s();
}

void device_pause(double seconds)
{
    if (!(seconds > 0))
        return;
    if (simulated) {
        simulate_pause(seconds);
        return;
    }
    struct timespec left = {time_t(seconds), long((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* ---------------------------------------------------------------------------------------------- events */

struct device_event {
    double time_s;
};

struct device_event *device_event_create(void)
{
    return static_cast<struct device_event *>(calloc(1, sizeof(struct device_event)));
}

void device_event_destroy(struct device_event *event)
{
    if (simulated && event)
        simulate_forget(&event->time_s);
    free(event);
}

void device_event_record(struct device_event *event)
{
    if (simulated)
        simulate_record(&event->time_s);
    else
        event->time_s = clock_s();
}

double device_event_elapsed_s(const struct device_event *start, const struct device_event *end)
{
    return simulated ? simulate_elapsed_s(&start->time_s, &end->time_s) : end->time_s - start->time_s;
}

/* The smallest step seen between two readings of the clock. */
double device_event_resolution_s(void)
{
    if (simulated)
        return simulate_resolution_s();
    double finest = 1;
    for (int i = 0; i < 1000; i++) {
        const double start = clock_s();
        double now = start;
        while (now == start)
            now = clock_s();
        if (now - start < finest)
            finest = now - start;
    }
    return finest;
}

/* ---------------------------------------------------------------------------------------------- the gate */

bool device_has_gate(void)
{
    return simulated && simulate_has_gate();
}

bool device_gate_close(void)
{
    return simulated && simulate_gate_close();
}

bool device_gate_open(void)
{
    return !simulated || simulate_gate_open();
}

/* ---------------------------------------------------------------------------------------------- the SM clock */

void device_sm_clock_mark(int mark)
{
    if (simulated)
        simulate_clock_mark(mark);
}

double device_sm_clock_mhz(void)
{
    return simulated ? simulate_clock_mhz() : NAN;
}

/* Nobody listens. */
void device_profile(bool) {}
