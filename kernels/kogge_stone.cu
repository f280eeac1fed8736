// SPDX-License-Identifier: MIT
/*
 * A block scans its tile with the network of Kogge and Stone: in every level each cell adds the one that lies 2^level
 * places to the left. It is the scan of Hillis and Steele, a barrier in place of a launch:
 *
 *     in       3   1   4   1   5   9   2   6
 *     + 1      3   4   5   5   6  14  11   8        each the sum of 2
 *     + 2      3   4   8   9  11  19  17  22        of 4
 *     + 4      3   4   8   9  14  23  25  31        of 8, or all there are
 *
 * The tiles' totals are scanned in the same way and added (parts/tile_recursion.cuh).
 *
 * B = 2^k elements a tile: k levels, the fewest there can be, B k - (B - 1) additions, the most of all networks. Cells
 * are read and written in the same level, so that a level has two barriers.
 *
 * Every thread works in every level, on neighbouring cells: no bank conflicts, and nobody idle; but a tile of 1024
 * takes 9 217 additions where a tree takes 2 046. Where a level costs a gate's delay it is the fastest network there
 * is. A block has 32 lanes to a warp and not one to a cell: it pays for each addition.
 *
 * P. Kogge and H. Stone, "A parallel algorithm for the efficient solution of a general class of recurrence equations",
 * IEEE Transactions on Computers C-22(8), 1973.
 */
#include "parts/network.cuh"

struct KoggeStone {
    static constexpr bool OVERLAPS = true;

    static __host__ __device__ __forceinline__ constexpr int levels(int k) { return k; }

    static __host__ __device__ __forceinline__ constexpr struct node node(int level, int, int j)
    {
        return {j, j + (1 << level)};
    }

    static constexpr uint64_t additions(int k) { return (uint64_t(k) << k) - ((uint64_t(1) << k) - 1); }
};

ALGORITHM(kogge_stone) = {
    .title = "Kogge-Stone tiles",
    .source = "Kogge and Stone 1973",
    .year = 1973,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 256, 128, 64, 32},
    .items = ITEMS,
    .additions = "A(n) = G (B log2 B - (B - 1)) + [G > 1] (A(G) + n - B)",
    .launches = "2 max(ceil(log_B n), 1) - 1",
    .traffic = "W(n) = 2 n + [G > 1] (W(G) + 2 (n - B) + G + (G - 1) B / 2)",
    .refuse = refuse,
    .workspace = workspace,
    .run = run<KoggeStone>,
    .model = model<KoggeStone>,
};
