// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "warp.cuh"

WARP_ALGORITHM(right_warp, "Right, by one warp");
