/* SPDX-License-Identifier: MIT */
/*
 * The scan of a tile as a Blelloch tree in shared memory, for tile_recursion.cuh. Where in shared memory element i of a
 * tile lies is left to the algorithm: Layout<T>::place(i), which grows with i.
 */
#ifndef BLOCK_TREE_CUH
#define BLOCK_TREE_CUH

#include "tile_recursion.cuh"

#include <bit>

static_assert(ITEMS == 2); /* a tile's tree has half as many nodes at the leaves as it has elements */

/* Scans tile blockIdx.x, and writes its total to sums unless that is NULL. Inclusive: element i is taken one place to
 * the right, where the exclusive scan has element i + 1. */
template <class Op, template <class> class Layout>
static __global__ void __launch_bounds__(MOST_THREADS) scan_tiles(const typename Op::value *in, typename Op::value *out,
                                                                  typename Op::value *sums, uint64_t n, bool inclusive)
{
    using T = typename Op::value;
    using layout = Layout<T>;
    SHARED(T, tile, layout::place(MOST_THREADS * ITEMS - 1) + 2);
    int thread = threadIdx.x, threads = blockDim.x, size = threads * ITEMS;
    uint64_t first = uint64_t(blockIdx.x) * size;

    for (int i = thread; i < size; i += threads)
        tile[layout::place(i)] = first + i < n ? in[first + i] : Op::identity();

    for (int stride = 1; stride < size; stride *= 2) {
        __syncthreads(); /* the level below is complete */
        int right = (2 * thread + 2) * stride - 1, left = right - stride;
        if (right < size)
            tile[layout::place(right)] = Op{}(tile[layout::place(left)], tile[layout::place(right)]);
    }

    if (thread == 0) { /* who did the root: no barrier */
        int last = layout::place(size - 1);
        T total = tile[last];
        tile[last] = Op::identity();
        tile[last + 1] = total;
        if (sums)
            sums[blockIdx.x] = total;
    }

    for (int stride = size / 2; stride > 0; stride /= 2) {
        __syncthreads(); /* the level above is complete */
        int right = (2 * thread + 2) * stride - 1, left = right - stride;
        if (right < size) {
            T before = tile[layout::place(right)], subtotal = tile[layout::place(left)];
            tile[layout::place(left)] = before;
            tile[layout::place(right)] = Op{}(before, subtotal);
            /* Behind a gap of the layout: into the gap as well, for the neighbour to the left. */
            if (inclusive && stride == 1 && left > 0 && layout::place(left) > layout::place(left - 1) + 1)
                tile[layout::place(left - 1) + 1] = before;
        }
    }

    __syncthreads(); /* the tile is scanned */
    for (int i = thread; i < size; i += threads)
        if (first + i < n)
            out[first + i] = tile[layout::place(i) + inclusive];
}

/* The steps behind the last elements of a tile's exclusive scan: element r > 0 is added up from one subtotal for each
 * bit of r, and that of the highest bit is the first and the deepest. */
static uint64_t longest_prefix(uint64_t elements)
{
    uint64_t longest = 0;
    for (uint64_t r = 1; r < elements; r++) {
        uint64_t steps = uint64_t(std::bit_width(r) - 1 + std::popcount(r));
        longest = steps > longest ? steps : longest;
    }
    return longest;
}

template <template <class> class Layout> static void run(const struct problem *p)
{
    scan_by_tiles(p, [&](auto op, auto in, auto out, auto sums, uint64_t n, unsigned tiles, bool inclusive) {
        launch((scan_tiles<decltype(op), Layout>), tiles, p->threads, in, out, sums, n, inclusive);
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t size = tile_size(p), k = log2_ceil(size), n = p->n, levels = 1;
    struct cost cost = cost_of_levels(p, 2 * (size - 1));
    for (uint64_t tiles; (tiles = divide_up(n, size)) > 1; n = tiles)
        levels++;

    /* A level makes totals of k steps. The longest chain ends in the last cell of the last tile, used or not, or goes
     * from that tile's last element down through all levels, an addition each. */
    uint64_t unused = (levels + 1) * k - 1, used = (levels - 1) * (k + 1) + longest_prefix(n);
    cost.steps = used > unused ? used : unused;
    return cost;
}

#endif
