// SPDX-License-Identifier: MIT
/*
 * The vendor's scan: cub::DeviceScan. In the releases of CUDA 13 a single pass with decoupled look-back:
 *
 *     tile 0 | tile 1 | tile 2 | tile 3      each scanned by a block, in registers and shared memory
 *        P  <-  A  P  <-  A    <-  A         each publishes its aggregate A, looks back over the aggregates to the
 *                                            nearest prefix P, and publishes its own
 *
 * Two launches, one that clears the tiles' states and one that scans; about 2n words moved, as little as a copy.
 * Additions follow no formula: lanes without an element add too, and how far a tile looks back depends on time.
 *
 * The scan to beat. It is a library: what runs depends on its release and on the GPU.
 *
 * D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA NVR-2016-002, 2016.
 */
#include "parts/cub_call.cuh"

#ifdef __CUDACC__

/* 32-bit offsets where n fits, as a caller with an int has them. Beyond, it is the same as cub_scan_64, and not
 * compiled a second time. */
extern "C" const struct algorithm algorithm_cub_scan_64;

static size_t workspace(const struct problem *p)
{
    return p->n <= INT32_MAX ? cub_workspace<int32_t>(p) : algorithm_cub_scan_64.workspace(p);
}

static void run(const struct problem *p)
{
    if (p->n <= INT32_MAX)
        cub_run<int32_t>(p);
    else
        algorithm_cub_scan_64.run(p);
}

#else
static size_t (*const workspace)(const struct problem *) = nullptr;
static void (*const run)(const struct problem *) = nullptr;
#endif

ALGORITHM(cub_scan) = {
    .title = "CUB DeviceScan",
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
