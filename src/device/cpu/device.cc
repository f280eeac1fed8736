/* SPDX-License-Identifier: MIT */
/* The CPU device as the harness sees it: there is always exactly one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/counts.h"
#include "device/cpu/block.h"
#include "device/cpu/cpu.h"
#include "device/cpu/observe.h"
#include "device/cpu/simulate.h"

static bool is_open;
constexpr uint64_t MOST_OBSERVED = UINT64_C(2) << 30;
constexpr int CAPTURE_ERROR = 900; /* cudaErrorStreamCaptureUnsupported */

#ifndef SCANBENCH_COUNT
const struct counter *device_counter(void)
{
    return nullptr;
}
#endif

const char *device_kind(void)
{
    return "cpu";
}

int device_count(int *count, char *why, size_t size)
{
    *count = 1;
    if (size)
        why[0] = 0;
    return 0;
}

static uint64_t host_memory_bytes(void)
{
    return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
}

static int refused_memory(void)
{
    if (simulated)
        simulate_end();
    return DEVICE_ERROR_MEMORY;
}

int device_open(int index, const struct device_options *options, char *why, size_t size)
{
    if (index != 0) {
        snprintf(why, size, "device %d: there is one CPU device, number 0", index);
        return 101;
    }
    if (is_open)
        device_close();
    if (options->simulate) {
        if (!device_can_simulate(options->simulate, why, size))
            return 1;
        simulate_begin(options->simulate);
        const int error = simulate_open_error(why, size);
        if (error) {
            simulate_end();
            return error;
        }
    }
    struct device_options all = *options;
    if (!all.memory_bytes)
        all.memory_bytes = host_memory_bytes() / 2;
    if (all.workers <= 0)
        all.workers = int(sysconf(_SC_NPROCESSORS_ONLN));
    if (all.launch_limit_s <= 0)
        all.launch_limit_s = 60;
    if (OBSERVED) { /* what is kept for every word of memory has its limit, and knows of one worker */
        all.workers = 1;
        if (all.memory_bytes > MOST_OBSERVED) {
            if (options->memory_bytes) {
                snprintf(why, size, "the count build has at most %llu MiB of device memory (--memory)",
                         static_cast<unsigned long long>(MOST_OBSERVED >> 20));
                return refused_memory();
            }
            all.memory_bytes = MOST_OBSERVED;
        }
    }
    if (!cpu_memory_open(all.memory_bytes)) {
        snprintf(why, size, "the host refuses %llu MiB for the CPU device's memory (--memory)",
                 static_cast<unsigned long long>(all.memory_bytes >> 20));
        return refused_memory();
    }
    cpu_clear_error();
    cpu_detour = simulated;
    cpu_start(&all);
    is_open = true;
    return 0;
}

void device_close(void)
{
    if (!is_open)
        return;
    cpu_stop();
    cpu_memory_close();
    cpu_cold_close();
    cpu_clear_error();
    if (simulated)
        simulate_end();
    cpu_detour = false;
    is_open = false;
}

void device_get_properties(struct device_properties *properties)
{
    memset(properties, 0, sizeof *properties);
    snprintf(properties->kind, sizeof properties->kind, "%s", device_kind());
    properties->ecc = -1;
    properties->sm_count = worker_count;
    properties->memory_bytes = cpu_options.memory_bytes;
    if (simulated) {
        simulate_properties(properties);
        return;
    }
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    properties->l2_bytes = l2 > 0 ? uint64_t(l2) : 0;
    snprintf(properties->name, sizeof properties->name, "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            snprintf(properties->name, sizeof properties->name, "%.*s", int(strcspn(colon + 2, "\n")), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

int device_synchronize(void)
{
    if (cpu_capture_forbids("device_synchronize"))
        return CAPTURE_ERROR;
    if (simulated && !device_error())
        simulate_synchronize();
    return device_error();
}

void *device_pinned_malloc(size_t bytes)
{
    return malloc(bytes);
}

void device_pinned_free(void *pointer)
{
    free(pointer);
}
