/* SPDX-License-Identifier: MIT */
/*
 * cooperative_groups::this_grid(), for the kernels that use it. Its sync() is a barrier of all threads of the grid,
 * and all of them must come: a thread that has ended is waited for in vain. launch_cooperative has to have started the
 * kernel, and no more blocks than resident_blocks().
 */
#ifndef COOPERATIVE_CUH
#define COOPERATIVE_CUH

#include "device/gpu.cuh"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#else

namespace cooperative_groups
{
struct grid_group {
    FIBER_INLINE void sync() const { grid_sync(); }
};

[[maybe_unused]] static FIBER_INLINE grid_group this_grid()
{
    return {};
}
} // namespace cooperative_groups

#endif
#endif
