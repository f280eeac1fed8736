/* SPDX-License-Identifier: MIT */
/* The count build counts what the source of a kernel writes, no more and no less: small kernels with known counts. What
 * the compiler's own reading of the source merges is not written: x + x with the same load twice is one load. */
#include "counting.cuh"
extern "C" {
#include "registry.h"
}

/* ---------------------------------------------------------------------------------------------- global memory */

template <class T> static __global__ void copy(const T *in, T *out, unsigned n)
{
    unsigned i = number();
    if (i < n)
        out[i] = in[i];
}

/* n elements from element `offset` on, in `sectors` sectors of `footprint` distinct ones. */
template <class T>
static void copies(const char *type, unsigned n, unsigned offset, uint64_t sectors, uint64_t distinct)
{
    char name[100];
    snprintf(name, sizeof name, "copy of %u %s from element %u on", n, type, offset);
    counts(name,
           {{"global_loads", n},
            {"global_stores", n},
            {"global_load_requests", (n + 31) / 32},
            {"global_store_requests", (n + 31) / 32},
            {"global_load_sectors", sectors},
            {"global_store_sectors", sectors},
            {"global_load_footprint", distinct},
            {"global_store_footprint", distinct},
            {"bytes_read", n * sizeof(T)},
            {"bytes_written", n * sizeof(T)},
            {"shared_requests", 0},
            {"barriers", 0},
            {"warp_ops", 0},
            {"atomics", 0},
            {"additions", 0}},
           [=] {
               T *in = filled<T>(n + offset), *out = unset<T>(n + offset);
               launch(copy<T>, (n + 127) / 128, 128, in + offset, out + offset, n);
           });
}

template <class T> static void copies_of(const char *type)
{
    copies<T>(type, 1000, 0, 1000 * sizeof(T) / 32, 1000 * sizeof(T) / 32);
    copies<T>(type, 1024, 0, 1024 * sizeof(T) / 32, 1024 * sizeof(T) / 32);
    copies<T>(type, 1024, 1, 1024 * sizeof(T) / 32 + 32, 1024 * sizeof(T) / 32 + 1); /* a sector more a request */
}

static __global__ void gather(const int *in, int *out, unsigned factor, unsigned shift, unsigned flip)
{
    unsigned i = number();
    out[i] = in[((i * factor) >> shift) ^ flip];
}

static void gathers(const char *name, unsigned factor, unsigned shift, unsigned flip, uint64_t sectors,
                    uint64_t distinct)
{
    counts(name, {{"global_load_requests", 8}, {"global_load_sectors", sectors}, {"global_load_footprint", distinct}},
           [=] {
               int *in = filled<int>(256 * 32), *out = unset<int>(256);
               launch(gather, 2, 128, in, out, factor, shift, flip);
           });
}

static __global__ void read_twice(const int *in, int *out)
{
    unsigned i = number();
    int x = in[i];
    out[i] = in[i];
    out[i] = x;
}

static void test_global()
{
    copies_of<int>("i32");
    copies_of<float>("f32");
    copies_of<long long>("i64");
    copies_of<double>("f64");
    copies_of<uint4>("uint4");
    copies_of<double2>("double2");
    copies<char>("char", 1024, 0, 32, 32);
    copies<short>("short", 1024, 0, 64, 64);
    copies<int3>("int3", 1000, 0, 375, 375);
    gathers("loads of every second word", 2, 0, 0, 64, 64);
    gathers("loads of every eighth word", 8, 0, 0, 256, 256);
    gathers("loads of words far apart", 32, 0, 0, 256, 256);
    gathers("loads of neighbours in another order", 1, 0, 5, 32, 32);
    gathers("loads of the same word", 0, 0, 0, 8, 1);
    gathers("loads of every word by two lanes", 1, 1, 0, 16, 16);
    counts("a sector that is read twice is in the footprint once",
           {{"global_loads", 512},
            {"global_load_requests", 16},
            {"global_load_sectors", 64},
            {"global_load_footprint", 32},
            {"global_stores", 512},
            {"global_store_sectors", 64},
            {"global_store_footprint", 32}},
           [] {
               int *in = filled<int>(256), *out = unset<int>(256);
               launch(read_twice, 4, 64, in, out);
           });
    counts("but in that of every launch", {{"global_load_sectors", 128}, {"global_load_footprint", 64}}, [] {
        int *in = filled<int>(256), *out = unset<int>(256);
        launch(read_twice, 4, 64, in, out);
        launch(read_twice, 4, 64, in, out);
    });
}

/* ---------------------------------------------------------------------------------------------- shared memory */

/* Each lane stores to and loads from a cell of its own. */
template <class T> static __global__ void strided(T *out, unsigned stride)
{
    SHARED(T, cells, 1024);
    T x = T();
    cells[threadIdx.x * stride] = x;
    out[threadIdx.x] = cells[threadIdx.x * stride];
}

/* `least`: what a request of the type needs. */
template <class T> static void strides(const char *type, uint64_t least, std::initializer_list<want> all)
{
    for (const struct want &one : all) {
        const unsigned stride = unsigned(atoi(one.field));
        char name[100];
        snprintf(name, sizeof name, "a stride of %u in shared memory, %s: %u wavefronts", stride, type,
                 unsigned(one.value));
        counts(name,
               {{"shared_loads", 32},
                {"shared_stores", 32},
                {"shared_requests", 2},
                {"shared_wavefronts", 2 * one.value},
                {"bank_conflicts", 2 * (one.value - least)},
                {"global_loads", 0}},
               [=] {
                   T *out = unset<T>(32);
                   launch(strided<T>, 1, 32, out, stride);
               });
    }
}

