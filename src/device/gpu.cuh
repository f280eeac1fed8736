/* SPDX-License-Identifier: MIT */
/*
 * The device as a kernel sees it: CUDA's own words. Under nvcc they are CUDA's; elsewhere the CPU device supplies
 * them (cpu/words.cuh). Only what C++ cannot spell, and what has to be counted, gets a word of its own:
 *
 *     launch(kernel, blocks, threads, args...)            kernel<<<blocks, threads>>>(args...)
 *     launch_cooperative(kernel, blocks, threads, args...)  ... with all blocks resident
 *     launch_memcpy(to, from, bytes)                      cudaMemcpyAsync, device to device
 *     launch_memset(to, byte, bytes)                      cudaMemsetAsync
 *     SHARED(T, name, count)                              __shared__ T name[count];
 *     resident_blocks(kernel, threads)                    so many of its blocks the device holds at once, at least 1
 *     compute_capability()                                10 * major + minor: what the device can do
 *     cooperative_launches()                              can the device carry out launch_cooperative?
 *     count_lookback(tiles)                               a tile has looked at so many before it: for the count build
 *
 * What launches goes to the harness's stream and is counted. A kernel name with a comma in its template arguments needs
 * parentheses: launch((scan_tile<Op, 4>), ...). What asks about the device wants an open one: it is for run(),
 * prepare() and refuse(), not for workspace(), which the planner asks without. cuda::atomic_ref is in
 * device/atomic.cuh, cooperative_groups::this_grid() in device/cooperative.cuh; __trap() ends a launch whose wait has
 * lasted too long.
 */
#ifndef GPU_CUH
#define GPU_CUH

#include "scan.h"

#ifdef __CUDACC__

#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <type_traits>

extern "C" cudaStream_t device_stream(void); /* the harness's stream */
/* Counts one launch and keeps its error, if any. */
extern "C" void device_launched(const char *what, cudaError_t error);
/* Keeps the error of a call that launches by itself and is not counted. cudaSuccess is none. */
extern "C" void device_called(const char *what, cudaError_t error);

template <class... P, class... A>
void launch_kernel(const char *name, void (*kernel)(P...), dim3 blocks, dim3 threads, A... args)
{
    kernel<<<blocks, threads, 0, device_stream()>>>(static_cast<P>(args)...);
    device_launched(name, cudaGetLastError());
}

template <class... P, class... A>
void launch_kernel_cooperative(const char *name, void (*kernel)(P...), dim3 blocks, dim3 threads, A... args)
{
    auto call = [&](P... values) {
        void *pointers[] = {static_cast<void *>(&values)..., nullptr};
        return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), blocks, threads, pointers, 0,
                                           device_stream());
    };
    device_launched(name, call(static_cast<P>(args)...));
}

/* Asks CUDA once for each kernel and number of threads, and keeps the error of that. */
extern "C" uint64_t device_resident_blocks(const char *name, const void *kernel, int threads);

template <class... P> uint64_t most_resident(const char *name, void (*kernel)(P...), int threads)
{
    return device_resident_blocks(name, reinterpret_cast<const void *>(kernel), threads);
}

extern "C" int device_compute_capability(void);
extern "C" bool device_cooperative_launches(void);

#define resident_blocks(kernel, threads) most_resident(#kernel, kernel, threads)
#define compute_capability() device_compute_capability()
#define cooperative_launches() device_cooperative_launches()
#define launch(kernel, ...) launch_kernel(#kernel, kernel, __VA_ARGS__)
#define launch_cooperative(kernel, ...) launch_kernel_cooperative(#kernel, kernel, __VA_ARGS__)

static inline void launch_memcpy(void *to, const void *from, size_t bytes)
{
    device_launched("memcpy", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device_stream()));
}

static inline void launch_memset(void *to, int byte, size_t bytes)
{
    device_launched("memset", cudaMemsetAsync(to, byte, bytes, device_stream()));
}

#define SHARED(T, name, count) __shared__ T name[count]

/* Additions are counted on the GPU where check asks for it, on i32 with sum alone: every counted operator is a kernel
 * more to compile. Each file counts for itself, and tells the device where. */
extern "C" bool device_counting(void);
extern "C" bool device_counts_in(const void *symbol);
[[maybe_unused]] static __device__ unsigned long long additions_here;
[[maybe_unused]] static const bool additions_told = device_counts_in(&additions_here);

static __device__ __forceinline__ void count_addition()
{
    atomicAdd(&additions_here, 1ull);
}
[[maybe_unused]] static __device__ __forceinline__ void count_lookback(uint64_t) {}

#else
#include "device/cpu/words.cuh"
#endif

#include "operators.cuh"

#endif
