/* SPDX-License-Identifier: MIT */
/* What simulate.h describes key by key, read. */
#ifndef SPECIFICATION_H
#define SPECIFICATION_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind { FAULT_FAIL, FAULT_HANG, FAULT_CRASH, FAULT_WRONG, FAULT_LASTS };

struct fault {
    enum fault_kind kind;
    char kernel[64];
    uint64_t blocks; /* 0: any number */
    uint64_t from;   /* the first launch that it hits, from 1 */
    double value;    /* error code, or seconds */
};

constexpr int MOST_FAULTS = 16;

struct specification {
    double launch = 2e-6, latency = 2e-6, gap = 0, empty = 1.5e-6, thread = 1e-3 / (1 << 28), byte = 5e-13;
    double record = 5e-7, sync = 2e-6, graph = 5e-6, graph_gap = 0, transfer = 4e-11, release = 3e-6;
    double resolution = 5e-7;
    uint64_t queue = 1024, gate = 1, seed = 1;

    double noise = 0, drift = 0;
    double throttle[4] = {0, 0, 1, 0}; /* start, length, factor, period */
    double busy[2] = {0, 0};           /* probability, seconds */
    double first = 0, cold = 1;

    char name[128] = "simulated GPU", uuid[48] = "", driver[32] = "";
    double capability = 9.0;
    uint64_t sm = 132, clock = 1980, memclock = 2619, bus = 5120, l2 = 50 << 20, mig = 0, wsl = 0, cooperative = 1;
    double temperature = -1, power = NAN, processes = -1, locked = -1;

    uint64_t open = 0;
    double malloc[2] = {0, 1}; /* the first that fails, and how many */
    struct fault faults[MOST_FAULTS] = {};
    int fault_count = 0;
};

/* False and one line in `why` that names what is wrong, and `specification` is not to be used. */
bool specification_parse(const char *text, struct specification *specification, char *why, size_t size);

#endif