/* A struct of 12 bytes goes word by word, whoever is missing. */
static __global__ void threes(int *out, unsigned lanes)
{
    SHARED(int3, cells, 32);
    int3 x = make_int3(1, 2, 3);
    if (threadIdx.x < lanes)
        cells[threadIdx.x] = x;
    out[threadIdx.x] = 1;
}

/* Cell (lane * factor / 32) * step. */
static __global__ void broadcast(int *out, unsigned factor, unsigned step)
{
    SHARED(int, cells, 1024);
    for (unsigned i = threadIdx.x; i < 1024; i += 32)
        cells[i] = int(i);
    __syncwarp();
    out[threadIdx.x] = cells[threadIdx.x * factor / 32 * step];
}

static void broadcasts(const char *name, unsigned factor, unsigned step, uint64_t wavefronts)
{
    counts(name,
           {{"shared_stores", 1024},
            {"shared_loads", 32},
            {"shared_requests", 33},
            {"shared_wavefronts", 32 + wavefronts},
            {"bank_conflicts", wavefronts - 1}},
           [=] { launch(broadcast, 1, 32, unset<int>(32), factor, step); });
}

/* The tree of a tile, level by level: left and right cell of every node. */
template <class T, int LEVELS> static __global__ void tree(T *out, int size)
{
    constexpr int ROW = 32 * 4 / int(sizeof(T));
    auto place = [](int i) { return i + (LEVELS > 0 ? i / ROW : 0) + (LEVELS > 1 ? i / (ROW * ROW) : 0); };
    SHARED(T, tile, 1024 + 64 + 4);
    int t = int(threadIdx.x), threads = int(blockDim.x);
    for (int i = t; i < size; i += threads)
        tile[place(i)] = T(i);
    for (int stride = 1; stride < size; stride *= 2) {
        __syncthreads();
        int right = (2 * t + 2) * stride - 1, left = right - stride;
        if (right < size)
            tile[place(right)] = tile[place(left)];
    }
    __syncthreads();
    for (int i = t; i < size; i += threads)
        out[i] = tile[place(i)];
}

/* Requests of tree: the tile twice, and of each level a load and a store of every warp that has nodes. */
static uint64_t tree_requests(int size)
{
    uint64_t requests = uint64_t(2 * size / 32);
    for (int nodes = size / 2; nodes > 0; nodes /= 2)
        requests += 2 * uint64_t((nodes + 31) / 32);
    return requests;
}

template <class T, int LEVELS> static uint64_t tree_conflicts(int size)
{
    reopen(&orders[0]);
    counter->begin(true);
    launch((tree<T, LEVELS>), 1, size / 2, unset<T>(size_t(size)), size);
    counter->end();
    return all_launches().bank_conflicts;
}

template <class T> static void padded(const char *type)
{
    for (int size = 64; size <= 1024; size *= 2) {
        char name[100];
        snprintf(name, sizeof name, "a padded tile of %d %s has no bank conflict at any stride", size, type);
        counts(name, {{"bank_conflicts", 0}, {"shared_requests", tree_requests(size)}},
               [=] { launch((tree<T, 2>), 1, size / 2, unset<T>(size_t(size)), size); });
    }
    const int enough = sizeof(T) == 4 ? 1024 : 256; /* for one level of padding */
    char why[100] = "";
    for (int size = 64; size <= 1024; size *= 2)
        if ((tree_conflicts<T, 1>(size) == 0) != (size <= enough) || tree_conflicts<T, 0>(size) == 0)
            snprintf(why, sizeof why, "not for a tile of %d", size);
    char name[100];
    snprintf(name, sizeof name, "one level of padding is enough up to %d %s, none is never", enough, type);
    result(name, why);
}

/* The tiles of kernels/, as they are. */
static uint64_t conflicts_of(const struct algorithm *algorithm, enum type type, enum kind kind, int threads)
{
    reopen(&orders[0]);
    const uint64_t n = uint64_t(threads) * 4 + 3;
    struct problem problem = {};
    problem.n = n;
    problem.type = type;
    problem.op = SUM;
    problem.kind = kind;
    problem.threads = threads;
    problem.in = filled<char>(n * type_size(type));
    problem.out = unset<char>(n * type_size(type));
    problem.workspace = unset<char>(algorithm->workspace(&problem));
    counter->begin(true);
    algorithm->run(&problem);
    counter->end();
    return all_launches().bank_conflicts;
}

static void test_tiles()
{
    static const enum type types[] = {I32, I64, F32, F64};
    static const enum kind kinds[] = {INCLUSIVE, EXCLUSIVE};
    const struct algorithm *block_scan = registry_find("block_scan"), *unpadded = registry_find("block_scan_unpadded");
    for (const enum type type : types)
        for (const enum kind kind : kinds)
            for (int i = 0; block_scan && i < 8 && block_scan->threads[i]; i++) {
                char name[100], why[100] = "";
                const uint64_t conflicts = conflicts_of(block_scan, type, kind, block_scan->threads[i]);
                snprintf(name, sizeof name, "block_scan has no bank conflict: %s %s threads=%d", kind_name(kind),
                         type_name(type), block_scan->threads[i]);
                if (conflicts)
                    snprintf(why, sizeof why, "%llu", static_cast<unsigned long long>(conflicts));
                result(name, why);
            }
    result("block_scan_unpadded has some",
           unpadded && conflicts_of(unpadded, I32, EXCLUSIVE, unpadded->threads[0]) > 0 ? "" : "it has none");
}

