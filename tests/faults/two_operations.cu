// SPDX-License-Identifier: MIT
#define FAULT TWO_OPERATIONS
#include "warp.cuh"

WARP_ALGORITHM(two_operations, "Two warp operations at once");
