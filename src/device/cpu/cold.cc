/* SPDX-License-Identifier: MIT */
/* Cold caches of the host: the buffers are the host's, so that the device's memory is as large as it was said to be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cpu/cpu.h"
#include "device/cpu/simulate.h"

static size_t cache_bytes; /* 0: not prepared */
static char *dirty, *clean;
constexpr size_t CLEAN = 3; /* times the cache */

/* The largest that the host knows of; 0: it knows of none. */
static size_t largest_cache()
{
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const long largest = l2 > l3 ? l2 : l3;
    return largest > 0 ? size_t(largest) : 0;
}

bool device_cold_prepare(char *why, size_t size)
{
    if (simulated) {
        if (!simulate_l2_bytes())
            snprintf(why, size, "the size of the simulated GPU's L2 is unknown (l2=0)");
        return simulate_l2_bytes() != 0;
    }
    if (cache_bytes)
        return true;
    const size_t bytes = largest_cache();
    if (!bytes) {
        snprintf(why, size, "the host does not know the size of its caches");
        return false;
    }
    dirty = static_cast<char *>(malloc(bytes));
    clean = static_cast<char *>(malloc(CLEAN * bytes));
    if (!dirty || !clean) {
        snprintf(why, size, "the host has no %zu MiB to empty its caches with", ((1 + CLEAN) * bytes) >> 20);
        cpu_cold_close();
        return false;
    }
    memset(clean, 0x5a, CLEAN * bytes);
    cache_bytes = bytes;
    return true;
}

void device_make_cold(void)
{
    if (simulated) {
        simulate_make_cold();
        return;
    }
    if (!cache_bytes || device_error())
        return;
    constexpr size_t LINE = 64;
    memset(dirty, 0x5a, cache_bytes);
    const volatile char *line = clean; /* volatile: the reading is what is wanted */
    for (size_t i = 0; i < CLEAN * cache_bytes; i += LINE)
        (void)line[i];
}

void cpu_cold_close(void)
{
    free(dirty);
    free(clean);
    dirty = clean = nullptr;
    cache_bytes = 0;
}
