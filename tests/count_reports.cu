/* SPDX-License-Identifier: MIT */
/* The checker of the count build: small wrong kernels and what is reported of them, with the line of the source; small
 * right ones, and silence. */
#include "counting.cuh"

/* ---------------------------------------------------------------------------------------------- wrong addresses */

static __global__ void load_at(const int *in, int *out, long index)
{
    out[threadIdx.x] = in[long(threadIdx.x) + index]; /* here: load at */
}

static __global__ void store_at(int *out, long index)
{
    out[long(threadIdx.x) + index] = 1; /* here: store at */
}

template <class T> static __global__ void load_off(const char *in, T *out, unsigned offset)
{
    out[threadIdx.x] = *reinterpret_cast<const T *>(in + threadIdx.x * sizeof(T) + offset); /* here: load off */
}

static __global__ void atomic_at(int *sums, long index)
{
    atomicAdd(&sums[long(threadIdx.x) + index], 1); /* here: atomic at */
}

static __global__ void shared_load_at(int *out, int index)
{
    SHARED(int, cells, 33); /* 12 bytes before the next array belong to nobody */
    SHARED(int, more, 32);
    int t = int(threadIdx.x);
    cells[t] = t;
    more[t] = t;
    if (t == 0)
        cells[32] = 0;
    __syncthreads();
    out[number()] = cells[t + index]; /* here: shared load at */
}

static __global__ void shared_store_at(int *out, int index)
{
    SHARED(int, cells, 33);
    SHARED(int, more, 32);
    int t = int(threadIdx.x);
    more[t] = t;
    cells[t + index] = t; /* here: shared store at */
    out[t] = more[t];
}

static __global__ void read_one_unset_cell(int *out)
{
    SHARED(int, cell, 1);
    out[number()] = cell[0]; /* here: unset cell of all */
}

static __global__ void add_unset(int *out)
{
    SHARED(int, sum, 1);
    atomicAdd(&sum[0], 1); /* here: unset sum */
    __syncthreads();
    out[threadIdx.x] = sum[0];
}

static __global__ void read_unset_cells(int *out, unsigned set)
{
    SHARED(int, cells, 64);
    unsigned t = threadIdx.x;
    if (t < set)
        cells[t] = 1;
    __syncthreads();
    out[number()] = cells[63 - t]; /* here: unset cell */
}

/* memcpy and memset have no line. */
template <class F> static void bulk_reports(const char *name, const char *kind, const char *text, F f)
{
    const struct report *list;
    char why[700] = "";
    reopen(&orders[0]);
    counter->begin(true);
    f();
    counter->end();
    const int count = counter->reports(&list);
    if (count != 1 || strcmp(list[0].kind, kind) || !strstr(list[0].text, text))
        snprintf(why, sizeof why, "%d reports: %s", count, count ? list[0].text : "");
    result(name, why);
}

template <unsigned I> static __global__ void one_of_many(int *data)
{
    unsigned i = threadIdx.x;
    int a = data[i + I], b = data[i + 2 * I], c = data[i + 3 * I];
    data[i + I] = b;
    data[i + 2 * I] = c;
    data[i + 3 * I] = a;
}

/* More places than the checker has numbers for, in many launches. */
template <unsigned COUNT> static void launch_many(int *data)
{
    if constexpr (COUNT > 0) {
        launch(one_of_many<COUNT>, 1, 1, data);
        launch_many<COUNT - 1>(data);
    }
}

static void test_bulk()
{
    bulk_reports("a memset behind an array", "out-of-bounds", "memset writes 260 bytes",
                 [] { launch_memset(filled<int>(64), 0, 65 * sizeof(int)); });
    bulk_reports("a memcpy from behind an array", "out-of-bounds", "memcpy reads 260 bytes", [] {
        int *from = filled<int>(64);
        launch_memcpy(filled<int>(65), from, 65 * sizeof(int));
    });
    bulk_reports("a memcpy from the host", "host-pointer", "memcpy reads 256 bytes", [] {
        int host[64] = {};
        launch_memcpy(filled<int>(64), host, sizeof host);
    });
    quiet("a memcpy of bytes that share a word with others", [] {
        char *from = filled<char>(64), *to = unset<char>(64);
        launch_memset(to, 0, 1);
        launch_memcpy(to + 1, from + 3, 60);
        launch(load_at, 1, 15, reinterpret_cast<int *>(to), unset<int>(64), 0);
    });
    reports("a report after thousands of places", {{"out-of-bounds", "load at"}}, [] {
        launch_many<350>(filled<int>(3 * 350 + 1));
        launch(load_at, 1, 64, filled<int>(64), unset<int>(64), 1);
    });
}