static void test_shared()
{
    strides<int>("i32", 1, {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}, {"33", 1}, {"3", 1}});
    strides<float>("f32", 1, {{"1", 1}, {"32", 32}, {"33", 1}});
    strides<double>("f64", 2, {{"1", 2}, {"2", 4}, {"4", 8}, {"8", 16}, {"16", 32}, {"32", 32}, {"33", 2}, {"17", 2}});
    strides<long long>("i64", 2, {{"1", 2}, {"16", 32}, {"17", 2}});
    strides<uint4>("uint4", 4, {{"1", 4}, {"2", 8}, {"4", 16}, {"8", 32}, {"9", 4}, {"32", 32}, {"33", 4}});
    strides<short>("short", 1, {{"1", 1}, {"2", 1}, {"4", 2}});
    strides<char>("char", 1, {{"1", 1}, {"4", 1}, {"8", 2}});
    for (unsigned lanes : {32u, 31u, 16u})
        counts("structs of 12 bytes in shared memory",
               {{"shared_stores", lanes}, {"shared_requests", 1}, {"shared_wavefronts", 3}, {"bank_conflicts", 0}},
               [=] { launch(threes, 1, 32, unset<int>(32), lanes); });
    broadcasts("a broadcast is one wavefront", 0, 0, 1);
    broadcasts("two words of one bank are two wavefronts", 2, 32, 2);
    broadcasts("two words of two banks are one", 2, 33, 1);
    broadcasts("eight words of one bank are eight", 8, 64, 8);
    padded<int>("i32");
    padded<double>("f64");
    test_tiles();
}

/* ---------------------------------------------------------------------------------------------- requests */

static __global__ void branch(int *out)
{
    unsigned i = number();
    if (i % 32 < 16)
        out[i] = 1;
    else
        out[i] = 2;
}

/* Lane l goes round l + 1 times. */
static __global__ void triangle(int *out)
{
    unsigned lane = threadIdx.x;
    for (unsigned k = 0; k <= lane; k++)
        out[lane * 32 + k] = int(k);
}

enum meeting { NO_MEETING, WARP_MEETS, BLOCK_MEETS, HALVES_MEET };

/* Even lanes load in the first turn, odd ones in the second. */
static __global__ void in_turns(const int *in, int *out, enum meeting meeting)
{
    unsigned lane = threadIdx.x;
    int x = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
        if (lane % 2 == turn)
            x += in[lane];
        if (meeting == WARP_MEETS)
            __syncwarp();
        if (meeting == BLOCK_MEETS)
            __syncthreads();
        if (meeting == HALVES_MEET)
            __syncwarp(lane % 2 ? 0xaaaaaaaau : 0x55555555u);
    }
    out[lane] = x;
}

static void turns(const char *name, enum meeting meeting, uint64_t requests, uint64_t sectors)
{
    counts(name, {{"global_loads", 32}, {"global_load_requests", requests}, {"global_load_sectors", sectors}}, [=] {
        int *in = filled<int>(32), *out = unset<int>(32);
        launch(in_turns, 1, 32, in, out, meeting);
    });
}

/* Which half of the warp ends first is a matter of the order. */
static __global__ void halves_alone(const int *in, int *out)
{
    unsigned lane = threadIdx.x;
    int x = 0;
    for (unsigned turn = 0; turn < 4; turn++) {
        x += in[(lane + turn) % 32];
        __syncwarp(lane < 16 ? 0xffffu : 0xffff0000u);
    }
    out[lane] = x;
}

static __global__ void long_loop(const int *in, int *out, unsigned rounds)
{
    int x = 0;
    for (unsigned k = 0; k < rounds; k++)
        x += in[k * 32 + threadIdx.x];
    out[threadIdx.x] = x;
}

static __global__ void exchange_rounds(int *out, int rounds)
{
    SHARED(int, cells, 256);
    unsigned t = threadIdx.x;
    int x = 0;
    for (int k = 0; k < rounds; k++) {
        cells[t] = k;
        __syncthreads();
        x += cells[t ^ 1];
        __syncthreads();
    }
    out[number()] = x;
}

static __global__ void early_end(const int *in, int *out, unsigned n)
{
    unsigned i = number();
    if (i >= n)
        return;
    int x = in[i];
    if (i % 3 == 0)
        return;
    out[i] = x;
}

/* Threads of three dimensions are numbered x first. */
static __global__ void three_dimensions(int *out)
{
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + t] = 1;
}

