// SPDX-License-Identifier: MIT
/*
 * The device as the host sees it (device.h), on an NVIDIA GPU, with the plain CUDA runtime.
 *
 * All work goes to one stream. The first error is kept with its text, and nothing is done after it: most of CUDA's
 * errors leave a context that is good for nothing.
 */
#include "device/counts.h"
#include "device/device.h"
#include "device/gpu.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/version.cuh>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static cudaStream_t stream;
static int opened = -1; /* number of the GPU */
static int sticky;
static char sticky_text[400];
static uint64_t launches;

/* Keeps `error` if it is the first. True: there is none, now or before. */
static bool keep(const char *what, cudaError_t error)
{
    if (error == cudaSuccess)
        return !sticky;
    cudaGetLastError(); /* CUDA's own copy: the next launch must not report it again */
    if (!sticky) {
        sticky = error;
        snprintf(sticky_text, sizeof sticky_text, "%s: %s (%s, %d)", what, cudaGetErrorString(error),
                 cudaGetErrorName(error), error);
    }
    return false;
}

#define CHECK(call) keep("cuda.cu:" TEXT(__LINE__) " " #call, call)

cudaStream_t device_stream(void)
{
    return stream;
}

void device_launched(const char *what, cudaError_t error)
{
    launches++;
    keep(what, error);
}

void device_called(const char *what, cudaError_t error)
{
    keep(what, error);
}

uint64_t device_launches(void)
{
    return launches;
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
    return cudaDeviceGetAttribute(&value, which, opened) == cudaSuccess ? value : 0;
}

static void gpu_name(char *name, size_t size)
{
    static struct cudaDeviceProp properties;
    *name = 0;
    if (cudaGetDeviceProperties(&properties, opened) == cudaSuccess)
        snprintf(name, size, "%.127s", properties.name);
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
                 built, opened, name, major, minor, major, minor);
    else
        snprintf(why, size, "GPU %d, %s, cannot be used: %s", opened, name, sticky_text);
    device_close();
    return error;
}

int device_open(int index, const struct device_options *, char *why, size_t size)
{
    int count;
    if (opened >= 0)
        device_close();
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
    opened = index;
    /* An empty kernel shows at once whether this GPU runs what was built. */
    if (CHECK(cudaSetDevice(index)) && CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) {
        probe<<<1, 1, 0, stream>>>();
        if (CHECK(cudaGetLastError()))
            CHECK(cudaStreamSynchronize(stream));
    }
    if (sticky)
        return refuse_to_open(sticky, why, size);
    launches = 0;
    return 0;
}

void device_close(void)
{
    if (opened >= 0)
        cudaDeviceReset(); /* takes the stream, the memory and the error with it */
    cudaGetLastError();
    stream = nullptr;
    opened = -1;
    sticky = 0;
    sticky_text[0] = 0;
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

void device_get_properties(struct device_properties *properties)
{
    int version = 0;
    size_t free_bytes = 0, all_bytes = 0;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->kind, sizeof properties->kind, "%s", device_kind());
    gpu_name(properties->name, sizeof properties->name);
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

/* ------------------------------------------------------------------------------------------ errors and memory */

int device_error(void)
{
    return sticky;
}

const char *device_error_text(void)
{
    return sticky_text;
}

int device_synchronize(void)
{
    if (!sticky)
        keep("the stream", cudaStreamSynchronize(stream));
    return sticky;
}

void *device_malloc(size_t bytes)
{
    void *pointer = nullptr;
    if (sticky)
        return nullptr;
    cudaError_t error = cudaMalloc(&pointer, bytes > 0 ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* the one error after which all goes on */
        return nullptr;
    }
    return keep("cudaMalloc", error) ? pointer : nullptr;
}

void device_free(void *pointer)
{
    if (!sticky)
        CHECK(cudaFree(pointer));
}

uint64_t device_memory_free(void)
{
    size_t free_bytes = 0, all_bytes = 0;
    return !sticky && CHECK(cudaMemGetInfo(&free_bytes, &all_bytes)) ? free_bytes : 0;
}

void device_upload(void *to, const void *from, size_t bytes)
{
    if (!sticky && CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream)))
        device_synchronize();
}

void device_download(void *to, const void *from, size_t bytes)
{
    if (!sticky && CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream)))
        device_synchronize();
}

void device_fill(void *to, int byte, size_t bytes)
{
    if (!sticky)
        CHECK(cudaMemsetAsync(to, byte, bytes, stream));
}

/* ------------------------------------------------------------------------------------------ events */

struct device_event {
    cudaEvent_t event;
};

struct device_event *device_event_create(void)
{
    struct device_event *event = static_cast<struct device_event *>(calloc(1, sizeof *event));
    if (event && !sticky)
        CHECK(cudaEventCreate(&event->event));
    return event;
}

void device_event_destroy(struct device_event *event)
{
    if (event && event->event && !sticky)
        CHECK(cudaEventDestroy(event->event));
    free(event);
}

void device_event_record(struct device_event *event)
{
    if (!sticky)
        CHECK(cudaEventRecord(event->event, stream));
}

/* 0 after an error. */
double device_event_elapsed_s(const struct device_event *start, const struct device_event *end)
{
    float elapsed_ms = 0;
    if (!sticky && CHECK(cudaEventSynchronize(end->event)))
        CHECK(cudaEventElapsedTime(&elapsed_ms, start->event, end->event));
    return elapsed_ms * 1e-3;
}

/* The CUDA manual gives this for cudaEventElapsedTime; the step seen is finer on some GPUs. */
double device_event_resolution_s(void)
{
    return 0.5e-6;
}

/* ------------------------------------------------------------------------------------------ counting */

static uint64_t count_launch_nodes(cudaGraph_t graph)
{
    size_t count = 0;
    if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess)
        return UNKNOWN;
    cudaGraphNode_t *nodes = static_cast<cudaGraphNode_t *>(calloc(count + 1, sizeof *nodes));
    uint64_t found = 0;
    if (!nodes || cudaGraphGetNodes(graph, nodes, &count) != cudaSuccess)
        found = UNKNOWN;
    for (size_t i = 0; found != UNKNOWN && i < count; i++) {
        enum cudaGraphNodeType type;
        if (cudaGraphNodeGetType(nodes[i], &type) != cudaSuccess)
            found = UNKNOWN;
        else if (type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeMemcpy)
            found++;
    }
    free(nodes);
    return found;
}

/* What fails in here fails only for the count: the device goes on as before. */
uint64_t device_launches_captured(const struct algorithm *algorithm, const struct problem *problem)
{
    if (sticky || !algorithm->run || algorithm->runs_on == HOST)
        return UNKNOWN;
    uint64_t before = launches, found = UNKNOWN;
    cudaGraph_t graph = nullptr;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
        algorithm->run(problem);
        if (cudaStreamEndCapture(stream, &graph) == cudaSuccess && !sticky)
            found = count_launch_nodes(graph);
        if (graph)
            cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    launches = before;
    sticky = 0;
    sticky_text[0] = 0;
    return found;
}

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
