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
#include "device/gpu.cuh"

#ifdef __CUDACC__

#include <cub/device/device_scan.cuh>

/* One of CUB's two calls: without workspace it says how many bytes it needs. Offsets have the type of n. */
template <class Op, class Offset> static size_t call(const struct problem *p, void *workspace, size_t bytes, Offset n)
{
    using T = typename Op::value;
    const T *in = static_cast<const T *>(p->in);
    T *out = static_cast<T *>(p->out);
    cudaError_t error;
    if (p->kind == INCLUSIVE)
        error = cub::DeviceScan::InclusiveScan(workspace, bytes, in, out, Op{}, n, device_stream());
    else
        error = cub::DeviceScan::ExclusiveScan(workspace, bytes, in, out, Op{}, Op::identity(), n, device_stream());
    device_called("cub::DeviceScan", error);
    return bytes;
}

/* 32-bit offsets where n fits, as a caller with an int has them. */
static size_t call(const struct problem *p, void *workspace, size_t bytes)
{
    size_t needed = 0;
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        if (p->n <= INT32_MAX)
            needed = call<Op>(p, workspace, bytes, int32_t(p->n));
        else
            needed = call<Op>(p, workspace, bytes, int64_t(p->n));
    });
    return needed;
}

/* Counting its additions changes CUB's choice of tiles, and so its workspace: room for both. */
static size_t workspace(const struct problem *p)
{
    size_t needed = call(p, nullptr, 0);
    if (p->op == SUM && p->type == I32 && p->n <= INT32_MAX) {
        size_t counted = call<Operator<Sum<int32_t>, true>>(p, nullptr, 0, int32_t(p->n));
        needed = counted > needed ? counted : needed;
    }
    return needed;
}

/* The bytes that CUB is told must be as many as it asked for. */
static void run(const struct problem *p)
{
    call(p, p->workspace, call(p, nullptr, 0));
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
