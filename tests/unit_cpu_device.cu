/* SPDX-License-Identifier: MIT */
/* The CPU device does what CUDA says: barriers, warps, memory, blocks, orders, limits, and what happens to wrong
 * kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/cooperative.cuh"
#include "device/device.h"

static const char *order_name;
static int failures;

static void result(const char *name, bool good, const char *why)
{
    if (!good)
        failures++;
    if (good)
        printf("ok cpu device: %s%s%s\n", name, order_name ? ", " : "", order_name ? order_name : "");
    else
        printf("not ok cpu device: %s%s%s: %s\n", name, order_name ? ", " : "", order_name ? order_name : "", why);
    fflush(stdout);
}

static void reopen(struct device_options options)
{
    char why[400];
    device_close();
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok cpu device: open: %s\n", why);
        exit(1);
    }
}

template <class T> static T *array(size_t count)
{
    return static_cast<T *>(device_malloc(count * sizeof(T)));
}

/* ---------------------------------------------------------------------------------------------- barriers */

/* Every thread passes its number to the right, `rounds` times around the block. */
static __global__ void pass_around(int *out, int rounds)
{
    SHARED(int, ring, 1024);
    const int t = int(threadIdx.x), n = int(blockDim.x);
    ring[t] = t;
    for (int i = 0; i < rounds; i++) {
        __syncthreads();
        const int left = ring[(t + n - 1) % n];
        __syncthreads();
        ring[t] = left;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = ring[t];
}

static void test_barriers()
{
    bool good = true;
    char why[100] = "";
    for (int n : {1, 2, 7, 31, 32, 33, 64, 100, 256, 1000, 1024}) {
        int *out = array<int>(size_t(3 * n));
        launch(pass_around, 3, n, out, 37);
        for (int i = 0; i < 3 * n; i++) {
            const int expected = ((i % n - 37) % n + n) % n;
            if (good && out[i] != expected) {
                good = false;
                snprintf(why, sizeof why, "%d threads: place %d holds %d, not %d", n, i, out[i], expected);
            }
        }
        device_free(out);
    }
    result("barriers for blocks of 1 to 1024 threads", good && !device_error(),
           device_error() ? device_error_text() : why);
}

/* Threads at or beyond `limit` end before the barrier, and so does thread 0 if `first` says so. */
static __global__ void early_exit(int *out, int limit, bool first)
{
    SHARED(int, sum, 1);
    const int t = int(threadIdx.x);
    if (t >= limit || (first && t == 0))
        return;
    if (t == 1)
        sum[0] = 0;
    __syncthreads();
    atomicAdd(&sum[0], t);
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = sum[0];
}

static void test_early_exit()
{
    bool good = true;
    for (int limit : {2, 5, 32, 40, 64, 95, 96})
        for (int first = 0; first < 2; first++) {
            int *out = array<int>(96 * 4);
            launch(early_exit, 4, 96, out, limit, first != 0);
            for (int i = 0; i < 96 * 4; i++) {
                const int t = i % 96;
                const int expected = t >= limit || (first && t == 0) ? int(0xa5a5a5a5) : limit * (limit - 1) / 2;
                good = good && out[i] == expected;
            }
            device_free(out);
        }
    result("threads that end early are not waited for, nor run again", good && !device_error(), device_error_text());
}

static __global__ void three_dimensions(int *out)
{
    SHARED(int, count, 1);
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (t == 0)
        count[0] = 0;
    __syncthreads();
    atomicAdd(&count[0], int(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z));
    __syncthreads();
    out[b * (blockDim.x * blockDim.y * blockDim.z) + t] =
        count[0] + int(1000 * threadIdx.z + 100 * threadIdx.y + threadIdx.x);
}

static void test_dimensions()
{
    int *out = array<int>(2 * 3 * 4 * 8 * 4 * 2);
    launch(three_dimensions, dim3(2, 3, 4), dim3(8, 4, 2), out);
    bool good = !device_error();
    for (int b = 0; b < 24 && good; b++)
        for (int t = 0; t < 64; t++) {
            const int x = t % 8, y = t / 8 % 4, z = t / 32;
            good = good && out[b * 64 + t] == (28 * 8 + 10 * 6 * 16 + 100 * 32) + 1000 * z + 100 * y + x;
        }
    result("grids and blocks of three dimensions", good, device_error() ? device_error_text() : "a wrong cell");
    device_free(out);
}

/* ---------------------------------------------------------------------------------------------- warps */

static __global__ void shuffles(long long *out, int width)
{
    const int t = int(threadIdx.x), lane = t % 32;
    const long long value = 1000000007LL * t;
    long long *mine = out + t * 8;
    mine[0] = __shfl_sync(0xffffffffu, value, lane * 7 + 3, width);
    mine[1] = __shfl_up_sync(0xffffffffu, value, 3, width);
    mine[2] = __shfl_down_sync(0xffffffffu, value, 5, width);
    mine[3] = __shfl_xor_sync(0xffffffffu, value, 6, width);
    mine[4] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    mine[5] = __any_sync(0xffffffffu, t == 40) + 2 * __all_sync(0xffffffffu, t < 64);
    mine[6] = __match_any_sync(0xffffffffu, lane / 5);
    mine[7] =
        int(__reduce_add_sync(0xffffffffu, unsigned(lane))) + (1 + __reduce_max_sync(0xffffffffu, lane - 50)) * 1000;
}

static void test_shuffles()
{
    bool good = true;
    char why[100] = "";
    long long *out = array<long long>(96 * 8);
    for (int width : {2, 4, 8, 16, 32}) {
        launch(shuffles, 1, 96, out, width);
        for (int t = 0; t < 96; t++) {
            const int warp = t / 32 * 32, lane = t % 32, segment = lane / width * width;
            int match = 0;
            for (int i = 0; i < 32; i++)
                match |= i / 5 == lane / 5 ? 1 << i : 0;
            const long long source[4] = {segment + (lane * 7 + 3) % width, lane - segment >= 3 ? lane - 3 : lane,
                                         lane - segment + 5 < width ? lane + 5 : lane,
                                         (lane ^ 6) < segment + width ? lane ^ 6 : lane};
            const long long expected[8] = {1000000007LL * (warp + source[0]),
                                           1000000007LL * (warp + source[1]),
                                           1000000007LL * (warp + source[2]),
                                           1000000007LL * (warp + source[3]),
                                           0x49249249,
                                           (warp == 32) + 2 * (warp < 64),
                                           unsigned(match),
                                           496 - 18000};
            for (int i = 0; i < 8; i++)
                if (good && out[t * 8 + i] != expected[i]) {
                    good = false;
                    snprintf(why, sizeof why, "width %d, thread %d, operation %d: %lld, not %lld", width, t, i,
                             out[t * 8 + i], expected[i]);
                }
        }
    }
    device_free(out);
    result("shuffles, votes, match and reduce", good && !device_error(), device_error() ? device_error_text() : why);
}

/* A warp that is not full, and one of which lanes have ended: only those that are there count. */
static __global__ void few_lanes(unsigned *out)
{
    const unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < 32 && lane >= 20)
        return;
    unsigned *mine = out + threadIdx.x * 4;
    mine[0] = __reduce_add_sync(0xffffffffu, 1u);
    mine[1] = unsigned(__reduce_min_sync(0xffffffffu, 100 - int(lane)));
    mine[2] = __match_any_sync(0xffffffffu, 0xa5a5a5a5a5a5a5a5ull);
    mine[3] = __ballot_sync(0xffffffffu, 1);
}

