// SPDX-License-Identifier: MIT
#define FAULT WARP_SYNCHRONOUS
#include "warp.cuh"

WARP_ALGORITHM(warp_synchronous, "Warp-synchronous");