static void test_addresses()
{
    reports("a load behind an array", {{"out-of-bounds", "load at"}}, [] {
        int *in = filled<int>(64), *out = unset<int>(64);
        launch(load_at, 1, 64, in, out, 1);
    });
    reports("a load before an array", {{"out-of-bounds", "load at"}}, [] {
        int *in = filled<int>(64), *out = unset<int>(64);
        launch(load_at, 1, 64, in, out, -1);
    });
    reports("a store behind an array", {{"out-of-bounds", "store at"}},
            [] { launch(store_at, 1, 64, unset<int>(64), 3); });
    reports("a store before an array", {{"out-of-bounds", "store at"}},
            [] { launch(store_at, 1, 64, unset<int>(64), -1); });
    reports("an atomic behind an array", {{"out-of-bounds", "atomic at"}},
            [] { launch(atomic_at, 1, 64, filled<int>(64), 1); });
    reports("a load of 8 bytes that hangs over", {{"out-of-bounds", "load off"}}, [] {
        char *in = filled<char>(32 * 8 - 4);
        launch(load_off<double>, 1, 32, in, unset<double>(32), 0u);
    });
    reports("a load of freed memory", {{"out-of-bounds", "load at"}}, [] {
        int *in = filled<int>(64), *out = unset<int>(64);
        device_free(in);
        launch(load_at, 1, 64, in, out, 0);
    });
    reports("a load of what is forbidden", {{"out-of-bounds", "load at"}}, [] {
        int *in = filled<int>(64), *out = unset<int>(64);
        counter->forbid(in + 63, sizeof(int));
        launch(load_at, 1, 64, in, out, 0);
    });
    quiet("a load beside what is forbidden", [] {
        int *in = filled<int>(66), *out = unset<int>(64);
        counter->forbid(in, sizeof(int));
        counter->forbid(in + 65, sizeof(int));
        launch(load_at, 1, 64, in, out, 1);
    });
    reports("a load behind a shared array", {{"out-of-bounds", "shared load at"}},
            [] { launch(shared_load_at, 1, 32, unset<int>(32), 3); });
    reports("a load before a shared array", {{"out-of-bounds", "shared load at"}},
            [] { launch(shared_load_at, 2, 32, unset<int>(64), -1); });
    reports("a store behind a shared array", {{"out-of-bounds", "shared store at"}},
            [] { launch(shared_store_at, 1, 32, unset<int>(32), 2); });
    reports("a load behind all shared arrays", {{"out-of-bounds", "shared load at"}},
            [] { launch(shared_load_at, 1, 32, unset<int>(32), 68); });

    reports("a load of 4 bytes, 2 bytes off", {{"misaligned", "load off"}},
            [] { launch(load_off<int>, 1, 32, filled<char>(256), unset<int>(32), 2u); });
    reports("a load of 8 bytes, 4 bytes off", {{"misaligned", "load off"}},
            [] { launch(load_off<long long>, 1, 32, filled<char>(512), unset<long long>(32), 4u); });
    reports("a load of 16 bytes, 8 bytes off", {{"misaligned", "load off"}},
            [] { launch(load_off<uint4>, 1, 32, filled<char>(1024), unset<uint4>(32), 8u); });
    quiet("loads that are aligned", [] {
        launch(load_off<int>, 1, 32, filled<char>(256), unset<int>(32), 4u);
        launch(load_off<int3>, 1, 32, filled<char>(512), unset<int3>(32), 4u);
        launch(load_off<long long>, 1, 32, filled<char>(512), unset<long long>(32), 8u);
        launch(load_off<uint4>, 1, 32, filled<char>(1024), unset<uint4>(32), 16u);
    });

    reports("a load through a pointer to the host's heap", {{"host-pointer", "load at"}}, [] {
        int *host = static_cast<int *>(calloc(64, sizeof *host));
        launch(load_at, 1, 64, host, unset<int>(64), 0);
        free(host);
    });
    reports("a load through a pointer to the host's stack", {{"host-pointer", "load at"}}, [] {
        int host[64] = {};
        launch(load_at, 1, 64, host, unset<int>(64), 0);
    });
    reports("a store through a host pointer", {{"host-pointer", "store at"}}, [] {
        int *host = static_cast<int *>(calloc(64, sizeof *host));
        launch(store_at, 1, 64, host, 0);
        free(host);
    });

    reports("device memory that nobody has written", {{"uninitialised", "load at"}},
            [] { launch(load_at, 1, 64, unset<int>(64), unset<int>(64), 0); });
    reports("one word of it", {{"uninitialised", "load at"}}, [] {
        int *in = unset<int>(64);
        device_fill(in, 0, 63 * sizeof *in);
        launch(load_at, 1, 64, in, unset<int>(64), 0);
    });
    reports("what was forgotten", {{"uninitialised", "load at"}}, [] {
        int *in = filled<int>(64);
        counter->forget(in, 64 * sizeof *in);
        launch(load_at, 1, 64, in, unset<int>(64), 0);
    });
    reports("a copy of what nobody has written", {{"uninitialised", "load at"}}, [] {
        int *in = unset<int>(64), *copied = filled<int>(64);
        launch_memcpy(copied, in, 64 * sizeof *in);
        launch(load_at, 1, 64, copied, unset<int>(64), 0);
    });
    quiet("what a kernel, a memset, a memcpy or the host has written", [] {
        int *a = unset<int>(64), *b = unset<int>(64), *c = unset<int>(64), zeros[64] = {};
        launch(store_at, 1, 64, a, 0);
        launch(load_at, 1, 64, a, b, 0);
        launch_memcpy(c, b, 64 * sizeof *c);
        launch(load_at, 1, 64, c, a, 0);
        counter->forget(a, 64 * sizeof *a);
        launch_memset(a, 0, 64 * sizeof *a);
        launch(load_at, 1, 64, a, b, 0);
        counter->forget(a, 64 * sizeof *a);
        device_upload(a, zeros, sizeof zeros);
        launch(load_at, 1, 64, a, b, 0);
    });
    reports("shared memory that nobody has written", {{"uninitialised", "unset cell"}},
            [] { launch(read_unset_cells, 3, 64, unset<int>(192), 63u); });
    quiet("shared memory that has been written", [] { launch(read_unset_cells, 3, 64, unset<int>(192), 64u); });
    reports("an unset cell that all read", {{"uninitialised", "unset cell of all"}},
            [] { launch(read_one_unset_cell, 2, 64, unset<int>(128)); });
    reports("an atomic on shared memory that nobody has written", {{"uninitialised", "unset sum"}},
            [] { launch(add_unset, 1, 32, unset<int>(32)); });
    reports("shared memory of the block, or the launch, before", {{"uninitialised", "unset cell"}}, [] {
        launch(read_unset_cells, 3, 64, unset<int>(192), 64u);
        launch(read_unset_cells, 3, 64, unset<int>(192), 0u);
    });
}