static void test_requests()
{
    counts("partial warps: 3 blocks of 40 threads",
           {{"global_loads", 120}, {"global_load_requests", 6}, {"global_load_sectors", 15}, {"global_stores", 120}},
           [] {
               int *in = filled<int>(120), *out = unset<int>(120);
               launch(copy<int>, 3, 40, in, out, 120);
           });
    counts("a divergent warp: two places, two requests",
           {{"global_stores", 128}, {"global_store_requests", 8}, {"global_store_sectors", 16}},
           [] { launch(branch, 2, 64, unset<int>(128)); });
    counts("a loop that lanes leave one by one",
           {{"global_stores", 528},
            {"global_store_requests", 32},
            {"global_store_sectors", 528},
            {"global_store_footprint", 80}},
           [] { launch(triangle, 1, 32, unset<int>(1024)); });
    turns("lanes that come in turns make one request", NO_MEETING, 1, 4);
    turns("unless their warp has met in between", WARP_MEETS, 2, 8);
    turns("or their block", BLOCK_MEETS, 2, 8);
    turns("half a warp that meets is not all of it", HALVES_MEET, 1, 4);
    counts("halves that go their own way", {{"global_loads", 128}, {"global_load_requests", 4}}, [] {
        int *in = filled<int>(32), *out = unset<int>(32);
        launch(halves_alone, 1, 32, in, out);
    });
    counts("thousands of requests before a warp meets",
           {{"global_loads", 96000}, {"global_load_requests", 3000}, {"global_load_sectors", 12000}}, [] {
               int *in = filled<int>(96000), *out = unset<int>(32);
               launch(long_loop, 1, 32, in, out, 3000u);
           });
    counts("a loop with barriers",
           {{"shared_stores", 4 * 96 * 2},
            {"shared_loads", 4 * 96 * 2},
            {"shared_requests", 4 * 3 * 2 * 2},
            {"shared_wavefronts", 4 * 3 * 2 * 2},
            {"barriers", 4 * 2 * 2}},
           [] { launch(exchange_rounds, 2, 96, unset<int>(192), 4); });
    counts("threads that end early",
           {{"global_loads", 100}, {"global_load_requests", 4}, {"global_stores", 66}, {"global_store_requests", 4}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(early_end, 2, 64, in, out, 100);
           });
    counts("three dimensions", {{"global_stores", 384}, {"global_store_requests", 12}, {"global_store_sectors", 48}},
           [] { launch(three_dimensions, dim3(2, 3), dim3(4, 4, 4), unset<int>(384)); });
}

/* ---------------------------------------------------------------------------------------------- synchronisation */

static __global__ void operations(int *out)
{
    unsigned lane = threadIdx.x % 32;
    int x = int(lane);
    __syncthreads();
    x += __shfl_up_sync(ALL_LANES, x, 1);
    x += __shfl_xor_sync(ALL_LANES, x, 16);
    __syncthreads();
    x += __popc(__ballot_sync(ALL_LANES, x > 3));
    __syncwarp();
    x += __all_sync(ALL_LANES, x != 0) + __any_sync(ALL_LANES, x == 0);
    x += int(__match_any_sync(ALL_LANES, x)) + int(__reduce_add_sync(ALL_LANES, unsigned(x)));
    __syncthreads();
    out[number()] = x;
}

/* The lower half of the lanes twice, the upper once, all once. */
static __global__ void half_operations(int *out)
{
    unsigned lane = threadIdx.x % 32;
    int x = int(lane);
    if (lane < 16) {
        x += __shfl_xor_sync(0x0000ffffu, x, 1);
        __syncwarp(0x0000ffffu);
    } else {
        x += __shfl_xor_sync(0xffff0000u, x, 1);
    }
    __syncwarp();
    out[number()] = x;
}

static __global__ void atomic_adds(int *sums)
{
    SHARED(int, count, 1);
    if (threadIdx.x == 0)
        count[0] = 0;
    __syncthreads();
    atomicAdd(&count[0], 1);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&sums[0], count[0]);
    atomicMax(&sums[1 + threadIdx.x], int(number()));
}

static __global__ void atomic_words(unsigned long long *words, int *out)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(words[number()]);
    word.store(7, cuda::memory_order_release);
    out[number()] = int(word.load(cuda::memory_order_acquire));
}

static __global__ void few_additions(int *out, int threads)
{
    Operator<Sum<int>, true> sum;
    int x = 0;
    for (int k = 0; k < 3; k++)
        if (int(threadIdx.x) < threads)
            x = sum(x, k);
    out[number()] = x;
}

static void test_launch_list()
{
    char why[200] = "";
    for (const struct order &order : orders) {
        const struct launch_counts *list;
        reopen(&order);
        int *out = unset<int>(256), *in = filled<int>(256);
        counter->begin(true);
        launch(few_additions, 4, 64, out, 10);
        launch((copy<int>), 2, 128, in, out, 256u);
        launch((tree<int, 2>), 1, 32, out, 64);
        launch_memset(out, 0, 1000);
        launch_memcpy(in + 1, out, 100);
        counter->end();
        const int count = counter->launches(&list);
        static const struct launch_counts wanted[] = {{"few_additions", 4, 256, 40, {}},
                                                      {"copy", 2, 256, 0, {}},
                                                      {"tree", 1, 32, 0, {}},
                                                      {"memset", 0, 0, 0, {}},
                                                      {"memcpy", 0, 0, 0, {}}};
        if (count != 5)
            snprintf(why, sizeof why, "%s: %d launches, not 5", order.name, count);
        for (int i = 0; i < 5 && !*why; i++)
            if (strcmp(list[i].kernel, wanted[i].kernel) || list[i].blocks != wanted[i].blocks ||
                list[i].threads_launched != wanted[i].threads_launched ||
                list[i].active_threads != wanted[i].active_threads)
                snprintf(why, sizeof why, "%s: launch %d is %s of %llu blocks, %llu threads, %llu active", order.name,
                         i, list[i].kernel, static_cast<unsigned long long>(list[i].blocks),
                         static_cast<unsigned long long>(list[i].threads_launched),
                         static_cast<unsigned long long>(list[i].active_threads));
        if (!*why && (list[0].counts.additions != 120 || list[1].counts.additions != 0))
            snprintf(why, sizeof why, "%s: %llu additions, not 120", order.name,
                     static_cast<unsigned long long>(list[0].counts.additions));
    }
    result("the list of launches: kernels, blocks, threads, those that add", why);
}

static void test_additions_alone()
{
    const struct launch_counts *list;
    reopen(&orders[0]);
    counter->begin(false);
    launch(few_additions, 4, 64, unset<int>(256), 10);
    counter->end();
    result("without memory only additions are counted",
           counter->launches(&list) == 1 && list[0].counts.additions == 120 && !list[0].counts.global_stores
               ? ""
               : "other counts than 120 and 0");
}

