// SPDX-License-Identifier: MIT
/*
 * The device as the host sees it (device.h), on an NVIDIA GPU, with the plain CUDA runtime.
 *
 * All work goes to one stream. The first error is kept with its text, and nothing is done after it: most of CUDA's
 * errors leave a context that is good for nothing.
 *
 * Here: opening, properties, memory, events, counting. Beside it: the gate (cuda_gate.cu), the clock of the SMs
 * (cuda_clock.cu), cold caches (cuda_cold.cu), graphs (cuda_graph.cu).
 */
#include "cuda.h"
#include "device/counts.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cub/version.cuh>
#include <cuda_profiler_api.h>

struct cuda_device gpu = {.number = -1};
static double resolution_s;            /* of events; 0: not measured since the device was opened */
static struct device_properties known; /* of the GPU known_of, where that is not -1 */
static int known_of = -1;

bool cuda_keep(const char *what, cudaError_t error)
{
    if (error == cudaSuccess)
        return !gpu.error;
    cudaGetLastError(); /* CUDA's own copy: the next launch must not report it again */
    if (!gpu.error) {
        gpu.error = error;
        snprintf(gpu.error_text, sizeof gpu.error_text, "%s: %s (%s, %d)", what, cudaGetErrorString(error),
                 cudaGetErrorName(error), error);
    }
    return false;
}

cudaStream_t device_stream(void)
{
    return gpu.stream;
}

void device_launched(const char *what, cudaError_t error)
{
    gpu.launches++;
    cuda_keep(what, error);
}

void device_called(const char *what, cudaError_t error)
{
    cuda_keep(what, error);
}

/* What a GPU holds of a kernel does not change while it is open. */
struct residency {
    const void *kernel;
    int threads;
    uint64_t blocks;
};
static struct residency *residencies;
static int residency_count, residency_room;

uint64_t device_resident_blocks(const char *name, const void *kernel, int threads)
{
    int per_sm = 0;
    char what[200];
    for (int i = 0; i < residency_count; i++)
        if (residencies[i].kernel == kernel && residencies[i].threads == threads)
            return residencies[i].blocks;
    if (gpu.error || gpu.number < 0)
        return 1;
    snprintf(what, sizeof what, "resident blocks of %s", name);
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, 0);
    device_called(what, error);
    if (residency_count == residency_room) {
        residency_room = residency_room ? 2 * residency_room : 64;
        residencies =
            static_cast<struct residency *>(realloc(residencies, size_t(residency_room) * sizeof *residencies));
        if (!residencies)
            abort();
    }
    uint64_t blocks = error == cudaSuccess ? uint64_t(per_sm) * uint64_t(gpu.sm_count) : 0;
    residencies[residency_count++] = {kernel, threads, blocks ? blocks : 1};
    return residencies[residency_count - 1].blocks;
}

int device_compute_capability(void)
{
    return gpu.compute_capability;
}

bool device_cooperative_launches(void)
{
    return gpu.cooperative_launches;
}

uint64_t device_launches(void)
{
    return gpu.launches;
}

const struct counter *device_counter(void)
{
    return nullptr;
}

const char *device_kind(void)
{
    return "cuda";
}

/* ------------------------------------------------------------------------------------------ opening and closing */

/* Without a driver CUDA reports the same error as with an old one, and version 0. */
static void say_no_driver(char *why, size_t size)
{
    int version = 0;
    cudaDriverGetVersion(&version);
    if (version == 0)
        snprintf(why, size, "no NVIDIA driver is loaded on this machine");
    else
        snprintf(why, size,
                 "the NVIDIA driver is too old: it supports CUDA up to %d.%d, and this program was built with %d.%d",
                 version / 1000, version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

/* The count may be left unwritten where there is an error. */
int device_count(int *count, char *why, size_t size)
{
    *count = 0;
    int found = 0;
    cudaError_t error = cudaGetDeviceCount(&found);
    if (error == cudaSuccess && found > 0) {
        *count = found;
        if (size > 0)
            *why = 0;
        return 0;
    }
    cudaGetLastError();
    if (error == cudaSuccess || error == cudaErrorNoDevice) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        if (visible)
            snprintf(why, size, "the NVIDIA driver shows no GPU to this program (CUDA_VISIBLE_DEVICES is \"%.40s\")",
                     visible);
        else
            snprintf(why, size, "there is no NVIDIA GPU in this machine, though there is a driver for one");
        return cudaErrorNoDevice;
    }
    if (error == cudaErrorInsufficientDriver)
        say_no_driver(why, size);
    else
        snprintf(why, size, "CUDA cannot start: %s (%s, %d)", cudaGetErrorString(error), cudaGetErrorName(error),
                 error);
    return error;
}

static int attribute(enum cudaDeviceAttr which)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, gpu.number) == cudaSuccess ? value : 0;
}