/* ---------------------------------------------------------------------------------------------- wrong meetings */

static __global__ void two_barriers(int *out)
{
    if (threadIdx.x < 16)
        __syncthreads(); /* here: first barrier */
    else
        __syncthreads(); /* here: second barrier */
    out[threadIdx.x] = 1;
}

static __global__ void half_at_barrier(int *out)
{
    if (threadIdx.x < 40)
        __syncthreads(); /* here: barrier of some */
    out[threadIdx.x] = 1;
}

static __global__ void halves_of_a_warp(int *out)
{
    int x = 0;
    if (threadIdx.x % 32 < 16)
        __syncwarp(); /* here: lower half */
    else
        x = __shfl_sync(ALL_LANES, 1, 0); /* here: upper half */
    out[threadIdx.x] = x;
}

static __global__ void two_masks(int *out)
{
    unsigned lane = threadIdx.x;
    if (lane < 16)
        __syncwarp(0x00ffffffu); /* here: smaller mask */
    else
        __syncwarp(0xffffffffu); /* here: larger mask */
    out[lane] = 1;
}

static __global__ void not_in_mask(int *out)
{
    __syncwarp(0x7fffffffu); /* here: mask without it */
    out[threadIdx.x] = 1;
}

static __global__ void from_outside(int *out)
{
    int lane = int(threadIdx.x), x = 0;
    if (lane < 16)
        x = __shfl_sync(0x0000ffffu, lane, lane + 1); /* here: shuffle from outside */
    out[lane] = x;
}

static __global__ void from_inside(int *out)
{
    int lane = int(threadIdx.x), x = 0;
    if (lane < 16)
        x = __shfl_sync(0x0000ffffu, lane, (lane + 1) % 16);
    out[lane] = x;
}

/* The same operation at two places of the source is the same operation. */
static __global__ void one_operation_at_two_places(int *out)
{
    int lane = int(threadIdx.x), x;
    if (lane < 16)
        x = __shfl_xor_sync(ALL_LANES, lane, 1);
    else
        x = __shfl_xor_sync(ALL_LANES, lane, 1);
    out[lane] = x;
}

static void test_meetings()
{
    reports("two barriers for two halves", {{"divergent-barrier", "first barrier"}},
            [] { launch(two_barriers, 1, 64, unset<int>(64)); });
    reports("a barrier that some do not reach", {{"thread-ended", "barrier of some"}},
            [] { launch(half_at_barrier, 1, 64, unset<int>(64)); });
    reports("two operations for two halves of a warp", {{"warp-mismatch", "lower half"}},
            [] { launch(halves_of_a_warp, 1, 32, unset<int>(32)); });
    reports("two masks", {{"warp-mismatch", "smaller mask"}}, [] { launch(two_masks, 1, 32, unset<int>(32)); });
    reports("a mask without the lane itself", {{"warp-mismatch", "mask without it"}},
            [] { launch(not_in_mask, 1, 32, unset<int>(32)); });
    reports("a value from a lane outside of the mask", {{"warp-mismatch", "shuffle from outside"}},
            [] { launch(from_outside, 1, 32, unset<int>(32)); });
    quiet("values from lanes of the mask", [] { launch(from_inside, 1, 32, unset<int>(32)); });
    quiet("one operation at two places", [] { launch(one_operation_at_two_places, 1, 32, unset<int>(32)); });
}

/* ---------------------------------------------------------------------------------------------- races */

enum between { NOTHING, SYNCWARP, SYNCTHREADS };

static __global__ void neighbours(int *out, enum between between)
{
    SHARED(int, cells, 128);
    unsigned t = threadIdx.x;
    cells[t] = 0;
    __syncthreads();
    cells[t] = int(t);
    if (between == SYNCWARP)
        __syncwarp();
    if (between == SYNCTHREADS)
        __syncthreads();
    out[number()] = cells[t ^ 1]; /* here: neighbour's cell */
}

/* The neighbour is in the next warp. */
static __global__ void far_neighbours(int *out, enum between between)
{
    SHARED(int, cells, 128);
    unsigned t = threadIdx.x;
    cells[t] = 0;
    __syncthreads();
    cells[t] = int(t);
    if (between == SYNCWARP)
        __syncwarp();
    if (between == SYNCTHREADS)
        __syncthreads();
    out[number()] = cells[t ^ 32]; /* here: cell of another warp */
}

static __global__ void read_then_write(int *out, enum between between)
{
    SHARED(int, cells, 128);
    unsigned t = threadIdx.x;
    cells[t] = int(t);
    __syncthreads();
    int x = cells[t ^ 1];
    if (between == SYNCWARP)
        __syncwarp();
    if (between == SYNCTHREADS)
        __syncthreads();
    cells[t] = x; /* here: overwritten cell */
    out[number()] = x;
}

static __global__ void halves_and_quarters(int *out)
{
    SHARED(int, cells, 32);
    unsigned t = threadIdx.x;
    cells[t] = int(t);
    __syncwarp(0xffffu << t / 16 * 16);
    __syncwarp(0xfu << t / 4 * 4);
    out[t] = cells[t ^ 8]; /* of another quarter */
}

