/* SPDX-License-Identifier: MIT */
/*
 * A libnvidia-ml.so.1 for tests/nvml: two GPUs, of which one is cut into slices. What it says comes from the
 * environment: FAKE_REASONS, FAKE_SM_CLOCK, FAKE_APPLICATION_CLOCK, FAKE_PIDS (a list), FAKE_INIT (what nvmlInit
 * returns), FAKE_SLEEP (seconds that asking for the temperature takes). Built with -DBARE it has no more than it takes
 * to find a GPU; with -DBEFORE_535, the older name of one function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

static char whole, slice; /* their addresses are the handles */
static int started;

static unsigned long number(const char *variable, unsigned long otherwise)
{
    const char *value = getenv(variable);
    return value ? strtoul(value, NULL, 0) : otherwise;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);

int nvmlInit_v2(void)
{
    started++;
    return (int)number("FAKE_INIT", OK);
}

/* Tells how often it has been started and not stopped. */
int nvmlShutdown(void)
{
    started--;
    if (getenv("FAKE_LOG")) {
        FILE *log = fopen(getenv("FAKE_LOG"), "a");
        if (log) {
            fprintf(log, "shut down, %d left\n", started);
            fclose(log);
        }
    }
    return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    if (!started)
        return UNINITIALIZED;
    if (!strcmp(uuid, "GPU-11111111-2222-3333-4444-555555555555"))
        *device = &whole;
    else if (!strcmp(uuid, "MIG-11111111-2222-3333-4444-555555555555"))
        *device = &slice;
    else
        return NOT_FOUND;
    return OK;
}

#ifndef BARE
static char sliced; /* the GPU of `slice` */

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *device, void **parent);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *mhz);
int nvmlDeviceGetClock(void *device, int which, int setting, unsigned *mhz);
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, struct process *list);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *device, void **parent)
{
    if (device != &slice)
        return INVALID_ARGUMENT;
    *parent = &sliced;
    return OK;
}

/* A slice has no sensors, no limits and no clocks. */
static int is_board(const void *device)
{
    return started && (device == &whole || device == &sliced);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    if (!is_board(device) || sensor != 0)
        return NOT_SUPPORTED;
    sleep((unsigned)number("FAKE_SLEEP", 0));
    *celsius = device == &whole ? 41 : 52;
    return OK;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
    if (!is_board(device))
        return NOT_SUPPORTED;
    *milliwatts = device == &whole ? 700000 : 350500;
    return OK;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
    if (!is_board(device) || (which != 1 && which != 2))
        return NOT_SUPPORTED;
    *mhz = which == 1 ? (unsigned)number("FAKE_SM_CLOCK", 1980) : 3201;
    return OK;
}

int nvmlDeviceGetMaxClockInfo(void *device, int which, unsigned *mhz)
{
    if (!is_board(device) || which != 1)
        return NOT_SUPPORTED;
    *mhz = 1980;
    return OK;
}

int nvmlDeviceGetClock(void *device, int which, int setting, unsigned *mhz)
{
    if (!is_board(device) || which != 1 || (setting != 1 && setting != 2))
        return NOT_SUPPORTED;
    *mhz = setting == 1 ? (unsigned)number("FAKE_APPLICATION_CLOCK", 1980) : 1980;
    return OK;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, struct process *list)
{
    const char *pids = getenv("FAKE_PIDS");
    unsigned found = 0;
    if (!started || device == &sliced)
        return NOT_SUPPORTED;
    for (char *end; pids && *pids; pids = end + strspn(end, " ")) {
        unsigned pid = (unsigned)strtoul(pids, &end, 10);
        if (end == pids)
            break;
        if (found == *count)
            return INSUFFICIENT_SIZE;
        list[found++] = (struct process){pid == 0 ? (unsigned)getpid() : pid, 1 << 20, 0, 0};
    }
    *count = found;
    return OK;
}

#ifndef BEFORE_535
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons)
#else
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
#endif
{
    if (!is_board(device))
        return NOT_SUPPORTED;
    *reasons = number("FAKE_REASONS", 0);
    return OK;
}
#endif
