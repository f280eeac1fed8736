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
 * B = 2^k elements a tile, G = ceil(n / B) tiles, d = ceil(log_B n) levels, at least 1: 2 d - 1 launches;
 * A(n) = 2 G (B - 1) + [G > 1] (A(G) + n - B) additions, about 3n, in (d + 1) k - 1 steps, or up to d more;
 * about 4n words moved, and what is read of the sums.
 *
 * Few launches and one read and one write of the array a phase, whatever happens in the tiles: this is the scan that
 * a GPU course ends with. It goes twice over the array, which a single-pass scan does not.
 *
 * M. Harris, S. Sengupta and J. D. Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3, chapter 39, 2007.
 */
#include "parts/block_tree.cuh"

/* Nodes of a tree are a power of two apart, and would fall into the same bank: one place is left free after every row
 * of the banks, and one more after every row of rows. With 4 banks and rows of 4:
 *
 *     element    0  1  2  3  .  4  5  6  7  .  8  9 10 11  .
 *     bank       0  1  2  3  0  1  2  3  0  1  2  3  0  1  2        3, 7 and 11 lie in banks 3, 0 and 1
 *
 * No request conflicts, up to 1024 elements of 4 or 8 bytes. */
template <class T> struct Padded {
    static __device__ __forceinline__ constexpr int place(int i)
    {
        constexpr int ROW = 32 * 4 / int(sizeof(T));
        return i + i / ROW + i / (ROW * ROW);
    }
};

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
    .run = run<Padded>,
    .model = model,
};
