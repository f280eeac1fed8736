/* SPDX-License-Identifier: MIT */
/*
 * Scans among the 32 lanes of a warp, in registers, by shuffles: log2(32) = 5 rounds, as Hillis and Steele do it. The
 * operator need not commute. All lanes of a warp call these together; lanes are numbered along threadIdx.x.
 */
#ifndef WARP_SCAN_CUH
#define WARP_SCAN_CUH

#include "device/gpu.cuh"

constexpr int LANES = 32;
constexpr unsigned ALL_LANES = 0xffffffff;

/* Applications of the operator, by a warp, in warp_inclusive or in warp_total. */
constexpr uint64_t WARP_INCLUSIVE_ADDITIONS = 31 + 30 + 28 + 24 + 16;

static __device__ __forceinline__ int lane_number()
{
    return int(threadIdx.x % LANES);
}

/* x of lane 0 up to this lane's own, combined. 129 additions a warp, 5 steps. */
template <class Op> static __device__ __forceinline__ typename Op::value warp_inclusive(typename Op::value x)
{
#pragma unroll
    for (int distance = 1; distance < LANES; distance *= 2) {
        auto left = __shfl_up_sync(ALL_LANES, x, distance);
        if (lane_number() >= distance)
            x = Op{}(left, x);
    }
    return x;
}

/* The exclusive scan, from the inclusive one: lane 0 gets the identity. No addition. */
template <class Op> static __device__ __forceinline__ typename Op::value warp_exclusive(typename Op::value inclusive)
{
    auto left = __shfl_up_sync(ALL_LANES, inclusive, 1);
    return lane_number() > 0 ? left : Op::identity();
}

/* x of all lanes, combined, in every lane. 129 additions a warp, 5 steps. */
template <class Op> static __device__ __forceinline__ typename Op::value warp_total(typename Op::value x)
{
#pragma unroll
    for (int distance = 1; distance < LANES; distance *= 2) {
        auto right = __shfl_down_sync(ALL_LANES, x, distance);
        if (lane_number() + distance < LANES)
            x = Op{}(x, right);
    }
    return __shfl_sync(ALL_LANES, x, 0);
}

#endif
