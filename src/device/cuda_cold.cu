// SPDX-License-Identifier: MIT
/*
 * Cold caches. Overwriting a buffer as large as the L2 throws out what was there, and fills it with lines that are yet
 * to be written back: whoever comes next would pay for that. Reading three times as much clean memory throws those out,
 * too. Which line goes first is the hardware's secret; three times the cache leaves little to it.
 */
#include "cuda.h"

#include <cstdio>

static unsigned char *dirty; /* cache_bytes, and one uint4 that is never written */
static uint4 *clean;         /* 3 * cache_bytes */
static size_t cache_bytes;

constexpr int THREADS = 512, BLOCKS_PER_SM = 4, CLEAN_BYTE = 0x5A;

/* Past the L1, which keeps nothing from kernel to kernel. The compiler cannot know that the buffer's words are all
 * equal, and that four of them cancel out: it has to read them. */
static __global__ void read_all(const uint4 *from, size_t count, uint4 *never)
{
    uint4 sum = {0, 0, 0, 0};
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
        uint4 x = __ldcg(from + i);
        sum.x ^= x.x;
        sum.y ^= x.y;
        sum.z ^= x.z;
        sum.w ^= x.w;
    }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) != 0)
        *never = sum;
}

bool device_cold_prepare(char *why, size_t size)
{
    struct device_properties properties;
    if (dirty)
        return true;
    device_get_properties(&properties);
    cache_bytes = properties.l2_bytes / sizeof(uint4) * sizeof(uint4);
    if (cache_bytes == 0) {
        snprintf(why, size, "caches of this GPU cannot be made cold: CUDA does not tell how large its L2 is");
        return false;
    }
    dirty = static_cast<unsigned char *>(device_malloc(cache_bytes + sizeof(uint4)));
    clean = static_cast<uint4 *>(device_malloc(3 * cache_bytes));
    if (!dirty || !clean) {
        if (dirty)
            device_free(dirty);
        if (clean)
            device_free(clean);
        cold_stop();
        snprintf(why, size, "caches of this GPU cannot be made cold: that takes %llu MiB of its memory",
                 static_cast<unsigned long long>((4 * cache_bytes >> 20) + 1));
        return false;
    }
    device_fill(clean, CLEAN_BYTE, 3 * cache_bytes);
    device_make_cold(); /* loads the kernel */
    if (device_synchronize()) {
        snprintf(why, size, "%s", device_error_text());
        return false;
    }
    return true;
}

void device_make_cold(void)
{
    if (!dirty || gpu.error)
        return;
    CHECK(cudaMemsetAsync(dirty, 0, cache_bytes, gpu.stream));
    read_all<<<unsigned(BLOCKS_PER_SM * gpu.sm_count), THREADS, 0, gpu.stream>>>(
        clean, 3 * cache_bytes / sizeof(uint4), reinterpret_cast<uint4 *>(dirty + cache_bytes));
    CHECK(cudaGetLastError());
}

void cold_stop(void)
{
    dirty = nullptr;
    clean = nullptr;
}