/* Block b has looked at b tiles before its own. */
static __global__ void looks_back(int *out)
{
    out[number()] = 1;
    if (threadIdx.x == 0)
        count_lookback(blockIdx.x);
}

/* Every thread reads what one of the next block has written. */
static __global__ void around_the_grid(int *cells, int *out)
{
    unsigned i = number(), n = gridDim.x * blockDim.x;
    for (int round = 0; round < 2; round++) {
        cells[i] = int(i) + round;
        cooperative_groups::this_grid().sync();
        out[i] = cells[(i + blockDim.x) % n];
        cooperative_groups::this_grid().sync();
    }
}

/* Plain words, words of other threads' flags, and 16 bytes at a time past the cache and by asynchronous copies. */
static __global__ void plain_and_atomic(const int *in, int *out, int *flags, const uint4 *wide, uint4 *wide_out)
{
    SHARED(uint4, slots, 2 * 32);
    unsigned i = number(), t = threadIdx.x;
    out[i] = in[i];
    atomicAdd(&flags[i], 1);
    volatile int *flag = &flags[i];
    *flag = *flag + 1;
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(flags[i]);
    ref.store(ref.load(cuda::memory_order_relaxed), cuda::memory_order_relaxed);
    __pipeline_memcpy_async(&slots[t], &wide[i], 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&slots[32 + t], &wide[i], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    uint4 v = slots[t], w = __ldcs(&wide[i]);
    v.x += w.y + __ldcg(&wide[i]).z;
    __pipeline_wait_prior(0);
    v.x += slots[32 + t].x;
    __stcs(&wide_out[i], v);
}

static void test_synchronisation()
{
    least_resident = 3;
    counts("the barrier of the grid is one of each block",
           {{"barriers", 3 * 4}, {"global_loads", 2 * 96}, {"global_stores", 4 * 96}, {"atomics", 0}, {"warp_ops", 0}},
           [] { launch_cooperative(around_the_grid, 3, 32, unset<int>(96), unset<int>(96)); });
    least_resident = 0;
    counts("what atomic and volatile accesses move is counted, and told apart",
           {{"bytes_read", 64 * (4 + 3 * 4 + 4 * 16)},
            {"bytes_written", 64 * (4 + 3 * 4 + 16)},
            {"atomic_bytes_read", 64 * 3 * 4},
            {"atomic_bytes_written", 64 * 3 * 4},
            {"global_loads", 64 * (1 + 3 + 4)},
            {"global_stores", 64 * (1 + 3 + 1)},
            {"shared_loads", 64 * 2},
            {"shared_stores", 64 * 2},
            {"bank_conflicts", 2 * 3}, /* of the last load, a word of every four */
            {"atomics", 64 * 5}},
           [] {
               launch(plain_and_atomic, 2, 32, filled<int>(64), unset<int>(64), filled<int>(64), filled<uint4>(64),
                      unset<uint4>(64));
           });
    counts("tiles that were looked back at", {{"lookbacks", 7}, {"lookback_tiles", 21}, {"lookback_max", 6}},
           [] { launch(looks_back, 7, 32, unset<int>(224)); });
    counts("barriers of blocks, operations of warps", {{"barriers", 15}, {"warp_ops", 8 * 3 * 5}, {"atomics", 0}},
           [] { launch(operations, 5, 96, unset<int>(480)); });
    counts("operations of half a warp", {{"barriers", 0}, {"warp_ops", 4 * 2 * 3}},
           [] { launch(half_operations, 3, 64, unset<int>(192)); });
    counts("atomics",
           {{"atomics", 4 * 64 * 2 + 4},
            {"shared_loads", 4 * 64 + 4},
            {"shared_stores", 4 * 64 + 4},
            {"shared_requests", 4 * 2 * 2 + 2 * 4},
            {"bank_conflicts", 0},
            {"global_loads", 4 * 64 + 4},
            {"global_stores", 4 * 64 + 4},
            {"global_load_requests", 4 * 2 + 4},
            {"global_load_footprint", 9}},
           [] { launch(atomic_adds, 4, 64, filled<int>(65)); });
    counts("atomic loads and stores",
           {{"atomics", 256},
            {"global_loads", 128},
            {"global_stores", 256},
            {"global_load_sectors", 32},
            {"global_store_sectors", 48},
            {"bytes_read", 1024},
            {"bytes_written", 1024 + 512}},
           [] { launch(atomic_words, 2, 64, filled<unsigned long long>(128), unset<int>(128)); });
    counts("memset and memcpy are launches of bytes and sectors",
           {{"bytes_written", 1100},
            {"bytes_read", 100},
            {"global_store_sectors", 32 + 4},
            {"global_load_sectors", 4},
            {"global_store_footprint", 32 + 4},
            {"global_load_footprint", 4},
            {"global_loads", 0},
            {"global_stores", 0},
            {"global_load_requests", 0},
            {"global_store_requests", 0}},
           [] {
               char *data = unset<char>(2000);
               launch_memset(data, 0, 1000);
               launch_memcpy(data + 1024 + 4, data, 100);
           });
    test_launch_list();
    test_additions_alone();
}

/* ---------------------------------------------------------------------------------------------- as it is written */

/* What an optimiser would merge, move or drop. */
static __global__ void redundant_loads(const int *in, int *out)
{
    unsigned i = number();
    int a = in[i];
    int b = in[i];
    out[i] = a + b;
}

static __global__ void dead_loads(const int *in, int *out)
{
    unsigned i = number();
    int unused = in[i];
    int twice = in[i + 1];
    (void)unused;
    (void)twice;
    out[i] = 1;
}

static __global__ void invariant_loads(const int *in, int *out)
{
    int sum = 0;
    for (int k = 0; k < 5; k++)
        sum += in[0];
    out[number()] = sum;
}

static __global__ void dead_stores(int *out)
{
    unsigned i = number();
    out[i] = 1;
    out[i] = 2;
}

static __global__ void accumulate(const int *in, int *out)
{
    unsigned i = number();
    for (int k = 0; k < 3; k++)
        out[i] += in[i];
}

static __global__ void divergent_loop(const int *in, int *out)
{
    unsigned lane = threadIdx.x;
    int sum = 0;
    for (unsigned k = lane; k < 32; k += lane + 1)
        sum += in[k];
    out[lane] = sum;
}

struct particle {
    float x, y, z;
    int id;
};

static __global__ void structs(const struct particle *from, struct particle *to)
{
    unsigned i = number();
    to[i] = from[i];
    to[i].x = from[i].y + from[i].z;
}

struct triple {
    double a, b, c;
};
struct five {
    int word[5];
};

template <class T> static __global__ void copy_struct(const T *from, T *to)
{
    unsigned i = number();
    T x = from[i];
    to[i] = x;
}

static __global__ void vectors(const uint4 *in, uint4 *out, unsigned *sums)
{
    unsigned i = number();
    uint4 v = in[i];
    v.x += v.w;
    out[i] = v;
    sums[i] = in[i].y;
}

static __global__ void switches(const int *in, int *out)
{
    unsigned i = number();
    switch (i % 4) {
    case 0: out[i] = in[i]; break;
    case 1: out[i] = in[i] * 2; break;
    case 2: out[i] = in[i] + 1; /* fall through */
    default: out[i] = 7;
    }
}

static __global__ void conditions(const int *in, int *out, unsigned n)
{
    unsigned i = number();
    out[i] = i % 2 ? in[i] : in[n - 1 - i];
    if (in[i] != 0 && in[i + n] != 0)
        out[i] = 1;
}

static __global__ void references(int *out)
{
    int &x = out[number()];
    x += 1;
    x *= 2;
}

static __global__ void locals(const int *in, int *out)
{
    unsigned i = number();
    int local[8];
    for (int k = 0; k < 8; k++)
        local[k] = in[i];
    auto sum = [&](int from) {
        int s = 0;
        for (int k = from; k < 8; k++)
            s += local[k];
        return s;
    };
    out[i] = sum(int(i % 8));
}

static __device__ int load(const int *at)
{
    return *at;
}

static __global__ void calls(const int *in, int *out)
{
    unsigned i = number();
    int x = load(in + i);
    x += load(in + i);
    out[i] = x;
}

static __global__ void operators(int *out)
{
    SHARED(int, cells, 64);
    unsigned t = threadIdx.x;
    Operator<Sum<int>, true> sum;
    cells[t] = int(t);
    __syncthreads();
    out[number()] = sum(cells[t], cells[63 - t]);
}

/* What the branches of an `if` have in common is written twice. */
static __global__ void same_in_both_branches(const int *in, int *out)
{
    unsigned i = number();
    int x;
    if (i % 2)
        x = in[i];
    else
        x = in[i] + 1;
    int *to = out + i;
    if (x > 5)
        *to = 3;
    else
        *to = 4;
}

/* A load that comes again behind the `if`, a store that is overwritten in it. */
static __global__ void again_behind_the_branch(const int *in, int *out)
{
    unsigned i = number();
    int *to = out + i, x = 0;
    if (i % 2)
        x = in[i];
    int y = in[i];
    *to = x;
    if (i % 32 < 8)
        *to = y;
}

/* One load between two branches of the same condition. */
static __global__ void between_branches(const int *in, int *out)
{
    unsigned i = number();
    bool odd = i % 2 != 0;
    int x = odd ? 3 : 4;
    if (odd)
        out[i] = 1;
    x += in[i];
    if (odd)
        out[i] = x;
    else
        out[i] = x + 1;
}

static __global__ void chosen_address(const int *in, int *out)
{
    unsigned i = number();
    const int *from = i % 2 ? in + i : in + i + 128;
    int x = *from;
    int &to = i % 2 ? out[i - 1] : out[i + 1];
    to = x;
}

static __global__ void same_cases(const int *in, int *out)
{
    unsigned i = number();
    switch (i % 4) {
    case 0: out[i] = in[i]; break;
    case 1: out[i] = 1; break;
    case 2: out[i] = in[i]; break;
    default: out[i] = 1;
    }
}

/* Two rounds of two, with loads that do not change in the inner one, in the outer one, and that do. */
static __global__ void nested_loops(const int *in, int *out)
{
    unsigned i = number();
    int sum = 0;
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) {
            sum += in[0];
            sum += in[k];
            sum += in[i + unsigned(l)];
            out[i] = sum;
        }
}