static void test_few_lanes()
{
    unsigned *out = array<unsigned>(52 * 4);
    launch(few_lanes, 1, 52, out);
    bool good = !device_error();
    for (int t = 0; t < 52; t++)
        if (t % 32 < 20)
            good = good && out[4 * t] == 20 && out[4 * t + 1] == 81 && out[4 * t + 2] == 0xfffff &&
                   out[4 * t + 3] == 0xfffff;
    result("lanes that are not there do not count", good, device_error() ? device_error_text() : "a wrong value");
    device_free(out);
}

/* The halves of a warp do different numbers of operations of their own, then one together. */
static __global__ void partial_masks(int *out)
{
    const int lane = int(threadIdx.x % 32);
    int value = lane;
    if (lane < 16) {
        value += __shfl_xor_sync(0x0000ffffu, value, 1);
    } else {
        for (int i = 0; i < 5; i++)
            value += __shfl_xor_sync(0xffff0000u, value, 1);
    }
    value += __shfl_xor_sync(0xffffffffu, value, 16);
    __syncwarp();
    if (lane == 31)
        return;
    value += __popc(__ballot_sync(0x7fffffffu, 1)) * 1000;
    out[threadIdx.x] = value;
}

static void test_partial_masks()
{
    int *out = array<int>(64);
    launch(partial_masks, 1, 64, out);
    bool good = !device_error();
    for (int t = 0; t < 64; t++) {
        const int lane = t % 32, low = lane % 16, high = low + 16;
        const int pair = (low & ~1) * 2 + 1, other = 16 * ((high & ~1) * 2 + 1);
        good = good && out[t] == (lane == 31 ? int(0xa5a5a5a5) : pair + other + 31000);
    }
    result("partial masks and lanes that end", good, device_error() ? device_error_text() : "a wrong value");
    device_free(out);
}

/* ---------------------------------------------------------------------------------------------- memory */

