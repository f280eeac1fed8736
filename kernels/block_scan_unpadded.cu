// SPDX-License-Identifier: MIT
/*
 * block_scan without a place left free: element i of a tile lies at place i.
 *
 *     bank            0   1   2   3 ... 31                32 banks of 4 bytes
 *     element         0   1   2   3 ... 31
 *                    32  33  34  35 ... 63
 *     stride 1            *       *      *                a warp's 32 right cells: 16 banks, two to a bank
 *     stride 2                    *      *                8 banks, four to a bank
 *     stride 16                          *                one bank, all 32
 *
 * A bank serves one word at a time, so that a request takes as many wavefronts as its busiest bank has words. Launches,
 * additions, steps and words moved are those of block_scan.
 *
 * The slower twin, to see what the padding is for: the same reads and writes, with up to 32 wavefronts each.
 *
 * M. Harris, S. Sengupta and J. D. Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3, chapter 39, 2007.
 */
#include "parts/block_tree.cuh"

template <class T> struct Unpadded {
    static __device__ __forceinline__ constexpr int place(int i) { return i; }
};

ALGORITHM(block_scan_unpadded) = {
    .title = "Block scan, unpadded",
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
    .run = run<Unpadded>,
    .model = model,
};
