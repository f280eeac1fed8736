/* SPDX-License-Identifier: MIT */
/* Grids of one thread an item: how many blocks, which item, and how many items are too many. */
#ifndef GRID_CUH
#define GRID_CUH

#include "device/gpu.cuh"

/* CUDA's limit on gridDim.x. */
constexpr uint64_t MOST_BLOCKS = (UINT64_C(1) << 31) - 1;

/* The number of this thread in the grid. Neither blockIdx.x * blockDim.x nor a problem's n fits in 32 bits. */
static __device__ __forceinline__ uint64_t thread_number()
{
    return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

/* Blocks of `size` items that cover `items`; refuse_grid() has seen to it that there are not too many. */
static inline unsigned blocks_for(uint64_t items, uint64_t size)
{
    return unsigned(divide_up(items, size));
}

/* The refusal of an algorithm that would need more blocks than a grid may have. */
static inline const char *refuse_grid(uint64_t items, uint64_t size)
{
    return divide_up(items, size) > MOST_BLOCKS ? "grid-over-2^31-1-blocks" : nullptr;
}

#endif