/* Lane 0 meets lane 1, which then meets lane 2. */
static __global__ void meet_in_turn(int *out, bool before)
{
    SHARED(int, cell, 1);
    if (threadIdx.x == 0) {
        if (before)
            cell[0] = 1;
        __syncwarp(3);
        if (!before)
            cell[0] = 1; /* here: cell of lane 0 */
    } else if (threadIdx.x == 1) {
        __syncwarp(3);
        __syncwarp(6);
    } else if (threadIdx.x == 2) {
        __syncwarp(6);
        out[0] = before ? cell[0] : 0;
        cell[0] = 2;
    }
}

/* The same value, and a race all the same. */
static __global__ void all_write(int *out)
{
    SHARED(int, cell, 1);
    cell[0] = 7; /* here: cell of all */
    __syncthreads();
    out[number()] = cell[0];
}

/* Lanes 0 to 15 meet; lane 16 does not. */
static __global__ void half_meets(int *out, bool everybody_reads)
{
    SHARED(int, cells, 32);
    unsigned lane = threadIdx.x;
    int x = 0;
    cells[lane] = 0;
    __syncthreads();
    if (lane < 16) {
        cells[lane] = int(lane);
        __syncwarp(0x0000ffffu);
    }
    if (lane < 16 || everybody_reads)
        x = cells[15 - lane % 16]; /* here: cell of the lower half */
    out[lane] = x;
}

static __global__ void shared_across_intervals(int *out)
{
    SHARED(int, cells, 64);
    unsigned t = threadIdx.x;
    for (unsigned k = 0; k < 4; k++) {
        cells[(t + k) % 64] = int(t);
        __syncthreads();
        out[number()] = cells[(t + k + 1) % 64];
        __syncthreads();
    }
}

static __global__ void global_neighbours(int *data, int *out, unsigned distance, enum between between)
{
    unsigned i = number();
    data[i] = int(i);
    if (between == SYNCWARP)
        __syncwarp();
    if (between == SYNCTHREADS)
        __syncthreads();
    out[i] = data[i ^ distance]; /* here: neighbour's word */
}

static __global__ void same_word(int *out)
{
    out[0] = 1; /* here: word of all */
}

/* Two blocks write two halves of one sector, and nothing of each other's. */
static __global__ void same_sector(int *out)
{
    out[number()] = 1;
}

static __global__ void count_up(int *sums)
{
    atomicAdd(&sums[number() % 4], 1);
}

/* What is written plainly and read atomically has no order either. */
static __global__ void plain_and_atomic(int *sum)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        sum[0] = 1; /* here: plain store */
    if (blockIdx.x == 1)
        atomicAdd(&sum[0], 1); /* here: atomic beside it */
}

/* Block 0 writes data and says so; block 1 waits for it and reads. */
enum message { RELEASED, FLAG_BEFORE_DATA, NOT_WAITED };

static __global__ void message(int *data, int *flag, int *out, enum message how)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
    unsigned t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (how == FLAG_BEFORE_DATA && t == 0)
            ready.store(1, cuda::memory_order_release);
        data[t] = int(t); /* here: message written */
        __syncthreads();
        if (how != FLAG_BEFORE_DATA && t == 0)
            ready.store(1, cuda::memory_order_release);
    } else {
        if (t == 0 && how != NOT_WAITED)
            while (ready.load(cuda::memory_order_acquire) == 0)
                __nanosleep(20);
        __syncthreads();
        out[t] = data[63 - t]; /* here: message read */
    }
}

/* The same with words that are not atomic. Block 1 does not wait, so that the kernel ends. */
static __global__ void plain_message(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[0] = 5;
        flag[0] = 1; /* here: plain flag written */
    } else if (flag[0]) {
        out[0] = data[0]; /* here: plain message */
    }
}

/* By ticket, each block waits for the one before it; the last one reads what the first has written. */
static __global__ void chain(int *data, int *flags, unsigned *ticket, int *out)
{
    int b = int(atomicAdd(ticket, 1u));
    if (b == 0)
        data[0] = 5;
    if (b > 0)
        while (cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b - 1]).load(cuda::memory_order_acquire) == 0)
            __nanosleep(20);
    cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b]).store(1, cuda::memory_order_release);
    if (b == int(gridDim.x) - 1)
        out[0] = data[0];
}

enum fences { BOTH_FENCES, FENCE_OF_WRITER, FENCE_OF_READER, NO_FENCE };

/* The last block to come adds up what all have left: each passes on what those before it have released. */
static __global__ void last_block(int *parts, unsigned *count, int *out, enum fences fences)
{
    SHARED(unsigned, ticket, 1);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = int(blockIdx.x); /* here: part written */
        if (fences == BOTH_FENCES || fences == FENCE_OF_WRITER)
            __threadfence();
        ticket[0] = atomicAdd(count, 1u); /* here: ticket drawn */
        if (fences == BOTH_FENCES || fences == FENCE_OF_READER)
            __threadfence();
    }
    __syncthreads();
    if (ticket[0] == gridDim.x - 1 && threadIdx.x < gridDim.x)
        out[threadIdx.x] = parts[threadIdx.x]; /* here: part read */
}

