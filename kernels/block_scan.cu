// SPDX-License-Identifier: MIT
/*
 * Scan by tiles: every block scans a tile in shared memory, the tiles' totals are scanned in the same way, and every
 * tile but the first adds what came before it. With tiles of 4 elements:
 *
 *     in         3   1   4   1 | 5   9   2   6
 *                scan_tiles    | scan_tiles            two Blelloch trees in shared memory
 *     out        0   3   4   8 | 0   5  14  16
 *     sums                   9              22         the totals
 *                          scan(sums)                  one tile; more than that: recursion
 *     sums                   0               9         what lies before each tile
 *                add_sums      | + 9
 *     out        0   3   4   8 | 9  14  23  25
 *
 * Inclusive: a tile is written out one place to the left of where it was scanned, its total at the end. Any n: the
 * last tile is filled up with identities.
 *
 * B elements a tile, G = ceil(n / B) tiles, d = ceil(log_B n) levels, at least 1: 2 d - 1 launches;
 * A(n) = 2 G (B - 1) + [G > 1] (A(G) + n - B) additions, about 3n; about 4n words moved, and what is read of the sums.
 *
 * Few launches and one read and one write of the array a phase, whatever happens in the tiles: this is the scan that
 * a GPU course ends with. It goes twice over the array, which a single-pass scan does not.
 *
 * M. Harris, S. Sengupta and J. D. Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3, chapter 39, 2007.
 */
#include "parts/grid.cuh"

constexpr int ITEMS = 2; /* a thread: a tile's tree has half as many nodes at the leaves as it has elements */
constexpr int MOST_THREADS = 512;

/* The place of element i of a tile. Nodes of a tree are a power of two apart, and fall into the same bank: one place
 * is left free after every row of the banks, and one more after every row of rows. No request conflicts then, but the
 * last of an inclusive scan, which reads across the gap: one bank twice. */
template <class T> static __device__ __forceinline__ constexpr int place(int i)
{
    constexpr int ROW = 32 * 4 / int(sizeof(T));
    return i + i / ROW + i / (ROW * ROW);
}

/* Scans tile blockIdx.x, and writes its total to sums unless that is NULL. Cell i + shift of the exclusive scan goes
 * to place i. */
template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS)
    scan_tiles(const typename Op::value *in, typename Op::value *out, typename Op::value *sums, uint64_t n, int shift)
{
    using T = typename Op::value;
    SHARED(T, tile, place<T>(MOST_THREADS * ITEMS) + 1);
    int thread = threadIdx.x, threads = blockDim.x, size = threads * ITEMS;
    uint64_t first = uint64_t(blockIdx.x) * size;

    for (int i = thread; i < size; i += threads)
        tile[place<T>(i)] = first + i < n ? in[first + i] : Op::identity();

    for (int stride = 1; stride < size; stride *= 2) {
        __syncthreads(); /* the level below is complete */
        int right = (2 * thread + 2) * stride - 1, left = right - stride;
        if (right < size)
            tile[place<T>(right)] = Op{}(tile[place<T>(left)], tile[place<T>(right)]);
    }

    if (thread == 0) { /* who did the root: no barrier */
        T total = tile[place<T>(size - 1)];
        tile[place<T>(size - 1)] = Op::identity();
        tile[place<T>(size)] = total; /* behind the last cell, where the inclusive scan looks for it */
        if (sums)
            sums[blockIdx.x] = total;
    }

    for (int stride = size / 2; stride > 0; stride /= 2) {
        __syncthreads(); /* the level above is complete */
        int right = (2 * thread + 2) * stride - 1, left = right - stride;
        if (right < size) {
            T before = tile[place<T>(right)], subtotal = tile[place<T>(left)];
            tile[place<T>(left)] = before;
            tile[place<T>(right)] = Op{}(before, subtotal);
        }
    }

    __syncthreads(); /* the tile is scanned */
    for (int i = thread; i < size; i += threads)
        if (first + i < n)
            out[first + i] = tile[place<T>(i + shift)];
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
template <class Op, class T> static void scan(const T *in, T *out, T *sums, uint64_t n, int threads, bool inclusive)
{
    unsigned tiles = blocks_for(n, uint64_t(threads) * ITEMS);
    launch(scan_tiles<Op>, tiles, threads, in, out, tiles > 1 ? sums : nullptr, n, inclusive ? 1 : 0);
    if (tiles == 1)
        return;
    scan<Op>(static_cast<const T *>(sums), sums, sums + tiles, tiles, threads, false);
    launch(add_sums<Op>, tiles - 1, threads, sums, out, n);
}

static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        scan<Op>(static_cast<const T *>(p->in), static_cast<T *>(p->out), static_cast<T *>(p->workspace), p->n,
                 p->threads, p->kind == INCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t size = tile_size(p);
    struct cost cost = {};
    /* The steps of several levels depend on the bits of the tiles' numbers. */
    cost.steps = p->n > size ? UNKNOWN : 2 * uint64_t(log2_ceil(size)) - 1;
    for (uint64_t n = p->n, tiles;; n = tiles) {
        tiles = divide_up(n, size);
        cost.launches += 1;
        cost.additions += 2 * tiles * (size - 1);
        cost.words_read += n;
        cost.words_written += n;
        if (tiles == 1)
            return cost;
        cost.launches += 1;
        cost.additions += n - size;
        cost.words_read += n - size + (tiles - 1) * uint64_t(p->threads);
        cost.words_written += tiles + n - size;
    }
}

ALGORITHM(block_scan) = {
    .title = "Block scan",
    .source = "Harris, Sengupta and Owens 2007",
    .year = 2007,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 256, 128, 64, 32},
    .items = ITEMS,
    .additions = "A(n) = 2 G (B - 1) + [G > 1] (A(G) + n - B)",
    .launches = "2 max(ceil(log_B n), 1) - 1",
    .traffic = "W(n) = 2 n + [G > 1] (W(G) + 2 (n - B) + G + (G - 1) B / 2)",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
