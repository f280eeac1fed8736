// SPDX-License-Identifier: MIT
/*
 * A second opinion on the timer: cub::DeviceScan::ExclusiveSum on 32-bit integers, every sample timed alone, in the
 * manner of NVIDIA's nvbench. Nothing of src/ is used, and nothing is done as it is done there without need:
 *
 *     flush the L2 | blocking kernel | event | scan | event        then the host lets go, and waits
 *
 * The blocking kernel spins on a flag that the host has registered, and gives up after so many cycles. Samples are
 * as many as fit in a time, at least 30, and have a median, quartiles, and the interval of the 95 % around it by the
 * normal approximation of ranks.
 *
 *     cub-isolated N...        one line of CSV for each n, width of offset, and state of the caches
 *
 * States: `warm`; `cold`, flushed and then filled with clean lines; `dirty`, flushed as nvbench does it, by a memset,
 * whose lines are written back while the scan runs.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cub/device/device_scan.cuh>
#include <vector>

static void must(cudaError_t error, const char *what, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "cub-isolated: line %d: %s: %s\n", line, what, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
}
#define MUST(call) must(call, #call, __LINE__)

static __global__ void block_stream(const volatile int *flag, volatile int *timed_out, long long cycles)
{
    long long start = clock64();
    while (!*flag)
        if (clock64() - start > cycles) {
            *timed_out = 1;
            return;
        }
}

static __global__ void touch(const int *data, size_t n, int *never)
{
    int all = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        all |= data[i];
    if (all)
        *never = all;
}

enum state { WARM, COLD, DIRTY };
static const char *const state_names[] = {"warm", "cold", "dirty"};

static struct {
    cudaStream_t stream;
    cudaEvent_t before, after;
    volatile int *flag, *timed_out;             /* memory of the host, as the host sees it */
    volatile int *flag_there, *timed_out_there; /* as the GPU does */
    int *flush, *clean;                         /* as large as the L2; three times as large, zero */
    size_t l2_bytes;
    int blocks;
} gpu;

static void start()
{
    int sms = 0, l2 = 0, device = 0;
    MUST(cudaSetDevice(0));
    MUST(cudaGetDevice(&device));
    MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    MUST(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
    MUST(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&gpu.before));
    MUST(cudaEventCreate(&gpu.after));
    void *words = aligned_alloc(4096, 4096);
    MUST(cudaHostRegister(words, 4096, cudaHostRegisterMapped));
    gpu.flag = static_cast<int *>(words);
    gpu.timed_out = gpu.flag + 256;
    MUST(cudaHostGetDevicePointer(&words, words, 0));
    gpu.flag_there = static_cast<int *>(words);
    gpu.timed_out_there = gpu.flag_there + 256;
    gpu.l2_bytes = size_t(l2);
    gpu.blocks = sms * 4;
    MUST(cudaMalloc(&gpu.flush, gpu.l2_bytes));
    MUST(cudaMalloc(&gpu.clean, 3 * gpu.l2_bytes + sizeof(int)));
    MUST(cudaMemset(gpu.clean, 0, 3 * gpu.l2_bytes + sizeof(int)));
}

static void flush(enum state state)
{
    if (state == WARM)
        return;
    MUST(cudaMemsetAsync(gpu.flush, 0, gpu.l2_bytes, gpu.stream));
    if (state == COLD) {
        size_t words = 3 * gpu.l2_bytes / sizeof(int);
        touch<<<gpu.blocks, 512, 0, gpu.stream>>>(gpu.clean, words, gpu.clean + words);
        MUST(cudaGetLastError());
    }
}

/* Seconds of one run; below 0 when the blocking kernel gave up. */
template <class Run> static double sample(enum state state, Run run)
{
    float elapsed_ms = 0;
    flush(state);
    *gpu.flag = 0;
    *gpu.timed_out = 0;
    block_stream<<<1, 1, 0, gpu.stream>>>(gpu.flag_there, gpu.timed_out_there, 2000000000);
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(gpu.before, gpu.stream));
    run();
    MUST(cudaEventRecord(gpu.after, gpu.stream));
    *gpu.flag = 1;
    MUST(cudaStreamSynchronize(gpu.stream));
    MUST(cudaEventElapsedTime(&elapsed_ms, gpu.before, gpu.after));
    return *gpu.timed_out ? -1 : double(elapsed_ms) * 1e-3;
}