/* The last warp writes what the first waits for. */
static __global__ void wait_within_block(int *out)
{
    SHARED(int, flag, 1);
    if (threadIdx.x == 0)
        flag[0] = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag[0]);
    if (threadIdx.x == 0)
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
    if (threadIdx.x == blockDim.x - 1)
        ready.store(7, cuda::memory_order_release);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = ready.load();
}

/* Block b waits for block b - 1, or for block b + 1. */
static __global__ void wait_for_neighbour(unsigned *count, int *flags, int step, bool ticket)
{
    SHARED(unsigned, number, 1);
    if (threadIdx.x == 0)
        number[0] = ticket ? atomicAdd(count, 1u) : blockIdx.x;
    __syncthreads();
    const int b = int(number[0]), from = b - step;
    if (threadIdx.x == 0) {
        int value = 0;
        if (from >= 0 && from < int(gridDim.x))
            while ((value = cuda::atomic_ref<int, cuda::thread_scope_device>(flags[from]).load()) == 0)
                ;
        cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b]).store(value + 1);
    }
    __syncthreads();
}

static void test_waiting()
{
    int *out = array<int>(64 * 64);
    launch(wait_within_block, 64, 64, out);
    bool good = !device_error();
    for (int i = 0; i < 64 * 64; i++)
        good = good && out[i] == 7;
    result("a thread waits for another of its block", good, device_error_text());
    device_free(out);

    unsigned *count = array<unsigned>(1);
    int *flags = array<int>(3000);
    device_fill(count, 0, sizeof *count);
    device_fill(flags, 0, 3000 * sizeof *flags);
    launch(wait_for_neighbour, 3000, 64, count, flags, 1, true);
    good = !device_error();
    for (int i = 0; i < 3000; i++)
        good = good && flags[i] == i + 1;
    result("3000 blocks wait for their neighbour, by ticket", good, device_error_text());
    device_free(count);
    device_free(flags);
}

