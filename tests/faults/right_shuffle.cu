// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT_SHUFFLE
#include "warp.cuh"

WARP_ALGORITHM(right_shuffle, "Right, by shuffles");
