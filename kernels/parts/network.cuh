/* SPDX-License-Identifier: MIT */
/*
 * The scan of a tile by a network of additions in shared memory, for tile_recursion.cuh. A network is a list of levels,
 * and a level of nodes, each of which adds the cell on its left to the cell on its right:
 *
 *     struct Network {
 *         static constexpr bool OVERLAPS;             is a cell read and written in one level?
 *         levels(k)                                   of a tile of 2^k elements
 *         node(level, k, j)                           the j-th node of a level, counted from 0
 *         additions(k)                                in closed form
 *     };
 *
 * Cell i ends up with elements 0 to i: networks are inclusive, and an exclusive scan is written one place to the right.
 * All of them take the same time a level, and differ in how many levels they have and how many nodes are at work.
 */
#ifndef NETWORK_CUH
#define NETWORK_CUH

#include "tile_recursion.cuh"

struct node {
    int left, right; /* places in the tile; right at or behind its end: there is no such node */
};

template <class Network, class Op> static __device__ __forceinline__ void scan_network(typename Op::value *tile, int k)
{
    int size = 1 << k, thread = threadIdx.x, threads = size / ITEMS;
    for (int level = 0; level < Network::levels(k); level++) {
        __syncthreads(); /* the level before is complete */
        if constexpr (Network::OVERLAPS) {
            typename Op::value left[ITEMS];
            for (int i = 0; i < ITEMS; i++) {
                struct node node = Network::node(level, k, thread + i * threads);
                if (node.right < size)
                    left[i] = tile[node.left];
            }
            __syncthreads(); /* all of the level have read */
            for (int i = 0; i < ITEMS; i++) {
                struct node node = Network::node(level, k, thread + i * threads);
                if (node.right < size)
                    tile[node.right] = Op{}(left[i], tile[node.right]);
            }
        } else {
            struct node node = Network::node(level, k, thread); /* at most half as many nodes as cells */
            if (node.right < size)
                tile[node.right] = Op{}(tile[node.left], tile[node.right]);
        }
    }
    __syncthreads(); /* the tile is scanned */
}

/* Scans tile blockIdx.x, and writes its total to sums unless that is NULL. */
template <class Op, class Network>
static __global__ void __launch_bounds__(MOST_THREADS) scan_tiles(const typename Op::value *in, typename Op::value *out,
                                                                  typename Op::value *sums, uint64_t n, bool inclusive)
{
    SHARED(typename Op::value, tile, MOST_THREADS * ITEMS);
    int thread = threadIdx.x, threads = blockDim.x, size = threads * ITEMS;
    uint64_t first = uint64_t(blockIdx.x) * size;

    for (int i = thread; i < size; i += threads)
        tile[i] = first + i < n ? in[first + i] : Op::identity();
    scan_network<Network, Op>(tile, 31 - __clz(size));
    for (int i = thread; i < size; i += threads)
        if (first + i < n)
            out[first + i] = inclusive ? tile[i] : i > 0 ? tile[i - 1] : Op::identity();
    if (thread == 0 && sums)
        sums[blockIdx.x] = tile[size - 1];
}

template <class Network> static void run(const struct problem *p)
{
    scan_by_tiles(p, [&](auto op, auto in, auto out, auto sums, uint64_t n, unsigned tiles, bool inclusive) {
        launch((scan_tiles<decltype(op), Network>), tiles, p->threads, in, out, sums, n, inclusive);
    });
}

template <class Network> static void add_up(struct chains *tile, int k)
{
    static uint64_t left[MOST_THREADS * ITEMS];
    int size = 1 << k;
    tile->longest = 0;
    for (int level = 0; level < Network::levels(k); level++) {
        memcpy(left, tile->element, sizeof left); /* as they were before the level */
        for (int j = 0; j < size; j++) {
            struct node node = Network::node(level, k, j);
            if (node.right >= size)
                break;
            uint64_t a = left[node.left], b = left[node.right];
            tile->element[node.right] = 1 + (a > b ? a : b);
            if (tile->element[node.right] > tile->longest)
                tile->longest = tile->element[node.right];
        }
    }
    for (int i = 0; i < size; i++)
        tile->before[i] = i > 0 ? tile->element[i - 1] : 0;
    tile->total = tile->element[size - 1];
}

template <class Network> static struct cost model(const struct problem *p)
{
    int k = log2_ceil(tile_size(p));
    struct cost cost = cost_of_levels(p, Network::additions(k));
    cost.steps = steps_of_levels(p, [k](struct chains *tile) { add_up<Network>(tile, k); });
    return cost;
}

#endif
