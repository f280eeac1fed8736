// SPDX-License-Identifier: MIT
/*
 * The vendor's scan as most programs call it: thrust::exclusive_scan on the harness's stream, without a wait at the end
 * and with memory taken before.
 *
 *     thrust::exclusive_scan(policy, in, in + n, out, identity, op)
 *          |  chooses 32- or 64-bit offsets by n, asks the policy for temporary memory, frees it afterwards
 *          v
 *     cub::DeviceScan                                  see cub_scan.cu
 *
 * The same two launches, about 2n words, and what Thrust's calls cost the host besides. Without its own allocator and
 * par_nosync it would allocate and wait in every call, and that is what would be timed.
 *
 * D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA NVR-2016-002, 2016.
 */
#include "parts/cub_call.cuh"

#ifdef __CUDACC__

#include <cstddef>
#include <new>
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/system_error.h>

/* Hands out the workspace, from front to back; what is given back is not used again before the next run. */
struct Workspace {
    using value_type = char;
    char *next, *end;
    char *allocate(std::ptrdiff_t bytes)
    {
        if (bytes > end - next)
            throw std::bad_alloc();
        char *given = next;
        next += (bytes + 255) / 256 * 256;
        return given;
    }
    void deallocate(char *, size_t) {}
};

template <class Op> static void thrust_call(const struct problem *p, Workspace &workspace)
{
    using T = typename CubCall<Op>::value;
    typename CubCall<Op>::function op;
    auto policy = thrust::cuda::par_nosync(workspace).on(device_stream());
    const T *in = static_cast<const T *>(p->in);
    T *out = static_cast<T *>(p->out);
    if (p->kind == INCLUSIVE)
        thrust::inclusive_scan(policy, in, in + p->n, out, op);
    else
        thrust::exclusive_scan(policy, in, in + p->n, out, T(Op::identity()), op);
}

/* Thrust does not say what it will ask for: what CUB asks for, and room for rounding. */
static size_t workspace(const struct problem *p)
{
    return (p->n <= INT32_MAX ? cub_workspace<int32_t>(p) : cub_workspace<int64_t>(p)) + 4096;
}

static void run(const struct problem *p)
{
    char *memory = static_cast<char *>(p->workspace);
    Workspace allocator{memory, memory + workspace(p)};
    cudaError_t error = cudaSuccess;
    try {
        with_operator(p, [&](auto op) { thrust_call<decltype(op)>(p, allocator); });
    } catch (const std::bad_alloc &) {
        error = cudaErrorMemoryAllocation;
    } catch (const thrust::system_error &e) {
        error = cudaError_t(e.code().value());
    }
    device_called("thrust::scan", error);
}

#else
static size_t (*const workspace)(const struct problem *) = nullptr;
static void (*const run)(const struct problem *) = nullptr;
#endif

ALGORITHM(thrust_scan) = {
    .title = "Thrust",
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