static __global__ void walk(const int *in, int *out)
{
    const int *from = in + number() * 4;
    int sum = 0, left = 4;
    do
        sum += *from++;
    while (--left > 0 && sum == 0);
    out[number()] = sum;
    for (;;) {
        if (in[0] != 1)
            break;
        out[number()] = 0;
    }
}

static __device__ __forceinline__ int load_inline(const int *at)
{
    return *at;
}

static __global__ void called_in_both_branches(const int *in, int *out)
{
    unsigned i = number();
    int x = 0;
    if (i % 2)
        x = load_inline(in + i);
    else
        x = load_inline(in + i);
    out[i] = x;
}

static __global__ void stores_side_by_side(int *out, char *bytes)
{
    unsigned i = number();
    out[2 * i] = 1;
    out[2 * i + 1] = 2;
    bytes[4 * i] = 0;
    bytes[4 * i + 1] = 0;
    bytes[4 * i + 2] = 0;
    bytes[4 * i + 3] = 0;
}

static __global__ void clear_and_copy(const int *in, int *out)
{
    int *to = out + number() * 8;
    for (int k = 0; k < 4; k++)
        to[k] = 0;
    for (int k = 4; k < 8; k++)
        to[k] = in[k];
}

static const int powers[4] = {1, 10, 100, 1000};