/* Value and flag apart, in all ways to say that the value is there. */
enum way {
    RELEASE_ACQUIRE,
    RELAXED_STORE,
    RELAXED_LOAD,
    BOTH_RELAXED,
    OTHER_FLAG,   /* released on one address, acquired on another */
    FENCED,       /* relaxed, with fences */
    FENCED_STORE, /* and no acquire */
    FENCED_LOAD,  /* and no release */
    FENCE_EARLY,  /* before the value is written */
    FENCE_IN_BLOCK,
    FENCE_BY_OTHERS, /* by the thread that wrote, not by the one that stores the flag */
    NO_BARRIER       /* one thread releases what another has written */
};

static __global__ void hand_over(int *values, int *flags, int *out, enum way way)
{
    const unsigned b = blockIdx.x, t = threadIdx.x, last = blockDim.x - 1;
    const bool released = way == RELEASE_ACQUIRE || way == RELAXED_LOAD || way == NO_BARRIER;
    const bool acquired = way == RELEASE_ACQUIRE || way == RELAXED_STORE || way == NO_BARRIER || way == OTHER_FLAG;
    const cuda::memory_order order = acquired ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]), other(flags[8]);
    if (b == 0) {
        if (way == FENCE_EARLY)
            __threadfence();
        if (t == last)
            values[0] = 7; /* here: value written */
        if (way == FENCE_BY_OTHERS)
            __threadfence();
        if (way != NO_BARRIER)
            __syncthreads();
        if (t == 0) {
            if (way == OTHER_FLAG)
                other.store(1, cuda::memory_order_release);
            if (way == FENCED || way == FENCED_STORE)
                __threadfence();
            if (way == FENCE_IN_BLOCK)
                __threadfence_block();
            flag.store(1, released ? cuda::memory_order_release : cuda::memory_order_relaxed); /* here: flag written */
        }
    } else {
        if (t == 0) {
            while (flag.load(order) == 0) /* here: flag read */
                __nanosleep(20);
            if (way == FENCED || way == FENCED_LOAD || way == FENCE_EARLY || way == FENCE_BY_OTHERS)
                __threadfence();
            if (way == FENCE_IN_BLOCK)
                __threadfence_block();
        }
        __syncthreads();
        out[(b - 1) * blockDim.x + t] = values[0]; /* here: value read */
    }
}

/* Block 0 hands over to 1, 1 to 2: what 0 has written is past for 2, unless one of the two forgets its part. */
static __global__ void hand_on(int *values, int *flags, int *out, bool forgets)
{
    const unsigned b = blockIdx.x, t = threadIdx.x;
    if (t == 0 && b > 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> before(flags[b - 1]);
        while (before.load(b == 1 && forgets ? cuda::memory_order_relaxed : cuda::memory_order_acquire) == 0)
            __nanosleep(20);
    }
    __syncthreads();
    if (b == 0)
        values[t] = int(t); /* here: first value */
    if (b == 2)
        out[t] = values[t ^ 1]; /* here: value of the first */
    __syncthreads();
    if (t == 0)
        cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b]).store(1, cuda::memory_order_release);
}

/* volatile flags, as before there were others. */
static __global__ void by_volatile(int *values, volatile int *flags, int *out, enum fences fences)
{
    if (blockIdx.x == 0) {
        values[0] = 7; /* here: value before the volatile flag */
        if (fences == BOTH_FENCES || fences == FENCE_OF_WRITER)
            __threadfence();
        flags[0] = 1; /* here: volatile flag written */
    } else {
        while (flags[0] == 0) /* here: volatile flag read */
            __nanosleep(20);
        if (fences == BOTH_FENCES || fences == FENCE_OF_READER)
            __threadfence();
        out[0] = values[0]; /* here: value behind the volatile flag */
    }
}

/* A flag in shared memory, and the fences of its block. */
static __global__ void fences_in_block(int *out, bool with_fences)
{
    SHARED(int, flag, 1);
    SHARED(int, value, 1);
    volatile int *ready = &flag[0];
    if (threadIdx.x == 0)
        flag[0] = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value[0] = 5;
        if (with_fences)
            __threadfence_block();
        *ready = 1;
    }
    if (threadIdx.x == 0) {
        while (*ready == 0)
            __nanosleep(20);
        if (with_fences)
            __threadfence_block();
        out[blockIdx.x] = value[0]; /* here: value in the block */
    }
}

/* A word that holds its value and its flag needs no order; a flag beside it does. */
static __global__ void tagged(unsigned long long *words, int *out)
{
    const unsigned b = blockIdx.x;
    unsigned long long sum = b;
    if (threadIdx.x)
        return;
    if (b > 0) {
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> before(words[b - 1]);
        unsigned long long w;
        while (!((w = before.load(cuda::memory_order_relaxed)) & 1))
            __nanosleep(20);
        sum += w >> 32;
    }
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(words[b]).store(sum << 32 | 1,
                                                                                    cuda::memory_order_relaxed);
    out[b] = int(sum);
}

/* All blocks meet, twice. */
static __global__ void grid_barrier(unsigned *count, int *cells, int *out)
{
    unsigned b = blockIdx.x, n = gridDim.x, t = threadIdx.x;
    for (unsigned k = 1; k <= 2; k++) {
        cells[(b * 32 + t) % (n * 32)] = int(k);
        __syncthreads();
        if (t == 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).fetch_add(1);
            while (cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).load() < (2 * k - 1) * n)
                __nanosleep(20);
        }
        __syncthreads();
        out[b * 32 + t] = cells[(b + k) % n * 32 + 31 - t];
        __syncthreads();
        if (t == 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).fetch_add(1);
            while (cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).load() < 2 * k * n)
                __nanosleep(20);
        }
        __syncthreads();
    }
}

