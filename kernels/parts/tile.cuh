/* SPDX-License-Identifier: MIT */
/*
 * A tile of a scan in registers, ITEMS neighbours a thread, for the algorithms that go over a tile once and learn in
 * the middle what lies before it:
 *
 *     load_tile     memory -> registers, each word read once
 *     upsweep       what each thread comes to, scanned in each warp; what each warp comes to
 *     scan_warps    what lies before each warp in the tile; what the tile comes to       (by the first warp alone)
 *        ...        here the algorithm finds the carry: what lies before the tile
 *     seed_warps    the carry goes before each of the warps                              (by the first warp alone)
 *     downsweep     each thread scans its elements from what lies before them
 *     store_tile    registers -> memory
 *
 * A thread wants neighbours, a warp wants to read 32 neighbours at once: between the two lies shared memory. There a
 * thread's elements begin ITEMS places behind those of the one before it, and as ITEMS is odd no two of 32 lanes want
 * the same bank, with elements of 4 bytes or 8.
 *
 * The last tile is filled up with identities: each costs the same, B = threads * ITEMS elements in W warps
 *
 *     upsweep         B - threads + 129 W additions, then scan_warps 129: the total is there after ITEMS + 9 steps
 *     seed_warps               W
 *     downsweep       B + threads
 */
#ifndef TILE_CUH
#define TILE_CUH

#include "grid.cuh"
#include "warp_scan.cuh"

constexpr int ITEMS = 15;
constexpr int MOST_THREADS = 256;
constexpr int LEAST_BLOCKS = 2; /* on a multiprocessor: up to 128 registers a thread, and nothing is spilled */
constexpr int TOTAL_STEPS = ITEMS - 1 + 5 + 5;

/* What the threads of a block share: two arrays of a kernel. */
template <class T> struct tile_room {
    T *items; /* MOST_THREADS * ITEMS */
    T *warps; /* LANES */
};

static __device__ __forceinline__ int warp_number()
{
    return int(threadIdx.x) / LANES;
}

/* The tile that begins at element `first`. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ void load_tile(const T *in, uint64_t first, uint64_t n, struct tile_room<T> room,
                                                 T (&x)[ITEMS])
{
    int thread = threadIdx.x, threads = blockDim.x;
    int here = n - first < uint64_t(threads * ITEMS) ? int(n - first) : threads * ITEMS;
    in += first;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int item = i * threads + thread;
        room.items[item] = item < here ? in[item] : Op::identity();
    }
    __syncthreads(); /* the tile is complete */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        x[i] = room.items[thread * ITEMS + i];
}

/* What lies before this thread in its warp. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ T upsweep(const T (&x)[ITEMS], struct tile_room<T> room)
{
    T total = x[0];
#pragma unroll
    for (int i = 1; i < ITEMS; i++)
        total = Op{}(total, x[i]);
    T inclusive = warp_inclusive<Op>(total);
    if (lane_number() == LANES - 1)
        room.warps[warp_number()] = inclusive;
    __syncthreads(); /* all warps have told */
    return warp_exclusive<Op>(inclusive);
}

/* What lies before warp `lane` in the tile; `*total`, what the tile comes to. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ T scan_warps(struct tile_room<T> room, T *total)
{
    int warps = int(blockDim.x) / LANES;
    T inclusive = warp_inclusive<Op>(lane_number() < warps ? room.warps[lane_number()] : Op::identity());
    *total = __shfl_sync(ALL_LANES, inclusive, LANES - 1);
    return warp_exclusive<Op>(inclusive);
}

/* `before`: as scan_warps tells it. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ void seed_warps(T carry, T before, struct tile_room<T> room)
{
    if (lane_number() < int(blockDim.x) / LANES)
        room.warps[lane_number()] = Op{}(carry, before);
}

/* `before`: as upsweep tells it. The elements go back to where the thread has taken them from. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ void downsweep(const T (&x)[ITEMS], T before, bool inclusive,
                                                 struct tile_room<T> room)
{
    __syncthreads(); /* the carry has gone before each warp */
    T sum = Op{}(room.warps[warp_number()], before);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        T next = Op{}(sum, x[i]);
        room.items[int(threadIdx.x) * ITEMS + i] = inclusive ? next : sum;
        sum = next;
    }
}

template <class T>
static __device__ __forceinline__ void store_tile(T *out, uint64_t first, uint64_t n, struct tile_room<T> room)
{
    int thread = threadIdx.x, threads = blockDim.x;
    int here = n - first < uint64_t(threads * ITEMS) ? int(n - first) : threads * ITEMS;
    out += first;
    __syncthreads(); /* the tile is scanned */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int item = i * threads + thread;
        if (item < here)
            out[item] = room.items[item];
    }
}

static inline uint64_t tile_size(const struct problem *p)
{
    return uint64_t(p->threads) * ITEMS;
}

static inline uint64_t tiles_of(const struct problem *p)
{
    return divide_up(p->n, tile_size(p));
}

/* What upsweep and scan_warps add up in a tile. */
static inline uint64_t total_additions(const struct problem *p)
{
    uint64_t warps = uint64_t(p->threads) / LANES;
    return tile_size(p) - uint64_t(p->threads) + WARP_INCLUSIVE_ADDITIONS * (warps + 1);
}

/* What seed_warps and downsweep do. */
static inline uint64_t downsweep_additions(const struct problem *p)
{
    return uint64_t(p->threads) / LANES + uint64_t(p->threads) + tile_size(p);
}

/* The steps behind a tile's elements: `carry` of them behind what lies before it. Without a carry, the longest chain
 * leads to the last warp; otherwise through the carry to any. Then before the thread, and along its elements. */
static inline uint64_t downsweep_steps(const struct problem *p, uint64_t carry)
{
    uint64_t warps = uint64_t(p->threads) / LANES, before_thread = ITEMS - 1 + 5;
    if (carry > 0)
        before_thread = carry + 1;
    else if (warps > 1)
        before_thread += uint64_t(log2_ceil(warps - 1)) + 1;
    return before_thread + 1 + ITEMS;
}

#endif
