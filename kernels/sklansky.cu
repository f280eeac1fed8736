// SPDX-License-Identifier: MIT
/*
 * A block scans its tile with Sklansky's network: halves that are scanned already are put together, and all cells of
 * the right half add the last cell of the left one.
 *
 *     in       3   1   4   1   5   9   2   6
 *     1 + 1    3   4   4   5   5  14   2   8        pairs:     cell 1 adds cell 0, 3 adds 2 ...
 *     2 + 2    3   4   8   9   5  14  16  22        fours:     cells 2 and 3 add cell 1 ...
 *     4 + 4    3   4   8   9  14  23  25  31        eights:    cells 4 to 7 add cell 3
 *
 * The tiles' totals are scanned in the same way and added (parts/tile_recursion.cuh).
 *
 * B = 2^k elements a tile: k levels, the fewest there can be, and k B / 2 additions: half the threads' cells in every
 * level, so that a thread of a block of B / 2 has one addition a level.
 *
 * In hardware its weakness is the cell that so many others read. Threads that read one word of shared memory get it all
 * at once: on a GPU it is the network with the fewest levels at half the additions of Kogge and Stone. Cells of one
 * level that a warp reads lie in the same bank here and there: 15 600 of 50 994 wavefronts at n = 2^16 are conflicts.
 *
 * J. Sklansky, "Conditional-sum addition logic", IRE Transactions on Electronic Computers EC-9(2), 1960.
 */
#include "parts/network.cuh"

struct Sklansky {
    static constexpr bool OVERLAPS = false; /* who is read in a level is not written in it */

    static __host__ __device__ __forceinline__ constexpr int levels(int k) { return k; }

    static __host__ __device__ __forceinline__ constexpr struct node node(int level, int, int j)
    {
        int half = 1 << level, pair = j >> level; /* the pair's left half ends before its right one */
        int middle = (2 * pair + 1) * half;
        return {middle - 1, middle + (j & (half - 1))};
    }

    static constexpr uint64_t additions(int k) { return (uint64_t(k) << k) / 2; }
};

ALGORITHM(sklansky) = {
    .title = "Sklansky tiles",
    .source = "Sklansky 1960",
    .year = 1960,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 256, 128, 64, 32},
    .items = ITEMS,
    .additions = "A(n) = G B log2 B / 2 + [G > 1] (A(G) + n - B)",
    .launches = "2 max(ceil(log_B n), 1) - 1",
    .traffic = "W(n) = 2 n + [G > 1] (W(G) + 2 (n - B) + G + (G - 1) B / 2)",
    .refuse = refuse,
    .workspace = workspace,
    .run = run<Sklansky>,
    .model = model<Sklansky>,
};
