// SPDX-License-Identifier: MIT
/*
 * A block scans its tile with the network of Brent and Kung: up a tree of sums, and down again to the cells that the
 * way up has left out.
 *
 *     in       3   1   4   1   5   9   2   6
 *     up 1     3   4   4   5   5  14   2   8        every second cell adds its neighbour
 *     up 2     3   4   4   9   5  14   2  22        every fourth the one two to its left
 *     up 4     3   4   4   9   5  14   2  31
 *     down 2   3   4   4   9   5  23   2  31        cell 5 adds cell 3, which is done
 *     down 1   3   4   8   9  14  23  25  31        2 adds 1, 4 adds 3, 6 adds 5
 *
 * The tiles' totals are scanned in the same way and added (parts/tile_recursion.cuh).
 *
 * B = 2^k elements a tile: 2k - 1 levels, 2B - 2 - k additions, the fewest of these networks. It is Blelloch's tree
 * (block_scan.cu) without the clear: the inclusive scan comes out, and k additions less.
 *
 * Least work, most levels: on the upper ones a handful of threads add and all the others wait at the barrier. Cells
 * that are a power of two apart share a bank: 59 475 of 77 514 wavefronts at n = 2^16 are conflicts. Nothing is padded
 * here; block_scan.cu is, and has 20 705 wavefronts in all.
 *
 * R. Brent and H. Kung, "A regular layout for parallel adders", IEEE Transactions on Computers C-31(3), 1982.
 */
#include "parts/network.cuh"

struct BrentKung {
    static constexpr bool OVERLAPS = false; /* who is read in a level is not written in it */

    static __host__ __device__ __forceinline__ constexpr int levels(int k) { return 2 * k - 1; }

    /* Up: the end of each pair of halves adds the end of its left half. Down: the middle of each right neighbour does.
     */
    static __host__ __device__ __forceinline__ constexpr struct node node(int level, int k, int j)
    {
        int half = level < k ? 1 << level : 1 << (2 * k - 2 - level);
        int left = level < k ? (2 * j + 1) * half - 1 : (2 * j + 2) * half - 1;
        return {left, left + half};
    }

    static constexpr uint64_t additions(int k) { return (uint64_t(2) << k) - 2 - uint64_t(k); }
};

ALGORITHM(brent_kung) = {
    .title = "Brent-Kung tiles",
    .source = "Brent and Kung 1982",
    .year = 1982,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 256, 128, 64, 32},
    .items = ITEMS,
    .additions = "A(n) = G (2 B - 2 - log2 B) + [G > 1] (A(G) + n - B)",
    .launches = "2 max(ceil(log_B n), 1) - 1",
    .traffic = "W(n) = 2 n + [G > 1] (W(G) + 2 (n - B) + G + (G - 1) B / 2)",
    .refuse = refuse,
    .workspace = workspace,
    .run = run<BrentKung>,
    .model = model<BrentKung>,
};