static __global__ void constants(int *out)
{
    out[number()] = powers[threadIdx.x % 4] + int(blockDim.x);
}

static void test_as_written()
{
    counts("redundant loads",
           {{"global_loads", 256}, {"global_load_requests", 8}, {"global_load_sectors", 32}, {"global_stores", 128}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(redundant_loads, 2, 64, in, out);
           });
    counts("dead loads", {{"global_loads", 256}, {"global_load_requests", 8}, {"global_load_sectors", 4 * 4 + 4 * 5}},
           [] {
               int *in = filled<int>(129), *out = unset<int>(128);
               launch(dead_loads, 2, 64, in, out);
           });
    counts("invariant loads in a loop",
           {{"global_loads", 640},
            {"global_load_requests", 20},
            {"global_load_sectors", 20},
            {"global_load_footprint", 1},
            {"bytes_read", 2560}},
           [] {
               int *in = filled<int>(1), *out = unset<int>(128);
               launch(invariant_loads, 2, 64, in, out);
           });
    counts("dead stores", {{"global_stores", 256}, {"global_store_requests", 8}, {"global_store_footprint", 16}},
           [] { launch(dead_stores, 2, 64, unset<int>(128)); });
    counts("loads and stores of +=",
           {{"global_loads", 6 * 128},
            {"global_stores", 3 * 128},
            {"global_load_requests", 6 * 4},
            {"global_store_requests", 3 * 4}},
           [] {
               int *in = filled<int>(128), *out = filled<int>(128);
               launch(accumulate, 2, 64, in, out);
           });
    uint64_t rounds = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned k = lane; k < 32; k += lane + 1)
            rounds++;
    counts("a divergent loop", {{"global_loads", rounds}, {"global_load_requests", 32}, {"global_stores", 32}}, [] {
        int *in = filled<int>(32), *out = unset<int>(32);
        launch(divergent_loop, 1, 32, in, out);
    });
    counts("structs and their members",
           {{"global_loads", 3 * 128},
            {"global_stores", 2 * 128},
            {"bytes_read", 24 * 128},
            {"bytes_written", 20 * 128},
            {"global_load_requests", 3 * 4},
            {"global_load_sectors", 4 * 16 * 3},
            {"global_store_sectors", 4 * 16 * 2}},
           [] {
               struct particle *from = filled<struct particle>(128), *to = unset<struct particle>(128);
               launch(structs, 2, 64, from, to);
           });
    counts("a struct of 24 bytes", {{"bytes_read", 24 * 64}, {"bytes_written", 24 * 64}, {"global_load_footprint", 48}},
           [] {
               struct triple *from = filled<struct triple>(64), *to = unset<struct triple>(64);
               launch(copy_struct<struct triple>, 1, 64, from, to);
           });
    counts("a struct of 20 bytes", {{"bytes_read", 20 * 64}, {"bytes_written", 20 * 64}, {"global_load_footprint", 40}},
           [] {
               struct five *from = filled<struct five>(64), *to = unset<struct five>(64);
               launch(copy_struct<struct five>, 1, 64, from, to);
           });
    counts("vectors of 16 bytes and their components",
           {{"global_loads", 256},
            {"global_stores", 256},
            {"bytes_read", 20 * 128},
            {"bytes_written", 20 * 128},
            {"global_load_sectors", 4 * (16 + 16)},
            {"global_store_sectors", 4 * (16 + 4)}},
           [] {
               uint4 *in = filled<uint4>(128), *out = unset<uint4>(128);
               launch(vectors, 2, 64, in, out, unset<unsigned>(128));
           });
    counts("a switch",
           {{"global_loads", 96},
            {"global_stores", 160},
            {"global_load_requests", 12},
            {"global_store_requests", 16},
            {"global_load_sectors", 48},
            {"global_store_sectors", 64}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(switches, 2, 64, in, out);
           });
    counts("conditions that are not looked at", {{"global_loads", 256}, {"global_load_requests", 12}}, [] {
        int *in = filled<int>(256), *out = unset<int>(128);
        launch(conditions, 2, 64, in, out, 128u);
    });
    counts("conditions that are", {{"global_loads", 384}, {"global_load_requests", 16}, {"global_stores", 256}}, [] {
        int *in = filled<int>(256, 1), *out = unset<int>(128);
        launch(conditions, 2, 64, in, out, 128u);
    });
    counts("references", {{"global_loads", 256}, {"global_stores", 256}},
           [] { launch(references, 2, 64, filled<int>(128)); });
    counts("locals are nobody's memory", {{"global_loads", 8 * 128}, {"global_stores", 128}, {"shared_requests", 0}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(locals, 2, 64, in, out);
           });
    counts("a function that is called twice", {{"global_loads", 256}, {"global_load_requests", 8}}, [] {
        int *in = filled<int>(128), *out = unset<int>(128);
        launch(calls, 2, 64, in, out);
    });
    counts("operands of an operator",
           {{"additions", 128}, {"shared_loads", 256}, {"shared_stores", 128}, {"shared_requests", 12}},
           [] { launch(operators, 2, 64, unset<int>(128)); });
    counts("the same load and store in both branches",
           {{"global_loads", 128}, {"global_load_requests", 8}, {"global_store_requests", 4}}, [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(same_in_both_branches, 2, 64, in, out);
           });
    counts("the same store in both branches, both taken", {{"global_loads", 128}, {"global_store_requests", 8}}, [] {
        int five[128], *in = unset<int>(128), *out = unset<int>(128);
        for (int i = 0; i < 128; i++)
            five[i] = i % 4 < 2 ? 9 : 0;
        device_upload(in, five, sizeof five);
        launch(same_in_both_branches, 2, 64, in, out);
    });
    counts("loads and stores again behind a branch",
           {{"global_loads", 192},
            {"global_load_requests", 8},
            {"global_stores", 160},
            {"global_store_requests", 8},
            {"global_store_sectors", 20}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(again_behind_the_branch, 2, 64, in, out);
           });
    counts("a load between two branches",
           {{"global_loads", 128}, {"global_load_requests", 4}, {"global_stores", 192}, {"global_store_requests", 12}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(between_branches, 2, 64, in, out);
           });
    counts("an address that is chosen",
           {{"global_loads", 128}, {"global_load_requests", 4}, {"global_stores", 128}, {"global_store_requests", 4}},
           [] {
               int *in = filled<int>(256), *out = unset<int>(128);
               launch(chosen_address, 2, 64, in, out);
           });
    counts("cases that are the same",
           {{"global_loads", 64}, {"global_load_requests", 8}, {"global_stores", 128}, {"global_store_requests", 16}},
           [] {
               int *in = filled<int>(128), *out = unset<int>(128);
               launch(same_cases, 2, 64, in, out);
           });
    counts("loops in loops",
           {{"global_loads", 12 * 128},
            {"global_load_requests", 12 * 4},
            {"global_stores", 4 * 128},
            {"global_store_requests", 4 * 4}},
           [] {
               int *in = filled<int>(130), *out = unset<int>(128);
               launch(nested_loops, 2, 64, in, out);
           });
    counts("a pointer that walks", {{"global_loads", 5 * 128}, {"global_load_requests", 5 * 4}, {"global_stores", 128}},
           [] {
               int *in = filled<int>(512), *out = unset<int>(128);
               launch(walk, 2, 64, in, out);
           });
    counts("a function written into both branches", {{"global_loads", 128}, {"global_load_requests", 8}}, [] {
        int *in = filled<int>(128), *out = unset<int>(128);
        launch(called_in_both_branches, 2, 64, in, out);
    });
    counts("stores side by side",
           {{"global_stores", 6 * 128},
            {"global_store_requests", 6 * 4},
            {"bytes_written", 12 * 128},
            {"global_store_sectors", 4 * (8 + 8 + 4 * 4)}},
           [] { launch(stores_side_by_side, 2, 64, unset<int>(256), unset<char>(512)); });
    counts("loops that clear and copy", {{"global_stores", 8 * 128}, {"global_loads", 4 * 128}}, [] {
        int *in = filled<int>(8), *out = unset<int>(1024);
        launch(clear_and_copy, 2, 64, in, out);
    });
    counts("constants of a file", {{"global_loads", 0}, {"global_stores", 128}},
           [] { launch(constants, 2, 64, unset<int>(128)); });
}

