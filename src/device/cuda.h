/* SPDX-License-Identifier: MIT */
/* What the files of the CUDA device share. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "device/device.h"
#include "device/gpu.cuh"

/* The GPU that is open: one stream, one error, one count of launches. */
struct cuda_device {
    int number; /* -1: none is open */
    cudaStream_t stream;
    int sm_count, compute_capability; /* 10 * major + minor */
    bool cooperative_launches;
    int error; /* the first; it sticks */
    char error_text[400];
    uint64_t launches;
};
extern struct cuda_device gpu;

/* Keeps `error` if it is the first. True: there is none, now or before. */
bool cuda_keep(const char *what, cudaError_t error);

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define CHECK(call) cuda_keep(__FILE__ ":" TEXT(__LINE__) " " #call, call)

/* Called once the stream is there, and before the context goes with all that belongs to it. What is launched behind a
 * closed gate has to be loaded before: a kernel that is loaded at its first launch may wait for the device. */
void gate_start(void);
void gate_stop(void);
void sm_clock_start(void);
void sm_clock_stop(void);
void cold_stop(void);

/* Nanoseconds since some time in the past, the same for all of the GPU; cycles of one SM; the number of this SM. */
static __device__ __forceinline__ unsigned long long global_timer_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __device__ __forceinline__ unsigned long long sm_cycles()
{
    unsigned long long cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    return cycles;
}

static __device__ __forceinline__ unsigned sm_number()
{
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

#endif