static void gpu_name(char *name, size_t size)
{
    static struct cudaDeviceProp properties;
    *name = 0;
    if (cudaGetDeviceProperties(&properties, gpu.number) == cudaSuccess)
        snprintf(name, size, "%.127s", properties.name);
}

/* A slice bears its profile in its name ("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), and CUDA gives its own UUID for it. */
static void identify(struct device_properties *properties)
{
    static struct cudaDeviceProp all;
    char digits[33];
    gpu_name(properties->name, sizeof properties->name);
    properties->mig = strstr(properties->name, " MIG ");
    if (cudaGetDeviceProperties(&all, gpu.number) != cudaSuccess)
        return;
    for (int i = 0; i < 16; i++)
        snprintf(digits + 2 * i, 3, "%02x", static_cast<unsigned char>(all.uuid.bytes[i]));
    snprintf(properties->uuid, sizeof properties->uuid, "%s-%.8s-%.4s-%.4s-%.4s-%.12s", properties->mig ? "MIG" : "GPU",
             digits, digits + 8, digits + 12, digits + 16, digits + 20);
}

/* With spaces where the option has '+'. */
static void spaced_architectures(char *text, size_t size)
{
    snprintf(text, size, "%s", SCANBENCH_ARCHITECTURES);
    for (char *c = text; *c; c++)
        if (*c == '+')
            *c = ' ';
}

static __global__ void probe() {}

static int refuse_to_open(int error, char *why, size_t size)
{
    char name[128], built[128];
    gpu_name(name, sizeof name);
    spaced_architectures(built, sizeof built);
    int major = attribute(cudaDevAttrComputeCapabilityMajor), minor = attribute(cudaDevAttrComputeCapabilityMinor);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion)
        snprintf(why, size, "this program was built for %s, and GPU %d, %s, is sm_%d%d: make clean, then make SM=%d%d",
                 built, gpu.number, name, major, minor, major, minor);
    else
        snprintf(why, size, "GPU %d, %s, cannot be used: %s", gpu.number, name, gpu.error_text);
    device_close();
    return error;
}

bool device_can_simulate(const char *, char *why, size_t size)
{
    snprintf(why, size, "only the CPU device can be simulated: make DEVICE=cpu");
    return false;
}

int device_open(int index, const struct device_options *options, char *why, size_t size)
{
    int count;
    if (gpu.number >= 0)
        device_close();
    if (options && options->simulate) {
        device_can_simulate(options->simulate, why, size);
        return cudaErrorNotSupported;
    }
    int error = device_count(&count, why, size);
    if (error)
        return error;
    if (index < 0 || index >= count) {
        if (count == 1)
            snprintf(why, size, "device %d: there is one GPU, number 0", index);
        else
            snprintf(why, size, "device %d: there are %d GPUs, numbers 0 to %d", index, count, count - 1);
        return cudaErrorInvalidDevice;
    }
    gpu.number = index;
    /* An empty kernel shows at once whether this GPU runs what was built. */
    if (CHECK(cudaSetDevice(index)) && CHECK(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking))) {
        probe<<<1, 1, 0, gpu.stream>>>();
        if (CHECK(cudaGetLastError()))
            CHECK(cudaStreamSynchronize(gpu.stream));
    }
    gpu.sm_count = attribute(cudaDevAttrMultiProcessorCount);
    gpu.compute_capability =
        10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
    gpu.cooperative_launches = attribute(cudaDevAttrCooperativeLaunch) != 0;
    gate_start();
    sm_clock_start();
    if (gpu.error)
        return refuse_to_open(gpu.error, why, size);
    gpu.launches = 0;
    return 0;
}

void device_close(void)
{
    gate_stop();
    sm_clock_stop();
    cold_stop();
    if (gpu.number >= 0)
        cudaDeviceReset(); /* takes the stream, the memory and the error with it */
    cudaGetLastError();
    gpu.stream = nullptr;
    gpu.number = known_of = -1;
    residency_count = 0;
    gpu.error = 0;
    gpu.error_text[0] = 0;
    resolution_s = 0;
}