static __global__ void copies(const int *in, int *out, int wait)
{
    SHARED(int, tile, 4 * 64);
    const int t = int(threadIdx.x);
    for (int stage = 0; stage < 4; stage++) {
        __pipeline_memcpy_async(&tile[stage * 64 + t], &in[stage * 64 + t], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(unsigned(wait));
    __syncthreads();
    for (int stage = 0; stage < 4; stage++)
        out[stage * 64 + t] = tile[stage * 64 + (t + 1) % 64];
}

/* A barrier stands between the copy and its wait. */
static __global__ void prefetch(const int *in, int *out)
{
    SHARED(int, tile, 64);
    const int t = int(threadIdx.x);
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[(t + 1) % 64];
}

/* Three groups of 16-byte copies in flight, each thread into slots of its own: no barrier is needed. */
static __global__ void copy_ring(const uint4 *in, uint4 *out, int rounds)
{
    constexpr int SLOTS = 3;
    SHARED(uint4, ring, SLOTS * 64);
    const int t = int(threadIdx.x), b = int(blockIdx.x) * rounds;
    for (int r = 0; r < SLOTS - 1; r++) {
        if (r < rounds)
            __pipeline_memcpy_async(&ring[r * 64 + t], &in[(b + r) * 64 + t], sizeof(uint4));
        __pipeline_commit();
    }
    for (int r = 0; r < rounds; r++) {
        if (r + SLOTS - 1 < rounds)
            __pipeline_memcpy_async(&ring[(r + SLOTS - 1) % SLOTS * 64 + t], &in[(b + r + SLOTS - 1) * 64 + t],
                                    sizeof(uint4));
        __pipeline_commit();
        __pipeline_wait_prior(SLOTS - 1);
        uint4 v = ring[r % SLOTS * 64 + t];
        v.x += __shfl_up_sync(0xffffffffu, v.w, 1);
        __stcs(&out[(b + r) * 64 + t], v);
        if (r % 2)
            __syncthreads();
    }
}

/* What CUDA has for words of 16 bytes and of 64 bits. */
static __global__ void wide_words(const uint4 *in, uint4 *out, unsigned long long *words)
{
    const unsigned t = threadIdx.x;
    uint4 a = __ldcs(&in[t]), b = __ldcg(&in[t]);
    a.x += b.w;
    __stcg(&out[t], a);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(words[t]);
    word.store(uint64_t(a.x) << 32 | t, cuda::memory_order_relaxed);
    words[64 + t] = word.load(cuda::memory_order_relaxed);
}

static __global__ void never_waits(const int *in)
{
    SHARED(int, tile, 64);
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
}

static __global__ void waits_for_nothing(int *out)
{
    SHARED(int, tile, 64);
    tile[threadIdx.x] = -1;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
}

static void test_copies()
{
    int *in = array<int>(256), *out = array<int>(256);
    for (int i = 0; i < 256; i++)
        in[i] = i + 1;
    bool good = true;
    for (int wait = 0; wait < 4; wait++) {
        launch(copies, 1, 64, in, out, wait);
        for (int i = 0; i < 256; i++) {
            const int expected = i / 64 * 64 + (i + 1) % 64 + 1;
            good = good && out[i] == (i / 64 < 4 - wait ? expected : int(0xa5a5a5a5));
        }
    }
    result("asynchronous copies arrive at their wait and not before", good && !device_error(), device_error_text());
    launch(prefetch, 1, 64, in, out);
    good = true;
    for (int i = 0; i < 64; i++)
        good = good && out[i] == (i + 1) % 64 + 1;
    result("an asynchronous copy outlives a barrier", good && !device_error(), "a copy is lost");
    uint4 *wide_in = array<uint4>(3 * 5 * 64), *wide_out = array<uint4>(3 * 5 * 64);
    for (unsigned i = 0; i < 3 * 5 * 64; i++)
        wide_in[i] = make_uint4(i, 1, 2, i * 7);
    launch(copy_ring, 3, 64, wide_in, wide_out, 5);
    good = true;
    for (unsigned i = 0; i < 3 * 5 * 64; i++)
        good = good && wide_out[i].x == i + (i % 32 ? i - 1 : i) * 7 && wide_out[i].w == i * 7;
    result("a ring of copies by 16 bytes, two groups in flight", good && !device_error(), device_error_text());
    unsigned long long *words = array<unsigned long long>(128);
    launch(wide_words, 1, 64, wide_in, wide_out, words);
    good = true;
    for (unsigned i = 0; i < 64; i++)
        good = good && wide_out[i].x == i * 8 && words[64 + i] == (uint64_t(i * 8) << 32 | i);
    result("words of 16 bytes past the cache, relaxed words of 64 bits", good && !device_error(), device_error_text());
    device_free(wide_in);
    device_free(wide_out);
    device_free(words);
    launch(never_waits, 1, 64, in);
    launch(waits_for_nothing, 1, 64, out);
    good = true;
    for (int i = 0; i < 64; i++)
        good = good && out[i] == -1;
    result("an asynchronous copy does not outlive its launch", good && !device_error(), "an old copy has arrived");
    device_free(in);
    device_free(out);
}

static __global__ void look_at_fresh_memory(const unsigned *global, unsigned *out)
{
    SHARED(unsigned, fresh, 64);
    out[threadIdx.x] = fresh[threadIdx.x] == 0xa5a5a5a5u && global[threadIdx.x] == 0xa5a5a5a5u;
    fresh[threadIdx.x] = 0;
    __syncthreads();
}

static __global__ void atomics(int *i, unsigned *u, float *f, double *d, unsigned long long *w)
{
    const int t = int(threadIdx.x);
    atomicAdd(&i[0], t);
    atomicSub(&i[1], 1);
    atomicMax(&i[2], t);
    atomicMin(&i[3], -t);
    atomicInc(&u[0], 9);
    atomicOr(&u[1], 1u << t % 32);
    atomicXor(&u[2], 1u);
    atomicAdd(&f[0], 0.5f);
    atomicAdd(&d[0], 0.25);
    atomicAdd(&w[0], 1ull << 33);
    if (atomicCAS(&u[3], 0u, unsigned(t + 1)) == 0)
        atomicExch(&u[4], unsigned(t + 1));
}

static void test_memory()
{
    unsigned *global = array<unsigned>(64), *out = array<unsigned>(64);
    bool good = true;
    for (int i = 0; i < 3; i++) {
        launch(look_at_fresh_memory, 5, 64, global, out);
        for (int t = 0; t < 64; t++)
            good = good && out[t] == 1;
    }
    result("fresh shared and device memory is 0xa5, never zero", good && !device_error(), device_error_text());

    int *i = array<int>(4);
    unsigned *u = array<unsigned>(5);
    float *f = array<float>(1);
    double *d = array<double>(1);
    unsigned long long *w = array<unsigned long long>(1);
    for (void *p : {static_cast<void *>(f), static_cast<void *>(d), static_cast<void *>(w)})
        device_fill(p, 0, p == f ? 4 : 8);
    device_fill(i, 0, 16);
    device_fill(u, 0, 20);
    launch(atomics, 4, 64, i, u, f, d, w);
    good = i[0] == 4 * 2016 && i[1] == -256 && i[2] == 63 && i[3] == -63 && u[0] == 256 % 10 && u[1] == 0xffffffffu &&
           u[2] == 0 && f[0] == 128 && d[0] == 64 && w[0] == 256ull << 33 && u[3] >= 1 && u[3] == u[4];
    result("atomics", good && !device_error(), device_error() ? device_error_text() : "a wrong value");
    device_free(global);
    device_free(out);
    device_free(i);
    device_free(u);
    device_free(f);
    device_free(d);
    device_free(w);
}

static __global__ void count_additions(int *out)
{
    Operator<Sum<int>, true> sum;
    out[threadIdx.x] = sum(sum(1, 2), 3);
}

static void test_counting()
{
    int *out = array<int>(256);
    const uint64_t additions = device_additions(), launches = device_launches();
    for (int i = 0; i < 10; i++)
        launch(count_additions, 300, 256, out);
    launch_memset(out, 0, 4);
    launch_memcpy(out, out + 128, 4);
    result("additions and launches are counted",
           device_additions() - additions == 10 * 300 * 256 * 2 && device_launches() - launches == 12 &&
               !device_error(),
           "wrong counts");
    device_free(out);
}

/* A barrier of the whole grid. */
static __global__ void grid_barrier(unsigned *count, int *cells, int *out)
{
    const int b = int(blockIdx.x), n = int(gridDim.x);
    if (threadIdx.x == 0) {
        cells[b] = b;
        atomicAdd(count, 1u);
        while (cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).load() < gridDim.x)
            __nanosleep(20);
        out[b] = cells[(b + 1) % n];
    }
}

/* Every round each thread reads what a thread of another block has written. */
static __global__ void grid_rounds(int *cells, int *out, int rounds)
{
    const int n = int(gridDim.x * blockDim.x), i = int(blockIdx.x * blockDim.x + threadIdx.x);
    int x = i;
    for (int r = 0; r < rounds; r++) {
        cells[i] = x;
        cooperative_groups::this_grid().sync();
        x = cells[(i + int(blockDim.x) + 1) % n];
        if (r % 2)
            __syncthreads();
        cooperative_groups::this_grid().sync();
    }
    out[i] = x;
}

static void test_grid(int blocks, int threads)
{
    const int n = blocks * threads, rounds = 5;
    int *cells = array<int>(size_t(n)), *out = array<int>(size_t(n));
    launch_cooperative(grid_rounds, blocks, threads, cells, out, rounds);
    bool good = !device_error();
    for (int i = 0; i < n; i++)
        good = good && out[i] == (i + rounds * (threads + 1)) % n;
    char name[100];
    snprintf(name, sizeof name, "the barrier of a grid of %d blocks of %d threads", blocks, threads);
    result(name, good, device_error() ? device_error_text() : "a wrong value");
    device_free(cells);
    device_free(out);
}

static void test_cooperative(int blocks)
{
    unsigned *count = array<unsigned>(1);
    int *cells = array<int>(size_t(blocks)), *out = array<int>(size_t(blocks));
    device_fill(count, 0, sizeof *count);
    launch_cooperative(grid_barrier, blocks, 32, count, cells, out);
    bool good = !device_error();
    for (int b = 0; b < blocks; b++)
        good = good && out[b] == (b + 1) % blocks;
    result("a cooperative launch has all blocks resident", good, device_error_text());
    device_free(count);
    device_free(cells);
    device_free(out);
}

/* ---------------------------------------------------------------------------------------------- orders */

static __global__ void write_order(unsigned *count, unsigned *order)
{
    __syncthreads();
    order[atomicAdd(count, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

constexpr unsigned ORDERED = 1024;

static void order_of(struct device_options options, unsigned *order, unsigned threads = 64)
{
    options.workers = 1;
    reopen(options);
    unsigned *count = array<unsigned>(1), *out = array<unsigned>(ORDERED);
    device_fill(count, 0, sizeof *count);
    launch(write_order, ORDERED / threads, threads, count, out);
    memcpy(order, out, ORDERED * sizeof *order);
}

static void test_seeds()
{
    static unsigned a[ORDERED], b[ORDERED], c[ORDERED], up[ORDERED], down[ORDERED], one[ORDERED];
    struct device_options options = {};
    order_of(options, up);
    bool good = true;
    for (unsigned i = 0; i < ORDERED; i++)
        good = good && up[i] == i;
    result("ascending order is ascending", good, "it is not");
    options.schedule = SCHEDULE_DESCENDING;
    options.resident = 1;
    order_of(options, down);
    order_of(options, one, ORDERED);
    for (unsigned i = 0; i < ORDERED; i++)
        good = good && down[i] == ORDERED - 1 - i && one[i] == down[i];
    result("descending order is descending, blocks too", good, "it is not");
    options.schedule = SCHEDULE_SHUFFLED;
    options.resident = 0;
    options.seed = 42;
    order_of(options, a);
    order_of(options, b);
    options.seed = 43;
    order_of(options, c);
    result("a seed gives the same order again", !memcmp(a, b, sizeof a), "two runs differ");
    result("another seed gives another order", memcmp(a, c, sizeof a) && memcmp(a, up, sizeof a),
           "the orders are the same");
}

/* ---------------------------------------------------------------------------------------------- wrong kernels */

static void expect(const char *name, int error, const char *part)
{
    char why[600];
    const bool good = device_error() == error && strstr(device_error_text(), part);
    snprintf(why, sizeof why, "error %d \"%s\", expected %d \"... %s ...\"", device_error(), device_error_text(), error,
             part);
    result(name, good, why);
}

static __global__ void nothing() {}

static __global__ void too_much_shared(int *out)
{
    SHARED(int, most, 12 * 1024);
    SHARED(int, more, 1);
    most[0] = more[0] = 1;
    out[0] = most[0];
}

static __global__ void never_written(int *flag)
{
    while (cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load() != 1)
        ;
}

/* Block b waits for the next one, a whole warp or the whole block at each look. */
static __global__ void wait_together(int *flags, bool by_vote)
{
    SHARED(int, seen, 1);
    const unsigned b = blockIdx.x;
    bool waits = b + 1 < gridDim.x;
    while (waits) {
        cuda::atomic_ref<int, cuda::thread_scope_device> next(flags[b + 1]);
        if (by_vote) {
            waits = __any_sync(0xffffffffu, next.load() == 0);
        } else {
            __syncthreads();
            if (threadIdx.x == 0)
                seen[0] = next.load();
            __syncthreads();
            waits = seen[0] == 0;
        }
    }
    if (threadIdx.x == 0)
        cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b]).store(1);
}

/* All wait for the last block, which computes for long after it has itself waited. */
static __global__ void long_computation(int *flags)
{
    if (threadIdx.x)
        return;
    cuda::atomic_ref<int, cuda::thread_scope_device> begin(flags[0]), done(flags[1]);
    if (blockIdx.x == 0) {
        for (int i = 0; i < 300; i++)
            __nanosleep(100);
        begin.store(1);
    }
    if (blockIdx.x == gridDim.x - 1) {
        while (begin.load() == 0)
            ;
        struct timespec start, now;
        clock_gettime(CLOCK_MONOTONIC, &start);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while (double(now.tv_sec - start.tv_sec) + 1e-9 * double(now.tv_nsec - start.tv_nsec) < 0.6);
        done.store(1);
    }
    while (done.load() == 0)
        ;
}

static __global__ void plain_loop(volatile int *flag)
{
    while (*flag != 1)
        ;
}

static __global__ void barrier_against_warp(int *out)
{
    if (threadIdx.x % 32 < 16)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = 1;
}

static __global__ void bad_address(int *out)
{
    out[uint64_t(1) << 44] = 1;
}

static __global__ void write_behind(int *out)
{
    out[100 + threadIdx.x] = 1;
}

static __noinline__ int deep(int *out, int levels)
{
    volatile int frame[256];
    for (int i = 0; i < 256; i++)
        frame[i] = levels;
    if (levels > 0)
        frame[0] = deep(out, levels - 1);
    out[0] += frame[levels];
    return frame[0];
}

static __global__ void deep_stack(int *out, int levels)
{
    __syncthreads();
    if (threadIdx.x == 1)
        deep(out, levels);
    __syncthreads();
}

/* One thread of one block; before, all have met or not. */
static __global__ void gives_up(int *flags, bool meet, unsigned block, unsigned thread)
{
    if (meet)
        __syncthreads();
    if (blockIdx.x == block && threadIdx.x == thread)
        __trap();
    if (blockIdx.x == block + 1 && threadIdx.x == 0)
        while (cuda::atomic_ref<int, cuda::thread_scope_device>(flags[0]).load() == 0)
            ;
    if (meet)
        __syncthreads();
}

static void test_traps()
{
    static const struct {
        const char *name;
        struct device_options options;
    } orders[] = {{"ascending, 1 worker", {.workers = 1}},
                  {"descending, 1 worker", {.workers = 1, .schedule = SCHEDULE_DESCENDING}},
                  {"3 resident, shuffled", {.resident = 3, .schedule = SCHEDULE_SHUFFLED, .seed = 5}},
                  {"4 workers", {.workers = 4}}};
    for (auto &order : orders) {
        for (bool meet : {false, true}) {
            char name[100];
            reopen(order.options);
            int *flags = array<int>(1);
            device_fill(flags, 0, 4);
            launch(gives_up, 40, 1024, flags, meet, 2u, 77u);
            snprintf(name, sizeof name, "a thread gives up %s, %s", meet ? "between barriers" : "at once", order.name);
            expect(name, 719, "kernel gives_up, block 2: thread 77 has given up (__trap)");
            launch(nothing, 1, 1);
            launch(gives_up, 1, 1, flags, meet, 0u, 0u);
            snprintf(name, sizeof name, "and it sticks, %s", order.name);
            expect(name, 719, "block 2: thread 77 has given up");
        }
    }
}

/* Thread `ended` of block `block` never comes to the barrier of the grid. */
static __global__ void missing_at_grid(unsigned block, unsigned ended, bool waits)
{
    if (blockIdx.x == block && (threadIdx.x == ended || ended == blockDim.x)) {
        if (waits)
            __syncthreads();
        return;
    }
    cooperative_groups::this_grid().sync();
}

static void test_wrong_grids()
{
    for (int workers : {1, 3}) {
        struct device_options options = {};
        options.workers = workers;
        reopen(options);
        launch(missing_at_grid, 3, 32, 99u, 0u, false);
        expect("the barrier of a grid that is not cooperative", 719, "launch_cooperative has not started it");
        reopen(options);
        launch(missing_at_grid, 48, 1024, 99u, 0u, false);
        expect("the same of many blocks", 719, "launch_cooperative has not started it");
        reopen(options);
        launch_cooperative(missing_at_grid, 16, 1024, 2u, 5u, false);
        expect("a thread has ended before the barrier of the grid", 719,
               "block 2 cannot go on: 1023 threads wait at the barrier of the grid, 1 have ended");
        reopen(options);
        launch_cooperative(missing_at_grid, 4, 64, 2u, 5u, true);
        expect("a thread waits at the barrier of its block instead", 719, "wait at the barrier of the grid");
        reopen(options);
        launch_cooperative(missing_at_grid, 1, 64, 0u, 5u, true);
        expect("the same in a grid of one block", 719, "1 threads wait at a barrier, 63 at that of the grid");
        reopen(options);
        launch_cooperative(missing_at_grid, 16, 1024, 2u, 1024u, false);
        expect("a block has ended before the barrier of the grid", 719,
               "nothing makes progress: 15 of 16 blocks wait at the barrier of the grid");
        reopen(options);
        launch_cooperative(grid_rounds, resident_blocks(grid_rounds, 32) + 1, 32, array<int>(9999), array<int>(9999),
                           1);
        expect("one block more than can be resident", 720, "blocks must be resident");
    }
}

/* Each block waits for the one behind it. */
static void test_resident_blocks()
{
    for (int workers : {1, 2}) {
        for (int resident : {0, 1, 3}) {
            for (int threads : {32, 1024}) {
                for (int more : {0, 1}) {
                    struct device_options options = {};
                    char name[100];
                    options.workers = workers;
                    options.resident = resident;
                    reopen(options);
                    const uint64_t blocks = resident_blocks(wait_for_neighbour, threads) + uint64_t(more);
                    int *flags = array<int>(blocks);
                    device_fill(flags, 0, blocks * sizeof *flags);
                    launch(wait_for_neighbour, blocks, threads, nullptr, flags, -1, false);
                    bool good = flags[0] == int(blocks) && !device_error();
                    snprintf(name, sizeof name, "%d workers, %d resident: %d blocks of %d threads%s", workers, resident,
                             int(blocks), threads, more ? ", one too many" : "");
                    if (more)
                        expect(name, 720, "blocks must be resident");
                    else
                        result(name, good, device_error_text());
                }
            }
        }
    }
}

static void test_wrong_kernels()
{
    struct device_options options = {};
    reopen(options);
    launch(nothing, 0, 32);
    expect("a grid of no blocks is refused", 9, "at least 1");
    reopen(options);
    launch(nothing, uint64_t(1) << 31, 1);
    expect("a grid of 2^31 blocks is refused", 9, "2147483648 x 1 x 1");
    reopen(options);
    launch(nothing, 1, 1025);
    expect("a block of 1025 threads is refused", 9, "1025 x 1 x 1");
    reopen(options);
    launch(too_much_shared, 1, 1, array<int>(1));
    expect("more than 48 KiB of shared memory are refused", 1, "shared array more");
    launch(nothing, 1, 1);
    expect("the first error sticks", 1, "shared array more");

    reopen(options);
    int *flag = array<int>(1);
    launch(never_written, 1, 32, flag);
    expect("waiting for memory that nobody writes is noticed", 719, "memory that nobody writes");

    options.resident = 1;
    options.workers = 1;
    options.schedule = SCHEDULE_DESCENDING;
    reopen(options);
    int *flags = array<int>(8);
    device_fill(flags, 0, 32);
    launch(wait_for_neighbour, 8, 32, reinterpret_cast<unsigned *>(flag), flags, 1, false);
    expect("blocks that must be resident together and are not", 720, "more than 1 blocks must be resident, 1 are");
    options.resident = 8;
    reopen(options);
    flags = array<int>(8);
    device_fill(flags, 0, 32);
    launch(wait_for_neighbour, 8, 32, reinterpret_cast<unsigned *>(flag), flags, 1, false);
    result("the same kernel with enough blocks resident", !device_error() && flags[7] == 8, device_error_text());
    reopen({});
    flags = array<int>(64);
    device_fill(flags, 0, 256);
    launch(wait_for_neighbour, 8, 32, reinterpret_cast<unsigned *>(flag), flags, -1, false);
    result("blocks that wait for later ones: more become resident by themselves", !device_error() && flags[0] == 8,
           device_error_text());
    for (bool by_vote : {false, true}) {
        reopen({});
        flags = array<int>(8);
        device_fill(flags, 0, 32);
        launch(wait_together, 8, 64, flags, by_vote);
        result(by_vote ? "the same, when whole warps look" : "the same, when whole blocks look",
               !device_error() && flags[0] == 1, device_error_text());
    }
    options = {};
    options.workers = 1;
    reopen(options);
    flags = array<int>(40);
    device_fill(flags, 0, 160);
    launch(wait_together, 40, 32, flags, true);
    expect("whole warps that look in vain are noticed", 720, "more than 16 blocks must be resident, 16 are");
    options = {};
    options.resident = 64;
    options.workers = 2;
    reopen(options);
    flags = array<int>(2);
    device_fill(flags, 0, 8);
    launch_cooperative(long_computation, 64, 1024, flags);
    result("blocks that wait for a long computation are let wait", !device_error(), device_error_text());
    options = {};
    options.resident = 2;
    options.workers = 2;
    reopen(options);
    launch_cooperative(grid_barrier, 5, 32, array<unsigned>(1), array<int>(5), array<int>(5));
    expect("a cooperative grid that cannot be resident is refused", 720, "5 blocks must be resident, 4 can be");

    options = {};
    options.launch_limit_s = 0.5;
    reopen(options);
    launch(plain_loop, 1, 1, array<int>(1));
    expect("a loop on plain memory is ended by the clock", 702, "kernel plain_loop: ended after");
    reopen({});
    launch(barrier_against_warp, 2, 64, array<int>(64));
    expect("half a warp at a barrier, half in a warp operation", 719, "cannot go on");
    reopen({});
    launch(bad_address, 1, 1, array<int>(1));
    expect("a bad address ends the launch, not the program", 700, "kernel bad_address");
    reopen({});
    int *out = array<int>(100);
    launch(write_behind, 1, 3, out);
    device_free(out);
    expect("a store behind an array is found", 700, "behind an array of 400 bytes");
    reopen({});
    out = array<int>(1);
    launch(deep_stack, 1, 64, out, 8);
    int copy;
    device_download(&copy, out, sizeof copy);
    result("a stack of 9 KiB is enough", !device_error(), device_error_text());
    launch(deep_stack, 1, 64, out, 20);
    device_download(&copy, out, sizeof copy);
    expect("a stack of 21 KiB is not", 719, "KiB of its stack");
    reopen({});
    launch(pass_around, 3, 64, array<int>(192), 5);
    result("after a reopening all is well", !device_error(), device_error_text());

    options = {};
    options.memory_bytes = 1 << 20;
    reopen(options);
    void *half = device_malloc(1 << 19), *too_much = device_malloc((1 << 19) + 1),
         *rest = device_malloc(device_memory_free());
    result("memory is as large as it was said to be", half && !too_much && rest && !device_error(),
           device_error_text());
    device_free(half);
    device_free(rest);
    half = device_malloc((1 << 20) - 512);
    result("and all of it can be had again", half && device_memory_free() == 0, "it cannot");
    device_free(half);
}

int main(void)
{
    struct {
        const char *name;
        struct device_options options;
    } orders[] = {
        {"ascending", {}},
        {"ascending, 4 workers", {.workers = 4}},
        {"ascending, 3 resident", {.resident = 3}},
        {"descending", {.schedule = SCHEDULE_DESCENDING}},
        {"shuffled by 1", {.workers = 1, .schedule = SCHEDULE_SHUFFLED, .seed = 1}},
        {"shuffled by 2", {.workers = 3, .resident = 5, .schedule = SCHEDULE_SHUFFLED, .seed = 2}},
    };
    for (auto &order : orders) {
        reopen(order.options);
        order_name = order.name;
        test_barriers();
        test_early_exit();
        test_dimensions();
        test_shuffles();
        test_partial_masks();
        test_few_lanes();
        test_waiting();
        test_copies();
        test_memory();
        test_counting();
        test_cooperative(3);
        test_grid(1, 1);
        test_grid(3, 37);
        test_grid(int(resident_blocks(grid_rounds, 256)), 256);
        test_grid(int(resident_blocks(grid_rounds, 1024)), 1024);
    }
    order_name = nullptr;
    test_seeds();
    test_wrong_kernels();
    test_traps();
    test_wrong_grids();
    test_resident_blocks();
    device_close();
    return failures != 0;
}
