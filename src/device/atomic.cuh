/* SPDX-License-Identifier: MIT */
/*
 * cuda::atomic_ref, for the kernels that use it. CUDA's own header takes nvcc seven seconds for each architecture,
 * which is why gpu.cuh leaves it out; the CPU device has the words at hand.
 */
#ifndef ATOMIC_CUH
#define ATOMIC_CUH

#include "device/gpu.cuh"

#ifdef __CUDACC__
#include <cuda/atomic>
#endif

#endif