/* Thread 0 waits for the last thread of its block. */
static __global__ void message_in_block(int *out, bool written_first)
{
    SHARED(int, flag, 1);
    SHARED(int, data, 1);
    unsigned t = threadIdx.x;
    if (t == 0)
        flag[0] = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag[0]);
    if (t == blockDim.x - 1) {
        if (written_first)
            data[0] = 5;
        ready.store(1, cuda::memory_order_release);
        if (!written_first)
            data[0] = 5; /* here: data behind its flag */
    }
    if (t == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        if (written_first)
            out[blockIdx.x] = data[0];
        else
            data[0] = 6; /* here: data of two */
    }
}

/* The first thing that a block does. */
static __global__ void atomics_at_once(int *out)
{
    SHARED(int, flag, 1);
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag[0]);
    ready.store(1, cuda::memory_order_relaxed);
    out[number()] = ready.load(cuda::memory_order_relaxed);
}

struct three_shorts {
    short x, y, z;
};

template <class T> static __global__ void own_struct(const T *in, T *out)
{
    T x = in[number()];
    out[number()] = x;
    T y = out[number()];
    out[number()] = y;
}

static __global__ void next_struct(int3 *data)
{
    int3 x = data[number() + 1];
    data[number()] = x; /* here: neighbour's struct */
}

/* Once, in however many launches. */
static void reported_once()
{
    reopen(&orders[0]);
    counter->begin(true);
    int *out = unset<int>(1);
    for (int i = 0; i < 600; i++)
        launch(same_word, 1, 64, out);
    counter->end();
    const struct report *list;
    char why[100] = "";
    if (counter->reports(&list) != 1)
        snprintf(why, sizeof why, "%d reports", counter->reports(&list));
    result("600 launches with the same race, one report", why);
}

/* Global memory of all threads, shared memory of the block. */
static __global__ void around_the_grid(int *cells, int *out, bool meets)
{
    SHARED(int, own, 32);
    unsigned i = number(), n = gridDim.x * blockDim.x, t = threadIdx.x;
    cells[i] = int(i);
    own[t] = int(t);
    if (meets)
        cooperative_groups::this_grid().sync();
    out[i] = cells[(i + n - 1) % n] + own[31 - t]; /* here: another's cell */
    if (meets)
        cooperative_groups::this_grid().sync();
    cells[i] = 1; /* here: cell again */
}

/* One thread ends, the others go on. */
static __global__ void one_ends(int *cells)
{
    if (number() == 40)
        return;
    cooperative_groups::this_grid().sync(); /* here: barrier of the grid */
    cells[number()] = 1;
}

/* What a thread did wrong before it gave up is told. */
static __global__ void strays_and_gives_up(int *cells)
{
    if (number() == 40) {
        cells[-1] = 1; /* here: stray */
        __trap();
    }
}

static void test_grid()
{
    least_resident = 3;
    quiet("the barrier of the grid orders all threads",
          [] { launch_cooperative(around_the_grid, 3, 32, unset<int>(96), unset<int>(96), true); });
    reports("without it",
            {{"race-global", "another's cell"},
             {"race-shared", "another's cell"},
             {"race-global", "cell again"},
             {"uninitialised", "another's cell", true}},
            [] { launch_cooperative(around_the_grid, 3, 32, unset<int>(96), unset<int>(96), false); });
    reports("a thread has ended before the barrier of the grid", {{"thread-ended", "barrier of the grid"}},
            [] { launch_cooperative(one_ends, 3, 32, unset<int>(96)); });
    least_resident = 0;
    reports("a stray before a thread gives up", {{"out-of-bounds", "stray"}},
            [] { launch(strays_and_gives_up, 3, 32, unset<int>(96)); });
    result("and the launch has failed",
           device_error() == 719 && strstr(device_error_text(), "block 1: thread 8 has given up")
               ? ""
               : device_error_text());
}

static const char *const SILENT = "nothing orders the two: the flag at %s was written without release";
static const char *const DEAF = "nothing orders the two: the flag at %s was read without acquire";

static void hands_over(const char *name, enum way way, const char *says, const char *at)
{
    auto f = [=] { launch(hand_over, 2, 64, unset<int>(1), filled<int>(16), unset<int>(64), way); };
    if (says)
        reports(name, {{"race-global", "value read", false, says, at}}, f);
    else
        quiet(name, f);
}

/* Beyond its limit the order of blocks is no longer followed: that is said, and nothing is reported. */
extern uint64_t order_most_effort;

static void unfollowed(void)
{
    const uint64_t most = order_most_effort;
    const struct report *list;
    for (int much = 0; much < 2; much++) {
        order_most_effort = much ? 10 : most;
        reopen(&orders[0]);
        counter->begin(true);
        launch(hand_over, 2, 64, unset<int>(1), filled<int>(16), unset<int>(64), RELAXED_STORE);
        launch(chain, 12, 1, unset<int>(1), filled<int>(12), filled<unsigned>(1), unset<int>(1));
        counter->end();
        const int count = counter->reports(&list);
        result(much ? "what is too much to follow is said" : "what is not, is not",
               counter->unfollowed() == uint64_t(much) && count == 1 ? "" : "it is not so");
    }
    order_most_effort = most;
}

