/* SPDX-License-Identifier: MIT */
/*
 * How fast the CPU device is: the price of its parts in nanoseconds, and of whole kernels at n = 2^20, beside plain C
 * loops that do the same work in the same run. Times are CPU time of one worker (one column) and wall time of all.
 *
 *     cpu-device-bench [ROUNDS [lines]]
 *
 * Rounds are interleaved and the minimum is shown, so that noise of the machine hits all alike. With `lines` one worker
 * runs, and a line a kernel has its milliseconds and its name: scripts/bench-cpu-device sets those of the count build
 * beside those of the run build. The last line has the most memory that was in use, in MiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "device/counts.h"
#include "device/device.h"
#include "device/gpu.cuh"
extern "C" {
#include "registry.h"
}

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/* ---------------------------------------------------------------------------------------------- parts */

constexpr int REPEATS = 64;

static __global__ void nothing() {}

static __global__ void barriers()
{
    for (int i = 0; i < REPEATS; i++)
        __syncthreads();
}

static __global__ void shuffles(int *out)
{
    int value = int(threadIdx.x);
    for (int i = 0; i < REPEATS; i++)
        value += __shfl_up_sync(0xffffffffu, value, 1);
    out[threadIdx.x] = value;
}

static __global__ void ballots(unsigned *out)
{
    unsigned value = threadIdx.x;
    for (int i = 0; i < REPEATS; i++)
        value += __ballot_sync(0xffffffffu, value & 1);
    out[threadIdx.x] = value;
}

static __global__ void write_index(int *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = int(i);
}

/* The Hillis-Steele scan of a block in shared memory, two buffers: one barrier a step. */
static __global__ void block_hillis_steele(const int *in, int *out)
{
    SHARED(int, tile, 2 * 256);
    const unsigned t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    unsigned from = 0, to = n;
    tile[t] = in[i];
    for (unsigned stride = 1; stride < n; stride *= 2) {
        __syncthreads();
        tile[to + t] = t >= stride ? tile[from + t - stride] + tile[from + t] : tile[from + t];
        const unsigned swap = from;
        from = to;
        to = swap;
    }
    out[i] = tile[from + t];
}

