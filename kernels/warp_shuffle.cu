// SPDX-License-Identifier: MIT
/*
 * A block scans its tile in registers: lanes of a warp hand each other their sums by shuffles, and shared memory sees
 * nothing but the warps' totals. With warps of 4 lanes, 2 elements each in two rows:
 *
 *     in         3   1   4   1 | 5   9   2   6        warp 0: two rows of neighbours
 *     rows       3   4   8   9 | 5  14  16  22        each scanned in log2 4 shuffles
 *     + row 0    3   4   8   9 |14  23  25  31        the second adds the first one's total
 *     totals                              31, ...     of the warps: scanned by the first warp, a lane each
 *     + before                                        every warp but the first adds what came before it
 *
 * The tiles' totals are scanned in the same way and added (parts/tile_recursion.cuh).
 *
 * B elements a tile in W = B / 64 warps: 2 barriers; 290 W + 129 + B - 64 additions, about 5.5 an element, in at most
 * 12 steps.
 *
 * Within a warp it is the network of Kogge and Stone, with all its additions; but a shuffle costs what an access to
 * shared memory does, and no barrier: 2 instead of 10 or 20 a tile. What it gains over the other networks is what they
 * wait.
 *
 * M. Harris and M. Garland, "Optimizing parallel prefix operations for the Fermi architecture", GPU Computing Gems Jade
 * Edition, chapter 3, 2011, with shared memory; by shuffles since there are any (Kepler, 2012).
 */
#include "parts/tile_recursion.cuh"
#include "parts/warp_scan.cuh"

constexpr int WARP_ITEMS = LANES * ITEMS;

/* Scans tile blockIdx.x, and writes its total to sums unless that is NULL. */
template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS) scan_tiles(const typename Op::value *in, typename Op::value *out,
                                                                  typename Op::value *sums, uint64_t n, bool inclusive)
{
    using T = typename Op::value;
    SHARED(T, totals, LANES); /* of the warps; then what lies before each */
    int lane = lane_number(), warp = int(threadIdx.x) / LANES, warps = int(blockDim.x) / LANES;
    uint64_t first = uint64_t(blockIdx.x) * blockDim.x * ITEMS + warp * WARP_ITEMS + lane;

    T row[ITEMS], before[ITEMS], total = Op::identity();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint64_t at = first + i * LANES;
        row[i] = warp_inclusive<Op>(at < n ? in[at] : Op::identity());
        if (i > 0)
            row[i] = Op{}(total, row[i]);
        T left = __shfl_up_sync(ALL_LANES, row[i], 1);
        before[i] = lane > 0 ? left : total;
        total = __shfl_sync(ALL_LANES, row[i], LANES - 1);
    }

    if (lane == 0)
        totals[warp] = total;
    __syncthreads(); /* the warps' totals are there */
    if (warp == 0) {
        T inclusive_total = warp_inclusive<Op>(lane < warps ? totals[lane] : Op::identity());
        if (lane == warps - 1 && sums)
            sums[blockIdx.x] = inclusive_total;
        totals[lane] = warp_exclusive<Op>(inclusive_total);
    }
    __syncthreads(); /* and what lies before each */

#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint64_t at = first + i * LANES;
        T x = inclusive ? row[i] : before[i];
        if (warp > 0)
            x = Op{}(totals[warp], x);
        if (at < n)
            out[at] = x;
    }
}

static void run(const struct problem *p)
{
    scan_by_tiles(p, [&](auto op, auto in, auto out, auto sums, uint64_t n, unsigned tiles, bool inclusive) {
        launch(scan_tiles<decltype(op)>, tiles, p->threads, in, out, sums, n, inclusive);
    });
}

/* What warp_inclusive does. */
static void add_up_lanes(uint64_t *lane, uint64_t *longest)
{
    for (int distance = 1; distance < LANES; distance *= 2)
        for (int i = LANES - 1; i >= distance; i--) {
            lane[i] = 1 + (lane[i] > lane[i - distance] ? lane[i] : lane[i - distance]);
            *longest = lane[i] > *longest ? lane[i] : *longest;
        }
}

static void add_up(struct chains *tile, int warps)
{
    auto later = [tile](uint64_t a, uint64_t b) {
        uint64_t chain = 1 + (a > b ? a : b);
        tile->longest = chain > tile->longest ? chain : tile->longest;
        return chain;
    };
    uint64_t totals[LANES] = {};
    tile->longest = 0;
    for (int warp = 0; warp < warps; warp++) {
        uint64_t *row = &tile->element[warp * WARP_ITEMS], *before = &tile->before[warp * WARP_ITEMS], total = 0;
        for (int i = 0; i < ITEMS; i++, row += LANES, before += LANES) {
            add_up_lanes(row, &tile->longest);
            for (int lane = 0; lane < LANES; lane++) {
                if (i > 0)
                    row[lane] = later(total, row[lane]);
                before[lane] = lane > 0 ? row[lane - 1] : total;
            }
            total = row[LANES - 1];
        }
        totals[warp] = total;
    }
    add_up_lanes(totals, &tile->longest);
    tile->total = totals[warps - 1];
    for (int i = WARP_ITEMS; i < warps * WARP_ITEMS; i++) {
        tile->element[i] = later(totals[i / WARP_ITEMS - 1], tile->element[i]);
        tile->before[i] = later(totals[i / WARP_ITEMS - 1], tile->before[i]);
    }
}

static struct cost model(const struct problem *p)
{
    int warps = p->threads / LANES;
    uint64_t rows = ITEMS * WARP_INCLUSIVE_ADDITIONS + (ITEMS - 1) * LANES; /* a warp */
    struct cost cost =
        cost_of_levels(p, uint64_t(warps) * rows + WARP_INCLUSIVE_ADDITIONS + uint64_t(warps - 1) * WARP_ITEMS);
    cost.steps = steps_of_levels(p, [warps](struct chains *tile) { add_up(tile, warps); });
    return cost;
}

ALGORITHM(warp_shuffle) = {
    .title = "Warp-shuffle tiles",
    .source = "Harris and Garland 2011",
    .year = 2011,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 256, 128, 64, 32},
    .items = ITEMS,
    .additions = "A(n) = G (5.53 B + 65) + [G > 1] (A(G) + n - B)",
    .launches = "2 max(ceil(log_B n), 1) - 1",
    .traffic = "W(n) = 2 n + [G > 1] (W(G) + 2 (n - B) + G + (G - 1) B / 2)",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