static void test_order()
{
    unfollowed();
    hands_over("release and acquire", RELEASE_ACQUIRE, nullptr, nullptr);
    hands_over("relaxed words between fences", FENCED, nullptr, nullptr);
    hands_over("no release", RELAXED_STORE, SILENT, "flag written");
    hands_over("no acquire", RELAXED_LOAD, DEAF, "flag read");
    hands_over("no release and no acquire", BOTH_RELAXED, SILENT, "flag written");
    hands_over("a release of another flag", OTHER_FLAG, SILENT, "flag written");
    hands_over("no fence of the reader", FENCED_STORE, DEAF, "flag read");
    hands_over("no fence of the writer", FENCED_LOAD, SILENT, "flag written");
    hands_over("fences of the block alone", FENCE_IN_BLOCK, SILENT, "flag written");
    const char *const early = "nothing orders the two: the flag at %s does not release that";
    hands_over("a fence before the value", FENCE_EARLY, early, "flag written");
    hands_over("fences of other threads", FENCE_BY_OTHERS, early, "flag written");
    hands_over("a release of what another thread has written", NO_BARRIER, "nothing orders the two", "flag written");

    const char *const parts = "a part of each block, added up by the last";
    for (int i = 0; i < 4; i++) {
        static const enum fences all[] = {BOTH_FENCES, FENCE_OF_WRITER, FENCE_OF_READER, NO_FENCE};
        const enum fences fences = all[i];
        auto f = [=] { launch(last_block, 12, 32, unset<int>(12), filled<unsigned>(1), unset<int>(12), fences); };
        auto g = [=] { launch(by_volatile, 2, 1, unset<int>(1), filled<int>(1), unset<int>(1), fences); };
        if (fences == BOTH_FENCES) {
            quiet(parts, f);
            quiet("a volatile flag between fences", g);
            continue;
        }
        const bool deaf = fences == FENCE_OF_WRITER;
        reports("the same without a fence", {{"race-global", "part read", false, deaf ? DEAF : SILENT, "ticket drawn"}},
                f);
        reports("a volatile flag without a fence",
                {{"race-global", "value behind the volatile flag", false, deaf ? DEAF : SILENT,
                  deaf ? "volatile flag read" : "volatile flag written"}},
                g);
    }
    least_resident = 3;
    quiet("along three blocks", [] { launch(hand_on, 3, 64, unset<int>(64), filled<int>(3), unset<int>(64), false); });
    reports("along three blocks, of which the second does not acquire", {{"race-global", "value of the first"}},
            [] { launch(hand_on, 3, 64, unset<int>(64), filled<int>(3), unset<int>(64), true); });
    least_resident = 0;
    quiet("a flag in shared memory, fences of the block", [] { launch(fences_in_block, 5, 64, unset<int>(5), true); });
    reports("the same without fences", {{"race-shared", "value in the block"}},
            [] { launch(fences_in_block, 5, 64, unset<int>(5), false); });
}

