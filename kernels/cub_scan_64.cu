// SPDX-License-Identifier: MIT
/*
 * The vendor's scan as cub_scan.cu has it, but with 64-bit offsets at every n: what a caller gets whose n is a size_t.
 *
 *     cub_scan      n < 2^31: offsets of 32 bits        above: 64 bits
 *     cub_scan_64   n < 2^31: offsets of 64 bits        above: 64 bits, the same kernel
 *
 * Launches, additions and traffic are those of cub_scan. What the wider offsets cost, in registers, in arithmetic and
 * in another choice of tiles, is the distance between the two curves.
 *
 * D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA NVR-2016-002, 2016.
 */
#include "parts/cub_call.cuh"

#ifdef __CUDACC__

static size_t workspace(const struct problem *p)
{
    return cub_workspace<int64_t>(p);
}

static void run(const struct problem *p)
{
    cub_run<int64_t>(p);
}

#else
static size_t (*const workspace)(const struct problem *) = nullptr;
static void (*const run)(const struct problem *) = nullptr;
#endif

ALGORITHM(cub_scan_64) = {
    .title = "CUB DeviceScan, 64-bit offsets",
    .source = "Merrill and Garland 2016",
    .year = 2016,
    .runs_on = NVIDIA,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .additions = "no formula",
    .launches = "2",
    .traffic = "about 2 n",
    .workspace = workspace,
    .run = run,
};