static double now_s()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

template <class Run> static void measure(const char *name, uint64_t n, enum state state, Run run)
{
    std::vector<double> seconds;
    for (int i = 0; i < 3; i++)
        sample(state, run);
    double begun = now_s();
    while (seconds.size() < 30 || (seconds.size() < 500 && now_s() - begun < 1)) {
        double taken = sample(state, run);
        if (taken >= 0)
            seconds.push_back(taken);
        if (now_s() - begun > 20)
            break;
    }
    if (seconds.size() < 6)
        return;
    std::sort(seconds.begin(), seconds.end());
    double count = double(seconds.size()), half = 0.98 * sqrt(count); /* 1.96 sqrt(count) / 2 */
    size_t low = size_t(std::max(0.0, floor(count / 2 - half))), high = seconds.size() - 1 - low;
    auto quantile = [&](double q) { return seconds[size_t(q * (count - 1) + 0.5)]; };
    printf("%s,%llu,%s,%zu,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", name, static_cast<unsigned long long>(n),
           state_names[state], seconds.size(), seconds[0], quantile(0.25), quantile(0.5), quantile(0.75), seconds[low],
           seconds[high]);
    fflush(stdout);
}

/* The answer is looked at once: a scan that is wrong has no time. */
static void check(const std::vector<uint32_t> &in, const uint32_t *out)
{
    std::vector<uint32_t> found(in.size());
    MUST(cudaMemcpy(found.data(), out, in.size() * sizeof *out, cudaMemcpyDeviceToHost));
    uint32_t sum = 0;
    for (size_t i = 0; i < in.size(); sum += in[i++])
        if (found[i] != sum) {
            fprintf(stderr, "cub-isolated: element %zu of %zu is wrong\n", i, in.size());
            exit(1);
        }
}

template <class Offset> static void scan(const char *name, const std::vector<uint32_t> &in)
{
    uint32_t *from, *to;
    void *workspace = nullptr;
    size_t bytes = 0, n = in.size();
    MUST(cudaMalloc(&from, n * sizeof *from));
    MUST(cudaMalloc(&to, n * sizeof *to));
    MUST(cudaMemcpy(from, in.data(), n * sizeof *from, cudaMemcpyHostToDevice));
    MUST(cub::DeviceScan::ExclusiveSum(nullptr, bytes, from, to, Offset(n), gpu.stream));
    MUST(cudaMalloc(&workspace, bytes));
    auto run = [&] { MUST(cub::DeviceScan::ExclusiveSum(workspace, bytes, from, to, Offset(n), gpu.stream)); };
    run();
    MUST(cudaStreamSynchronize(gpu.stream));
    check(in, to);
    for (enum state state : {WARM, COLD, DIRTY})
        measure(name, n, state, run);
    MUST(cudaFree(workspace));
    MUST(cudaFree(from));
    MUST(cudaFree(to));
}

int main(int argc, char **argv)
{
    start();
    /* The blocking kernel and the others are loaded before anything is held up. */
    for (enum state state : {WARM, COLD, DIRTY}) {
        *gpu.flag = 1;
        flush(state);
        block_stream<<<1, 1, 0, gpu.stream>>>(gpu.flag_there, gpu.timed_out_there, 1);
        MUST(cudaGetLastError());
        MUST(cudaStreamSynchronize(gpu.stream));
    }
    puts("algorithm,n,cache,samples,min_s,q1_s,median_s,q3_s,ci_lo_s,ci_hi_s");
    for (int i = 1; i < argc; i++) {
        std::vector<uint32_t> in(strtoull(argv[i], nullptr, 0));
        if (in.empty() || in.size() > INT32_MAX) {
            fprintf(stderr, "cub-isolated: %s: 1 to 2^31 - 1 elements\n", argv[i]);
            return 2;
        }
        uint32_t x = 12345;
        for (uint32_t &element : in)
            element = x = x * 1664525 + 1013904223;
        scan<int32_t>("cub_scan", in);
        scan<int64_t>("cub_scan_64", in);
    }
    return 0;
}