/* ---------------------------------------------------------------------------------------------- asynchronous copies */

template <class T> static __global__ void asynchronous(const T *in, T *out)
{
    SHARED(T, tile, 64);
    unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[number()], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[number()] = tile[63 - t];
}

/* Two stages in turn: a tile is fetched while the other one is read. */
static __global__ void two_stages(const int *in, int *out, int tiles)
{
    SHARED(int, tile, 2 * 64);
    int t = int(threadIdx.x);
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&tile[(k + 1) % 2 * 64 + t], &in[(k + 1) * 64 + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads(); /* tile k is there */
        out[k * 64 + t] = tile[k % 2 * 64 + 63 - t];
        __syncthreads(); /* it may be overwritten */
    }
}

template <class T> static void asynchronous_copies(const char *type)
{
    char name[100];
    snprintf(name, sizeof name, "an asynchronous copy loads and stores once, %s", type);
    counts(name,
           {{"global_loads", 128},
            {"global_stores", 128},
            {"global_load_requests", 4},
            {"global_load_sectors", 128 * sizeof(T) / 32},
            {"shared_stores", 128},
            {"shared_loads", 128},
            {"shared_requests", 8},
            {"shared_wavefronts", 8 * sizeof(T) / 4},
            {"bank_conflicts", 0},
            {"bytes_read", 128 * sizeof(T)}},
           [] {
               T *in = filled<T>(128), *out = unset<T>(128);
               launch(asynchronous<T>, 2, 64, in, out);
           });
}

static void test_asynchronous()
{
    asynchronous_copies<int>("i32");
    asynchronous_copies<double>("f64");
    asynchronous_copies<uint4>("uint4");
    counts("two stages of asynchronous copies",
           {{"global_loads", 5 * 64}, {"shared_stores", 5 * 64}, {"shared_loads", 5 * 64}, {"barriers", 10}}, [] {
               int *in = filled<int>(5 * 64), *out = unset<int>(5 * 64);
               launch(two_stages, 1, 64, in, out, 5);
           });
}

static void test_all()
{
    test_global();
    test_shared();
    test_requests();
    test_synchronisation();
    test_as_written();
    test_asynchronous();
}

int main(void)
{
    return run_tests("counts", test_all);
}