/* ------------------------------------------------------------------------------------------ properties */

/* "NVRM version: NVIDIA UNIX ... Kernel Module ...  570.86.15  ...": the first word of digits and dots. */
static void driver_version(char *text, size_t size)
{
    char line[256];
    *text = 0;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (!file)
        return;
    if (fgets(line, sizeof line, file))
        for (char *rest, *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(nullptr, " \t\n", &rest))
            if (strchr(word, '.') && strspn(word, "0123456789.") == strlen(word)) {
                snprintf(text, size, "%s", word);
                break;
            }
    fclose(file);
}

static void ask_properties(struct device_properties *properties)
{
    int version = 0;
    size_t free_bytes = 0, all_bytes = 0;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->kind, sizeof properties->kind, "%s", device_kind());
    identify(properties);
    properties->compute_major = attribute(cudaDevAttrComputeCapabilityMajor);
    properties->compute_minor = attribute(cudaDevAttrComputeCapabilityMinor);
    properties->sm_count = attribute(cudaDevAttrMultiProcessorCount);
    properties->sm_clock_max_mhz = attribute(cudaDevAttrClockRate) / 1000;
    properties->mem_clock_max_mhz = attribute(cudaDevAttrMemoryClockRate) / 1000;
    properties->mem_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
    properties->l2_bytes = uint64_t(attribute(cudaDevAttrL2CacheSize));
    properties->ecc = attribute(cudaDevAttrEccEnabled);
    if (CHECK(cudaMemGetInfo(&free_bytes, &all_bytes)))
        properties->memory_bytes = all_bytes;
    driver_version(properties->driver, sizeof properties->driver);
    if (cudaRuntimeGetVersion(&version) == cudaSuccess)
        snprintf(properties->runtime, sizeof properties->runtime, "%d.%d", version / 1000, version % 1000 / 10);
    snprintf(properties->nvcc, sizeof properties->nvcc, "%d.%d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__,
             __CUDACC_VER_BUILD__);
    snprintf(properties->cub, sizeof properties->cub, "%d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
             CUB_SUBMINOR_VERSION);
    snprintf(properties->architectures, sizeof properties->architectures, "%s", SCANBENCH_ARCHITECTURES);
}

/* They stay what they are while the device is open, and every point asks for them. */
void device_get_properties(struct device_properties *properties)
{
    if (gpu.number < 0 || known_of != gpu.number) {
        ask_properties(&known);
        known_of = gpu.error ? -1 : gpu.number;
    }
    *properties = known;
}

/* ------------------------------------------------------------------------------------------ errors and memory */

int device_error(void)
{
    return gpu.error;
}

const char *device_error_text(void)
{
    return gpu.error_text;
}

int device_synchronize(void)
{
    if (!gpu.error)
        cuda_keep("the stream", cudaStreamSynchronize(gpu.stream));
    return gpu.error;
}

void *device_malloc(size_t bytes)
{
    void *pointer = nullptr;
    if (gpu.error)
        return nullptr;
    cudaError_t error = cudaMalloc(&pointer, bytes > 0 ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* the one error after which all goes on */
        return nullptr;
    }
    return cuda_keep("cudaMalloc", error) ? pointer : nullptr;
}

void device_free(void *pointer)
{
    if (!gpu.error)
        CHECK(cudaFree(pointer));
}

/* Kernels that are yet to be loaded, graphs and the driver itself need some, too: a launch that finds none is an error
 * that sticks, an array that does not fit is not. */
static const uint64_t RESERVE_BYTES = 128 << 20;

uint64_t device_memory_free(void)
{
    size_t free_bytes = 0, all_bytes = 0;
    if (gpu.error || !CHECK(cudaMemGetInfo(&free_bytes, &all_bytes)))
        return 0;
    return free_bytes > RESERVE_BYTES ? free_bytes - RESERVE_BYTES : 0;
}

void device_upload(void *to, const void *from, size_t bytes)
{
    if (!gpu.error && CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, gpu.stream)))
        device_synchronize();
}

void device_download(void *to, const void *from, size_t bytes)
{
    if (!gpu.error && CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, gpu.stream)))
        device_synchronize();
}

void device_fill(void *to, int byte, size_t bytes)
{
    if (!gpu.error)
        CHECK(cudaMemsetAsync(to, byte, bytes, gpu.stream));
}