/* The Blelloch scan of a block in shared memory, two elements a thread. */
static __global__ void block_blelloch(const int *in, int *out)
{
    SHARED(int, tile, 512);
    const unsigned t = threadIdx.x, n = 2 * blockDim.x, first = blockIdx.x * n;
    tile[2 * t] = in[first + 2 * t];
    tile[2 * t + 1] = in[first + 2 * t + 1];
    unsigned offset = 1;
    for (unsigned d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            tile[offset * (2 * t + 2) - 1] += tile[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        tile[n - 1] = 0;
    for (unsigned d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            const int left = tile[offset * (2 * t + 1) - 1];
            tile[offset * (2 * t + 1) - 1] = tile[offset * (2 * t + 2) - 1];
            tile[offset * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    out[first + 2 * t] = tile[2 * t];
    out[first + 2 * t + 1] = tile[2 * t + 1];
}

/* A scan of each block with shuffles. */
static __global__ void block_shuffle(const int *in, int *out)
{
    SHARED(int, sums, 32);
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * blockDim.x + t;
    int value = in[i];
    for (unsigned stride = 1; stride < 32; stride *= 2) {
        const int left = __shfl_up_sync(0xffffffffu, value, stride);
        if (lane >= stride)
            value += left;
    }
    if (lane == 31)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (unsigned stride = 1; stride < 32; stride *= 2) {
            const int left = __shfl_up_sync(0xffffffffu, sum, stride);
            if (lane >= stride)
                sum += left;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    out[i] = value + (warp ? sums[warp - 1] : 0);
}

/* One pass: a block scans `ITEMS` elements a thread, then waits for the inclusive prefix of the block before. */
template <int ITEMS> static __global__ void chained(const int *in, int *out, unsigned long long *prefixes)
{
    SHARED(int, sums, 256);
    SHARED(int, before, 1);
    const unsigned t = threadIdx.x, first = (blockIdx.x * blockDim.x + t) * ITEMS;
    int items[ITEMS], sum = 0;
    for (int i = 0; i < ITEMS; i++)
        items[i] = sum += in[first + i];
    sums[t] = sum;
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const int left = t >= stride ? sums[t - stride] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        unsigned long long prefix = 1ull << 32;
        if (blockIdx.x) {
            cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> last(prefixes[blockIdx.x - 1]);
            while ((prefix = last.load(cuda::memory_order_acquire)) >> 32 == 0)
                ;
        }
        before[0] = int(prefix);
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> own(prefixes[blockIdx.x]);
        own.store(1ull << 32 | unsigned(int(prefix) + sums[blockDim.x - 1]), cuda::memory_order_release);
    }
    __syncthreads();
    const int offset = before[0] + (t ? sums[t - 1] : 0);
    for (int i = 0; i < ITEMS; i++)
        out[first + i] = offset + items[i];
}

/* ---------------------------------------------------------------------------------------------- plain C */

static __attribute__((noinline, optimize("O3"))) void plain_copy(const int *__restrict in, int *__restrict out,
                                                                 size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i];
}

static __attribute__((noinline, optimize("O3"))) void plain_pass(const int *__restrict in, int *__restrict out,
                                                                 size_t n, size_t distance)
{
    for (size_t i = 0; i < distance; i++)
        out[i] = in[i];
    for (size_t i = distance; i < n; i++)
        out[i] = in[i] + in[i - distance];
}

/* ---------------------------------------------------------------------------------------------- measuring */

constexpr unsigned N = 1 << 20;
static int *in, *out;
static unsigned long long *workspace;

struct entry {
    const char *name;
    void (*run)(const struct entry *);
    double units; /* what one run is divided by, for a price in ns; 0: shown in ms */
    const struct algorithm *algorithm;
    int threads;
    double best_s;
};

static void run_algorithm(const struct entry *e)
{
    struct problem p = {};
    p.n = N;
    p.type = I32;
    p.kind = e->algorithm->kinds & EXCLUSIVE ? EXCLUSIVE : COPY;
    p.op = p.kind == COPY ? NONE : SUM;
    p.threads = e->algorithm->threads[0];
    p.in = in;
    p.out = out;
    p.workspace = workspace;
    e->algorithm->run(&p);
}

static struct entry entries[64];
static int entry_count;

static void add(const char *name, double units, int threads, void (*run)(const struct entry *))
{
    entries[entry_count++] = {name, run, units, nullptr, threads, 1e9};
}

static double measure_round(int workers, int rounds)
{
    struct device_options options = {};
    char why[400];
    options.workers = workers;
    if (device_open(0, &options, why, sizeof why)) {
        fprintf(stderr, "cpu-device-bench: %s\n", why);
        exit(1);
    }
    in = static_cast<int *>(device_malloc(N * sizeof *in));
    out = static_cast<int *>(device_malloc(N * sizeof *out));
    workspace = static_cast<unsigned long long *>(device_malloc(4 * N * sizeof *in));
    int *numbers = static_cast<int *>(malloc(N * sizeof *numbers));
    for (unsigned i = 0; i < N; i++)
        numbers[i] = int(i * 2654435761u);
    device_upload(in, numbers, N * sizeof *in);
    device_fill(workspace, 0, 4 * N * sizeof *in);
    free(numbers);
    const struct counter *counter = device_counter();
    const clockid_t clock = workers == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    for (int i = 0; i < entry_count; i++)
        entries[i].best_s = 1e9;
    for (int round = -1; round < rounds; round++) {
        for (int i = 0; i < entry_count; i++) {
            if (counter)
                counter->begin(true);
            const double start = now_s(clock);
            entries[i].run(&entries[i]);
            const double took = now_s(clock) - start;
            if (counter)
                counter->end();
            if (round >= 0 && took < entries[i].best_s)
                entries[i].best_s = took;
        }
    }
    if (device_error()) {
        fprintf(stderr, "cpu-device-bench: %s\n", device_error_text());
        exit(1);
    }
    device_close();
    return 0;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 7;
    if (rounds < 1) {
        fprintf(stderr, "cpu-device-bench: ROUNDS is a number from 1 on, not '%s'\n", argv[1]);
        return 2;
    }
    add("launch of one block of one thread", 1000, 1, [](const struct entry *) {
        for (int i = 0; i < 1000; i++)
            launch(nothing, 1, 1);
    });
    add("thread without a barrier", N, 256, [](const struct entry *) { launch(write_index, N / 256, 256, out); });
    for (int threads : {32, 256, 1024}) {
        static const char *names[3] = {"barrier per thread, blocks of 32", "barrier per thread, blocks of 256",
                                       "barrier per thread, blocks of 1024"};
        add(names[threads == 32    ? 0
                  : threads == 256 ? 1
                                   : 2],
            double(REPEATS) * 65536, threads,
            [](const struct entry *e) { launch(barriers, 65536 / e->threads, e->threads); });
    }
    add("shuffle per lane", double(REPEATS) * 65536, 256,
        [](const struct entry *) { launch(shuffles, 256, 256, out); });
    add("ballot per lane", double(REPEATS) * 65536, 256,
        [](const struct entry *) { launch(ballots, 256, 256, reinterpret_cast<unsigned *>(out)); });
    const int parts = entry_count;
    add("plain C: copy", 0, 0, [](const struct entry *) { plain_copy(in, out, N); });
    add("plain C: Hillis-Steele, 20 passes", 0, 0, [](const struct entry *) {
        int *from = out, *to = reinterpret_cast<int *>(workspace);
        for (int k = 0; k < 20; k++) {
            plain_pass(from, to, N, size_t(1) << k);
            int *swap = from;
            from = to;
            to = swap;
        }
    });
    add("block Hillis-Steele in shared memory", 0, 256,
        [](const struct entry *) { launch(block_hillis_steele, N / 256, 256, in, out); });
    add("block Blelloch in shared memory", 0, 256,
        [](const struct entry *) { launch(block_blelloch, N / 512, 256, in, out); });
    add("block scan by shuffles", 0, 256, [](const struct entry *) { launch(block_shuffle, N / 256, 256, in, out); });
    add("chained scan, 1 item a thread", 0, 256, [](const struct entry *) {
        launch_memset(workspace, 0, N / 256 * 8);
        launch(chained<1>, N / 256, 256, in, out, workspace);
    });
    add("chained scan, 8 items a thread", 0, 256, [](const struct entry *) {
        launch_memset(workspace, 0, N / 2048 * 8);
        launch(chained<8>, N / 2048, 256, in, out, workspace);
    });
    for (const struct algorithm *const *a = registry(); *a; a++) {
        if ((*a)->runs_on != DEVICE || !(*a)->run)
            continue;
        entries[entry_count] = {(*a)->name, run_algorithm, 0, *a, 0, 1e9};
        entry_count++;
    }

    double one[64];
    measure_round(1, rounds);
    if (argc > 2) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        for (int i = parts; i < entry_count; i++)
            printf("%.3f\t%s\n", entries[i].best_s * 1e3, entries[i].name);
        printf("%.0f\tmost memory in use, MiB\n", double(usage.ru_maxrss) / 1024);
        return 0;
    }
    for (int i = 0; i < entry_count; i++)
        one[i] = entries[i].best_s;
    measure_round(0, rounds);

    printf("%-40s %12s %12s\n", "minimum of rounds", "1 worker", "all cores");
    double loop_s = 0;
    for (int i = 0; i < entry_count; i++)
        if (!strncmp(entries[i].name, "plain C: Hillis", 15))
            loop_s = one[i];
    for (int i = 0; i < parts; i++)
        printf("%-40s %9.2f ns %9.2f ns\n", entries[i].name, one[i] * 1e9 / entries[i].units,
               entries[i].best_s * 1e9 / entries[i].units);
    printf("\n%-40s %12s %12s %22s\n", "n = 2^20, i32", "1 worker", "all cores", "1 worker / plain H-S");
    for (int i = parts; i < entry_count; i++)
        printf("%-40s %9.2f ms %9.2f ms %22.2f\n", entries[i].name, one[i] * 1e3, entries[i].best_s * 1e3,
               one[i] / loop_s);
    return 0;
}
