/* SPDX-License-Identifier: MIT */
/*
 * A scan by tiles, each of them a Blelloch tree in shared memory, as block_scan.cu draws it. Where in shared memory
 * element i of a tile lies is left to the algorithm: Layout<T>::place(i), which grows with i.
 */
#ifndef BLOCK_TREE_CUH
#define BLOCK_TREE_CUH

#include "grid.cuh"

#include <bit>

constexpr int ITEMS = 2; /* a thread: a tile's tree has half as many nodes at the leaves as it has elements */
constexpr int MOST_THREADS = 512;

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

/* Block b adds what lies before tile b + 1 to each of its elements, from the left. */
template <class Op> static __global__ void add_sums(const typename Op::value *sums, typename Op::value *out, uint64_t n)
{
    uint64_t tile = uint64_t(blockIdx.x) + 1, size = blockDim.x * ITEMS;
    auto before = sums[tile];
    for (uint64_t i = tile * size + threadIdx.x; i < (tile + 1) * size && i < n; i += blockDim.x)
        out[i] = Op{}(before, out[i]);
}

static uint64_t tile_size(const struct problem *p)
{
    return uint64_t(p->threads) * ITEMS;
}

/* The sums of each level, one behind the other. */
static size_t workspace(const struct problem *p)
{
    uint64_t sums = 0;
    for (uint64_t n = p->n; n > tile_size(p);) {
        n = divide_up(n, tile_size(p));
        sums += n;
    }
    return sums * type_size(p->type);
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(p->n, tile_size(p));
}

/* Each tile is read before it is written: `out` may be `in`. */
template <class Op, template <class> class Layout, class T>
static void scan(const T *in, T *out, T *sums, uint64_t n, int threads, bool inclusive)
{
    unsigned tiles = blocks_for(n, uint64_t(threads) * ITEMS);
    launch((scan_tiles<Op, Layout>), tiles, threads, in, out, tiles > 1 ? sums : nullptr, n, inclusive);
    if (tiles == 1)
        return;
    scan<Op, Layout>(static_cast<const T *>(sums), sums, sums + tiles, tiles, threads, false);
    launch(add_sums<Op>, tiles - 1, threads, sums, out, n);
}

template <template <class> class Layout> static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        scan<Op, Layout>(static_cast<const T *>(p->in), static_cast<T *>(p->out), static_cast<T *>(p->workspace), p->n,
                         p->threads, p->kind == INCLUSIVE);
    });
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

static struct cost model(const struct problem *p)
{
    uint64_t size = tile_size(p), k = log2_ceil(size), n = p->n, levels = 1;
    struct cost cost = {};
    for (uint64_t tiles; (tiles = divide_up(n, size)) > 1; n = tiles, levels++) {
        cost.launches += 2;
        cost.additions += 2 * tiles * (size - 1) + n - size;
        cost.words_read += 2 * n - size + (tiles - 1) * uint64_t(p->threads);
        cost.words_written += 2 * n - size + tiles;
    }
    /* The one tile that is left. */
    cost.launches += 1;
    cost.additions += 2 * (size - 1);
    cost.words_read += n;
    cost.words_written += n;

    /* A level makes totals of k steps. The longest chain ends in the last cell of the last tile, used or not, or goes
     * from that tile's last element down through all levels, an addition each. */
    uint64_t unused = (levels + 1) * k - 1, used = (levels - 1) * (k + 1) + longest_prefix(n);
    cost.steps = used > unused ? used : unused;
    return cost;
}

#endif