void *device_pinned_malloc(size_t bytes)
{
    void *pointer = nullptr;
    if (gpu.error)
        return nullptr;
    cudaError_t error = cudaHostAlloc(&pointer, bytes > 0 ? bytes : 1, cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return nullptr;
    }
    return cuda_keep("cudaHostAlloc", error) ? pointer : nullptr;
}

void device_pinned_free(void *pointer)
{
    if (pointer && !gpu.error)
        CHECK(cudaFreeHost(pointer));
}

/* ------------------------------------------------------------------------------------------ time */

double device_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/* A signal does not shorten it. */
void device_pause(double seconds)
{
    if (!(seconds > 0))
        return;
    struct timespec left;
    left.tv_sec = time_t(seconds);
    left.tv_nsec = long((seconds - double(left.tv_sec)) * 1e9);
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

struct device_event {
    cudaEvent_t event;
};

struct device_event *device_event_create(void)
{
    struct device_event *event = static_cast<struct device_event *>(calloc(1, sizeof *event));
    if (event && !gpu.error)
        CHECK(cudaEventCreate(&event->event));
    return event;
}

void device_event_destroy(struct device_event *event)
{
    if (event && event->event && !gpu.error)
        CHECK(cudaEventDestroy(event->event));
    free(event);
}

void device_event_record(struct device_event *event)
{
    if (!gpu.error)
        CHECK(cudaEventRecord(event->event, gpu.stream));
}

/* 0 after an error. */
double device_event_elapsed_s(const struct device_event *start, const struct device_event *end)
{
    float elapsed_ms = 0;
    if (!gpu.error && CHECK(cudaEventSynchronize(end->event)))
        CHECK(cudaEventElapsedTime(&elapsed_ms, start->event, end->event));
    return elapsed_ms * 1e-3;
}

/* The CUDA manual says "around 0.5 us" of cudaEventElapsedTime; many GPUs step finer. The smallest difference between
 * the times of many pairs of events tells, around 0 to 63 empty kernels each. */
static double measured_resolution_s(void)
{
    constexpr int PAIRS = 256;
    constexpr double STATED_S = 0.5e-6, ROUNDING_S = 1e-9; /* of a float of milliseconds */
    double times_s[PAIRS], finest_s = STATED_S;
    struct device_event *start = device_event_create(), *end = device_event_create();
    for (int i = 0; start && end && !gpu.error && i < PAIRS; i++) {
        device_event_record(start);
        for (int launches = i % 64; launches > 0; launches--)
            device_launch_empty();
        device_event_record(end);
        times_s[i] = device_event_elapsed_s(start, end);
        for (int j = 0; j < i; j++) {
            double apart_s = fabs(times_s[i] - times_s[j]);
            if (apart_s > ROUNDING_S && apart_s < finest_s)
                finest_s = apart_s;
        }
    }
    if (start)
        device_event_destroy(start);
    if (end)
        device_event_destroy(end);
    return finest_s;
}

double device_event_resolution_s(void)
{
    if (resolution_s == 0 && !gpu.error)
        resolution_s = measured_resolution_s();
    return resolution_s > 0 ? resolution_s : 0.5e-6;
}

void device_launch_empty(void)
{
    if (gpu.error)
        return;
    probe<<<1, 1, 0, gpu.stream>>>();
    CHECK(cudaGetLastError());
}

/* Without a profiler these do nothing; with one that refuses, the work goes on without it. */
void device_profile(bool on)
{
    if (gpu.error)
        return;
    if (on)
        cudaProfilerStart();
    else
        cudaProfilerStop();
    cudaGetLastError();
}

/* ------------------------------------------------------------------------------------------ counting */

/* Where the files with kernels count additions: device variables, each by its address on the host. */
static const void *counters[64];
static int counter_count;
static bool counting;

extern "C" bool device_counts_in(const void *symbol)
{
    if (counter_count < int(sizeof counters / sizeof *counters))
        counters[counter_count++] = symbol;
    return true;
}

extern "C" bool device_counting(void)
{
    return counting;
}

void device_count_additions(bool on)
{
    counting = on;
}

uint64_t device_additions(void)
{
    uint64_t additions = 0;
    for (int i = 0; i < counter_count; i++) {
        unsigned long long here = 0;
        CHECK(cudaMemcpyFromSymbol(&here, counters[i], sizeof here, 0, cudaMemcpyDeviceToHost));
        additions += here;
    }
    return additions;
}

bool device_counts_additions(enum type type, enum op op)
{
    return type == I32 && op == SUM;
}