static void test_races()
{
    reported_once();
    reports("a neighbour's cell", {{"race-shared", "neighbour's cell"}},
            [] { launch(neighbours, 2, 64, unset<int>(128), NOTHING); });
    quiet("a neighbour's cell after __syncwarp", [] { launch(neighbours, 2, 64, unset<int>(128), SYNCWARP); });
    quiet("a neighbour's cell after a barrier", [] { launch(neighbours, 2, 64, unset<int>(128), SYNCTHREADS); });
    reports("a cell of another warp", {{"race-shared", "cell of another warp"}},
            [] { launch(far_neighbours, 2, 64, unset<int>(128), NOTHING); });
    reports("a cell of another warp after __syncwarp", {{"race-shared", "cell of another warp"}},
            [] { launch(far_neighbours, 2, 64, unset<int>(128), SYNCWARP); });
    quiet("a cell of another warp after a barrier",
          [] { launch(far_neighbours, 2, 64, unset<int>(128), SYNCTHREADS); });
    reports("a cell that is overwritten", {{"race-shared", "overwritten cell"}},
            [] { launch(read_then_write, 2, 64, unset<int>(128), NOTHING); });
    quiet("a cell that is overwritten after __syncwarp",
          [] { launch(read_then_write, 2, 64, unset<int>(128), SYNCWARP); });
    quiet("a cell that is overwritten after a barrier",
          [] { launch(read_then_write, 2, 64, unset<int>(128), SYNCTHREADS); });
    reports("a cell that all write", {{"race-shared", "cell of all"}},
            [] { launch(all_write, 2, 64, unset<int>(128)); });
    quiet("half a warp meets, and reads", [] { launch(half_meets, 1, 32, unset<int>(32), false); });
    reports("half a warp meets, and all read", {{"race-shared", "cell of the lower half"}},
            [] { launch(half_meets, 1, 32, unset<int>(32), true); });
    quiet("halves of a warp meet, then quarters of them", [] { launch(halves_and_quarters, 1, 32, unset<int>(32)); });
    quiet("lanes meet one after the other", [] { launch(meet_in_turn, 1, 32, unset<int>(1), true); });
    reports("and what is written behind the meeting", {{"race-shared", "cell of lane 0"}},
            [] { launch(meet_in_turn, 1, 32, unset<int>(1), false); });
    quiet("other cells in every interval", [] { launch(shared_across_intervals, 3, 64, unset<int>(192)); });

    for (unsigned distance : {1u, 32u}) {
        reports("a neighbour's word in global memory", {{"race-global", "neighbour's word"}},
                [=] { launch(global_neighbours, 2, 64, filled<int>(128), unset<int>(128), distance, NOTHING); });
        quiet("a neighbour's word after a barrier",
              [=] { launch(global_neighbours, 2, 64, filled<int>(128), unset<int>(128), distance, SYNCTHREADS); });
    }
    quiet("a neighbour's word after __syncwarp",
          [] { launch(global_neighbours, 2, 64, filled<int>(128), unset<int>(128), 1u, SYNCWARP); });
    reports("a word of another block", {{"race-global", "neighbour's word"}},
            [] { launch(global_neighbours, 2, 64, filled<int>(128), unset<int>(128), 64u, NOTHING); });
    reports("a word of another block, with a barrier", {{"race-global", "neighbour's word"}},
            [] { launch(global_neighbours, 2, 64, filled<int>(128), unset<int>(128), 64u, SYNCTHREADS); });
    reports("a word that all blocks write", {{"race-global", "word of all"}},
            [] { launch(same_word, 2, 1, unset<int>(1)); });
    reports("a word that all threads write", {{"race-global", "word of all"}},
            [] { launch(same_word, 1, 64, unset<int>(1)); });
    quiet("a word that one thread writes in each of two launches", [] {
        int *out = unset<int>(1);
        launch(same_word, 1, 1, out);
        launch(same_word, 1, 1, out);
    });
    for (unsigned first = 0; first < 3; first++) { /* one of the three begins at a multiple of 12 bytes */
        quiet("structs of 12 bytes, each its thread's own",
              [=] { launch(own_struct<int3>, 2, 32, filled<int3>(66) + first, unset<int3>(66) + first); });
        quiet("structs of 6 bytes that share words", [=] {
            launch(own_struct<three_shorts>, 2, 32, filled<three_shorts>(66) + first, unset<three_shorts>(66) + first);
        });
    }
    reports("a neighbour's struct of 12 bytes", {{"race-global", "neighbour's struct"}},
            [] { launch(next_struct, 1, 32, filled<int3>(33)); });
    quiet("two blocks in one sector", [] { launch(same_sector, 16, 4, unset<int>(64)); });

    quiet("a sum of atomics", [] { launch(count_up, 4, 64, filled<int>(4)); });
    quiet("atomic stores and loads at the beginning of a block",
          [] { launch(atomics_at_once, 4, 64, unset<int>(256)); });
    reports("a plain store beside atomics", {{"race-global", "plain store"}},
            [] { launch(plain_and_atomic, 2, 32, filled<int>(1)); });
    quiet("a message between blocks",
          [] { launch(message, 2, 64, unset<int>(64), filled<int>(1), unset<int>(64), RELEASED); });
    reports("a message behind its flag", {{"race-global", "message read"}},
            [] { launch(message, 2, 64, unset<int>(64), filled<int>(1), unset<int>(64), FLAG_BEFORE_DATA); });
    reports("a message that is not waited for", {{"race-global", "message read"}},
            [] { launch(message, 2, 64, filled<int>(64), filled<int>(1), unset<int>(64), NOT_WAITED); });
    quiet("a message along a chain of blocks",
          [] { launch(chain, 12, 1, unset<int>(1), filled<int>(12), filled<unsigned>(1), unset<int>(1)); });
    least_resident = 12;
    quiet("a word that is value and flag in one",
          [] { launch(tagged, 12, 32, filled<unsigned long long>(12), unset<int>(12)); });
    least_resident = 4;
    quiet("a barrier of the grid, made of a counter",
          [] { launch(grid_barrier, 4, 32, filled<unsigned>(1), unset<int>(128), unset<int>(128)); });
    least_resident = 0;
    quiet("a message within a block", [] { launch(message_in_block, 3, 64, unset<int>(3), true); });
    reports("two stores on two sides of a flag", {{"race-shared", "data behind its flag"}},
            [] { launch(message_in_block, 3, 64, unset<int>(3), false); });
    reports("a message without atomics",
            {{"race-global", "plain flag written"}, {"race-global", "plain message", true}}, [] {
                int *data = filled<int>(1), *flag = filled<int>(1);
                launch(plain_message, 2, 1, data, flag, unset<int>(1));
            });
}

/* ---------------------------------------------------------------------------------------------- asynchronous copies */

enum after_copy { WAIT_AND_BARRIER, WAIT_ONLY, BARRIER_ONLY, OWN_CELL };

static __global__ void asynchronous(const int *in, int *out, enum after_copy after)
{
    SHARED(int, tile, 64);
    unsigned t = threadIdx.x, other = after == OWN_CELL ? t : 63 - t;
    tile[t] = 0;
    __syncthreads();
    __pipeline_memcpy_async(&tile[t], &in[number()], sizeof(int));
    __pipeline_commit();
    if (after != BARRIER_ONLY)
        __pipeline_wait_prior(0);
    if (after == WAIT_AND_BARRIER || after == BARRIER_ONLY)
        __syncthreads();
    if (after == BARRIER_ONLY)
        __pipeline_wait_prior(0); /* here: copy that comes late */
    out[number()] = tile[other];  /* here: copied cell */
}

static void test_asynchronous()
{
    quiet("a copied cell is its thread's own after the wait",
          [] { launch(asynchronous, 2, 64, filled<int>(128), unset<int>(128), OWN_CELL); });
    reports("a copied cell of another thread without a barrier", {{"race-shared", "copied cell"}},
            [] { launch(asynchronous, 2, 64, filled<int>(128), unset<int>(128), WAIT_ONLY); });
    reports("a barrier before the wait orders nothing",
            {{"race-shared", "copied cell"}, {"race-shared", "copy that comes late"}},
            [] { launch(asynchronous, 2, 64, filled<int>(128), unset<int>(128), BARRIER_ONLY); });
}

static void test_all()
{
    test_addresses();
    test_bulk();
    test_meetings();
    test_races();
    test_order();
    test_grid();
    test_asynchronous();
}

int main(void)
{
    return run_tests("reports", test_all);
}
